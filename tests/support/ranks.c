#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nbody6/analysis/frame.h"
#include "nbody6/analysis/structure.h"
#include "nbody6/collisionless/force_error.h"
#include "nbody6/collisionless/ranks/places.h"
#include "nbody6/collisionless/ranks/ranks.h"
#include "nbody6/collisionless/ranks/rows.h"
#include "nbody6/collisionless/ranks/sections.h"
#include "nbody6/world/world.h"
#include "tests/support/ranks.h"

/* Bodies of a run that has ended, and their places. */
static int give_bodies(void *context, const struct nb6_body_sink *sink, struct nbc_error *err)
{
    const struct ranks_run *then = context;
    const struct nb6_collisionless *s = &then->state;
    const struct nb6_rank_arrays arrays = {s->n, {s->name, s->mass, s->x0, s->v, s->acc, s->level}};
    (void)nb6_rank_give_arrays((void *)&arrays, sink, err);
    for (int c = NB6_ROWS_PLACE_RANK; c <= NB6_ROWS_PLACE_DRIFT && s->kept.has_places; c++) {
        const enum nb6_body_column column = (enum nb6_body_column)c;
        sink->put(sink->context, column, 0, s->n, nb6_rank_places_column(&then->places, column));
    }
    return NBC_OK;
}

static int make(struct ranks_run *run, struct nb6_collisionless **s)
{
    const struct cluster *c = run->start;
    struct nb6_collisionless_options options = run->options;
    const struct nb6_body_source from = {give_bodies, (void *)run->resume};
    if (run->resume && run->ranks > 1) options.bodies = &from;
    if (run->resume) return nb6_collisionless_resume(s, &run->resume->state, &options, &run->err);
    return nb6_collisionless_create(s, c->n, NULL, c->mass, (const double(*)[3])c->x, (const double(*)[3])c->v,
                                    &run->options, &run->err);
}

static void *copy(const struct nb6_body_rows *rows, enum nb6_body_column column, int64_t n, size_t size)
{
    char *to = malloc((size_t)n * size + 1);
    const int64_t half = n / 2;
    if (!to) abort();
    rows->get(rows->context, column, 0, half, to);
    rows->get(rows->context, column, half, n - half, to + (size_t)half * size);
    return to;
}

/* Trees and domains in a checkpoint. */
static void keep_trees(struct ranks_run *run, const struct nb6_collisionless *s, const struct nb6_body_rows *rows)
{
    struct nb6_rank_places *p = &run->places;
    const struct nb6_sections *sections = s->ranks ? nb6_ranks_sections(s->ranks) : NULL;
    if (sections) run->state.sections = nb6_sections_create(sections->ranks);
    if (run->state.sections) nb6_sections_copy(run->state.sections, sections);
    run->state.kept.has_places = sections && s->reuse > 1 && s->rebuild.state == NB6_TREE_STANDS;
    if (!run->state.kept.has_places) return;
    p->rank = copy(rows, NB6_ROWS_PLACE_RANK, s->n, sizeof *p->rank);
    p->x = copy(rows, NB6_ROWS_PLACE_X, s->n, sizeof *p->x);
    p->acc = copy(rows, NB6_ROWS_PLACE_ACC, s->n, sizeof *p->acc);
    p->drift = copy(rows, NB6_ROWS_PLACE_DRIFT, s->n, sizeof *p->drift);
}

static void keep(struct ranks_run *run, struct nb6_collisionless *s)
{
    const int64_t n = s->n;
    const struct nb6_body_rows rows = nb6_collisionless_rows(s);
    run->state = (struct nb6_collisionless){.n = n,
                                            .name = copy(&rows, NB6_ROWS_NAME, n, sizeof *s->name),
                                            .mass = copy(&rows, NB6_ROWS_MASS, n, sizeof *s->mass),
                                            .x0 = copy(&rows, NB6_ROWS_X, n, sizeof *s->x0),
                                            .v = copy(&rows, NB6_ROWS_V, n, sizeof *s->v),
                                            .acc = copy(&rows, NB6_ROWS_ACC, n, sizeof *s->acc),
                                            .level = copy(&rows, NB6_ROWS_LEVEL, n, sizeof *s->level),
                                            .ti_now = s->ti_now,
                                            .n_blocks = s->n_blocks,
                                            .n_steps = s->n_steps,
                                            .reuse = s->reuse,
                                            .rebuild = s->rebuild,
                                            .build_block = s->build_block};
    keep_trees(run, s, &rows);
    if (s->ranks) nb6_ranks_get_counts(s->ranks, &run->counts);
    if (s->ranks) (void)nb6_ranks_get_tree_counts(s->ranks, &run->tree_counts);
}

