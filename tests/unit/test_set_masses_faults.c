/* A change of masses, or of stars in a run that goes on, that fails leaves the state before it, bit for bit, tells
 * nobody, and can be made again: every call of a library and of the regularization fails in turn, without doing
 * anything or after it was done, its numbers turn into NaN, and every allocation fails in turn
 * (tests/support/faults.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "common/nbc.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/event.h"
#include "nbody6/state/sim.h"
#include "tests/support/cluster.h"
#include "tests/support/cluster_check.h"
#include "tests/support/cluster_state.h"
#include "tests/support/escape_scene.h"
#include "tests/support/faults.h"

enum { CHANGED = 6 };

static int64_t told;

static int on_event(void *context, nb6_t *sim, const struct nb6_event *event, struct nbc_error *err)
{
    (void)context;
    (void)sim;
    (void)err;
    told += event->kind == NB6_EVENT_MASSES_CHANGED || event->kind == NB6_EVENT_STARS_CHANGED;
    return NBC_OK;
}

/* One star of each system, and a single one, lose half of their mass, suddenly. */
static int change_masses(nb6_t *sim, const struct scene *scene, struct nbc_error *err)
{
    int64_t name[CHANGED];
    double mass[CHANGED], v[CHANGED][3];
    for (int k = 0; k < CHANGED; k++) {
        name[k] = k < 5 ? scene->star[k][0] + 1 : sim->n;
        mass[k] = 0.5 / 60;
        for (int d = 0; d < 3; d++) v[k][d] = k < 5 ? scene->c.v[scene->star[k][0]][d] : 0.3;
    }
    return nb6_set_masses(sim, CHANGED, name, mass, (const double(*)[3])v, NB6_MASS_SUDDEN, err);
}

/* A single one. */
static int go(nb6_t *sim, const struct scene *scene, struct nbc_error *err)
{
    (void)scene;
    return nb6_remove_bodies(sim, 1, &sim->star[sim->n - 2].name, err);
}

static int come(nb6_t *sim, const struct scene *scene, struct nbc_error *err)
{
    static const double mass = 0.02, x[1][3] = {{0.5, 0.4, -0.3}}, v[1][3] = {{0.1, -0.2, 0.3}};
    (void)scene;
    return nb6_add_bodies(sim, 1, NULL, &mass, x, v, err);
}

typedef int (*change_function)(nb6_t *sim, const struct scene *scene, struct nbc_error *err);

static nb6_t *again(nb6_t *base)
{
    static const struct nb6_observer observer = {.event = on_event};
    nb6_t *sim = cluster_through_checkpoint(base);
    nb6_set_observer(sim, &observer);
    return sim;
}

/* @return faults that made it fail */
static int64_t change_with_faults(nb6_t *base, const struct scene *scene, change_function change, enum fault kind)
{
    int64_t failures = 0;
    nb6_t *sim = again(base);
    const uint64_t before = cluster_state(sim);
    for (long k = 0;; k++) {
        struct nbc_error err = {0};
        told = 0;
        fault_set(kind, k);
        const int status = change(sim, scene, &err);
        const int happened = fault_clear();
        cluster_check_sources(sim);
        assert_int_equal(told, !status);
        if (!status) { /* the failed call was not needed, or there was none */
            nb6_free(sim);
            if (!happened) return failures;
            sim = again(base);
            continue;
        }
        if (!happened) fail_msg("without a fault: status %d, %s", status, err.text);
        assert_true(err.text[0] != '\0' || kind != NO_ALLOCATION);
        failures++;
        if (cluster_state(sim) != before) fail_msg("fault %d, call %ld: status %d, %s", kind, k, status, err.text);
    }
}

static void state_stays(void **state)
{
    static const change_function changes[] = {change_masses, go, come};
    struct scene scene = make_scene(PAIR | PERTURBED | CHAIN | TRIPLE | QUADRUPLE);
    (void)state;
    nb6_t *base = start_scene(&scene, 0, NB6_ESCAPE_KEEP, NULL);
    cluster_evolve(base, 0.02);
    assert_true(base->subsystems.n_chain == 1 && base->run.counters.hierarchies_formed > 0);
    for (enum fault kind = REFUSED; kind < FAULT_KINDS; kind++)
        for (int k = 0; k < 3 && fault_can_happen(kind); k++)
            assert_true(change_with_faults(base, &scene, changes[k], kind) > 0);
    cluster_free(&scene.c);
    nb6_free(base);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(state_stays)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
