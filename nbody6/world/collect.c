#include "nbody6/world/collect.h"

#include "nbody6/world/world.h"

/* The items of consecutive ranks, from number `first` on, around: those up to the last rank, and those from rank 0 on.
 */
struct run {
    char *data[2];
    size_t bytes[2];
};

static size_t bytes_of(const int64_t *count, size_t size, int first, int end)
{
    size_t bytes = 0;
    for (int r = first; r < end; r++) bytes += (size_t)count[r] * size;
    return bytes;
}

static struct run run_of(const struct nb6_world *world, const int64_t *count, size_t size, char *all, int first,
                         int ranks)
{
    const int end = first + ranks, most = nb6_world_size(world), over = end > most ? end - most : 0;
    return (struct run){{all + bytes_of(count, size, 0, first), all},
                        {bytes_of(count, size, first, end - over), bytes_of(count, size, 0, over)}};
}

/* A rank knows those from its own number on. The next ones come from the first that it does not know, and what it knows
 * goes to the one for which it is that. */
void nb6_world_collect(struct nb6_world *world, const int64_t *count, size_t size, void *all)
{
    const int ranks = nb6_world_size(world), own = nb6_world_rank(world);
    for (int known = 1, next; known < ranks; known += next) {
        struct nb6_message out[2], in[2];
        const int tag = nb6_world_tag(world), from = (own + known) % ranks, to = (own - known + ranks) % ranks;
        next = known < ranks - known ? known : ranks - known;
        const struct run mine = run_of(world, count, size, all, own, next),
                         others = run_of(world, count, size, all, from, next);
        for (int k = 0; k < 2; k++)
            if (mine.bytes[k] > 0) nb6_world_send(world, &out[k], to, tag, mine.data[k], mine.bytes[k]);
        for (int k = 0; k < 2; k++)
            if (others.bytes[k] > 0) {
                nb6_world_receive(world, &in[k], from, tag, others.data[k], others.bytes[k]);
                nb6_message_wait(world, &in[k]);
            }
        for (int k = 0; k < 2; k++)
            if (mine.bytes[k] > 0) nb6_message_wait(world, &out[k]);
    }
}

/* A number for the rank that is k further on, around, travels as far as each bit of k says, with all others that have
 * this bit (Bruck et al. 1997, IEEE Trans. Parallel Distrib. Syst. 8, 1143). `come` has them by k on the way. */
void nb6_world_deal(struct nb6_world *world, const int64_t *go, int64_t *come, int64_t *more)
{
    const int ranks = nb6_world_size(world), own = nb6_world_rank(world);
    int64_t *out = more, *in = more + ranks;
    for (int k = 0; k < ranks; k++) come[k] = go[(own + k) % ranks];
    for (int bit = 1; bit < ranks; bit *= 2) {
        struct nb6_message sent, taken;
        const int tag = nb6_world_tag(world);
        int n = 0, m = 0;
        for (int k = 0; k < ranks; k++)
            if (k & bit) out[n++] = come[k];
        nb6_world_send(world, &sent, (own + bit) % ranks, tag, out, (size_t)n * sizeof *out);
        nb6_world_receive(world, &taken, (own - bit + ranks) % ranks, tag, in, (size_t)n * sizeof *in);
        nb6_message_wait(world, &taken);
        nb6_message_wait(world, &sent);
        for (int k = 0; k < ranks; k++)
            if (k & bit) come[k] = in[m++];
    }
    for (int k = 0; k < ranks; k++) out[(own - k + ranks) % ranks] = come[k];
    for (int k = 0; k < ranks; k++) come[k] = out[k];
}

/* To rank 0 along the tree of the broadcast, and back. */
void nb6_world_add(struct nb6_world *world, int64_t n, double *value, double *more)
{
    const int ranks = nb6_world_size(world), own = nb6_world_rank(world);
    const size_t bytes = (size_t)n * sizeof *value;
    struct nb6_message message;
    if (ranks == 1) return;
    const int tag = nb6_world_tag(world);
    int bit = 1;
    for (; bit < ranks && !(own & bit); bit *= 2) {
        if (own + bit >= ranks) continue;
        nb6_world_receive(world, &message, own + bit, tag, more, bytes);
        nb6_message_wait(world, &message);
        for (int64_t i = 0; i < n; i++) value[i] += more[i];
    }
    if (own > 0) {
        nb6_world_send(world, &message, own - bit, tag, value, bytes);
        nb6_message_wait(world, &message);
    }
    nb6_world_broadcast(world, value, bytes);
}
