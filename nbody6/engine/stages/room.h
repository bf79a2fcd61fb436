/** Targets in a round of regular forces on a device, and room for their neighbours. */
#ifndef NB6_STAGES_ROOM_H
#define NB6_STAGES_ROOM_H

#include "common/hd.h"
#include "nbody6/engine/stages/state.h"

#include <stddef.h>
#include <stdint.h>

enum {
    NB6_DEVICE_FOUND_ROOM = 1 << 25, /**< chunks with neighbours, of all targets of a round, */
    NB6_DEVICE_LEAST_TARGETS = 512,  /**< at least for so many targets */
    NB6_DEVICE_MOST_TARGETS = 8192,
    NB6_DEVICE_PAIRED_TARGETS = GPUNB_DEV_PAIR_TARGETS, /**< rounds have whole groups of these */
    /** Pairs of a target and a source that a multiprocessor of an H200 sums in 5 ms: to leave the kernel of small
     * blocks and to come back takes two percent of that. */
    NB6_DEVICE_LEAVING_PAIRS = 7500000
};

/** Blocks with so many pairs of a target and a source leave the kernel of small blocks, and GPUNB makes their regular
 *  forces (gpunb/regf_device.h): the one place where this is decided.
 *  @param[in] gpus  that share the sums   @param[in] multiprocessors  of each */
NBC_HD int64_t nb6_device_leaving(int64_t gpus, int64_t multiprocessors)
{
    return NB6_DEVICE_LEAVING_PAIRS * multiprocessors / gpus;
}

/** Room for the neighbours of so many targets, for any number of stars up to the capacity. */
NBC_HD size_t nb6_device_found_room(size_t chunks)
{
    const size_t most = NB6_DEVICE_MOST_TARGETS * chunks, least = NB6_DEVICE_LEAST_TARGETS * chunks,
                 room = NB6_DEVICE_FOUND_ROOM;
    return most < room ? most : least > room ? least : room;
}

/** Most targets of a round, a multiple of NB6_DEVICE_PAIRED_TARGETS: a function of the number of stars, not of the room
 *  that there happens to be, since sums are cut by it. */
NBC_HD int64_t nb6_device_targets(int64_t chunks)
{
    const int64_t least = NB6_DEVICE_LEAST_TARGETS, most = NB6_DEVICE_MOST_TARGETS, whole = NB6_DEVICE_PAIRED_TARGETS;
    const int64_t fit = NB6_DEVICE_FOUND_ROOM / (chunks > 0 ? chunks : 1) / whole * whole;
    return fit < least ? least : fit > most ? most : fit;
}

#endif
