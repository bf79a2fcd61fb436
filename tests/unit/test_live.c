/* Simulations that are NULL, were freed, or are freed and called by their own observers: every call of nbody6.h says
 * so, and reads nothing of them. (The sanitizers see it if one does.) */
#include "common/nbc.h"
#include "nbody6/analysis/frame.h"
#include "nbody6/app/script.h"
#include "nbody6/input/config.h"
#include "nbody6/model/model.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/event.h"
#include "nbody6/state/ledger.h"
#include "tests/support/cluster.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const int64_t NAMES[2] = {1, 2};
static const double MASS[2] = {0.5, 0.5}, X[2][3] = {{0.5}, {-0.5}}, V[2][3] = {{0}};

/* A call that has to be refused with these words. */
static void refused(int status, int wanted, struct nbc_error *err, const char *words)
{
    assert_int_equal(status, wanted);
    assert_non_null(strstr(err->text, words));
    *err = (struct nbc_error){0};
}

static void refuses_all(nb6_t *sim, const char *words)
{
    struct nbc_error err = {0};
    struct nb6_energy energy;
    double mass[2];
    const int bad = NBC_BAD_ARGUMENT;
    refused(nb6_set_bodies(sim, 2, NAMES, MASS, X, V, &err), bad, &err, words);
    refused(nb6_add_bodies(sim, 2, NULL, MASS, X, V, &err), bad, &err, words);
    refused(nb6_remove_bodies(sim, 1, NAMES, &err), bad, &err, words);
    refused(nb6_evolve(sim, 1.0, &err), bad, &err, words);
    refused(nb6_bring_home(sim, &err), bad, &err, words);
    refused(nb6_leave_device(sim, &err), bad, &err, words);
    refused(nb6_get_bodies(sim, 2, NULL, mass, NULL, NULL, &err), bad, &err, words);
    refused(nb6_get_energy(sim, &energy, &err), bad, &err, words);
    refused(nb6_checkpoint(sim, "live.ckpt.h5", &err), bad, &err, words);
    nb6_set_observer(sim, NULL);
    assert_true(nb6_time_now(sim) == 0 && nb6_count(sim) == 0 && !nb6_stopped(sim) && !nb6_device_is_lost(sim));
    assert_string_equal(nb6_engine_name(sim), "");
    assert_string_equal(nb6_engine_why(sim), "");
    nb6_free(sim);
}

static nb6_t *start(int64_t n)
{
    struct nb6_config config;
    cluster_config(&config);
    config.model.n = n;
    return cluster_start_model(&config, NULL);
}

static void nothing_and_what_was_freed(void **state)
{
    (void)state;
    refuses_all(NULL, "NULL");
    nb6_t *other = start(20), *sim = start(30);
    nb6_free(sim);
    refuses_all(sim, "freed");
    assert_int_equal(nb6_count(other), 20);
    nb6_model_free(NULL);
    nb6_frame_free(NULL);
    nb6_free(other);
    nb6_free(other);
}

static void arguments_that_are_null(void **state)
{
    (void)state;
    struct nbc_error err = {0};
    struct nb6_config config;
    nb6_t *sim = NULL;
    const int bad = NBC_BAD_ARGUMENT;
    cluster_config(&config);
    refused(nb6_create(NULL, &config, &err), bad, &err, "NULL");
    refused(nb6_create(&sim, NULL, &err), bad, &err, "NULL");
    refused(nb6_restore(&sim, NULL, &err), bad, &err, "NULL");
    refused(nb6_restore(NULL, "live.ckpt.h5", &err), bad, &err, "NULL");
    assert_int_equal(nb6_create(&sim, &config, &err), NBC_OK);
    refused(nb6_set_bodies(sim, 2, NULL, NULL, X, V, &err), bad, &err, "NULL");
    refused(nb6_set_bodies(sim, 2, NULL, MASS, NULL, V, &err), bad, &err, "NULL");
    refused(nb6_set_bodies(sim, 2, NULL, MASS, X, NULL, &err), bad, &err, "NULL");
    char why[NB6_ENGINE_WHY];
    assert_string_equal(nb6_engine_for(NULL, 100, why), "");
    assert_string_equal(nb6_engine_for(&config, 100, NULL), "");
    assert_ptr_equal(nb6_engine_missing(NULL, why), why);
    assert_non_null(nb6_engine_missing("host", NULL));
    struct nb6_energy energy;
    refused(nb6_get_energy(sim, &energy, &err), NBC_BAD_STATE, &err, "no stars");
    assert_int_equal(nb6_get_bodies(sim, 0, NULL, NULL, NULL, NULL, &err), NBC_OK);
    nb6_free(sim);
    sim = start(20);
    refused(nb6_get_energy(sim, NULL, &err), bad, &err, "NULL");
    refused(nb6_checkpoint(sim, NULL, &err), bad, &err, "NULL");
    refused(nb6_add_bodies(sim, 2, NULL, MASS, NULL, V, &err), bad, &err, "NULL");
    refused(nb6_remove_bodies(sim, 2, NULL, &err), bad, &err, "NULL");
    nb6_free(sim);
}

