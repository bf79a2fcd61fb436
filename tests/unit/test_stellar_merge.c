/* Two stars that become one, for each class of pair: Hurley, Tout & Pols 2002. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>

#include "stellar/helium_star.h"
#include "stellar/main_sequence.h"
#include "tests/support/stars.h"

/* A star at a time, as a point of its grid. */
static struct stellar_star stand(const struct stellar_model *model, struct stellar_star star, double time)
{
    struct stellar_view view;
    struct nbc_error err = {0};
    int status = stellar_evolve(model, &star, time, &view, NULL, &err);
    if (!status) status = stellar_set_mass(model, &star, time, view.mass, NULL, NULL, &err);
    if (status) fail_msg("%s", err.text);
    return star;
}

/* A star of each type, from a birth or, for remnants and helium stars, from their state. */
static struct stellar_star star_of(const struct stellar_model *model, int type)
{
    static const struct {
        double mass, time; /* below 0: no birth */
    } BORN[STELLAR_NONE] = {{0.5, 100}, {1, 5000}, {5, 104.2}, {1, 12300}, {5, 115},  {5, 120.5}, {5, 121.2}, {2, -1},
                            {2, -1},    {2, -1},   {0.3, -1},  {0.6, -1},  {1.2, -1}, {1.4, -1},  {10, -1}};
    struct stellar_star star = {.type = type, .z = 0.02, .mass = BORN[type].mass, .mass_track = BORN[type].mass};
    if (BORN[type].time > 0) {
        assert_int_equal(stellar_birth(model, type, BORN[type].mass, 0, &star, NULL), NBC_OK);
        star = stand(model, star, BORN[type].time);
    } else if (type <= STELLAR_HE_GB) {
        const double part = type == STELLAR_HE_MS ? 0.5 : 1.001;
        star.age_myr = part * stellar_t_hems(star.mass);
        star.core_mass = star.mass;
        if (type == STELLAR_HE_GB) star.type = STELLAR_HE_HG;
        star = stand(model, star, 0);
        for (int k = 0; star.type < type && k < 1000; k++) star = stand(model, star, star.time_myr + 1e-3);
    } else {
        star.core_mass = star.mass;
        star.co_core_mass = type == STELLAR_CO_WD ? star.mass : 0;
    }
    assert_int_equal(star.type, type);
    star.name = type;
    return star;
}

static struct stellar_view merge(const struct stellar_model *model, struct stellar_star a, struct stellar_star b,
                                 double kept, struct stellar_star *product, struct stellar_events *events)
{
    struct stellar_view view;
    struct nbc_error err = {0};
    const double time = fmax(a.time_myr, b.time_myr);
    if (a.time_myr < time) a.time_myr = time; /* each is as it is, whenever it was so */
    if (b.time_myr < time) b.time_myr = time;
    if (stellar_merge(model, &a, model, &b, time, kept, product, &view, events, &err))
        fail_msg("types %d and %d: %s", a.type, b.type, err.text);
    return view;
}

/* ---- all pairs of types ---- */

/* The collision matrix, written by its rules: a row for each type, from its own column on. */
static const char *const MATRIX[STELLAR_NONE] = {"1 1 2 3 4 5 6 4 6 6 3 6 6 13 14",
                                                 "1 2 3 4 5 6 4 6 6 3 6 6 13 14",
                                                 "3 3 4 4 5 4 4 4 3 5 5 13 14",
                                                 "3 4 4 5 4 4 4 3 5 5 13 14",
                                                 "4 4 4 4 4 4 4 4 4 13 14",
                                                 "4 4 4 4 4 4 4 4 13 14",
                                                 "6 4 6 6 5 6 6 13 14",
                                                 "7 8 9 7 9 9 13 14",
                                                 "8 9 7 9 9 13 14",
                                                 "9 7 9 9 13 14",
                                                 "15 9 9 13 14",
                                                 "11 12 13 14",
                                                 "12 13 14",
                                                 "14 14",
                                                 "14"};

static int expected(int i, int j)
{
    const char *at = MATRIX[i < j ? i : j];
    char *end = NULL;
    long type = 0;
    for (int k = i < j ? i : j; k <= (i < j ? j : i); k++, at = end) type = strtol(at, &end, 10);
    return (int)type;
}

