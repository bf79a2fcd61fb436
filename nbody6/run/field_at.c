/* The field of a cluster at points in space. */
#include "common/ascending.h"
#include "common/nbc.h"
#include "common/team.h"
#include "nbody6/analysis/frame.h"
#include "nbody6/engine/engines.h"
#include "nbody6/fewbody/pairs/motions.h"
#include "nbody6/galaxy/external.h"
#include "nbody6/run/frame_make.h"
#include "nbody6/run/live.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/members.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "regularization/ks.h"

#include <math.h>
#include <string.h>

/* Sums of so many stars are added up: rounding grows with this and with the number of such sums, not with their
 * product. */
enum { STARS_OF_A_SUM = 1024 };

/* Stars, or those of them that an engine has not summed. */
struct stars {
    int64_t n;
    const double *mass, (*x)[3];
};

struct field {
    struct stars stars;
    double (*by_engine)[4]; /* [n] sums over the other stars; NULL: there are none */
    const struct nb6_external *external;
    double t;
    int64_t n;
    const double (*x)[3];
    double *potential, (*acc)[3], *galaxy_potential, (*galaxy_acc)[3]; /* or NULL */
};

/* Acceleration, and the potential as the fourth number. */
static void add_stars(const struct stars *s, int64_t first, int64_t end, const double x[3], double total[4])
{
    double sum[4] = {0, 0, 0, 0};
    for (int64_t j = first; j < end; j++) {
        const double dx = s->x[j][0] - x[0], dy = s->x[j][1] - x[1], dz = s->x[j][2] - x[2];
        const double r2 = dx * dx + dy * dy + dz * dz;
        if (!(r2 > 0)) continue;
        const double over_r = s->mass[j] / sqrt(r2), m = over_r / r2;
        sum[0] += m * dx;
        sum[1] += m * dy;
        sum[2] += m * dz;
        sum[3] -= over_r;
    }
    for (int k = 0; k < 4; k++) total[k] += sum[k];
}

static void of_stars(const struct field *field, int64_t i)
{
    const struct stars *s = &field->stars;
    double total[4] = {0, 0, 0, 0};
    if (field->by_engine) memcpy(total, field->by_engine[i], sizeof total);
    for (int64_t j = 0; j < s->n; j += STARS_OF_A_SUM)
        add_stars(s, j, j + STARS_OF_A_SUM < s->n ? j + STARS_OF_A_SUM : s->n, field->x[i], total);
    if (field->potential) field->potential[i] = total[3];
    if (field->acc) memcpy(field->acc[i], total, sizeof field->acc[i]);
}

static void of_galaxy(const struct field *field, int64_t i)
{
    static const double at_rest[3];
    double acc[3] = {0, 0, 0}, jerk[3], potential = 0;
    if (field->external->active) {
        potential = nb6_external_potential(field->external, field->t, field->x[i]);
        nb6_external_force(field->external, field->t, field->x[i], at_rest, at_rest, acc, jerk);
    }
    if (field->galaxy_potential) field->galaxy_potential[i] = potential;
    if (field->galaxy_acc) memcpy(field->galaxy_acc[i], acc, sizeof field->galaxy_acc[i]);
}

static void work(void *context, int part, int parts)
{
    const struct field *field = context;
    int64_t first, end;
    nbc_range(field->n, part, parts, &first, &end);
    for (int64_t i = first; i < end; i++) {
        if (field->potential || field->acc) of_stars(field, i);
        if (field->galaxy_potential || field->galaxy_acc) of_galaxy(field, i);
    }
}

static int check(const struct nb6_sim *sim, int64_t n, const double (*x)[3], struct nbc_error *err)
{
    if (!sim->body) return nbc_fail(err, NBC_BAD_STATE, "nb6_get_field: the simulation has no stars yet");
    if (n < 0 || (n && !x))
        return nbc_fail(err, NBC_BAD_ARGUMENT, n < 0 ? "nb6_get_field: %lld points" : "nb6_get_field: x is NULL",
                        (long long)n);
    for (int64_t i = 0; i < n; i++)
        if (!isfinite(x[i][0] + x[i][1] + x[i][2]))
            return nbc_fail(err, NBC_NON_FINITE, "nb6_get_field: the place of point %lld is not finite",
                            (long long)i + 1);
    return NBC_OK;
}

/* ---- an engine sums single stars, where they are; members of systems, whose motions are the host's, come here */

struct members {
    int64_t n;
    double *mass, (*x)[3];
};

