/** Errors of the accelerations of a collisionless system, by sums in double for some of its bodies. */
#ifndef NB6_FORCE_ERROR_H
#define NB6_FORCE_ERROR_H

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

#endif
