#include "nbody6/fewbody/pairs/field.h"

#include "common/nbc.h"
#include "common/predictor.h"
#include "nbody6/fewbody/kind.h"
#include "nbody6/fewbody/pairs/galaxy.h"
#include "nbody6/galaxy/external.h"
#include "nbody6/state/bodies.h"
#include "nbody6/state/body.h"
#include "nbody6/state/members.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "nbody6/state/view.h"
#include "regularization/chain.h"
#include "regularization/ks.h"

#include <math.h>
#include <string.h>

int nb6_field_reserve(const struct nb6_sim *sim, int parts)
{
    struct nb6_field_scratches *all = sim->subsystems.scratch;
    if (parts <= all->parts) return 1;
    struct nb6_field_scratch *grown = nbc_realloc(all->part, (size_t)all->parts, (size_t)parts, sizeof *grown);
    if (!grown) return 0;
    all->part = grown;
    all->parts = parts;
    return 1;
}

/* The field about the places of so many systems is kept, at one time of each. */
enum { SERIES = 16 };

/* Their content is lost. Room for a quarter more: lists grow by single bodies. */
static int grow(struct nb6_field_scratch *s, size_t n, size_t points)
{
    nbc_free(s->path);
    nbc_free(s->resolved);
    nbc_free(s->mass);
    nbc_free(s->dx);
    nbc_free(s->dv);
    *s = (struct nb6_field_scratch){.series = s->series};
    n += n / 4;
    points += points / 4;
    s->path = nbc_alloc_unset(n, sizeof *s->path);
    s->resolved = nbc_alloc_unset(n, sizeof *s->resolved);
    s->mass = nbc_alloc_unset(points, sizeof *s->mass);
    s->dx = nbc_alloc_unset(points, sizeof *s->dx);
    s->dv = nbc_alloc_unset(points, sizeof *s->dv);
    if (!s->path || !s->resolved || !s->mass || !s->dx || !s->dv) return 0;
    s->n = n;
    s->points = points;
    return 1;
}

int nb6_field_begin(struct nb6_field *f, const struct nb6_sim *sim, int part)
{
    struct nb6_field_scratch *s = &sim->subsystems.scratch->part[part];
    const size_t n = (size_t)sim->subsystems.longest + 1,
                 points = 2 * n + (size_t)(CHAIN_MAX * sim->subsystems.n_chain);
    if ((n > s->n || points > s->points) && !grow(s, n, points)) return 0;
    if (!s->series && nb6_external_acts_on_members(&sim->run.external)) {
        s->series = nbc_alloc(SERIES, sizeof *s->series);
        if (!s->series) return 0;
    }
    f->series = s->series;
    f->path = s->path;
    f->resolved = s->resolved;
    f->mass = s->mass;
    f->dx = s->dx;
    f->dv = s->dv;
    return 1;
}

/* How long the field about a place of this system serves it. */
static double near_time(const struct nb6_sim *sim, nb6_slot slot)
{
    const struct nb6_body *body = nb6_get_body(sim, nb6_centre(sim, slot));
    double centre[2][3];
    memcpy(centre[0], body->x0, sizeof centre[0]);
    memcpy(centre[1], body->v0, sizeof centre[1]);
    return nb6_external_near_time(&sim->run.external, nb6_time_to_double(body->t0), (const double(*)[3])centre);
}

static struct ks_path path_of(const struct nb6_sim *sim, int64_t i)
{
    const struct nb6_body *body = nb6_get_body(sim, i);
    struct ks_path path = {.t0 = nb6_relative_time(sim, body->t0), .mass = body->mass};
    memcpy(path.x, body->x0, sizeof path.x);
    memcpy(path.v, body->v0, sizeof path.v);
    memcpy(path.acc, body->acc, sizeof path.acc);
    memcpy(path.jerk, body->jerk, sizeof path.jerk);
    return path;
}

