/* A library that is opened while the stars are looked at (run/opening.h): what is refused meanwhile leaves a simulation
 * that takes other stars, and what the library cannot do is told as ever. */
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
#include "nbody6/input/config.h"
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
    memcpy(c.x[7], c.x[8], sizeof c.x[7]); /* of two faults that of the stars is told */
    assert_int_equal(set(sim, &c, &err), NBC_BAD_INPUT);
    unsetenv("GPUNB_BACKEND");
    nb6_free(sim);
    cluster_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(other_stars_may_come),
                                       cmocka_unit_test(backends_that_are_not_there)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
