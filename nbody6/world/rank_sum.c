#include "nbody6/world/rank_sum.h"

#include "common/sum.h"
#include "nbody6/world/world.h"

#include <math.h>
#include <string.h>

/* Numbers of each rank come to rank 0 one after another, so that it needs no memory for all of them. */
static void join(struct nb6_world *world, double *value, int count, int is_sum)
{
    double low[NB6_RANK_SUMS] = {0}, more[NB6_RANK_SUMS];
    const int tag = nb6_world_tag(world);
    const size_t bytes = (size_t)count * sizeof *value;
    struct nb6_message message;
    if (nb6_world_rank(world) > 0) {
        nb6_world_send(world, &message, 0, tag, value, bytes);
        nb6_message_wait(world, &message);
    }
    for (int other = 1; nb6_world_rank(world) == 0 && other < nb6_world_size(world); other++) {
        nb6_world_receive(world, &message, other, tag, more, bytes);
        nb6_message_wait(world, &message);
        for (int k = 0; k < count; k++) {
            if (is_sum)
                nbc_add_exactly(&value[k], &low[k], more[k]);
            else
                value[k] = fmax(value[k], more[k]);
        }
    }
    for (int k = 0; k < count; k++) value[k] += low[k];
    nb6_world_broadcast(world, value, bytes);
}

void nb6_rank_sum(struct nb6_world *world, double *value, int count)
{
    join(world, value, count, 1);
}

void nb6_rank_largest(struct nb6_world *world, double *value, int count)
{
    join(world, value, count, 0);
}