void nb6_field_set(struct nb6_field *f, const struct nb6_sim *sim, const struct nb6_motion *motion, nb6_slot slot)
{
    const struct nb6_perturbers *pert = &sim->subsystems.pert[slot];
    f->sim = sim;
    f->motion = motion;
    f->slot = slot;
    f->before = INFINITY;
    f->centre = path_of(sim, nb6_centre(sim, slot));
    f->t_tide = nb6_relative_time(sim, sim->subsystems.system[slot].tide.t);
    f->n_path = f->n_resolved = 0;
    f->near_time = f->series ? near_time(sim, slot) : 0;
    for (int32_t k = 0; k < pert->n; k++) {
        nb6_index j = pert->body[k];
        if (nb6_is_centre(sim, j) && nb6_slots_are_mutual(sim, slot, nb6_slot_of(sim, j)))
            f->resolved[f->n_resolved++] = (int32_t)nb6_slot_of(sim, j);
        else
            f->path[f->n_path++] = nb6_get_body(sim, j);
    }
}

static void path_at(const struct ks_path *p, double s, double x[3], double v[3])
{
    nbc_predict(s, p->x, p->v, p->acc, p->jerk, NBC_ROUND_EACH, x, v);
}

static void place_at(const struct ks_path *p, double s, double x[3])
{
    for (int k = 0; k < 3; k++) x[k] = nbc_predict_place(s, p->x[k], p->v[k], p->acc[k], p->jerk[k], NBC_ROUND_EACH);
}

/* Those that the slot sees as points, relative to its centre of mass at xc, vc. */
static void find_paths(const struct nb6_field *f, double t, double t_lo, const double xc[3], const double vc[3])
{
    for (int64_t n = 0; n < f->n_path; n++) {
        const struct nb6_body *body = f->path[n];
        nb6_predict(body, (t - nb6_relative_time(f->sim, body->t0)) + t_lo, f->dx[n], f->dv[n]);
        for (int k = 0; k < 3; k++) {
            f->dx[n][k] -= xc[k];
            f->dv[n][k] -= vc[k];
        }
        f->mass[n] = body->mass;
    }
}

/* For callers that do not use velocities. */
static void find_places(const struct nb6_field *f, double t, const double xc[3])
{
    for (int64_t n = 0; n < f->n_path; n++) {
        const struct nb6_body *b = f->path[n];
        const double s = t - nb6_relative_time(f->sim, b->t0);
        for (int k = 0; k < 3; k++)
            f->dx[n][k] = nbc_predict_place(s, b->x0[k], b->v0[k], b->acc[k], b->jerk[k], NBC_ROUND_EACH) - xc[k];
        f->mass[n] = b->mass;
    }
}

/* All perturbers at a time as points relative to the centre of mass.
 * @param[in] moving  0: without velocities of those that are points anyway */
static int find_points(const struct nb6_field *f, double t, double t_lo, int moving, int64_t *n)
{
    double xc[3], vc[3];
    path_at(&f->centre, (t - f->centre.t0) + t_lo, xc, vc);
    if (moving)
        find_paths(f, t, t_lo, xc, vc);
    else
        find_places(f, t, xc);
    struct nb6_points to = {f->n_path, f->mass, f->dx, f->dv};
    for (int64_t m = 0; m < f->n_resolved; m++) {
        const struct nb6_body *other = nb6_get_body(f->sim, nb6_centre(f->sim, f->resolved[m]));
        double xo[3], vo[3];
        nb6_predict(other, (t - nb6_relative_time(f->sim, other->t0)) + t_lo, xo, vo);
        for (int k = 0; k < 3; k++) {
            xo[k] -= xc[k];
            vo[k] -= vc[k];
        }
        const struct nb6_kind *kind = nb6_kind_of(&f->sim->subsystems, f->resolved[m]);
        int status = kind->points(&f->sim->subsystems, f->motion, f->resolved[m], t, xo, vo, &to);
        if (status) return status;
    }
    *n = to.n;
    return NBC_OK;
}

