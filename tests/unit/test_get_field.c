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
#include "nbody6/state/subsystems.h"
#include "tests/support/cluster.h"
#include "tests/support/escape_scene.h"
#include "tests/support/failing_alloc.h"

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
static void compare(const struct cluster *c, const double x[3], double potential, const double acc[3], long double most)
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
    for (int k = 0; k < 3; k++) assert_true(fabsl(acc[k] - sum[k]) < most * size[0]);
    assert_true(fabsl(potential - sum[3]) < most * size[1]);
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
        compare(&now, x[i], potential[i], acc[i], 1e-14L);
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
    compare(&c, c.x[0], potential, acc[0], 1e-14L);
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

/* A request that fails for want of memory leaves the image where it is. */
static void no_memory(nb6_t *sim, const double (*x)[3])
{
    double potential[POINTS];
    if (!can_fail_alloc()) return;
    for (long k = 0, status = NBC_NO_MEMORY; status; k++) {
        struct nbc_error err = {0};
        const int ahead = sim->engine_image.ahead;
        nb6_motions_forget(sim);
        alloc_left = k;
        status = nb6_get_field(sim, POINTS, x, potential, NULL, NULL, NULL, &err);
        alloc_left = -1;
        if (status) assert_int_equal(status, NBC_NO_MEMORY);
        assert_int_equal(sim->engine_image.ahead, ahead);
        assert_true(k < 100);
    }
}

static nb6_t *start_binaries(void)
{
    struct nb6_config config;
    cluster_config_with_binaries(&config, 150, 30);
    config.binaries.semi_max = 1.0 / 150;
    config.binaries.range = 100;
    return cluster_start_model(&config, NULL);
}

/* In a block of this engine, among chains and hierarchies or among pairs; then beside a sum over the stars after a
 * move. Places of stars differ by rounding where a compiler contracts products, which a point 1e-4 from one makes 1e-12
 * of the force. */
static void compare_engine(enum nb6_engine_choice engine, int with_chain)
{
    struct scene scene = make_scene(PAIR | CHAIN | TRIPLE | BINARY);
    struct nbc_error err = {0};
    double x[POINTS][3], potential[POINTS], acc[POINTS][3], again[POINTS];
    nb6_t *sim = with_chain ? start_scene(&scene, 1, NB6_ESCAPE_KEEP, NULL) : start_binaries();
    sim->engine = engine;
    cluster_evolve(sim, 0.0703);
    struct cluster before = cluster_now(sim);
    make_points(&before, &scene, x);
    cluster_free(&before);
    if (nb6_evolve(sim, 0.09, &err)) fail_msg("%s", err.text);
    const int ahead = sim->engine_image.ahead;
    assert_true(ahead);
    if (nb6_get_field(sim, POINTS, (const double(*)[3])x, potential, acc, NULL, NULL, &err)) fail_msg("%s", err.text);
    assert_int_equal(sim->engine_image.ahead, ahead);
    no_memory(sim, (const double(*)[3])x);
    struct cluster now = cluster_now(sim);
    assert_false(sim->engine_image.ahead);
    for (int i = 0; i < POINTS; i++) compare(&now, x[i], potential[i], acc[i], 1e-11L);
    if (nb6_get_field(sim, POINTS, (const double(*)[3])x, again, NULL, NULL, NULL, &err)) fail_msg("%s", err.text);
    assert_memory_equal(potential, again, sizeof again);
    cluster_free(&now);
    cluster_free(&scene.c);
    nb6_free(sim);
}

static void an_engine_sums_where_stars_are(void **state)
{
    char why[NB6_ENGINE_WHY];
    (void)state;
    for (enum nb6_engine_choice engine = NB6_ENGINE_DEVICE; engine <= NB6_ENGINE_EMULATED; engine++) {
        if (engine == NB6_ENGINE_DEVICE && nb6_engine_missing("device", why)) continue;
        for (int with_chain = 0; with_chain < 2; with_chain++) compare_engine(engine, with_chain);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_that_of_all_stars),
        cmocka_unit_test(an_engine_sums_where_stars_are),
        cmocka_unit_test(a_star_does_not_act_on_itself),
        cmocka_unit_test(bad_requests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
