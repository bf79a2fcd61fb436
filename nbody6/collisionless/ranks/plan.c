#include "nbody6/collisionless/ranks/plan.h"

#include "nbody6/collisionless/collisionless.h"
#include "nbody6/collisionless/kept_tree.h"
#include "nbody6/collisionless/ranks/bodies.h"
#include "nbody6/collisionless/ranks/moves.h"
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

static int no_memory(int64_t n, struct nbc_error *err)
{
    return nbc_fail(err, NBC_NO_MEMORY, "no memory for the trees of %lld bodies", (long long)n);
}

/* Columns of some bodies. */
static int open_places(struct nb6_kept_places *p, int64_t n, struct nbc_error *err)
{
    p->rank = nbc_alloc_unset((size_t)n, sizeof *p->rank);
    p->x = nbc_alloc_unset((size_t)n, sizeof *p->x);
    p->acc = nbc_alloc_unset((size_t)n, sizeof *p->acc);
    p->drift = nbc_alloc_unset((size_t)n, sizeof *p->drift);
    return p->rank && p->x && p->acc && p->drift ? NBC_OK : no_memory(n, err);
}

static void set_place(struct nb6_kept_places *p, int64_t i, const struct record *r)
{
    p->rank[i] = (int32_t)r->rank;
    memcpy(p->x[i], r->x, sizeof r->x);
    memcpy(p->acc[i], r->acc, sizeof r->acc);
    p->drift[i] = r->drift;
}

/* ---- to rank 0 */

static int64_t first_of(const struct nb6_collisionless *s, int64_t *n)
{
    int64_t first, end;
    nb6_world_share(s->world, s->n_all, nb6_world_rank(s->world), &first, &end);
    *n = end - first;
    return first;
}

/* To the ranks that have their numbers. */
static int send_home(const struct nb6_collisionless *s, struct nb6_kept_places *home, int64_t first,
                     struct nbc_error *err)
{
    const struct nb6_rank_plan *plan = nb6_rank_trees_planned(s->trees);
    struct record *record = nbc_alloc_unset((size_t)s->n, sizeof *record);
    int32_t *to = nb6_rank_bodies_homes(s, s->n_all);
    void *come = NULL;
    int64_t n_come = 0;
    int status = nb6_world_agree(s->world, record && to ? NBC_OK : no_memory(s->n, err), err);
    for (int64_t i = 0; i < s->n && !status; i++) {
        record[i] = (struct record){.name = s->name[i], .rank = nb6_world_rank(s->world), .drift = plan->drift[i]};
        memcpy(record[i].x, plan->x[i], sizeof record[i].x);
        memcpy(record[i].acc, plan->acc[i], sizeof record[i].acc);
    }
    if (!status) status = nb6_moves_make(s->world, sizeof *record, s->n, record, to, &come, &n_come, err);
    for (int64_t k = 0; k < n_come && !status; k++) {
        const struct record *r = (const struct record *)come + k;
        set_place(home, r->name - 1 - first, r);
    }
    nbc_free(record);
    nbc_free(to);
    nbc_free(come);
    return status;
}

static void gather(const struct nb6_collisionless *s, const struct nb6_kept_places *home,
                   const struct nb6_kept_places *all)
{
    nb6_world_gather(s->world, s->n_all, sizeof *home->rank, home->rank, all->rank);
    nb6_world_gather(s->world, s->n_all, sizeof *home->x, home->x, all->x);
    nb6_world_gather(s->world, s->n_all, sizeof *home->acc, home->acc, all->acc);
    nb6_world_gather(s->world, s->n_all, sizeof *home->drift, home->drift, all->drift);
}

int nb6_rank_plan_home(struct nb6_collisionless *s, struct nb6_collisionless *whole, struct nbc_error *err)
{
    static const struct nb6_kept_places none;
    struct nb6_kept_places home = {0};
    int64_t n;
    const int64_t first = first_of(s, &n);
    if (s->reuse == 1 || s->rebuild.state != NB6_TREE_STANDS) return NBC_OK;
    if (nb6_rank_trees_planned(s->trees)->block != s->build_block) {
        s->rebuild.state = NB6_TREE_IS_MISSING;
        return NBC_OK;
    }
    if (whole) whole->kept.layout_block = NB6_NO_BUILD;
    int status = open_places(&home, n, err);
    if (!status && whole && !whole->kept.places.rank) status = open_places(&whole->kept.places, s->n_all, err);
    status = nb6_world_agree(s->world, status, err);
    if (!status) status = send_home(s, &home, first, err);
    if (!status) gather(s, &home, whole ? &whole->kept.places : &none);
    if (!status && whole) whole->kept.layout_block = s->build_block;
    nb6_kept_places_free(&home);
    return status;
}

/* ---- from there */

static int by_name(const void *a, const void *b)
{
    const int64_t p = ((const struct record *)a)->name, q = ((const struct record *)b)->name;
    return (p > q) - (p < q);
}

static int make_plan(struct nb6_collisionless *s, const struct record *come, struct nb6_kept_places *own,
                     struct nbc_error *err)
{
    const int status = nb6_world_agree(s->world, open_places(own, s->n, err), err);
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

/* Rows of the plan follow the bodies, and have their order there. */
static int send_back(struct nb6_collisionless *s, const struct nb6_kept_places *mine, struct nbc_error *err)
{
    const int64_t n = s->n;
    struct record *record = nbc_alloc_unset((size_t)n, sizeof *record);
    struct nb6_kept_places own = {0};
    void *come = NULL;
    int64_t n_come = 0;
    int status = nb6_world_agree(s->world, record ? NBC_OK : no_memory(n, err), err);
    for (int64_t i = 0; i < n && !status; i++) {
        record[i] = (struct record){.name = s->name[i], .rank = mine->rank[i], .drift = mine->drift[i]};
        memcpy(record[i].x, mine->x[i], sizeof record[i].x);
        memcpy(record[i].acc, mine->acc[i], sizeof record[i].acc);
    }
    if (!status) status = nb6_moves_make(s->world, sizeof *record, n, record, mine->rank, &come, &n_come, err);
    if (!status) status = nb6_rank_bodies_send(s, s->world, mine->rank, err);
    if (!status && n_come > 0) qsort(come, (size_t)n_come, sizeof(struct record), by_name);
    if (!status) status = make_plan(s, come, &own, err);
    nb6_kept_places_free(&own);
    nbc_free(record);
    nbc_free(come);
    return status;
}

int nb6_rank_plan_resume(struct nb6_collisionless *s, const struct nb6_collisionless *whole, struct nbc_error *err)
{
    static const struct nb6_kept_places none;
    const struct nb6_kept_places *all = whole ? &whole->kept.places : &none;
    struct nb6_kept_places mine = {0};
    int status = nb6_world_agree(s->world, open_places(&mine, s->n, err), err);
    if (!status) {
        nb6_world_scatter(s->world, s->n_all, sizeof *mine.rank, all->rank, mine.rank);
        nb6_world_scatter(s->world, s->n_all, sizeof *mine.x, all->x, mine.x);
        nb6_world_scatter(s->world, s->n_all, sizeof *mine.acc, all->acc, mine.acc);
        nb6_world_scatter(s->world, s->n_all, sizeof *mine.drift, all->drift, mine.drift);
        status = send_back(s, &mine, err);
    }
    nb6_kept_places_free(&mine);
    return status;
}