/* Force of weak neighbours: a field that is linear in the separation and in time. */
static void add_weak_tide(const struct nb6_field *f, double s, const double x[3], const double xdot[3],
                          struct ks_perturbation *out)
{
    const struct nb6_tide *tide = &f->sim->subsystems.system[f->slot].tide;
    for (int a = 0, k = 0; a < 3; a++)
        for (int b = a; b < 3; b++, k++) {
            double now = tide->field[k] + s * tide->field_dot[k], rate = tide->field_dot[k];
            out->p[a] += now * x[b];
            out->pdot[a] += now * xdot[b] + rate * x[b];
            if (a == b) continue;
            out->p[b] += now * x[a];
            out->pdot[b] += now * xdot[a] + rate * x[a];
        }
}

/* Times of motions count from the origin of the libraries' times, those of the galaxy from the start of the run. */
static double absolute(const struct nb6_field *f, double t)
{
    const double now = t + nb6_time_to_double(f->sim->ti_origin);
    return now < f->before ? now : nextafter(f->before, -INFINITY);
}

/* A motion has reached a time if it lacks no more than this: origins of times are rounded. */
static const double THERE = 0x1p-40;

double nb6_field_jump(const struct nb6_field *f, double t, double t_end)
{
    const double jump = nb6_external_jump(&f->sim->run.external) - nb6_time_to_double(f->sim->ti_origin);
    const int galactic = f->sim->run.external.active && f->sim->subsystems.system[f->slot].galactic;
    return galactic && t < jump - THERE && jump <= t_end ? jump : INFINITY;
}

void nb6_field_stay_before_jump(struct nb6_field *f, int stays)
{
    f->before = stays ? nb6_external_jump(&f->sim->run.external) : INFINITY;
}

/* The field about the place where the centre of mass is at the middle of one of the pieces into which its near_time
 * divides the time since its last step. Follows from its path and the time alone, whether it is kept or made.
 * @return NULL: there is none */
static const struct nb6_external_series *series_at(const struct nb6_field *f, double t)
{
    double x[3];
    if (!f->series || !(f->near_time > 0)) return NULL;
    const double piece = 2 * f->near_time, s = isfinite(piece) ? piece * round((t - f->centre.t0) / piece) : 0;
    const double at = (f->centre.t0 + s) + nb6_time_to_double(f->sim->ti_origin);
    struct nb6_external_series *series = &f->series[f->slot % SERIES];
    place_at(&f->centre, s, x);
    if (series->is_set && series->t == at && series->x[0] == x[0] && series->x[1] == x[1] && series->x[2] == x[2])
        return series;
    return nb6_external_expand(&f->sim->run.external, at, x, series) ? series : NULL;
}

/* The galaxy turns an orbit, in the frame of the cluster, once while the cluster goes round. In the time limit of
 * slow-down it turns by this angle, and a slowed period may be a fifth of that time: forces averaged over a period are
 * linear then. */
static const double TURN = 0.2;

/* A linear field, on the orbital velocity: with slow-down, positions change by 1/kappa of the true rate, and so does
 * the velocity by the attraction of the members, but not by forces from outside. */
static void add_linear_field(const struct nb6_field *f, double t, const double centre[2][3], const double x[3],
                             const double xdot[3], struct ks_perturbation *out)
{
    const struct nb6_external *galaxy = &f->sim->run.external;
    const struct ks_pair *ks = &f->motion->ks[f->slot];
    const double r2 = x[0] * x[0] + x[1] * x[1] + x[2] * x[2], m = ks->m / (out->kappa * r2 * sqrt(r2));
    const double v[3] = {out->kappa * xdot[0], out->kappa * xdot[1], out->kappa * xdot[2]};
    const double others[3] = {out->p[0] - m * x[0], out->p[1] - m * x[1], out->p[2] - m * x[2]};
    double acc[3], jerk[3];
    nb6_external_relative(galaxy, t, centre, x, v, xdot, others, acc, jerk);
    for (int k = 0; k < 3; k++) {
        out->p[k] += acc[k];
        out->pdot[k] += jerk[k];
    }
    out->turn[0] = galaxy->coriolis * v[1];
    out->turn[1] = -galaxy->coriolis * v[0];
}

