/* Ranks, which are threads here, with their bodies on devices: the bits of ranks with bodies in memory and the same
 * forces, runs that go on, bodies and devices that fail. The devices are emulated, or GPUs with GPUNB_BACKEND=cuda in
 * the environment. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/faults.h"
#include "nbody6/collisionless/collisionless.h"
#include "nbody6/collisionless/ranks/backend.h"
#include "nbody6/collisionless/ranks/ranks.h"
#include "nbody6/world/world.h"
#include "tests/support/cluster.h"
#include "tests/support/environment.h"
#include "tests/support/failing_alloc.h"
#include "tests/support/ranks.h"

enum { BODIES = 150 };

static int has_gpus(void)
{
    const char *asked = getenv("GPUNB_BACKEND");
    return asked && strcmp(asked, "cuda") == 0;
}

static enum nb6_collisionless_engine engine_of_devices(void)
{
    return has_gpus() ? NB6_COLLISIONLESS_DEVICE : NB6_COLLISIONLESS_EMULATED;
}

static struct nb6_collisionless_options options_of(enum nb6_collisionless_steps steps,
                                                   enum nb6_collisionless_engine engine)
{
    return (struct nb6_collisionless_options){.softening = 0.05,
                                              .dt = 0.125,
                                              .steps = steps,
                                              .eta = 0.2,
                                              .engine = engine,
                                              .force = {.backend = has_gpus() ? "cuda" : "emulated"}};
}

/* The kernels are those of the handle, and partial sums have the same order. With a ring, too, where sets share sums;
 * and with more ranks than there are emulated devices. */
static void bits_are_those_of_ranks_in_memory(void **state)
{
    (void)state;
    static const int sizes[] = {2, 3, 5, 8};
    struct cluster c = cluster_plummer(BODIES, 3);
    for (int k = 0; k < 4; k++)
        for (size_t room = 0; room <= 2000; room += 2000) {
            struct ranks_run run = {.ranks = sizes[k], .start = &c, .t = {0.25, 0.5}, .with_frames = k == 0};
            run.options = options_of(k % 2, NB6_COLLISIONLESS_HOST);
            run.options.room = room;
            struct ranks_run here = ranks_finished(run);
            assert_string_equal(here.engine, "host");
            run.options.engine = engine_of_devices();
            run.threads.shuffle = room;
            struct ranks_run there = ranks_finished(run);
            assert_string_equal(there.engine, has_gpus() ? "device" : "emulated");
            ranks_assert_same(&here, &there);
            assert_true(there.counts.beside > 0);
            ranks_run_free(&here);
            ranks_run_free(&there);
        }
    cluster_free(&c);
}

/* The state of three ranks at t = 0.5 goes on with the same bits on three, and on others within the roundings of
 * floats: 1e-7 of each of 150 terms, which half a time unit lets grow by less than a hundred. */
static void runs_go_on_on_any_number_of_ranks(void **state)
{
    (void)state;
    struct cluster c = cluster_plummer(BODIES, 6);
    struct ranks_run run = {.ranks = 3, .start = &c, .t = {0.5, 1}};
    run.options = options_of(NB6_COLLISIONLESS_BLOCK, engine_of_devices());
    ranks_assert_goes_on(&run, 1e-5);
    cluster_free(&c);
}

static void ranks_may_have_no_bodies(void **state)
{
    (void)state;
    for (int64_t n = 1; n <= 5; n += 2) {
        struct cluster c = ranks_few_bodies(n);
        struct ranks_run run = {.ranks = 4, .start = &c, .t = {0.5}};
        run.options = options_of(NB6_COLLISIONLESS_BLOCK, NB6_COLLISIONLESS_HOST);
        struct ranks_run here = ranks_finished(run);
        run.options.engine = engine_of_devices();
        struct ranks_run there = ranks_finished(run);
        ranks_assert_same(&here, &there);
        ranks_run_free(&here);
        ranks_run_free(&there);
        cluster_free(&c);
    }
}

/* A body leaves the range of positions, on each rank in turn: message and state are those of ranks in memory. */
static void failures_end_a_block_on_all_ranks(void **state)
{
    (void)state;
    for (int64_t bad = 0; bad < 50; bad += 16) {
        struct cluster c = cluster_plummer(50, 8);
        c.v[bad][1] = 5e15; /* beyond 1e15 in the second step */
        struct ranks_run here = {.ranks = 4, .start = &c, .t = {0.5}}, there = here;
        here.options = options_of(NB6_COLLISIONLESS_SHARED, NB6_COLLISIONLESS_HOST);
        there.options = options_of(NB6_COLLISIONLESS_SHARED, engine_of_devices());
        ranks_run(&here);
        ranks_run(&there);
        assert_int_equal(here.status, NBC_BAD_ARGUMENT);
        assert_int_equal(there.status, NBC_BAD_ARGUMENT);
        assert_int_equal(there.repeated, NBC_BAD_ARGUMENT);
        assert_string_equal(here.err.text, there.err.text);
        assert_true(there.state.n_blocks > 0);
        ranks_assert_same(&here, &there);
        ranks_run_free(&here);
        ranks_run_free(&there);
        cluster_free(&c);
    }
}

