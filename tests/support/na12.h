/** The benchmark of Nitadori & Aarseth 2012, section 4: Plummer spheres of equal masses, ETAI = 0.02, ETAR = 0.01, from
 * t = 2 to 4: energy error, and numbers of steps against those of the legacy code at the same mean neighbour number. */
#ifndef NB6_TEST_NA12_H
#define NB6_TEST_NA12_H

#include <stdint.h>

struct na12_benchmark {
    int64_t n, nnb;              /**< stars, mean neighbour number (NNBOPT) */
    double steps_irr, steps_reg; /**< of the legacy code from t = 2 to 4 */
    double de_max;               /**< largest |dE/E| from t = 2 to 4 that passes */
};

/** Run it, print what was found, and compare: steps within 20 percent. */
void na12_run(const struct na12_benchmark *benchmark);

#endif
