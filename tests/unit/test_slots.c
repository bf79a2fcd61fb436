/* Tables of pairs grow as far as pairs are there, and not further; without memory the run stays as it was. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "common/nbc.h"
#include "nbody6/input/config.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/event.h"
#include "nbody6/state/members.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "tests/support/cluster.h"
#include "tests/support/cluster_check.h"
#include "tests/support/failing_alloc.h"

static void place_orbit(const double m[2], double a, double e, double tilt, const double x[3], const double v[3],
                        double x_out[2][3], double v_out[2][3])
{
    const double total = m[0] + m[1], r = a * (1 + e), speed = sqrt(total * (1 - e) / r);
    for (int i = 0; i < 2; i++) {
        const double share = i ? m[0] / total : -m[1] / total;
        for (int k = 0; k < 3; k++) {
            x_out[i][k] = x[k] + share * (k == 0 ? r : 0);
            v_out[i][k] = v[k] + share * (k == 0 ? 0 : speed * (k == 1 ? cos(tilt) : sin(tilt)));
        }
    }
}

/* Systems of two, three or four stars in the places of a Plummer model's stars, side by side in the list or not: star k
 * of system s is number s + k n or s n + k. Inner axes of 1e-5, outer ones of 3e-4: hard at these densities. */
static struct cluster with_systems(int64_t systems, int stars, int side_by_side)
{
    struct cluster centres = cluster_plummer(systems, 7), c = cluster_alloc(systems * stars);
    for (int64_t s = 0; s < systems; s++) {
        const double m = centres.mass[s] / stars, one[2] = {m, m}, outer[2] = {2 * m, (stars - 2) * m};
        double y[2][3], w[2][3], z[2][2][3], u[2][2][3];
        memcpy(y[0], centres.x[s], sizeof y[0]);
        memcpy(w[0], centres.v[s], sizeof w[0]);
        if (stars > 2) place_orbit(outer, 3e-4, 0.1, 0.1 * (double)s, centres.x[s], centres.v[s], y, w);
        for (int p = 0; 2 * p + 1 < stars; p++)
            place_orbit(one, 1e-5, 0.2, 0.1 * (double)s + 0.3 * (p + 1), y[p], w[p], z[p], u[p]);
        if (stars == 3) {
            memcpy(z[1][0], y[1], sizeof y[1]);
            memcpy(u[1][0], w[1], sizeof w[1]);
        }
        for (int k = 0; k < stars; k++) {
            const int64_t i = side_by_side ? s * stars + k : s + k * systems;
            c.mass[i] = m;
            memcpy(c.x[i], z[k / 2][k % 2], sizeof c.x[i]);
            memcpy(c.v[i], u[k / 2][k % 2], sizeof c.v[i]);
        }
    }
    cluster_free(&centres);
    return c;
}

static int64_t hierarchies(const nb6_t *sim)
{
    int64_t n = 0;
    for (int64_t slot = 0; slot < sim->subsystems.n_slot; slot++)
        n += sim->subsystems.system[slot].member[0] >= 0 && nb6_is_hierarchy(sim, slot);
    return n;
}

/* Room for half as many slots again, and for a few. */
static void assert_room(const nb6_t *sim)
{
    assert_true(sim->subsystems.n_slot <= sim->subsystems.capacity);
    assert_true(sim->subsystems.capacity <=
                nb6_subsystems_room(sim->subsystems.n_slot + sim->subsystems.n_slot / 2 + 2));
}

/* One inner pair in each system of two or three stars, two in those of four; all are frozen soon after the start. */
static void grow_with(int64_t systems, int stars, int side_by_side)
{
    struct cluster c = with_systems(systems, stars, side_by_side);
    struct nb6_config config;
    cluster_config(&config);
    config.pair.adjust = 1;
    nb6_t *sim = cluster_start(&config, &c, NULL);
    const int64_t inner = systems * (stars / 2), outer = stars > 2 ? systems : 0;
    const double before = cluster_energy_now(sim).total;
    assert_int_equal(sim->subsystems.count, inner);
    assert_room(sim);
    cluster_evolve(sim, 0);
    cluster_assert_consistent(sim);
    cluster_evolve(sim, 0x1p-7);
    cluster_assert_consistent(sim);
    assert_room(sim);
    print_message("%d systems of %d stars: %d pairs at t = 0, %d slots later, room for %d, %d hierarchies, dE/E %.1e\n",
                  (int)systems, stars, (int)inner, (int)sim->subsystems.n_slot, (int)sim->subsystems.capacity,
                  (int)hierarchies(sim), cluster_energy_now(sim).total / before - 1);
    assert_int_equal(sim->subsystems.n_slot, inner + outer);
    assert_int_equal(hierarchies(sim), outer);
    nb6_t *again = cluster_through_checkpoint(sim);
    cluster_evolve(again, 0x1p-6);
    cluster_evolve(sim, 0x1p-6);
    cluster_assert_same(sim, again);
    nb6_free(again);
    nb6_free(sim);
    cluster_free(&c);
}