struct watcher {
    int frees, calls;
};

static int at_adjust(void *context, nb6_t *sim, const struct nb6_adjust_row *row, struct nbc_error *err)
{
    struct watcher *watcher = context;
    struct nbc_error own = {0};
    (void)row;
    (void)err;
    watcher->calls++;
    refused(nb6_evolve(sim, 9.0, &own), NBC_BAD_STATE, &own, "at work");
    refused(nb6_add_bodies(sim, 2, NULL, MASS, X, V, &own), NBC_BAD_STATE, &own, "at work");
    refused(nb6_remove_bodies(sim, 2, NAMES, &own), NBC_BAD_STATE, &own, "at work");
    refused(nb6_leave_device(sim, &own), NBC_BAD_STATE, &own, "at work");
    assert_int_equal(nb6_count(sim), 20);
    if (!watcher->frees) return NBC_OK;
    nb6_free(sim);
    refuses_all(sim, "freed");
    return NBC_OK;
}

static void an_observer_asks_and_frees(void **state)
{
    (void)state;
    struct nbc_error err = {0};
    struct watcher watcher = {0};
    nb6_t *sim = start(20);
    nb6_set_observer(sim, &(struct nb6_observer){.context = &watcher, .adjust = at_adjust});
    assert_int_equal(nb6_evolve(sim, 0.0, &err), NBC_OK);
    assert_int_equal(watcher.calls, 1);
    watcher.frees = 1;
    refused(nb6_evolve(sim, 100.0, &err), NBC_BAD_STATE, &err, "observer has freed");
    assert_int_equal(watcher.calls, 2);
    refuses_all(sim, "freed");
}

static int at_change(void *context, nb6_t *sim, const struct nb6_event *event, struct nbc_error *err)
{
    (void)err;
    *(int *)context += 1;
    if (event->kind == NB6_EVENT_STARS_CHANGED) nb6_free(sim);
    return NBC_OK;
}

static void an_observer_frees_when_stars_change(void **state)
{
    (void)state;
    struct nbc_error err = {0};
    int calls = 0;
    nb6_t *sim = start(20);
    nb6_set_observer(sim, &(struct nb6_observer){.context = &calls, .event = at_change});
    refused(nb6_remove_bodies(sim, 1, NAMES, &err), NBC_BAD_STATE, &err, "observer has freed");
    assert_int_equal(calls, 1);
    refuses_all(sim, "freed");
}

/* A listener frees its script at the news of this kind, which are the last ones. */
struct listener {
    struct nb6_script *script;
    int at, calls;
};

static int hear(void *context, int news, const char *text)
{
    struct listener *listener = context;
    (void)text;
    listener->calls++;
    if (news != listener->at) return 0;
    nb6_script_free(listener->script);
    listener->at = -1;
    return 1;
}

static void scripts(void **state)
{
    (void)state;
    struct nbc_error err = {0};
    int64_t n;
    const int bad = NBC_BAD_ARGUMENT;
    nb6_script_free(NULL);
    nb6_script_listen(NULL, NULL, NULL);
    assert_true(!nb6_script_config(NULL) && !nb6_script_sim(NULL) && nb6_script_end(NULL) == 0);
    assert_string_equal(nb6_script_id(NULL), "");
    refused(nb6_script_make(NULL, &err), bad, &err, "NULL");
    refused(nb6_script_set_bodies(NULL, 2, NULL, MASS, X, V, &err), bad, &err, "NULL");
    refused(nb6_script_restore(NULL, "live.ckpt.h5", &err), bad, &err, "NULL");
    refused(nb6_script_pairs(NULL, 0, &n, NULL, NULL, &err), bad, &err, "NULL");
    refused(nb6_script_snapshot(NULL, "live.h5", &err), bad, &err, "NULL");
    for (int at = NB6_SCRIPT_ROW; at <= NB6_SCRIPT_POLL; at++) {
        struct listener listener = {.script = nb6_script_create(), .at = at};
        assert_non_null(listener.script);
        nb6_script_config(listener.script)->model.n = 20;
        assert_int_equal(nb6_script_make(listener.script, &err), NBC_OK);
        nb6_script_listen(listener.script, hear, &listener);
        nb6_t *sim = nb6_script_sim(listener.script);
        refused(nb6_evolve(sim, 1e4, &err), NBC_BAD_STATE, &err, "observer has freed");
        assert_int_equal(listener.at, -1);
        refuses_all(sim, "freed");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_and_what_was_freed),
        cmocka_unit_test(arguments_that_are_null),
        cmocka_unit_test(an_observer_asks_and_frees),
        cmocka_unit_test(an_observer_frees_when_stars_change),
        cmocka_unit_test(scripts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
