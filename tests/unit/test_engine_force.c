/* Forces as a device engine sums them (engine/stages/force.h, stages/regular.h), against sums in long double: as
 * accurate as GPUIRR has to be (tests/conformance/test_gpuirr.c). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "nbody6/engine/emulated/block.h"
#include "nbody6/engine/image.h"
#include "nbody6/engine/stages/correct.h"
#include "nbody6/engine/stages/force.h"
#include "nbody6/engine/stages/state.h"
#include "nbody6/state/ascending.h"
#include "nbody6/state/body.h"
#include "nbody6/state/sim.h"

enum { N = 2001 };

static struct nb6_body body[N];
static struct nb6_dev_predictor predictor[N];
static struct nb6_star star[N];
static struct nb6_dev_control control;
static struct nb6_dev dev = {.n = N, .body = body, .predictor = predictor, .star = star, .control = &control};

static double next_number(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return ldexp((double)(*state >> 11), -52) - 1;
}

/* In a cube of side 2 around `centre`, with velocities and accelerations of order one, of unlike steps and masses. */
static void make_bodies(double centre)
{
    uint64_t state = 7;
    control.t = (nb6_time)5 << (NB6_TIME_BITS - 7);
    for (int32_t i = 0; i < N; i++) {
        const int level = NB6_TIME_BITS - 8 + i % 4;
        body[i].mass = (1.5 + next_number(&state)) / N;
        body[i].t0 = (control.t - 1) >> level << level;
        star[i].r_nb = 2;
        for (int k = 0; k < 3; k++) {
            body[i].x0[k] = centre + next_number(&state);
            body[i].v0[k] = next_number(&state);
            body[i].acc[k] = next_number(&state);
            body[i].jerk[k] = next_number(&state);
        }
    }
    dev.rules.mean_mass = 1.5 / N;
}

static struct gpunb_dev_sum device_force(int32_t i, const int32_t *list, int32_t nnb)
{
    const struct nb6_dev_point point = nb6_dev_predict(&dev, i, control.t);
    struct gpunb_dev_sum sum, lane;
    struct nb6_dev_near near;
    gpunb_dev_clear(&sum);
    for (int32_t k = 0; k < nnb; k++) predictor[list[k]] = nb6_predictor_of(&body[list[k]]);
    for (int k = 0; k < NB6_DEV_LANES; k++) {
        nb6_dev_force_lane(&dev, &point, list, nnb, control.t, k, &lane, &near);
        gpunb_dev_add(&sum, &lane);
    }
    return sum;
}

struct exact {
    double acc[3], jerk[3], acc_scale, jerk_scale; /* scales: sums of magnitudes of all but body `without` */
};

static struct exact exact_force(int32_t i, const int32_t *list, int32_t nnb, int32_t without)
{
    long double acc[3] = {0}, jerk[3] = {0};
    double x[3], v[3];
    struct exact e = {.acc_scale = 0};
    nb6_predict(&body[i], nb6_time_to_double(control.t - body[i].t0), x, v);
    for (int32_t k = 0; k < nnb; k++) {
        double y[3], w[3];
        long double r2 = 0, rv = 0, v2 = 0;
        nb6_predict(&body[list[k]], nb6_time_to_double(control.t - body[list[k]].t0), y, w);
        for (int d = 0; d < 3; d++) {
            r2 += ((long double)y[d] - x[d]) * ((long double)y[d] - x[d]);
            rv += ((long double)y[d] - x[d]) * ((long double)w[d] - v[d]);
            v2 += ((long double)w[d] - v[d]) * ((long double)w[d] - v[d]);
        }
        if (r2 == 0) continue;
        const long double mr3 = body[list[k]].mass / (r2 * sqrtl(r2));
        for (int d = 0; d < 3; d++) {
            acc[d] += mr3 * ((long double)y[d] - x[d]);
            jerk[d] += mr3 * ((long double)w[d] - v[d] - 3 * rv / r2 * ((long double)y[d] - x[d]));
        }
        if (list[k] == without) continue;
        e.acc_scale += (double)(mr3 * sqrtl(r2));
        e.jerk_scale += (double)(mr3 * (sqrtl(v2) + 3 * fabsl(rv) / sqrtl(r2)));
    }
    for (int d = 0; d < 3; d++) {
        e.acc[d] = (double)acc[d];
        e.jerk[d] = (double)jerk[d];
    }
    return e;
}

