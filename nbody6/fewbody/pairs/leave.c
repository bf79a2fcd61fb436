#include "nbody6/fewbody/pairs/leave.h"

#include "nbody6/fewbody/pairs/view.h"
#include "nbody6/state/attraction.h"
#include "nbody6/state/body.h"
#include "nbody6/state/members.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "nbody6/state/view.h"

/* Whether body i is a system that resolves body j. */
static int resolves(const struct nb6_sim *sim, nb6_index i, nb6_index j)
{
    if (!nb6_is_centre(sim, i)) return 0;
    const nb6_slot slot = nb6_slot_of(sim, i);
    return sim->subsystems.pert[slot].n > 0 && nb6_subsystems_resolves(&sim->subsystems, slot, j);
}

static void view(const struct nb6_sim *sim, const struct nb6_motion *copy, nb6_index i, int resolved, double t,
                 struct nb6_view *to)
{
    if (resolved)
        nb6_view_slot(sim, copy, nb6_slot_of(sim, i), t - nb6_time_to_double(sim->ti_origin), to);
    else
        nb6_view_point(sim, i, to);
}

/* The force is known at t; the polynomials begin before, by less than a step. */
static void take_from(struct nb6_sim *sim, const struct nb6_motion *copy, nb6_index i, nb6_index gone, double t)
{
    const int own_resolved = resolves(sim, i, gone), other_resolved = resolves(sim, gone, i);
    const struct nb6_body *body = nb6_get_body(sim, i), *left = nb6_get_body(sim, gone);
    struct nb6_view own, other;
    double x[2][3], v[2][3], dx[3], dv[3], acc[3] = {0, 0, 0}, jerk[3] = {0, 0, 0};
    const double s = t - nb6_time_to_double(body->t0);
    if (!own_resolved && !other_resolved) return;
    view(sim, copy, i, own_resolved, t, &own);
    view(sim, copy, gone, other_resolved, t, &other);
    nb6_predict(body, s, x[0], v[0]);
    nb6_predict(left, t - nb6_time_to_double(left->t0), x[1], v[1]);
    for (int k = 0; k < 3; k++) {
        dx[k] = x[1][k] - x[0][k];
        dv[k] = v[1][k] - v[0][k];
    }
    nb6_view_force(sim, dx, dv, &own, &other, acc, jerk);
    for (int k = 0; k < 3; k++) acc[k] -= s * jerk[k];
    nb6_attraction_take(sim, i, acc, jerk, t);
}

void nb6_subsystems_leave(struct nb6_sim *sim, const struct nb6_motion *copy, int64_t n_gone, const nb6_index *gone,
                          const nb6_index *moved, double t)
{
    const struct nb6_subsystems *p = &sim->subsystems;
    for (int64_t m = 0; m < p->n_source && p->count > 0; m++)
        for (int64_t g = 0; g < n_gone && moved[p->source[m]] >= 0; g++) take_from(sim, copy, p->source[m], gone[g], t);
}