/* Products that go on at once to what follows, for the stars above: cores too heavy for the branch ignite helium, or
 * for pulses; dwarfs above the Chandrasekhar mass, and neutron stars above theirs. */
static int is_another(int type, int found)
{
    if (type == STELLAR_GB) return found == STELLAR_CHEB;
    if (type == STELLAR_TPAGB) return found == STELLAR_EAGB || found >= STELLAR_HE_WD;
    if (type == STELLAR_HE_HG || type == STELLAR_HE_GB) return found >= STELLAR_HE_HG;
    if (type == STELLAR_EAGB) return found == STELLAR_TPAGB;
    if (type == STELLAR_NS) return found == STELLAR_BH;
    return type == STELLAR_ONE_WD && found == STELLAR_NS;
}

static void all_pairs(void **state)
{
    (void)state;
    struct stellar_model *model = stars_model('A', 0.02, "");
    int as_in_matrix = 0;
    for (int i = 0; i < STELLAR_NONE; i++)
        for (int j = i; j < STELLAR_NONE; j++) {
            const struct stellar_star a = star_of(model, i), b = star_of(model, j);
            struct stellar_star product, other_way;
            struct stellar_events events;
            const struct stellar_view view = merge(model, a, b, 1, &product, &events);
            const struct stellar_view again = merge(model, b, a, 1, &other_way, NULL);
            const int type = expected(i, j) == 1 && view.mass < 0.7 ? 0 : expected(i, j);
            if (view.type != type && !is_another(type, view.type))
                fail_msg("types %d and %d: %d, not %d", i, j, view.type, type);
            as_in_matrix += view.type == type;
            assert_true(product.name == i && other_way.name == j);
            assert_true(again.type == view.type && fabs(again.mass - view.mass) <= 1e-14 * view.mass);
            assert_true(fabs(again.core_mass - view.core_mass) <= 1e-12 * view.mass);
            if (events.n == 0) assert_true(fabs(view.mass / (a.mass + b.mass) - 1) < 1e-14);
            struct stellar_view end;
            struct nbc_error err = {0};
            if (stellar_evolve(model, &product, product.time_myr + 15000, &end, NULL, &err))
                fail_msg("types %d and %d, later: %s", i, j, err.text);
            assert_true(end.mass <= view.mass);
        }
    assert_true(as_in_matrix > 80); /* of 120 */
    stellar_free(model);
}

/* ---- classes ---- */

/* t = 0.1 t_MS (M1 t1/t_MS1 + M2 t2/t_MS2)/M */
static void main_sequence(void **state)
{
    (void)state;
    struct stellar_model *model = stars_model('A', 0.02, "");
    const struct stellar_star a = star_of(model, STELLAR_MS_LOW), b = star_of(model, STELLAR_MS);
    struct stellar_star product;
    struct stellar_fits f;
    double t[3];
    stellar_fits_make(0.02, &f);
    for (int k = 0; k < 3; k++) {
        const double m = k == 0 ? 0.5 : k == 1 ? 1 : 1.5;
        t[k] = stellar_t_ms(&f, m, stellar_t_bgb(&f, m));
    }
    merge(model, a, b, 0, &product, NULL);
    const double wanted = 0.1 * t[2] * (0.5 * 100 / t[0] + 1 * 5000 / t[1]) / 1.5;
    assert_true(product.type == STELLAR_MS && product.mass == 1.5 && product.mass_track == 1.5);
    assert_true(fabs(product.age_myr / wanted - 1) < 1e-9);
    struct stellar_star heavy = b; /* the fits end at 150 */
    heavy.mass = heavy.mass_track = 100;
    heavy.age_myr = 0;
    assert_true(merge(model, heavy, heavy, 0, &product, NULL).mass == STELLAR_MASS_MOST);
    stellar_free(model);
}

