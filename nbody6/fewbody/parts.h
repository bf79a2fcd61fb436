/** A body as others see it from near by: its stars around its centre of mass. Private to libnbody6. */
#ifndef NB6_PARTS_H
#define NB6_PARTS_H

#include "common/hd.h"
#include "regularization/chain.h"

#include <math.h>
#include <stdint.h>

struct nb6_external;
struct nb6_motion;
struct nb6_subsystems;
struct nb6_vector_sums;

/** One point at the place of a body, two stars of a pair, or the members of a chain. */
struct nb6_parts {
    int n;
    double mass[CHAIN_MAX];                  /**< shares of the body's mass, summing to 1 */
    double x[CHAIN_MAX][3], v[CHAIN_MAX][3]; /**< relative to the body; v: change of x in time, slow-down included */
};

void nb6_parts_of_point(struct nb6_parts *parts);
/** Resolved less point-mass force of a body of this mass at x, v on one at the origin, added to acc and jerk. */
void nb6_parts_force(const struct nb6_vector_sums *sums, double mass, const double x[3], const double v[3],
                     const struct nb6_parts *own, const struct nb6_parts *other, double acc[3], double jerk[3]);
/** Potential of the galaxy's field, relative to that at the body, per unit mass of the body, which is at `centre` at
 *  time t, absolute. */
double nb6_parts_tidal(const struct nb6_external *external, double t, const double centre[3],
                       const struct nb6_parts *own);
/** Resolved less point-mass potential energy of unit masses at distance x. */
double nb6_parts_potential(const double x[3], const struct nb6_parts *own, const struct nb6_parts *other);

/** The same of a point, bit for bit, in a loop over many. */
NBC_HD double nb6_parts_potential_of_point(const double x[3], const struct nb6_parts *own)
{
    double sum = 1 / sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
    for (int m = 0; m < own->n; m++) {
        const double a = x[0] - own->x[m][0], b = x[1] - own->x[m][1], c = x[2] - own->x[m][2];
        sum -= own->mass[m] / sqrt(a * a + b * b + c * c);
    }
    return sum;
}

#endif
