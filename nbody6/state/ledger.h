/** Counters and books of a run: events, seconds of the stages, energies, criteria that follow the cluster. Transfers of
 *  energy are in energy_ledger.h. */
#ifndef NB6_LEDGER_H
#define NB6_LEDGER_H

#include "nbody6/state/body.h"
#include "nbody6/state/energy_ledger.h"
#include "nbody6/state/stuck.h"

#include <stdint.h>

struct nb6_sim;

/** The id of a run is 16 hexadecimal digits and a 0. */
enum { NB6_RUN_ID_BYTES = 17 };

/** Event counters since t = 0. */
struct nb6_counters {
    uint64_t steps_irr, steps_reg; /**< individual steps */
    uint64_t blocks, blocks_reg;   /**< block steps, those with regular members */
    uint64_t pairs_irr, pairs_reg; /**< interactions */
    uint64_t overflows;            /**< neighbour lists that had to be made again */
    uint64_t calls_by_tree;        /**< regular forces of a block, or of a part of one, made by a tree */
    uint64_t escapers;
    uint64_t mergers;                   /**< collisions of two stars */
    uint64_t pairs_formed, pairs_ended; /**< regularized pairs */
    uint64_t ks_steps, ks_forces;       /**< steps of relative motions, forces of single perturbers on them */
    uint64_t chains_formed, chains_ended;
    uint64_t hierarchies_formed, hierarchies_ended;
    uint64_t chain_changes;                      /**< bodies that joined or left a chain that went on */
    uint64_t chain_steps, chain_forces;          /**< steps of chains, evaluations of all forces in them */
    uint64_t chain_pairs;                        /**< forces between two bodies in these evaluations */
    uint64_t type_changes, supernovae, remnants; /**< of stars that age; white dwarfs are remnants, too */
    uint64_t contacts; /**< pairs that overflow their Roche lobes, or touch, each counted once for either */
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
    NB6_STAGE_DEVICE, /**< blocks on a device, without separate times of stages */
    NB6_STAGE_MOVE,   /**< import of the state into an engine image, or its export */
    NB6_STAGE_COUNT
};

/** Energies at one time. Tidal: external potential energy in the rotating frame, where E is Jacobi's integral. */
struct nb6_energy {
    double kinetic, potential, tidal,
        total;      /**< a regularized pair counts as one body, to which its binding is added */
    double binding; /**< energies of the relative motions in regularized pairs, part of total */
    double virial_ratio;
    double angular_momentum[3];      /**< of all stars about the origin, members of pairs and chains included */
    double centre_x[3], centre_v[3]; /**< centre of mass */
    double mass;
};

/** Changes of the sums over all stars, since the start: mass, momentum, and angular momentum about the origin of the
 *  coordinates. */
struct nb6_star_transfers {
    double mass, momentum[3], angular_momentum[3];
};

/** These by channel, as the ledger has energies. Mass that a star loses takes its momentum and angular momentum along,
 *  unless the star gets a new velocity. Stars that merge keep both, but for the angular momentum of their relative
 *  motion. */
struct nb6_transfers {
    struct nb6_star_transfers stars, escaped, changed;
};

/** State that persists between adjust times. */
struct nb6_run_book {
    nb6_time ti_next_adjust, ti_next_output; /**< next multiples of DTADJ and DELTAT, TCRIT at the latest */
    int64_t adjust_count, output_count, snapshot_count;
    nb6_time ti_ended;    /**< the end of the run with a completed row and snapshot, 0: none */
    int64_t energy_known; /**< 0 until the first energy is taken */
    double e_scale;       /**< |E|, or T + |U| if E is nearly zero, at t = 0: scale of de_rel */
    double e_cluster;     /**< energy of the cluster as a set of bodies at t = 0: scale of de_cluster */
    struct nb6_energy_ledger ledger;
    struct nb6_transfers transfers;
    double mass_start;
    double wall_used_s; /**< of earlier sessions */
};

/** Books of the integrator of stars: what it steers by, and what has to survive between adjust times. */
struct nb6_bookkeeping {
    double r_density[3], v_density[3];       /**< density centre and its velocity */
    double r_half;                           /**< half-mass radius at the last adjust */
    double nb_alpha;                         /**< factor alpha of NA12 eq. 2 */
    double eta_share;                        /**< part of ETAI and ETAR that steps take (nb6_eta_share) */
    double r_min, dt_min, e_close;           /**< present criteria of close encounters */
    int64_t pairs_announced;                 /**< 1: the events of pairs from t = 0 have been raised */
    int64_t undecided;                       /**< 1: stage "decide" of the last block is not done yet */
    int64_t host_until;                      /**< number of blocks up to which the host makes them (engine/engines.h) */
    struct nb6_stuck stuck;                  /**< by names */
    int64_t stuck_told[2];                   /**< bodies of the last NB6_EVENT_STUCK */
    int64_t name_zero;                       /**< a centre of mass is named after its first star, plus this */
    double nnb_opt;                          /**< wanted mean neighbour number at present */
    uint64_t pairs_irr_last, pairs_reg_last; /**< counters at the last adjust */
    int64_t energy_tries;                    /**< how often the present adjust interval was begun again */
};

/** Scale of the energies of a pair: that of the cluster. */
double nb6_energy_scale(const struct nb6_sim *sim);
/** Permitted relative error of a pair or chain of this binding energy, by slow-down and by neglected weak perturbers: a
 *  fixed part of its binding energy, but not more than that part of the energy of the cluster. */
double nb6_inexact_share(const struct nb6_sim *sim, double binding);

extern const char *const nb6_stage_names[NB6_STAGE_COUNT];

#endif