/* A giant keeps its core and its age; cores add up, as far as the phase has such cores. */
static void giants(void **state)
{
    (void)state;
    struct stellar_model *model = stars_model('A', 0.02, "");
    const struct stellar_star dwarf = star_of(model, STELLAR_MS);
    struct stellar_star product;
    for (int type = STELLAR_GB; type <= STELLAR_TPAGB; type++) {
        const struct stellar_star giant = star_of(model, type);
        const struct stellar_view view = merge(model, giant, dwarf, 0, &product, NULL);
        assert_true(view.type == type && product.mass_track == giant.mass_track);
        assert_true(product.age_myr == giant.age_myr && fabs(view.core_mass / giant.core_mass - 1) < 1e-12);
    }
    static const struct {
        int a, b, type;
    } ROW[] = {{STELLAR_GB, STELLAR_GB, STELLAR_CHEB},       {STELLAR_CHEB, STELLAR_HE_MS, STELLAR_CHEB},
               {STELLAR_MS, STELLAR_HE_MS, STELLAR_CHEB},    {STELLAR_HG, STELLAR_CO_WD, STELLAR_EAGB},
               {STELLAR_TPAGB, STELLAR_HE_WD, STELLAR_EAGB}, {STELLAR_MS, STELLAR_CO_WD, STELLAR_TPAGB},
               {STELLAR_MS, STELLAR_HE_GB, STELLAR_EAGB}};
    for (size_t k = 0; k < sizeof ROW / sizeof ROW[0]; k++) {
        const struct stellar_star a = star_of(model, ROW[k].a), b = star_of(model, ROW[k].b);
        const double core_a = a.type <= STELLAR_MS ? 0 : a.core_mass,
                     core_b = b.type >= STELLAR_HE_MS ? b.mass : b.core_mass;
        const struct stellar_view view = merge(model, a, b, 0, &product, NULL);
        assert_int_equal(view.type, ROW[k].type);
        if (!(fabs(view.core_mass / (core_a + core_b) - 1) < 1e-9))
            fail_msg("types %d and %d: core %g, not %g + %g", a.type, b.type, view.core_mass, core_a, core_b);
    }
    stellar_free(model);
}

/* Helium that has burnt is mixed; carbon and oxygen add up. */
static void helium_stars(void **state)
{
    (void)state;
    struct stellar_model *model = stars_model('A', 0.02, "");
    const struct stellar_star burning = star_of(model, STELLAR_HE_MS), light = star_of(model, STELLAR_HE_WD);
    const struct stellar_star giant = star_of(model, STELLAR_HE_GB), dwarf = star_of(model, STELLAR_CO_WD);
    struct stellar_star product;
    merge(model, burning, light, 0, &product, NULL);
    assert_true(product.type == STELLAR_HE_MS && fabs(product.mass - 2.3) < 1e-15);
    assert_true(fabs(product.age_myr / stellar_t_hems(2.3) / (0.5 * 2 / 2.3) - 1) < 1e-12);
    const struct stellar_view view = merge(model, giant, light, 0, &product, NULL);
    assert_int_equal(view.type, STELLAR_HE_MS); /* mixed again */
    const double mass = giant.mass + light.mass;
    assert_true(fabs(product.age_myr / stellar_t_hems(mass) / (giant.co_core_mass / mass) - 1) < 1e-12);
    struct stellar_star young = burning;
    young.mass = young.mass_track = young.core_mass = 0.5;
    young.age_myr = 0;
    const struct stellar_view both = merge(model, young, dwarf, 0, &product, NULL);
    assert_true(both.type == STELLAR_HE_HG || both.type == STELLAR_HE_GB);
    assert_true(fabs(both.co_core_mass - 0.6) < 1e-9);
    stellar_free(model);
}

