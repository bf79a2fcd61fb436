/** The image of the state of a run in a device engine: raw pointers and numbers, the same for CUDA and for the
 *  emulation in plain C. It contains the bodies that take part, in ascending order, without gaps: single stars, and
 *  after them the centres of mass of few-body systems; the index of a body in it is its *place*. Relative motions
 *  stay with the host, which is asked where they act (engine/host_service.h). *Watched* bodies, in whose steps the
 *  host takes part, are those that a system resolves, and centres of mass of perturbed systems. A pair on which
 *  nothing acts is *quiet*: the engine looks for its perturbers.
 *
 *  The stages of a block step, with barriers between them, are those of docs/architecture.md, The life of a block:
 *  select (stages/select.h), predict and irregular force (stages/force.h), irregular corrector (stages/correct.h),
 *  regular force (stages/regular.h), regular corrector (stages/correct.h), commit (stages/commit.h). The host
 *  advances subsystems and decides (engine/host_service.h). A stage is a function of a body, a part of the bodies, or
 *  a lane, and writes nothing that another one of the same stage reads. Until the commit all results are in the
 *  scratch of the block. Sums are made by NB6_DEV_LANES lanes and by slices of the sources, whatever the number of
 *  threads, and added in a fixed order. */
#ifndef NB6_STAGES_STATE_H
#define NB6_STAGES_STATE_H

#include "common/hd.h"
#include "gpunb/device/sums.h"
#include "nbody6/engine/stages/predictor.h"
#include "nbody6/fewbody/encounter.h"
#include "nbody6/fewbody/perturber_rule.h"
#include "nbody6/fewbody/remote.h"
#include "nbody6/galaxy/field_state.h"
#include "nbody6/state/body.h"
#include "nbody6/state/corrected.h"
#include "nbody6/state/stuck.h"
#include "nbody6/step/rules.h"

#include <stdint.h>

enum {
    NB6_DEV_LANES = GPUNB_DEV_LANES, /**< of a warp: sources of a sum are dealt out to them one by one */
    NB6_DEV_FLUSH = 32,              /**< terms that a lane adds in float before it adds to a double */
    NB6_DEV_HIT_GRAIN = 4            /**< words of hits are read so many at a time */
};

/** Flags of a member of the block (dev->flag). */
enum {
    NB6_DEV_UNSOUND_IRR = 1,
    NB6_DEV_UNSOUND_REG = 2,
    NB6_DEV_TOO_LONG = 4,
    NB6_DEV_NEAR = 8,      /**< a neighbour is near enough for an encounter */
    NB6_DEV_LOOK = 16,     /**< its step is short enough as well; a quiet pair that has to be tested for perturbers */
    NB6_DEV_CANDIDATE = 32 /**< and they approach or are bound, or there is a perturber: the host has to examine it */
};

/** Relation of a body to few-body systems (dev->watch). */
enum {
    NB6_DEV_ASK = 1,   /**< watched: the host takes part in its steps */
    NB6_DEV_SHOW = 2,  /**< centre of mass of a system that the host moves, and selects perturbers for */
    NB6_DEV_QUIET = 4, /**< centre of mass of a pair on which nothing acts */
    NB6_DEV_REMOTE = 8 /**< centre of mass of a remote pair, or a body resolved by such pairs only: the engine
                            computes its force and tests its perturbers, and notes its steps for the host */
};

/** Note of a step for the host, to be handled asynchronously: before the host takes over the new body, it moves the
 *  pairs on which the body acts. */
struct nb6_dev_note {
    struct nb6_body body;
    double field[6], field_dot[6]; /**< of a remote pair: the tide of neighbours that are no perturbers */
    nb6_time t;                    /**< time of the block */
    int32_t place, level;
    int32_t has_tide, has_new_list;
    int32_t spare[2];
};

/** Parts of a body that have been copied to the image in host memory: nothing; its own records; also its neighbours. */
enum nb6_dev_shown { NB6_DEV_HIDDEN, NB6_DEV_ALONE, NB6_DEV_WITH_OTHERS };

/** Record of a system, by its centre of mass. */
struct nb6_dev_system {
    double radius;                       /**< required radius of its neighbour sphere */
    struct nb6_perturber_rule perturber; /**< rule for perturbers of a quiet or remote pair */
    double t_check;                      /**< before this time no neighbour of a quiet pair can be a perturber */
};

