#include "nbody6/collisionless/ranks/moves.h"

#include "nbody6/world/collect.h"
#include "nbody6/world/world.h"

#include <string.h>

struct moves {
    struct nb6_world *world;
    int ranks, own;
    size_t size;
    char *packed, *come;         /* by rank */
    int64_t *go, *take, *more;   /* [ranks] records for, and from, each; [2 ranks] scratch */
    struct nb6_message *message; /* [2 ranks] */
};

static void release(struct moves *m)
{
    nbc_free(m->packed);
    nbc_free(m->go);
    nbc_free(m->take);
    nbc_free(m->more);
    nbc_free(m->message);
}

static int provide(struct moves *m, int64_t n, struct nbc_error *err)
{
    const size_t ranks = (size_t)m->ranks;
    m->packed = nbc_alloc_unset((size_t)n, m->size);
    m->go = nbc_alloc(ranks, sizeof *m->go);
    m->take = nbc_alloc(ranks, sizeof *m->take);
    m->more = nbc_alloc(2 * ranks, sizeof *m->more);
    m->message = nbc_alloc(2 * ranks, sizeof *m->message);
    if (m->packed && m->go && m->take && m->more && m->message) return NBC_OK;
    return nbc_fail(err, NBC_NO_MEMORY, "no memory to move %lld bodies", (long long)n);
}

/* In the order of ranks. */
static void pack(struct moves *m, int64_t n, const char *item, const int32_t *to)
{
    int64_t at = 0;
    for (int64_t i = 0; i < n; i++) m->go[to[i]]++;
    for (int r = 0; r < m->ranks; r++) { /* where those of each begin */
        m->take[r] = at;
        at += m->go[r];
    }
    for (int64_t i = 0; i < n; i++)
        memcpy(m->packed + (size_t)m->take[to[i]]++ * m->size, item + (size_t)i * m->size, m->size);
}

static void wait_for_all(struct moves *m, int messages)
{
    for (int k = 0; k < messages; k++) nb6_message_wait(m->world, &m->message[k]);
}

static void exchange(struct moves *m)
{
    const int tag = nb6_world_tag(m->world);
    char *packed = m->packed, *come = m->come;
    int messages = 0;
    for (int r = 0; r < m->ranks; r++) {
        const size_t out = (size_t)m->go[r] * m->size, in = (size_t)m->take[r] * m->size;
        if (r == m->own && out > 0) memcpy(come, packed, out);
        if (r != m->own && in > 0) nb6_world_receive(m->world, &m->message[messages++], r, tag, come, in);
        if (r != m->own && out > 0) nb6_world_send(m->world, &m->message[messages++], r, tag, packed, out);
        come += in;
        packed += out;
    }
    wait_for_all(m, messages);
}

int nb6_moves_make(struct nb6_world *world, size_t size, int64_t n, const void *item, const int32_t *to, void **come,
                   int64_t *n_come, struct nbc_error *err)
{
    struct moves m = {.world = world, .ranks = nb6_world_size(world), .own = nb6_world_rank(world), .size = size};
    int64_t count = 0;
    int status = nb6_world_agree(world, provide(&m, n, err), err);
    if (!status) {
        pack(&m, n, item, to);
        nb6_world_deal(world, m.go, m.take, m.more);
        for (int r = 0; r < m.ranks; r++) count += m.take[r];
        m.come = nbc_alloc_unset((size_t)count, size);
        if (!m.come) status = nbc_fail(err, NBC_NO_MEMORY, "no memory for %lld bodies that come", (long long)count);
        status = nb6_world_agree(world, status, err);
    }
    if (!status) {
        exchange(&m);
        *come = m.come;
        *n_come = count;
    } else
        nbc_free(m.come);
    release(&m);
    return status;
}