static void remnants(void **state)
{
    (void)state;
    static const struct {
        int a, b;
        double mass_a, mass_b, kept;
        int type, kind;
        double mass;
    } ROW[] = {{STELLAR_CO_WD, STELLAR_CO_WD, 0.6, 0.5, 0, STELLAR_CO_WD, -1, 1.1},
               {STELLAR_CO_WD, STELLAR_CO_WD, 0.9, 0.8, 0, STELLAR_NONE, STELLAR_DISRUPTION, 0},
               {STELLAR_ONE_WD, STELLAR_CO_WD, 1.2, 0.6, 0, STELLAR_NS, STELLAR_ELECTRON_CAPTURE, 1.26},
               {STELLAR_HE_WD, STELLAR_HE_WD, 0.3, 0.3, 0, STELLAR_NONE, STELLAR_DISRUPTION, 0},
               {STELLAR_NS, STELLAR_MS, 1.4, 1, 0.5, STELLAR_NS, -1, 1.9},
               {STELLAR_NS, STELLAR_MS, 1.4, 1, 0, STELLAR_NS, -1, 1.4},
               {STELLAR_NS, STELLAR_MS, 1.4, 3, 0.5, STELLAR_BH, STELLAR_CHANGE, 2.9},
               {STELLAR_BH, STELLAR_GB, 10, 1, 0.25, STELLAR_BH, -1, 10.25},
               {STELLAR_BH, STELLAR_CO_WD, 10, 0.6, 0.25, STELLAR_BH, -1, 10.6}, /* dwarfs are swallowed whole */
               {STELLAR_NS, STELLAR_NS, 1.4, 1.4, 0, STELLAR_BH, STELLAR_CHANGE, 2.8},
               {STELLAR_BH, STELLAR_NS, 10, 1.4, 0, STELLAR_BH, -1, 11.4}};
    struct stellar_model *model = stars_model('A', 0.02, "");
    for (size_t k = 0; k < sizeof ROW / sizeof ROW[0]; k++) {
        struct stellar_star a = star_of(model, ROW[k].a), b = star_of(model, ROW[k].b), product;
        struct stellar_events events;
        a.mass = a.mass_track = a.core_mass = ROW[k].mass_a;
        if (b.type != STELLAR_GB) b.mass = b.mass_track = ROW[k].mass_b;
        if (b.type >= STELLAR_HE_WD) b.core_mass = b.mass;
        if (b.type == STELLAR_MS) b.age_myr = 0;
        if (a.type == STELLAR_CO_WD) a.co_core_mass = a.mass;
        if (b.type == STELLAR_CO_WD) b.co_core_mass = b.mass;
        const double mass = ROW[k].mass + (b.type == STELLAR_GB ? ROW[k].kept * (b.mass - ROW[k].mass_b) : 0);
        const struct stellar_view view = merge(model, b, a, ROW[k].kept, &product, &events);
        if (view.type != ROW[k].type || fabs(view.mass - mass) > 1e-12)
            fail_msg("row %zu: type %d of %g Msun", k, view.type, view.mass);
        assert_int_equal(events.n, ROW[k].kind >= 0);
        if (events.n) assert_int_equal(events.event[0].kind, ROW[k].kind);
    }
    stellar_free(model);
}

/* A star of another metallicity is as far in its phase; what cannot be is refused, and changes nothing. */
static void others(void **state)
{
    (void)state;
    struct stellar_model *model = stars_model('A', 0.02, ""), *poor = stars_model('A', 0.001, "");
    struct stellar_star a = star_of(model, STELLAR_MS_LOW), giant, product;
    struct stellar_view view;
    struct nbc_error err = {0};
    assert_int_equal(stellar_birth(poor, 2, 5, 0, &giant, &err), NBC_OK);
    giant = stand(poor, giant, 100);
    assert_int_equal(giant.type, STELLAR_CHEB);
    assert_int_equal(stellar_merge(model, &a, poor, &giant, 100, 0, &product, &view, NULL, &err), NBC_OK);
    assert_true(product.z == 0.02 && product.name == a.name && view.type == STELLAR_CHEB);
    const struct stellar_star before = product;
    assert_int_equal(stellar_merge(model, &a, model, &a, 100, 1.5, &product, NULL, NULL, &err), NBC_BAD_ARGUMENT);
    assert_int_equal(stellar_merge(model, &a, model, &a, 1, 1, &product, NULL, NULL, &err), NBC_BAD_ARGUMENT);
    assert_int_equal(stellar_merge(model, &a, model, &giant, 100, 1, &product, NULL, NULL, &err), NBC_BAD_ARGUMENT);
    assert_memory_equal(&product, &before, sizeof before);
    struct stellar_star nothing = {.type = STELLAR_NONE, .z = 0.02};
    assert_int_equal(stellar_merge(model, &nothing, model, &a, 100, 1, &product, &view, NULL, &err), NBC_OK);
    assert_true(view.mass == a.mass && view.type == a.type && product.age_myr == a.age_myr);
    stellar_free(model);
    stellar_free(poor);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_pairs), cmocka_unit_test(main_sequence),
                                       cmocka_unit_test(giants),    cmocka_unit_test(helium_stars),
                                       cmocka_unit_test(remnants),  cmocka_unit_test(others)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
