/* Blocks in a row with the same one or two bodies (state/stuck.h): the bodies counted, and the time of the event that
 * names them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/nbc.h"
#include "nbody6/app/progress.h"
#include "nbody6/app/stuck_note.h"
#include "nbody6/engine/engine.h"
#include "nbody6/engine/engines.h"
#include "nbody6/input/config.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/event.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/stuck.h"
#include "tests/support/cluster.h"
#include "tests/support/cluster_check.h"

/* ---- the rule ---- */

/* A row of blocks: each a text of the names of its members, of one digit; how many of them count at the end. */
static void counts(int64_t n_source, const char *const blocks[], int64_t expected)
{
    struct nb6_stuck stuck = {0};
    for (; *blocks; blocks++) {
        const int64_t n = (int64_t)strlen(*blocks);
        nb6_stuck_count(&stuck, n_source, n, (*blocks)[0] - '0', n > 1 ? (*blocks)[1] - '0' : 99);
        nb6_stuck_order(&stuck);
    }
    assert_int_equal(stuck.blocks, expected);
}

#define COUNTS(n_source, expected, ...) counts(n_source, (const char *const[]){__VA_ARGS__, NULL}, expected)

static void rule(void **state)
{
    (void)state;
    COUNTS(5, 3, "1", "1", "1");
    COUNTS(5, 5, "1", "12", "2", "21", "1");
    COUNTS(5, 4, "2", "1", "12", "2");
    COUNTS(5, 1, "1", "12", "3");        /* another body: the count begins again */
    COUNTS(5, 2, "12", "13", "3");       /* with those of that block */
    COUNTS(5, 1, "1", "2", "1", "23");   /* one of them, and another body */
    COUNTS(5, 0, "1", "1", "123");       /* more than two */
    COUNTS(5, 2, "1", "123", "1", "12"); /* not on beyond these */
    COUNTS(3, 3, "12", "12", "12");      /* a third body waits */
    COUNTS(2, 0, "12", "1", "1");        /* no body of two waits */
    COUNTS(1, 0, "1", "1");
}

/* It does not rise for ever, and a call never computes blocks beyond its next check. */
static void limits(void **state)
{
    (void)state;
    struct nb6_stuck stuck = {.blocks = NB6_STUCK_BLOCKS - 3, .who = {4, 0}};
    assert_int_equal(nb6_stuck_most_blocks(&stuck, 8192), 3);
    assert_int_equal(nb6_stuck_most_blocks(&stuck, 2), 2);
    for (int k = 0; k < 10; k++) nb6_stuck_count(&stuck, 9, 1, 4, 0);
    assert_int_equal(stuck.blocks, NB6_STUCK_BLOCKS + 1);
    assert_int_equal(nb6_stuck_most_blocks(&stuck, 8192), 8192);
    assert_int_equal(nb6_stuck_most_blocks(&stuck, INT64_MAX), NB6_STUCK_BLOCKS);
    stuck.blocks = INT64_MIN; /* only a forged checkpoint has such a count */
    assert_int_equal(nb6_stuck_most_blocks(&stuck, INT64_MAX), NB6_STUCK_BLOCKS);
    nb6_stuck_count(&stuck, 9, 1, 4, 0);
    assert_int_equal(stuck.blocks, 1);
}

/* ---- runs ---- */

static enum nb6_engine_choice under_test = NB6_ENGINE_EMULATED;

/* Two stars on a circle of period 8e-8, which nothing regularizes: steps of 2^-31. Three others wait for 2^-6 and more.
 */
enum { FIRST = 3, SECOND = 1, STARS = 5 };

static nb6_t *start(enum nb6_engine_choice engine, struct cluster_record *record)
{
    const double a = 4.5e-6, m = 0.25, v = 0.5 * sqrt(2 * m / a);
    const double rows[STARS][7] = {{0.2, -0.7, 0.3, 0.2, 0.1, -0.3, 0},
                                   {m, 0.5 - a / 2, 0.1, 0, 0, -v, 0.1},
                                   {0.2, -0.3, -0.5, -0.2, -0.1, 0.2, -0.2},
                                   {m, 0.5 + a / 2, 0.1, 0, 0, v, 0.1},
                                   {0.1, 0.2, -0.6, 0.3, -0.2, -0.1, 0.3}};
    struct nb6_config config;
    struct cluster c = cluster_from_rows(STARS, rows);
    cluster_config(&config);
    config.run.engine = (int)engine;
    config.pair.adjust = 0;
    config.pair.r_min = config.pair.dt_min = 0;
    nb6_t *sim = cluster_start(&config, &c, record);
    cluster_free(&c);
    return sim;
}

static void advance(nb6_t *sim, int64_t blocks)
{
    struct nbc_error err = {0};
    enum nb6_stop_reason reason;
    if (nb6_engines_advance(sim, INT64_MAX, blocks, &reason, &err)) fail_msg("%s", err.text);
}

