/* Ends of phases, and the stars and remnants that follow. */
#ifndef STELLAR_PHASE_H
#define STELLAR_PHASE_H

#include "stellar/grid.h"

/** Put a star at the begin of what follows, and say what happened.
 *  @param[in]     end    STELLAR_BURNT or STELLAR_STRIPPED
 *  @param[in,out] track  work space   @param[in,out] star  at the end of its phase */
void stellar_phase_end(const struct stellar_model *model, int end, struct stellar_track *track,
                       struct stellar_star *star, struct stellar_event *event);
/** Another mass of a remnant: a white dwarf above MCH explodes, or collapses if it is of oxygen and neon; a neutron
 *  star above its limit becomes a black hole.   @return 1: the event says what happened */
int stellar_reweigh_remnant(const struct stellar_model *model, double mass, struct stellar_star *star,
                            struct stellar_event *event);
/** A remnant of a type and mass, at age 0. */
void stellar_become_remnant(int type, double mass, struct stellar_star *star);
/** A helium giant, of the star's mass, with a core of carbon and oxygen of a mass: it has the age at which such a star
 * has that core, and shows by its radius whether it is on the branch. */
void stellar_become_helium_giant(const struct stellar_model *model, struct stellar_track *track, double mco,
                                 struct stellar_star *star);

#endif
