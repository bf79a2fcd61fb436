/** Memory and libraries of a simulation, and the first forces and steps of its stars. Private to libnbody6. */
#ifndef NB6_START_H
#define NB6_START_H

#include "nbody6/state/sim.h"

/** Allocate for n stars and open the two force libraries. body and star may have been allocated before (a checkpoint).
 *  @return NBC_OK; NBC_NO_MEMORY; NBC_UNAVAILABLE or NBC_DEVICE (backend named) */
int nb6_sim_open(struct nb6_sim *sim, int64_t n, struct nbc_error *err);
/** Room for so many slots: all that is sized with the bodies grows, and keeps what it holds. Lists of GPUIRR move. To
 * be called before a change of members, never within.   @return NBC_OK; NBC_NO_MEMORY: nothing has changed then */
int nb6_sim_reserve(struct nb6_sim *sim, int64_t n_slot, struct nbc_error *err);
/** Release all but the struct itself. */
void nb6_sim_close(struct nb6_sim *sim);

/** From positions, velocities and masses at t = ti_now: neighbour lists, forces, first steps, schedule. */
int nb6_start(struct nb6_sim *sim, struct nbc_error *err);

/** Lists, forces and first steps of some bodies, new at t = ti_now, with nothing known of them but place, velocity and
 * neighbour radius; they take part already. Every force of an n-body system at one time costs O(n), so do these.
 *  @param[in] list [n] ascending */
int nb6_start_bodies(struct nb6_sim *sim, int64_t n, const int32_t *list, struct nbc_error *err);

/** Make pairs of the primordial binaries that are close enough. */
int nb6_start_pairs(struct nb6_sim *sim, struct nbc_error *err);

/** Put every star into the schedule by its level, and every predictor into GPUIRR. */
int nb6_start_resume(struct nb6_sim *sim, struct nbc_error *err);

/** Second and third derivatives of the irregular (over the lists) and, if asked for, the regular force (over all
 * others) of some bodies at ti_now, from accelerations and jerks of all (Aarseth 2003, Gravitational N-Body
 * Simulations).   @param[in] list [n] */
void nb6_start_derivatives(struct nb6_sim *sim, int64_t n, const int32_t *list, int with_regular);

#endif
