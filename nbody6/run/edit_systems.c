#include "nbody6/run/edit_systems.h"

#include "common/nbc.h"
#include "nbody6/fewbody/kind.h"
#include "nbody6/fewbody/masses.h"
#include "nbody6/fewbody/new_masses.h"
#include "nbody6/fewbody/pairs/advance.h"
#include "nbody6/fewbody/pairs/correct.h"
#include "nbody6/fewbody/pairs/remote.h"
#include "nbody6/fewbody/pairs/step.h"
#include "nbody6/run/mass_books.h"
#include "nbody6/state/ascending.h"
#include "nbody6/state/groups.h"
#include "nbody6/state/members.h"
#include "nbody6/state/resolvers.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "regularization/ks.h"

#include <string.h>

/* ---- which systems serve */

static int is_chain(const struct nb6_sim *sim, nb6_index i)
{
    return nb6_is_centre(sim, i) && nb6_goes_on_demand(&sim->subsystems, nb6_slot_of(sim, i));
}

static int is_pair_of_stars(const struct nb6_sim *sim, nb6_slot slot)
{
    return !nb6_goes_on_demand(&sim->subsystems, slot) && !nb6_is_hierarchy(sim, slot);
}

/* Chains are at the times of blocks that need them, and have no prediction. */
static int feels_no_chain(const struct nb6_sim *sim, nb6_index i)
{
    const struct nb6_subsystems *p = &sim->subsystems;
    if (is_chain(sim, i)) return 0;
    for (nb6_slot slot = nb6_resolver_first(p, i); slot >= 0; slot = nb6_resolver_next(p, slot, i))
        if (nb6_goes_on_demand(p, slot)) return 0;
    if (!nb6_is_centre(sim, i)) return 1;
    const struct nb6_perturbers *pert = &p->pert[nb6_slot_of(sim, i)];
    for (int32_t k = 0; k < pert->n; k++)
        if (is_chain(sim, pert->body[k])) return 0;
    return 1;
}

int nb6_edit_systems_serve(const struct nb6_sim *sim, nb6_index body)
{
    const struct nb6_subsystems *p = &sim->subsystems;
    int serves = feels_no_chain(sim, body);
    for (nb6_slot slot = nb6_resolver_first(p, body); slot >= 0 && serves; slot = nb6_resolver_next(p, slot, body))
        serves = is_pair_of_stars(sim, slot) && feels_no_chain(sim, nb6_centre(sim, slot));
    if (!serves || !nb6_is_centre(sim, body)) return serves;
    const nb6_slot slot = nb6_slot_of(sim, body);
    serves = is_pair_of_stars(sim, slot);
    for (int32_t k = 0; k < p->pert[slot].n && serves; k++) serves = feels_no_chain(sim, p->pert[slot].body[k]);
    return serves;
}

/* ---- those of a change */

/* Marks of bodies. */
enum { IS_SEEN = 1, FEELS = 2, IS_OF_A_SYSTEM = 4 };

/* A system, and all that it resolves.   @param[in] as  mark of those */
static void mark_system(const struct nb6_sim *sim, nb6_slot slot, int8_t as, int8_t *marks)
{
    const struct nb6_perturbers *pert = &sim->subsystems.pert[slot];
    marks[nb6_centre(sim, slot)] |= IS_OF_A_SYSTEM | IS_SEEN;
    if (nb6_subsystems_is_perturbed(&sim->subsystems, slot)) marks[nb6_centre(sim, slot)] |= FEELS;
    for (int32_t k = 0; k < pert->n; k++) marks[pert->body[k]] |= as;
}

static void mark(const struct nb6_sim *sim, nb6_index i, int8_t *marks)
{
    const struct nb6_subsystems *p = &sim->subsystems;
    marks[i] |= nb6_is_resolved(p, i) ? IS_SEEN | FEELS : IS_SEEN;
    for (nb6_slot slot = nb6_resolver_first(p, i); slot >= 0; slot = nb6_resolver_next(p, slot, i))
        mark_system(sim, slot, IS_SEEN, marks);
    if (nb6_is_centre(sim, i)) mark_system(sim, nb6_slot_of(sim, i), IS_SEEN | FEELS, marks);
}

/* @param[out] n  bodies with this mark   @return NULL: no memory */
static nb6_index *bodies_with(int64_t bodies, const int8_t *marks, int8_t which, int64_t *n)
{
    int64_t found = 0;
    for (int64_t i = 0; i < bodies; i++) found += (marks[i] & which) != 0;
    nb6_index *list = nbc_alloc((size_t)found, sizeof *list);
    *n = 0;
    for (int64_t i = 0; i < bodies && list; i++)
        if (marks[i] & which) list[(*n)++] = (nb6_index)i;
    return list;
}

/* @return 0: no memory */
static int collect(const struct nb6_sim *sim, int64_t n, const nb6_index *body, struct nb6_edit_systems *s)
{
    const int64_t bodies = nb6_bodies(sim);
    int8_t *marks = nbc_alloc((size_t)bodies, sizeof *marks);
    if (!marks) return 0;
    for (int64_t k = 0; k < n; k++) mark(sim, body[k], marks);
    s->centre = bodies_with(bodies, marks, IS_OF_A_SYSTEM, &s->n_slot);
    s->body = bodies_with(bodies, marks, FEELS, &s->n_body);
    s->seen = bodies_with(bodies, marks, IS_SEEN, &s->n_seen);
    s->pulled = nbc_alloc((size_t)s->n_body, sizeof *s->pulled);
    nbc_free(marks);
    return s->centre && s->body && s->seen && s->pulled;
}

