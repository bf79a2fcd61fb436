/** Kinds of worlds: the messages of one rank. Functions of world.h are made of these. */
#ifndef NB6_WORLD_KIND_H
#define NB6_WORLD_KIND_H

#include "nbody6/world/world.h"

struct nb6_world_kind {
    const char *name;
    void (*send)(struct nb6_world *world, struct nb6_message *message);
    void (*receive)(struct nb6_world *world, struct nb6_message *message);
    int (*test)(struct nb6_world *world, struct nb6_message *message);
    void (*wait)(struct nb6_world *world, struct nb6_message *message);
    void (*spend)(struct nb6_world *world, uint64_t calls, double units); /**< NULL: costs nothing */
    double (*seconds)(const struct nb6_world *world);                     /**< NULL: the wall clock */
};

struct nb6_world {
    const struct nb6_world_kind *kind;
    int rank, size, host_rank;
    int tag;
    void *state; /**< of the kind */
};

#endif
