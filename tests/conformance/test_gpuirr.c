/* Accuracy of every GPUIRR backend against an independent sum in long double. */
#include "common/nbc.h"
#include "tests/conformance/gpuirr_model.h"

enum { LONGEST = 2000 };

/* Double: rounding the predicted positions, 1e-16 of order one, is divided by the distance: among 2000 bodies in a cube
 * of side 2 the nearest pair of a list is some 0.01 apart, which gives 1e-14 for that pair, and we allow ten times
 * that. Float: the precision of NA12, 24 bits for each of some ten operations. */
static double acc_tolerance(void)
{
    return is_double() ? 1e-13 : 2e-6;
}

static double jerk_tolerance(void)
{
    return is_double() ? 1e-13 : 1e-5;
}

static void compare(const struct body *body, int32_t i, int32_t nnb, const int32_t *list, double t, const double acc[3],
                    const double jerk[3])
{
    struct exact exact;
    exact_force(body, i, nnb, list, t, &exact);
    expect_within("acceleration", i, relative_error(acc, exact.acc, exact.acc_scale), acc_tolerance());
    expect_within("jerk", i, relative_error(jerk, exact.jerk, exact.jerk_scale), jerk_tolerance());
}

/* Lists of 1 to 2000 neighbours, all lengths near multiples of any vector length, both ways of prediction. */
static void lists_of_any_length(void **state)
{
    (void)state;
    enum { N = LONGEST + 1 };
    static const int32_t more[] = {63, 64, 65, 100, 127, 128, 129, 255, 256, 333, 600, 1000, 1999, 2000};
    enum { SHORT = 40, COUNT = SHORT + sizeof more / sizeof more[0] };
    static int32_t lists[COUNT][LONGEST];
    int32_t nnb[COUNT], act[COUNT], nearest[COUNT];
    double acc[COUNT][3], jerk[COUNT][3];
    const double t = 0.25;
    struct body *body = make_bodies(N);
    gpuirr_t *irr = open_library(N);
    set_bodies(irr, N, body);
    for (int k = 0; k < COUNT; k++) {
        act[k] = 37 * k;
        nnb[k] = k < SHORT ? k + 1 : more[k - SHORT];
        make_list(N, act[k], nnb[k], lists[k]);
        expect_ok(irr, gpuirr_set_list(irr, (size_t)act[k], (size_t)nnb[k], lists[k]));
    }
    for (int all = 0; all < 2; all++) {
        expect_ok(irr, all ? gpuirr_pred_all(irr, 0, N, t) : gpuirr_pred_act(irr, COUNT, act, t));
        expect_ok(irr, gpuirr_firr_vec(irr, COUNT, act, acc, jerk, nearest));
        for (int k = 0; k < COUNT; k++) {
            struct exact exact;
            compare(body, act[k], nnb[k], lists[k], t, acc[k], jerk[k]);
            exact_force(body, act[k], nnb[k], lists[k], t, &exact);
            assert_int_equal(nearest[k], exact.nearest);
        }
    }
    gpuirr_free(irr);
    nbc_free(body);
}

/* The rounding errors that a call reports are no less than its actual ones, and no more than 2^-22 of the sum of the
 * magnitudes of the forces; in double, 2^-51 of m/r^2 (1 + |x|/r), where the reference in long double makes none. */
