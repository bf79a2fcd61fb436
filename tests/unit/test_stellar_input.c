/* Bad input is refused with a status and a sentence that names the limit, and the star stays as it was. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/stars.h"
#include "tests/support/wild_stars.h"

static void assert_refused(int status, int should, const struct nbc_error *err, const char *word)
{
    assert_int_equal(status, should);
    assert_int_equal(err->status, should);
    if (!strstr(err->text, word)) fail_msg("'%s' does not say '%s'", err->text, word);
}

static void domains(void **state)
{
    (void)state;
    struct stellar_options options;
    struct stellar_model *model;
    struct stellar_star star, before;
    struct nbc_error err = {0};
    assert_refused(stellar_options_level('D', &options, &err), NBC_BAD_ARGUMENT, &err, "A, B and C");
    assert_int_equal(stellar_options_level('A', &options, &err), NBC_OK);
    static const double BAD_Z[] = {0, 9e-5, 0.031, -1, NAN, INFINITY};
    for (size_t k = 0; k < sizeof BAD_Z / sizeof BAD_Z[0]; k++) {
        assert_refused(stellar_create(BAD_Z[k], &options, &model, &err), NBC_BAD_ARGUMENT, &err, "0.0001 to 0.03");
        assert_null(model);
    }
    assert_int_equal(stellar_create(0.02, &options, &model, &err), NBC_OK);
    memset(&star, 7, sizeof star);
    before = star;
    assert_refused(stellar_birth(model, 1, 0.05, 0, &star, &err), NBC_BAD_ARGUMENT, &err, "0.08");
    assert_refused(stellar_birth(model, 1, 151, 0, &star, &err), NBC_BAD_ARGUMENT, &err, "150");
    assert_refused(stellar_birth(model, 1, NAN, 0, &star, &err), NBC_NON_FINITE, &err, "NaN");
    assert_refused(stellar_birth(model, 1, 1, INFINITY, &star, &err), NBC_NON_FINITE, &err, "infinite");
    assert_refused(stellar_birth_helium(model, 1, 0.2, 0, &star, &err), NBC_BAD_ARGUMENT, &err, "0.32");
    assert_memory_equal(&star, &before, sizeof star);
    assert_int_equal(stellar_birth(model, 1, 150, 0, &star, &err), NBC_OK);
    assert_int_equal(stellar_birth(model, 1, 0.08, 0, &star, &err), NBC_OK);
    stellar_free(model);
}

static void states(void **state)
{
    (void)state;
    struct stellar_model *model = stars_model('A', 0.02, "");
    struct stellar_star good, star;
    struct stellar_view view, seen;
    struct stellar_events events;
    struct nbc_error err = {0};
    assert_int_equal(stellar_birth(model, 1, 5, 0, &good, &err), NBC_OK);
    assert_int_equal(stellar_evolve(model, &good, 119, &view, &events, &err), NBC_OK);
    assert_int_equal(good.type, STELLAR_CHEB);
    seen = view;
#define REFUSED(change, status, word)                                                                                  \
    do {                                                                                                               \
        star = good;                                                                                                   \
        change;                                                                                                        \
        const struct stellar_star was = star;                                                                          \
        assert_refused(stellar_evolve(model, &star, 130, &view, &events, &err), status, &err, word);                   \
        assert_memory_equal(&star, &was, sizeof star);                                                                 \
        assert_memory_equal(&view, &seen, sizeof view);                                                                \
        assert_int_equal(events.n, 0);                                                                                 \
    } while (0)
    REFUSED(star.mass = NAN, NBC_NON_FINITE, "NaN");
    REFUSED(star.age_myr = -1, NBC_BAD_ARGUMENT, "at least 0");
    REFUSED(star.age_myr = 200, NBC_BAD_ARGUMENT, "core helium burning");
    REFUSED(star.type = 16, NBC_BAD_ARGUMENT, "0 to 15");
    REFUSED(star.type = -1, NBC_BAD_ARGUMENT, "0 to 15");
    REFUSED(star.core_mass = 6, NBC_BAD_ARGUMENT, "0 to the mass");
    REFUSED(star.z = 0.01, NBC_BAD_ARGUMENT, "0.02");
    REFUSED(star.mass_track = 200, NBC_BAD_ARGUMENT, "150");
    REFUSED(star.time_myr = 140, NBC_BAD_ARGUMENT, "has reached 140");
#undef REFUSED
    star = good;
    assert_refused(stellar_evolve(model, &star, NAN, NULL, NULL, &err), NBC_NON_FINITE, &err, "NaN");
    assert_refused(stellar_evolve(model, &star, 1e9, NULL, NULL, &err), NBC_BAD_ARGUMENT, &err, "1e+07");
    assert_refused(stellar_set_mass(model, &star, 119.5, 1e4, NULL, NULL, &err), NBC_BAD_ARGUMENT, &err, "150");
    assert_memory_equal(&star, &good, sizeof star);
    /* Of many stars the error names the first that is bad; the others go on. */
    struct stellar_star many[3] = {good, good, good};
    many[1].mass = NAN;
    many[2].mass = -1;
    assert_refused(stellar_evolve_all(model, 3, many, 125, NULL, NULL, &err), NBC_NON_FINITE, &err, "star 1:");
    assert_true(many[0].time_myr > good.time_myr);
    stellar_free(model);
}

/* States with wild values: a status, and nothing that is not finite comes out. */
static void wild_states(void **state)
{
    (void)state;
    wild_stars_try(30000, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(domains), cmocka_unit_test(states),
                                       cmocka_unit_test(wild_states)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
