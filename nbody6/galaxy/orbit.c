#include "nbody6/galaxy/orbit.h"

#include "common/nbc.h"
#include "nbody6/galaxy/external.h"
#include "nbody6/galaxy/orbit_at.h"

#include <math.h>
#include <string.h>

static void put_end(struct nb6_orbit *orbit, int k, const struct nb6_orbit_end *end)
{
    orbit->t[k] = end->t;
    memcpy(orbit->x[k], end->x, sizeof end->x);
    memcpy(orbit->v[k], end->v, sizeof end->v);
    memcpy(orbit->acc[k], end->acc, sizeof end->acc);
    memcpy(orbit->jerk[k], end->jerk, sizeof end->jerk);
}

/* ---- along it ---- */

static int check_end(const struct nb6_external *external, const struct nb6_orbit_end *end, struct nbc_error *err)
{
    double sum = end->t;
    for (int k = 0; k < 3; k++) sum += end->x[k] + end->v[k] + end->acc[k] + end->jerk[k];
    if (isfinite(sum) && nb6_orbit_piece(nb6_orbit_strongest(external, end->x)) > NB6_ORBIT_PIECE_MIN) return NBC_OK;
    return nbc_fail(err, NBC_NON_FINITE,
                    "the orbit of the cluster meets the centre of the galaxy; change RG or VG of &INXTRNL0");
}

static int extend(struct nb6_external *external, struct nbc_error *err)
{
    struct nb6_orbit *orbit = &external->orbit;
    const struct nb6_orbit_end from = nb6_orbit_get_end(orbit, NB6_ORBIT_ENDS - 1);
    struct nb6_orbit_end to;
    nb6_orbit_next(external, &from, &to);
    const int status = check_end(external, &to, err);
    if (status) return status;
    for (int k = 1; k < NB6_ORBIT_ENDS; k++) {
        const struct nb6_orbit_end end = nb6_orbit_get_end(orbit, k);
        put_end(orbit, k - 1, &end);
    }
    put_end(orbit, NB6_ORBIT_ENDS - 1, &to);
    return NBC_OK;
}

/* The outward tide: the angular velocity squared and the gradient along the radius (King 1962, AJ 67, 471). */
static double pull_outward(const struct nb6_external *external, const struct nb6_orbit_end *end)
{
    const double *x = end->x, *v = end->v;
    double out[3], l2 = 0, pull = 0, r2 = x[0] * x[0] + x[1] * x[1] + x[2] * x[2];
    nb6_orbit_gradient(external, x, x, out);
    for (int k = 0; k < 3; k++) {
        const int a = (k + 1) % 3, b = (k + 2) % 3;
        const double l = x[a] * v[b] - x[b] * v[a];
        l2 += l * l;
        pull += x[k] * out[k];
    }
    return l2 / (r2 * r2) + pull / r2;
}

/* Some revolutions, to find the weakest tide. */
enum { PIECES_AHEAD = 1024 };

/* The tide where it is weakest, so that the tidal radius is largest: a star bound there stays bound, though it may be
 * outside the radius for a while at the pericentre. NBODY6 takes the tide at the beginning of the orbit. */
static int set_tide(struct nb6_external *external, const struct nb6_orbit_end *begin, struct nbc_error *err)
{
    static const double up[3] = {0, 0, 1};
    struct nb6_orbit_end at = *begin, to;
    double out[3];
    int status = check_end(external, &at, err);
    for (int k = 0; k < PIECES_AHEAD && !status; k++) {
        const double pull = pull_outward(external, &at);
        if (k == 0 || pull < external->t_x) {
            external->t_x = pull;
            nb6_orbit_gradient(external, at.x, up, out);
            external->t_z = out[2];
        }
        nb6_orbit_next(external, &at, &to);
        at = to;
        status = check_end(external, &at, err);
    }
    return status;
}

int nb6_orbit_reach(struct nb6_external *external, double t, struct nbc_error *err)
{
    struct nb6_orbit *orbit = &external->orbit;
    struct nb6_orbit_point now;
    int status = NBC_OK;
    if (t == orbit->now_t) return NBC_OK;
    while (orbit->t[NB6_ORBIT_ENDS - 1] < t && !status) status = extend(external, err);
    if (status) return status;
    nb6_orbit_find(external, t, &now);
    orbit->now_t = t;
    memcpy(orbit->now_x, now.x, sizeof now.x);
    memcpy(orbit->now_v, now.v, sizeof now.v);
    memcpy(orbit->now_acc, now.acc, sizeof now.acc);
    memcpy(orbit->now_jerk, now.jerk, sizeof now.jerk);
    memcpy(orbit->now_snap, now.snap, sizeof now.snap);
    return NBC_OK;
}

int nb6_orbit_begin(struct nb6_external *external, const double x[3], const double v[3], struct nbc_error *err)
{
    struct nb6_orbit *orbit = &external->orbit;
    struct nb6_orbit_end begin = {.t = 0}, to;
    memcpy(begin.x, x, sizeof begin.x);
    memcpy(begin.v, v, sizeof begin.v);
    nb6_orbit_set_forces(external, &begin);
    orbit->now_t = -1;
    const int status = set_tide(external, &begin, err);
    if (status) return NBC_BAD_INPUT; /* err has a message */
    for (int k = 0; k < NB6_ORBIT_ENDS; k++) {
        put_end(orbit, k, &begin);
        nb6_orbit_next(external, &begin, &to);
        begin = to;
    }
    return nb6_orbit_reach(external, 0, err);
}
