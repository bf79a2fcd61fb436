/** The state of a run: everything that a checkpoint holds and every stage of the block step works on. Private to
 * libnbody6. */
#ifndef NB6_SIM_H
#define NB6_SIM_H

#include "common/nbc.h"
#include "gpuirr/gpuirr.h"
#include "gpunb/gpunb.h"
#include "nbody6/galaxy/external.h"
#include "nbody6/input/config.h"
#include "nbody6/input/properties.h"
#include "nbody6/input/units.h"
#include "nbody6/state/body.h"
#include "nbody6/state/corrected.h"
#include "nbody6/state/event.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/nearest.h"
#include "nbody6/state/run_record.h"
#include "nbody6/state/subsystems.h"
#include "nbody6/state/survey.h"
#include "nbody6/state/touched.h"
#include "nbody6/state/touched_slots.h"
#include "nbody6/state/transaction.h"

#include <stdint.h>

/** Scratch of one block step, sized with n. */
struct nb6_active {
    nb6_time t;
    int64_t n_irr, n_reg;
    int64_t room;                    /**< of arrays that are not made from block to block */
    nb6_index *irr;                  /**< [n_irr] bodies due, ascending */
    int32_t *reg;                    /**< [n_reg] positions in irr of the members that end a regular step as well */
    int8_t *is_reg;                  /**< [n_irr] their numbers */
    int64_t pairs_irr;               /**< neighbours of all members, from the lists before the block */
    double (*acc)[3], (*jerk)[3];    /**< [n_irr] irregular sums as the library gave them, old lists */
    double *noise;                   /**< [n_irr] rounding errors of acc */
    struct nb6_corrected *corrected; /**< [n_irr] */
    double (*x)[3];                  /**< [n_source] all bodies that take part, where a run starts */
    const struct nb6_corrector_lane_set *lanes; /**< of this processor (step/corrector_lanes.h) */
    void *chunk[2];                             /**< of step/regular.c, with their rows of lists */
    void *regular;                              /**< of step/regular_step.c */
    int32_t *rows[2];
    int64_t row_room[2];
};

/** Potentials of all stars at the time last asked for: an adjust and a snapshot at one time share the O(N^2) sum. */
struct nb6_potential_cache {
    nb6_time t;
    uint64_t blocks;
    int64_t n;          /**< 0: empty */
    double *pot, error; /**< error: of the energy, as nb6_potential_make tells it */
    /** Stars with their potential under way in GPUNB, at the start; 0: none */
    int64_t started;
    double *mass, (*x)[3]; /**< [started] */
};

struct nb6_ageing;
struct nb6_engine;
struct nb6_profile;
struct nb6_host_service;

/** A synchronisation that an engine with an engine image must do before two bodies become one (fewbody/ready.h). */
struct nb6_pending_sync {
    int is_looking;    /**< 1: neighbour lists are in the image; requests are recorded here */
    int n;             /**< number of pairs of bodies that would become one after a synchronisation */
    nb6_index body[2]; /**< of the last pair */
};

/** The engine image: bodies and lists in the memory of an engine (engine/engine.h). */
struct nb6_engine_image {
    void *image;                      /**< the engine's own; NULL: none */
    const struct nb6_engine *owner;   /**< that engine */
    struct nb6_host_service *service; /**< the host's part in its blocks (engine/host_service.h) */
    uint64_t edits;                   /**< sim->edits when image and host memory were equal */
    nb6_time ti_home;                 /**< time reached then, sim->ti_reached */
    int ahead;                        /**< 1: the image has blocks or edits that host memory does not have */
    int undecided;                    /**< 1: stage "decide" of the last of them is not done yet */
    int lost;                         /**< 1: a device does not answer, or there is no memory for an image */
    int64_t stuck_blocks;             /**< of struct nb6_stuck, in an image that is ahead */
    int64_t told_later;               /**< events of edits, the first in the transaction: told once the state is home */
    struct nb6_pending_sync pending;
    struct nb6_touched touched;             /**< since image and host memory were equal */
    struct nb6_touched_slots touched_slots; /**< since the image got records of systems */
    struct nb6_survey_now survey;           /**< the engine that answers questions about all bodies now */
    int is_part;                            /**< 1: the last import or export has moved what had changed, not all */
};

struct nb6_sim {
    struct nb6_run_record run; /**< description of the run apart from its stars */

    int64_t n;                 /**< stars now */
    struct nb6_body *body;     /**< [n + n_slot] stars, then centres of mass of pairs */
    struct nb6_star *star;     /**< [n + n_slot] */
    struct nb6_ageing *ageing; /**< stars that age (ageing.h); NULL: none do */
    struct nb6_subsystems subsystems;
    struct nb6_schedule *schedule;

    gpunb_t *reg;
    gpuirr_t *irr;
    nb6_time ti_now;     /**< last block time */
    nb6_time ti_reached; /**< time that the last call of nb6_evolve came to; not before ti_now */
    nb6_time ti_origin;  /**< origin of the double times passed to the libraries */
    int64_t nb_cap;      /**< capacity of a list row asked of GPUNB */
    double mean_mass;    /**< of the initial model: unit of the mass-weighted neighbour criterion */