/* Any other, on both stars where they are. */
static void add_field_on_stars(const struct nb6_field *f, const struct nb6_external_series *series, double t,
                               const double centre[2][3], const double x[3], const double xdot[3],
                               struct ks_perturbation *out)
{
    const struct ks_pair *ks = &f->motion->ks[f->slot];
    const double share[2] = {ks->mass[1] / ks->m, -ks->mass[0] / ks->m};
    struct nb6_pull pull;
    double place[2][3], speed[2][3];
    for (int m = 0; m < 2; m++)
        for (int k = 0; k < 3; k++) {
            place[m][k] = share[m] * x[k];
            speed[m][k] = share[m] * xdot[k];
        }
    nb6_galaxy_pull(&f->sim->run.external, series, t, centre, 2, ks->mass, (const double(*)[3])place,
                    (const double(*)[3])speed, &pull);
    for (int k = 0; k < 3; k++) {
        out->p[k] += pull.acc[0][k] - pull.acc[1][k];
        out->pdot[k] += pull.jerk[0][k] - pull.jerk[1][k];
    }
    for (int k = 0; k < 2; k++) out->power[k] = pull.power[k];
}

/* @param[in] t  as motions have it */
static void add_galaxy(const struct nb6_field *f, double t, const double centre[2][3], const double x[3],
                       const double xdot[3], struct ks_perturbation *out)
{
    const struct nb6_external *galaxy = &f->sim->run.external;
    const struct nb6_external_series *series = series_at(f, t);
    const double now = absolute(f, t);
    const double strongest = series ? series->strongest : nb6_external_strongest(galaxy, now, centre[0]);
    const double t_scale = TURN / fmax(sqrt(strongest), galaxy->coriolis);
    if (nb6_external_acts_on_members(galaxy))
        add_field_on_stars(f, series, now, centre, x, xdot, out);
    else
        add_linear_field(f, now, centre, x, xdot, out);
    if (!(out->t_scale > 0) || t_scale < out->t_scale) out->t_scale = t_scale;
}

int nb6_field_perturb(void *field, double t, double t_lo, const double x[3], const double xdot[3],
                      struct ks_perturbation *out)
{
    const struct nb6_field *f = field;
    int64_t n;
    int status = find_points(f, t, t_lo, 1, &n);
    if (status) return status;
    ks_tide(&f->motion->ks[f->slot], (size_t)n, f->mass, (const double(*)[3])f->dx, (const double(*)[3])f->dv, x, xdot,
            out);
    add_weak_tide(f, (t - f->t_tide) + t_lo, x, xdot, out);
    if (f->sim->subsystems.system[f->slot].galactic) {
        double centre[2][3];
        path_at(&f->centre, (t - f->centre.t0) + t_lo, centre[0], centre[1]);
        add_galaxy(f, t + t_lo, (const double(*)[3])centre, x, xdot, out);
    }
    return NBC_OK;
}

/* The same on a member of a chain: the acceleration alone. */
static void add_weak_acceleration(const struct nb6_field *f, double s, const double x[3], double acc[3])
{
    const struct nb6_tide *tide = &f->sim->subsystems.system[f->slot].tide;
    for (int a = 0, k = 0; a < 3; a++)
        for (int b = a; b < 3; b++, k++) {
            double now = tide->field[k] + s * tide->field_dot[k];
            acc[a] += now * x[b];
            if (a != b) acc[b] += now * x[a];
        }
}

/* A linear field on a member of a chain. */
static void add_linear_acceleration(const struct nb6_field *f, double t, const double centre[2][3], const double x[3],
                                    const double v[3], double acc[3])
{
    static const double inner[3]; /* for a jerk that is not requested */
    double galactic[3], jerk[3];
    nb6_external_relative(&f->sim->run.external, absolute(f, t), centre, x, v, v, inner, galactic, jerk);
    for (int k = 0; k < 3; k++) acc[k] += galactic[k];
}

/* The mean acceleration along x becomes the power of the field for each unit of mass: so the velocity that the chain
 * gives its centre of mass is the work, to the tolerance of its other variables (nb6_chain_advance takes it). */
