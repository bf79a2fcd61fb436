#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "nbody6/analysis/frame.h"
#include "nbody6/collisionless/ranks.h"
#include "nbody6/world/world.h"
#include "tests/support/ranks.h"

static int make(struct ranks_run *run, struct nb6_collisionless **s)
{
    const struct cluster *c = run->start;
    if (run->resume) return nb6_collisionless_resume(s, run->resume, &run->options, &run->err);
    return nb6_collisionless_create(s, c->n, NULL, c->mass, (const double(*)[3])c->x, (const double(*)[3])c->v,
                                    &run->options, &run->err);
}

static void *copy(const void *from, size_t count, size_t size)
{
    void *to = malloc(count * size + 1);
    if (to) memcpy(to, from, count * size);
    return to;
}

static void keep(struct ranks_run *run, const struct nb6_collisionless *s)
{
    const size_t n = (size_t)s->n;
    run->state = (struct nb6_collisionless){.n = s->n,
                                            .name = copy(s->name, n, sizeof *s->name),
                                            .mass = copy(s->mass, n, sizeof *s->mass),
                                            .x0 = copy(s->x0, n, sizeof *s->x0),
                                            .v = copy(s->v, n, sizeof *s->v),
                                            .acc = copy(s->acc, n, sizeof *s->acc),
                                            .level = copy(s->level, n, sizeof *s->level),
                                            .ti_now = s->ti_now,
                                            .n_blocks = s->n_blocks,
                                            .n_steps = s->n_steps};
    if (s->ranks) nb6_ranks_get_counts(s->ranks, &run->counts);
}

static int make_frame(struct ranks_run *run, struct nb6_collisionless *s)
{
    struct nb6_frame frame;
    const int status = nb6_collisionless_frame(s, NB6_FRAME_POTENTIAL, &frame, &run->err);
    if (status) return status;
    free(run->pot);
    run->pot = copy(frame.pot, (size_t)s->n, sizeof *run->pot);
    nb6_frame_free(&frame);
    return NBC_OK;
}

static void lead(struct ranks_run *run)
{
    struct nb6_collisionless *s = NULL;
    int status = make(run, &s);
    for (int k = 0; k < 4 && run->t[k] > 0 && !status; k++) {
        status = nb6_collisionless_evolve(s, run->t[k], &run->err);
        struct nbc_error again = {0};
        if (status) run->repeated = nb6_collisionless_evolve(s, run->t[k], &again);
        if (!status && run->with_frames) status = make_frame(run, s);
    }
    run->status = status;
    if (s) {
        if (s->ranks) run->stops = nb6_ranks_wanting_stop(s->ranks);
        if (nb6_collisionless_home(s, &run->err) == NBC_OK) keep(run, s);
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
    void *arrays[] = {run->state.name, run->state.mass, run->state.x0,   run->state.v,
                      run->state.acc,  run->pot,        run->state.level};
    for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++) free(arrays[k]);
    run->state = (struct nb6_collisionless){0};
    run->pot = NULL;
}
