/* Order of KS integration in eta, in a hierarchical triple, against steps so small that only rounding is left. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>

#include "common/nbc.h"
#include "tests/support/three_body.h"

enum { ORBITS = 10, SAMPLES = 200 };
static const double PERIOD = 6.283185307179586;

/* @return steps */
static int64_t integrate(struct three_path *path, double eta, double kappa, double end, double x[3], double v[3])
{
    struct ks_pair pair;
    struct nbc_error err = {0};
    const struct three_body *begin = &path->states[0];
    double mass[2] = {(double)begin->mass[0], (double)begin->mass[1]}, xb[2][3] = {{0}}, vb[2][3] = {{0}};
    three_body_inner(begin, xb[0], vb[0]);
    int status =
        ks_init(&pair, &(struct ks_options){eta, 0, 1}, mass, (const double(*)[3])xb, (const double(*)[3])vb, 0, &err);
    ks_set_slowdown(&pair, kappa);
    path->pair = &pair;
    if (!status) status = ks_start(&pair, three_path_perturb, path, &err);
    if (!status) status = ks_finish(&pair, end, three_path_perturb, path, &err);
    if (status) fail_msg("%s", err.text);
    ks_relative(&pair, x, v);
    return pair.n_step;
}

static double distance(const double x[3], const double y[3])
{
    double d2 = 0;
    for (int i = 0; i < 3; i++) d2 += (x[i] - y[i]) * (x[i] - y[i]);
    return sqrt(d2);
}

/* Steps, their interpolation over two intervals and the series of time are of sixth order; the first step, of fourth,
 * is a quarter as long and made once. */
static void measure(double kappa)
{
    const double etas[] = {0.28, 0.2, 0.14, 0.1}, mass[3] = {0.6, 0.4, 0.5};
    struct three_body begin;
    struct three_path path;
    double x0[3], v0[3], error[4];
    three_body_hierarchy(&begin, mass, 1, 0.4, 8, 0.2, 0.7, 0.5);
    assert_int_equal(three_path_make(&path, &begin, PERIOD / SAMPLES, ORBITS * SAMPLES), 0);
    integrate(&path, 0.02, kappa, ORBITS * PERIOD, x0, v0);
    for (int k = 0; k < 4; k++) {
        double x[3], v[3];
        integrate(&path, etas[k], kappa, ORBITS * PERIOD, x, v);
        error[k] = distance(x, x0);
        print_message("kappa %g, eta %.2f: position %.2e a\n", kappa, etas[k], error[k]);
    }
    double order = log(error[0] / error[3]) / log(etas[0] / etas[3]);
    print_message("kappa %g: order %.2f\n", kappa, order);
    /* Signs of several contributions make single ratios vary; over a factor 2.8 in eta half an order is what they
     * leave. */
    assert_true(order > 5.5 && order < 7.5);
    three_path_free(&path);
}

static void order_is_six(void **state)
{
    (void)state;
    measure(1);
}

static void order_is_six_with_slowdown(void **state)
{
    (void)state;
    measure(3);
}

/* Error and steps with eta = 0.2, of a pair with a third body at this distance. */
static double error_at(double outer, int64_t *steps)
{
    const double mass[3] = {0.6, 0.4, 0.5};
    struct three_body begin;
    struct three_path path;
    double x0[3], v0[3], x[3], v[3];
    three_body_hierarchy(&begin, mass, 1, 0.4, outer, 0.2, 0.7, 0.5);
    assert_int_equal(three_path_make(&path, &begin, PERIOD / SAMPLES, ORBITS * SAMPLES), 0);
    integrate(&path, 0.02, 1, ORBITS * PERIOD, x0, v0);
    *steps = integrate(&path, 0.2, 1, ORBITS * PERIOD, x, v);
    three_path_free(&path);
    return distance(x, x0);
}

/* The third body is at 16 and at 100 a: gamma of some 3e-4 and 3e-6, which turn the orbit by that part of an angle of 2
 * pi in each period. Longer steps leave less than a thousandth of this, the more so after the first orbits. */
static void weak_perturbations_have_longer_steps(void **state)
{
    (void)state;
    int64_t steps_near, steps_far;
    const double near = error_at(16, &steps_near), far = error_at(100, &steps_far);
    print_message("third body at 16 a: position %.2e a, %lld steps; at 100 a: %.2e a, %lld steps\n", near,
                  (long long)steps_near, far, (long long)steps_far);
    assert_true(steps_far < 0.35 * (double)steps_near);
    assert_true(near < 1e-3 * 3e-4 * PERIOD * ORBITS);
    assert_true(far < 1e-3 * 3e-6 * PERIOD * ORBITS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(weak_perturbations_have_longer_steps),
                                       cmocka_unit_test(order_is_six), cmocka_unit_test(order_is_six_with_slowdown)};
    return cmocka_run_group_tests_name("ks_order", tests, NULL, NULL);
}
