/** Records of bodies and their copies in both libraries: placed, sent, laid to rest; times as the libraries see them.
 */
#ifndef NB6_BODIES_H
#define NB6_BODIES_H

#include "common/nbc.h"
#include "nbody6/state/body.h"

#include <stdint.h>

struct nb6_sim;

/** Take a body out of the block steps: it is no source of GPUNB any more, and stays finite for GPUIRR. */
int nb6_body_deactivate(struct nb6_sim *sim, nb6_index i, struct nbc_error *err);
/** A star, or the centre of mass of a slot, at time t, without forces.   @return NBC_OK; NBC_NO_MEMORY */
int nb6_body_place(struct nb6_sim *sim, nb6_index i, double mass, const double x[3], const double v[3], double r_nb,
                   nb6_time t, struct nbc_error *err);
/** A body becomes a member of the system in a slot. */
int nb6_body_join(struct nb6_sim *sim, nb6_index i, nb6_slot slot, struct nbc_error *err);
/** Whether stars have radii, and collide: RSTAR, RADII='collide', or KZ(27) < 0 of stars that age. */
int nb6_stars_have_radii(const struct nb6_sim *sim);
/** Star i, of a new mass and radius, represents star `gone` too, which keeps its place without mass until it is
 *  removed. */
int nb6_star_absorb(struct nb6_sim *sim, nb6_index i, nb6_index gone, double mass, double radius,
                    struct nbc_error *err);
/** A body ends its irregular and regular steps by the next multiple of a step of this level. */
int nb6_body_synchronise(struct nb6_sim *sim, nb6_index i, int8_t level, struct nbc_error *err);
/** Send the predictor of body i to GPUIRR and GPUNB. Concurrent calls for different bodies are allowed, each with an
 * `err` of its own or NULL.   @return the status of the library that refuses it */
int nb6_send_body(struct nb6_sim *sim, int64_t i, struct nbc_error *err);
/** The same for n bodies, by all threads.   @param[in] list [n] each once */
int nb6_send_bodies(struct nb6_sim *sim, int64_t n, const nb6_index *list, struct nbc_error *err);
/** Body i takes no part: it is no source of GPUNB, and GPUIRR has zeros.   @return as nb6_send_body */
int nb6_withdraw_body(struct nb6_sim *sim, int64_t i, struct nbc_error *err);
/** Time as both libraries see it: an exact double, relative to the origin. */
double nb6_relative_time(const struct nb6_sim *sim, nb6_time t);

#endif
