#include "nbody6/collisionless/ranks/plan.h"

#include "nbody6/collisionless/collisionless.h"
#include "nbody6/collisionless/ranks/bodies.h"
#include "nbody6/collisionless/ranks/moves.h"
#include "nbody6/collisionless/ranks/places.h"
#include "nbody6/collisionless/ranks/trees.h"
#include "nbody6/world/world.h"

#include <stdlib.h>
#include <string.h>

void nb6_rank_tree_start_tell(struct nb6_world *world, const struct nb6_collisionless *whole,
                              struct nb6_rank_tree_start *start)
{
    if (whole) {
        memcpy(start->costs, whole->costs, sizeof start->costs);
        start->reuse = whole->reuse;
        start->rebuild = whole->rebuild;
        start->build_block = whole->build_block;
        start->has_sections = whole->sections != NULL;
    }
    nb6_world_broadcast(world, start, sizeof *start);
}

/* A body when the plan was made. */
struct record {
    int64_t name, rank;
    double x[3], acc[3], drift;
};

static void set_place(struct nb6_rank_places *p, int64_t i, const struct record *r)
{
    p->rank[i] = (int32_t)r->rank;
    memcpy(p->x[i], r->x, sizeof r->x);
    memcpy(p->acc[i], r->acc, sizeof r->acc);
    p->drift[i] = r->drift;
}

void nb6_rank_plan_judge(struct nb6_collisionless *s)
{
    const int stands = s->reuse > 1 && s->rebuild.state == NB6_TREE_STANDS;
    if (stands && nb6_rank_trees_planned(s->trees)->block != s->build_block) s->rebuild.state = NB6_TREE_IS_MISSING;
}

static int by_name(const void *a, const void *b)
{
    const int64_t p = ((const struct record *)a)->name, q = ((const struct record *)b)->name;
    return (p > q) - (p < q);
}

static int make_plan(struct nb6_collisionless *s, const struct record *come, struct nb6_rank_places *own,
                     struct nbc_error *err)
{
    const int status = nb6_world_agree(s->world, nb6_rank_places_open(own, s->n, err), err);
    if (status) return status;
    for (int64_t i = 0; i < s->n; i++) set_place(own, i, &come[i]);
    const struct nb6_rank_plan_job job = {.n = s->n,
                                          .mass = s->mass,
                                          .x = (const double(*)[3])own->x,
                                          .acc = (const double(*)[3])own->acc,
                                          .drift = own->drift,
                                          .softening = s->softening,
                                          .block = s->build_block};
    return nb6_rank_trees_plan(s->trees, &job, err);
}

/* Bodies by number, and their places. */
struct giving {
    const struct nb6_collisionless *share;
    const struct nb6_rank_places *mine;
};

static void fill_place(const void *context, int64_t i, void *record)
{
    const struct giving *g = context;
    const struct nb6_rank_places *p = g->mine;
    struct record r = {.name = g->share->name[i], .rank = p->rank[i], .drift = p->drift[i]};
    memcpy(r.x, p->x[i], sizeof r.x);
    memcpy(r.acc, p->acc[i], sizeof r.acc);
    memcpy(record, &r, sizeof r);
}

/* Rows of the plan follow the bodies, and have their order there. */
int nb6_rank_plan_resume(struct nb6_collisionless *s, const struct nb6_rank_places *mine, struct nbc_error *err)
{
    struct giving giving = {s, mine};
    struct nb6_rank_places own = {0};
    void *come = NULL;
    int64_t n_come = 0;
    const struct nb6_moves_job job = {
        .size = sizeof(struct record), .n = s->n, .to = mine->rank, .fill = fill_place, .context = &giving};
    int status = nb6_moves_make(s->moves, &job, &come, &n_come, err);
    if (!status) status = nb6_rank_bodies_send(s, mine->rank, err);
    if (!status && n_come > 0) qsort(come, (size_t)n_come, sizeof(struct record), by_name);
    if (!status) status = make_plan(s, come, &own, err);
    nb6_rank_places_free(&own);
    nbc_free(come);
    return status;
}