/* Potentials of a frame that owns them. */
static void get_potentials(void *context, enum nb6_body_column column, int64_t first, int64_t count, void *rows)
{
    const struct nb6_frame *frame = context;
    if (column == NB6_ROWS_POT) memcpy(rows, frame->pot + first, (size_t)count * sizeof *frame->pot);
}

static int make_frame(struct ranks_run *run, struct nb6_collisionless *s)
{
    struct nb6_frame frame;
    const int status = nb6_collisionless_frame(s, NB6_FRAME_POTENTIAL, &frame, &run->err);
    if (status) return status;
    const struct nb6_body_rows own = {get_potentials, &frame};
    free(run->pot);
    run->pot = copy(frame.rows.get ? &frame.rows : &own, NB6_ROWS_POT, s->n, sizeof *run->pot);
    const int has_rows = frame.rows.get != NULL;
    nb6_frame_free(&frame);
    return has_rows ? nb6_ranks_survey(s->ranks, &run->survey, &run->err) : NBC_OK;
}

static void lead(struct ranks_run *run)
{
    struct nb6_collisionless *s = NULL;
    struct nbc_error again = {0};
    int status = make(run, &s);
    for (int k = 0; k < 4 && run->t[k] > 0 && !status; k++) {
        status = nb6_collisionless_evolve(s, run->t[k], &run->err);
        if (status) run->repeated = nb6_collisionless_evolve(s, run->t[k], &again);
        if (!status && run->with_frames) status = make_frame(run, s);
    }
    run->status = status;
    if (s) {
        run->engine = nb6_collisionless_engine_name(s);
        run->backend = s->options.backend;
        if (s->ranks) run->stops = nb6_ranks_wanting_stop(s->ranks);
        const int at_home = nb6_collisionless_home(s, status ? &again : &run->err);
        if (!at_home) keep(run, s);
        if (!status) run->status = at_home;
    }
    nb6_collisionless_free(s);
}

static void on_rank(struct nb6_world *world, void *context)
{
    struct ranks_run *run = context;
    const int rank = nb6_world_rank(world);
    if (rank == 0) {
        run->options.world = world;
        lead(run);
        run->options.world = NULL;
        run->seconds = nb6_world_seconds(world);
        nb6_ranks_dismiss(world, RANKS_DISMISSED);
    } else {
        const int status = nb6_ranks_serve(world, run->wants_stop);
        if (rank < 64) run->served[rank] = status;
    }
}

void ranks_run(struct ranks_run *run)
{
    struct nbc_error err = {0};
    if (run->ranks == 1)
        lead(run);
    else {
        const int status = nb6_world_threads_run(run->ranks, &run->threads, on_rank, run, &err);
        if (status == NBC_NO_MEMORY) {
            run->status = status;
            run->err = err;
        } else if (status)
            fail_msg("%d ranks: %s", run->ranks, err.text);
    }
}

void ranks_run_free(struct ranks_run *run)
{
    const struct nb6_rank_places *p = &run->places;
    void *arrays[] = {run->state.name,  run->state.mass, run->state.x0, run->state.v, run->state.acc, run->pot,
                      run->state.level, p->rank,         p->x,          p->acc,       p->drift};
    for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++) free(arrays[k]);
    nb6_sections_free(run->state.sections);
    run->state = (struct nb6_collisionless){0};
    run->places = (struct nb6_rank_places){0};
    run->pot = NULL;
}

struct ranks_run ranks_finished(struct ranks_run run)
{
    ranks_run(&run);
    if (run.status) fail_msg("%d ranks: %s", run.ranks, run.err.text);
    for (int k = 1; k < run.ranks && k < 64; k++) assert_int_equal(run.served[k], RANKS_DISMISSED);
    return run;
}

static double largest_difference(int64_t n, const double (*a)[3], const double (*b)[3])
{
    double largest = 0;
    for (int64_t i = 0; i < n; i++)
        for (int k = 0; k < 3; k++) largest = fmax(largest, fabs(a[i][k] - b[i][k]));
    return largest;
}

