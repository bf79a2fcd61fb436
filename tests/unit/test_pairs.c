/* Regularized pairs in the driver: bookkeeping of lists and members, the same bits for any number of threads and across
 * a checkpoint, collisions of pairs, pairs that escape, primordial binaries. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "common/nbc.h"
#include "gpuirr/gpuirr.h"
#include "nbody6/analysis/frame.h"
#include "nbody6/input/config.h"
#include "nbody6/model/model.h"
#include "nbody6/run/frame_make.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/event.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "regularization/ks.h"
#include "tests/support/cluster.h"
#include "tests/support/cluster_check.h"
#include "tests/support/test_size.h"

/* ---- the same bits */

static void any_number_of_threads(void **state)
{
    (void)state;
    struct nb6_config config;
    cluster_config_with_binaries(&config, 120, 80); /* enough perturbed pairs for the parallel branch */
    omp_set_num_threads(1);
    nb6_t *one = cluster_start_model(&config, NULL);
    cluster_evolve(one, 0.25);
    assert_true(one->run.counters.ks_steps > 1000);
    for (int threads = 2; threads <= test_size(4, 2); threads++) {
        omp_set_num_threads(threads);
        nb6_t *many = cluster_start_model(&config, NULL);
        cluster_evolve(many, 0.25);
        cluster_assert_same(one, many);
        nb6_free(many);
    }
    omp_set_num_threads(1);
    nb6_free(one);
}

/* Stopped at odd times, looked at, written and read back with pairs at work. */
static void across_a_checkpoint(void **state)
{
    (void)state;
    struct nb6_config config;
    cluster_config_with_binaries(&config, 60, 40);
    const double t_end = 0.25 * test_size(2, 1);
    nb6_t *whole = cluster_start_model(&config, NULL), *parts = cluster_start_model(&config, NULL);
    cluster_evolve(whole, t_end);
    for (double t = 0.11; t < t_end; t += 0.13) {
        int64_t perturbed = 0;
        cluster_evolve(parts, t);
        cluster_energy_now(parts);
        for (int64_t slot = 0; slot < parts->subsystems.n_slot; slot++) perturbed += parts->subsystems.pert[slot].n > 0;
        assert_true(perturbed > 0);
        nb6_t *resumed = cluster_through_checkpoint(parts);
        nb6_free(parts);
        parts = resumed;
        cluster_assert_consistent(parts);
    }
    cluster_evolve(parts, t_end);
    cluster_assert_same(whole, parts);
    nb6_free(whole);
    nb6_free(parts);
}

/* ---- formation and termination */

static void lists_and_members(void **state)
{
    (void)state;
    struct nb6_config config;
    struct cluster_record record;
    struct cluster c = cluster_plummer(200, 1);
    cluster_config(&config);
    nb6_t *sim = cluster_start(&config, &c, &record);
    uint64_t before = 0;
    int changes = 0;
    for (int k = 1; k <= test_size(640, 160); k++) {
        cluster_evolve(sim, k / 128.0);
        uint64_t now = sim->run.counters.pairs_formed + sim->run.counters.pairs_ended;
        if (now != before) cluster_assert_consistent(sim);
        changes += now != before;
        before = now;
    }
    assert_true(changes > test_size(20, 4));
    /* every event of an end names a pair that was formed, with the same stars */
    for (int64_t k = 0; k < record.n_events; k++) {
        const struct nb6_event *end = &record.event[k];
        if (end->kind != NB6_EVENT_PAIR_ENDED) continue;
        int64_t begin = k - 1;
        while (begin >= 0 &&
               (record.event[begin].kind != NB6_EVENT_PAIR_FORMED || record.event[begin].name != end->name))
            begin--;
        assert_true(begin >= 0);
        assert_memory_equal(record.event[begin].pair.name, end->pair.name, sizeof end->pair.name);
        assert_true(record.event[begin].t == end->pair.t_formed);
    }
    nb6_free(sim);
    cluster_free(&c);
    cluster_record_free(&record);
}

