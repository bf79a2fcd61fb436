/* A run can be asked to stop while pairs and chains are at work within a block, and goes on with the same bits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <omp.h>
#include <string.h>

#include "common/nbc.h"
#include "nbody6/fewbody/pairs/events.h"
#include "nbody6/input/config.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/event.h"
#include "nbody6/state/sim.h"
#include "tests/support/cluster.h"
#include "tests/support/cluster_check.h"
#include "tests/support/test_size.h"

/* Two masses on an orbit, at eccentric anomaly -2.5 on the way in, around a centre. */
static void place_orbit(const double m[2], double a, double e, const double x[3], const double v[3], double x_out[2][3],
                        double v_out[2][3])
{
    const double total = m[0] + m[1], c = cos(-2.5), s = sin(-2.5), rate = sqrt(total / a) / (1 - e * c);
    const double b = sqrt(1 - e * e);
    for (int i = 0; i < 2; i++) {
        const double share = i ? m[0] / total : -m[1] / total;
        const double dx[3] = {a * (c - e), 0.8 * a * b * s, 0.6 * a * b * s};
        const double dv[3] = {-rate * s, 0.8 * rate * b * c, 0.6 * rate * b * c};
        for (int k = 0; k < 3; k++) {
            x_out[i][k] = x[k] + share * dx[k];
            v_out[i][k] = v[k] + share * dv[k];
        }
    }
}

/* Chains of a wide pair and one of axis a, as many as wanted, in a field. The smaller a the more evaluations to a
 * block.
 */
static struct cluster with_chains(int chains, double a, int64_t stars)
{
    struct cluster c = cluster_with_field(4 * chains, stars, 3);
    const double m = 0.05, one[2] = {m, m}, outer[2] = {2 * m, 2 * m};
    for (int n = 0; n < chains; n++) {
        const double place[3] = {0.3 - 0.6 * (n % 2), -0.2 + 0.4 * (n / 2), 0.15}, rest[3] = {0, 0, 0};
        double y[2][3], w[2][3];
        place_orbit(outer, 0.012, 0.1, place, rest, y, w);
        place_orbit(one, 0.005, 0.2, y[0], w[0], &c.x[4 * n], &c.v[4 * n]);
        place_orbit(one, a, 0.3, y[1], w[1], &c.x[4 * n + 2], &c.v[4 * n + 2]);
        for (int k = 0; k < 4; k++) c.mass[4 * n + k] = m;
    }
    return c;
}

static struct nb6_config config_of(int chains)
{
    struct nb6_config config;
    cluster_config(&config);
    config.binaries.wanted = 1;
    config.binaries.n = 2 * chains;
    config.pair.adjust = 0;
    config.pair.r_min = 0.03;
    config.pair.dt_min = 1e-3;
    config.pair.hierarchies = 0;
    config.pair.slow_down = 1;     /* not inside chains, */
    config.pair.gamma_min = 1e-14; /* where no pair counts as undisturbed either */
    config.run.dt_adjust = config.run.dt_output = 1;
    return config;
}

enum { FIELD_STARS = 300 };
static const double T_END = 0x1p-11; /* one block or two, and the adjust at their end */

/* ---- work between two polls */

/* Evaluations of pairs and chains in one call (EVALUATIONS_OF_A_CALL), and the excess that each group may have over its
 * share: a slice of 8 steps, of 60 evaluations usually, up to 500 where steps are repeated. */
static const uint64_t MOST = 65536, MORE_OF_A_GROUP = 4000;

struct watch {
    int64_t polls;
    uint64_t work, most;
};

static int measure(void *context, nb6_t *sim, int *stop, struct nbc_error *err)
{
    struct watch *w = context;
    const uint64_t work = sim->run.counters.chain_forces + sim->run.counters.ks_steps;
    (void)stop;
    (void)err;
    w->polls++;
    if (work - w->work > w->most) w->most = work - w->work;
    w->work = work;
    return NBC_OK;
}

