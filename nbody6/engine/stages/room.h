/** Targets in a round of regular forces on a device, and room for their neighbours. */
#ifndef NB6_STAGES_ROOM_H
#define NB6_STAGES_ROOM_H

#include "common/hd.h"
#include "nbody6/engine/stages/state.h"

#include <stddef.h>
#include <stdint.h>

enum {
    NB6_DEVICE_FOUND_ROOM = 1 << 25, /**< chunks with neighbours, of all targets of a round, on a GPU, */
    NB6_DEVICE_LEAST_TARGETS = 512,  /**< at least for so many targets */
    NB6_DEVICE_MOST_TARGETS = 8192,
    NB6_DEVICE_LARGE_TARGETS = 40960,             /**< from so many regular members on a kernel of its own */
    NB6_DEVICE_PAIRED_TARGETS = 2 * NB6_DEV_LANES /**< targets of a warp, two for each lane: rounds have whole groups
                                                       of these */
};

/** Room for the neighbours of so many targets, for any number of stars up to the capacity. */
NBC_HD size_t nb6_device_found_room(size_t chunks, size_t gpus)
{
    const size_t most = NB6_DEVICE_MOST_TARGETS * chunks, least = NB6_DEVICE_LEAST_TARGETS * chunks,
                 room = NB6_DEVICE_FOUND_ROOM * gpus;
    return most < room ? most : least > room ? least : room;
}

/** Most targets of a round, a multiple of NB6_DEVICE_PAIRED_TARGETS: a function of the numbers of stars and of GPUs,
 *  not of the room that there happens to be, since sums are cut by it. */
NBC_HD int64_t nb6_device_targets(int64_t chunks, int64_t helpers)
{
    const int64_t least = NB6_DEVICE_LEAST_TARGETS, most = NB6_DEVICE_MOST_TARGETS, whole = NB6_DEVICE_PAIRED_TARGETS;
    const int64_t fit = NB6_DEVICE_FOUND_ROOM * (1 + helpers) / (chunks > 0 ? chunks : 1) / whole * whole;
    return fit < least ? least : fit > most ? most : fit;
}

#endif
