/** Times of a run: the seconds of its stages, and, on request, a profile by the size of the blocks. It belongs to the
 *  session: it is in no checkpoint and influences no result. */
#ifndef NB6_PROFILE_H
#define NB6_PROFILE_H

#include "common/nbc.h"
#include "nbody6/state/ledger.h"

#include <stdint.h>

struct nb6_sim;

/** Calls made by the code of a program since its start. */
struct nb6_calls {
    uint64_t allocations;   /**< of nbc_alloc and nbc_realloc */
    uint64_t bytes_cleared; /**< by these */
    uint64_t mallocs;       /**< of malloc, calloc and realloc of the C library */
    uint64_t bytes_malloc;  /**< asked for by these */
    uint64_t regions;       /**< OpenMP parallel regions entered, without those that run on one thread by their `if` */
};

/** Counter of these calls. A program has one (app/wrapped_calls.h), a library cannot. */
struct nb6_call_counter {
    void (*read)(struct nb6_calls *calls);
    int sees_regions; /**< 0: this compiler enters regions in a way that is not counted */
};

/** Blocks of one kind, or the work between blocks. */
struct nb6_profile_row {
    uint64_t blocks, steps_irr, steps_reg;
    double wall_s; /**< wall-clock seconds, more than the stages together */
    double stage_s[NB6_STAGE_COUNT];
    struct nb6_calls calls;
    uint64_t bytes_sent, bytes_received; /**< to and from the devices of GPUNB */
};

/** Sizes of blocks: 1, 2 to 4, 5 to 16, ..., 1025 to 4096 members, more. */
enum { NB6_PROFILE_SIZES = 8 };

struct nb6_profile {
    const struct nb6_call_counter *counter;
    struct nb6_profile_row block[2][NB6_PROFILE_SIZES]; /**< [0] without, [1] with regular members */
    struct nb6_profile_row between;  /**< adjusts, output, and work of the caller of nb6_evolve between its calls */
    struct nb6_profile_row before;   /**< clock and counters at the end of the last row */
    double stage_s[NB6_STAGE_COUNT]; /**< since then */
    uint64_t moves;                  /**< of the whole state into an engine image, or out of it */
    uint64_t part_moves;             /**< of what had changed, in either direction */
    uint64_t mass_changes;           /**< calls of nb6_set_masses that changed stars */
    uint64_t blocks_image, steps_irr_image, steps_reg_image; /**< that the counters do not have yet */
    int paused;                                              /**< the last step did not come to the end of its block */
};

/** Class of a block of so many members, 0 to NB6_PROFILE_SIZES - 1. */
int nb6_profile_size(uint64_t members);
/** Members of a class, from least to most; most is 0 in the last one, which has no end. */
void nb6_profile_range(int size, uint64_t *least, uint64_t *most);

/** Profile the run from now on.   @return NBC_OK; NBC_NO_MEMORY */
int nb6_profile_start(struct nb6_sim *sim, const struct nb6_call_counter *counter, struct nbc_error *err);
/** The profile up to now; NULL: not asked for. Stays the run's. */
const struct nb6_profile *nb6_profile_read(struct nb6_sim *sim);
/** Sum of all rows for blocks. */
struct nb6_profile_row nb6_profile_sum(const struct nb6_profile *profile);

/** Book wall-clock seconds of a stage. */
void nb6_profile_stage(struct nb6_sim *sim, enum nb6_stage stage, double seconds);
/** Count a move of the state, or of what had changed; a change of masses. */
void nb6_profile_count_move(struct nb6_sim *sim, int is_part);
void nb6_profile_count_mass_change(struct nb6_sim *sim);
/** A step begins, and ends. The work between both belongs to the block; if the step has paused, to the block that the
 *  next step ends. */
void nb6_profile_step_begins(struct nb6_sim *sim);
void nb6_profile_step_ends(struct nb6_sim *sim);
/** Blocks and steps in an engine image that sim->counters does not include yet; negative: it includes them from now
 *  on. */
void nb6_profile_image(struct nb6_sim *sim, int64_t blocks, int64_t steps_irr, int64_t steps_reg);
/** Counters were set back, or begin anew: after lost blocks of an engine image, or with another handle of a library. */
void nb6_profile_recount(struct nb6_sim *sim);

#endif
