/** Ranks as threads of one process, for tests and for machines without MPI; with a virtual network, for predictions. */
#ifndef NB6_WORLD_THREADS_H
#define NB6_WORLD_THREADS_H

#include "nbody6/world/world.h"

/** Each rank has a clock, which its work moves on by nominal costs. A message leaves when those before it have, and
 *  arrives `latency_s` after its last byte has left. A rank that waits goes on at the later of its own time and that of
 *  the arrival. Bits do not depend on any of it. */
struct nb6_network {
    double latency_s, bytes_per_s;
    double call_s, unit_s; /**< cost of a call, and of a unit, of nb6_world_spend */
    double scale; /**< each byte of a message stands for so many, but for single numbers of 8 bytes, as agreements send
                       them; each unit of work for scale^2 */
};

struct nb6_threads_options {
    const struct nb6_network *network; /**< NULL: the wall clock */
    uint64_t shuffle; /**< > 0: messages are delayed at random, copied early or late, and overtake each other */
};

typedef void nb6_rank_main(struct nb6_world *world, void *context);

/** main(world, context) on `size` threads at once, each with one thread of OpenMP; returns when all have returned.
 *  @return NBC_OK; NBC_NO_MEMORY (no rank has run); NBC_INTERNAL (two ends of a message had different lengths, or a
 *          message was left over) */
int nb6_world_threads_run(int size, const struct nb6_threads_options *options, nb6_rank_main *main, void *context,
                          struct nbc_error *err);

#endif
