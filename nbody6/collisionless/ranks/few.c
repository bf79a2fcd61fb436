#include "nbody6/collisionless/ranks/few.h"

#include "gpunb/backend.h"
#include "nbody6/collisionless/ranks/trees.h"
#include "nbody6/world/collect.h"
#include "nbody6/world/world.h"

#include <string.h>

/* All ranks learn this of each. */
struct told {
    int64_t count, status;
};

struct nb6_rank_few {
    struct nb6_world *world;
    gpunb_t *force;
    int ranks, own;
    int64_t *one, *count;             /* [ranks] 1; targets of each */
    struct told *told;                /* [ranks] */
    double (*x)[3], (*acc)[3], *more; /* [room] of all targets */
    int64_t room;
};

static int no_memory(int64_t n, struct nbc_error *err)
{
    return nbc_fail(err, NBC_NO_MEMORY, "no memory for sums on %lld bodies of all ranks", (long long)n);
}

int nb6_rank_few_open(struct nb6_rank_few **few, struct nb6_world *world, gpunb_t *force, struct nbc_error *err)
{
    const size_t ranks = (size_t)nb6_world_size(world);
    struct nb6_rank_few *f = nbc_alloc(1, sizeof *f);
    if (!f) return no_memory(0, err);
    *few = f;
    f->world = world;
    f->force = force;
    f->ranks = nb6_world_size(world);
    f->own = nb6_world_rank(world);
    f->one = nbc_alloc(ranks, sizeof *f->one);
    f->count = nbc_alloc(ranks, sizeof *f->count);
    f->told = nbc_alloc(ranks, sizeof *f->told);
    for (size_t r = 0; r < ranks && f->one; r++) f->one[r] = 1;
    return f->one && f->count && f->told ? NBC_OK : no_memory(0, err);
}

static void drop(struct nb6_rank_few *f)
{
    nbc_free(f->x);
    nbc_free(f->acc);
    nbc_free(f->more);
    f->x = f->acc = NULL;
    f->more = NULL;
    f->room = 0;
}

void nb6_rank_few_close(struct nb6_rank_few *f)
{
    if (!f) return;
    drop(f);
    nbc_free(f->one);
    nbc_free(f->count);
    nbc_free(f->told);
    nbc_free(f);
}

static int allocate(struct nb6_rank_few *f, int64_t n, struct nbc_error *err)
{
    drop(f);
    f->x = nbc_alloc_unset((size_t)n, sizeof *f->x);
    f->acc = nbc_alloc_unset((size_t)n, sizeof *f->acc);
    f->more = nbc_alloc_unset((size_t)n, sizeof *f->acc);
    return f->x && f->acc && f->more ? NBC_OK : no_memory(n, err);
}

/* All ranks have the same room, so that they know whether they have to agree on it. */
static int provide(struct nb6_rank_few *f, int64_t n, struct nbc_error *err)
{
    if (n <= f->room) return NBC_OK;
    const int status = nb6_world_agree(f->world, allocate(f, n, err), err);
    if (status)
        drop(f);
    else
        f->room = n;
    return status;
}

/* Those of the own bodies. */
static int sum_own(struct nb6_rank_few *f, const struct nb6_rank_trees_job *job, int64_t n, struct nbc_error *err)
{
    const struct gpunb_softened_job sums = {
        .n_i = (size_t)n, .x = (const double(*)[3])f->x, .softening = job->targets.softening, .acc = f->acc};
    memset(f->acc, 0, (size_t)n * sizeof *f->acc);
    if (job->n == 0) return NBC_OK;
    int status = gpunb_reserve(f->force, (size_t)job->n);
    if (!status) status = gpunb_send_positions(f->force, (size_t)job->n, job->mass, job->x);
    if (!status) status = gpunb_softened(f->force, &sums);
    return status ? nbc_fail(err, status, "%s", gpunb_last_error(f->force)) : NBC_OK;
}

/* How many targets each rank has.   @return the status of the first that has failed so far, the same on all ranks */
static int tell_counts(struct nb6_rank_few *f, int64_t mine, int status, struct nbc_error *err)
{
    f->told[f->own] = (struct told){mine, status};
    nb6_world_collect(f->world, f->one, sizeof *f->told, f->told);
    for (int r = 0; r < f->ranks; r++) {
        if (f->told[r].status) return nb6_world_tell(f->world, r, status, err);
        f->count[r] = f->told[r].count;
    }
    return NBC_OK;
}

int nb6_rank_few_sum(struct nb6_rank_few *f, const struct nb6_rank_trees_job *job, int status, struct nbc_error *err)
{
    const size_t mine = job->targets.n_i;
    int64_t n = 0, first = 0;
    status = tell_counts(f, (int64_t)mine, status, err);
    for (int r = 0; r < f->ranks && !status; r++) {
        if (r == f->own) first = n;
        n += f->count[r];
    }
    if (!status) status = provide(f, n, err);
    if (status || n == 0) return status;
    if (mine > 0) memcpy(f->x[first], job->targets.x, mine * sizeof *f->x);
    nb6_world_collect(f->world, f->count, sizeof *f->x, f->x);
    status = sum_own(f, job, n, err);
    nb6_world_spend(f->world, 1, (double)n * (double)job->n);
    nb6_world_add(f->world, 3 * n, f->acc[0], f->more);
    if (mine > 0) memcpy(job->targets.acc, f->acc[first], mine * sizeof *f->acc);
    return status;
}
