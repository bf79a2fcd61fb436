#include "nbody6/fewbody/pairs/view.h"

#include "common/nbc.h"
#include "nbody6/fewbody/kind.h"
#include "nbody6/fewbody/pairs/galaxy.h"
#include "nbody6/galaxy/external.h"
#include "nbody6/state/bodies.h"
#include "nbody6/state/body.h"
#include "nbody6/state/members.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "nbody6/state/view.h"

#include <math.h>

/* A system as bodies ask for it, and the round of nb6_views_keep in which a thread has computed it: 2 round while it
 * does so, 2 round + 1 from then on. */
struct nb6_kept_view {
    _Alignas(64) uint64_t rule_round, now_round, mean_round;
    int status; /* of now */
    struct nb6_mean_rule rule;
    struct nb6_parts now, mean;
};

struct nb6_views {
    int64_t capacity;
    uint64_t round;
    double t;
    int open;
    struct nb6_kept_view of[]; /* [slot] */
};

int nb6_views_keep(struct nb6_sim *sim, double t, struct nbc_error *err)
{
    struct nb6_subsystems *p = &sim->subsystems;
    if (!p->views || p->views->capacity < p->n_slot) {
        nbc_free(p->views);
        p->views = nbc_alloc(1, sizeof *p->views + (size_t)p->capacity * sizeof p->views->of[0]);
        if (!p->views) return nbc_fail(err, NBC_NO_MEMORY, "no memory for the members of pairs");
        p->views->capacity = p->capacity;
    }
    p->views->round++;
    p->views->t = t;
    p->views->open = 1;
    return NBC_OK;
}

void nb6_views_drop(struct nb6_sim *sim)
{
    if (sim->subsystems.views) sim->subsystems.views->open = 0;
}

/* Where a part of a view is: kept; not computed yet, which is left to this thread; or nowhere, since another thread is
 * about to compute it, and this one does not wait. */
enum place { KEPT, OURS, ELSEWHERE };

static enum place find(const struct nb6_sim *sim, const struct nb6_kept_view *kept, uint64_t *round)
{
    if (!kept) return ELSEWHERE;
    const uint64_t busy = 2 * sim->subsystems.views->round, ready = busy + 1;
    uint64_t seen = __atomic_load_n(round, __ATOMIC_ACQUIRE);
    if (seen == ready) return KEPT;
    const int is_free = seen != busy;
    return is_free && __atomic_compare_exchange_n(round, &seen, busy, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)
               ? OURS
               : ELSEWHERE;
}

static void is_ready(uint64_t *round)
{
    __atomic_store_n(round, *round + 1, __ATOMIC_RELEASE);
}

void nb6_view_point(const struct nb6_sim *sim, int64_t i, struct nb6_view *view)
{
    view->slot = NB6_NO_SLOT;
    view->mass = nb6_get_body(sim, i)->mass;
    view->status = NBC_OK;
    view->kept = NULL;
    view->now = view->mean = &view->own_now;
    nb6_parts_of_point(&view->own_now);
}

void nb6_view_slot(const struct nb6_sim *sim, const struct nb6_motion *motion, nb6_slot slot, double t,
                   struct nb6_view *view)
{
    view->slot = slot;
    view->mass = nb6_get_body(sim, nb6_centre(sim, slot))->mass;
    view->motion = motion;
    view->t = t;
    view->status = NBC_OK;
    view->now = view->mean = NULL;
    const struct nb6_subsystems *p = &sim->subsystems;
    const int is_kept = p->views && p->views->open && p->views->t == t && motion->ks == p->ks;
    view->kept = is_kept ? &p->views->of[slot] : NULL;
}

/* Of a system.   @param[in] own  memory, unless it is kept */
static const struct nb6_mean_rule *rule_of(const struct nb6_sim *sim, const struct nb6_view *view,
                                           struct nb6_mean_rule *own)
{
    struct nb6_kept_view *kept = view->kept;
    const enum place place = find(sim, kept, kept ? &kept->rule_round : NULL);
    struct nb6_mean_rule *rule = place == ELSEWHERE ? own : &kept->rule;
    if (place != KEPT) *rule = nb6_slot_mean_rule(sim, view->slot);
    if (place == OURS) is_ready(&kept->rule_round);
    return rule;
}

/* Whether a body at r is so far away that it feels the mean alone, by limits above those of nb6_mean_radius that need
 * no root: cbrt(1 + x) <= 1 + x/3. Most perturbers are. */