/* Single stars that no system resolves, as most changes are of, need no look at all bodies. */
static int copy_bodies(int64_t n, const nb6_index *body, struct nb6_edit_systems *s)
{
    s->seen = nbc_alloc((size_t)n, sizeof *s->seen);
    if (!s->seen) return 0;
    memcpy(s->seen, body, (size_t)n * sizeof *body);
    s->n_seen = n;
    return 1;
}

int nb6_edit_systems_find(const struct nb6_sim *sim, int64_t n, const nb6_index *body, struct nb6_edit_systems *s,
                          struct nbc_error *err)
{
    int concern = 0;
    for (int64_t k = 0; k < n; k++)
        concern |= nb6_is_centre(sim, body[k]) || nb6_is_resolved(&sim->subsystems, body[k]);
    if (concern ? collect(sim, n, body, s) : copy_bodies(n, body, s)) return NBC_OK;
    return nbc_fail(err, NBC_NO_MEMORY, "no memory for the systems of a change of masses");
}

void nb6_edit_systems_free(struct nb6_edit_systems *s)
{
    nbc_free(s->centre);
    nbc_free(s->body);
    nbc_free(s->seen);
    nbc_free(s->pulled);
}

/* ---- to the present time */

/* As before a block in which no body takes part. */
int nb6_edit_systems_come(struct nb6_sim *sim, const struct nb6_edit_systems *s, int *ends, struct nbc_error *err)
{
    const int64_t n_event = sim->transaction.n_event;
    int status = NBC_OK, paused = 1;
    sim->active.t = s->ti;
    sim->active.n_irr = 0;
    while (paused && !status) status = nb6_step_pairs(sim, &paused, err);
    *ends = sim->active.n_irr > 0 || sim->transaction.n_event > n_event;
    for (int64_t k = 0; k < s->n_slot && !status && !*ends; k++)
        status = nb6_pair_finish(sim, nb6_slot_of(sim, s->centre[k]), s->ti, err);
    return status;
}

/* ---- the change */

/* Add what they have, or subtract it.   @param[in] sign  1: after; -1: before */
static void count_energies(const struct nb6_sim *sim, const double (*x)[3], double sign, struct nb6_edit_systems *s)
{
    const struct nb6_subsystems *p = &sim->subsystems;
    const struct nb6_motion motion = nb6_subsystems_motion(p);
    for (int64_t k = 0; k < s->n_slot; k++) {
        const nb6_slot slot = nb6_slot_of(sim, s->centre[k]);
        s->energy += sign * nb6_slot_energy(p, &motion, slot);
        s->energy += sign * nb6_slot_potential(sim, slot, s->n_seen, s->seen, x, &motion);
        if (p->system[slot].galactic) s->energy += sign * nb6_slot_tidal(sim, &motion, slot);
    }
}

static int count_pulls(const struct nb6_sim *sim, double sign, struct nb6_edit_systems *s, struct nbc_error *err)
{
    int status = NBC_OK;
    for (int64_t k = 0; k < s->n_body && !status; k++) {
        double acc[3] = {0, 0, 0}, jerk[3] = {0, 0, 0};
        struct nb6_pulled *to = &s->pulled[k];
        if (nb6_subsystems_correct(sim, s->body[k], s->ti, acc, jerk))
            status = nbc_fail(err, NBC_NON_FINITE, "a regularized pair has no prediction at t = %.12g",
                              nb6_time_to_double(s->ti));
        to->body = s->body[k];
        for (int d = 0; d < 3; d++) {
            to->acc[d] -= sign * acc[d];
            to->jerk[d] -= sign * jerk[d];
        }
    }
    return status;
}

static void count_stars(const struct nb6_sim *sim, nb6_index centre, const double x[3], const double v[3], double sign,
                        struct nb6_edit_systems *s)
{
    const struct ks_pair *ks = &sim->subsystems.ks[nb6_slot_of(sim, centre)];
    double xr[3], vr[3], places[2][3], velocities[2][3];
    ks_relative(ks, xr, vr);
    ks_components(ks, x, v, xr, vr, places, velocities);
    for (int m = 0; m < 2; m++) nb6_star_sums_add_star(sign * ks->mass[m], places[m], velocities[m], &s->stars);
}

/* A remote pair is seen as the orbit that it had when it became one. */
static int start(struct nb6_sim *sim, nb6_slot slot, struct nbc_error *err)
{
    if (sim->subsystems.system[slot].remote) {
        nb6_pair_set_remote(sim, slot, 0);
        nb6_pair_set_remote(sim, slot, 1);
    }
    return nb6_pair_start(sim, slot, err);
}

int nb6_edit_systems_change(struct nb6_sim *sim, const struct nb6_new_masses *masses, int64_t n, const nb6_index *body,
                            const double (*x)[3], const double (*v)[3], struct nb6_edit_systems *s,
                            struct nbc_error *err)
{
    int status = count_pulls(sim, -1, s, err);
    count_energies(sim, x, -1, s);
    for (int64_t k = 0; k < n && !status; k++) {
        const int64_t at = nb6_list_find(s->seen, (size_t)s->n_seen, body[k]);
        const int is_pair = nb6_is_centre(sim, body[k]);
        if (is_pair) count_stars(sim, body[k], x[at], v[at], -1, s);
        status = nb6_body_set_masses(sim, body[k], masses, err);
        if (is_pair) count_stars(sim, body[k], x[at], v[at], 1, s);
    }
    for (int64_t k = 0; k < s->n_slot && !status; k++) status = start(sim, nb6_slot_of(sim, s->centre[k]), err);
    if (!status) status = count_pulls(sim, 1, s, err);
    count_energies(sim, x, 1, s);
    nb6_groups_link(sim);
    nb6_groups_set_next(sim);
    return status;
}