void ranks_assert_near(const struct ranks_run *a, const struct ranks_run *b, double tolerance)
{
    const struct nb6_collisionless *p = &a->state, *q = &b->state;
    assert_int_equal(p->n, q->n);
    assert_int_equal(p->ti_now, q->ti_now);
    assert_true(largest_difference(p->n, (const double(*)[3])p->x0, (const double(*)[3])q->x0) <= tolerance);
    assert_true(largest_difference(p->n, (const double(*)[3])p->v, (const double(*)[3])q->v) <= tolerance);
    for (int64_t i = 0; i < p->n && a->pot && b->pot; i++) assert_true(fabs(a->pot[i] - b->pot[i]) <= tolerance);
}

void ranks_assert_same(const struct ranks_run *a, const struct ranks_run *b)
{
    const struct nb6_collisionless *p = &a->state, *q = &b->state;
    const size_t n = (size_t)p->n;
    assert_int_equal(p->ti_now, q->ti_now);
    assert_int_equal(p->n_blocks, q->n_blocks);
    assert_int_equal(p->n_steps, q->n_steps);
    assert_memory_equal(p->name, q->name, n * sizeof *p->name);
    assert_memory_equal(p->mass, q->mass, n * sizeof *p->mass);
    assert_memory_equal(p->x0, q->x0, n * sizeof *p->x0);
    assert_memory_equal(p->v, q->v, n * sizeof *p->v);
    assert_memory_equal(p->acc, q->acc, n * sizeof *p->acc);
    assert_memory_equal(p->level, q->level, n * sizeof *p->level);
    if (a->pot && b->pot) assert_memory_equal(a->pot, b->pot, n * sizeof *a->pot);
}

static void assert_close(double a, double b)
{
    assert_true(fabs(a - b) <= 1e-12 * fmax(1, fabs(b)));
}

static void assert_errors(const struct ranks_run *run)
{
    const struct nb6_collisionless *s = &run->state;
    const struct nb6_frame frame = {.n = s->n, .mass = s->mass, .x = s->x0, .acc = s->acc};
    const struct nb6_force_error *is = &run->survey.force_error;
    struct nb6_force_error error;
    nb6_force_error_find(&frame, run->options.softening, &error);
    assert_close(is->half, error.half);
    assert_close(is->most, error.most);
    assert_close(is->largest, error.largest);
}

/* Sums have another order: some roundings of numbers up to 1. */
void ranks_assert_surveyed(const struct ranks_run *run)
{
    const struct nb6_collisionless *s = &run->state;
    const struct nb6_rank_survey *is = &run->survey;
    const double(*x)[3] = (const double(*)[3])s->x0, (*v)[3] = (const double(*)[3])s->v;
    struct nb6_structure structure;
    struct nbc_error err = {0};
    double kinetic = 0, potential = 0, spin = 0;
    assert_int_equal(nb6_structure_find(s->n, s->mass, x, v, &structure, &err), NBC_OK);
    for (int64_t i = 0; i < s->n; i++) {
        for (int k = 0; k < 3; k++) kinetic += 0.5 * s->mass[i] * v[i][k] * v[i][k];
        potential += 0.5 * s->mass[i] * run->pot[i];
        spin += s->mass[i] * (x[i][0] * v[i][1] - x[i][1] * v[i][0]);
    }
    assert_close(is->energy.kinetic, kinetic);
    assert_close(is->energy.potential, potential);
    assert_close(is->energy.total, kinetic + potential);
    assert_close(is->energy.angular_momentum[2], spin);
    assert_int_equal(is->structure.n_core, structure.n_core);
    assert_close(is->structure.r_core, structure.r_core);
    assert_close(is->structure.rho_core, structure.rho_core);
    assert_close(is->structure.r_half, structure.r_half);
    for (int k = 0; k < 3; k++) {
        assert_close(is->structure.r_density[k], structure.r_density[k]);
        assert_close(is->structure.v_density[k], structure.v_density[k]);
    }
    for (int k = 0; k < NB6_LAGR_COUNT; k++) assert_close(is->structure.r_lagr[k], structure.r_lagr[k]);
    assert_true(is->shortest <= is->longest && is->longest <= 0.125);
    if (s->sections) assert_errors(run);
}

/* ---- scenes */

void ranks_assert_no_order_matters(const struct ranks_run *asked, int orders)
{
    struct ranks_run run = *asked, first = ranks_finished(run);
    for (int shuffle = 0; shuffle < orders; shuffle++) {
        run.threads.shuffle = (uint64_t)shuffle;
        struct ranks_run again = ranks_finished(run);
        ranks_assert_same(&first, &again);
        ranks_run_free(&again);
    }
    ranks_run_free(&first);
}

