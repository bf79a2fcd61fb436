/* Irregular forces of close pairs and small groups, whose distances float positions do not hold. */
#include "common/nbc.h"
#include "tests/conformance/gpuirr_model.h"

/* Force on bodies 0 and 1, all others of N neighbours of both, against the exact one. */
static void compare_pair(gpuirr_t *irr, int32_t n, const struct body *body, double t, double tolerance)
{
    int32_t list[64];
    const int32_t act[2] = {0, 1};
    double acc[2][3], jerk[2][3];
    set_bodies(irr, n, body);
    expect_ok(irr, gpuirr_pred_act(irr, 2, act, t));
    expect_ok(irr, gpuirr_firr_vec(irr, 2, act, acc, jerk, NULL));
    for (int32_t i = 0; i < 2; i++) {
        struct exact exact;
        make_list(n, i, n - 1, list);
        exact_force(body, i, n - 1, list, t, &exact);
        expect_within("acceleration", i, relative_error(acc[i], exact.acc, exact.acc_scale), tolerance);
        expect_within("jerk", i, relative_error(jerk[i], exact.jerk, exact.jerk_scale), 5 * tolerance);
    }
}

static gpuirr_t *open_pair(int32_t n)
{
    int32_t list[64];
    gpuirr_t *irr = open_library(n);
    for (int32_t i = 0; i < 2; i++) {
        make_list(n, i, n - 1, list);
        expect_ok(irr, gpuirr_set_list(irr, (size_t)i, (size_t)n - 1, list));
    }
    return irr;
}

/* Pairs from 1e-14 to 1e-3 apart at |x| ~ 1, which differences of single-precision positions cannot distinguish from
 * zero. In double the difference of two such positions is exact; the float backends sum close pairs in double, and the
 * others of the list to 1e-6 at worst. */
static void pairs_below_float_spacing(void **state)
{
    (void)state;
    enum { N = 20 };
    gpuirr_t *irr = open_pair(N);
    for (double apart = 1e-14; apart < 2e-3; apart *= 3) {
        struct body *body = make_bodies(N);
        for (int d = 0; d < 3; d++) {
            body[0].x[d] = 1.0 / (d + 1.3);
            body[1].x[d] = body[0].x[d] + apart * (1 + 0.3 * d) / 2;
            body[0].acc[d] = body[1].acc[d] = 0;
        }
        for (int32_t i = 0; i < N; i++) body[i].t0 = 0.125;
        compare_pair(irr, N, body, 0.125, is_double() ? 1e-14 : 1e-6);
        nbc_free(body);
    }
    gpuirr_free(irr);
}

/* Pairs of all distances that move together at |v| ~ 1 and were stored 2^-4 to 2^-24 ago: the rounding errors of float
 * prediction are larger than many of these distances. The prediction in double is right to some 1e-16 of |x| ~ 1. */
static void moving_pairs(void **state)
{
    (void)state;
    enum { N = 20 };
    gpuirr_t *irr = open_pair(N);
    struct body *body = make_bodies(N);
    for (int32_t i = 0; i < N; i++) body[i].t0 = 0.5;
    for (int k = 4; k <= 24; k += 2) {
        for (double apart = 1e-9; apart < 1; apart *= 1.3) {
            body[1] = body[0];
            for (int d = 0; d < 3; d++) {
                body[1].x[d] += apart * (1 + 0.3 * d) / 2;
                body[1].v[d] += 0.1 * apart;
            }
            compare_pair(irr, N, body, 0.5 + ldexp(1, -k), fmax(is_double() ? 1e-14 : 1e-6, 1e-15 / apart));
        }
    }
    gpuirr_free(irr);
    nbc_free(body);
}

/* A small group that moves as one, far compared with its size since it was stored. */
static void moving_group(void **state)
{
    (void)state;
    enum { N = 40 };
    gpuirr_t *irr = open_pair(N);
    for (double size = 1e-6; size < 1; size *= 10) {
        struct body *body = make_bodies(N);
        for (int32_t i = 0; i < N; i++) {
            for (int d = 0; d < 3; d++) {
                body[i].x[d] = 0.3 * (d + 1) + size * body[i].x[d];
                body[i].v[d] = 0.7 - 0.4 * d + size * body[i].v[d];
                body[i].acc[d] *= size;
                body[i].jerk[d] *= size;
            }
            body[i].t0 = 0;
        }
        compare_pair(irr, N, body, 0.25, is_double() ? 1e-14 / size : 1e-6);
        nbc_free(body);
    }
    gpuirr_free(irr);
}

/* A cluster far from the origin: float positions would leave nothing of it. Doubles have 1e-10 at 10^6. */
static void far_from_the_origin(void **state)
{
    (void)state;
    enum { N = 40 };
    gpuirr_t *irr = open_pair(N);
    for (double offset = 1; offset < 2e6; offset *= 10) {
        struct body *body = make_bodies(N);
        for (int32_t i = 0; i < N; i++)
            for (int d = 0; d < 3; d++) body[i].x[d] += offset * (d - 0.7);
        compare_pair(irr, N, body, 0.375, is_double() ? 1e-15 * (10 + offset) / 0.05 : 1e-6);
        nbc_free(body);
    }
    gpuirr_free(irr);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(pairs_below_float_spacing),
    cmocka_unit_test(moving_pairs),
    cmocka_unit_test(moving_group),
    cmocka_unit_test(far_from_the_origin),
};

RUN_FOR_EACH_BACKEND(tests)
