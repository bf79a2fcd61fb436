/** Errors of the accelerations of a collisionless system, by sums in double for some of its bodies. */
#ifndef NB6_FORCE_ERROR_H
#define NB6_FORCE_ERROR_H

#include <stdint.h>

struct nb6_frame;

/** Bodies whose sums are made: so many pairs for each body of the system. */
enum { NB6_FORCE_ERROR_BODIES = 1024 };

struct nb6_force_error {
    double half, most, largest; /**< that 50 and 99 of 100 of the bodies do not exceed; the largest one */
};

/** |a - a_double|/|a_double| of NB6_FORCE_ERROR_BODIES bodies, every n/1024-th of them, or of all if they are fewer.
 *  Where a_double is 0 it is 0 if a is 0 too, else 1.
 *  The bits do not depend on the number of threads.   @param[in] frame  with accelerations, all by this softening */
void nb6_force_error_find(const struct nb6_frame *frame, double softening, struct nb6_force_error *error);

/* ---- the parts of it, for bodies that are divided */

/** The number of the k-th body of the sample, which has NB6_FORCE_ERROR_BODIES of n bodies, or all. */
int64_t nb6_force_error_body(int64_t n, int64_t k);
/** Accelerations at some places due to bodies, summed in double in their order; one at a body's own place adds 0.
 *  @param[in] n, mass, x  bodies   @param[in] sample, at  places   @param[out] acc  [sample] */
void nb6_force_error_sum(int64_t n, const double *mass, const double (*x)[3], double softening, int64_t sample,
                         const double (*at)[3], double (*acc)[3]);
/** Of one body. */
double nb6_force_error_one(const double acc[3], const double exact[3]);
/** @param[in,out] error  [sample] of the bodies, which are sorted */
void nb6_force_error_sort(int64_t sample, double *error, struct nb6_force_error *found);

#endif
