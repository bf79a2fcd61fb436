/** Slots that are taken, hold a pair, and are free again. */
#ifndef NB6_PAIRS_MAKE_H
#define NB6_PAIRS_MAKE_H

#include "common/nbc.h"
#include "nbody6/state/body.h"

#include <stdint.h>

struct nb6_subsystems;
struct nb6_sim;

/** Membership alone: slot, centre of mass, owners; no forces. Members must be at the same time.
 *  @param[in]  energy  that the relative motion takes up   @param[out] slot   @return NBC_OK; NBC_BAD_ARGUMENT
 *  (coincident) */
int nb6_pair_make(struct nb6_sim *sim, nb6_index i, nb6_index j, nb6_time t, double energy, nb6_slot *slot,
                  struct nbc_error *err);
/** The lowest free slot. */
nb6_slot nb6_slot_free(struct nb6_subsystems *subsystems);
/** A slot that may be free is used from now on. */
int nb6_slot_open(struct nb6_sim *sim, nb6_slot slot, struct nbc_error *err);
/** Begin a KS pair of two stars in a slot; positions are relative to any origin.
 *  @param[in] place  a body with neighbours that give the local distance of stars   @return NBC_OK; NBC_BAD_ARGUMENT
 * (coincident) */
int nb6_slot_hold_pair(struct nb6_sim *sim, nb6_slot slot, const nb6_index star[2], const double x[2][3],
                       const double v[2][3], nb6_time t, int64_t place, struct nbc_error *err);
/** The slot has no members any more, and no perturbers. */
int nb6_slot_clear(struct nb6_sim *sim, nb6_slot slot, struct nbc_error *err);

#endif
