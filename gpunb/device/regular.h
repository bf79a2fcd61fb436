/** The regular force of sources on targets that are some of them, in memory of a device: what its kernels work on.
 *
 *  prepare: sources and targets are sorted, tiles are made, and groups of targets that are apart are found. pairs:
 *  the sums of such groups on each other. Then rounds of targets: their viewers are set; left: the remaining sums and
 *  neighbours, by slices of the tiles; finish: sums and lists for the caller. GPUs share pairs and left. */
#ifndef GPUNB_DEVICE_REGULAR_H
#define GPUNB_DEVICE_REGULAR_H

#include "device/supply.h"
#include "gpunb/device/sums.h"

#include <stddef.h>

struct gpunb_dev_job {
    struct gpunb_dev_sums sums;
    struct gpunb_dev_asked *asked; /**< [n] in the caller's order */
    int64_t n;                     /**< targets */
    int64_t each;                  /**< targets of each round but the last one, a multiple of GPUNB_DEV_PAIR_TARGETS */
    int64_t groups;                /**< of targets, pairs of which are summed once for both; 0: none are */
    int32_t *ask_at;               /**< [n] number of the target at each place along the curve */
    int32_t *place_of;             /**< [sums.n] place of each source */
    int32_t *lists;                /**< rows of the caller, */
    int64_t row_room;              /**< so long */
};

enum {
    GPUNB_DEV_FOUND_ROOM = 1 << 25, /**< chunks with neighbours, of all targets of a round, on a GPU, */
    GPUNB_DEV_FOUND_LESS = 11,      /**< but for so many of each source, to leave the caller room for what is asked */
    GPUNB_DEV_LEAST_ROUND = 128,    /**< at least for so many targets */
    GPUNB_DEV_MOST_ROUND = 6144,
    GPUNB_DEV_MOST_VIEWERS = 8192,
    GPUNB_DEV_UNIT_BITS = 50, /**< of the largest sum of pairs in units, with its sign; the bits left are for
                                   roundings of its bound */
    GPUNB_DEV_PART_OF_ALL = 8 /**< pairs of targets are summed once if these are at least such a part of all sources */
};

/** Entries of `found`: with the rest of the scratch, more for more sources. */
NBC_HD int64_t gpunb_dev_found_room(int64_t n, int64_t gpus)
{
    const int64_t chunks = gpunb_dev_chunks_of(n);
    const int64_t room = GPUNB_DEV_FOUND_ROOM * gpus - GPUNB_DEV_FOUND_LESS * n;
    const int64_t least = GPUNB_DEV_LEAST_ROUND * chunks, most = GPUNB_DEV_MOST_ROUND * chunks;
    return room < least ? least : room > most ? most : room;
}

/** Targets of a round: a function of the numbers of sources and GPUs, not of the room that there happens to be, since
 *  sums are cut by it. */
NBC_HD int64_t gpunb_dev_round(int64_t n, int64_t gpus)
{
    const int64_t chunks = gpunb_dev_chunks_of(n), whole = GPUNB_DEV_PAIR_TARGETS;
    return gpunb_dev_found_room(n, gpus) / (chunks > 0 ? chunks : 1) / whole * whole;
}

/** Nearly the same number in each round. */
NBC_HD int64_t gpunb_dev_each(int64_t n_targets, int64_t most)
{
    const int64_t whole = GPUNB_DEV_PAIR_TARGETS, rounds = n_targets > 0 ? (n_targets + most - 1) / most : 1;
    const int64_t each = (n_targets + rounds * whole - 1) / (rounds * whole) * whole;
    return each < whole ? whole : each < most ? each : most;
}

/** Groups of so many targets of n sources. */
NBC_HD int64_t gpunb_dev_groups(int64_t n_targets, int64_t n)
{
    const int64_t groups = n_targets / GPUNB_DEV_GROUP, most = GPUNB_DEV_MOST_GROUPS;
    if (n_targets * GPUNB_DEV_PART_OF_ALL < n || groups < 2) return 0;
    return groups < most ? groups : most;
}

/** Words of a row of `apart`. */
NBC_HD int64_t gpunb_dev_words(int64_t groups)
{
    return (groups + GPUNB_DEV_LANES - 1) / GPUNB_DEV_LANES;
}

/** Numbers in the sums of pairs on a GPU. */
NBC_HD int64_t gpunb_dev_mutual(int64_t groups)
{
    return 6 * GPUNB_DEV_GROUP * groups;
}

