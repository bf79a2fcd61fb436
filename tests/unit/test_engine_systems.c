/* Few-body systems and tides with an engine image (engine/host_service.h): the same physics as with the host engine,
 * the same bits however often the state is imported and exported, and a loss that undoes the work of the host
 * service. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "common/nbc.h"
#include "nbody6/engine/engine.h"
#include "nbody6/engine/engines.h"
#include "nbody6/engine/host_service.h"
#include "nbody6/engine/image.h"
#include "nbody6/engine/stages/force.h"
#include "nbody6/engine/stages/remote.h"
#include "nbody6/engine/stages/state.h"
#include "nbody6/fewbody/kind.h"
#include "nbody6/fewbody/pairs/correct.h"
#include "nbody6/input/config.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/event.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/sim.h"
#include "tests/support/cluster.h"
#include "tests/support/cluster_check.h"
#include "tests/support/cluster_state.h"

/* The engine under test: emulated, then that of a GPU if there is one. */
static enum nb6_engine_choice under_test = NB6_ENGINE_EMULATED;

/* REMOTE: binaries so close that most of their perturbers are far away (fewbody/pairs/remote.h). */
enum kind { PLAIN, TIDAL, HEAVY, REMOTE, KINDS };

static void configure(struct nb6_config *config, enum kind kind, enum nb6_engine_choice engine)
{
    cluster_config_with_binaries(config, 200, 50);
    config->run.engine = (int)engine;
    config->binaries.range = 100;
    if (kind == TIDAL) cluster_config_field(config, NB6_TIDE_POINT_MASS, 250, 0.05);
    if (kind == HEAVY || kind == REMOTE) config->model.imf = NB6_IMF_KROUPA2001;
    if (kind != REMOTE) return;
    config->binaries.semi_max = 1e-4;
    config->binaries.range = 10;
    config->pair.gamma_min = 1e-8;
}

static nb6_t *start(enum kind kind, enum nb6_engine_choice engine)
{
    struct nb6_config config;
    configure(&config, kind, engine);
    return cluster_start_model(&config, NULL);
}

static enum nb6_stop_reason advance(nb6_t *sim, nb6_time t, int64_t blocks)
{
    struct nbc_error err = {0};
    enum nb6_stop_reason reason;
    if (nb6_engines_advance(sim, t, blocks, &reason, &err)) fail_msg("%s", err.text);
    return reason;
}

/* The same after what is done at t = 0. */
static nb6_t *begin(enum kind kind)
{
    nb6_t *sim = start(kind, under_test);
    cluster_evolve(sim, 0.001);
    return sim;
}

/* ---- physics ---- */

/* Both engines move the same systems by the same code; sums differ as those of two backends do, and after some time so
 * do orbits. The limit of the energy error is ten times the largest of the host engine's, 2.6e-8. */
static void as_with_the_host(void **state)
{
    (void)state;
    for (enum kind kind = PLAIN; kind < KINDS; kind++) {
        double steps[2], ks[2], error[2];
        for (int e = 0; e < 2; e++) {
            nb6_t *sim = start(kind, e ? under_test : NB6_ENGINE_HOST);
            const double energy = cluster_energy_now(sim).total;
            cluster_evolve(sim, 0.5);
            error[e] = fabs(cluster_energy_now(sim).total / energy - 1);
            steps[e] = (double)sim->run.counters.steps_irr;
            ks[e] = (double)sim->run.counters.ks_steps;
            assert_true(sim->subsystems.count > 40);
            cluster_assert_consistent(sim);
            nb6_free(sim);
        }
        print_message("kind %d: energy errors %.1e, %.1e; steps %.0f, %.0f; of pairs %.0f, %.0f\n", (int)kind, error[0],
                      error[1], steps[0], steps[1], ks[0], ks[1]);
        assert_true(fabs(steps[1] / steps[0] - 1) < 0.02 && fabs(ks[1] / ks[0] - 1) < 0.1);
        assert_true(error[0] < 2.6e-7 && error[1] < 2.6e-7);
    }
}

/* Blocks with systems do not need an export. */
static void stays_in_image(void **state)
{
    (void)state;
    nb6_t *sim = begin(TIDAL);
    const nb6_time t = sim->run.book.ti_next_adjust;
    int64_t calls = 0, away = 0;
    while (advance(sim, t, 8) != NB6_STOP_REACHED) {
        calls++;
        away += sim->engine_image.ahead;
    }
    print_message("%d of %d calls end elsewhere\n", (int)away, (int)calls);
    assert_true(calls > 20 && 10 * away > 9 * calls);
    nb6_free(sim);
}

/* ---- the same bits ---- */

