/* First forces and their derivatives: against direct sums, and against differences of the forces along the true motion.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "gpuirr/gpuirr.h"
#include "nbody6/input/config.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/body.h"
#include "nbody6/state/event.h"
#include "nbody6/state/schedule.h"
#include "nbody6/state/sim.h"
#include "tests/support/cluster.h"

enum { STARS = 30, STEPS = 5 };

/* Forces of the neighbours or of the others on star i, in long double. */
static void direct(nb6_t *sim, const struct cluster *c, int64_t i, int neighbours, long double acc[3],
                   long double jerk[3])
{
    size_t nnb = 0;
    const int32_t *list = gpuirr_get_list(sim->irr, (size_t)i, &nnb);
    memset(acc, 0, 3 * sizeof *acc);
    memset(jerk, 0, 3 * sizeof *jerk);
    for (int64_t j = 0; j < c->n; j++) {
        int member = 0;
        for (size_t k = 0; k < nnb; k++) member |= list[k] == j;
        if (j == i || member != neighbours) continue;
        long double x[3], v[3], r2 = 0, xv = 0;
        for (int k = 0; k < 3; k++) {
            x[k] = (long double)c->x[j][k] - c->x[i][k];
            v[k] = (long double)c->v[j][k] - c->v[i][k];
            r2 += x[k] * x[k];
            xv += x[k] * v[k];
        }
        long double m = c->mass[j] / (r2 * sqrtl(r2));
        for (int k = 0; k < 3; k++) {
            acc[k] += m * x[k];
            jerk[k] += m * (v[k] - 3 * xv / r2 * x[k]);
        }
    }
}

static double largest(const double a[3])
{
    return fmax(fabs(a[0]), fmax(fabs(a[1]), fabs(a[2])));
}

static void assert_vector(const char *what, int64_t i, const double value[3], const double expected[3],
                          double tolerance)
{
    for (int k = 0; k < 3; k++)
        if (!(fabs(value[k] - expected[k]) <= tolerance * largest(expected)))
            fail_msg("%s of star %d, component %d: %.12g instead of %.12g", what, (int)i, k, value[k], expected[k]);
}

static nb6_t *start(const struct cluster *c)
{
    struct nb6_config config;
    cluster_config(&config);
    cluster_config_ref(&config);
    config.integration.r_nb_init = 0.7; /* some neighbours, some not */
    config.integration.fixed_nnb = 1;
    config.integration.initial_fpoly2 = 1;
    return cluster_start(&config, c, NULL);
}

/* `ref` sums in double: 30 terms, 2e-16 each, and some cancellation. */
static void first_forces(void **state)
{
    (void)state;
    struct cluster c = cluster_plummer(STARS, 2);
    nb6_t *sim = start(&c);
    int with = 0, without = 0;
    for (int64_t i = 0; i < STARS; i++) {
        const struct nb6_star *star = &sim->star[i];
        for (int neighbours = 0; neighbours < 2; neighbours++) {
            long double acc[3], jerk[3];
            direct(sim, &c, i, neighbours, acc, jerk);
            double a[3] = {(double)acc[0], (double)acc[1], (double)acc[2]};
            double j[3] = {(double)jerk[0], (double)jerk[1], (double)jerk[2]};
            assert_vector("acceleration", i, neighbours ? star->acc_irr : star->acc_reg, a, 1e-13);
            assert_vector("jerk", i, neighbours ? star->jerk_irr : star->jerk_reg, j, 1e-13);
        }
        with += star->nnb > 0;
        without += star->nnb < STARS - 1;
    }
    assert_true(with > STARS / 2 && without > STARS / 2); /* the case is not empty */
    nb6_free(sim);
    cluster_free(&c);
}

/* Jerks of all stars on their true orbits at t = -2h ... 2h. */
static void sample(nb6_t *sim, int64_t i, int neighbours, struct cluster at[STEPS], double jerk[STEPS][3])
{
    for (int m = 0; m < STEPS; m++) {
        long double acc[3], j[3];
        direct(sim, &at[m], i, neighbours, acc, j);
        for (int k = 0; k < 3; k++) jerk[m][k] = (double)j[k];
    }
}

/* Five-point differences of the jerk give the second and third derivatives of the force; with h = 2^-9 their own errors
 * are h^4/30 and h^4/15 of its next derivatives, which grow by a factor (v/r)^5 of up to 10^6 for the closest pairs. */