static void work_between_polls(int chains, double a, uint64_t least)
{
    struct cluster c = with_chains(chains, a, FIELD_STARS);
    struct nb6_config config = config_of(chains);
    nb6_t *sim = cluster_start(&config, &c, NULL);
    struct watch w = {0};
    nb6_set_observer(sim, &(struct nb6_observer){.context = &w, .poll = measure});
    cluster_evolve(sim, T_END);
    print_message("%d chains: %.2e evaluations in %d blocks, %d polls, %d evaluations between two of them at most\n",
                  chains, (double)w.work, (int)sim->run.counters.blocks, (int)w.polls, (int)w.most);
    assert_int_equal(sim->run.counters.chains_formed, chains);
    assert_in_range(sim->run.counters.blocks, 1, 2);
    assert_true(w.work > least);
    assert_true(w.most < MOST + (uint64_t)chains * MORE_OF_A_GROUP);
    nb6_free(sim);
    cluster_free(&c);
}

static void bounded_work(void **state)
{
    (void)state;
    TEST_SKIP_SANITIZED(); /* the tests below stop in the same places */
    if (test_seeds(0, 1)) work_between_polls(1, 4e-6, 1000000);
    work_between_polls(1, 1.2e-5, 100000);
    work_between_polls(4, 2.5e-5, 100000);
}

/* ---- the same bits */

enum { CHAINS = 2 };
static const double SMALL = 2.5e-5;

/* Every k-th poll asks to stop. */
struct stops {
    int every, polls;
};

static int stop_sometimes(void *context, nb6_t *sim, int *stop, struct nbc_error *err)
{
    struct stops *s = context;
    (void)sim;
    (void)err;
    *stop = ++s->polls % s->every == 0;
    return NBC_OK;
}

/* After a stop within a block all stars have a position: those of the chains near their places, which are at 0.39 and
 * have a size of 0.02. */
static void look(nb6_t *sim)
{
    struct cluster now = cluster_now(sim);
    for (int64_t i = 0; i < now.n; i++)
        for (int k = 0; k < 3; k++) assert_true(isfinite(now.x[i][k]) && isfinite(now.v[i][k]));
    for (int i = 0; i < 4 * CHAINS; i++) {
        const double r = sqrt(pow(now.x[i][0], 2) + pow(now.x[i][1], 2) + pow(now.x[i][2], 2));
        assert_true(fabs(r - 0.39) < 0.05);
    }
    assert_true(isfinite(cluster_energy_now(sim).total));
    cluster_free(&now);
}

static nb6_t *new_run(void)
{
    struct cluster c = with_chains(CHAINS, SMALL, FIELD_STARS);
    struct nb6_config config = config_of(CHAINS);
    nb6_t *sim = cluster_start(&config, &c, NULL);
    cluster_free(&c);
    return sim;
}

static void stopped_is_the_same(nb6_t *whole, int every, int checkpoints, int frames)
{
    nb6_t *sim = new_run();
    struct stops s = {.every = every};
    int stopped = 0;
    do {
        nb6_set_observer(sim, &(struct nb6_observer){.context = &s, .poll = stop_sometimes});
        cluster_evolve(sim, T_END);
        if (!nb6_stopped(sim)) break;
        stopped++;
        if (frames) look(sim);
        if (!checkpoints) continue;
        sim = cluster_resumed(sim);
    } while (stopped < 1000);
    assert_true(stopped >= 1 && stopped < 1000);
    nb6_set_observer(sim, &(struct nb6_observer){0});
    cluster_assert_consistent(sim);
    cluster_assert_same(whole, sim);
    print_message("stopped %d times at every %d. poll%s%s: the same\n", stopped, every,
                  checkpoints ? ", through checkpoints" : "", frames ? ", looked at" : "");
    nb6_free(sim);
}

static void stopped_and_resumed(void **state)
{
    (void)state;
    const int threads = omp_get_max_threads();
    omp_set_num_threads(1);
    nb6_t *whole = new_run();
    cluster_evolve(whole, T_END);
    print_message("%.2e forces in chains\n", (double)whole->run.counters.chain_forces);
    assert_true(whole->run.counters.chain_forces > 2 * MOST); /* there was something to stop */
    if (!TEST_SANITIZED) {                                    /* the other stops call nothing else */
        stopped_is_the_same(whole, 2, 1, 0);
        stopped_is_the_same(whole, 1, 0, 1);
    }
    if (test_seeds(0, 1)) {
        stopped_is_the_same(whole, 1, 1, 0);
        stopped_is_the_same(whole, 3, 1, 1);
    }
    for (int n = 2; n <= test_size(4, 2); n *= 2) {
        omp_set_num_threads(n);
        stopped_is_the_same(whole, 1, 1, 1);
    }
    omp_set_num_threads(threads);
    nb6_free(whole);
}

