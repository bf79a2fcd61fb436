/* The same bits for any number of threads, any observer, and any division of the time into calls. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <omp.h>
#include <string.h>

#include "common/nbc.h"
#include "gpuirr/gpuirr.h"
#include "nbody6/input/config.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/event.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/sim.h"
#include "tests/support/cluster.h"

enum run { PLAIN, OBSERVED, IN_PIECES };

/* Everything an observer can ask for, and it changes nothing. */
static int look(nb6_t *sim)
{
    struct nb6_energy energy;
    int status = nb6_get_energy(sim, &energy, NULL);
    struct cluster now = cluster_now(sim);
    cluster_free(&now);
    return status;
}

static int look_at_output(void *context, nb6_t *sim, struct nbc_error *err)
{
    (void)err;
    ++*(int *)context;
    return look(sim);
}

static int look_at_block(void *context, nb6_t *sim, int *stop, struct nbc_error *err)
{
    (void)stop;
    (void)err;
    return ++*(int *)context % 50 == 0 ? look(sim) : NBC_OK;
}

static nb6_t *run(const struct cluster *c, const struct nb6_config *config, double t, int threads, enum run kind)
{
    int looks = 0;
    omp_set_num_threads(threads);
    nb6_t *sim = cluster_start(config, c, NULL);
    if (kind == OBSERVED)
        nb6_set_observer(sim,
                         &(struct nb6_observer){.context = &looks, .output = look_at_output, .poll = look_at_block});
    /* pieces that are no multiples of any step */
    if (kind == IN_PIECES)
        for (double at = 0; at < t; at += 0.0137 * t) cluster_evolve(sim, at);
    cluster_evolve(sim, t);
    assert_true(kind != OBSERVED || looks > 10);
    nb6_set_observer(sim, NULL);
    return sim;
}

/* Records, lists, schedule position and the values that a user sees. */
static void assert_same(nb6_t *a, nb6_t *b)
{
    assert_int_equal(a->n, b->n);
    assert_true(a->ti_now == b->ti_now && a->ti_reached == b->ti_reached);
    assert_memory_equal(a->body, b->body, (size_t)a->n * sizeof *a->body);
    assert_memory_equal(a->star, b->star, (size_t)a->n * sizeof *a->star);
    assert_memory_equal(&a->run.counters, &b->run.counters, sizeof a->run.counters);
    for (size_t i = 0; i < (size_t)a->n; i++) {
        size_t n_a = 0, n_b = 0;
        const int32_t *list_a = gpuirr_get_list(a->irr, i, &n_a), *list_b = gpuirr_get_list(b->irr, i, &n_b);
        assert_int_equal(n_a, n_b);
        if (n_a > 0) assert_memory_equal(list_a, list_b, n_a * sizeof *list_a);
    }
    struct nb6_energy energy_a = cluster_energy_now(a), energy_b = cluster_energy_now(b);
    assert_memory_equal(&energy_a, &energy_b, sizeof energy_a);
}

static void compare(int64_t n, double t, double dt_adjust, const int *threads, const enum run *kind, int runs)
{
    struct nb6_config config;
    struct cluster c = cluster_plummer(n, 7);
    cluster_config(&config);
    config.run.dt_adjust = dt_adjust;
    config.run.dt_output = 2 * dt_adjust;
    nb6_t *first = run(&c, &config, t, 1, PLAIN);
    assert_true(first->run.counters.steps_irr > 0);
    for (int k = 0; k < runs; k++) {
        nb6_t *other = run(&c, &config, t, threads[k], kind[k]);
        assert_same(first, other);
        nb6_free(other);
    }
    nb6_free(first);
    cluster_free(&c);
}

static void threads_and_observers(void **state)
{
    (void)state;
    const int threads[] = {1, 2, 4, 1, 3};
    const enum run kinds[] = {PLAIN, PLAIN, PLAIN, OBSERVED, IN_PIECES};
    compare(300, 1, 0.25, threads, kinds, 5);
}

/* Enough stars for the parallel branches of all stages, which begin at 512 to 4096. */
static void many_stars(void **state)
{
    (void)state;
    const int threads[] = {2, 4};
    const enum run kinds[] = {PLAIN, IN_PIECES};
    compare(5000, 0.0625, 0.03125, threads, kinds, 2);
}

/* Escapers are removed in the same way by any number of threads. */
static void with_escapers(void **state)
{
    (void)state;
    struct nb6_config config;
    struct cluster c = cluster_plummer(1200, 7);
    cluster_config(&config);
    config.escape = NB6_ESCAPE_CUT_OFF;
    config.run.dt_adjust = config.run.dt_output = 0.03125;
    for (int i = 0; i < 40; i++)
        for (int k = 0; k < 3; k++) {
            c.x[30 * i][k] *= 100;
            c.v[30 * i][k] = 0.1 * c.x[30 * i][k];
        }
    nb6_t *one = run(&c, &config, 0.1, 1, PLAIN), *four = run(&c, &config, 0.1, 4, PLAIN);
    assert_true(nb6_count(one) < 1190);
    assert_same(one, four);
    nb6_free(one);
    nb6_free(four);
    cluster_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_and_observers),
        cmocka_unit_test(many_stars),
        cmocka_unit_test(with_escapers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