/** The tide of the bodies beyond its list on a system (fewbody/tide_sum.h). */
struct nb6_dev_tide {
    double field[6], field_dot[6];
};

/** Input from the host for a watched member of the block. */
struct nb6_dev_correction {
    double acc[3], jerk[3]; /**< contribution of resolved systems to its irregular sums */
    double longest;         /**< limit of its next step */
    double radius;          /**< required radius of the sphere of a centre of mass */
};

/** A member of the block that gets a regular force. */
struct nb6_dev_target {
    int32_t member, body;
    int32_t nnb;   /**< -1: it has no list that fits yet */
    int32_t level; /**< length of the regular step that ends */
    int32_t place; /**< index of the body among the sources: its number, or along the curve */
    double r_nb;
};

/** Counts of a part of the bodies. */
struct nb6_dev_count {
    int64_t irr, reg, pairs_irr;
    int32_t level; /**< lowest level; NB6_TIME_BITS + 1: no body is left */
    int32_t spare;
};

/** Rules of steps, radii, lists and encounters: filled anew before each call of `advance`. */
struct nb6_dev_rules {
    struct nb6_step_rules step;
    struct nb6_radius_rules radius;
    struct nb6_encounter_rules encounter;
    struct nb6_external field; /**< of the galaxy, whose orbit is known up to the end of the call */
    int64_t list_limit;        /**< longest list */
    int64_t system_limit;      /**< that of a centre of mass */
    double gamma_min;          /**< the tide of the galaxy acts on a pair from this strength on */
    double unit;               /**< mass of a neighbour for which spheres have their radius, or 1 */
    double per_radius;         /**< radius of a sphere for a neighbour of mass 1, or any, over that of the star */
    double mean_mass, mass;    /**< of stars, and of all */
    float near;      /**< a body within this distance, per unit mass of a pair, may be a partner in an encounter */
    int weighted;    /**< spheres are larger for heavier neighbours */
    int fixed_radii; /**< 1: radii are fixed */
};

/** Progress of the run. Counters are those since the import. */
struct nb6_dev_control {
    nb6_time ti_now, t; /**< time of the last committed block, and of the present one */
    uint64_t blocks, blocks_reg, steps_irr, steps_reg, pairs_irr, pairs_reg, overflows, calls_by_tree;
    int64_t n_irr, n_reg;
    uint64_t work[2], work_magnitude[2]; /**< of the field on the bodies, and of its magnitudes (stages/work.h) */
    double unit_of_work;
    uint64_t pairs_irr_block, pairs_reg_block, overflows_block, by_tree_block; /**< of the present block */
    int64_t longest;        /**< list that did not fit its row, 0: none */
    int64_t stores_all;     /**< 1: the next export stores all bodies: the last one has failed after it had begun to
                                 write, or bodies have changed between blocks (stages/edit.h) */
    nb6_time t_ask;         /**< a relative motion ends a step: the host is asked in any case */
    int64_t n_ask;          /**< bodies in dev->ask */
    struct nb6_stuck stuck; /**< counts of equal blocks, by places counted from 1 */
};

