/* Pairs with which a run begins, or goes on when stars have come: threads find them and begin them, and no bit depends
 * on how many. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <omp.h>
#include <stdint.h>

#include "common/nbc.h"
#include "nbody6/fewbody/pairs/start.h"
#include "nbody6/input/config.h"
#include "nbody6/model/model.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "tests/support/cluster.h"
#include "tests/support/cluster_check.h"
#include "tests/support/cluster_state.h"

/* Enough pairs for several threads, and among them some that resolve each other. */
static uint64_t state_at_start(int threads, int declared, int64_t *mutual)
{
    struct nb6_config config;
    const int before = omp_get_max_threads();
    cluster_config_with_binaries(&config, 300, 200);
    config.pair.gamma_min = 1e-9; /* many perturbers */
    omp_set_num_threads(threads);
    nb6_t *model = cluster_start_model(&config, NULL), *sim = model;
    if (!declared) {
        struct cluster c = cluster_now(model);
        config.binaries.n = 0;
        sim = cluster_start(&config, &c, NULL);
        cluster_free(&c);
        nb6_free(model);
    }
    omp_set_num_threads(before);
    const struct nb6_subsystems *p = &sim->subsystems;
    assert_true(p->count > 100);
    *mutual = 0;
    for (nb6_slot slot = 0; slot < p->n_slot; slot++) {
        *mutual += p->leader[slot] != slot;
        assert_true(slot == 0 || p->system[slot].member[0] > p->system[slot - 1].member[0]);
    }
    cluster_assert_consistent(sim);
    const uint64_t hash = cluster_state(sim);
    nb6_free(sim);
    return hash;
}

/* First pairs get their slots in the order of their stars, and threads change no bit of the start. */
static void starts_do_not_depend_on_threads(void **state)
{
    (void)state;
    for (int declared = 0; declared < 2; declared++) {
        int64_t mutual[2];
        const uint64_t alone = state_at_start(1, declared, &mutual[0]);
        for (int threads = 2; threads <= 4; threads++) {
            assert_true(alone == state_at_start(threads, declared, &mutual[1]));
            assert_int_equal(mutual[0], mutual[1]);
        }
        assert_true(mutual[0] > 10);
    }
}

/* A star comes to a place in the orbit of a wide pair, 4e-4 from one of its stars, where it moves as fast as that: the
 * pair does not go on, and first steps are as short as the distances of the three. Measured 5e-8; with first steps
 * towards a point in the middle of the pair the energy changes by 2000. */
static void a_star_comes_between(void **state)
{
    struct nb6_config config;
    struct nbc_error err = {0};
    (void)state;
    cluster_config_with_binaries(&config, 40, 1);
    config.binaries.semi_max = 0.01;
    config.binaries.range = 1;
    nb6_t *sim = cluster_start_model(&config, NULL);
    cluster_evolve(sim, 0.0625);
    struct cluster now = cluster_now(sim);
    const double x[1][3] = {{now.x[0][0] + 4e-4, now.x[0][1], now.x[0][2]}}, *v = now.v[0], mass = now.mass[0];
    assert_int_equal(sim->subsystems.system[0].member[1], 1);
    if (nb6_add_bodies(sim, 1, NULL, &mass, x, (const double(*)[3])v, &err)) fail_msg("%s", err.text);
    const double energy = cluster_energy_now(sim).total;
    cluster_evolve(sim, 0.0635);
    assert_true(fabs(cluster_energy_now(sim).total - energy) < 1e-6);
    cluster_free(&now);
    nb6_free(sim);
}

/* Room is made for the declared binaries that will be pairs, before they are; the wide ones need none. */
static void room_is_made_before(void **state)
{
    (void)state;
    enum { BINARIES = 200 };
    struct nb6_config config;
    struct nb6_model model;
    cluster_config_with_binaries(&config, 300, BINARIES);
    config.binaries.semi_max = 0.03;
    config.binaries.range = 1000;
    assert_int_equal(nb6_model_make(&config, &model, NULL), NBC_OK);
    const struct cluster c = {model.n, model.mass, model.x, model.v};
    nb6_t *sim = cluster_start(&config, &c, NULL);
    int64_t primordial = 0;
    for (nb6_slot slot = 0; slot < sim->subsystems.n_slot; slot++)
        primordial += sim->subsystems.system[slot].primordial;
    const int64_t counted = nb6_declared_pairs(sim, c.n, c.mass, (const double(*)[3])c.x, (const double(*)[3])c.v);
    assert_true(primordial > 0 && primordial < BINARIES);
    assert_int_equal(counted, primordial);
    assert_true(sim->subsystems.capacity >= nb6_subsystems_room(counted));
    nb6_model_free(&model);
    nb6_free(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(starts_do_not_depend_on_threads),
                                       cmocka_unit_test(a_star_comes_between), cmocka_unit_test(room_is_made_before)};
    return cmocka_run_group_tests_name("start_pairs", tests, NULL, NULL);
}