/* Acceleration of a body, star or centre of mass, by all stars that are not in it. */
static void direct_force(const nb6_t *sim, const struct nb6_frame *stars, int32_t body, double acc[3])
{
    const int32_t single[2] = {body, body},
                  *part = body < sim->n ? single : sim->subsystems.system[body - sim->n].member;
    double mass = 0;
    memset(acc, 0, 3 * sizeof *acc);
    for (int m = 0; m < 2; m++) {
        int32_t i = part[m];
        mass += stars->mass[i];
        for (int32_t j = 0; j < stars->n; j++) {
            double r2 = 0;
            if (j == part[0] || j == part[1]) continue;
            for (int d = 0; d < 3; d++) r2 += pow(stars->x[j][d] - stars->x[i][d], 2);
            for (int d = 0; d < 3; d++)
                acc[d] += stars->mass[i] * stars->mass[j] * (stars->x[j][d] - stars->x[i][d]) / (r2 * sqrt(r2));
        }
    }
    for (int d = 0; d < 3; d++) acc[d] /= mass;
}

static double largest_force_error(nb6_t *sim)
{
    struct nb6_frame stars, bodies;
    struct nbc_error err = {0};
    double worst = 0;
    assert_int_equal(nb6_frame_make(sim, sim->ti_now, NB6_FRAME_BODIES, &bodies, &err), NBC_OK);
    assert_int_equal(nb6_frame_make(sim, sim->ti_now, 0, &stars, &err), NBC_OK);
    for (int64_t m = 0; m < bodies.n; m++) {
        double acc[3], d2 = 0, a2 = 0;
        direct_force(sim, &stars, sim->subsystems.source[m], acc);
        for (int d = 0; d < 3; d++) {
            d2 += pow(acc[d] - bodies.acc[m][d], 2);
            a2 += acc[d] * acc[d];
        }
        worst = fmax(worst, sqrt(d2 / a2));
    }
    nb6_frame_free(&stars);
    nb6_frame_free(&bodies);
    return worst;
}

/* When a pair forms, the polynomials of all bodies continue with the same force: the mass of a star that moves between
 * neighbour list and regular force would else show as a few percent. */
static void no_jump_of_force(void **state)
{
    (void)state;
    TEST_SKIP_SANITIZED();
    struct nb6_config config;
    struct cluster c = cluster_plummer(200, 1);
    cluster_config(&config);
    nb6_t *sim = cluster_start(&config, &c, NULL);
    uint64_t changes = 0;
    double worst = 0;
    for (int k = 1, left = 0; k <= 24000 && changes < 60; k++) {
        cluster_evolve(sim, k / 4096.0);
        if (sim->run.counters.pairs_formed + sim->run.counters.pairs_ended != changes) left = 6;
        changes = sim->run.counters.pairs_formed + sim->run.counters.pairs_ended;
        if (left-- > 0) worst = fmax(worst, largest_force_error(sim)); /* irregular steps with the new lists as well */
    }
    print_message("largest relative error of a force after %d changes: %.2e\n", (int)changes, worst);
    assert_true(changes >= 60);
    assert_true(worst < 0.01);
    nb6_free(sim);
    cluster_free(&c);
}

/* Two hard pairs on a head-on course: the softer one ends, and the energy is kept. */
static void two_pairs_collide(void **state)
{
    (void)state;
    struct nb6_config config;
    struct cluster_record record;
    struct cluster c = cluster_alloc(4);
    const double a[2] = {0.005, 0.02};
    for (int i = 0; i < 4; i++) {
        int pair = i / 2;
        double side = i % 2 ? -0.5 : 0.5, v = sqrt(0.5 / a[pair]);
        c.mass[i] = 0.25;
        c.x[i][0] = (pair ? 0.5 : -0.5) + side * a[pair];
        c.x[i][1] = pair ? 0.01 : -0.01;
        c.v[i][0] = pair ? -0.3 : 0.3;
        c.v[i][pair ? 2 : 1] = side * v;
    }
    cluster_config(&config);
    config.binaries.wanted = 1;
    config.binaries.n = 2;
    config.pair.adjust = 0;
    config.pair.r_min = 0.1;
    config.pair.dt_min = 1e-3;
    config.integration.eta_irr = config.integration.eta_reg = 0.005;
    config.pair.systems = 0; /* or they would become a chain */
    nb6_t *sim = cluster_start(&config, &c, &record);
    assert_int_equal(sim->subsystems.count, 2);
    int64_t first = -1;
    for (int k = 1; k <= 400 && first < 0; k++) {
        cluster_evolve(sim, k / 256.0);
        for (int64_t e = 0; e < record.n_events && first < 0; e++)
            if (record.event[e].kind == NB6_EVENT_PAIR_ENDED) first = e;
    }
    assert_true(first >= 0);
    assert_int_equal(record.event[first].pair.reason, NB6_PAIR_COLLISION);
    assert_int_equal(record.event[first].pair.name[0], 3); /* the wider one */
    cluster_assert_consistent(sim);
    const struct nb6_energy now = cluster_energy_now(sim);
    double start = record.row[0].energy.total;
    assert_true(fabs(now.total / start - 1) < 1e-5); /* direct integration of three bodies begins here */
    nb6_free(sim);
    cluster_free(&c);
    cluster_record_free(&record);
}