static int is_well_beyond(const struct nb6_mean_rule *rule, double mass, double v, double r)
{
    const double s = r / (nb6_all_mean() * (1 + 1e-12)); /* rounding */
    return s > rule->apocentres * (1 + mass / (3 * rule->mass)) && s > rule->periods * v &&
           s * s * s > mass * rule->waves;
}

/* Up to which distance r of another body, of this mass and velocity, that body does not feel the mean alone.
 * @return 0 where r is well beyond it, or the body is a point */
static double mean_radius(const struct nb6_sim *sim, const struct nb6_view *view, double mass, double v, double r)
{
    if (view->slot < 0) return 0;
    struct nb6_mean_rule own;
    const struct nb6_mean_rule *rule = rule_of(sim, view, &own);
    return is_well_beyond(rule, mass, v, r) ? 0 : nb6_mean_radius(rule, mass, v);
}

static const struct nb6_parts *now_of(const struct nb6_sim *sim, struct nb6_view *view)
{
    if (view->now) return view->now;
    struct nb6_kept_view *kept = view->kept;
    const enum place place = find(sim, kept, kept ? &kept->now_round : NULL);
    struct nb6_parts *now = place == ELSEWHERE ? &view->own_now : &kept->now;
    view->status =
        place == KEPT ? kept->status : nb6_parts_of_slot(&sim->subsystems, view->motion, view->slot, view->t, now);
    if (place == OURS) {
        kept->status = view->status;
        is_ready(&kept->now_round);
    }
    return view->now = now;
}

static const struct nb6_parts *mean_of(const struct nb6_sim *sim, struct nb6_view *view)
{
    if (view->mean) return view->mean;
    struct nb6_kept_view *kept = view->kept;
    const enum place place = find(sim, kept, kept ? &kept->mean_round : NULL);
    struct nb6_parts *mean = place == ELSEWHERE ? &view->own_mean : &kept->mean;
    if (place != KEPT) nb6_mean_parts_of_slot(&sim->subsystems, view->slot, mean);
    if (place == OURS) is_ready(&kept->mean_round);
    return view->mean = mean;
}

/* From 1 at s = 0 to 0 at s = 1, with two derivatives that vanish at both ends; and its derivative. */
static double fall(double s, double *slope)
{
    *slope = -30 * s * s * (1 - s) * (1 - s);
    return 1 - s * s * s * (10 + s * (6 * s - 15));
}

/* Whether it is a point, or seen in the mean at any distance. */
static int is_mean(const struct nb6_sim *sim, const struct nb6_view *view)
{
    return view->slot < 0 || sim->subsystems.system[view->slot].remote;
}

/* Both forces, with weights that follow the distance: a step in the force would be one in its derivatives, which follow
 * from differences. The radius grows with the speed. The change of speed while they pass each other is left out of the
 * derivative: it is small where speed decides. */
static void blend(double r_mean, const double x[3], const double v[3], const double now[2][3], const double mean[2][3],
                  double acc[3], double jerk[3])
{
    const double r = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]), width = (nb6_all_mean() - 1) * r_mean;
    double slope;
    const double w = fall((r - r_mean) / width, &slope);
    const double w_dot = slope * (x[0] * v[0] + x[1] * v[1] + x[2] * v[2]) / (r * width);
    for (int k = 0; k < 3; k++) {
        acc[k] += mean[0][k] + w * (now[0][k] - mean[0][k]);
        jerk[k] += mean[1][k] + w * (now[1][k] - mean[1][k]) + w_dot * (now[0][k] - mean[0][k]);
    }
}

