#include "nbody6/collisionless/ranks/moves.h"

#include "nbody6/world/collect.h"
#include "nbody6/world/world.h"

#include <string.h>

struct nb6_moves {
    struct nb6_world *world;
    int ranks, own;
    int64_t *go, *take, *more;   /* [ranks] records for, and from, each; [2 ranks] scratch */
    struct nb6_message *message; /* [2 ranks] */
};

/* Of a rank that has failed, in place of a number of records. */
enum { HAS_FAILED = -1 };

int nb6_moves_open(struct nb6_moves **moves, struct nb6_world *world, struct nbc_error *err)
{
    const size_t ranks = (size_t)nb6_world_size(world);
    struct nb6_moves *m = *moves = nbc_alloc(1, sizeof *m);
    if (m) {
        m->world = world;
        m->ranks = nb6_world_size(world);
        m->own = nb6_world_rank(world);
        m->go = nbc_alloc(ranks, sizeof *m->go);
        m->take = nbc_alloc(ranks, sizeof *m->take);
        m->more = nbc_alloc(2 * ranks, sizeof *m->more);
        m->message = nbc_alloc(2 * ranks, sizeof *m->message);
    }
    if (m && m->go && m->take && m->more && m->message) return NBC_OK;
    return nbc_fail(err, NBC_NO_MEMORY, "no memory for bodies that move between %zu ranks", ranks);
}

void nb6_moves_close(struct nb6_moves *m)
{
    if (!m) return;
    nbc_free(m->go);
    nbc_free(m->take);
    nbc_free(m->more);
    nbc_free(m->message);
    nbc_free(m);
}

/* In the order of ranks. */
static void pack(struct nb6_moves *m, const struct nb6_moves_job *job, char *packed)
{
    int64_t at = 0;
    memset(m->go, 0, (size_t)m->ranks * sizeof *m->go);
    for (int64_t i = 0; i < job->n; i++) m->go[job->to[i]]++;
    for (int r = 0; r < m->ranks; r++) { /* where those of each begin */
        m->take[r] = at;
        at += m->go[r];
    }
    for (int64_t i = 0; i < job->n; i++) job->fill(job->context, i, packed + (size_t)m->take[job->to[i]]++ * job->size);
}

static void exchange(struct nb6_moves *m, size_t size, const char *packed, char *come)
{
    const int tag = nb6_world_tag(m->world);
    int messages = 0;
    for (int r = 0; r < m->ranks; r++) {
        const size_t out = (size_t)m->go[r] * size, in = (size_t)m->take[r] * size;
        if (r == m->own && out > 0) memcpy(come, packed, out);
        if (r != m->own && in > 0) nb6_world_receive(m->world, &m->message[messages++], r, tag, come, in);
        if (r != m->own && out > 0) nb6_world_send(m->world, &m->message[messages++], r, tag, packed, out);
        come += in;
        packed += out;
    }
    for (int k = 0; k < messages; k++) nb6_message_wait(m->world, &m->message[k]);
}

/* How many come.   @return the status of the first that has failed so far, the same on all ranks */
static int tell_counts(struct nb6_moves *m, int status, int64_t *n_come, struct nbc_error *err)
{
    for (int r = 0; r < m->ranks && status; r++) m->go[r] = HAS_FAILED;
    nb6_world_deal(m->world, m->go, m->take, m->more);
    *n_come = 0;
    for (int r = 0; r < m->ranks; r++) {
        if (m->take[r] == HAS_FAILED) return nb6_world_tell(m->world, r, status, err);
        *n_come += m->take[r];
    }
    return NBC_OK;
}

static int no_memory(int64_t n, struct nbc_error *err)
{
    return nbc_fail(err, NBC_NO_MEMORY, "no memory to move %lld bodies", (long long)n);
}

static int provide(const struct nb6_moves_job *job, int64_t n_come, char **come, struct nbc_error *err)
{
    *come = nbc_alloc_unset((size_t)n_come, job->size);
    if (!*come) return no_memory(n_come, err);
    return job->provide ? job->provide(job->context, n_come, err) : NBC_OK;
}

int nb6_moves_make(struct nb6_moves *m, const struct nb6_moves_job *job, void **come, int64_t *n_come,
                   struct nbc_error *err)
{
    int status = job->status;
    char *packed = status ? NULL : nbc_alloc_unset((size_t)job->n, job->size), *taken = NULL;
    int64_t count = 0;
    if (!status && !packed) status = no_memory(job->n, err);
    if (!status) pack(m, job, packed);
    status = tell_counts(m, status, &count, err);
    if (!status) status = nb6_world_agree(m->world, provide(job, count, &taken, err), err);
    if (!status) {
        exchange(m, job->size, packed, taken);
        *come = taken;
        *n_come = count;
    } else
        nbc_free(taken);
    nbc_free(packed);
    return status;
}