/** Exponent of the unit for sums of pairs up to a bound. */
NBC_HD int32_t gpunb_dev_unit_for(double bound)
{
    const int32_t least = -900; /* so that the inverse is finite */
    if (!(bound > 0)) return 0;
    const int32_t exponent = ilogb(bound);
    return (exponent > least ? exponent : least) + 2 - GPUNB_DEV_UNIT_BITS;
}

/** Add the sums of all GPUs on the target at a place along the curve. */
NBC_HD void gpunb_dev_add_mutual(const struct gpunb_dev_job *job, int64_t place, struct gpunb_dev_sum *sum)
{
    const int64_t targets = job->groups * GPUNB_DEV_GROUP;
    if (place >= targets) return;
    const struct gpunb_dev_group *group = &job->sums.group[place / GPUNB_DEV_GROUP];
    const double acc = nbc_power_of_two(group->unit[0]), jerk = nbc_power_of_two(group->unit[1]);
    int64_t all[6] = {0, 0, 0, 0, 0, 0};
    for (int64_t gpu = 0; gpu < job->sums.gpus; gpu++)
        for (int k = 0; k < 6; k++) all[k] += job->sums.mutual[(6 * gpu + k) * targets + place];
    for (int k = 0; k < 3; k++) {
        sum->acc[k] += group->is_spoiled ? (double)NAN : acc * (double)all[k];
        sum->jerk[k] += jerk * (double)all[3 + k];
    }
}

/** The target at a place along the curve as a viewer. */
NBC_HD struct gpunb_dev_viewer gpunb_dev_viewer_at(const struct gpunb_dev_job *job, int64_t place)
{
    const struct gpunb_dev_asked *asked = &job->asked[job->ask_at[place]];
    struct gpunb_dev_viewer viewer;
    viewer.at = job->sums.source[asked->source];
    viewer.r_nb2 = asked->r_nb2;
    viewer.dt_reg = asked->dt_reg;
    viewer.h = gpunb_dev_radius(asked->r_nb2);
    viewer.dt = gpunb_dev_step(asked->dt_reg);
    viewer.place = job->place_of[asked->source];
    viewer.is_wanted = 1;
    return viewer;
}

#ifndef __cplusplus /* for hosts */

/** Scratch for up to n sources, of which `found` comes last, and has no room yet.
 *  @param[in] blocks  of threads on each GPU */
static inline void gpunb_dev_lay_out(struct gpunb_dev_job *job, struct nbd_supply *s, size_t n, size_t gpus, int blocks)
{
    const size_t chunks = (size_t)gpunb_dev_chunks_of((int64_t)n), groups = n / GPUNB_DEV_GROUP + 1;
    const size_t warps = gpus * (size_t)blocks * GPUNB_DEV_WARPS;
    const size_t partials = warps * GPUNB_DEV_PAIR_TARGETS + GPUNB_DEV_MOST_VIEWERS;
    struct gpunb_dev_sums *sums = &job->sums;
    sums->key = nbd_take(s, 2 * n, sizeof *sums->key);
    sums->order = nbd_take(s, 2 * n, sizeof *sums->order);
    sums->owner = nbd_take(s, n, sizeof *sums->owner);
    sums->digits = nbd_take(s, (size_t)blocks * GPUNB_DEV_DIGITS, sizeof *sums->digits);
    sums->tile = nbd_take(s, chunks, sizeof *sums->tile);
    sums->group = nbd_take(s, groups, sizeof *sums->group);
    sums->apart = nbd_take(s, groups * (size_t)gpunb_dev_words((int64_t)groups), sizeof *sums->apart);
    sums->slices = nbd_take(s, chunks + 1, sizeof *sums->slices);
    sums->mutual = nbd_take(s, gpus * (size_t)gpunb_dev_mutual((int64_t)groups), sizeof *sums->mutual);
    sums->viewer = nbd_take(s, GPUNB_DEV_MOST_VIEWERS, sizeof *sums->viewer);
    sums->partial = nbd_take(s, partials, sizeof *sums->partial);
    sums->n_found = nbd_take(s, partials, sizeof *sums->n_found);
    sums->counter = nbd_take(s, GPUNB_DEV_COUNTERS, sizeof *sums->counter);
    sums->found = nbd_take(s, 0, sizeof *sums->found);
    sums->stride = (int64_t)n;
    sums->n = (int64_t)n;
    sums->gpus = (int64_t)gpus;
    sums->most = gpunb_dev_round((int64_t)n, (int64_t)gpus);
    job->ask_at = (int32_t *)sums->key; /* halves that the sort leaves */
    job->place_of = sums->order ? sums->order + n : NULL;
}

#endif

#endif
