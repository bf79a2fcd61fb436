/* Relative motions in two parts of a block (fewbody/pairs/step.h): those that the block resolves, and the rest, in
 * slices of any size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "common/nbc.h"
#include "nbody6/fewbody/pairs/step.h"
#include "nbody6/input/config.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/bodies.h"
#include "nbody6/state/members.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "tests/support/cluster.h"

/* Binaries as hard as most of a cluster are, half of which have perturbers. */
static nb6_t *begin(void)
{
    struct nb6_config config;
    cluster_config_with_binaries(&config, 200, 80);
    config.binaries.semi_max = 1e-3;
    config.binaries.range = 10;
    config.pair.gamma_min = 1e-8;
    nb6_t *sim = cluster_start_model(&config, NULL);
    cluster_evolve(sim, 0.01);
    return sim;
}

/* A block with one member, of the systems with perturbers that whose step ends last: others are due by then. */
static void set_block(nb6_t *sim)
{
    struct nb6_active *active = &sim->active;
    active->n_irr = 0;
    for (int64_t slot = 0; slot < sim->subsystems.n_slot; slot++) {
        const int32_t i = nb6_centre(sim, slot);
        const int64_t t = sim->body[i].t0 + nb6_step_ticks(sim->star[i].level_irr);
        if (sim->subsystems.pert[slot].n == 0 || (active->n_irr > 0 && t <= active->t)) continue;
        active->irr[0] = i;
        active->n_irr = 1;
        active->t = t;
    }
    assert_int_equal(active->n_irr, 1);
}

/* @param[in] most  of the rest at a time; 0: all in one part
 *  @return the state, and how many were the rest */
static nb6_t *step(int64_t most, int64_t *rest)
{
    nb6_t *sim = begin();
    struct nbc_error err = {0};
    int64_t last = -1;
    int paused = 0;
    set_block(sim);
    *rest = 0;
    const int status = most ? nb6_step_pairs_now(sim, &paused, &err) : nb6_step_pairs(sim, &paused, &err);
    if (status || paused) fail_msg("%s", err.text);
    for (int64_t n = most; n == most && most > 0; *rest += n)
        if (nb6_step_pairs_rest(sim, &last, most, &n, &err)) fail_msg("%s", err.text);
    return sim;
}

static void assert_same_motions(const nb6_t *a, const nb6_t *b)
{
    const struct nb6_subsystems *p = &a->subsystems, *q = &b->subsystems;
    assert_int_equal(p->n_slot, q->n_slot);
    assert_memory_equal(p->ks, q->ks, (size_t)p->n_slot * sizeof *p->ks);
    assert_memory_equal(p->next, q->next, (size_t)p->n_slot * sizeof *p->next);
    assert_true(a->run.counters.ks_steps == b->run.counters.ks_steps && a->active.n_irr == b->active.n_irr);
}

static void parts_make_the_same_bits(void **state)
{
    (void)state;
    int64_t none, rest;
    nb6_t *whole = step(0, &none);
    const int64_t at_a_time[] = {1, 3, INT64_MAX};
    for (size_t k = 0; k < sizeof at_a_time / sizeof *at_a_time; k++) {
        nb6_t *sim = step(at_a_time[k], &rest);
        print_message("%d of the rest, at most %lld at a time\n", (int)rest, (long long)at_a_time[k]);
        assert_true(rest > 5);
        assert_same_motions(whole, sim);
        nb6_free(sim);
    }
    nb6_free(whole);
}

/* Motions that the block resolves are advanced at once. */
static void seen_ones_do_not_wait(void **state)
{
    (void)state;
    struct nbc_error err = {0};
    int paused = 0;
    nb6_t *sim = begin();
    set_block(sim);
    const int64_t slot = nb6_slot_of(sim, sim->active.irr[0]);
    if (nb6_step_pairs_now(sim, &paused, &err)) fail_msg("%s", err.text);
    assert_true(sim->subsystems.next[sim->subsystems.leader[slot]] > nb6_relative_time(sim, sim->active.t));
    int64_t lagging = 0;
    for (int64_t k = 0; k < sim->subsystems.n_listed; k++)
        lagging += sim->subsystems.next[sim->subsystems.listed[k]] <= nb6_relative_time(sim, sim->active.t);
    assert_true(lagging > 5);
    nb6_free(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(parts_make_the_same_bits),
                                       cmocka_unit_test(seen_ones_do_not_wait)};
    return cmocka_run_group_tests_name("pair_step", tests, NULL, NULL);
}
