/** libnbody6: a star cluster as an object. Create it, set its bodies, evolve it, ask it.
 *
 *  Units: N-body (Henon) units, G = 1. Every function that can fail returns a status of nbc.h (0 is success) and fills
 * err, which may be NULL. Nothing prints, nothing exits. One simulation is used by one thread at a time; OpenMP inside.
 *  A simulation that is NULL or was freed, and an array or path that is NULL where that is not allowed, is refused with
 * NBC_BAD_ARGUMENT; functions without a status return 0 or "" then. An observer (event.h) may call all functions that
 * read the simulation and write checkpoints; those that change it are refused with NBC_BAD_STATE. */
#ifndef NBODY6_H
#define NBODY6_H

#include "nbody6/input/config.h"
#include "nbody6/state/event.h"

#ifdef __cplusplus
extern "C" {
#endif

struct nb6_energy;

#define NB6_VERSION "0.1.0"

/** An empty simulation.   @param[out] sim set on success only */
int nb6_create(nb6_t **sim, const struct nb6_config *config, struct nbc_error *err);
/** Gives all memory back; nothing for NULL, and for a freed simulation. From an observer: no more events are raised,
 * and the call that raised the event returns NBC_BAD_STATE soon, with the simulation freed. */
void nb6_free(nb6_t *sim);
void nb6_set_observer(nb6_t *sim, const struct nb6_observer *observer);

/** Set all stars at t = 0 and start their force polynomials.
 *  @param[in] name [n] unique, > 0 and at most NB6_NAME_LARGEST; NULL: 1 to n   @param[in] mass [n] >= 0; x, v [n][3]
 * finite, no two at one place
 *  @return NBC_OK; NBC_BAD_INPUT or NBC_NON_FINITE (names the star); NBC_NO_MEMORY; NBC_DEVICE */
int nb6_set_bodies(nb6_t *sim, int64_t n, const int64_t *name, const double *mass, const double (*x)[3],
                   const double (*v)[3], struct nbc_error *err);

/** Add stars to the existing ones, or remove some by their names, between calls of nb6_evolve. Few single stars of many
 *  (up to a 32nd of all, once energies are known, where stars do not age) come and go while the run goes on: those that
 *  see them begin anew, and others gain or lose their pull. A star of a system that goes, one that is at once a pair
 *  with another one, or more stars make all anew: stars are predicted to the present time; forces, lists, steps, chains
 *  and hierarchies are made from there, at the cost of a start and of twice the memory meanwhile. Pairs of two stars
 *  that stay go on. The energy of these stars, summed over stars, is booked (channel `changed`: it is no part of the
 * error), and the observer is notified (NB6_EVENT_STARS_CHANGED) after the change is complete. First steps divide the
 * time, which may be any, and are back to normal within 80 block steps; there are fewest at a time of
 * nb6_time_of_change.
 *  @param[in] name  add: [n] > 0 and at most NB6_NAME_LARGEST, of no existing star; NULL: numbers above all earlier
 * ones. remove: [n] of existing stars
 *  @param[in] mass  [n] >= 0; x, v [n][3] finite
 *  @return NBC_OK; NBC_BAD_STATE (two stars are about to merge: evolve a little further first); NBC_BAD_INPUT,
 * NBC_NON_FINITE (names the star); NBC_BAD_ARGUMENT; NBC_NO_MEMORY; NBC_DEVICE: nothing has changed then; the status of
 * an observer: the stars are changed then */
int nb6_add_bodies(nb6_t *sim, int64_t n, const int64_t *name, const double *mass, const double (*x)[3],
                   const double (*v)[3], struct nbc_error *err);
int nb6_remove_bodies(nb6_t *sim, int64_t n, const int64_t *name, struct nbc_error *err);
/** The first time not before t at which added or removed stars cost least: a multiple of 2^-14, so that first steps are
 *  hardly shorter than others. */
double nb6_time_of_change(double t);

/** How stars change their masses: over many orbits of the pairs that they are in, or in less than any step. */
enum nb6_mass_change { NB6_MASS_SLOW, NB6_MASS_SUDDEN };

/** Give stars new masses, and new velocities if they are wanted, between calls of nb6_evolve, all at the present time,
 *  which may be any. NB6_MASS_SLOW: winds. A star in a pair leaves it with the same product of semi-major axis and
 * mass, the same eccentricity and phase; so do the bound pairs in a chain, and both orbits of a frozen triple.
 *  NB6_MASS_SUDDEN: supernovae. All stars keep their places, and their velocities unless v has others: kicks. Whether a
 *  pair, chain or triple lasts is decided by the next call of nb6_evolve.
 *
 *  Mass that leaves takes its momentum, angular momentum and energy along; all three are booked (energy: channel
 *  `stars`) and no part of any error. The observer is notified (NB6_EVENT_MASSES_CHANGED) after the change is complete;
 * of single stars in an engine image, which change there, once the state is in host memory (nb6_bring_home). Others
 * lose the attraction in their force polynomials; bodies that begin anew, because they got another velocity or are near
 * to one that did, or to one that lost more than a twentieth of its mass, have first steps that divide the time, which
 * are back to normal within 80 block steps.
 *  @param[in] name [n] of existing stars, each once   @param[in] mass [n] >= 0; of a star in a chain > 0
 *  @param[in] v [n][3] finite; NULL: velocities are kept. Only with NB6_MASS_SUDDEN
 *  @return NBC_OK; NBC_BAD_STATE (no stars yet, or a pair or chain was stopped within a block step: says so);
 *          NBC_BAD_INPUT, NBC_NON_FINITE (names the star); NBC_BAD_ARGUMENT; NBC_NO_MEMORY; NBC_DEVICE: nothing has
 *          changed then, or, see nb6_device_is_lost, since the state was last in host memory; the status of an
 *          observer: the masses are changed then */
int nb6_set_masses(nb6_t *sim, int64_t n, const int64_t *name, const double *mass, const double (*v)[3],
                   enum nb6_mass_change how, struct nbc_error *err);

/** Advance to time t (rounded to 2^-40). Radii are adjusted and energies checked at multiples of dt_adjust and at the
 * end of the run.
 *  @return NBC_OK (also when poll asked for the end: see nb6_stopped); NBC_ENERGY, NBC_NON_FINITE, NBC_NO_MEMORY,
 * NBC_DEVICE (the state is that before the failing block step or adjust: checkpoint it to replay, or call again; see
 * nb6_device_is_lost); the status of an observer */
int nb6_evolve(nb6_t *sim, double t, struct nbc_error *err);

double nb6_time_now(const nb6_t *sim); /**< N-body time reached */
int64_t nb6_count(const nb6_t *sim);   /**< stars now */
int nb6_stopped(const nb6_t *sim);     /**< 1: the last nb6_evolve ended early because poll asked for it */

/** While nb6_evolve runs, and after it unless it ended with an adjust or an output, the state may be in an engine image
 * (--engine): copy its bodies, lists and counters to host memory, for a poll that reads them. Functions of this header
 * that return data or write a checkpoint, and frames, do it themselves. Outside of nb6_evolve the observer hears of
 * changes of masses that waited for it.   @return NBC_OK; NBC_NO_MEMORY; NBC_DEVICE; the status of the observer */
int nb6_bring_home(nb6_t *sim, struct nbc_error *err);

/** The engine that advances the block steps of this run, "host", "device" or "emulated", and the reason for its
 *  choice. */
const char *nb6_engine_name(const nb6_t *sim);
const char *nb6_engine_why(const nb6_t *sim);
/** The engine that n stars with this configuration would have on this machine, as nb6_engine_name. */
const char *nb6_engine_for(const struct nb6_config *config, int64_t n, char why[NB6_ENGINE_WHY]);
/** NULL if the engine of this name can run on this machine; else why not, in a few words. */
const char *nb6_engine_missing(const char *name, char why[NB6_ENGINE_WHY]);

/** 1: the last nb6_evolve or nb6_set_masses failed because the device of the engine, or of the regular forces, does not
 * answer, or has no memory. The state, and nb6_time_now, are those of the last copy to host memory: an adjust, an
 * output, a checkpoint or nb6_bring_home. Changes of masses since then are undone. The lost blocks are computed again
 * by nb6_evolve, which fails again unless the device is back, by this run after nb6_leave_device, or by another run
 * from a checkpoint. */
int nb6_device_is_lost(const nb6_t *sim);
/** Go on with the host engine, and with regular forces on the processor.   @return NBC_OK; NBC_NO_MEMORY */
int nb6_leave_device(nb6_t *sim, struct nbc_error *err);

/** All stars at the present time, in index order. After a stop within a block step, members of pairs and chains that
 * had begun with it are at the time they have reached, ahead of their centre of mass by less than the step. @param[out]
 * name, mass [n]; x, v [n][3]; any may be NULL */
int nb6_get_bodies(nb6_t *sim, int64_t n, int64_t *name, double *mass, double (*x)[3], double (*v)[3],
                   struct nbc_error *err);
/** Potential, for unit mass, and acceleration of all stars at points in space, at the present time: direct sums in
 * double over the stars as nb6_get_bodies has them, members of pairs and chains one by one. An engine with the stars on
 * a device sums them there. A star at the very place of a point does not act on it. The galaxy is apart: what it does
 * to a body at rest in the frame of the run.
 *  @param[in] x [n][3] finite   @param[out] potential [n], acc [n][3], of the stars; galaxy_potential [n], galaxy_acc
 *  [n][3], zero without a galaxy; any may be NULL */
int nb6_get_field(nb6_t *sim, int64_t n, const double (*x)[3], double *potential, double (*acc)[3],
                  double *galaxy_potential, double (*galaxy_acc)[3], struct nbc_error *err);
/** Energies at the present time (O(N^2)); see ledger.h for the members. */
int nb6_get_energy(nb6_t *sim, struct nb6_energy *energy, struct nbc_error *err);

/** Write all that is needed to continue bit for bit (HDF5, checksummed, written to a temporary name, synced, renamed).
 */
int nb6_checkpoint(nb6_t *sim, const char *path, struct nbc_error *err);
/** A simulation that continues bit for bit.   @param[out] sim set on success only
 *  @return NBC_OK; NBC_FILE (missing, truncated, corrupted, other schema: the message names it and the remedy) */
int nb6_restore(nb6_t **sim, const char *path, struct nbc_error *err);

#ifdef __cplusplus
}
#endif
#endif
