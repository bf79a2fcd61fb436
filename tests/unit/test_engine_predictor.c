/* Predictors (engine/stages/predictor.h): the age of a step, motions to float precision, and bodies that need the full
 * record. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "gpuirr/pair.h"
#include "nbody6/engine/stages/force.h"
#include "nbody6/engine/stages/predictor.h"
#include "nbody6/engine/stages/state.h"
#include "nbody6/state/body.h"

static double next_number(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return ldexp((double)(*state >> 11), -52) - 1;
}

/* At all ticks between two steps that need more than the bits of a float the age is rounded, else exact. */
static void ages_are_right(void **state)
{
    (void)state;
    for (int level = 0; level <= NB6_TIME_BITS; level++) {
        const nb6_time step = nb6_step_ticks(level), starts[] = {0, step, 5 * step, 1000 * step, -3 * step};
        for (size_t k = 0; k < sizeof starts / sizeof *starts; k++) {
            const struct nb6_body body = {.t0 = starts[k], .jerk = {0, 0, k % 2 ? -1.2345 : 1e20}};
            const struct nb6_dev_predictor predictor = nb6_predictor_of(&body);
            const nb6_time ages[] = {1, (step + 1) / 2, step};
            for (size_t a = 0; a < sizeof ages / sizeof *ages; a++)
                assert_true(nb6_predictor_age(&predictor, starts[k] + ages[a]) == (float)ages[a] * 0x1p-40f);
            assert_true(fabs(predictor.jerk[2] / body.jerk[2] - 1) < 0x1p-17);
            assert_true(nb6_predictor_is_valid(&body, level, starts[k]));
        }
    }
}

/* A step as it may be taken: over it each of the terms is less than the one before by a tenth. The differences are
 * those of the ten roundings to 2^-24, and of the jerk to 2^-18. */
static void motions_are_those_of_the_record(void **state)
{
    (void)state;
    uint64_t seed = 5;
    const double distance = 1e-3, dt = 0x1p-12;
    double worst = 0;
    for (int n = 0; n < 10000; n++) {
        struct nb6_body body = {.t0 = (nb6_time)(2 * n + 1) << (NB6_TIME_BITS - 12), .mass = 1};
        struct gpuirr_float_pair pair;
        double here[3], x[3], v[3];
        float own[3];
        for (int k = 0; k < 3; k++) {
            here[k] = 100 * next_number(&seed);
            own[k] = (float)next_number(&seed);
            body.x0[k] = here[k] + distance * next_number(&seed);
            body.v0[k] = 0.1 * distance / dt * next_number(&seed);
            body.acc[k] = 0.02 * distance / (dt * dt) * next_number(&seed);
            body.jerk[k] = 0.006 * distance / (dt * dt * dt) * next_number(&seed);
        }
        const struct nb6_dev_predictor predictor = nb6_predictor_of(&body);
        const nb6_time t = body.t0 + nb6_step_ticks(NB6_TIME_BITS - 12) / (1 + n % 3);
        nb6_predictor_pair(&predictor, t, here, own, &pair);
        nb6_predict(&body, nb6_time_to_double(t - body.t0), x, v);
        for (int k = 0; k < 3; k++) {
            worst = fmax(worst, fabs(pair.dx[k] - (x[k] - here[k])) / distance);
            worst = fmax(worst, fabs(pair.dv[k] - (v[k] - (double)own[k])) * dt / distance);
        }
    }
    print_message("largest difference: %.1e of the distance\n", worst);
    assert_true(worst < 10 * 0x1p-24);
}

/* A step that has grown longer than the time of its beginning allows: the age is unknown, the full record is used, and
 * the neighbour counts as near. */
static void others_are_taken_in_full(void **state)
{
    (void)state;
    const nb6_time step = nb6_step_ticks(30), now = 13 * step;
    struct nb6_body body[2] = {{.t0 = now}, {.t0 = 5 * step, .mass = 0.5, .x0 = {1}, .v0 = {0, 1}, .acc = {-1}}};
    struct nb6_dev_predictor predictor[2] = {nb6_predictor_at(&body[0], 30, now), nb6_predictor_at(&body[1], 32, now)};
    struct nb6_star star[2] = {{.r_nb = 3}, {.r_nb = 3}};
    const struct nb6_dev dev = {.n = 2, .body = body, .predictor = predictor, .star = star, .rules.mean_mass = 0.5};
    const int32_t list[] = {1};
    struct gpunb_dev_sum sum, exact;
    double x[3], v[3];
    assert_true(!isnan(predictor[0].x[0]) && isnan(predictor[1].x[0]));
    const nb6_time t = 16 * step;
    const struct nb6_dev_point point = nb6_dev_predict(&dev, 0, t);
    struct nb6_dev_near near;
    nb6_dev_force_lane(&dev, &point, list, 1, t, 0, &sum, &near);
    assert_true(near.body == 1 && near.next_r2 == 0);
    gpunb_dev_clear(&exact);
    nb6_dev_neighbour_at(&body[1], t, &point, x, v);
    nb6_dev_add_in_double(x, v, body[1].mass, &exact);
    assert_memory_equal(&sum, &exact, sizeof sum);
    assert_true(exact.acc[0] > 0.1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ages_are_right),
                                       cmocka_unit_test(motions_are_those_of_the_record),
                                       cmocka_unit_test(others_are_taken_in_full)};
    return cmocka_run_group_tests_name("engine_predictor", tests, NULL, NULL);
}