static nb6_t *in_pieces(nb6_t *sim, double t)
{
    for (double now = 0.0371; now < t; now += 0.0371) {
        cluster_evolve(sim, now);
        sim = cluster_resumed(sim);
    }
    cluster_evolve(sim, t);
    return sim;
}

/* The state is exported after each few blocks, and may be imported again. */
static nb6_t *to_and_fro(nb6_t *sim, double t)
{
    struct nbc_error err = {0};
    int64_t blocks = 1;
    while (advance(sim, sim->run.book.ti_next_adjust, blocks) != NB6_STOP_REACHED) {
        assert_int_equal(nb6_bring_home(sim, &err), NBC_OK);
        blocks = blocks % 7 + 2;
    }
    cluster_evolve(sim, t);
    return sim;
}

static void same_bits(void **state)
{
    (void)state;
    static const struct {
        int threads;
        nb6_t *(*evolve)(nb6_t *sim, double t);
    } ways[] = {{2, NULL}, {4, NULL}, {1, in_pieces}, {2, to_and_fro}};
    const int before = omp_get_max_threads();
    for (enum kind kind = TIDAL; kind < KINDS; kind++) {
        omp_set_num_threads(1);
        nb6_t *first = begin(kind);
        cluster_evolve(first, 0.25);
        for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
            nb6_t *sim = begin(kind);
            omp_set_num_threads(ways[k].threads);
            if (ways[k].evolve)
                sim = ways[k].evolve(sim, 0.25);
            else
                cluster_evolve(sim, 0.25);
            cluster_assert_same(first, sim);
            nb6_free(sim);
        }
        nb6_free(first);
    }
    omp_set_num_threads(before);
}

/* ---- questions ---- */

/* @param[out] member  indices of the members of the next block that the host service needs   @return its time */
static nb6_time find_next(const struct nb6_dev *dev, int32_t *member, int64_t *n)
{
    nb6_time next = INT64_MAX;
    *n = 0;
    for (int64_t i = 0; i < dev->n; i++) {
        const nb6_time t = dev->body[i].t0 + nb6_step_ticks(dev->level[i]);
        if (t < next) *n = 0;
        next = t < next ? t : next;
        if (t == next && dev->watch[i] & NB6_DEV_ASK) member[(*n)++] = (int32_t)i;
    }
    return next;
}

/* A request for pairs with a passing star is often the only one of a block; one that is rolled back leaves nothing
 * behind. */
static void needs_one_question(void **state)
{
    (void)state;
    if (under_test == NB6_ENGINE_DEVICE) skip(); /* its bodies are not in the image */
    struct nbc_error err = {0};
    nb6_t *sim = begin(REMOTE), *other = begin(REMOTE);
    int64_t count[NB6_HOST_SERVICE_FAILED + 1] = {0};
    while (advance(sim, sim->run.book.ti_next_adjust, 3) != NB6_STOP_REACHED) {
        struct nb6_dev *dev = sim->engine_image.image;
        int32_t member[1000];
        int64_t n;
        int status;
        if (!sim->engine_image.ahead) continue;
        const nb6_time t = find_next(dev, member, &n), t_ask = dev->control->t_ask;
        if (n == 0) continue;
        count[nb6_host_service_before(sim, dev, dev->control->ti_now, t, n, member, &status, &err)]++;
        assert_int_equal(status, NBC_OK);
        nb6_host_service_cancel(sim);
        dev->control->t_ask = t_ask;
    }
    print_message("told %d, asked %d, left to the host %d\n", (int)count[NB6_HOST_SERVICE_TELL],
                  (int)count[NB6_HOST_SERVICE_GO], (int)count[NB6_HOST_SERVICE_HOST]);
    assert_true(3 * count[NB6_HOST_SERVICE_TELL] > count[NB6_HOST_SERVICE_GO] && count[NB6_HOST_SERVICE_GO] > 0);
    cluster_evolve(sim, 0.25);
    cluster_evolve(other, 0.25);
    cluster_assert_same(sim, other);
    nb6_free(sim);
    nb6_free(other);
}

/* ---- data of the host service ---- */

static int64_t count_remote(const nb6_t *sim)
{
    int64_t n = 0;
    for (int64_t slot = 0; slot < sim->subsystems.n_slot; slot++)
        n += nb6_slot_is_used(&sim->subsystems, slot) && sim->subsystems.system[slot].remote;
    return n;
}

