/** Energies and other integrals of a frame. */
#ifndef NB6_ENERGY_H
#define NB6_ENERGY_H

#include "common/nbc.h"

#include <stdint.h>

struct nb6_energy;
struct nb6_external;
struct nb6_frame;

/** Median and maximum relative error of forces of a run's present state against a direct sum in double. */
struct nb6_force_check {
    double acc_median, acc_max, jerk_median, jerk_max;
    int64_t acc_worst, jerk_worst; /**< names of the stars */
};

/** Sums over a frame of bodies that has its potentials. The angular momentum is that of all stars about the origin of
 * the coordinates, in the frame the coordinates are of: of the bodies, and of the relative motions in pairs and
 * chains.   @param[out] energy overwritten */
void nb6_energy_of_frame(const struct nb6_frame *frame, const struct nb6_external *external, struct nb6_energy *energy);
/** Forces of a frame against direct sums in double, each as |difference|/|direct|; the field is added to the direct
 * sums.   @param[in] most  so many, evenly spread over the bodies; 0: all */
int nb6_force_check(const struct nb6_frame *frame, const struct nb6_external *external, int64_t most,
                    struct nb6_force_check *check, struct nbc_error *err);

#endif
