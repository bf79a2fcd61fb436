/** Regular forces and neighbour lists of a set of bodies, with spheres enlarged or shrunk until every list fits. */
#ifndef NB6_REGULAR_H
#define NB6_REGULAR_H

#include "common/nbc.h"
#include "nbody6/state/body.h"

#include <stdint.h>

struct nb6_sim;

/** One body that needs its regular force. */
struct nb6_regular_target {
    int32_t body;
    double dt_reg; /**< for the velocity criterion */
    double r_nb;   /**< in and out: shrunk if the list was too long */
    double acc[3], jerk[3];
    double noise; /**< out: error of acc by a tree; 0: it is a direct sum */
    int32_t nnb;
};

/** Forces of all targets at time t from all bodies that take part, which GPUNB predicts, or an engine that answers
 *  questions about them (state/survey.h); the lists go to GPUIRR.
 *  @param[in,out] target [n_target] */
int nb6_regular_force(struct nb6_sim *sim, nb6_time t, int64_t n_target, struct nb6_regular_target *target,
                      struct nbc_error *err);

/** The same in two calls for the same time and targets: a device works while the host does something else in between.
 *  Forces that were begun and not ended are given up when the next ones are requested. */
int nb6_regular_force_begin(struct nb6_sim *sim, nb6_time t, int64_t n_target, struct nb6_regular_target *target,
                            struct nbc_error *err);
int nb6_regular_force_end(struct nb6_sim *sim, nb6_time t, int64_t n_target, struct nb6_regular_target *target,
                          struct nbc_error *err);

#endif