static void bring_home(nb6_t *sim)
{
    struct nbc_error err = {0};
    if (nb6_bring_home(sim, &err)) fail_msg("%s", err.text);
}

static void advance_to(nb6_t *sim, uint64_t blocks)
{
    for (bring_home(sim); sim->run.counters.blocks < blocks; bring_home(sim))
        advance(sim, (int64_t)(blocks - sim->run.counters.blocks));
    assert_true(sim->run.counters.blocks == blocks);
}

/* Where only the two are moved: the first blocks have others as well. */
enum { BEGUN = 100, LEFT = 40 };

/* So many blocks before the event. */
static void count_forth(nb6_t *sim, int64_t left)
{
    bring_home(sim);
    assert_true(sim->book.stuck.blocks > 0 && sim->book.stuck.blocks <= BEGUN);
    assert_int_equal(sim->book.stuck.who[0], SECOND + 1);
    assert_int_equal(sim->book.stuck.who[1], FIRST + 1);
    sim->book.stuck.blocks = NB6_STUCK_BLOCKS - left;
    sim->edits++; /* the next image has the count */
}

static void assert_names_them(const struct nb6_event *event)
{
    const struct nb6_event_stuck *stuck = &event->stuck;
    assert_int_equal(event->kind, NB6_EVENT_STUCK);
    assert_int_equal(stuck->n, 2);
    assert_int_equal(stuck->name[0], SECOND + 1);
    assert_int_equal(stuck->name[1], FIRST + 1);
    for (int k = 0; k < 2; k++) {
        assert_true(stuck->step[k] == 0x1p-31);
        assert_true(fabs(stuck->acc[k] / (0.25 / (4.5e-6 * 4.5e-6)) - 1) < 1e-4); /* m/a^2, a circle */
        /* The period is 2 pi (a^3/2m)^(1/2) = 8.5e-8: as it turns the acceleration changes by step 2 pi/period. */
        assert_true(fabs(stuck->change[k] / (stuck->acc[k] * 0x1p-31 * sqrt(0.5 / pow(4.5e-6, 3))) - 1) < 1e-3);
        /* Of a list that is summed in double, and two stars at 0.5 that are 4.5e-6 apart: 2^-51 x 1e5. */
        assert_true(stuck->noise[k] > 1e-13 * stuck->acc[k] && stuck->noise[k] < 1e-9 * stuck->acc[k]);
    }
}

/* Each of both engines, any threads, in pieces of any length and across a checkpoint: after the same block, and with
 * the same bits. */
static void event(void **state)
{
    (void)state;
    const enum nb6_engine_choice engines[] = {NB6_ENGINE_HOST, under_test};
    const int before = omp_get_max_threads();
    double t = 0;
    for (int k = 0; k < 4; k++) {
        struct cluster_record record;
        nb6_t *sim = start(engines[k / 2], &record);
        omp_set_num_threads(1 + k % 2);
        advance_to(sim, BEGUN);
        count_forth(sim, LEFT);
        advance_to(sim, BEGUN + LEFT);
        assert_int_equal(sim->book.stuck.blocks, NB6_STUCK_BLOCKS);
        assert_int_equal(record.n_events, 0);
        if (k == 0) t = nb6_time_to_double(sim->ti_now);
        nb6_t *resumed = cluster_through_checkpoint(sim);
        struct cluster_record again = {0};
        struct nb6_observer observer = sim->observer;
        observer.context = &again;
        nb6_set_observer(resumed, &observer);
        advance_to(sim, BEGUN + 3 * LEFT);
        advance_to(resumed, BEGUN + 3 * LEFT);
        assert_int_equal(record.n_events, 1);
        assert_int_equal(again.n_events, 1);
        assert_true(record.event[0].t == t);
        assert_names_them(&record.event[0]);
        assert_memory_equal(&record.event[0].stuck, &again.event[0].stuck, sizeof again.event[0].stuck);
        cluster_assert_same(sim, resumed);
        nb6_free(sim);
        nb6_free(resumed);
        cluster_record_free(&record);
        cluster_record_free(&again);
    }
    omp_set_num_threads(before);
}

/* The event names them once, however long it lasts. */
static void once(void **state)
{
    (void)state;
    const enum nb6_engine_choice engines[] = {NB6_ENGINE_HOST, under_test};
    for (int e = 0; e < 2; e++) {
        struct cluster_record record;
        nb6_t *sim = start(engines[e], &record);
        for (int k = 0; k < 3; k++) {
            advance_to(sim, (uint64_t)(BEGUN + 2 * k * LEFT));
            sim->book.stuck.blocks = k ? 1 : sim->book.stuck.blocks;
            count_forth(sim, LEFT);
        }
        advance_to(sim, BEGUN + 8 * LEFT);
        assert_int_equal(record.n_events, 1);
        nb6_free(sim);
        cluster_record_free(&record);
    }
}

