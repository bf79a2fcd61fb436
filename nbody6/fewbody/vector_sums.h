/** Sums of few-body systems, and of changes of bodies, in double, many terms side by side, for each instruction set:
 * one source, compiled with the flags of each. All have the same bits: each term is computed, and each lane summed, in
 * the same order of operations whatever the width of vectors. Private to libnbody6. */
#ifndef NB6_VECTOR_SUMS_H
#define NB6_VECTOR_SUMS_H

#include "common/nbc.h"
#include "regularization/chain.h"

#include <stdint.h>

/** Bodies side by side. */
enum { NB6_LANES = 8 };

/** Sources of tides and pulls. */
struct nb6_source_cell {
    double x[3][NB6_LANES], v[3][NB6_LANES], m[NB6_LANES];
};

/** Tides, a sum a lane. */
struct nb6_tide_sums {
    double trace[NB6_LANES], trace_dot[NB6_LANES]; /**< to be taken from the diagonals */
    double field[6][NB6_LANES], field_dot[6][NB6_LANES];
};

/** Accelerations and jerks, a sum a lane. */
struct nb6_pull_sums {
    double acc[3][NB6_LANES], jerk[3][NB6_LANES];
};

/** Distances and velocities of parts of bodies, with their masses. */
struct nb6_part_terms {
    double d[3][CHAIN_MAX], w[3][CHAIN_MAX], m[CHAIN_MAX];
    double scale[CHAIN_MAX], alpha[CHAIN_MAX]; /**< the force is scale d, its derivative scale (w - alpha d) */
};

struct nb6_vector_sums {
    /** Add the tides of n cells on a system at x, v. */
    void (*add_tides)(int64_t n, const struct nb6_source_cell *cell, const double x[3], const double v[3],
                      struct nb6_tide_sums *sums);
    /** Add acceleration and jerk by n cells at x, v. A source at this very place exerts no force. */
    void (*add_pulls)(int64_t n, const struct nb6_source_cell *cell, const double x[3], const double v[3],
                      struct nb6_pull_sums *sums);
    /** Add m/r of n cells at x, a sum a lane. A source at this very place has none. */
    void (*add_potentials)(int64_t n, const struct nb6_source_cell *cell, const double x[3], double sums[NB6_LANES]);
    /** Set scale and alpha of n parts. A part at distance zero exerts no force. */
    void (*set_forces)(int n, struct nb6_part_terms *terms);
};

/** Those of an instruction set; NULL: it is not compiled in, this processor lacks it, or NBC_ISA hides it. */
const struct nb6_vector_sums *nb6_vector_sums_of(enum nbc_isa level);
/** Those of the best one. */
const struct nb6_vector_sums *nb6_vector_sums_best(void);

#endif
