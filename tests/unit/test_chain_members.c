/* Members of a chain that come, go, collide and merge, and the method that follows from their masses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "common/nbc.h"
#include "tests/support/fewbody.h"

static const double REST[3] = {0};

/* The total energy of a system with bodies outside. */
static double total_energy(int n, const struct chain_body body[])
{
    double e = 0;
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < 3; k++) e += 0.5 * body[i].mass * body[i].v[k] * body[i].v[k];
        for (int j = 0; j < i; j++)
            e -= body[i].mass * body[j].mass /
                 sqrt(pow(body[i].x[0] - body[j].x[0], 2) + pow(body[i].x[1] - body[j].x[1], 2) +
                      pow(body[i].x[2] - body[j].x[2], 2));
    }
    return e;
}

static void absorb_and_emit(void **state)
{
    struct chain_body body[5], out[5], gone[2];
    struct nbc_error err = {0};
    fewbody_triple(body);
    struct chain c = fewbody_start(*state, 1e-14, 3, body);
    fewbody_advance(&c, 4, NULL, NULL);
    chain_bodies(&c, body);
    fewbody_pair(body + 3, 20, (double[3]){100, 0, 9}, (double[3]){0, 0, -0.5});
    assert_int_equal(chain_absorb(&c, 2, body + 3, &err), NBC_OK);
    assert_int_equal(c.n, 5);
    assert_true(c.t == 4);
    chain_bodies(&c, out);
    assert_true(fewbody_distance(5, out, body) < 1e-12);
    /* Internal energy: that of all bodies less the motion of their centre. */
    double x[3], v[3], moving = 0;
    chain_centre(&c, x, v);
    for (int k = 0; k < 3; k++) moving += 0.5 * 6 * v[k] * v[k];
    assert_true(fabs(chain_energy(&c) + moving - total_energy(5, body)) < 1e-12);
    fewbody_advance(&c, 8, NULL, NULL);
    assert_true(fabs(chain_energy(&c) - chain_energy_booked(&c)) < 1e-12 * fabs(chain_energy(&c)));

    chain_bodies(&c, body);
    assert_int_equal(chain_emit(&c, 2, (int64_t[2]){20, 12}, gone, &err), NBC_OK);
    assert_int_equal(c.n, 3);
    assert_true(gone[0].id == 20 && gone[1].id == 12);
    assert_true(fewbody_distance(1, gone, body + 3) < 1e-12 && fewbody_distance(1, gone + 1, body + 2) < 1e-12);
    chain_bodies(&c, out);
    assert_true(out[0].id == 10 && out[1].id == 11 && out[2].id == 21);
    assert_true(fewbody_distance(2, out, body) < 1e-12 && fewbody_distance(1, out + 2, body + 4) < 1e-12);

    const struct chain before = c;
    assert_int_equal(chain_emit(&c, 2, (int64_t[2]){10, 11}, gone, &err), NBC_BAD_ARGUMENT);
    assert_int_equal(chain_emit(&c, 1, (int64_t[1]){99}, gone, &err), NBC_BAD_ARGUMENT);
    assert_int_equal(chain_absorb(&c, 1, out, &err), NBC_BAD_ARGUMENT);
    assert_int_equal(chain_absorb(&c, CHAIN_MAX, body, &err), NBC_BAD_ARGUMENT);
    assert_memory_equal(&before, &c, sizeof c);
}

