/** The state of a run where a device engine keeps it: raw pointers and numbers, the same for CUDA and for its emulation
 *  in plain C. Who takes part is there, in ascending order, without gaps: single stars, and after them the centres of
 *  mass of few-body systems. Relative motions stay with the host, which is asked where they act
 * (engine/host_service.h): *watched* bodies are those that a system resolves, and centres of mass of systems that are
 * perturbed. A pair on which nothing acts is *quiet*, and looks for perturbers by itself.
 *
 *  A block is a row of stages with barriers between them (stages/select.h, stages/force.h, stages/regular.h,
 * stages/correct.h, stages/commit.h). A stage is a function of a body, a part of the bodies, or a lane, and writes
 * nothing that another one of the same stage reads. Until the commit all results are in the scratch of the block. Sums
 * are made by NB6_DEV_LANES lanes and by slices of the sources, whatever the number of threads, and added in a fixed
 * order. */
#ifndef NB6_STAGES_STATE_H
#define NB6_STAGES_STATE_H

#include "common/hd.h"
#include "nbody6/engine/stages/predictor.h"
#include "nbody6/fewbody/encounter.h"
#include "nbody6/fewbody/perturber_rule.h"
#include "nbody6/fewbody/remote.h"
#include "nbody6/galaxy/linear_field.h"
#include "nbody6/state/body.h"
#include "nbody6/state/corrected.h"
#include "nbody6/state/stuck.h"
#include "nbody6/step/rules.h"

#include <stdint.h>

enum {
    NB6_DEV_LANES = 32,    /**< of a warp: sources of a sum are dealt out to them one by one */
    NB6_DEV_FLUSH = 32,    /**< terms that a lane adds in float before it adds to a double */
    NB6_DEV_HIT_GRAIN = 4, /**< words of hits are read so many at a time */
    NB6_DEV_TILE_UNITS = 100
};

/** What a stage has to say of a member of the block (dev->flag). */
enum {
    NB6_DEV_UNSOUND_IRR = 1,
    NB6_DEV_UNSOUND_REG = 2,
    NB6_DEV_TOO_LONG = 4,
    NB6_DEV_NEAR = 8,      /**< a neighbour is near enough for an encounter */
    NB6_DEV_LOOK = 16,     /**< its step is short enough as well; a quiet pair that has to look for perturbers */
    NB6_DEV_CANDIDATE = 32 /**< and they approach or are bound, or there is a perturber: the host has to look */
};

/** What few-body systems have to do with a body (dev->watch). */
enum {
    NB6_DEV_ASK = 1,   /**< it is watched: the host takes part in its steps */
    NB6_DEV_SHOW = 2,  /**< it is the centre of mass of a system that the host moves, and chooses perturbers for */
    NB6_DEV_QUIET = 4, /**< that of a pair on which nothing acts */
    NB6_DEV_REMOTE = 8 /**< of remote pairs, and of those whom none but these resolve: the engine makes their forces and
                            chooses perturbers, and the host is told of their steps */
};

/** What the host is told of a step, and at leisure: before the body changes for it, it moves the pairs that the body
 *  acts on. */
struct nb6_dev_note {
    struct nb6_body body;
    double field[6], field_dot[6]; /**< of a remote pair: the tide of neighbours that are no perturbers */
    nb6_time t;                    /**< of the block */
    int32_t place, level;
    int32_t has_tide, has_new_list;
    int32_t spare[2];
};

/** What of a body has been shown to the host. */
enum nb6_dev_shown { NB6_DEV_HIDDEN, NB6_DEV_ALONE, NB6_DEV_WITH_OTHERS };

/** What is known there of a system, by its centre of mass. */
struct nb6_dev_system {
    double radius;                       /**< wanted of its neighbour sphere */
    struct nb6_perturber_rule perturber; /**< of a quiet or remote pair */
    double t_check;                      /**< of a quiet pair: before then no neighbour can be one */
};

/** The tide of the bodies beyond its list on a system (fewbody/tide_sum.h). */
struct nb6_dev_tide {
    double field[6], field_dot[6];
};

/** What the host has to say of a watched member of the block. */
struct nb6_dev_correction {
    double acc[3], jerk[3]; /**< what resolved systems add to its irregular sums */
    double longest;         /**< limit of its next step */
    double radius;          /**< of a centre of mass: wanted of its sphere */
};

/** Acceleration and jerk. */
struct nb6_dev_sum {
    double acc[3], jerk[3];
};