static double apart(const double a[3], const double b[3])
{
    return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]));
}

static int32_t make_list(int32_t nnb, int32_t list[N])
{
    for (int32_t k = 0; k < nnb; k++) list[k] = 1 + (int32_t)((int64_t)k * (N - 1) / nnb);
    return nnb;
}

/* 24 bits for each of some ten operations, in lists of all lengths, near the origin and far from it. */
static void lists_of_any_length(void **state)
{
    (void)state;
    static const int32_t more[] = {63, 64, 65, 333, 1023, 1024, 1025, 1999, 2000};
    int32_t list[N];
    for (int far = 0; far < 2; far++) {
        make_bodies(far ? 1000 : 0);
        for (int k = 0; k < 40 + (int)(sizeof more / sizeof *more); k++) {
            const int32_t nnb = make_list(k < 40 ? k : more[k - 40], list);
            const struct gpunb_dev_sum sum = device_force(0, list, nnb);
            const struct exact e = exact_force(0, list, nnb, -1);
            assert_true(apart(sum.acc, e.acc) <= 2e-6 * e.acc_scale);
            assert_true(apart(sum.jerk, e.jerk) <= 1e-5 * e.jerk_scale);
        }
    }
}

/* A companion at any distance: the force of the others is right to float precision, though the companion's is up to
 * 10^20 times as large. It is summed in double: 1e-14 covers its dozen of roundings. */
static void a_companion_drowns_nobody(void **state)
{
    (void)state;
    int32_t list[N];
    make_bodies(0);
    const int32_t nnb = make_list(100, list), other = list[40];
    body[0].t0 = control.t - 1; /* a neighbour has begun its step before t */
    body[other] = body[0];
    for (double r = 1e-9; r < 0.02; r *= 3) {
        const double roundings = 1e-14;
        body[other].x0[0] = body[0].x0[0] - nb6_time_to_double(1) / sqrt(r);
        body[other].x0[1] = body[0].x0[1] + r;
        body[other].v0[0] = body[0].v0[0] + 1 / sqrt(r);
        const struct gpunb_dev_sum sum = device_force(0, list, nnb);
        const struct exact e = exact_force(0, list, nnb, other);
        const double acc = body[other].mass / (r * r), jerk = 4 * acc / (r * sqrt(r));
        assert_true(apart(sum.acc, e.acc) <= 2e-6 * e.acc_scale + roundings * acc);
        assert_true(apart(sum.jerk, e.jerk) <= 1e-5 * e.jerk_scale + roundings * jerk);
    }
    memcpy(body[other].x0, body[0].x0, sizeof body[0].x0); /* at one place: nothing */
    memcpy(body[other].v0, body[0].v0, sizeof body[0].v0);
    const struct gpunb_dev_sum sum = device_force(0, list, nnb);
    const struct exact e = exact_force(0, list, nnb, other);
    assert_true(apart(sum.acc, e.acc) <= 2e-6 * e.acc_scale);
}

/* ---- changes of a list ---- */

/* Ascending lists of the bodies for which a draw is below `often`, of those from `first` on to before `end`. */
static int32_t draw_list(uint64_t *state, int32_t first, int32_t end, double often, int32_t *list)
{
    int32_t nnb = 0;
    for (int32_t j = first; j < end; j++)
        if (next_number(state) < 2 * often - 1) list[nnb++] = j;
    return nnb;
}

static int has(const int32_t *list, int32_t nnb, int32_t j)
{
    for (int32_t k = 0; k < nnb; k++)
        if (list[k] == j) return 1;
    return 0;
}

