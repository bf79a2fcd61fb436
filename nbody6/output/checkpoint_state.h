/** Everything of fixed size in a checkpoint, of either kind of run: what the groups of attributes hold. Private to
 *  checkpoint*.c, collisionless_checkpoint.c and run_id.c. */
#ifndef NB6_CHECKPOINT_STATE_H
#define NB6_CHECKPOINT_STATE_H

#include "nbody6/hdf5/hdf5_util.h"
#include "nbody6/state/body.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/run_record.h"

#include <stdint.h>

struct nb6_run_state;
struct nb6_sim;

/** Of a collisionless run all that is not there is 0. */
struct nb6_checkpoint_state {
    struct nb6_run_record run;
    struct nb6_bookkeeping book;
    int64_t n, n_slot, n_system, n_chain;   /**< stars; slots, those in use, and chains (state/subsystems.h) */
    nb6_time ti_now, ti_reached, ti_origin; /**< as in sim.h, and so are the rest */
    int64_t nb_cap;
    double mean_mass;
    double stage_s[NB6_STAGE_COUNT];
};

/** That of a simulation: copied, its properties are not. */
void nb6_checkpoint_state_of(const struct nb6_sim *sim, struct nb6_checkpoint_state *state);
/** A simulation that has no stars yet gets it; clock, id and properties stay. */
void nb6_checkpoint_state_to(const struct nb6_checkpoint_state *state, struct nb6_sim *sim);

/** The heading: version, schema, the backends and the engine in use, and what the command adds. */
void nb6_checkpoint_write_heading(struct nb6_hdf5 *file, const char *gpunb_backend, const char *gpuirr_backend,
                                  const char *engine, const struct nb6_run_state *run);
/** All groups of attributes, and input variables without a member in the configuration. */
void nb6_checkpoint_write_state(struct nb6_hdf5 *file, const struct nb6_checkpoint_state *state);
/** The groups read, each value judged by its rule; nothing else is at the top of the file. */
void nb6_checkpoint_read_state(struct nb6_hdf5 *file, struct nb6_checkpoint_state *state);

#endif