static void noise_bounds_errors(void **state)
{
    (void)state;
    enum { N = 600 };
    static int32_t list[N];
    const double t = 0.25;
    struct body *body = make_bodies(N);
    gpuirr_t *irr = open_library(N);
    set_bodies(irr, N, body);
    for (int in_double = 0; in_double < 2; in_double++) {
        expect_ok(irr, gpuirr_set_in_double(irr, in_double));
        for (int32_t i = 0; i < N; i += 7) {
            const int32_t nnb = 1 + i % 300;
            double acc[1][3], jerk[1][3], noise;
            struct exact exact;
            make_list(N, i, nnb, list);
            expect_ok(irr, gpuirr_set_list(irr, (size_t)i, (size_t)nnb, list));
            expect_ok(irr, gpuirr_pred_act(irr, 1, &i, t));
            expect_ok(irr, gpuirr_firr_noise(irr, 1, &i, acc, jerk, NULL, &noise));
            exact_force(body, i, nnb, list, t, &exact);
            const double error = (double)(relative_error(acc[0], exact.acc, exact.acc_scale) * exact.acc_scale);
            if (!(error <= noise)) fail_msg("body %d: error %g, noise %g", i, error, noise);
            if (!in_double) assert_true(noise <= 1.01 * 0x1p-22 * exact.acc_scale);
        }
    }
    expect_refused(irr, gpuirr_set_in_double(irr, 2), NBC_BAD_ARGUMENT, "must be 0 or 1");
    gpuirr_free(irr);
    nbc_free(body);
}

/* Steps from 2^-40 to 1, forward and back. */
static void prediction_over_any_step(void **state)
{
    (void)state;
    enum { N = 12 };
    struct body *body = make_bodies(N);
    gpuirr_t *irr = open_library(N);
    int32_t act[N], list[N - 1];
    double acc[N][3], jerk[N][3];
    for (int32_t i = 0; i < N; i++) body[i].t0 = 0.5;
    set_bodies(irr, N, body);
    for (int32_t i = 0; i < N; i++) {
        act[i] = i;
        make_list(N, i, N - 1, list);
        expect_ok(irr, gpuirr_set_list(irr, (size_t)i, N - 1, list));
    }
    for (int k = -40; k <= 0; k++) {
        for (int sign = -1; sign <= 1; sign += 2) {
            double t = 0.5 + sign * ldexp(1, k);
            expect_ok(irr, k % 2 ? gpuirr_pred_all(irr, 0, N, t) : gpuirr_pred_act(irr, N, act, t));
            expect_ok(irr, gpuirr_firr_vec(irr, N, act, acc, jerk, NULL));
            for (int32_t i = 0; i < N; i++) {
                make_list(N, i, N - 1, list);
                compare(body, i, N - 1, list, t, acc[i], jerk[i]);
            }
        }
    }
    gpuirr_free(irr);
    nbc_free(body);
}

/* The predictor itself: a source that moves, seen from far away by a body at rest, shows its position in the direction
 * of the force. Each of the four coefficients is tested alone. */
static void each_coefficient_is_used(void **state)
{
    (void)state;
    static const double factor[4] = {1, 1, 0.5, 1.0 / 6}; /* x, v s, a s^2/2, j s^3/6 with s = 1 */
    static const double slope[4] = {0, 1, 1, 0.5};        /* of the position at s = 1 */
    for (int c = 0; c < 4; c++) {
        struct body body[2] = {{.mass = 1}, {.mass = 2}};
        double *coefficient[4] = {body[1].x, body[1].v, body[1].acc, body[1].jerk};
        gpuirr_t *irr = open_library(2);
        int32_t act = 0, list = 1;
        double acc[1][3], jerk[1][3];
        coefficient[c][1] = 3;
        set_bodies(irr, 2, body);
        expect_ok(irr, gpuirr_set_list(irr, 0, 1, &list));
        expect_ok(irr, gpuirr_pred_act(irr, 1, &act, 1));
        expect_ok(irr, gpuirr_firr_vec(irr, 1, &act, acc, jerk, NULL));
        double y = 3 * factor[c], vy = 3 * slope[c];
        /* a = m/y^2, da/dt = -2 m vy/y^3, to float precision with a margin for the least precise backend */
        assert_true(fabs(acc[0][1] - 2 / (y * y)) <= 2e-6 * 2 / (y * y));
        assert_true(fabs(jerk[0][1] + 4 * vy / (y * y * y)) <= 1e-5 * (4 * 3 / (y * y * y)));
        assert_true(acc[0][0] == 0 && acc[0][2] == 0);
        gpuirr_free(irr);
    }
}

/* Groups of bodies at rest with a size of 0.002 to 0.004 of their distance from the origin, so that the digits of a
 * coordinate behind the 24 of a float decide about the force: floats alone would be wrong by 3e-5. Coordinates stand on
 * both sides of powers of two, where the spacing of floats changes, are negative, zero, tiny and large. */
