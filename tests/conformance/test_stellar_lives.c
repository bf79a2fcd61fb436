/* Lives of stars of all masses, metallicities and levels: none fails, phases follow each other, masses fall, and a star
 * that is heavy enough ends as a remnant. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>

#include "tests/support/stars.h"

/* Types that may follow a type, as bits */
static int may_follow(int before, int after)
{
    static const int NEXT[STELLAR_TYPES] = {
        [STELLAR_MS_LOW] = 1 << STELLAR_HG,
        [STELLAR_MS] = 1 << STELLAR_HG,
        [STELLAR_HG] = 1 << STELLAR_GB | 1 << STELLAR_CHEB | 1 << STELLAR_HE_MS | 1 << STELLAR_HE_WD,
        [STELLAR_GB] = 1 << STELLAR_CHEB | 1 << STELLAR_HE_MS | 1 << STELLAR_HE_WD,
        [STELLAR_CHEB] = 1 << STELLAR_EAGB | 1 << STELLAR_HE_MS,
        [STELLAR_EAGB] = 1 << STELLAR_TPAGB | 1 << STELLAR_HE_HG | 1 << STELLAR_HE_GB | 7 << STELLAR_NS,
        [STELLAR_TPAGB] = 3 << STELLAR_CO_WD | 7 << STELLAR_NS,
        [STELLAR_HE_MS] = 1 << STELLAR_HE_HG | 1 << STELLAR_HE_GB,
        [STELLAR_HE_HG] = 1 << STELLAR_HE_GB | 3 << STELLAR_CO_WD | 7 << STELLAR_NS,
        [STELLAR_HE_GB] = 1 << STELLAR_HE_HG | 3 << STELLAR_CO_WD | 7 << STELLAR_NS};
    return NEXT[before] >> after & 1;
}

static void check_life(const struct stellar_model *model, double mass, double end)
{
    struct stellar_events events;
    const struct stellar_view last = stars_at(model, mass, end, &events);
    double time = 0, left = mass;
    for (int k = 0; k < events.n; k++) {
        const struct stellar_event *e = &events.event[k];
        if (!may_follow(e->type_before, e->type_after)) fail_msg("%g: %d to %d", mass, e->type_before, e->type_after);
        assert_true(e->time_myr >= time && e->mass_before <= left && e->mass_after <= e->mass_before);
        assert_true(isfinite(e->kick_kms[0]) && e->fallback >= 0 && e->fallback <= 1);
        time = e->time_myr;
        left = e->mass_after;
    }
    assert_true(last.type >= STELLAR_HE_WD || mass < 0.5);
    assert_true(last.mass <= left);
}

static void all_stars(void **state)
{
    (void)state;
    static const double Z[] = {1e-4, 1e-3, 4e-3, 0.01, 0.02, 0.03};
    const double end = 1e6; /* Myr: stars from 0.5 solar masses on have died */
    for (int level = 'A'; level <= 'C'; level++)
        for (size_t k = 0; k < sizeof Z / sizeof Z[0]; k++) {
            struct stellar_model *model = stars_model((char)level, Z[k], "");
            for (double mass = STELLAR_MASS_LEAST; mass <= STELLAR_MASS_MOST; mass *= 1.04)
                check_life(model, mass, end);
            stellar_free(model);
        }
}

static void helium_stars(void **state)
{
    (void)state;
    struct stellar_model *model = stars_model('A', 0.02, "");
    for (double mass = 0.32; mass <= STELLAR_MASS_MOST; mass *= 1.04) {
        struct stellar_star star;
        struct stellar_view view;
        assert_int_equal(stellar_birth_helium(model, 1, mass, 0, &star, NULL), NBC_OK);
        assert_int_equal(stellar_evolve(model, &star, 1e4, &view, NULL, NULL), NBC_OK);
        assert_true(view.type >= STELLAR_CO_WD && view.mass <= mass);
    }
    stellar_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_stars), cmocka_unit_test(helium_stars)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