/* An image of which who is watched is found anew. */
static void watch_anew(nb6_t *sim, struct nb6_dev *anew)
{
    const struct nb6_dev *dev = sim->engine_image.image;
    const struct nb6_dev_size size = {dev->n_max, dev->row_room, dev->systems, dev->bodies};
    assert_true(nb6_dev_allocate_state(anew, &size, 1));
    anew->n = dev->n;
    anew->first_centre = dev->first_centre;
    memcpy(anew->body_of, dev->body_of, (size_t)dev->n * sizeof *dev->body_of);
    memcpy(anew->place_of, dev->place_of, (size_t)dev->bodies * sizeof *anew->place_of);
    nb6_host_service_fill(sim, anew);
}

/* The set of bodies that need the host service, updated while perturbers came and went, equals the set found anew; so
 * do the data of remote pairs, though they have moved meanwhile. */
static void check_watched(enum kind kind)
{
    struct nb6_dev anew = {0};
    nb6_t *sim = begin(kind);
    int64_t compared = 0, remote = 0;
    while (advance(sim, sim->run.book.ti_next_adjust, 8) != NB6_STOP_REACHED) {
        const struct nb6_dev *dev = sim->engine_image.image;
        if (!sim->engine_image.ahead) continue;
        watch_anew(sim, &anew);
        assert_int_equal(anew.control->n_ask, dev->control->n_ask);
        assert_int_equal(anew.control->t_ask, dev->control->t_ask);
        assert_memory_equal(anew.watch, dev->watch, (size_t)dev->n);
        if (anew.control->n_ask > 0)
            assert_memory_equal(anew.ask, dev->ask, (size_t)anew.control->n_ask * sizeof *anew.ask);
        const size_t centres = (size_t)(dev->n - dev->first_centre);
        assert_memory_equal(anew.remote, dev->remote, centres * sizeof *anew.remote);
        compared += anew.control->n_ask > 0;
        remote += count_remote(sim);
        nb6_dev_free_state(&anew);
    }
    print_message("kind %d: compared %d times, %d remote pairs\n", (int)kind, (int)compared, (int)remote);
    assert_true(compared > 5 && (kind != REMOTE || remote > 5));
    nb6_free(sim);
}

static void watches_whom_it_should(void **state)
{
    (void)state;
    if (under_test != NB6_ENGINE_EMULATED) skip(); /* the image is not in memory */
    check_watched(HEAVY);
    check_watched(REMOTE);
}

static int64_t count_quiet(const struct nb6_dev *dev)
{
    int64_t n = 0;
    for (int64_t i = dev->first_centre; i < dev->n; i++) n += (dev->watch[i] & NB6_DEV_QUIET) != 0;
    return n;
}

/* Pairs on which nothing acts are made without the host only where their kind says that device engines support it. */
static void asks_about_kinds_without_support(void **state)
{
    (void)state;
    if (under_test != NB6_ENGINE_EMULATED) skip(); /* the image is not in memory */
    struct nb6_dev anew = {0};
    nb6_t *sim = begin(PLAIN);
    const struct nb6_kind *const *kinds = sim->subsystems.kinds;
    struct nb6_kind pair = *kinds[NB6_PAIR];
    const struct nb6_kind *without_support[] = {&pair, kinds[NB6_CHAIN], kinds[NB6_HIERARCHY]};
    pair.device_supports = 0;
    while (!sim->engine_image.ahead)
        assert_int_not_equal(advance(sim, sim->run.book.ti_next_adjust, 8), NB6_STOP_REACHED);
    watch_anew(sim, &anew);
    assert_true(count_quiet(&anew) > 20);
    nb6_dev_free_state(&anew);
    sim->subsystems.kinds = without_support;
    watch_anew(sim, &anew);
    assert_int_equal(count_quiet(&anew), 0);
    for (int64_t i = anew.first_centre; i < anew.n; i++) assert_true(anew.watch[i] & (NB6_DEV_ASK | NB6_DEV_REMOTE));
    nb6_dev_free_state(&anew);
    sim->subsystems.kinds = kinds;
    nb6_free(sim);
}

static double attraction(const struct nb6_dev *dev, int32_t i, int32_t j)
{
    double r2 = 0;
    for (int k = 0; k < 3; k++) {
        const double d = dev->body[j].x0[k] - dev->body[i].x0[k]; /* steps are short */
        r2 += d * d;
    }
    return dev->body[j].mass / r2;
}

/* The part of the force on a body from remote pairs, as an engine computes it.   @return the attractions of those
 * points of mass of which it is a small part */