/** A body at the block time, for regular forces: positions as two floats. Who takes no part is far away, without mass.
 */
struct nb6_dev_source {
    NBC_ALIGNED(16) float high[3];
    float mass;
    float low[3];
    float size; /**< by how much its mass makes spheres larger: sqrt(mass), or 1 */
    float v[3], spare;
};

/** A member of the block whose regular force is being made. */
struct nb6_dev_target {
    int32_t member, body;
    int32_t nnb;   /**< -1: it has no list yet, that fits */
    int32_t level; /**< of the regular step that ends */
    int32_t place; /**< of the body among the sources: its number, or along the curve */
    double r_nb;
};

/** Neighbours among the sources of a chunk. */
struct nb6_dev_found {
    uint32_t chunk, bits;
};

/** A chunk of the sources in the order of a curve, in units of 16 bytes (cuda/tiles.cuh). */
struct nb6_dev_tile {
    NBC_ALIGNED(16) float unit[NB6_DEV_TILE_UNITS][4];
};

/** Targets that follow each other along the curve (cuda/mutual.cuh). */
struct nb6_dev_group {
    NBC_ALIGNED(16) float centre[3], size; /**< of the box in which they are; of the largest, see nb6_dev_source */
    float extent[3], diagonal;             /**< of the box; length of its extent */
    float v[3], h;                         /**< middle of the velocities; radius of the largest sphere */
    float extent_v[3], mass;               /**< of all */
    float dt;                              /**< longest regular step */
    int32_t unit[2];                       /**< acceleration and jerk are summed in units of two to these powers */
    int32_t apart;                         /**< groups with which pairs are summed at once */
    int32_t is_spoiled, spare[3];          /**< 1: a sum of some target was no number, or did not fit */
};

/** Slices of the sources on a group of targets, of all slices of a round. */
struct nb6_dev_slices {
    int32_t first, number;
};

/** What a part of the bodies has counted. */
struct nb6_dev_count {
    int64_t irr, reg, pairs_irr;
    int32_t level; /**< lowest, NB6_TIME_BITS + 1: nobody is there */
    int32_t spare;
};

/** Rules of steps, radii, lists and encounters: filled anew before each call of `advance`. */
struct nb6_dev_rules {
    struct nb6_step_rules step;
    struct nb6_radius_rules radius;
    struct nb6_encounter_rules encounter;
    struct nb6_linear_field field; /**< of the galaxy */
    int64_t list_limit;            /**< longest list */
    int64_t system_limit;          /**< that of a centre of mass */
    double per_radius;      /**< radius of a sphere for a neighbour of mass one, or for any, over that of the star */
    double mean_mass, mass; /**< of stars, and of all */
    float near;   /**< a body within this distance, for each unit of mass of a pair, may be a partner in an encounter */
    int weighted; /**< spheres are larger for heavier neighbours */
    int fixed_radii; /**< they stay as they are */
};

/** Where the run is. Counters are those since the import. */
struct nb6_dev_control {
    nb6_time ti_now, t; /**< of the last committed block, of the present one */
    uint64_t blocks, blocks_reg, steps_irr, steps_reg, pairs_irr, pairs_reg, overflows;
    int64_t n_irr, n_reg;
    uint64_t pairs_irr_block, pairs_reg_block, overflows_block; /**< of the present block */
    int64_t longest;                                            /**< list that did not fit its row, 0: none */
    int64_t torn;           /**< 1: the last export has failed after it had begun to write */
    nb6_time t_ask;         /**< the host is asked at this time, whoever is due: a relative motion ends a step then */
    int64_t n_ask;          /**< bodies in dev->ask */
    struct nb6_stuck stuck; /**< by places, from 1 on */
};

