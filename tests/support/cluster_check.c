#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "common/nbc.h"
#include "gpuirr/gpuirr.h"
#include "gpunb/gpunb.h"
#include "nbody6/state/event.h"
#include "nbody6/state/groups.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/members.h"
#include "nbody6/state/resolvers.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "tests/support/cluster.h"
#include "tests/support/cluster_check.h"
#include "tests/support/cluster_state.h"

/* Those that resolve a body are the systems with the body in their list, ascending. */
static void assert_resolvers(const struct nb6_subsystems *p, int64_t body)
{
    nb6_slot found = nb6_resolver_first(p, body);
    for (nb6_slot slot = 0; slot < p->n_slot; slot++) {
        if (p->pert[slot].n == 0 || !nb6_subsystems_resolves(p, slot, (nb6_index)body)) continue;
        assert_int_equal(found, slot);
        found = nb6_resolver_next(p, slot, body);
    }
    assert_int_equal(found, NB6_NO_SLOT);
}

/* Groups are those that are found anew, and so are their next steps. */
static void assert_groups(nb6_t *sim)
{
    const struct nb6_subsystems *p = &sim->subsystems;
    const size_t slots = (size_t)p->n_slot, listed = (size_t)p->n_listed;
    nb6_stored_slot *was[3];
    double *next = nbc_alloc(slots + 1, sizeof *next);
    for (int k = 0; k < 3; k++) assert_non_null(was[k] = nbc_alloc(slots + 1, sizeof *was[k]));
    assert_non_null(next);
    memcpy(was[0], p->leader, slots * sizeof *was[0]);
    memcpy(was[1], p->follower, slots * sizeof *was[1]);
    memcpy(was[2], p->listed, listed * sizeof *was[2]);
    memcpy(next, p->next, slots * sizeof *next);
    nb6_groups_find(sim);
    assert_int_equal(listed, p->n_listed);
    assert_memory_equal(was[2], p->listed, listed * sizeof *was[2]);
    for (size_t slot = 0; slot < slots; slot++) {
        if (!nb6_slot_is_used(p, (nb6_slot)slot)) continue;
        assert_int_equal(was[0][slot], p->leader[slot]);
        assert_int_equal(was[1][slot], p->follower[slot]);
        assert_true(next[slot] == p->next[slot]);
    }
    for (int k = 0; k < 3; k++) nbc_free(was[k]);
    nbc_free(next);
}

void cluster_assert_consistent(nb6_t *sim)
{
    const struct nb6_subsystems *p = &sim->subsystems;
    int64_t pairs = 0, members = 0, taking_part = 0, bodies = nb6_bodies(sim);
    for (int64_t slot = 0; slot < p->n_slot; slot++) {
        int32_t star[CHAIN_MAX];
        if (p->system[slot].member[0] < 0) {
            assert_int_equal(p->pert[slot].n, 0);
            continue;
        }
        const struct nb6_chain *chain = nb6_chain_of(p, slot);
        const int n = chain ? nb6_stars_of(sim, sim->n + slot, star) : 2;
        double mass = 0;
        pairs++;
        assert_true(slot >= p->free_from || nb6_slot_is_used(p, slot));
        assert_int_equal(p->is_listed[slot], nb6_subsystems_is_perturbed(p, slot));
        members += n; /* bodies that take no part, of a hierarchy a centre of mass among them */
        if (!chain) memcpy(star, p->system[slot].member, sizeof p->system[slot].member);
        assert_true(chain ? n > 2 && chain->slot == slot : star[0] < star[1]);
        for (int m = 0; m < n; m++) {
            assert_true(star[m] < bodies);
            assert_int_equal(sim->star[star[m]].owner, slot + 1);
            if (chain) assert_int_equal(sim->star[star[m]].name, chain->state.id[m]);
            mass += sim->body[star[m]].mass;
        }
        assert_true(fabs(mass / sim->body[sim->n + slot].mass - 1) < 1e-14); /* sums in another order */
        for (int32_t k = 0; k < p->pert[slot].n; k++) {
            int32_t body = p->pert[slot].body[k];
            assert_true(nb6_takes_part(sim, body) && body != sim->n + slot);
            assert_true(k == 0 || p->pert[slot].body[k - 1] < body);
        }
    }
    for (int64_t i = 0; i < sim->n; i++) members += sim->star[i].owner < 0; /* merged */
    assert_int_equal(pairs, p->count);
    for (int64_t i = 0; i < bodies; i++) {
        size_t nnb = 0;
        const int32_t *list = gpuirr_get_list(sim->irr, (size_t)i, &nnb);
        assert_resolvers(p, i);
        assert_int_equal(sim->star[i].nnb, nnb);
        if (!nb6_takes_part(sim, i)) {
            assert_int_equal(nnb, 0);
            assert_int_equal(nb6_source_place(p, (int32_t)i), -1);
            continue;
        }
        assert_true(nb6_source_place(p, (int32_t)i) >= 0);
        taking_part++;
        for (size_t k = 0; k < nnb; k++) assert_true(nb6_takes_part(sim, list[k]));
    }
    assert_groups(sim);
    assert_int_equal(taking_part, p->n_source);
    assert_int_equal(taking_part, sim->n - members + pairs);
}

