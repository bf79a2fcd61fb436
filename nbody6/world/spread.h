/** Items of all ranks come to each rank, set by set, while it works with those that it has (Miki, Takahashi & Mori
 * 2013, Comput. Phys. Commun. 184, 2159, "MTM13", Sec. 4).
 *
 *  Accumulation (MTM13 Fig. 7): in stage k = 0, 1, ... rank r and rank r XOR 2^k send each other all items that they
 *  have, so that the messages double in length and log2 of the ranks are enough. It ends when the array has no room for
 *  twice as many, or half of all items are known. Ring (MTM13 Fig. 6): then each rank passes on the items that came
 *  last, with two arrays in turn, until each set has been everywhere. While one set comes, the caller works with the
 * one before. Deviates: where the number of ranks P is no power of two, rank r takes the sets of r + 2^k and gives its
 * own to r - 2^k, modulo P, and the ring goes on from there. No rank has a part of its own then, and ceil(log2 P)
 * messages are enough as well.
 *
 *  Items belong to owners, the ranks, which have shares of n (nb6_world_share). Sets are those of consecutive owners,
 *  around from the last to the first, in this order. Which sets come, and when, follows from n, P and the room, and not
 *  from the time that messages take. */
#ifndef NB6_WORLD_SPREAD_H
#define NB6_WORLD_SPREAD_H

#include "nbody6/world/world.h"

struct nb6_spread;

struct nb6_spread_set {
    int first, owners; /**< the owners first, first + 1, ..., modulo the number of ranks */
    int64_t n;         /**< their items */
    int slot;          /**< sums of sets with one number are added as they come, those of numbers in their order: then
                            the order is that of the owners */
};

struct nb6_spread_counts {
    uint64_t runs, messages, bytes; /**< sent */
    uint64_t works, beside;         /**< calls of the work, and those during which messages were under way */
    double wait_s;                  /**< in which the rank had nothing to do but wait */
};

/** Where items lie while they are under way, if not in ordinary memory: such as a device reads itself. */
struct nb6_spread_memory {
    /** As nbd_alloc.   @param[out] memory  NULL after a failure */
    int (*take)(void *context, size_t bytes, void **memory, struct nbc_error *err);
    void (*give_back)(void *context, void *memory); /**< accepts NULL */
    void *context;
};

/** Work with the items of a set; long work calls nb6_spread_move_on now and then, so that messages move on. */
typedef void nb6_spread_work(void *context, const struct nb6_spread_set *set, const void *items);

/** Ranks whose items are accumulated before the ring begins: a power of two, half of all at least if there is room. */
int nb6_spread_unit(int ranks, double share_bytes, double room);
/** @param[in] n     items of all ranks   @param[in] size  bytes of one, a multiple of 8
 *  @param[in] room  bytes of each of the two arrays, which have a share at least
 *  @param[in] memory  of the items; copied; NULL: ordinary memory
 *  @return NBC_OK; NBC_NO_MEMORY, or what `memory` returns: other ranks have to learn of it (nb6_world_agree) */
int nb6_spread_open(struct nb6_spread **spread, struct nb6_world *world, int64_t n, size_t size, size_t room,
                    const struct nb6_spread_memory *memory, struct nbc_error *err);
/** Accepts NULL. */
void nb6_spread_close(struct nb6_spread *spread);

/** Where the own items lie; to be filled before each run. */
void *nb6_spread_own(struct nb6_spread *spread);
/** Numbers of slots, and most items of a set. */
int nb6_spread_slots(const struct nb6_spread *spread);
int64_t nb6_spread_most(const struct nb6_spread *spread);
/** All sets of this rank, the own items first.   @return how many there are */
int nb6_spread_sets(const struct nb6_spread *spread, const struct nb6_spread_set **sets);

/** work(context, set, items) for all sets. All ranks call it together. */
void nb6_spread_run(struct nb6_spread *spread, nb6_spread_work *work, void *context);
void nb6_spread_move_on(struct nb6_spread *spread);
void nb6_spread_get_counts(const struct nb6_spread *spread, struct nb6_spread_counts *counts);

#endif
