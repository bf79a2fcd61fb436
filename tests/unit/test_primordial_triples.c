/* Triples that a model begins with (nbody6/model/model_triples.c). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/nbc.h"
#include "nbody6/input/config.h"
#include "nbody6/input/units.h"
#include "nbody6/model/model.h"
#include "regularization/hierarchy.h"
#include "tests/support/cluster.h"

enum { SYSTEMS = 1600, BINARIES = 1500, TRIPLES = 1000 };

static void configure(struct nb6_config *config, int64_t triples)
{
    cluster_config_with_binaries(config, 100, 10);
    config->model.n = SYSTEMS;
    config->model.imf = NB6_IMF_KROUPA2001;
    config->model.mass_min_msun = 0.1;
    config->model.mass_max_msun = 20;
    config->binaries.n = BINARIES;
    config->binaries.semi_max = 1e-3;
    config->binaries.range = 10;
    config->triples = (struct nb6_triple_config){triples, 1e-4, 5, -1, 0.5};
}

static struct nb6_model make(const struct nb6_config *config)
{
    struct nb6_model model;
    struct nbc_error err = {0};
    if (nb6_model_make(config, &model, &err)) fail_msg("%s", err.text);
    assert_int_equal(model.n, SYSTEMS + BINARIES + config->triples.n);
    return model;
}

/* Inner and outer orbit of triple k, and its centre of mass. */
struct triple {
    double mass[3], x[3], v[3];
    struct hierarchy_orbit inner, outer;
};

static struct triple triple_of(const struct nb6_model *model, int64_t k)
{
    const int64_t star[3] = {2 * k, 2 * k + 1, 2 * BINARIES + k};
    struct triple t;
    double x[3], v[3], y[3], w[3];
    for (int s = 0; s < 3; s++) t.mass[s] = model->mass[star[s]];
    const double pair = t.mass[0] + t.mass[1], all = pair + t.mass[2];
    for (int d = 0; d < 3; d++) {
        const double *a[3] = {model->x[star[0]], model->x[star[1]], model->x[star[2]]};
        const double *b[3] = {model->v[star[0]], model->v[star[1]], model->v[star[2]]};
        const double centre = (t.mass[0] * a[0][d] + t.mass[1] * a[1][d]) / pair;
        const double drift = (t.mass[0] * b[0][d] + t.mass[1] * b[1][d]) / pair;
        x[d] = a[1][d] - a[0][d];
        v[d] = b[1][d] - b[0][d];
        y[d] = a[2][d] - centre;
        w[d] = b[2][d] - drift;
        t.x[d] = (pair * centre + t.mass[2] * a[2][d]) / all;
        t.v[d] = (pair * drift + t.mass[2] * b[2][d]) / all;
    }
    hierarchy_orbit_find(pair, x, v, &t.inner);
    hierarchy_orbit_find(all, y, w, &t.outer);
    return t;
}

static int ascending(const void *p, const void *q)
{
    const double x = *(const double *)p, y = *(const double *)q;
    return (x > y) - (x < y);
}

/* Kolmogorov-Smirnov distance from a uniform distribution; one sample in a thousand exceeds 1.95/sqrt(n), and the
 * sample is always the same. `u` is destroyed. */
static void assert_uniform(double *u, int64_t n)
{
    double worst = 0;
    qsort(u, (size_t)n, sizeof *u, ascending);
    for (int64_t k = 0; k < n; k++) worst = fmax(worst, fabs(u[k] - ((double)k + 0.5) / (double)n));
    assert_true(worst < 1.95 / sqrt((double)n));
}

static double inclination(const struct triple *t)
{
    double product = 0, aa = 0, bb = 0;
    for (int d = 0; d < 3; d++) {
        product += t->inner.j[d] * t->outer.j[d];
        aa += t->inner.j[d] * t->inner.j[d];
        bb += t->outer.j[d] * t->outer.j[d];
    }
    return acos(product / sqrt(aa * bb));
}