/* An image returns the counts that it was given, though bodies 999 and 1000 do not take part any more, and goes on from
 * there. */
static void image(void **state)
{
    (void)state;
    static const int64_t who[][2] = {
        {SECOND + 1, FIRST + 1}, {FIRST + 1, 0}, {SECOND + 1, 999}, {FIRST + 1, 1000}, {999, 1000}};
    nb6_t *sim = start(under_test, NULL);
    advance_to(sim, BEGUN);
    for (size_t k = 0; k < sizeof who / sizeof who[0]; k++) {
        const struct nb6_stuck stuck = {.blocks = 7, .who = {who[k][0], who[k][1]}};
        struct nbc_error err = {0};
        sim->book.stuck = stuck;
        if (sim->engine_image.owner->import(sim, &err)) fail_msg("%s", err.text);
        for (int times = 0; times < 2; times++) {
            if (sim->engine_image.owner->export(sim, &err)) fail_msg("%s", err.text);
            assert_memory_equal(&sim->book.stuck, &stuck, sizeof stuck);
        }
        advance_to(sim, sim->run.counters.blocks + 1);
        assert_int_equal(sim->book.stuck.blocks, k < 2 ? 8 : 1);
        assert_int_equal(sim->book.stuck.who[0], SECOND + 1);
        assert_int_equal(sim->book.stuck.who[1], FIRST + 1);
    }
    nb6_free(sim);
}

/* ---- what is said ---- */

/* The text that a call of nb6_stuck_note writes to stderr. */
static void said(const nb6_t *sim, const struct nb6_event_stuck *stuck, char text[1024])
{
    struct nb6_progress progress = {.quiet = 1};
    FILE *file = tmpfile();
    const int was = dup(STDERR_FILENO);
    assert_non_null(file);
    fflush(stderr);
    assert_true(was >= 0 && dup2(fileno(file), STDERR_FILENO) >= 0);
    nb6_stuck_note(&progress, sim, 0.5, stuck);
    fflush(stderr);
    assert_true(dup2(was, STDERR_FILENO) >= 0);
    close(was);
    rewind(file);
    text[fread(text, 1, 1023, file)] = 0;
    fclose(file);
}

/* One line that names stars, and what helps: it follows from what the steps follow. */
static void advice(void **state)
{
    (void)state;
    struct nb6_event_stuck close = {.n = 2, .name = {3, 4}, .step = {1e-9, 1e-9}, .acc = {1e9, 1e9}};
    struct nb6_event_stuck noisy = {
        .n = 1, .name = {6}, .step = {1e-12}, .acc = {2}, .change = {1e-12}, .noise = {1e-13}};
    nb6_t *sim = start(NB6_ENGINE_HOST, NULL); /* names from 1 to 5; centres of mass from 6 on */
    char text[1024];
    for (int k = 0; k < 2; k++) {
        close.change[k] = 1e8;
        close.noise[k] = 1e3;
    }
    said(sim, &close, text);
    assert_non_null(
        strstr(text, "nobody but star 3 (step 1e-09, acceleration 1e+09, rounding error up to 1e+03) and star"));
    assert_non_null(strstr(text, "KZ(16)=1 regularizes"));
    sim->run.config.pair.r_min = sim->run.config.pair.dt_min = sim->book.r_min = sim->book.dt_min = 1e-3;
    said(sim, &close, text);
    assert_non_null(strstr(text, "larger RMIN and DTMIN"));
    said(sim, &noisy, text); /* ten times its error: not far above it */
    assert_non_null(strstr(text, "nobody but the system of star 1 (step 1e-12"));
    assert_non_null(strstr(text, "follow rounding errors"));
    assert_non_null(strstr(text, "larger ETAI"));
    assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
    noisy.change[0] = 2e-12;
    said(sim, &noisy, text);
    assert_null(strstr(text, "ETAI"));
    nb6_free(sim);
}

static int has_device(void)
{
    struct nbc_error err = {0};
    return nb6_device_engine && nb6_device_engine->check(&err) == NBC_OK;
}

int main(void)
{
    const struct CMUnitTest rules[] = {cmocka_unit_test(rule), cmocka_unit_test(limits), cmocka_unit_test(advice)};
    const struct CMUnitTest runs[] = {cmocka_unit_test(event), cmocka_unit_test(once), cmocka_unit_test(image)};
    int failed = cmocka_run_group_tests_name("rule and words", rules, NULL, NULL);
    failed += cmocka_run_group_tests_name("emulated engine", runs, NULL, NULL);
    if (!has_device()) return failed;
    under_test = NB6_ENGINE_DEVICE;
    return failed + cmocka_run_group_tests_name("device engine", runs, NULL, NULL);
}