/* Three bodies of which two collide at the pericentre of their orbit: 0.5, at half a period. */
static void collision_and_merger(void **state)
{
    struct chain_body body[3];
    struct chain_event event;
    struct nbc_error err = {0};
    fewbody_pair(body, 1, REST, REST);
    body[2] = fewbody(3, 0.5, (double[3]){0, 40, 0}, (double[3]){0.1, 0, 0});
    const double half = 3.14159265358979324 * sqrt(0.5);
    body[0].radius = 0.3;
    body[1].radius = 0.15;
    struct chain c = fewbody_start(*state, 1e-14, 3, body);
    /* The sum of the radii is below the pericentre distance: nothing happens. */
    assert_int_equal(fewbody_advance(&c, 1.5 * half, NULL, &event), CHAIN_NONE);
    body[1].radius = 0.25;
    c = fewbody_start(*state, 1e-14, 3, body);
    assert_int_equal(fewbody_advance(&c, 10, NULL, &event), CHAIN_COLLISION);
    print_message("%s: collision at t = %.9f, half a period is %.9f, distance %.9f\n", (char *)*state, c.t, half,
                  event.r);
    /* The third body's tide: 0.5/2 (1/40)^3 = 4e-6. */
    assert_true(fabs(c.t - half) < 1e-4 && fabs(event.r - 0.5) < 1e-4);
    assert_true(event.id[0] + event.id[1] == 3);
    double r, t;
    chain_closest(&c, 0, 1, &r, &t);
    assert_true(r == event.r && t == c.t);
    /* It may go on as if nothing had happened, to the next pericentre. */
    struct chain on = c;
    assert_int_equal(fewbody_advance(&on, 10, NULL, &event), CHAIN_COLLISION);
    assert_true(fabs(on.t - 3 * half) < 1e-3);

    double momentum[2][3] = {{0}}, lost, before = chain_energy(&c);
    chain_bodies(&c, body);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) momentum[0][k] += body[i].mass * body[i].v[k];
    /* A pair's energy -m1 m2/(2a), and the tide. */
    assert_int_equal(chain_merge(&c, 1, 2, 0.5, &lost, &err), NBC_OK);
    assert_true(fabs(lost + 0.5) < 1e-4);
    assert_true(fabs(before - lost - chain_energy(&c)) < 1e-14);
    assert_int_equal(c.n, 2);
    chain_bodies(&c, body);
    assert_true(body[0].id == 1 && body[0].mass == 2 && body[0].radius == 0.5 && body[1].id == 3);
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 3; k++) momentum[1][k] += body[i].mass * body[i].v[k];
    for (int k = 0; k < 3; k++) assert_true(fabs(momentum[1][k] - momentum[0][k]) < 1e-14);
    fewbody_advance(&c, 10, NULL, NULL);
    assert_int_equal(chain_merge(&c, 1, 3, 0.5, &lost, &err), NBC_BAD_ARGUMENT);
    assert_int_equal(chain_merge(&c, 1, 2, 0.5, &lost, &err), NBC_BAD_ARGUMENT);
}

/* "auto" is "ar" while the masses differ by more than 100, and again "chain" when the light one has gone. */
static void method_by_masses(void **state)
{
    struct chain_body body[4], gone[1];
    struct nbc_error err = {0};
    (void)state;
    fewbody_triple(body);
    struct chain c = fewbody_start("auto", 1e-14, 3, body);
    assert_int_equal(c.method, CHAIN_METHOD_KS);
    body[3] = fewbody(13, 1e-3, (double[3]){110, 3, 0}, (double[3]){0, 0.2, 0.1});
    assert_int_equal(chain_absorb(&c, 1, body + 3, &err), NBC_OK);
    assert_int_equal(c.method, CHAIN_METHOD_AR);
    const double energy = chain_energy_booked(&c);
    fewbody_advance(&c, 5, NULL, NULL);
    assert_true(fabs(chain_energy(&c) / energy - 1) < 1e-12);
    assert_int_equal(chain_emit(&c, 1, (int64_t[1]){13}, gone, &err), NBC_OK);
    assert_int_equal(c.method, CHAIN_METHOD_KS);
    assert_int_equal(c.options.method, CHAIN_METHOD_AUTO);
    fewbody_advance(&c, 10, NULL, NULL);
    assert_true(fabs(chain_energy(&c) - chain_energy_booked(&c)) < 1e-12);
    fewbody_start("ar", 1e-14, 3, body);
    c = fewbody_start("chain", 1e-14, 4, body);
    assert_int_equal(c.method, CHAIN_METHOD_KS);
}

static void escaper_is_found(void **state)
{
    struct chain_body body[4];
    struct chain_group group;
    fewbody_pair(body, 1, REST, REST);
    fewbody_pair(body + 2, 3, (double[3]){0, 8, 0}, (double[3]){0, 3, 0});
    struct chain c = fewbody_start(*state, 1e-14, 4, body);
    assert_int_equal(chain_escaper(&c, 20, HUGE_VAL, &group), 0);
    fewbody_advance(&c, 10, NULL, NULL);
    assert_int_equal(chain_escaper(&c, 20, HUGE_VAL, &group), 2);
    assert_true(group.energy > 0 && group.speed > 0 && group.distance > 20);
    assert_true((group.id[0] - 1) / 2 == (group.id[1] - 1) / 2);
    /* Bound, but beyond the distance that counts. */
    fewbody_pair(body, 1, REST, REST);
    body[2] = fewbody(3, 0.5, (double[3]){0, 30, 0}, (double[3]){0, 0.2, 0});
    c = fewbody_start(*state, 1e-14, 3, body);
    assert_int_equal(chain_escaper(&c, 10, HUGE_VAL, &group), 0);
    assert_int_equal(chain_escaper(&c, 10, 25, &group), 1);
    assert_true(group.id[0] == 3 && group.energy < 0);
}

