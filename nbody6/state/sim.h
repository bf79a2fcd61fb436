/** The state of a run: everything that a checkpoint holds and every stage of the block step works on. Private to
 * libnbody6. */
#ifndef NB6_SIM_H
#define NB6_SIM_H

#include "gpuirr/gpuirr.h"
#include "gpunb/gpunb.h"
#include "nbody6/fewbody/pairs.h"
#include "nbody6/galaxy/external.h"
#include "nbody6/input/config.h"
#include "nbody6/input/units.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/body.h"
#include "nbody6/state/schedule.h"

/** Event counters since t = 0. */
struct nb6_counters {
    uint64_t steps_irr, steps_reg; /**< individual steps */
    uint64_t blocks, blocks_reg;   /**< block steps, those with regular members */
    uint64_t pairs_irr, pairs_reg; /**< interactions */
    uint64_t overflows;            /**< neighbour lists that had to be made again */
    uint64_t escapers;
    uint64_t mergers;                   /**< collisions of two stars */
    uint64_t pairs_formed, pairs_ended; /**< regularized pairs */
    uint64_t ks_steps, ks_forces;       /**< steps of relative motions, forces of single perturbers on them */
    uint64_t chains_formed, chains_ended;
    uint64_t hierarchies_formed, hierarchies_ended;
    uint64_t chain_changes;             /**< bodies that joined or left a chain that went on */
    uint64_t chain_steps, chain_forces; /**< steps of chains, evaluations of all forces in them */
    uint64_t chain_pairs;               /**< forces between two bodies in these evaluations */
};

/** Wall-clock seconds by stage. Not part of the reproducible state. */
enum nb6_stage {
    NB6_STAGE_SCHEDULE,
    NB6_STAGE_PAIRS,
    NB6_STAGE_PREDICT,
    NB6_STAGE_IRREGULAR,
    NB6_STAGE_CORRECT,
    NB6_STAGE_REGULAR,
    NB6_STAGE_COMMIT,
    NB6_STAGE_ADJUST,
    NB6_STAGE_OUTPUT,
    NB6_STAGE_COUNT
};
extern const char *const nb6_stage_names[NB6_STAGE_COUNT];

/** Energies at one time. Tidal: external potential energy in the rotating frame, where E is Jacobi's integral. */
struct nb6_energy {
    double kinetic, potential, tidal,
        total;      /**< a regularized pair counts as one body, to which its binding is added */
    double binding; /**< energies of the relative motions in regularized pairs, part of total */
    double virial_ratio;
    double angular_momentum[3];
    double centre_x[3], centre_v[3]; /**< centre of mass */
    double mass;
};

/** What has to survive between adjust times. */
struct nb6_bookkeeping {
    nb6_time ti_next_adjust, ti_next_output; /**< next multiples of DTADJ and DELTAT, TCRIT at the latest */
    int64_t adjust_count, output_count, snapshot_count;
    int64_t energy_known;     /**< 0 until the first energy is taken */
    double e_start;           /**< total energy at t = 0 */
    double e_scale;           /**< |e_start|, or T + |U| at t = 0 if E is nearly zero: what de_rel is relative to */
    double e_cluster;         /**< energy of the cluster as a set of bodies at t = 0: what de_cluster is relative to */
    double e_expected;        /**< what the total should be now: e_start less what escapers took */
    double e_last;            /**< total at the last adjust */
    double e_escaped;         /**< energy carried away by escapers */
    double e_escaped_binding; /**< part of it: energy of the relative motions in pairs and chains that left */
    double e_merged;          /**< energy that went into stars that merged */
    double mass_start;
    double r_density[3], v_density[3];       /**< density centre and its velocity */
    double r_half;                           /**< half-mass radius at the last adjust */
    double nb_alpha;                         /**< factor alpha of NA12 eq. 2 */
    double eta_share;                        /**< part of ETAI and ETAR that steps take (nb6_eta_share) */
    double r_min, dt_min, e_close;           /**< criteria of close encounters, as they are now */
    double e_pair_changes;                   /**< energy that formation and termination of pairs added in error */
    int64_t pairs_announced;                 /**< 1: the events of pairs from t = 0 have been raised */
    nb6_time ti_ended;                       /**< the end of the run whose row and snapshot were made, 0: none */
    int64_t first_decisions;                 /**< 1: nb6_step_decide_first was called */
    int64_t name_zero;                       /**< a centre of mass is named after its first star, plus this */
    double nnb_opt;                          /**< wanted mean neighbour number at present */
    uint64_t pairs_irr_last, pairs_reg_last; /**< counters at the last adjust */
    double wall_used_s;                      /**< of earlier sessions */
};

