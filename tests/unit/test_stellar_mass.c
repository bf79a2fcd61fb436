/* Masses that change from outside: HPT, section 7.1. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>

#include "stellar/helium_star.h"
#include "stellar/main_sequence.h"
#include "tests/support/stars.h"

static struct stellar_star star_at(const struct stellar_model *model, double mass, double time)
{
    struct stellar_star star;
    assert_int_equal(stellar_birth(model, 1, mass, 0, &star, NULL), NBC_OK);
    assert_int_equal(stellar_evolve(model, &star, time, NULL, NULL, NULL), NBC_OK);
    return star;
}

/* A star of 1 Msun that is half through becomes one of 1.5 that is half through; a light one changes its type. */
static void main_sequence(void **state)
{
    (void)state;
    struct stellar_model *model = stars_model('A', 0.02, "");
    struct stellar_events events;
    struct stellar_fits f;
    stellar_fits_make(0.02, &f);
    const double t1 = stellar_t_ms(&f, 1, stellar_t_bgb(&f, 1)), t2 = stellar_t_ms(&f, 1.5, stellar_t_bgb(&f, 1.5));
    struct stellar_star star = star_at(model, 1, 0);
    struct stellar_view view;
    assert_int_equal(stellar_set_mass(model, &star, 0.5 * t1, 1.5, &view, &events, NULL), NBC_OK);
    assert_true(star.mass == 1.5 && star.mass_track == 1.5 && view.mass == 1.5 && events.n == 0);
    assert_true(fabs(star.age_myr / (0.5 * t2) - 1) < 1e-12);
    assert_int_equal(stellar_evolve(model, &star, 0.5 * (t1 + t2) + 1, NULL, &events, NULL), NBC_OK);
    assert_true(fabs(stars_event(&events, STELLAR_HG)->time_myr / (0.5 * (t1 + t2)) - 1) < 1e-12);
    star = star_at(model, 0.5, 10);
    assert_int_equal(star.type, STELLAR_MS_LOW);
    assert_int_equal(stellar_set_mass(model, &star, 10, 0.9, NULL, NULL, NULL), NBC_OK);
    assert_int_equal(star.type, STELLAR_MS);
    stellar_free(model);
}

/* A giant keeps its track, its core and its age; without its envelope it is what its core is. */
static void giants(void **state)
{
    (void)state;
    static const struct {
        double mass, time;
        int type, left;
    } ROW[] = {{1, 12300, STELLAR_GB, STELLAR_HE_WD},
               {5, 104.6, STELLAR_GB, STELLAR_HE_MS},
               {5, 115, STELLAR_CHEB, STELLAR_HE_MS},
               {5, 120.5, STELLAR_EAGB, STELLAR_HE_HG},
               {5, 121.3, STELLAR_TPAGB, STELLAR_CO_WD}};
    struct stellar_model *model = stars_model('A', 0.02, "");
    for (size_t k = 0; k < sizeof ROW / sizeof ROW[0]; k++) {
        struct stellar_star star = star_at(model, ROW[k].mass, ROW[k].time), bare;
        struct stellar_view before, after;
        struct stellar_events events;
        assert_int_equal(star.type, ROW[k].type);
        bare = star;
        assert_int_equal(stellar_evolve(model, &star, ROW[k].time, &before, NULL, NULL), NBC_OK);
        assert_int_equal(stellar_set_mass(model, &star, ROW[k].time, 0.9 * before.mass, &after, &events, NULL), NBC_OK);
        assert_true(events.n == 0 && after.type == before.type && after.core_mass == before.core_mass);
        assert_true(fabs(star.mass / (0.9 * before.mass) - 1) < 1e-15 && star.mass_track == bare.mass_track);
        assert_int_equal(stellar_set_mass(model, &bare, ROW[k].time, before.core_mass, &after, &events, NULL), NBC_OK);
        assert_int_equal(events.n, 1);
        assert_int_equal(after.type, ROW[k].left);
        assert_true(fabs(after.mass / before.core_mass - 1) < 1e-12);
        /* A helium star that has burned the same fraction of its helium */
        if (ROW[k].type == STELLAR_CHEB) {
            const double part = bare.age_myr / stellar_t_hems(bare.mass);
            assert_true(part > 0.6 && part < 0.7);
        }
    }
    stellar_free(model);
}