/* Bodies that have come and gone, in ascending order, for lists of any length, which may be empty, equal or
 * disjoint. */
static void the_bodies_that_come_and_go(void **state)
{
    (void)state;
    uint64_t seed = 11;
    for (int n = 0; n < 200; n++) {
        int32_t old[64], list[64], from = 0;
        const int32_t n_old = draw_list(&seed, 0, n % 3 ? 64 : 32, (n % 5) / 4.0, old),
                      nnb = draw_list(&seed, n % 3 ? 0 : 32, 64, (n % 7) / 6.0, list);
        struct nb6_list_walk walk = {old, list, n_old, nnb, 0, 0};
        double sign;
        for (int32_t j = 0; j < 64; j++) {
            const int was = has(old, n_old, j), is = has(list, nnb, j);
            if (was == is) continue;
            if (from <= j) from = nb6_list_next_change(&walk, &sign);
            assert_int_equal(from, j);
            assert_true(sign == (is ? 1 : -1));
            from = j + 1;
        }
        assert_int_equal(nb6_list_next_change(&walk, &sign), -1);
    }
}

/* Their part of the irregular force is that in long double, to a dozen of roundings in double, also far from the
 * origin, where 1000 has 13 bits less for differences of positions. A body within reach is reported. */
static void the_change_of_a_list(void **state)
{
    (void)state;
    uint64_t seed = 13;
    struct nb6_dev with = {.n = N};
    assert_true(nb6_emulated_allocate(&with, &(struct nb6_dev_size){.n = N, .row = N, .systems = 1, .bodies = N}));
    for (int n = 0; n < 20; n++) {
        struct nb6_dev_target target = {.body = 0, .member = 0};
        int32_t *old = nb6_dev_row(&with, 0, with.row_now[0]), *list = nb6_dev_staged_list(&with, 0);
        make_bodies(n % 2 ? 1000 : 0);
        memcpy(with.body, body, sizeof body);
        memcpy(with.star, star, sizeof star);
        *with.control = control;
        with.rules = dev.rules;
        with.rules.near = n % 5 == 0 ? 1e6F : 0; /* all are, or none */
        with.flag[0] = 0;
        with.star[0].nnb = draw_list(&seed, 1, N, 0.1 * (n % 4), old);
        target.nnb = draw_list(&seed, 1, N, 0.1 * (n % 3), list);
        const struct exact before = exact_force(0, old, with.star[0].nnb, -1),
                           after = exact_force(0, list, target.nnb, -1);
        const struct gpunb_dev_sum sum = nb6_dev_change_of_force(&with, &target);
        const double roundings = n % 2 ? 1e-11 : 1e-14;
        double acc[3], jerk[3];
        for (int k = 0; k < 3; k++) {
            acc[k] = after.acc[k] - before.acc[k];
            jerk[k] = after.jerk[k] - before.jerk[k];
        }
        assert_true(apart(sum.acc, acc) <= roundings * (before.acc_scale + after.acc_scale));
        assert_true(apart(sum.jerk, jerk) <= roundings * (before.jerk_scale + after.jerk_scale));
        assert_int_equal(with.flag[0], n % 5 == 0 && with.star[0].nnb + target.nnb > 0 ? NB6_DEV_NEAR : 0);
    }
    nb6_emulated_free(&with);
}

/* ---- regular force ---- */

enum { MANY = 3 * NB6_EMULATED_SLICES * NB6_DEV_FLUSH * NB6_DEV_LANES / 2 + 5, TARGET = 40000, ROOM = 4096 };

