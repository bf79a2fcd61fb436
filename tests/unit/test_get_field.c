/* Potential and acceleration of a cluster at points in space (nb6_get_field) beside sums in long double. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <omp.h>
#include <string.h>

#include "common/nbc.h"
#include "nbody6/galaxy/external.h"
#include "nbody6/input/config.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/sim.h"
#include "tests/support/cluster.h"
#include "tests/support/escape_scene.h"

enum { POINTS = 8 };

/* Beside the cluster, in it, and 1e-4 from a member of the pair that stays. */
static void make_points(const struct cluster *c, const struct scene *scene, double x[POINTS][3])
{
    for (int i = 0; i < POINTS; i++)
        for (int k = 0; k < 3; k++) x[i][k] = sin(1 + 3 * i + k) * (i + 1) / 3.0;
    memcpy(x[POINTS - 1], c->x[scene->star[7][0]], sizeof x[0]);
    x[POINTS - 1][1] += 1e-4;
}

/* Errors over the sum of magnitudes, which rounding follows. */
static void compare(const struct cluster *c, const double x[3], double potential, const double acc[3])
{
    long double sum[4] = {0}, size[2] = {0};
    for (int64_t j = 0; j < c->n; j++) {
        long double d[3], r2 = 0;
        for (int k = 0; k < 3; k++) {
            d[k] = (long double)c->x[j][k] - x[k];
            r2 += d[k] * d[k];
        }
        if (!(r2 > 0)) continue;
        for (int k = 0; k < 3; k++) sum[k] += c->mass[j] * d[k] / (r2 * sqrtl(r2));
        sum[3] -= c->mass[j] / sqrtl(r2);
        size[0] += c->mass[j] / r2;
        size[1] += c->mass[j] / sqrtl(r2);
    }
    for (int k = 0; k < 3; k++) assert_true(fabsl(acc[k] - sum[k]) < 1e-14L * size[0]);
    assert_true(fabsl(potential - sum[3]) < 1e-14L * size[1]);
}

static void is_that_of_all_stars(void **state)
{
    struct scene scene = make_scene(PAIR | CHAIN | TRIPLE | BINARY);
    struct nbc_error err = {0};
    double x[POINTS][3], potential[POINTS], acc[POINTS][3], again[POINTS], galaxy[POINTS], galaxy_acc[POINTS][3];
    (void)state;
    nb6_t *sim = start_scene(&scene, 1, NB6_ESCAPE_KEEP, NULL);
    cluster_evolve(sim, 0.0703);
    struct cluster now = cluster_now(sim);
    make_points(&now, &scene, x);
    omp_set_num_threads(1);
    if (nb6_get_field(sim, POINTS, (const double(*)[3])x, potential, acc, galaxy, galaxy_acc, &err))
        fail_msg("%s", err.text);
    omp_set_num_threads(3);
    assert_int_equal(nb6_get_field(sim, POINTS, (const double(*)[3])x, again, NULL, NULL, NULL, &err), NBC_OK);
    assert_memory_equal(potential, again, sizeof again);
    for (int i = 0; i < POINTS; i++) {
        const struct nb6_external *external = &sim->run.external;
        compare(&now, x[i], potential[i], acc[i]);
        /* At rest Coriolis's force is zero, and the tidal field is linear. */
        const double tide[3] = {external->t_x * x[i][0], 0, external->t_z * x[i][2]};
        for (int k = 0; k < 3; k++) assert_true(fabs(galaxy_acc[i][k] - tide[k]) <= 1e-15 * fabs(tide[k]));
        assert_true(fabs(galaxy[i] + 0.5 * (tide[0] * x[i][0] + tide[2] * x[i][2])) < 1e-15);
    }
    cluster_free(&now);
    cluster_free(&scene.c);
    nb6_free(sim);
}

static void a_star_does_not_act_on_itself(void **state)
{
    struct nb6_config config;
    struct nbc_error err = {0};
    struct cluster c = cluster_plummer(100, 3);
    double potential, acc[1][3];
    (void)state;
    cluster_config(&config);
    nb6_t *sim = cluster_start(&config, &c, NULL);
    assert_int_equal(nb6_get_field(sim, 1, (const double(*)[3])c.x, &potential, acc, NULL, NULL, &err), NBC_OK);
    compare(&c, c.x[0], potential, acc[0]);
    cluster_free(&c);
    nb6_free(sim);
}

static void bad_requests(void **state)
{
    struct nb6_config config;
    struct nbc_error err = {0};
    struct cluster c = cluster_plummer(10, 3);
    double potential = 7;
    const double nan_x[1][3] = {{0, NAN, 0}}, x[1][3] = {{0, 0, 0}};
    nb6_t *empty = NULL;
    (void)state;
    cluster_config(&config);
    nb6_t *sim = cluster_start(&config, &c, NULL);
    assert_int_equal(nb6_get_field(sim, 1, nan_x, &potential, NULL, NULL, NULL, &err), NBC_NON_FINITE);
    assert_non_null(strstr(err.text, "point 1"));
    assert_int_equal(nb6_get_field(sim, -1, x, &potential, NULL, NULL, NULL, &err), NBC_BAD_ARGUMENT);
    assert_int_equal(nb6_get_field(sim, 1, NULL, &potential, NULL, NULL, NULL, &err), NBC_BAD_ARGUMENT);
    assert_int_equal(nb6_get_field(NULL, 1, x, &potential, NULL, NULL, NULL, &err), NBC_BAD_ARGUMENT);
    assert_int_equal(nb6_get_field(sim, 0, NULL, NULL, NULL, NULL, NULL, &err), NBC_OK);
    assert_true(potential == 7);
    assert_int_equal(nb6_create(&empty, &config, &err), NBC_OK);
    assert_int_equal(nb6_get_field(empty, 1, x, &potential, NULL, NULL, NULL, &err), NBC_BAD_STATE);
    nb6_free(empty);
    nb6_free(sim);
    cluster_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_that_of_all_stars),
        cmocka_unit_test(a_star_does_not_act_on_itself),
        cmocka_unit_test(bad_requests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