static void remnants(void **state)
{
    (void)state;
    static const struct {
        int type;
        double mass, grown;
        int left, kind;
    } ROW[] = {{STELLAR_CO_WD, 0.9, 1.0, STELLAR_CO_WD, -1},
               {STELLAR_CO_WD, 1.2, 1.45, STELLAR_NONE, STELLAR_DISRUPTION},
               {STELLAR_ONE_WD, 1.3, 1.45, STELLAR_NS, STELLAR_ELECTRON_CAPTURE},
               {STELLAR_NS, 1.4, 2.6, STELLAR_BH, STELLAR_CHANGE},
               {STELLAR_BH, 10, 20, STELLAR_BH, -1}};
    struct stellar_model *model = stars_model('A', 0.02, "");
    for (size_t k = 0; k < sizeof ROW / sizeof ROW[0]; k++) {
        struct stellar_star star = {
            .type = ROW[k].type, .z = 0.02, .mass = ROW[k].mass, .mass_track = ROW[k].mass, .core_mass = ROW[k].mass};
        struct stellar_events events;
        struct stellar_view view;
        assert_int_equal(stellar_set_mass(model, &star, 50, ROW[k].grown, &view, &events, NULL), NBC_OK);
        assert_int_equal(view.type, ROW[k].left);
        assert_int_equal(events.n, ROW[k].kind >= 0);
        if (events.n) assert_int_equal(events.event[0].kind, ROW[k].kind);
        if (ROW[k].left == STELLAR_BH) assert_true(view.mass == ROW[k].grown);
    }
    stellar_free(model);
}

/* Stars that begin evolved, by type, age and masses alone, end as those that were followed from birth: 1e-4 is the
 * accuracy of the grid (tests/conformance/test_stellar_grid.c), which begins elsewhere. */
static void begun_late(void **state)
{
    (void)state;
    static const struct {
        double mass, time;
        int type;
    } ROW[] = {{1, 8000, STELLAR_MS},    {1, 12000, STELLAR_GB},    {2.5, 700, STELLAR_CHEB},
               {5, 104.2, STELLAR_HG},   {5, 120.5, STELLAR_EAGB},  {5, 121.2, STELLAR_TPAGB},
               {40, 5.3, STELLAR_HE_MS}, {40, 5.445, STELLAR_HE_HG}};
    struct stellar_model *model = stars_model('A', 0.02, "");
    for (size_t k = 0; k < sizeof ROW / sizeof ROW[0]; k++) {
        struct stellar_star old = star_at(model, ROW[k].mass, ROW[k].time);
        struct stellar_star late = {.type = old.type,
                                    .name = old.name,
                                    .z = old.z,
                                    .time_myr = old.time_myr,
                                    .age_myr = old.age_myr,
                                    .mass_track = old.mass_track,
                                    .mass = old.mass};
        struct stellar_view a, b;
        assert_int_equal(old.type, ROW[k].type);
        for (int end = 0; end < 2; end++) {
            const double time = end ? 14000 : old.time_myr;
            assert_int_equal(stellar_evolve(model, &old, time, &a, NULL, NULL), NBC_OK);
            assert_int_equal(stellar_evolve(model, &late, time, &b, NULL, NULL), NBC_OK);
            assert_true(a.type == b.type && fabs(b.mass / a.mass - 1) < 1e-4);
            assert_true(fabs(b.core_mass - a.core_mass) <= 1e-4 * a.core_mass);
        }
    }
    stellar_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(main_sequence), cmocka_unit_test(giants),
                                       cmocka_unit_test(remnants), cmocka_unit_test(begun_late)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