void nb6_view_force(const struct nb6_sim *sim, const double x[3], const double v[3], struct nb6_view *own,
                    struct nb6_view *other, double acc[3], double jerk[3])
{
    const double r2 = x[0] * x[0] + x[1] * x[1] + x[2] * x[2];
    const double speed = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]), r = sqrt(r2), far = nb6_all_mean();
    const double r_mean = is_mean(sim, own) && is_mean(sim, other) ? 0
                                                                   : fmax(mean_radius(sim, own, other->mass, speed, r),
                                                                          mean_radius(sim, other, own->mass, speed, r));
    double now[2][3] = {{0}}, mean[2][3] = {{0}};
    if (r2 >= far * far * r_mean * r_mean) {
        nb6_parts_force(sim->subsystems.sums, other->mass, x, v, mean_of(sim, own), mean_of(sim, other), acc, jerk);
    } else if (!(r2 > r_mean * r_mean)) {
        nb6_parts_force(sim->subsystems.sums, other->mass, x, v, now_of(sim, own), now_of(sim, other), acc, jerk);
    } else {
        nb6_parts_force(sim->subsystems.sums, other->mass, x, v, now_of(sim, own), now_of(sim, other), now[0], now[1]);
        nb6_parts_force(sim->subsystems.sums, other->mass, x, v, mean_of(sim, own), mean_of(sim, other), mean[0],
                        mean[1]);
        blend(r_mean, x, v, (const double(*)[3])now, (const double(*)[3])mean, acc, jerk);
    }
}

/* ---- a field */

/* A body that pulls as strongly, from so far away, and passes as fast. */
static double mean_radius_in_field(const struct nb6_sim *sim, nb6_slot slot, double strongest,
                                   const struct nb6_external_scale *scale)
{
    const double r = scale->length, mass = strongest * r * r * r;
    const struct nb6_mean_rule rule = nb6_slot_mean_rule(sim, slot);
    return sim->subsystems.system[slot].remote ? 0 : nb6_mean_radius(&rule, mass, scale->speed);
}

static void add_mean_pull(const struct nb6_sim *sim, const struct nb6_external_series *series, double t,
                          const double centre[2][3], const struct nb6_parts *parts, double force[2][3])
{
    struct nb6_pull pull;
    nb6_galaxy_pull(&sim->run.external, series, t, centre, parts->n, parts->mass, parts->x, parts->v, &pull);
    for (int m = 0; m < parts->n; m++)
        for (int k = 0; k < 3; k++) {
            force[0][k] += parts->mass[m] * pull.acc[m][k];
            force[1][k] += parts->mass[m] * pull.jerk[m][k];
        }
}

void nb6_view_field(const struct nb6_sim *sim, double t, const double centre[2][3], struct nb6_view *own, double acc[3],
                    double jerk[3])
{
    struct nb6_external_scale scale = {.length = 1};
    struct nb6_external_series about;
    const struct nb6_external_series *series =
        nb6_external_expand(&sim->run.external, t, centre[0], &about) ? &about : NULL;
    double now[2][3] = {{0}}, mean[2][3] = {{0}}, r_mean = INFINITY;
    if (nb6_external_scale(&sim->run.external, t, centre, &scale)) {
        const double strongest = series ? series->strongest : nb6_external_strongest(&sim->run.external, t, centre[0]);
        r_mean = mean_radius_in_field(sim, own->slot, strongest, &scale);
    }
    if (scale.length < nb6_all_mean() * r_mean) add_mean_pull(sim, series, t, centre, now_of(sim, own), now);
    if (scale.length > r_mean) add_mean_pull(sim, series, t, centre, mean_of(sim, own), mean);
    if (scale.length < nb6_all_mean() * r_mean && scale.length > r_mean) {
        const double along[3] = {scale.length, 0, 0}, change[3] = {scale.length_dot, 0, 0};
        blend(r_mean, along, change, (const double(*)[3])now, (const double(*)[3])mean, acc, jerk);
        return;
    }
    for (int k = 0; k < 3; k++) { /* one of both is zero */
        acc[k] += now[0][k] + mean[0][k];
        jerk[k] += now[1][k] + mean[1][k];
    }
}

double nb6_view_field_felt(const struct nb6_sim *sim, nb6_slot slot)
{
    const struct nb6_body *body = nb6_get_body(sim, nb6_centre(sim, slot));
    const double t = nb6_time_to_double(body->t0);
    struct nb6_external_scale scale;
    double centre[2][3];
    if (!sim->subsystems.system[slot].galactic || !nb6_external_acts_on_members(&sim->run.external)) return 0;
    for (int k = 0; k < 3; k++) {
        centre[0][k] = body->x0[k];
        centre[1][k] = body->v0[k];
    }
    if (!nb6_external_scale(&sim->run.external, t, (const double(*)[3])centre, &scale)) return INFINITY;
    const double strongest = nb6_external_strongest(&sim->run.external, t, centre[0]);
    if (scale.length > nb6_all_mean() * mean_radius_in_field(sim, slot, strongest, &scale)) return 0;
    return strongest / scale.length;
}