/* More stars than a slice has in one tile; one of them is due, and every seventh takes no part. */
static void make_many(struct nb6_dev *many)
{
    uint64_t state = 3;
    assert_true(
        nb6_emulated_allocate(many, &(struct nb6_dev_size){.n = MANY, .row = ROOM, .systems = 1, .bodies = MANY}));
    for (int32_t i = 0; i < MANY; i++) {
        many->body[i].mass = (1.5 + next_number(&state)) / MANY;
        for (int k = 0; k < 3; k++) {
            many->body[i].x0[k] = next_number(&state);
            many->body[i].v0[k] = next_number(&state);
        }
        many->level[i] = i % 7 == 3 ? -1 : NB6_TIME_BITS;
    }
    many->first_centre = MANY;
    many->control->t_ask = INT64_MAX;
    many->level[TARGET] = many->star[TARGET].level_irr = many->star[TARGET].level_reg = NB6_TIME_BITS - 6;
    many->star[TARGET].r_nb = 0.25;
    many->rules = (struct nb6_dev_rules){.list_limit = ROOM, .unit = 1, .per_radius = 1, .mean_mass = 1.5 / MANY};
    many->rules.step = (struct nb6_step_rules){.eta_irr = 0.02,
                                               .eta_reg = 0.02,
                                               .limit_irr = {INFINITY, 1},
                                               .limit_reg = {INFINITY, 1},
                                               .n_source = MANY,
                                               .level_max = NB6_TIME_BITS};
    many->rules.radius.fixed = 1;
}

/* Whether a star is a neighbour, by NA12 eq. 4 in double: 1, 0, or -1 if it is too near the edge for a float. */
static int is_neighbour(const double x[3], const double v[3], double dt, double r_nb)
{
    double r2 = 0, p2 = 0;
    for (int k = 0; k < 3; k++) {
        r2 += x[k] * x[k];
        p2 += (x[k] + dt * v[k]) * (x[k] + dt * v[k]);
    }
    const double least = fmin(r2, p2) / (r_nb * r_nb) - 1;
    return fabs(least) < 1e-6 ? -1 : least < 0;
}

/* The force of all bodies that take part and are not in the list, to 24 bits for each of some ten operations; and the
 * list. */
static void a_regular_force_among_many(void **state)
{
    (void)state;
    static struct nb6_sim sim; /* where seconds are booked */
    const double dt = 1.0 / 64;
    struct nb6_dev many;
    long double acc[3] = {0};
    double scale = 0, own[3], own_v[3];
    int32_t next = 0;
    int64_t unsound;
    int status;
    make_many(&many);
    many.leaving = INT64_MAX;
    const double r_nb = many.star[TARGET].r_nb;
    nb6_predict(&many.body[TARGET], dt, own, own_v);
    assert_int_equal(nb6_emulated_block(&sim, &many, NULL, INT64_MAX, &unsound, &status, NULL), NB6_STOP_BLOCKS);
    assert_int_equal(many.control->steps_reg, 1);
    const int32_t *list = nb6_dev_list(&many, TARGET), nnb = many.star[TARGET].nnb;
    for (int32_t j = 0; j < MANY; j++) {
        double x[3], v[3], r2 = 0;
        const int listed = next < nnb && list[next] == j;
        next += listed;
        if (j == TARGET || many.level[j] < 0) assert_false(listed);
        if (j == TARGET || many.level[j] < 0) continue;
        nb6_predict(&many.body[j], dt, x, v);
        for (int k = 0; k < 3; k++) {
            x[k] -= own[k];
            v[k] -= own_v[k];
            r2 += x[k] * x[k];
        }
        const int wanted = is_neighbour(x, v, dt, r_nb);
        assert_true(wanted < 0 || wanted == listed);
        for (int k = 0; k < 3 && !listed; k++) acc[k] += many.body[j].mass * x[k] / (r2 * sqrt(r2));
        scale += listed ? 0 : many.body[j].mass / r2;
    }
    const double expected[3] = {(double)acc[0], (double)acc[1], (double)acc[2]};
    assert_true(nnb > 100 && next == nnb);
    assert_true(apart(many.star[TARGET].acc_reg, expected) < 2e-6 * scale);
    nb6_emulated_free(&many);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_of_any_length), cmocka_unit_test(a_companion_drowns_nobody),
        cmocka_unit_test(the_bodies_that_come_and_go), cmocka_unit_test(the_change_of_a_list),
        cmocka_unit_test(a_regular_force_among_many)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