/* All are stable, with room; shapes and shares have the distributions asked for, and orientations none. */
static void triples_are_stable_and_as_asked_for(void **state)
{
    (void)state;
    struct nb6_config config;
    static double inner[TRIPLES], outer[TRIPLES], share[TRIPLES], tilt[TRIPLES];
    configure(&config, TRIPLES);
    struct nb6_model model = make(&config);
    for (int64_t k = 0; k < TRIPLES; k++) {
        const struct triple t = triple_of(&model, k);
        const double pair = t.mass[0] + t.mass[1], i = inclination(&t);
        assert_true(t.inner.a > 0 && t.inner.a < 1e-4 * (1 + 1e-9) && t.outer.e < 0.9);
        assert_true(t.outer.pericentre > 1.1 * t.inner.a * hierarchy_critical_ratio(t.mass[2] / pair, t.outer.e, i));
        inner[k] = t.inner.e * t.inner.e;
        outer[k] = t.outer.e * t.outer.e / 0.81;
        share[k] = (t.mass[0] / pair - 0.5) / 0.4;
        tilt[k] = 0.5 * (1 + cos(i));
    }
    assert_uniform(inner, TRIPLES);
    assert_uniform(outer, TRIPLES);
    assert_uniform(share, TRIPLES);
    assert_uniform(tilt, TRIPLES);
    nb6_model_free(&model);
}

/* Other stars are unchanged: masses in Msun, positions and velocities of systems are those of the model without
 * triples. The centres of mass of orbits of 1e-3 are rounded to 1e-16. */
static void systems_are_those_of_the_binaries(void **state)
{
    (void)state;
    struct nb6_config config;
    configure(&config, 0);
    struct nb6_model before = make(&config);
    configure(&config, TRIPLES);
    struct nb6_model after = make(&config);
    const double msun_before = before.zmbar_msun * (double)before.n, msun_after = after.zmbar_msun * (double)after.n;
    assert_true(fabs(msun_before / msun_after - 1) < 1e-12);
    for (int64_t k = 0; k < TRIPLES; k++) {
        const struct triple t = triple_of(&after, k);
        const double *m = before.mass + 2 * k, all = m[0] + m[1];
        assert_true(fabs((t.mass[0] + t.mass[1] + t.mass[2]) / all - 1) < 1e-12);
        assert_true(fabs(t.mass[2] / m[1] - 1) < 1e-12);
        for (int d = 0; d < 3; d++)
            assert_true(fabs((m[0] * before.x[2 * k][d] + m[1] * before.x[2 * k + 1][d]) / all - t.x[d]) < 1e-14);
    }
    for (int64_t i = 2 * TRIPLES; i < before.n; i++) {
        const int64_t j = i < 2 * BINARIES ? i : i + TRIPLES;
        if (i >= 2 * BINARIES) assert_memory_equal(before.x[i], after.x[j], sizeof before.x[i]);
        assert_true(before.mass[i] == after.mass[j]);
    }
    nb6_model_free(&before);
    nb6_model_free(&after);
}

/* RANGE = 0, RATIO = 1, ECC0: all the same, stable or not. */
static void all_equal(void **state)
{
    (void)state;
    struct nb6_config config;
    configure(&config, 20);
    config.triples = (struct nb6_triple_config){20, 1e-4, 0, 0.3, 1};
    struct nb6_model model = make(&config);
    for (int64_t k = 0; k < 20; k++) {
        const struct triple t = triple_of(&model, k);
        /* places of order 1 are rounded to 1e-16, and 1e-4 apart */
        assert_true(fabs(t.inner.a / 1e-4 - 1) < 1e-9 && fabs(t.inner.e - 0.3) < 1e-9);
        assert_true(fabs(t.mass[0] / t.mass[1] - 1) < 1e-12);
    }
    nb6_model_free(&model);
}

static void refusals(void **state)
{
    (void)state;
    const struct nb6_triple_config bad[] = {{BINARIES + 1, 1e-4, 5, -1, 1}, {-1, 1e-4, 5, -1, 1}, {5, 0, 5, -1, 1},
                                            {5, 1e-4, 0.5, -1, 1},          {5, 1e-4, 5, 1, 1},   {5, 1e-4, 5, -1, 1.5},
                                            {5, 1e-4, NAN, -1, 1},          {5, 1e-4, 5, NAN, 1}};
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        struct nb6_config config;
        struct nbc_error err = {0};
        configure(&config, 0);
        config.triples = bad[k];
        assert_int_equal(nb6_config_check(&config, &err), NBC_BAD_INPUT);
        assert_true(strstr(err.text, "NHI0") || strstr(err.text, "ECC0") || strstr(err.text, "RANGE") ||
                    strstr(err.text, "SEMI0") || strstr(err.text, "RATIO"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(triples_are_stable_and_as_asked_for),
        cmocka_unit_test(systems_are_those_of_the_binaries),
        cmocka_unit_test(all_equal),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests_name("primordial triples", tests, NULL, NULL);
}