    struct nb6_active active;
    struct nb6_transaction transaction; /**< the step or change in progress */
    struct nb6_bookkeeping book;
    double stage_s[NB6_STAGE_COUNT];

    /* The following members belong to the session, not to the state: none influences a result. */
    struct nb6_engine_image engine_image;
    uint64_t edits; /**< changes of bodies and lists in memory, by blocks and by others: rises with each */
    double chain_s; /**< wall-clock seconds of all threads in chains, this session */
    struct nb6_potential_cache potential;
    struct nb6_nearest *nearest; /**< of the stars at the start, up to the first adjust; NULL: not known */
    struct nb6_motions_now motions_now;
    struct nb6_profile *profile; /**< NULL: not requested */
    struct nb6_observer observer;
    int stopped;
    int is_called, is_freed; /**< within a call that observers hear of; one of them has freed it (run/live.h) */
    int engine; /**< enum nb6_engine_choice, settled: not auto. A checkpoint has its name (engine/choice.h) */
    char engine_why[NB6_ENGINE_WHY];
};

/** Allocate for n stars and open the two force libraries, with their tables of predictors. body and star may have been
 *  allocated before (a checkpoint), and sim->reg opened.
 *  @param[in] n_pair  pairs that will begin, as far as they are known: for more of them all tables are copied
 *  @return NBC_OK; NBC_NO_MEMORY; NBC_UNAVAILABLE or NBC_DEVICE (backend named) */
int nb6_sim_open(struct nb6_sim *sim, int64_t n, int64_t n_pair, struct nbc_error *err);
/** The library of regular forces alone, for a simulation of n stars with this configuration that is not open yet.
 *  @param[out] reg  NULL after a failure   @return as nb6_sim_open */
int nb6_sim_open_regular(const struct nb6_config *config, int64_t n, gpunb_t **reg, struct nbc_error *err);
/** Free it, with a potential that may be under way. */
void nb6_sim_close_regular(struct nb6_sim *sim);
/** Discard the potential that was begun. */
void nb6_potential_give_up(struct nb6_sim *sim);
/** Room for so many slots: all that is sized with the bodies grows, and keeps what it holds. Lists of GPUIRR move. To
 * be called before a change of members, never within.   @return NBC_OK; NBC_NO_MEMORY: nothing has changed then */
int nb6_sim_reserve(struct nb6_sim *sim, int64_t n_slot, struct nbc_error *err);
/** Room for so many more stars, within the room for bodies: they use that of slots, which is made larger if need be. To
 *  be called as nb6_sim_reserve.   @return NBC_OK; NBC_NO_MEMORY: nothing has changed then */
int nb6_sim_reserve_stars(struct nb6_sim *sim, int64_t n_new, struct nbc_error *err);
/** Targets from which on a handle makes regular forces of n sources by tree; 0: it never does. */
int64_t nb6_least_by_tree(const gpunb_t *reg, int64_t n);
/** Nominal cost of a target in a block of n_i of n_j sources whose regular forces are made by a tree, in pairs of
 * direct sums; 0: they are direct sums. */
int64_t nb6_pairs_by_tree(const gpunb_t *reg, int64_t n_i, int64_t n_j);
/** How many targets of n sources have regular forces by the tree that FORCE_ERROR asks for.
 *  @param[out] targets  at least so many; 0: direct sums are always cheaper   @return as nb6_sim_open_regular */
int nb6_sim_tell_tree(const struct nb6_config *config, int64_t n, int64_t *targets, struct nbc_error *err);
/** Whether a GPU makes the regular forces, the irregular ones. */
int nb6_regular_on_gpu(const gpunb_t *reg);
int nb6_sim_on_gpu(const struct nb6_sim *sim);
int nb6_sim_irr_on_gpu(const struct nb6_sim *sim);
/** The backend of the regular force as a configuration asks for it: with the GPUs in use, if it has any, since their
 *  number orders sums.   @param[out] text [size] */
void nb6_regular_name(const gpunb_t *reg, char *text, size_t size);
/** Regular forces by another backend from now on, named as in the configuration. It has no predictors yet.
 *  @return NBC_OK; the status of gpunb_create: nothing has changed then */
int nb6_sim_use_backend(struct nb6_sim *sim, const char *device, struct nbc_error *err);
/** Irregular forces by another backend from now on, which gets the lists; it has no predictors yet. Not within a
 *  transaction.   @return NBC_OK; the status of gpuirr_create or gpuirr_set_list: nothing has changed then */
int nb6_sim_use_irregular(struct nb6_sim *sim, const char *backend, struct nbc_error *err);
/** The backend of irregular forces for the processor, whatever the environment says. */
const char *nb6_sim_irregular_on_cpu(void);
/** Release all but the struct itself. */
void nb6_sim_close(struct nb6_sim *sim);

#endif