/** Pointers to memory of the device. */
struct nb6_dev {
    int64_t n, n_max;     /**< bodies; room for so many */
    int64_t first_centre; /**< they are centres of mass from this one on */
    int64_t systems;      /**< room for so many of these */
    int64_t bodies;       /**< of the run, taking part or not: room for so many */
    int64_t row_room;     /**< numbers in a row of neighbours */
    int64_t targets;      /**< regular forces that are made at a time */
    int64_t parts;        /**< of all bodies, in order, for selection by the emulation */
    int64_t helpers;      /**< device: other GPUs that make a part of the sums of large blocks (cuda/helpers.h) */
    /* the state after control->blocks blocks */
    struct nb6_body *body;                 /**< [n] what others read of a body */
    struct nb6_dev_predictor *predictor;   /**< [n] the same in brief, where blocks are made */
    struct nb6_star *star;                 /**< [n] what its own correctors need */
    int8_t *level;                         /**< [n] of the irregular step, -1: it takes no part */
    int32_t *row;                          /**< [2][n_max][row_room] neighbours, ascending */
    int64_t *list_at;                      /**< [n] where each list begins in `lists`, */
    int32_t *lists;                        /**< in which they travel (stages/lists.h): second rows; in memory `row` */
    int8_t *row_now;                       /**< [n] which of the two rows is the list; the other is for the block */
    int8_t *watch;                         /**< [n] */
    int32_t *ask;                          /**< [control->n_ask] bodies that systems resolve, or centres of mass of
                                                those that the host moves: to ask or to tell of; ascending */
    struct nb6_dev_system *system;         /**< [n - first_centre] */
    struct nb6_remote *remote;             /**< [n - first_centre] with places */
    struct nb6_dev_correction *correction; /**< [n] of watched members of the block, the others' are nothing */
    /* of the image in memory: which body is which, and who has been shown to the host since it was made
     * (engine/host_service.h) */
    int32_t *body_of;         /**< [n] */
    int32_t *place_of;        /**< [bodies] -1: takes no part */
    struct nb6_dev_tide *far; /**< [systems] that the host has asked for */
    int8_t *shown;            /**< [n] enum nb6_dev_shown; of a member that is shown, as the engine has just done it */
    /* scratch of a block */
    struct nb6_dev_count *count; /**< [parts] */
    int32_t *irr;                /**< [n_irr] bodies due; results do not depend on their order */
    int32_t *reg;                /**< [n_reg] slots of those whose regular step ends as well */
    int8_t *is_reg, *flag;       /**< [n_irr] */
    int32_t *near;               /**< device: [n_irr] who is near (cuda/member.cuh) */
    int32_t *member;             /**< [n] watched members of the block; who is shown after it; on a device [2 n], from
                                    the end on members that the host is told of */
    struct nb6_corrected *corrected; /**< [n_irr] */
    struct nb6_dev_source *source;   /**< [chunks][NB6_DEV_LANES] */
    struct nb6_dev_target *target;   /**< [targets] */
    struct nb6_dev_sum *partial;     /**< sums of slices of the sources on targets */
    uint32_t *hit;                   /**< [targets, on a device few][words] neighbours, a bit for each source */
    struct nb6_dev_found *found;     /**< device: [targets][chunks] the same of many targets, without the zeros; each
                                        slice of the sources has its part */
    int32_t *n_found;                /**< device: as `partial`; how many a part has */
    /* the same of a device, for large blocks: bodies along a curve (cuda/sort.cuh) */
    uint32_t *key;             /**< [2][n_max] */
    int32_t *order;            /**< [2][n_max] the first half: bodies along the curve, regular members before others */
    int32_t *member_of;        /**< [n] of a regular member */
    int32_t *digits;           /**< [blocks of threads][NB6_DEVICE_DIGITS] */
    struct nb6_dev_tile *tile; /**< [chunks] */
    struct nb6_dev_source *seen;   /**< [targets] where they are */
    struct nb6_dev_group *group;   /**< of targets; */
    uint32_t *apart;               /**< [groups][words] which others are summed with one at once: a bit for each */
    struct nb6_dev_slices *slices; /**< of all groups of targets, counted within their rounds */
    int64_t *mutual;               /**< [GPUs][6][targets of groups] these sums, in units */
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

/** Whether body j is in an ascending list of n. */
NBC_HD int nb6_dev_is_in_list(const int32_t *list, int32_t n, int32_t j)
{
    int32_t low = 0, high = n;
    while (low < high) {
        const int32_t middle = (low + high) / 2;
        if (list[middle] < j)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n && list[low] == j;
}

/** Where the block makes the next one. */
NBC_HD int32_t *nb6_dev_staged_list(const struct nb6_dev *dev, int32_t i)
{
    return nb6_dev_row(dev, i, !dev->row_now[i]);
}

NBC_HD void nb6_dev_add(struct nb6_dev_sum *sum, const struct nb6_dev_sum *other)
{
    for (int k = 0; k < 3; k++) {
        sum->acc[k] += other->acc[k];
        sum->jerk[k] += other->jerk[k];
    }
}

NBC_HD void nb6_dev_clear(struct nb6_dev_sum *sum)
{
    for (int k = 0; k < 3; k++) sum->acc[k] = sum->jerk[k] = 0;
}

#endif