/** Pointers to memory of the device. */
struct nb6_dev {
    int64_t n, n_max;      /**< bodies; capacity */
    int64_t first_centre;  /**< index of the first centre of mass */
    int64_t systems;       /**< capacity for centres of mass */
    int64_t bodies;        /**< capacity for bodies of the run, taking part or not */
    int64_t row_room;      /**< numbers in a row of neighbours */
    int32_t settled;       /**< the row that all lists are in once they are settled (stages/parcel.h) */
    int64_t targets;       /**< most targets of a round */
    int64_t parts;         /**< of all bodies, in order, for selection by the emulation */
    int64_t leaving;       /**< pairs of a target and a source from which GPUNB makes a block (stages/room.h) */
    int64_t pairs_by_tree; /**< 0: regular forces of this block are direct sums; nominal cost of a target by tree */
    /* the state after control->blocks blocks */
    struct nb6_body *body;                 /**< [n] predictors as others read them */
    struct nb6_dev_predictor *predictor;   /**< [n] compact predictors, where blocks are advanced */
    struct nb6_star *star;                 /**< [n] data of a body's own correctors */
    int8_t *level;                         /**< [n] of the irregular step, -1: it takes no part */
    int32_t *row;                          /**< [2][n_max][row_room] neighbours, ascending */
    int64_t *list_at;                      /**< [n] offset of each list in `lists`, */
    int32_t *lists;                        /**< packed lists (stages/lists.h): in second rows; on the host `row` */
    int8_t *row_now;                       /**< [n] which of the two rows is the list; the other is for the block */
    int8_t *watch;                         /**< [n] */
    int32_t *ask;                          /**< [control->n_ask] bodies with NB6_DEV_ASK or NB6_DEV_REMOTE, ascending */
    struct nb6_dev_system *system;         /**< [n - first_centre] */
    struct nb6_remote *remote;             /**< [n - first_centre] with places */
    struct nb6_dev_correction *correction; /**< [n] of watched members of the block; undefined for others */
    /* in the image in host memory: the map between places and bodies, and what has been copied to the host since the
     * import (engine/host_service.h) */
    nb6_time t_home;          /**< last time at which host memory and image were equal */
    int32_t *body_of;         /**< [n] */
    int32_t *place_of;        /**< [bodies] -1: takes no part */
    struct nb6_dev_tide *far; /**< [systems] requested by the host */
    int8_t *shown;            /**< [n] enum nb6_dev_shown, for members as set by the engine */
    /* scratch of a block */
    struct nb6_dev_count *count; /**< [parts] */
    int32_t *irr;                /**< [n_irr] members of the block; results do not depend on their order */
    int32_t *reg;                /**< [n_reg] indices in `irr` of members that end a regular step as well */
    int8_t *is_reg, *flag;       /**< [n_irr] */
    int32_t *near;               /**< device: [n_irr] nearest near neighbour (cuda/member.cuh) */
    int32_t *member;             /**< [n] watched members of the block; after it, members that are shown; on a device
                                      [2 n], from the end on members noted for the host */
    struct nb6_corrected *corrected; /**< [n_irr] */
    struct nb6_dev_target *target;   /**< [targets] */
    uint32_t *hit;                   /**< [targets, on a device few][words] neighbours, a bit for each source */
    struct gpunb_dev_sums sums;      /**< sources, and all else of their sums on targets */
    struct nb6_orbit_table *orbit;   /**< on a device: the galactic orbit at times of blocks */
    struct nb6_dev_control *control;
    struct nb6_dev_rules rules;
};

NBC_HD int64_t nb6_dev_chunks(const struct nb6_dev *dev)
{
    return (dev->n + NB6_DEV_LANES - 1) / NB6_DEV_LANES;
}

/** Length of a row of hits: a word for each chunk. */
NBC_HD int64_t nb6_dev_words(const struct nb6_dev *dev)
{
    return (nb6_dev_chunks(dev) + NB6_DEV_HIT_GRAIN - 1) / NB6_DEV_HIT_GRAIN * NB6_DEV_HIT_GRAIN;
}

NBC_HD int32_t *nb6_dev_row(const struct nb6_dev *dev, int32_t i, int which)
{
    return dev->row + ((int64_t)which * dev->n_max + i) * dev->row_room;
}

/** Longest list of body i. */
NBC_HD int64_t nb6_dev_list_limit(const struct nb6_dev *dev, int32_t i)
{
    return i < dev->first_centre ? dev->rules.list_limit : dev->rules.system_limit;
}

/** The list of body i. */
NBC_HD const int32_t *nb6_dev_list(const struct nb6_dev *dev, int32_t i)
{
    return nb6_dev_row(dev, i, dev->row_now[i]);
}

/** Where in an ascending list of n the first number is that is not below j; n: there is none. */
NBC_HD int32_t nb6_dev_first_from(const int32_t *list, int32_t n, int32_t j)
{
    int32_t low = 0, high = n;
    while (low < high) {
        const int32_t middle = (low + high) / 2;
        if (list[middle] < j)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/** Whether body j is in an ascending list of n. */
NBC_HD int nb6_dev_is_in_list(const int32_t *list, int32_t n, int32_t j)
{
    const int32_t at = nb6_dev_first_from(list, n, j);
    return at < n && list[at] == j;
}

/** The row in which the block makes the next list. */
NBC_HD int32_t *nb6_dev_staged_list(const struct nb6_dev *dev, int32_t i)
{
    return nb6_dev_row(dev, i, !dev->row_now[i]);
}

#endif