void cluster_assert_same(nb6_t *a, nb6_t *b)
{
    size_t bodies = (size_t)nb6_bodies(a), slots = (size_t)a->subsystems.n_slot;
    assert_int_equal(a->n, b->n);
    assert_int_equal(a->subsystems.n_slot, b->subsystems.n_slot);
    assert_true(a->ti_now == b->ti_now);
    for (size_t i = 0; i < bodies; i++) {
        if (!nb6_takes_part(a, (int64_t)i)) continue;
        assert_memory_equal(&a->body[i], &b->body[i], sizeof *a->body);
        assert_memory_equal(&a->star[i], &b->star[i], sizeof *a->star);
    }
    assert_memory_equal(a->subsystems.system, b->subsystems.system, slots * sizeof *a->subsystems.system);
    for (size_t slot = 0; slot < slots; slot++) {
        if (a->subsystems.system[slot].member[0] < 0) continue;
        if (a->subsystems.system[slot].chain)
            assert_memory_equal(nb6_chain_of(&a->subsystems, (int64_t)slot),
                                nb6_chain_of(&b->subsystems, (int64_t)slot), sizeof *a->subsystems.chain);
        if (a->subsystems.system[slot].chain) continue;
        assert_memory_equal(&a->subsystems.ks[slot], &b->subsystems.ks[slot], sizeof *a->subsystems.ks);
        assert_int_equal(a->subsystems.pert[slot].n, b->subsystems.pert[slot].n);
    }
    assert_memory_equal(&a->run.counters, &b->run.counters, sizeof a->run.counters);
    struct nb6_energy energy_a = cluster_energy_now(a), energy_b = cluster_energy_now(b);
    assert_memory_equal(&energy_a, &energy_b, sizeof energy_a);
}

void cluster_check_sources(const nb6_t *sim)
{
    enum { POINTS = 3, CAP = 512 };
    static const double r_nb2[POINTS] = {0.01, 1e-4, 1e20}, dt[POINTS], v[POINTS][3];
    static const double x[POINTS][3] = {{0.1, 0.2, -0.3}, {0, 0, 0}, {3, 3, 3}};
    static int32_t list[2][POINTS][CAP];
    double acc[2][POINTS][3], jerk[2][POINTS][3];
    int32_t nnb[2][POINTS];
    const size_t n = (size_t)nb6_bodies(sim);
    const struct gpunb_options options = {.backend = gpunb_info(sim->reg)->name};
    gpunb_t *reg[2] = {sim->reg, NULL};
    assert_int_equal(gpunb_create(&reg[1], n, &options, NULL), NBC_OK);
    for (size_t i = 0; i < n; i++) {
        const struct nb6_body *b = &sim->body[i];
        if (!nb6_takes_part(sim, (int64_t)i)) continue;
        const double t0 = nb6_time_to_double(b->t0 - sim->ti_origin);
        assert_int_equal(gpunb_set_jp(reg[1], i, b->x0, b->v0, b->acc, b->jerk, b->mass, t0), NBC_OK);
    }
    for (int k = 0; k < 2; k++) {
        assert_int_equal(gpunb_predict(reg[k], n, nb6_time_to_double(sim->ti_now - sim->ti_origin)), NBC_OK);
        assert_int_equal(
            gpunb_regf(reg[k], POINTS, NULL, r_nb2, dt, x, v, acc[k], jerk[k], NULL, CAP, nnb[k], list[k][0]), NBC_OK);
    }
    gpunb_free(reg[1]);
    assert_int_equal(nnb[0][2], sim->subsystems.n_source);
    assert_memory_equal(acc[0], acc[1], sizeof acc[0]);
    assert_memory_equal(jerk[0], jerk[1], sizeof jerk[0]);
    assert_memory_equal(nnb[0], nnb[1], sizeof nnb[0]);
    for (int k = 0; k < POINTS; k++)
        assert_memory_equal(list[0][k], list[1][k], (size_t)nnb[0][k] * sizeof list[0][k][0]);
}

void cluster_assert_refused(const nb6_t *sim, int status, int wanted, const struct nbc_error *err, const char *words,
                            uint64_t bits)
{
    assert_int_equal(status, wanted);
    if (!strstr(err->text, words)) fail_msg("'%s' is not in: %s", words, err->text);
    assert_true(cluster_state(sim) == bits);
}