/* ---- devices that fail */

enum { FEW = 24, RANKS = 3, STRIDE = 17, HOME_STRIDE = 3 };

/* Of a rank 0; threads other than that of the test must not end it. */
struct fault_run {
    const struct cluster *c;
    const struct nb6_collisionless *end; /* the state at t = 1 without failures; NULL: it is wanted */
    enum nb6_collisionless_steps steps;
    int at_home;
    int64_t k; /* 0: none */
    struct nb6_collisionless state;
    int status, failed, was_kept, ended_alike;
};

static void copy_state(struct nb6_collisionless *s, struct nb6_collisionless *to)
{
    const struct nb6_body_rows rows = nb6_collisionless_rows(s);
    *to = (struct nb6_collisionless){.ti_now = s->ti_now, .n_steps = s->n_steps, .n_blocks = s->n_blocks};
    to->x0 = calloc(FEW, sizeof *s->x0);
    to->v = calloc(FEW, sizeof *s->v);
    rows.get(rows.context, NB6_ROWS_X, 0, FEW, to->x0);
    rows.get(rows.context, NB6_ROWS_V, 0, FEW, to->v);
}

static void free_state(struct nb6_collisionless *s)
{
    free(s->x0);
    free(s->v);
}

static int is_same(struct nb6_collisionless *a, const struct nb6_collisionless *b)
{
    struct nb6_collisionless now;
    copy_state(a, &now);
    const int same = now.ti_now == b->ti_now && now.n_steps == b->n_steps && now.n_blocks == b->n_blocks &&
                     !memcmp(now.x0, b->x0, FEW * sizeof *b->x0) && !memcmp(now.v, b->v, FEW * sizeof *b->v);
    free_state(&now);
    return same;
}

static void lead(struct fault_run *f, struct nb6_world *world)
{
    struct nbc_error err = {0};
    struct nb6_collisionless *s = NULL, half;
    struct nb6_collisionless_options options = options_of(f->steps, engine_of_devices());
    options.world = world;
    f->status = nb6_collisionless_create(&s, FEW, NULL, f->c->mass, (const double(*)[3])f->c->x,
                                         (const double(*)[3])f->c->v, &options, &err);
    if (f->status) return;
    f->ended_alike = !nb6_collisionless_evolve(s, 0.5, &err) && !nb6_collisionless_home(s, &err);
    copy_state(s, &half);
    if (f->at_home) f->ended_alike &= !nb6_collisionless_evolve(s, 1, &err);
    nbd_fault_set(f->k ? NBD_FAULT_FAIL : NBD_FAULT_NONE, f->k, 1);
    f->status = f->at_home ? nb6_collisionless_home(s, &err) : nb6_collisionless_evolve(s, 1, &err);
    f->failed = nbd_fault_failures() > 0;
    nbd_fault_set(NBD_FAULT_NONE, 0, 0);
    /* The last call of a block fails where nobody waits any more: the next one tells. */
    f->was_kept = !f->status || (!nb6_collisionless_home(s, &err) && is_same(s, &half));
    f->ended_alike &= !nb6_collisionless_evolve(s, 1, &err) || !nb6_collisionless_evolve(s, 1, &err);
    if (nb6_collisionless_home(s, &err))
        f->ended_alike &= !nb6_collisionless_evolve(s, 1, &err) && !nb6_collisionless_home(s, &err);
    if (f->end)
        f->ended_alike &= is_same(s, f->end);
    else
        copy_state(s, &f->state);
    free_state(&half);
    nb6_collisionless_free(s);
}

static void on_rank(struct nb6_world *world, void *context)
{
    if (nb6_world_rank(world) > 0) {
        (void)nb6_ranks_serve(world, NULL);
        return;
    }
    lead(context, world);
    nb6_ranks_dismiss(world, NBC_OK);
}

static void run_with(struct fault_run *f)
{
    struct nbc_error err = {0};
    const struct nb6_threads_options plain = {0};
    assert_int_equal(nb6_world_threads_run(RANKS, &plain, on_rank, f, &err), NBC_OK);
}

/* The k-th call of the devices of all ranks fails, once: all ranks learn of it, and have the state of the time that was
 * home last, of one time; the run goes on from there to the same bits. */
