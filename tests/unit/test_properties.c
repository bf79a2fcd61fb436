/* Properties of stars (input/properties.h): by names in any order, copied, carried through changes of stars and
 * checkpoints, and radii that act. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/nbc.h"
#include "nbody6/input/properties.h"
#include "nbody6/input/units.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/sim.h"
#include "tests/support/cluster.h"

enum { STARS = 40 };

static struct nb6_properties *of_stars(int64_t n, const char *unit)
{
    int64_t name[STARS] = {0};
    double *type, *radius;
    struct nb6_properties *p;
    struct nb6_property columns[2] = {{.name = "StellarType", .unit = "1"}, {.name = ""}};
    strcpy(columns[1].name, NB6_STELLAR_RADIUS);
    strcpy(columns[1].unit, unit);
    for (int64_t i = 0; i < n; i++) name[i] = 1 + (7 * i) % n; /* n is no multiple of 7 */
    assert_int_equal(nb6_properties_create(n, name, &p, NULL), NBC_OK);
    assert_int_equal(nb6_properties_add(p, &columns[0], &type, NULL), NBC_OK);
    assert_int_equal(nb6_properties_add(p, &columns[1], &radius, NULL), NBC_OK);
    for (int64_t i = 0; i < n; i++) {
        type[i] = (double)(10 * name[i]);
        radius[i] = (double)name[i];
    }
    return p;
}

static void found_by_name(void **state)
{
    (void)state;
    struct nb6_properties *p = of_stars(STARS, "Rsun"), *copy, *none = p;
    for (int64_t near = -2; near < STARS + 2; near += 3)
        for (int64_t name = -1; name <= STARS + 3; name++) {
            const int64_t place = nb6_properties_place(p, name, near);
            if (name < 1 || name > STARS)
                assert_int_equal(place, -1);
            else
                assert_int_equal(p->name[place], name);
        }
    assert_int_equal(nb6_properties_copy(p, &copy, NULL), NBC_OK);
    nb6_properties_free(p);
    assert_int_equal(copy->count, 2);
    assert_true(copy->value[0][nb6_properties_place(copy, 9, -1)] == 90);
    nb6_properties_free(copy);
    assert_int_equal(nb6_properties_copy(NULL, &none, NULL), NBC_OK);
    assert_null(none);
    assert_int_equal(nb6_properties_find(NULL, "StellarType"), -1);
    assert_false(nb6_radii_act(NULL));
}

static void names_of_columns(void **state)
{
    (void)state;
    struct nbc_error err = {0};
    struct nb6_properties *p = of_stars(3, "length");
    double *value;
    assert_int_equal(nb6_properties_add(p, &(struct nb6_property){.name = "a/b", .unit = ""}, &value, &err), NBC_OK);
    assert_int_equal(nb6_properties_find(p, "a_b"), 2);
    assert_true(isnan(value[0]) && isnan(value[2]));
    assert_int_equal(nb6_properties_add(p, &(struct nb6_property){.name = "a_b", .unit = ""}, &value, &err),
                     NBC_BAD_INPUT);
    assert_non_null(strstr(err.text, "a_b"));
    assert_int_equal(nb6_properties_add(p, &(struct nb6_property){.name = "Masses", .unit = ""}, &value, &err), NBC_OK);
    assert_int_equal(nb6_properties_find(p, "Masses_"), 3);
    for (int k = p->count; k < NB6_PROPERTIES_MAX; k++) {
        struct nb6_property column = {.unit = ""};
        snprintf(column.name, sizeof column.name, "c%d", k);
        assert_int_equal(nb6_properties_add(p, &column, &value, &err), NBC_OK);
    }
    assert_int_equal(nb6_properties_add(p, &(struct nb6_property){.name = "one more", .unit = ""}, &value, &err),
                     NBC_BAD_INPUT);
    assert_int_equal(p->count, NB6_PROPERTIES_MAX);
    nb6_properties_free(p);
}

static nb6_t *start(int radii_act)
{
    struct nbc_error err = {0};
    struct nb6_config config;
    nb6_t *sim;
    int64_t name[STARS];
    cluster_config(&config);
    config.rbar_pc = 1e-6; /* solar radii count */
    struct cluster c = cluster_plummer(STARS, 3);
    for (int64_t i = 0; i < STARS; i++) name[i] = STARS - i;
    assert_int_equal(nb6_create(&sim, &config, &err), NBC_OK);
    sim->run.properties = of_stars(STARS, "Rsun");
    sim->run.properties->radii_act = radii_act;
    assert_int_equal(nb6_set_bodies(sim, STARS, name, c.mass, (const double(*)[3])c.x, (const double(*)[3])c.v, &err),
                     NBC_OK);
    cluster_free(&c);
    return sim;
}

static void radii_act(void **state)
{
    (void)state;
    nb6_t *with = start(1), *without = start(0);
    for (int64_t i = 0; i < STARS; i++) {
        assert_true(with->star[i].radius == (double)with->star[i].name * (NB6_RSUN_PC / 1e-6));
        assert_true(without->star[i].radius == 0);
    }
    nb6_free(with);
    nb6_free(without);
}

/* Stars come and go; added stars have no properties, and others keep theirs, also in a checkpoint. */
static void stay_with_names(void **state)
{
    (void)state;
    struct nbc_error err = {0};
    char path[] = "/tmp/nb6_properties_XXXXXX";
    nb6_t *sim = start(0), *again;
    const int64_t gone[2] = {5, 17}, name = 1000;
    const double mass = 0.01, x[1][3] = {{3, 0, 0}}, v[1][3] = {{0, 0.1, 0}};
    assert_int_equal(nb6_evolve(sim, 0.125, &err), NBC_OK);
    assert_int_equal(nb6_remove_bodies(sim, 2, gone, &err), NBC_OK);
    assert_int_equal(nb6_add_bodies(sim, 1, &name, &mass, x, v, &err), NBC_OK);
    assert_int_equal(nb6_properties_place(sim->run.properties, 1000, -1), -1);
    const int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    assert_int_equal(nb6_checkpoint(sim, path, &err), NBC_OK);
    assert_int_equal(nb6_restore(&again, path, &err), NBC_OK);
    unlink(path);
    assert_int_equal(again->run.properties->count, 2);
    for (int64_t i = 0; i < again->n; i++) {
        const int64_t place = nb6_properties_place(again->run.properties, again->star[i].name, i);
        if (again->star[i].name == 1000)
            assert_int_equal(place, -1);
        else
            assert_true(again->run.properties->value[0][place] == (double)(10 * again->star[i].name));
    }
    nb6_free(sim);
    nb6_free(again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(found_by_name),
        cmocka_unit_test(names_of_columns),
        cmocka_unit_test(radii_act),
        cmocka_unit_test(stay_with_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