/* ---- escape */

static void a_pair_escapes(void **state)
{
    (void)state;
    struct nb6_config config;
    struct cluster_record record;
    struct nb6_model model;
    struct nbc_error err = {0};
    cluster_config_with_binaries(&config, 100, 4);
    config.escape = NB6_ESCAPE_CUT_OFF;
    assert_int_equal(nb6_model_make(&config, &model, &err), NBC_OK);
    for (int i = 2; i < 4; i++) { /* the second pair is far away and fast */
        model.x[i][0] += 40;
        model.v[i][0] += 3;
    }
    model.x[50][1] += 40; /* and so is a single star */
    model.v[50][1] += 3;
    struct cluster c = {model.n, model.mass, model.x, model.v};
    nb6_t *sim = cluster_start(&config, &c, &record);
    cluster_evolve(sim, 0.5);
    assert_int_equal(sim->n, 104 - 3);
    assert_int_equal(sim->run.counters.escapers, 3);
    cluster_assert_consistent(sim);
    int ended = 0, stars = 0;
    for (int64_t k = 0; k < record.n_events; k++) {
        const struct nb6_event *e = &record.event[k];
        if (e->kind == NB6_EVENT_PAIR_ENDED && e->pair.reason == NB6_PAIR_ESCAPED) {
            ended++;
            assert_true(e->pair.name[0] == 3 && e->pair.name[1] == 4);
        }
        if (e->kind == NB6_EVENT_ESCAPE) stars += e->name == 3 || e->name == 4 || e->name == 51;
    }
    assert_int_equal(ended, 1);
    assert_int_equal(stars, 3);
    /* error of the cluster in this time without them; the pair took 0.1 of the energy along */
    assert_true(fabs(record.row[record.n_rows - 1].de_rel) < 1e-5);
    nb6_free(sim);
    nb6_model_free(&model);
    cluster_record_free(&record);
}

/* ---- perturbers */

/* A pair that had no neighbours at all, far from the cluster, finds the star that comes to it later. */
static void a_visitor_to_a_lonely_pair(void **state)
{
    (void)state;
    struct nb6_config config;
    struct cluster field = cluster_plummer(100, 2), c = cluster_alloc(103);
    const double row[3][7] = {
        {0.01, 30.005, 0, 0, 0, 0.5, 0}, {0.01, 29.995, 0, 0, 0, -0.5, 0}, {0.01, 33, 0.05, 0, -1, 0, 0}};
    struct cluster visit = cluster_from_rows(3, row);
    for (int64_t i = 0; i < c.n; i++) {
        const struct cluster *from = i < 3 ? &visit : &field;
        int64_t k = i < 3 ? i : i - 3;
        c.mass[i] = from->mass[k];
        memcpy(c.x[i], from->x[k], sizeof c.x[i]);
        memcpy(c.v[i], from->v[k], sizeof c.v[i]);
    }
    cluster_config(&config);
    config.binaries.wanted = 1;
    config.binaries.n = 1;
    config.integration.r_nb_init = 1;
    nb6_t *sim = cluster_start(&config, &c, NULL);
    size_t nnb = 1;
    cluster_evolve(sim, 0.125);
    assert_int_equal(sim->subsystems.count, 1);
    gpuirr_get_list(sim->irr, (size_t)sim->n, &nnb);
    assert_int_equal(nnb, 0); /* or the test would show nothing */
    cluster_evolve(sim, 3);
    assert_int_equal(sim->star[0].owner, 1);
    assert_true(nb6_subsystems_resolves(&sim->subsystems, 0, 2)); /* at 0.05, where gamma is 0.01 */
    nb6_free(sim);
    cluster_free(&c);
    cluster_free(&field);
    cluster_free(&visit);
}

/* ---- formation */