static void coordinates_of_any_shape(void **state)
{
    (void)state;
    enum { N = 25, LIST = N - 1 };
    static const double one[] = {1, 1 + 0x1.8p-25, 1 + 0x1.8p-24, 1 - 0x1p-26, 2 - 0x1p-26, 1.0 / 3, 0.7};
    static const double other[] = {0, 1e-300, -1e-30, 1, -1 - 0x1.4p-24, 0.5 - 0x1p-30, -0.9};
    static const double scale[] = {1, -1, 1e-4, -1e4};
    gpuirr_t *irr = open_library(N);
    int32_t list[LIST];
    struct body *body = make_bodies(N);
    for (int k = 0; k < 7 * 7 * 4; k++) {
        double acc[1][3], jerk[1][3], size = scale[k / 49];
        const int32_t act[1] = {0};
        const double centre[3] = {one[k % 7], other[k / 7 % 7], one[(k + k / 7) % 7] * other[(k / 7 + 3) % 7]};
        for (int32_t i = 0; i < N; i++)
            for (int d = 0; d < 3; d++) {
                /* Two of twelve neighbours keep the coordinate itself. */
                double shift = i == 0 || i % 12 == 4 * d ? 0 : 1e-3 * (1 + (i * (d + 3)) % 5 / 5.0) * (i % 2 ? 1 : -1);
                body[i].x[d] = size * (centre[(d + k) % 3] + shift * (1 + (d + i) % 3));
                body[i].v[d] = body[i].acc[d] = body[i].jerk[d] = 0;
                body[i].t0 = 1;
            }
        set_bodies(irr, N, body);
        make_list(N, 0, LIST, list);
        expect_ok(irr, gpuirr_set_list(irr, 0, LIST, list));
        expect_ok(irr, k % 2 ? gpuirr_pred_all(irr, 0, N, 1) : gpuirr_pred_act(irr, 1, act, 1));
        expect_ok(irr, gpuirr_firr_vec(irr, 1, act, acc, jerk, NULL));
        compare(body, 0, LIST, list, 1, acc[0], jerk[0]);
    }
    gpuirr_free(irr);
    nbc_free(body);
}

/* Correctors take the difference of the sums over two lists. A companion in both of them, with a force up to 10^5 times
 * those of the others, leaves nothing of itself in it but its roundings in double; the others leave theirs. The lists
 * have bodies 1 to `common`, `other` more that differ, and the last body; the companion is first or last. */
static void expect_cancels(int32_t common, int32_t other, int is_last)
{
    const int32_t n = common + 2 * other + 2, length = common + other + 1, act = 0;
    const int32_t companion = is_last ? n - 1 : 1;
    gpuirr_t *irr = open_library(n);
    struct body *body = make_bodies(n);
    int32_t *list = nbc_alloc((size_t)length, sizeof *list);
    assert_non_null(list);
    for (double apart = 3e-4; apart < 0.8; apart *= 1.3) {
        double acc[2][1][3], jerk[2][1][3];
        struct exact exact[2], strong;
        for (int d = 0; d < 3; d++) body[companion].x[d] = body[0].x[d] + apart / 2;
        body[0].t0 = body[companion].t0 = 0.25;
        set_bodies(irr, n, body);
        for (int l = 0; l < 2; l++) {
            for (int32_t k = 0; k < length; k++) list[k] = k < common ? k + 1 : k + 1 + l * other;
            list[length - 1] = n - 1;
            expect_ok(irr, gpuirr_set_list(irr, 0, (size_t)length, list));
            expect_ok(irr, gpuirr_pred_act(irr, 1, &act, 0.25));
            expect_ok(irr, gpuirr_firr_vec(irr, 1, &act, acc[l], jerk[l], NULL));
            exact_force(body, 0, length - 1, list + !is_last, 0.25, &exact[l]); /* without the companion */
            exact_force(body, 0, 1, &companion, 0.25, &strong);
        }
        for (int d = 0; d < 3; d++) {
            acc[1][0][d] -= acc[0][0][d];
            jerk[1][0][d] -= jerk[0][0][d];
            exact[1].acc[d] -= exact[0].acc[d];
            exact[1].jerk[d] -= exact[0].jerk[d];
        }
        const double others = is_double() ? 1e-13 : 1e-6, roundings = 1e-15;
        expect_within("change", 0, relative_error(acc[1][0], exact[1].acc, exact[0].acc_scale),
                      others + roundings * (double)(strong.acc_scale / exact[0].acc_scale));
        expect_within("change of jerk", 0, relative_error(jerk[1][0], exact[1].jerk, exact[0].jerk_scale),
                      5 * others + roundings * (double)(strong.jerk_scale / exact[0].jerk_scale));
    }
    gpuirr_free(irr);
    nbc_free(list);
    nbc_free(body);
}

