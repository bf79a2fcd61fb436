/** A picture of all stars, or of all bodies, at one time. */
#ifndef NB6_FRAME_H
#define NB6_FRAME_H

#include "common/nbc.h"
#include "nbody6/state/body_rows.h"
#include "nbody6/state/subsystems.h"
#include "regularization/chain.h"

#include <stdint.h>

/** A regularized pair in a frame. */
struct nb6_frame_pair {
    int64_t star[2]; /**< names */
    double mass[2];
    double a, e, period; /**< osculating elements; period infinite unless bound */
    double binding;      /**< energy of the relative motion, negative if bound */
    double gamma;        /**< relative perturbation, 0: no perturbers */
    double kappa;        /**< slow-down factor */
    double x[3], v[3];   /**< centre of mass */
    double dx[3], dv[3]; /**< relative, of the first star seen from the second */
    double t_formed;
    int32_t perturbers, primordial;
    int32_t slot;
    int32_t frozen; /**< 1: a member of another pair */
    int64_t place;  /**< among the bodies: of the centre of mass, or, if frozen, of that of the outer pair */
};

/** A chain in a frame. */
struct nb6_frame_chain {
    int n;
    int32_t star[CHAIN_MAX];                                    /**< numbers of the members */
    double mass[CHAIN_MAX], dx[CHAIN_MAX][3], dv[CHAIN_MAX][3]; /**< relative to the centre of mass */
    double binding;                                             /**< internal energy */
    int64_t place;                                              /**< of the centre of mass among the bodies */
};

/** All stars at one time t, predicted with all known derivatives. Or all bodies: then a regularized pair is its centre
 *  of mass. A frame owns its arrays, but those of a system that it shows. */
struct nb6_frame {
    double t;
    int64_t n;
    double pair_binding;   /**< sum of the energies of relative motions */
    double pair_potential; /**< potential energy of resolved interactions of pairs, beyond that of the bodies as
                            *  points */
    double pair_tidal;     /**< tidal energy of relative motions in the galaxy, beyond that of the bodies as points */
    double galaxy_work;    /**< of a field that depends on time, on all bodies since their last steps: not booked yet */
    int64_t n_pair;
    struct nb6_frame_pair *pair; /**< [n_pair], in the order of their slots */
    int64_t n_chain;
    struct nb6_frame_chain *chain; /**< [n_chain], in the order of their slots */
    struct nb6_motion motion; /**< of bodies: relative motions at the time of the frame, which stay those of the run's
                                   last frame (sim->motions_now); ks NULL without pairs */
    int64_t *name;
    double *mass;
    double (*x)[3], (*v)[3], (*acc)[3], (*jerk)[3]; /**< forces with the external field, from the polynomials */
    double *pot; /**< potential per unit mass due to the other stars; NULL if it was not asked for */
    double *r_nb, *dt_irr, *dt_reg;
    int32_t *nnb;
    struct nb6_body_rows rows; /**< of frames without arrays of stars; get NULL: the arrays are there */
    int has_pot;               /**< 1: those rows have potentials */
    int shows; /**< 1: name, mass, x, v and acc are those of a system, which stay when the frame is freed */
};

enum nb6_frame_options {
    NB6_FRAME_POTENTIAL = 1, /**< compute pot (O(N^2)) */
    NB6_FRAME_BODIES = 2     /**< bodies in place of stars */
};

void nb6_frame_free(struct nb6_frame *frame);

#endif