/* An undisturbed circular binary of twice RMIN is a pair, as it would be where RMIN has shrunk with the core. */
static void a_pair_wider_than_rmin(void **state)
{
    (void)state;
    struct nb6_config config;
    struct cluster c = cluster_with_field(2, 60, 5);
    const double m = c.mass[2], r = 2e-3, speed = 0.5 * sqrt(2 * m / r);
    for (int i = 0; i < 2; i++) {
        const double side = i ? -0.5 : 0.5, x[3] = {0.3 + side * r, -0.2, 0.15}, v[3] = {0, 2 * side * speed, 0.1};
        c.mass[i] = m;
        memcpy(c.x[i], x, sizeof c.x[i]);
        memcpy(c.v[i], v, sizeof c.v[i]);
    }
    cluster_config(&config);
    config.pair.adjust = 0;
    config.pair.r_min = 0.5 * r;
    config.pair.dt_min = 0.04 * sqrt(config.pair.r_min * config.pair.r_min * config.pair.r_min / m);
    nb6_t *sim = cluster_start(&config, &c, NULL);
    cluster_evolve(sim, 1.0 / 16);
    assert_int_equal(sim->run.counters.pairs_formed, 1);
    assert_int_equal(sim->subsystems.count, 1);
    nb6_free(sim);
    cluster_free(&c);
}

/* ---- the origin of time */

/* A perturbed pair with an outer star, beyond the time where the origin of time moves on. */
static void beyond_4096_units(void **state)
{
    (void)state;
    struct nb6_config config;
    struct cluster_record record;
    const double row[3][7] = {{0.5, 0.15, 0, 0, 0, 0.8, 0}, {0.5, -0.15, 0, 0, 0, -0.8, 0}, {0.1, 0, 0, 3, 0.6, 0, 0}};
    struct cluster c = cluster_from_rows(3, row);
    cluster_config(&config);
    config.run.dt_adjust = config.run.dt_output = 64;
    config.binaries.wanted = 1;
    config.binaries.n = 1;
    config.pair.adjust = 0;
    config.pair.r_min = 0.3;
    config.pair.dt_min = 0.01;
    config.integration.dt_max = 1;
    nb6_t *sim = cluster_start(&config, &c, &record);
    cluster_evolve(sim, 4096 - 64);
    assert_true(sim->subsystems.count == 1 && sim->subsystems.pert[0].n == 1 && sim->ti_origin == 0);
    int64_t before = record.n_rows;
    double worst[2] = {0, 0};
    cluster_evolve(sim, 4096 + 192);
    assert_true(sim->subsystems.count == 1 && sim->subsystems.pert[0].n == 1 && sim->ti_origin > 0);
    assert_true(fabs(sim->subsystems.ks[0].t - 192) < 1);
    assert_int_equal(record.n_rows, before + 4);
    for (int64_t k = 1; k < record.n_rows; k++)
        worst[k >= before] = fmax(worst[k >= before], fabs(record.row[k].de_rel_interval));
    print_message("energy of intervals of 64 changes by %.1e at most, beyond t = 4032 by %.1e\n", worst[0], worst[1]);
    assert_true(worst[1] <= worst[0]); /* the 4 intervals are as the 63 ones before */
    nb6_free(sim);
    cluster_free(&c);
    cluster_record_free(&record);
}

/* ---- primordial binaries */

/* The systems are in equilibrium, whatever the binaries' own energy is. */
static void systems_are_scaled(void **state)
{
    (void)state;
    struct nb6_config config;
    struct cluster_record record;
    cluster_config_with_binaries(&config, 300, 100);
    config.model.imf = NB6_IMF_KROUPA2001;
    nb6_t *sim = cluster_start_model(&config, &record);
    cluster_evolve(sim, 0.125);
    const struct nb6_energy *e = &record.row[0].energy;
    assert_true(sim->subsystems.count > 50); /* the others are heavy and wide beside RMIN */
    assert_true(fabs(e->mass - 1) < 1e-12);
    assert_true(e->binding < -0.01);
    if (sim->subsystems.count == 100) assert_true(fabs(e->kinetic + e->potential + 0.25) < 1e-6);
    nb6_free(sim);
    cluster_record_free(&record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_visitor_to_a_lonely_pair),
        cmocka_unit_test(a_pair_wider_than_rmin),
        cmocka_unit_test(beyond_4096_units),
        cmocka_unit_test(any_number_of_threads),
        cmocka_unit_test(across_a_checkpoint),
        cmocka_unit_test(lists_and_members),
        cmocka_unit_test(no_jump_of_force),
        cmocka_unit_test(two_pairs_collide),
        cmocka_unit_test(a_pair_escapes),
        cmocka_unit_test(systems_are_scaled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