/* Pairs as well: those that are at the end of the block wait there for the others, also if the run was stopped. */
static nb6_t *run_of_pairs(void)
{
    enum { PAIRS = 6, STARS = 100 };
    struct nb6_config config;
    struct cluster c = cluster_with_field(2 * PAIRS, STARS, 4), places = cluster_plummer(PAIRS, 5);
    const double one[2] = {0.02, 0.02};
    for (int p = 0; p < PAIRS; p++) {
        place_orbit(one, 2e-6 * (p + 1), 0.3, places.x[p], places.v[p], &c.x[2 * p], &c.v[2 * p]);
        c.mass[2 * p] = c.mass[2 * p + 1] = one[0];
    }
    cluster_config(&config);
    config.binaries.wanted = 1;
    config.binaries.n = PAIRS;
    config.pair.slow_down = 0;
    config.pair.gamma_min = 1e-14; /* all near bodies are perturbers */
    nb6_t *sim = cluster_start(&config, &c, NULL);
    cluster_free(&c);
    cluster_free(&places);
    return sim;
}

static void pairs_that_wait(void **state)
{
    (void)state;
    const double t = 0x1p-9;
    nb6_t *whole = run_of_pairs(), *sim = run_of_pairs();
    struct stops s = {.every = 1};
    int within = 0, stopped = 0;
    cluster_evolve(whole, t);
    do {
        nb6_set_observer(sim, &(struct nb6_observer){.context = &s, .poll = stop_sometimes});
        cluster_evolve(sim, t);
        if (!nb6_stopped(sim)) break;
        stopped++;
        for (int64_t slot = 0; slot < sim->subsystems.n_slot; slot++)
            if (sim->subsystems.system[slot].begun) {
                within++;
                break;
            }
        sim = cluster_resumed(sim);
        cluster_energy_now(sim);
    } while (stopped < 10000);
    print_message("pairs: %.2e steps, stopped %d times, %d of them within a block\n",
                  (double)whole->run.counters.ks_steps, stopped, within);
    assert_true(within >= 3);
    nb6_set_observer(sim, &(struct nb6_observer){0});
    cluster_assert_same(whole, sim);
    nb6_free(whole);
    nb6_free(sim);
}

/* ---- a group that takes all the time */

struct told {
    int n;
    double work, share;
};

static int tell(void *context, nb6_t *sim, const struct nb6_event *event, struct nbc_error *err)
{
    struct told *t = context;
    (void)sim;
    (void)err;
    assert_int_equal(event->kind, NB6_EVENT_BUSY);
    t->n++;
    t->work = event->value[0];
    t->share = event->value[1];
    return NBC_OK;
}

/* From 1e8 forces on, and again whenever they have doubled; not if others do half of the work. */
static void busy(void **state)
{
    (void)state;
    struct told told = {0};
    struct nbc_error err = {0};
    nb6_t *sim = new_run();
    cluster_evolve(sim, 0x1p-30); /* the decisions of t = 0 make the chain */
    nb6_set_observer(sim, &(struct nb6_observer){.context = &told, .event = tell});
    int64_t slot = 0;
    while (!sim->subsystems.system[slot].chain) slot++;
    int expected = 0;
    for (double work = 1e6, last = 0; work < 1e12; work *= 1.3) {
        sim->subsystems.system[slot].work = (int64_t)work;
        sim->run.counters.chain_pairs = (uint64_t)(1.1 * work);
        assert_int_equal(nb6_slot_tell(sim, slot, &err), NBC_OK);
        if (work >= 1e8 && work >= 2 * last) {
            last = work;
            expected++;
            assert_true(fabs(told.work / work - 1) < 1e-6 && told.share > 0.5 && told.share < 1);
        }
        assert_int_equal(told.n, expected);
    }
    assert_true(expected > 10);
    sim->subsystems.system[slot].work = (int64_t)1e13;
    sim->run.counters.pairs_irr = (uint64_t)2e13;
    assert_int_equal(nb6_slot_tell(sim, slot, &err), NBC_OK);
    assert_int_equal(told.n, expected);
    nb6_free(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounded_work),
        cmocka_unit_test(stopped_and_resumed),
        cmocka_unit_test(pairs_that_wait),
        cmocka_unit_test(busy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