/* The stars of a system whose centre of mass is at x0. */
static void add_members(const struct nb6_sim *sim, const struct nb6_motion *motion, nb6_slot slot, const double x0[3],
                        struct members *to)
{
    const struct nb6_subsystems *p = &sim->subsystems;
    if (nb6_goes_on_demand(p, slot)) {
        const struct nb6_chain *chain = &motion->chain[p->system[slot].chain - 1];
        for (int m = 0; m < chain->state.n; m++, to->n++) {
            to->mass[to->n] = chain->state.mass[m];
            for (int k = 0; k < 3; k++) to->x[to->n][k] = x0[k] + chain->x[m][k];
        }
        return;
    }
    const struct ks_pair *ks = &motion->ks[slot];
    double dx[3], dv[3], x[3];
    ks_relative(ks, dx, dv);
    for (int m = 0; m < 2; m++) {
        const double share = (m ? -1 : 1) * ks->mass[1 - m] / ks->m;
        const nb6_slot inner = nb6_inner_slot(sim, slot, m);
        for (int k = 0; k < 3; k++) x[k] = x0[k] + share * dx[k];
        if (inner >= 0) {
            add_members(sim, motion, inner, x, to);
            continue;
        }
        to->mass[to->n] = ks->mass[m];
        memcpy(to->x[to->n++], x, sizeof x);
    }
}

static int find_members(struct nb6_sim *sim, int64_t first_centre, const double (*centre)[3], struct members *to,
                        struct nbc_error *err)
{
    const struct nb6_subsystems *p = &sim->subsystems;
    int paused, status = p->count > 0 ? nb6_motions_at(sim, sim->ti_reached, 0, &paused, err) : NBC_OK;
    for (int64_t m = first_centre; m < p->n_source && !status; m++)
        add_members(sim, &sim->motions_now.motion, nb6_slot_of(sim, p->source[m]), centre[m - first_centre], to);
    return status;
}

static int by_engine(struct nb6_sim *sim, struct field *field, struct nbc_error *err)
{
    const struct nb6_subsystems *p = &sim->subsystems;
    const int64_t first_centre = nbc_first_from(p->source, p->n_source, (nb6_index)sim->n);
    const size_t most = (size_t)(sim->n - first_centre);
    struct members members = {.mass = nbc_alloc(most, sizeof *members.mass), .x = nbc_alloc(most, sizeof *members.x)};
    struct nb6_field_points points = {.n = field->n,
                                      .x = field->x,
                                      .sum = nbc_alloc((size_t)field->n, sizeof *points.sum),
                                      .centre = nbc_alloc(most, sizeof *points.centre)};
    int status = NBC_OK;
    if (!members.mass || !members.x || !points.sum || !points.centre)
        status = nbc_fail(err, NBC_NO_MEMORY, "no memory for the field at %lld points", (long long)field->n);
    if (!status) status = nb6_engines_field(sim, sim->ti_reached, &points, err);
    if (!status) status = find_members(sim, first_centre, (const double(*)[3])points.centre, &members, err);
    if (!status) {
        field->stars = (struct stars){members.n, members.mass, (const double(*)[3])members.x};
        field->by_engine = points.sum;
        nbc_team_run(nbc_parts(field->n, 1), work, field);
    }
    nbc_free(members.mass);
    nbc_free(members.x);
    nbc_free(points.sum);
    nbc_free(points.centre);
    return status;
}

static int by_frame(struct nb6_sim *sim, struct field *field, struct nbc_error *err)
{
    struct nb6_frame frame;
    const int status = nb6_frame_make(sim, sim->ti_reached, 0, &frame, err);
    if (status) return status;
    field->stars = (struct stars){frame.n, frame.mass, (const double(*)[3])frame.x};
    nbc_team_run(nbc_parts(field->n, 1), work, field);
    nb6_frame_free(&frame);
    return NBC_OK;
}

/* Whether an engine sums follows from contents of a checkpoint, since rounding differs. */
int nb6_get_field(nb6_t *sim, int64_t n, const double (*x)[3], double *potential, double (*acc)[3],
                  double *galaxy_potential, double (*galaxy_acc)[3], struct nbc_error *err)
{
    int status = nb6_live_check(sim, "nb6_get_field", err);
    if (!status) status = check(sim, n, x, err);
    if (status) return status;
    struct field field = {.external = &sim->run.external,
                          .t = nb6_time_to_double(sim->ti_reached),
                          .n = n,
                          .x = x,
                          .potential = potential,
                          .acc = acc,
                          .galaxy_potential = galaxy_potential,
                          .galaxy_acc = galaxy_acc};
    return nb6_engines_take_edits(sim) ? by_engine(sim, &field, err) : by_frame(sim, &field, err);
}
