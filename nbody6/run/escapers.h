/** Bodies that leave the cluster at an adjust, and the energy that they take along. Private to escape. */
#ifndef NB6_ESCAPERS_H
#define NB6_ESCAPERS_H

#include "nbody6/state/body.h"

#include <stdint.h>

struct nb6_frame;
struct nb6_sim;

/** Escapers: positions of the bodies in the frame, and new numbers of all bodies. */
struct nb6_escapers {
    int64_t n_bodies, n_gone, n_stars_gone;
    int64_t n_merged; /**< of these stars, those that became part of another one */
    int32_t *place;   /**< [n_gone] in the frame, which is that in sim->subsystems.source */
    nb6_index *gone;  /**< [n_gone] these bodies */
    nb6_index *moved; /**< [n_bodies] new number, NB6_NOBODY: gone */
};

/** Energy of the relative motions in pairs and chains that leave. */
double nb6_escapers_binding(const struct nb6_frame *frame, const struct nb6_escapers *escapers);
/** Energy that leaves beside that: kinetic and external energy, and the potential energy with those that stay and,
 * once, among those that leave. */
double nb6_escapers_energy(const struct nb6_sim *sim, const struct nb6_frame *frame,
                           const struct nb6_escapers *escapers);

#endif