/* Of flying stars only some go, those at the ends, whatever the longest link is. */
static void few_are_cut_off(void **state)
{
    struct chain_body body[6];
    struct chain_group group;
    static const double at[6] = {-9, -5, -4, 4, 5, 10}; /* links 4, 1, 8, 1, 5 */
    for (int i = 0; i < 6; i++) body[i] = fewbody(i + 1, 1, (double[3]){at[i], 0, 0}, (double[3]){at[i], 0.1 * i, 0});
    const struct chain c = fewbody_start(*state, 1e-14, 6, body);
    assert_int_equal(chain_escaper(&c, 0, 0, &group), 3);
    assert_int_equal(chain_escaper_of(&c, 3, 0, 0, &group), 3);
    assert_int_equal(chain_escaper_of(&c, 2, 0, 0, &group), 1);
    assert_true(group.id[0] == 6);
    assert_int_equal(chain_escaper_of(&c, 1, 0, 0, &group), 1);
    assert_true(group.id[0] == 6);
}

/* A body at `centre` plus `aside`, with what rounding takes from the sum. */
static struct chain_body put_aside(int64_t id, const double centre[3], const double aside[3], const double v[3])
{
    struct chain_body b = fewbody(id, 1, centre, v);
    for (int k = 0; k < 3; k++) {
        b.x[k] = centre[k] + aside[k];
        b.x_low[k] = aside[k] - (b.x[k] - centre[k]);
    }
    return b;
}

static double error_of(const struct chain_body *a, const struct chain_body *b, const double should[3])
{
    double e2 = 0, r2 = 0;
    for (int k = 0; k < 3; k++) {
        const double is = (b->x[k] - a->x[k]) + (b->x_low[k] - a->x_low[k]);
        e2 += (is - should[k]) * (is - should[k]);
        r2 += should[k] * should[k];
    }
    return sqrt(e2 / r2);
}

/* Two stars 1e-7 apart in a system of size 5 have seven digits more between them than in their places. KS variables and
 * sums leave some last bits of the distance, 8 at most; the places alone leave 1e-9 of it. */
static void close_pair_keeps_its_vector(void **state)
{
    static const double CENTRE[3] = {3.1, -2.7, 2.3}, NEAR[3] = {0.3e-7, 0.7e-7, -0.6e-7}, FEW_BITS = 8 * 0x1p-52;
    struct chain_body body[7], out[7], gone[2];
    struct nbc_error err = {0};
    double lost;
    body[0] = fewbody(1, 1, (double[3]){-2, 1, 0.3}, (double[3]){0.1, 0, 0});
    body[1] = fewbody(2, 1, (double[3]){0.1, 0.2, -2}, (double[3]){0, 0.3, 0});
    body[2] = put_aside(3, CENTRE, REST, (double[3]){1500, -700, 0});
    body[3] = put_aside(4, CENTRE, NEAR, (double[3]){-1500, 700, 0});
    body[4] = fewbody(5, 1, (double[3]){-1.5, 1.1, 0.2}, (double[3]){0, 0, 0.2});
    struct chain c = fewbody_start(*state, 1e-14, 5, body);
    chain_bodies(&c, out);
    assert_true(error_of(out + 2, out + 3, NEAR) < FEW_BITS);

    body[5] = fewbody(6, 2, (double[3]){0.7, 3, 1}, REST);
    assert_int_equal(chain_absorb(&c, 1, body + 5, &err), NBC_OK);
    chain_bodies(&c, out);
    assert_true(error_of(out + 2, out + 3, NEAR) < FEW_BITS);
    assert_int_equal(chain_merge(&c, 1, 5, 0, &lost, &err), NBC_OK);
    chain_bodies(&c, out);
    assert_true(error_of(out + 2, out + 3, NEAR) < FEW_BITS);
    assert_int_equal(chain_emit(&c, 1, (int64_t[1]){2}, gone, &err), NBC_OK);
    chain_bodies(&c, out);
    assert_true(error_of(out + 1, out + 2, NEAR) < FEW_BITS);
    assert_int_equal(chain_emit(&c, 2, (int64_t[2]){3, 4}, gone, &err), NBC_OK);
    assert_true(error_of(gone, gone + 1, NEAR) < FEW_BITS);
}

#define BOTH(test) cmocka_unit_test_prestate(test, "chain"), cmocka_unit_test_prestate(test, "ar")

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(absorb_and_emit),  BOTH(collision_and_merger), cmocka_unit_test(method_by_masses),
        BOTH(escaper_is_found), BOTH(few_are_cut_off),      BOTH(close_pair_keeps_its_vector),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