static void set_power(int n, const double mass[], double power, double acc[][3])
{
    double total = 0, mean[3] = {0, 0, 0};
    for (int i = 0; i < n; i++) {
        total += mass[i];
        for (int k = 0; k < 3; k++) mean[k] += mass[i] * acc[i][k];
    }
    mean[0] -= power;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 3; k++) acc[i][k] -= mean[k] / total;
}

/* Force of the galaxy on the members of a chain, beyond that on the centre of mass. */
static void add_galactic_accelerations(const struct nb6_field *f, double t, int n, const double mass[],
                                       const double x[][3], const double v[][3], double acc[][3])
{
    const struct nb6_external *galaxy = &f->sim->run.external;
    struct nb6_pull pull;
    double centre[2][3];
    path_at(&f->centre, t - f->centre.t0, centre[0], centre[1]);
    if (!nb6_external_acts_on_members(galaxy)) {
        for (int i = 0; i < n; i++) add_linear_acceleration(f, t, (const double(*)[3])centre, x[i], v[i], acc[i]);
        return;
    }
    nb6_galaxy_pull(galaxy, series_at(f, t), absolute(f, t), (const double(*)[3])centre, n, mass, x, NULL, &pull);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 3; k++) acc[i][k] += pull.acc[i][k];
    if (nb6_external_does_work(galaxy)) set_power(n, mass, pull.power[0], acc);
}

/* Attraction of points on members, of two of them at a time: an odd number is filled up at the position of the last
 * one. */
static void add_points(const struct nb6_field *f, int64_t n_point, int n, const double x[][3], double acc[][3])
{
    enum { ROOM = CHAIN_MAX + CHAIN_MAX % 2 };
    double at[3][ROOM], sum[3][ROOM] = {{0}};
    const int even = n + n % 2;
    for (int i = 0; i < even; i++)
        for (int k = 0; k < 3; k++) at[k][i] = x[i < n ? i : n - 1][k];
    for (int64_t j = 0; j < n_point; j++) {
        const double *y = f->dx[j], mass = f->mass[j];
#pragma omp simd
        for (int i = 0; i < even; i++) {
            const double d[3] = {y[0] - at[0][i], y[1] - at[1][i], y[2] - at[2][i]};
            const double r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2], m = mass / (r2 * sqrt(r2));
            sum[0][i] += m * d[0];
            sum[1][i] += m * d[1];
            sum[2][i] += m * d[2];
        }
    }
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 3; k++) acc[i][k] += sum[k][i];
}

/* The driver moves the centre of mass: the chain's own mean acceleration is dropped. */
int nb6_field_acceleration(void *field, double t, int n, const double mass[], const double cm[3], const double x[][3],
                           const double v[][3], double acc[][3])
{
    const struct nb6_field *f = field;
    int64_t n_point;
    (void)cm;
    memset(acc, 0, (size_t)n * sizeof *acc);
    int status = find_points(f, t, 0, 0, &n_point);
    if (!status) add_points(f, n_point, n, x, acc);
    for (int i = 0; i < n; i++) add_weak_acceleration(f, t - f->t_tide, x[i], acc[i]);
    if (f->sim->run.external.active) add_galactic_accelerations(f, t, n, mass, x, v, acc);
    return status;
}

int nb6_field_potential(struct nb6_field *f, double t, int n, const double mass[], const double x[][3], double *energy)
{
    int64_t n_point;
    int status = find_points(f, t, 0, 0, &n_point);
    double centre[2][3];
    path_at(&f->centre, t - f->centre.t0, centre[0], centre[1]);
    *energy = 0;
    for (int i = 0; i < n && !status; i++) {
        for (int64_t j = 0; j < n_point; j++) {
            const double *y = f->dx[j], d[3] = {y[0] - x[i][0], y[1] - x[i][1], y[2] - x[i][2]};
            *energy -= mass[i] * f->mass[j] / sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
        }
        if (f->sim->subsystems.system[f->slot].galactic)
            *energy +=
                mass[i] * nb6_external_relative_potential(&f->sim->run.external, absolute(f, t), centre[0], x[i]);
    }
    return status;
}
