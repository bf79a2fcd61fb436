/* External fields as device engines compute them: the bits of the host's functions on this processor, the strongest
 * gradient, and sums of work that no order changes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "common/nbc.h"
#include "nbody6/engine/stages/work.h"
#include "nbody6/galaxy/device_field.h"
#include "nbody6/galaxy/external.h"
#include "nbody6/input/config.h"
#include "nbody6/input/units.h"

/* KZ(14) = 0 to 5, each with all that it may have. */
enum { KINDS = 6 };

static struct nb6_external field_of(int kind)
{
    const struct nb6_units units = {.mass_msun = 500, .length_pc = 2, .velocity_kms = 1.04, .time_myr = 1.9};
    struct nb6_config config = {.tide = {.kind = kind,
                                         .galaxy_mass_msun = 1e10,
                                         .galaxy_distance_kpc = 8,
                                         .disk_mass_msun = 5e10,
                                         .disk_length_kpc = 4,
                                         .disk_height_kpc = 0.3,
                                         .halo_velocity_kms = 220,
                                         .halo_radius_kpc = 8.5,
                                         .bulge_mass_msun = 1e10,
                                         .bulge_length_kpc = 0.5,
                                         .bulge_slope = 1,
                                         .position_kpc = {3, 0, 0.5},
                                         .velocity_kms = {0, 120, 60},
                                         .gas_mass = 2,
                                         .gas_length = 0.6,
                                         .gas_rate = 1.5,
                                         .gas_delay = 0.7}};
    struct nb6_external field;
    struct nbc_error err = {0};
    if (nb6_external_make(&config, &units, &field, &err)) fail_msg("%s", err.text);
    return field;
}

static void fields_are_those_of_the_host(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        const struct nb6_external field = field_of(kind);
        assert_true(nb6_external_is_for_devices(kind));
        for (int k = 0; k < 40; k++) {
            const double t = 0.05 * k, x[3] = {cos(k), 3 * sin(2 * k), 0.1 * k}, v[3] = {sin(k), 0.3, cos(3 * k)};
            const double inner[3] = {-x[0], 0.2, x[2]};
            double acc[2][3] = {{0}}, jerk[2][3] = {{0}};
            struct nb6_orbit_point now;
            nb6_device_field_at(&field, t, &now);
            nb6_device_field_force(&field, t, &now, x, v, inner, acc[0], jerk[0]);
            nb6_external_force(&field, t, x, v, inner, acc[1], jerk[1]);
            assert_memory_equal(acc[0], acc[1], sizeof acc[0]);
            assert_memory_equal(jerk[0], jerk[1], sizeof jerk[0]);
            const double longest = nb6_external_longest_step(&field, t);
            assert_true(nb6_device_field_longest_step(&field, t) == longest);
            if (!field.active) continue;
            assert_true(nb6_device_field_noise(&field, t, x, v) == nb6_external_noise(&field, t, x, v));
            const double strongest = nb6_external_strongest(&field, t, x);
            const double there = nb6_device_field_strongest(&field, t, x);
            /* sums of the same gradients in another order */
            assert_true(kind < 3 ? there == 0 : fabs(there - strongest) < 1e-14 * strongest);
        }
    }
}

/* On both sides of TDELAY, and across it. */
static void work_is_that_of_the_host(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        struct nb6_external field = field_of(kind);
        struct nb6_body body = {.x0 = {0.3, -0.2, 0.5}, .v0 = {0.1, 0.4, -0.3}, .mass = 0.01};
        struct nb6_dev_control control = {.unit_of_work = 0x1p-56};
        const struct nb6_dev dev = {.body = &body, .control = &control, .rules = {.field = field}};
        assert_int_equal(nb6_device_field_does_work(&field), nb6_external_does_work(&field));
        if (!nb6_device_field_does_work(&field)) continue;
        double sum = 0;
        for (int k = 0; k < 16; k++) {
            const double x[3] = {0.3 + 0.01 * k, -0.2 + 0.04 * k, 0.5}, v[3] = {0.1, 0.4 - 0.01 * k, -0.3};
            control.t = body.t0 + nb6_step_ticks(NB6_TIME_BITS - 4);
            const struct nb6_moment from = {nb6_time_to_double(body.t0), body.x0, body.v0},
                                    to = {nb6_time_to_double(control.t), x, v};
            const double work = body.mass * nb6_external_work(&field, &from, &to);
            assert_true(nb6_dev_work(&dev, 0, x, v) == work);
            nb6_dev_count_work(&dev, work);
            sum += work;
            memcpy(body.x0, x, sizeof x);
            memcpy(body.v0, v, sizeof v);
            body.t0 = control.t;
        }
        assert_true(sum != 0);
        /* half a unit of each */
        assert_true(fabs(nb6_dev_units_to_double(control.work) * control.unit_of_work - sum) <= 8.01 * 0x1p-56);
    }
}

static void sums_of_work_are_exact(void **state)
{
    (void)state;
    static const int64_t units[] = {INT64_MAX, 5, -7, INT64_MAX, INT64_MIN + 1, -1, INT64_MAX, 3, INT64_MIN + 1};
    enum { N = sizeof units / sizeof *units };
    uint64_t sum[2] = {0, 0}, reverse[2] = {0, 0}, small[2] = {0, 0};
    for (int k = 0; k < N; k++) nb6_dev_add_units(sum, units[k]);
    for (int k = N; k > 0; k--) nb6_dev_add_units(reverse, units[k - 1]);
    assert_memory_equal(sum, reverse, sizeof sum);
    assert_true(nb6_dev_units_to_double(sum) == (double)INT64_MAX); /* + 5 - 7 - 1 + 3 */
    nb6_dev_add_units(small, -3);
    assert_true(nb6_dev_units_to_double(small) == -3);
    nb6_dev_add_units(small, 4);
    assert_true(nb6_dev_units_to_double(small) == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_those_of_the_host),
        cmocka_unit_test(work_is_that_of_the_host),
        cmocka_unit_test(sums_of_work_are_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
