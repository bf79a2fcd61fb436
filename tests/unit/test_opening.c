/* A library that is opened while the stars are checked (run/opening.h): after a refusal the simulation accepts other
 * stars, and failures of the library are reported as ever. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/nbc.h"
#include "gpunb/gpunb.h"
#include "nbody6/analysis/energy.h"
#include "nbody6/analysis/frame.h"
#include "nbody6/input/config.h"
#include "nbody6/run/frame_make.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/sim.h"
#include "tests/support/cluster.h"

enum { STARS = 3000 }; /* for so many a thread is begun */

static int set(nb6_t *sim, const struct cluster *c, struct nbc_error *err)
{
    return nb6_set_bodies(sim, c->n, NULL, c->mass, (const double(*)[3])c->x, (const double(*)[3])c->v, err);
}

static nb6_t *create(const char *device)
{
    struct nb6_config config;
    struct nbc_error err = {0};
    nb6_t *sim = NULL;
    cluster_config(&config);
    snprintf(config.run.device, sizeof config.run.device, "%s", device);
    if (nb6_create(&sim, &config, &err)) fail_msg("%s", err.text);
    return sim;
}

static void other_stars_may_come(void **state)
{
    (void)state;
    struct nbc_error err = {0};
    struct cluster c = cluster_plummer(STARS, 1);
    nb6_t *sim = create("cpu");
    memcpy(c.x[7], c.x[2999], sizeof c.x[7]);
    const double twin = c.x[7][0];
    assert_int_equal(set(sim, &c, &err), NBC_BAD_INPUT);
    assert_non_null(strstr(err.text, "stars 8 and 3000 are at the same place"));
    assert_null(sim->reg);
    c.x[7][0] = NAN;
    assert_int_equal(set(sim, &c, &err), NBC_NON_FINITE);
    assert_null(sim->reg);
    c.x[7][0] = twin + 1e-3;
    assert_int_equal(set(sim, &c, &err), NBC_OK);
    assert_non_null(sim->reg);
    assert_int_equal(set(sim, &c, &err), NBC_BAD_STATE);
    nb6_free(sim);
    cluster_free(&c);
}

static void backends_that_are_not_there(void **state)
{
    (void)state;
    struct nbc_error err = {0};
    struct cluster c = cluster_plummer(STARS, 1);
    nb6_t *sim = create("auto");
    setenv("GPUNB_BACKEND", "abacus", 1);
    assert_int_equal(set(sim, &c, &err), NBC_UNAVAILABLE);
    assert_non_null(strstr(err.text, "abacus"));
    memcpy(c.x[7], c.x[8], sizeof c.x[7]); /* of two faults that of the stars is reported */
    assert_int_equal(set(sim, &c, &err), NBC_BAD_INPUT);
    unsetenv("GPUNB_BACKEND");
    nb6_free(sim);
    cluster_free(&c);
}

/* As a GPU has it that was given the stars of a start with pairs: a snapshot asks for the potential of all stars, an
 * adjust for that of all bodies. */
static void a_potential_that_was_begun(void **state)
{
    (void)state;
    struct nbc_error err = {0};
    struct nb6_config config;
    struct nb6_frame frame;
    struct nb6_energy before, after;
    cluster_config_with_binaries(&config, 100, 10);
    nb6_t *sim = cluster_start_model(&config, NULL);
    struct nb6_potential_cache *cache = &sim->potential;
    const size_t n = (size_t)sim->n;
    assert_true(sim->subsystems.n_source < sim->n);
    assert_int_equal(cache->started, nb6_sim_on_gpu(sim) ? sim->subsystems.n_source : 0); /* of bodies */
    assert_int_equal(nb6_get_energy(sim, &before, &err), NBC_OK);
    for (int with_snapshot = 0; with_snapshot < 2; with_snapshot++) {
        nbc_free(cache->pot);
        *cache = (struct nb6_potential_cache){.started = sim->n,
                                              .pot = nbc_alloc(n, sizeof *cache->pot),
                                              .mass = nbc_alloc(n, sizeof *cache->mass),
                                              .x = nbc_alloc(n, sizeof *cache->x)};
        const double(*x)[3] = (const double(*)[3])cache->x;
        assert_int_equal(gpunb_potential_start(sim->reg, 0, n, n, cache->mass, x, cache->pot), NBC_OK);
        if (with_snapshot) {
            assert_int_equal(nb6_frame_make(sim, sim->ti_now, NB6_FRAME_POTENTIAL, &frame, &err), NBC_OK);
            nb6_frame_free(&frame);
            assert_null(cache->x);
        }
        if (nb6_get_energy(sim, &after, &err)) fail_msg("%s", err.text);
        assert_true(after.potential == before.potential);
        assert_true(!cache->started && !cache->x && !cache->mass);
    }
    nb6_free(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(other_stars_may_come),
                                       cmocka_unit_test(backends_that_are_not_there),
                                       cmocka_unit_test(a_potential_that_was_begun)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