/** New state of a member of the block, kept apart until the whole block is known to be sound. */
struct nb6_corrected {
    double x[3], v[3];
    double acc_irr[3], jerk_irr[3], snap_irr[3], crackle_irr[3]; /**< with the external field */
    double acc_reg[3], jerk_reg[3], snap_reg[3], crackle_reg[3]; /**< set for regular members */
    double corr_acc[3], corr_jerk[3];                            /**< what resolved pairs add to the irregular sums */
    double r_nb;
    int32_t nnb;
    int8_t level_irr, level_reg;
    int8_t regular;
};

/** Scratch of one block step, sized with n. */
struct nb6_active {
    nb6_time t;
    int64_t n_irr, n_reg;
    int predicted_all;               /**< which way the time was announced to GPUIRR */
    int32_t *irr;                    /**< [n_irr] bodies due, ascending */
    int32_t *reg;                    /**< [n_reg] slots (positions in irr) of those whose regular step ends as well */
    double (*acc)[3], (*jerk)[3];    /**< [n_irr] irregular sums as the library gave them, old lists */
    struct nb6_corrected *corrected; /**< [n_irr] */
    double *mass;            /**< [n_source] with x, v: all bodies that take part, in blocks with regular members */
    double (*x)[3], (*v)[3]; /**< [n_source] */
};

/** Measured cost of the two ways to predict (DESIGN section 5): both give the same bits, so that the choice may follow
 * the clock. */
struct nb6_prediction_cost {
    double all_s;                  /**< seconds to predict one body, large blocks */
    double stored_s, on_the_fly_s; /**< seconds for an interaction, after pred_all and after pred_act */
};

/** Potentials of all stars at the time last asked for: an adjust and a snapshot at one time share the O(N^2) sum. */
struct nb6_potential_cache {
    nb6_time t;
    uint64_t blocks;
    int64_t n; /**< 0: empty */
    double *pot;
};

struct nb6_sim {
    struct nb6_config config;
    struct nb6_units units;
    struct nb6_external external;

    int64_t n;             /**< stars now */
    struct nb6_body *body; /**< [n + n_slot] stars, then centres of mass of pairs */
    struct nb6_star *star; /**< [n + n_slot] */
    struct nb6_pairs pairs;
    struct nb6_schedule *schedule;

    gpunb_t *reg;
    gpuirr_t *irr;
    nb6_time ti_now;     /**< last block time */
    nb6_time ti_reached; /**< time that the last call of nb6_evolve came to; not before ti_now */
    nb6_time ti_origin;  /**< origin of the double times passed to GPUIRR */
    int64_t nb_cap;      /**< capacity of a list row asked of GPUNB */
    double mean_mass;    /**< of the initial model: unit of the mass-weighted neighbour criterion */

    struct nb6_active active;
    struct nb6_counters counters;
    struct nb6_bookkeeping book;
    double stage_s[NB6_STAGE_COUNT];

    /* What follows belongs to the session, not to the state: none of it influences a result. */
    struct nb6_prediction_cost prediction;
    double chain_s; /**< wall-clock seconds of all threads in chains, this session */
    struct nb6_potential_cache potential;
    struct nb6_motions_now motions_now;
    struct nb6_observer observer;
    int stopped;
    double wall_start_s;
};

/** Stars that are no test particles. */
int64_t nb6_massive_stars(const struct nb6_sim *sim);

#endif