void ranks_assert_goes_on(const struct ranks_run *asked, double tolerance)
{
    struct ranks_run run = *asked, whole = ranks_finished(run);
    run.t[1] = 0;
    struct ranks_run half = ranks_finished(run);
    run.start = NULL;
    run.resume = &half;
    run.t[0] = asked->t[1];
    struct ranks_run same = ranks_finished(run);
    ranks_assert_same(&whole, &same);
    for (int ranks = 1; ranks <= 5; ranks += 4) {
        run.ranks = ranks;
        struct ranks_run other = ranks_finished(run);
        ranks_assert_near(&whole, &other, tolerance);
        ranks_run_free(&other);
    }
    ranks_run_free(&whole);
    ranks_run_free(&half);
    ranks_run_free(&same);
}

void ranks_assert_bad_bodies_end(const struct ranks_run *asked)
{
    for (int64_t bad = 0; bad < 50; bad += 12) {
        struct cluster c = cluster_plummer(50, 8);
        struct ranks_run run = *asked;
        char words[32];
        c.v[bad][1] = 1e17;
        run.start = &c;
        ranks_run(&run);
        snprintf(words, sizeof words, "body %d ", (int)bad + 1);
        assert_int_equal(run.status, NBC_BAD_ARGUMENT);
        assert_int_equal(run.repeated, NBC_BAD_ARGUMENT);
        assert_non_null(strstr(run.err.text, words));
        assert_int_equal(run.state.ti_now, 0);
        assert_memory_equal(run.state.x0, c.x, 50 * sizeof *c.x);
        ranks_run_free(&run);
        cluster_free(&c);
    }
}

long ranks_fail_allocations(const struct ranks_run *run, long every, void (*fail_at)(long k), const _Atomic long *left)
{
    struct ranks_run good = ranks_finished(*run);
    long failures = 0, is_over = 0;
    for (long k = 0; !is_over; k += every) {
        struct ranks_run bad = *run;
        fail_at(k);
        ranks_run(&bad);
        is_over = *left >= 0; /* it has not come so far */
        fail_at(-1);
        failures += bad.status != NBC_OK;
        if (bad.status != NBC_DEVICE || run->options.engine <= NB6_COLLISIONLESS_HOST) {
            assert_true(bad.status == NBC_OK || bad.status == NBC_NO_MEMORY);
            assert_true(!bad.status || strstr(bad.err.text, "memory"));
        }
        if (!bad.status) ranks_assert_same(&good, &bad);
        ranks_run_free(&bad);
    }
    ranks_run_free(&good);
    return failures;
}

struct cluster ranks_few_bodies(int64_t n)
{
    static const double alone[1][7] = {{1, 0.5, 0, 0, 0, 0.25, 0}};
    return n == 1 ? cluster_from_rows(1, alone) : cluster_plummer(n, 7);
}

static int by_value(const void *a, const void *b)
{
    const double p = *(const double *)a, q = *(const double *)b;
    return (p > q) - (p < q);
}

struct ranks_errors ranks_errors_of(const struct ranks_run *run)
{
    const struct nb6_collisionless *s = &run->state;
    double *acc = malloc((size_t)s->n * sizeof *acc), *pot = malloc((size_t)s->n * sizeof *pot), sum[3] = {0}, all = 0;
    assert_true(acc && pot);
    for (int64_t i = 0; i < s->n; i++) {
        double a[3] = {0}, p = 0, d2 = 0, a2 = 0;
        for (int64_t j = 0; j < s->n; j++) {
            double d[3], r2 = run->options.softening * run->options.softening;
            for (int k = 0; k < 3; k++) {
                d[k] = s->x0[j][k] - s->x0[i][k];
                r2 += d[k] * d[k];
            }
            const double mr = s->mass[j] / sqrt(r2);
            for (int k = 0; k < 3; k++) a[k] += mr / r2 * d[k];
            p -= j == i ? 0 : mr;
        }
        for (int k = 0; k < 3; k++) {
            d2 += (s->acc[i][k] - a[k]) * (s->acc[i][k] - a[k]);
            a2 += a[k] * a[k];
            sum[k] += s->mass[i] * s->acc[i][k];
        }
        all += s->mass[i] * sqrt(a2);
        acc[i] = sqrt(d2 / a2);
        pot[i] = fabs(run->pot[i] / p - 1);
    }
    qsort(acc, (size_t)s->n, sizeof *acc, by_value);
    qsort(pot, (size_t)s->n, sizeof *pot, by_value);
    const struct ranks_errors e = {acc[(s->n - 1) * 99 / 100], pot[(s->n - 1) * 99 / 100],
                                   sqrt(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]) / all};
    free(acc);
    free(pot);
    return e;
}