static void binaries(void **state)
{
    (void)state;
    grow_with(200, 2, 1);
    grow_with(200, 2, 0);
}

static void triples(void **state)
{
    (void)state;
    grow_with(40, 3, 0);
}

static void quadruples(void **state)
{
    (void)state;
    grow_with(40, 4, 0);
}

/* Stars that are none have no slots. */
static void single_stars(void **state)
{
    (void)state;
    enum { STARS = 200000 };
    struct nb6_config config;
    struct nbc_error err = {0};
    nb6_t *sim;
    cluster_config(&config);
    assert_int_equal(nb6_create(&sim, &config, &err), NBC_OK);
    assert_int_equal(nb6_sim_open(sim, STARS, 0, &err), NBC_OK);
    assert_true(sim->subsystems.capacity < 64);
    nb6_free(sim);
    /* and none after a start without close pairs */
    struct cluster c = cluster_plummer(5000, 1);
    sim = cluster_start(&config, &c, NULL);
    assert_true(sim->subsystems.count < 8 && sim->subsystems.capacity < 64);
    nb6_free(sim);
    cluster_free(&c);
}

/* Every allocation of nb6_sim_reserve fails once. The failed call leaves no trace in the run. */
static void without_memory(void **state)
{
    (void)state;
    if (!can_fail_alloc()) skip();
    struct cluster c = with_systems(60, 2, 1);
    struct nb6_config config;
    struct nbc_error err = {0};
    cluster_config(&config);
    nb6_t *sim = cluster_start(&config, &c, NULL), *never = cluster_start(&config, &c, NULL);
    cluster_evolve(sim, 0x1p-7);
    cluster_evolve(never, 0x1p-7);
    const int64_t many = 2000, capacity = sim->subsystems.capacity;
    int failures = 0, status = NBC_NO_MEMORY;
    for (; status && failures < 1000; failures += status != NBC_OK) {
        fail_alloc(failures);
        status = nb6_sim_reserve(sim, many, &err);
        fail_alloc(-1);
        if (!status) break;
        assert_int_equal(status, NBC_NO_MEMORY);
        assert_true(strlen(err.text) > 0);
        assert_int_equal(sim->subsystems.capacity, capacity);
        cluster_assert_consistent(sim);
    }
    print_message("room for %d slots after %d failures: %s\n", (int)many, failures, err.text);
    assert_int_equal(status, NBC_OK);
    assert_true(failures > 12 && sim->subsystems.capacity >= many);
    cluster_assert_consistent(sim);
    cluster_evolve(sim, 0x1p-6);
    cluster_evolve(never, 0x1p-6);
    cluster_assert_same(sim, never);
    nb6_free(sim);
    nb6_free(never);
    cluster_free(&c);
}

/* The same when only a part of the tables grew: the run goes on as if nothing had been asked for. */
static void after_a_failure(void **state)
{
    (void)state;
    if (!can_fail_alloc()) skip();
    struct cluster c = with_systems(20, 3, 0);
    struct nb6_config config;
    cluster_config(&config);
    nb6_t *never = cluster_start(&config, &c, NULL);
    cluster_evolve(never, 0x1p-7);
    for (long k = 0; k < 20; k += 3) {
        struct nbc_error err = {0};
        nb6_t *sim = cluster_start(&config, &c, NULL);
        fail_alloc(k);
        const int status = nb6_sim_reserve(sim, sim->subsystems.capacity + 1, &err);
        fail_alloc(-1);
        if (status) assert_int_equal(status, NBC_NO_MEMORY);
        cluster_evolve(sim, 0x1p-7);
        cluster_assert_consistent(sim);
        cluster_assert_same(sim, never);
        nb6_free(sim);
    }
    nb6_free(never);
    cluster_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(binaries),     cmocka_unit_test(triples),        cmocka_unit_test(quadruples),
        cmocka_unit_test(single_stars), cmocka_unit_test(without_memory), cmocka_unit_test(after_a_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