/* In lists that end within a vector and with one, and in those of several parts. */
static void strong_pair_cancels(void **state)
{
    (void)state;
    static const int32_t common[] = {8, 29, 30, 37, 110, 119, 120, 280};
    for (size_t k = 0; k < sizeof common / sizeof common[0]; k++)
        for (int is_last = 0; is_last < 2; is_last++) expect_cancels(common[k], 10, is_last);
}

/* Bodies at one place contribute nothing, are counted, and are the nearest neighbours of each other. */
static void coincident_bodies(void **state)
{
    (void)state;
    enum { N = 9, LIST = N - 1 };
    struct body *body = make_bodies(N);
    gpuirr_t *irr = open_library(N);
    const int32_t act[3] = {2, 5, 7};
    int32_t list[LIST], nearest[3];
    double acc[3][3], jerk[3][3];
    for (int32_t i = 0; i < N; i++) body[i].t0 = 0;
    memcpy(body[5].x, body[2].x, sizeof body[2].x); /* velocities differ */
    set_bodies(irr, N, body);
    for (int k = 0; k < 3; k++) {
        make_list(N, act[k], LIST, list);
        expect_ok(irr, gpuirr_set_list(irr, (size_t)act[k], LIST, list));
    }
    struct gpuirr_stats stats;
    for (int repeat = 1; repeat <= 2; repeat++) {
        expect_ok(irr, repeat == 1 ? gpuirr_pred_act(irr, 3, act, 0) : gpuirr_pred_all(irr, 0, N, 0));
        expect_ok(irr, gpuirr_firr_vec(irr, 3, act, acc, jerk, nearest));
        gpuirr_get_stats(irr, &stats);
        assert_int_equal(stats.coincident_pairs, 2 * repeat);
        assert_int_equal(stats.interactions, 3 * LIST * repeat);
        for (int k = 0; k < 3; k++) {
            make_list(N, act[k], LIST, list);
            compare(body, act[k], LIST, list, 0, acc[k], jerk[k]);
        }
        assert_int_equal(nearest[0], 5);
        assert_int_equal(nearest[1], 2);
    }
    /* A body with all its neighbours at its own position feels exactly no force. */
    int32_t only = 5, alone = 2;
    expect_ok(irr, gpuirr_set_list(irr, 2, 1, &only));
    expect_ok(irr, gpuirr_firr_vec(irr, 1, &alone, acc, jerk, nearest));
    for (int d = 0; d < 3; d++) assert_true(acc[0][d] == 0 && jerk[0][d] == 0);
    gpuirr_free(irr);
    nbc_free(body);
}

/* Massless bodies are neighbours without a force. */
static void massless_neighbours(void **state)
{
    (void)state;
    struct body body[3] = {{.x = {0}, .mass = 1}, {.x = {1, 0, 0}, .v = {1, 1, 1}}, {.x = {0, 2, 0}}};
    const int32_t act = 0, list[2] = {1, 2};
    int32_t nearest;
    double acc[1][3], jerk[1][3];
    gpuirr_t *irr = open_library(3);
    set_bodies(irr, 3, body);
    expect_ok(irr, gpuirr_set_list(irr, 0, 2, list));
    expect_ok(irr, gpuirr_pred_act(irr, 1, &act, 0));
    expect_ok(irr, gpuirr_firr_vec(irr, 1, &act, acc, jerk, &nearest));
    for (int d = 0; d < 3; d++) assert_true(acc[0][d] == 0 && jerk[0][d] == 0);
    assert_int_equal(nearest, 1);
    gpuirr_free(irr);
}