static double add_from_afar(const struct nb6_dev *dev, int32_t i, double sum[6])
{
    const struct nb6_dev_point point = nb6_dev_predict(dev, i, dev->control->t);
    const struct nb6_remote *own = nb6_dev_remote_of(dev, i);
    double all = 0;
    for (int lane = 0; lane < NB6_DEV_LANES; lane++) nb6_dev_add_perturbers(dev, &point, i, lane, sum);
    for (int k = 0; own && k < own->n; k++) all += attraction(dev, i, own->body[k]);
    for (int64_t k = 0; k < dev->control->n_ask; k++) {
        const int32_t q = dev->ask[k];
        if (!nb6_dev_is_resolver(dev, q, i)) continue;
        for (int lane = 0; lane < NB6_DEV_LANES; lane++)
            nb6_dev_add_remote(dev, &point, NULL, q, nb6_dev_remote_of(dev, q), lane, sum);
        all += attraction(dev, i, q);
    }
    return all;
}

/* It agrees with the host's sum, except for the roundings of up to 256 terms, the sum of which is nearly cancelled by
 * the attraction of the points: 16 units of that. And there is something. */
static int64_t compare_corrections(nb6_t *sim, struct nb6_dev *dev)
{
    int64_t compared = 0;
    nb6_dev_fill_bodies(sim, dev);
    nb6_dev_fill_lists(sim, dev);
    dev->control->t = sim->active.t = sim->ti_now;
    for (int32_t place = 0; place < dev->n; place++) {
        double there[6] = {0}, acc[3] = {0}, jerk[3] = {0}, size = 0, error = 0;
        if ((dev->watch[place] & (NB6_DEV_ASK | NB6_DEV_REMOTE)) != NB6_DEV_REMOTE) continue;
        const double rounding = 16 * 2.2e-16 * add_from_afar(dev, place, there);
        assert_int_equal(nb6_subsystems_correct(sim, dev->body_of[place], sim->ti_now, acc, jerk), NBC_OK);
        for (int k = 0; k < 3; k++) {
            size = fmax(size, fabs(acc[k]));
            error = fmax(error, fabs(there[k] - acc[k]));
        }
        if (!(size > 100 * rounding && error < rounding))
            fail_msg("body %d: a correction of %g is wrong by %g", (int)dev->body_of[place], size, error);
        compared++;
    }
    return compared;
}

static void remote_forces_are_those_of_the_host(void **state)
{
    (void)state;
    struct nbc_error err = {0};
    struct nb6_dev dev = {0};
    nb6_t *sim = begin(REMOTE);
    const struct nb6_dev_room room = nb6_dev_room_for(sim, 0);
    assert_true(nb6_dev_allocate_state(&dev, &room.wanted, 1));
    int64_t compared = 0;
    for (double t = 0.01; t < 0.125; t += 0.01) {
        cluster_evolve(sim, t);
        assert_int_equal(nb6_bring_home(sim, &err), NBC_OK);
        compared += compare_corrections(sim, &dev);
    }
    print_message("%d bodies compared\n", (int)compared);
    assert_true(compared > 5);
    nb6_dev_free_state(&dev);
    nb6_free(sim);
}

/* Motions, perturbers, counters and bodies that the host has written are as they were when the state left. */
static void a_loss_undoes_it(void **state)
{
    (void)state;
    struct nbc_error err = {0};
    nb6_t *sim = begin(HEAVY);
    int64_t losses = 0;
    while (losses < 5) {
        assert_int_equal(nb6_bring_home(sim, &err), NBC_OK);
        const uint64_t home = cluster_state(sim), ks_steps = sim->run.counters.ks_steps;
        for (int calls = 0; calls < 12 && (calls == 0 || sim->engine_image.ahead); calls++) advance(sim, INT64_MAX, 8);
        if (!sim->engine_image.ahead || sim->run.counters.ks_steps == ks_steps) continue;
        assert_int_equal(nb6_engines_forget(sim, &err), NBC_OK);
        if (cluster_state(sim) != home) fail_msg("after %d losses: the state is another one", (int)losses);
        losses++;
        cluster_evolve(sim, nb6_time_to_double(sim->ti_reached) + 0.003);
    }
    cluster_evolve(sim, 0.25);
    cluster_assert_consistent(sim);
    nb6_free(sim);
}

static int has_device(void)
{
    struct nbc_error err = {0};
    return nb6_device_engine && nb6_device_engine->check(&err) == NBC_OK;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_with_the_host),
        cmocka_unit_test(stays_in_image),
        cmocka_unit_test(same_bits),
        cmocka_unit_test(needs_one_question),
        cmocka_unit_test(watches_whom_it_should),
        cmocka_unit_test(asks_about_kinds_without_support),
        cmocka_unit_test(a_loss_undoes_it),
        cmocka_unit_test(remote_forces_are_those_of_the_host),
    };
    int failed = cmocka_run_group_tests_name("emulated engine", tests, NULL, NULL);
    if (!has_device()) return failed;
    under_test = NB6_ENGINE_DEVICE;
    return failed + cmocka_run_group_tests_name("device engine", tests, NULL, NULL);
}
