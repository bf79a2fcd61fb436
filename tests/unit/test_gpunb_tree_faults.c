/* Trees without memory: each allocation fails in turn. The failure is reported, arrays of the caller are not written,
 * and the handle and its trees give the same forces afterwards as if nothing had happened. */
#include "tests/support/failing_alloc.h"

#include "tests/conformance/gpunb_tree_model.h"

enum { N = 400 };

static struct model stars, moved;

static int make_stars(void **state)
{
    (void)state;
    stars = make_scene(HEAP, N);
    moved = make_scene(SPHERE, N);
    return 0;
}

static int free_stars(void **state)
{
    (void)state;
    free_model(&stars);
    free_model(&moved);
    return 0;
}

/* ---- what a handle does, step by step */

enum { RESULTS = 5 };

struct run {
    gpunb_t *handle;
    gpunb_tree_t *tree;
    int32_t no_self[N];
    struct forces result[RESULTS];
};

static int call_softened(struct run *run, const struct model *m, int k, const int32_t *self)
{
    struct gpunb_softened_job job = job_of(m, 0.02, &run->result[k]);
    job.self = self;
    return gpunb_softened(run->handle, &job);
}

static int call_force(struct run *run, const struct model *m, int k)
{
    const struct gpunb_softened_job job = job_of(m, 0.02, &run->result[k]);
    return gpunb_tree_force(run->handle, run->tree, &job);
}

static int create_step(struct run *run)
{
    const struct gpunb_options options = {.force_error = 1e-3, .leaf = LEAF, .group = GROUP, .walk = GPUNB_WALK_GROUPS};
    return try_tree(&run->handle, N, options, NULL);
}

static int send_step(struct run *run)
{
    return gpunb_send_positions(run->handle, N, stars.mass, positions(&stars));
}

static int softened_step(struct run *run)
{
    return call_softened(run, &stars, 0, stars.self);
}

static int build_step(struct run *run)
{
    return gpunb_tree_build(run->handle, &run->tree);
}

static int force_step(struct run *run)
{
    return call_force(run, &stars, 1);
}

/* Targets that are not known as sources have a tree of their own. */
static int others_step(struct run *run)
{
    return call_softened(run, &moved, 2, run->no_self);
}

static int send_moved_step(struct run *run)
{
    return gpunb_send_positions(run->handle, N, moved.mass, positions(&moved));
}

static int renew_step(struct run *run)
{
    return gpunb_tree_renew(run->handle, run->tree);
}

static int renewed_step(struct run *run)
{
    return call_force(run, &moved, 3);
}

static int last_step(struct run *run)
{
    return call_softened(run, &moved, 4, moved.self);
}

static const struct step {
    int (*call)(struct run *);
    int result; /* -1: none */
} steps[] = {
    {create_step, -1}, {send_step, -1},       {softened_step, 0}, {build_step, -1},  {force_step, 1},
    {others_step, 2},  {send_moved_step, -1}, {renew_step, -1},   {renewed_step, 3}, {last_step, 4},
};
enum { STEPS = sizeof steps / sizeof steps[0] };

static void open_run(struct run *run)
{
    memset(run, 0, sizeof *run);
    for (int k = 0; k < RESULTS; k++) run->result[k] = make_forces(N);
    for (int i = 0; i < N; i++) run->no_self[i] = -1;
}

static void close_run(struct run *run)
{
    gpunb_tree_free(run->tree);
    gpunb_free(run->handle);
    for (int k = 0; k < RESULTS; k++) free_forces(&run->result[k]);
}

static void assert_untouched(const struct forces *f)
{
    for (size_t i = 0; i < f->n_i; i++) assert_true(isnan(f->acc[i][0]) && isnan(f->pot[i]));
}

/* A step that failed, and what it must have left alone. */
static void check_failure(struct run *run, size_t s, int status)
{
    if (status != NBC_NO_MEMORY) fail_msg("step %zu: status %d", s, status);
    if (steps[s].call == create_step) assert_null(run->handle);
    if (steps[s].call == build_step) assert_null(run->tree);
    if (run->handle && !strstr(gpunb_last_error(run->handle), "memory"))
        fail_msg("step %zu: %s", s, gpunb_last_error(run->handle));
    if (steps[s].result >= 0) assert_untouched(&run->result[steps[s].result]);
    if (steps[s].call == renew_step) assert_int_equal(renewed_step(run), NBC_BAD_STATE);
}

/* All steps, in which the k-th allocation fails; the step is made again.   @return whether it has failed */
static int run_with(const struct run *good, long k)
{
    struct run run;
    int has_failed = 0;
    open_run(&run);
    fail_alloc(k);
    for (size_t s = 0; s < STEPS; s++) {
        const int status = steps[s].call(&run);
        if (status == NBC_OK) continue;
        fail_alloc(-1);
        has_failed++;
        check_failure(&run, s, status);
        assert_int_equal(steps[s].call(&run), NBC_OK);
    }
    has_failed |= alloc_left < 0; /* one that did without */
    fail_alloc(-1);
    for (int r = 0; r < RESULTS; r++) assert_same_forces(&run.result[r], &good->result[r]);
    close_run(&run);
    return has_failed;
}

static void memory(void **state)
{
    (void)state;
    if (!can_fail_alloc()) skip();
    struct run good;
    long k = 0;
    open_run(&good);
    for (size_t s = 0; s < STEPS; s++) assert_int_equal(steps[s].call(&good), NBC_OK);
    while (run_with(&good, k)) k++;
    /* Three trees of nine arrays and more, and groups of two kinds */
    assert_true(k > 40);
    close_run(&good);
}

static int run_suite(const char *title)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(memory)};
    return has_tree() ? cmocka_run_group_tests_name(title, tests, make_stars, free_stars) : 0;
}

int main(int argc, char **argv)
{
    return run_on_backends(argc, argv, "trees without memory", run_suite);
}