static void a_device_that_fails_takes_all_ranks_back(void **state)
{
    (void)state;
    struct cluster c = cluster_plummer(FEW, 9);
    for (int at_home = 0; at_home < 2; at_home++)
        for (enum nb6_collisionless_steps steps = 0; steps < 2; steps++) {
            struct fault_run good = {.c = &c, .steps = steps};
            run_with(&good);
            int64_t k = 1;
            for (int more = 1; more; k += at_home ? HOME_STRIDE : STRIDE) {
                struct fault_run f = {.c = &c, .end = &good.state, .steps = steps, .at_home = at_home, .k = k};
                run_with(&f);
                if (f.status && f.status != NBC_DEVICE) fail_msg("call %d: status %d", (int)k, f.status);
                assert_true(!f.status || f.failed);
                assert_true(f.was_kept);
                if (!f.ended_alike) fail_msg("call %d, status %d", (int)k, f.status);
                more = f.failed;
            }
            assert_true(k > (at_home ? 10 : 100));
            free_state(&good.state);
        }
    cluster_free(&c);
}

static void memory_may_end_on_any_rank(void **state)
{
    (void)state;
    if (!can_fail_alloc()) skip();
    struct cluster c = cluster_plummer(FEW, 12);
    struct ranks_run run = {.ranks = RANKS, .start = &c, .t = {0.125}};
    run.options = options_of(NB6_COLLISIONLESS_SHARED, engine_of_devices());
    const long failures = ranks_fail_allocations(&run, 7, fail_alloc, &alloc_left);
    assert_true(failures > (has_gpus() ? 3 : 20)); /* 3 ranks have some 60 arrays each; GPUs have most of them */
    cluster_free(&c);
}

/* ---- which device a rank takes */

struct choice {
    const char *asked, *own[3];
    int device[3], good[3];
};

static void choose(struct nb6_world *world, void *context)
{
    struct choice *c = context;
    const int rank = nb6_world_rank(world);
    char asked[NB6_RANK_BACKEND_TEXT], own[NB6_RANK_BACKEND_TEXT];
    struct nbc_error err = {0};
    int is_choice;
    c->good[rank] = !nb6_rank_backend_asked(c->asked, 1, asked, &is_choice, &err) &&
                    !nb6_rank_backend_own(world, asked, own, &err) && !strcmp(own, c->own[rank]) &&
                    nb6_rank_backend_device(own) == c->device[rank];
}

static void a_rank_takes_the_device_of_its_place(void **state)
{
    (void)state;
    struct choice choices[] = {{"emulated", {"emulated:0", "emulated:1", "emulated:2"}, {0, 1, 2}, {0}},
                               {"emulated:3,1", {"emulated:3", "emulated:1", "emulated:3"}, {3, 1, 3}, {0}},
                               {"emulated:2", {"emulated:2", "emulated:2", "emulated:2"}, {2, 2, 2}, {0}},
                               {"portable", {"portable", "portable", "portable"}, {-1, -1, -1}, {0}}};
    char text[NB6_RANK_BACKEND_TEXT];
    struct nbc_error err = {0};
    int is_choice;
    for (size_t k = 0; k < sizeof choices / sizeof choices[0]; k++) {
        assert_int_equal(nb6_world_threads_run(RANKS, &(struct nb6_threads_options){0}, choose, &choices[k], &err),
                         NBC_OK);
        for (int rank = 0; rank < RANKS; rank++) assert_true(choices[k].good[rank]);
    }
    assert_int_equal(nb6_rank_backend_asked("none of these", 1, text, &is_choice, &err), NBC_UNAVAILABLE);
    assert_int_equal(nb6_rank_backend_asked("emulated:0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0",
                                            1, text, &is_choice, &err),
                     NBC_UNAVAILABLE);
}

/* Where nobody asks for a backend, devices are taken if each rank of the host has one of its own; there are four
 * emulated ones. */
static void devices_are_taken_where_all_ranks_have_one(void **state)
{
    (void)state;
    if (has_gpus()) skip();
    struct cluster c = cluster_plummer(20, 13);
    char *kept = keep_variable("GPUNB_BACKEND");
    set_variable("GPUNB_BACKEND", "emulated");
    for (int ranks = 3; ranks <= 5; ranks++) {
        struct ranks_run run = {.ranks = ranks, .start = &c};
        run.options = options_of(NB6_COLLISIONLESS_SHARED, NB6_COLLISIONLESS_HOST);
        run.options.force.backend = NULL;
        struct ranks_run found = ranks_finished(run);
        assert_int_equal(strcmp(found.backend, "emulated") == 0, ranks < 5);
        ranks_run_free(&found);
    }
    restore_variable("GPUNB_BACKEND", kept);
    cluster_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_are_those_of_ranks_in_memory),
        cmocka_unit_test(runs_go_on_on_any_number_of_ranks),
        cmocka_unit_test(ranks_may_have_no_bodies),
        cmocka_unit_test(failures_end_a_block_on_all_ranks),
        cmocka_unit_test(a_device_that_fails_takes_all_ranks_back),
        cmocka_unit_test(memory_may_end_on_any_rank),
        cmocka_unit_test(a_rank_takes_the_device_of_its_place),
        cmocka_unit_test(devices_are_taken_where_all_ranks_have_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
