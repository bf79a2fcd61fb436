#include "tests/support/wild_stars.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/kroupa.h"
#include "tests/support/stars.h"

static uint64_t wild_next(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

static double wild_uniform(uint64_t *seed)
{
    return (double)(wild_next(seed) >> 11) * 0x1p-53;
}

/* Another value: one of those that often break a program, or the old one times something */
static double wild_value(double old, uint64_t *seed)
{
    static const double BAD[] = {NAN, INFINITY, -INFINITY, -1, 0, 1e-300, 1e300, 5e-324};
    const uint64_t choice = wild_next(seed) % 16;
    if (choice < sizeof BAD / sizeof BAD[0]) return BAD[choice];
    return choice < 12 ? old * exp(20 * (wild_uniform(seed) - 0.5)) : old * (1 + 0.1 * (wild_uniform(seed) - 0.5));
}

static void wild_change(struct stellar_star *star, uint64_t *seed)
{
    double *const value[] = {&star->age_myr,   &star->mass_track,   &star->mass, &star->time_myr,
                             &star->core_mass, &star->co_core_mass, &star->spin, &star->step_myr};
    for (uint64_t k = 1 + wild_next(seed) % 3; k > 0; k--) {
        double *one = value[wild_next(seed) % (sizeof value / sizeof value[0])];
        *one = wild_value(*one, seed);
    }
    if (wild_next(seed) % 4 == 0) star->type = (int32_t)(wild_next(seed) % 18) - 1;
}

static int wild_sound(const struct stellar_star *star, const struct stellar_view *view)
{
    const double values[] = {star->age_myr,      star->mass_track,   star->mass,          star->time_myr,
                             star->core_mass,    star->co_core_mass, star->step_myr,      view->mass,
                             view->radius,       view->luminosity,   view->temperature_k, view->core_mass,
                             view->co_core_mass, view->wind};
    for (size_t k = 0; k < sizeof values / sizeof values[0]; k++)
        if (!isfinite(values[k])) return 0;
    return !isnan(view->ask_again_myr) && view->ask_again_myr > view->time_myr;
}

void wild_stars_try(int64_t n, uint64_t seed)
{
    struct stellar_model *model = stars_model('C', 0.004, "");
    int64_t accepted = 0;
    seed = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    for (int64_t i = 0; i < n; i++) {
        struct stellar_star star, was;
        struct stellar_view view;
        struct nbc_error err = {0};
        const double mass = kroupa_mass(0.7 + 0.3 * wild_uniform(&seed));
        assert_int_equal(stellar_birth(model, i, mass, 0, &star, NULL), NBC_OK);
        const double t = 1e4 * pow(mass, -2.5) * 2 * wild_uniform(&seed);
        assert_int_equal(stellar_evolve(model, &star, t, NULL, NULL, NULL), NBC_OK);
        wild_change(&star, &seed);
        was = star;
        const int status = stellar_evolve(model, &star, t * (1 + wild_uniform(&seed)), &view, NULL, &err);
        if (status && (memcmp(&star, &was, sizeof star) || !err.text[0])) fail_msg("%lld: changed", (long long)i);
        if (!status && !wild_sound(&star, &view)) fail_msg("%lld: not finite", (long long)i);
        accepted += !status;
    }
    /* Small changes give states that can be. */
    assert_true(accepted > n / 50 && accepted < n);
    stellar_free(model);
}