static void derivatives(void **state)
{
    (void)state;
    const double h = 0x1p-9;
    struct cluster c = cluster_plummer(STARS, 2), at[STEPS];
    for (int m = 0; m < STEPS; m++) {
        at[m] = cluster_plummer(STARS, 2);
        double t = (m - 2) * h;
        if (t != 0) cluster_integrate_exactly(&at[m], t, h);
    }
    nb6_t *sim = start(&c);
    assert_true(cluster_closest(&c) > 0.03);
    for (int64_t i = 0; i < STARS; i++)
        for (int neighbours = 0; neighbours < 2; neighbours++) {
            const struct nb6_star *star = &sim->star[i];
            double jerk[STEPS][3], snap[3], crackle[3];
            sample(sim, i, neighbours, at, jerk);
            for (int k = 0; k < 3; k++) {
                snap[k] = (jerk[0][k] - 8 * jerk[1][k] + 8 * jerk[3][k] - jerk[4][k]) / (12 * h);
                crackle[k] =
                    (-jerk[0][k] + 16 * jerk[1][k] - 30 * jerk[2][k] + 16 * jerk[3][k] - jerk[4][k]) / (12 * h * h);
            }
            assert_vector("snap", i, neighbours ? star->snap_irr : star->snap_reg, snap, 1e-6);
            assert_vector("crackle", i, neighbours ? star->crackle_irr : star->crackle_reg, crackle, 1e-5);
        }
    nb6_free(sim);
    for (int m = 0; m < STEPS; m++) cluster_free(&at[m]);
    cluster_free(&c);
}

/* NA12 eq. 4 with the step that follows: every body that would be inside the sphere at its end is a neighbour already.
 * The bounds of the sphere are those of GPUNB's single precision, where it decides. */
static void first_lists(void **state)
{
    (void)state;
    enum { N = 400 };
    struct cluster c = cluster_plummer(N, 6);
    struct nb6_config config;
    cluster_config(&config);
    cluster_config_ref(&config);
    nb6_t *sim = cluster_start(&config, &c, NULL);
    int coming = 0;
    for (int64_t i = 0; i < N; i++) {
        const struct nb6_star *star = &sim->star[i];
        const double dt = nb6_step_length(star->level_reg), r2 = star->r_nb * star->r_nb;
        size_t nnb = 0;
        const int32_t *list = gpuirr_get_list(sim->irr, (size_t)i, &nnb);
        for (int64_t j = 0; j < N; j++) {
            double now2 = 0, then2 = 0;
            int member = 0;
            for (size_t k = 0; k < nnb; k++) member |= list[k] == j;
            for (int k = 0; k < 3; k++) {
                double x = c.x[j][k] - c.x[i][k], v = c.v[j][k] - c.v[i][k];
                now2 += x * x;
                then2 += (x + dt * v) * (x + dt * v);
            }
            if (j == i || fmin(now2, then2) > (1 - 1e-5) * r2) continue;
            coming += now2 > r2;
            if (!member) fail_msg("star %d comes into the sphere of star %d within a step", (int)j, (int)i);
        }
    }
    print_message("%d bodies come into a sphere within the first step\n", coming);
    assert_true(coming > N / 4); /* the case is not empty */
    nb6_free(sim);
    cluster_free(&c);
}

/* First steps are block steps, the regular one not shorter than the irregular one, and all bodies are scheduled. */
static void first_steps(void **state)
{
    (void)state;
    struct cluster c = cluster_plummer(200, 4);
    struct nb6_config config;
    cluster_config(&config);
    config.integration.dt_max = 0.0625;
    nb6_t *sim = cluster_start(&config, &c, NULL);
    int64_t scheduled = 0;
    for (int level = 0; level <= NB6_TIME_BITS; level++) scheduled += nb6_schedule_count(sim->schedule, level);
    assert_int_equal(scheduled, 200);
    for (int i = 0; i < 200; i++) {
        const struct nb6_star *star = &sim->star[i];
        assert_true(star->level_irr > 10 && star->level_irr <= star->level_reg && star->level_reg <= NB6_TIME_BITS - 4);
        assert_int_equal(star->name, i + 1);
        assert_true(star->r_nb > 0);
    }
    nb6_free(sim);
    cluster_free(&c);
}

/* Stars at one place are refused, whatever the signs of zeros. Refused stars can be corrected and set again. */
static void stars_at_one_place(void **state)
{
    (void)state;
    struct cluster c = cluster_plummer(40, 5);
    struct nb6_config config;
    struct nbc_error err = {0};
    nb6_t *sim = NULL;
    cluster_config(&config);
    assert_int_equal(nb6_create(&sim, &config, &err), NBC_OK);
    for (int k = 0; k < 3; k++) c.x[30][k] = c.x[7][k] = k ? 0.25 * k : 0.0;
    c.x[30][0] = -0.0;
    const double(*x)[3] = (const double(*)[3])c.x, (*v)[3] = (const double(*)[3])c.v;
    assert_int_equal(nb6_set_bodies(sim, c.n, NULL, c.mass, x, v, &err), NBC_BAD_INPUT);
    assert_non_null(strstr(err.text, "stars 8 and 31 are at the same place"));
    c.x[30][0] = 0.5;
    assert_int_equal(nb6_set_bodies(sim, c.n, NULL, c.mass, x, v, &err), NBC_OK);
    nb6_free(sim);
    cluster_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_forces), cmocka_unit_test(derivatives),        cmocka_unit_test(first_lists),
        cmocka_unit_test(first_steps),  cmocka_unit_test(stars_at_one_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
