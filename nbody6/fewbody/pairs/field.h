/** Forces on the relative motion of a pair or chain: from its perturbers, on their polynomials or resolved. Private to
 *  libnbody6. */
#ifndef NB6_PAIRS_FIELD_H
#define NB6_PAIRS_FIELD_H

#include "nbody6/state/body.h"
#include "regularization/ks.h"

#include <stdint.h>

struct ks_perturbation;
struct nb6_motion;
struct nb6_sim;

/** Context of the perturb function of KS and of the field of a chain, of one thread. Its arrays are the thread's
 * scratch, which belongs to the slots. */
struct nb6_field {
    const struct nb6_sim *sim;
    const struct nb6_motion *motion; /**< of all pairs */
    nb6_slot slot;
    struct ks_path centre;
    double t_tide;              /**< of the tides of weak neighbours, relative to sim->ti_origin */
    int64_t n_path, n_resolved; /**< bodies that are points, and pairs and chains that are seen resolved */
    const struct nb6_body **path;
    nb6_index *resolved;
    double *mass; /**< of single points, with their places and velocities relative to the centre of mass */
    double (*dx)[3], (*dv)[3];
    struct nb6_external_series *series; /**< the field about places where systems have been; NULL where none acts */
    double near_time;                   /**< for how long each of them serves this system, before and after */
    double before;                      /**< absolute: at that time, too, the field of the galaxy is the one before */
    double chain_s;                     /**< wall-clock seconds in chains so far */
    int64_t left;                       /**< evaluations that may still be made before the next pause */
    int paused;                         /**< 1: they were made before all was done */
};

/** Scratch for so many parts of a job. Not while any of them is in use.   @return 0 if there is no memory */
int nb6_field_reserve(const struct nb6_sim *sim, int parts);
/** Arrays for the longest list there is, in the scratch of a part: no two threads have the same part at the same time.
 *  @return 0 if there is no memory */
int nb6_field_begin(struct nb6_field *f, const struct nb6_sim *sim, int part);
/** The time, as motions have it, at which the field of the galaxy jumps on the way from t to t_end, and at which the
 *  motion has to end a step therefore and to begin anew; infinite if it does not. */
double nb6_field_jump(const struct nb6_field *f, double t, double t_end);
/** Until further notice, which is 0, no time counts for the field that is not before its jump. */
void nb6_field_stay_before_jump(struct nb6_field *f, int stays);
/** The perturbers that a slot has now. */
void nb6_field_set(struct nb6_field *f, const struct nb6_sim *sim, const struct nb6_motion *motion, nb6_slot slot);
/** A ks_perturb_fn. */
int nb6_field_perturb(void *field, double t, double t_lo, const double x[3], const double xdot[3],
                      struct ks_perturbation *out);
/** The acceleration of a struct chain_field. */
int nb6_field_acceleration(void *field, double t, int n, const double mass[], const double cm[3], const double x[][3],
                           const double v[][3], double acc[][3]);
/** Potential energy of some members with the perturbers and, if it acts, the galaxy.
 *  @param[in] x  [n][3] relative to the centre of mass of the slot, at time t */
int nb6_field_potential(struct nb6_field *field, double t, int n, const double mass[], const double x[][3],
                        double *energy);

#endif