/* The lowest number of several nearest neighbours, wherever it stands in the list. */
static void nearest_of_equals(void **state)
{
    (void)state;
    enum { N = 12 };
    for (int32_t first = 1; first < N; first++) {
        gpuirr_t *irr = open_library(N);
        int32_t list[N - 1], act = 0, nearest;
        double acc[1][3], jerk[1][3];
        for (int32_t i = 0; i < N; i++) {
            /* Those before `first` are at distance 2, the others at distance 1. */
            struct body body = {.mass = 1, .x = {i == 0 ? 0 : i < first ? 2 : 1}};
            expect_ok(irr, set_body(irr, i, &body));
            if (i) list[i - 1] = i;
        }
        expect_ok(irr, gpuirr_set_list(irr, 0, N - 1, list));
        expect_ok(irr, gpuirr_pred_act(irr, 1, &act, 0));
        expect_ok(irr, gpuirr_firr_vec(irr, 1, &act, acc, jerk, &nearest));
        assert_int_equal(nearest, first);
        gpuirr_free(irr);
    }
}

/* Finite input of any magnitude: in [1e-25, 1e25] all sums are finite; beyond, they are, or the call says that they are
 * not and which body it is about. */
static void any_finite_input(void **state)
{
    (void)state;
    enum { N = 24, ROUNDS = 400 };
    int refused = 0;
    struct body *body = make_bodies(N);
    gpuirr_t *irr = open_library(N);
    int32_t act[N], list[N - 1];
    for (int round = 0; round < ROUNDS; round++) {
        const double decades = round % 2 ? 25 : 307;
        double acc[N][3], jerk[N][3];
        for (int32_t i = 0; i < N; i++) {
            double *value = body[i].x; /* of 13 numbers before t0 */
            for (int k = 0; k < 13; k++) value[k] = copysign(pow(10, decades * uniform()), uniform());
            body[i].mass = fabs(body[i].mass);
            body[i].t0 = uniform();
            act[i] = i;
            int32_t nnb = (int32_t)((uniform() + 1) * N / 2);
            make_list(N, i, nnb, list);
            expect_ok(irr, set_body(irr, i, &body[i]));
            expect_ok(irr, gpuirr_set_list(irr, (size_t)i, (size_t)nnb, list));
        }
        expect_ok(irr, round % 4 < 2 ? gpuirr_pred_act(irr, N, act, uniform()) : gpuirr_pred_all(irr, 0, N, uniform()));
        int status = gpuirr_firr_vec(irr, N, act, acc, jerk, NULL), finite = 1;
        for (int k = 0; k < 3 * N; k++) finite = finite && isfinite(acc[k / 3][k % 3]) && isfinite(jerk[k / 3][k % 3]);
        assert_int_equal(status, finite ? NBC_OK : NBC_NON_FINITE);
        if (!finite) assert_non_null(strstr(gpuirr_last_error(irr), "the force on body "));
        if (decades < 100) assert_true(finite);
        refused += !finite;
    }
    assert_true(refused > 0); /* the wide range does reach what overflows */
    gpuirr_free(irr);
    nbc_free(body);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(lists_of_any_length),      cmocka_unit_test(noise_bounds_errors),
    cmocka_unit_test(prediction_over_any_step), cmocka_unit_test(each_coefficient_is_used),
    cmocka_unit_test(coordinates_of_any_shape), cmocka_unit_test(strong_pair_cancels),
    cmocka_unit_test(coincident_bodies),        cmocka_unit_test(massless_neighbours),
    cmocka_unit_test(nearest_of_equals),        cmocka_unit_test(any_finite_input),
};

RUN_FOR_EACH_BACKEND(tests)
