/** What is said about a run at an adjust time, and a picture of all stars at one time. */
#ifndef NB6_DIAG_H
#define NB6_DIAG_H

#include "nbody6/state/sim.h"

enum { NB6_LAGR_COUNT = 18 };
/** Mass fractions of the Lagrangian radii, those of NBODY6++'s lagr.7: 0.001 ... 0.5 ... 1. */
extern const double nb6_lagr_fractions[NB6_LAGR_COUNT];

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

/** Stars of a pair, hierarchy or chain around its centre of mass. */
struct nb6_frame_inside {
    int n;
    int32_t star[CHAIN_MAX];
    double mass[CHAIN_MAX], x[CHAIN_MAX][3], v[CHAIN_MAX][3];
};

/** All stars at one time t, predicted with all known derivatives; owns its arrays. Or all bodies: then a regularized
 * pair is its centre of mass. */
struct nb6_frame {
    double t;
    int64_t n;
    double pair_binding;   /**< sum of the energies of relative motions */
    double pair_potential; /**< what the resolved interactions of pairs add to the potential energy of the bodies */
    double pair_tidal;     /**< what the galaxy's action on relative motions adds to the tidal energy of the bodies */
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
};
enum nb6_frame_options {
    NB6_FRAME_POTENTIAL = 1, /**< compute pot (O(N^2)) */
    NB6_FRAME_BODIES = 2     /**< bodies in place of stars */
};
int nb6_frame_make(struct nb6_sim *sim, nb6_time t, int options, struct nb6_frame *frame, struct nbc_error *err);
void nb6_frame_free(struct nb6_frame *frame);
/** What is inside the body at a place of a frame of bodies that stands for more than a star. */
void nb6_frame_look_inside(const struct nb6_sim *sim, const struct nb6_frame *bodies, int64_t place,
                           struct nb6_frame_inside *inside);

/** One row of NAME.log.csv and of the table on stdout. N-body units. */
struct nb6_adjust {
    double t;
    int64_t n;
    struct nb6_energy energy;
    double e_expected, e_escaped, e_escaped_binding, e_merged;
    double de_cluster;          /**< accumulated energy error over that of the cluster, (E - e_expected)/e_cluster */
    double de_cluster_interval; /**< that of the last interval, which QE limits */
    double de_rel;              /**< accumulated energy error over the total, (E - e_expected)/e_scale */
    double de_rel_interval;     /**< that of the last interval */
    double r_lagr[NB6_LAGR_COUNT], r_core, rho_core, r_half, r_tide; /**< 0: not defined */
    double r_density[3], v_density[3];                               /**< density centre */
    int64_t n_core;
    double nnb_mean, r_nb_mean, nnb_opt;
    double dt_irr_min, dt_irr_max;
    int64_t n_pair, n_pair_perturbed; /**< regularized pairs, those with perturbers */
    int64_t n_chain, n_hierarchy;
    double e_pair_changes;         /**< energy that formation and termination of pairs added, relative to e_scale */
    double r_min, dt_min, e_close; /**< criteria of close encounters */
    struct nb6_counters counters;
    double stage_s[NB6_STAGE_COUNT], wall_s; /**< wall_s includes earlier sessions */
    double ns_per_pair_irr,
        ns_per_pair_reg;      /**< wall-clock time in the library per interaction since start of this session */
    double chain_s;           /**< wall-clock time of all threads in chains, this session */
    double gpuirr_s, gpunb_s; /**< wall-clock time in the force calls of the libraries, this session */
    /** What decides how to predict: to predict a star beforehand, and an interaction with and without that. */
    double ns_predict_all, ns_per_pair_stored, ns_per_pair_on_the_fly;
};

/** Median and maximum relative error of all forces of a run's present state against a direct sum in double. */
struct nb6_force_check {
    double acc_median, acc_max, jerk_median, jerk_max;
    int64_t acc_worst, jerk_worst; /**< names of the stars */
};

#endif
