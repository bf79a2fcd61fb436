/** Multipoles and Taylor series of 1/r without softening, in double: harmonic functions have 2n + 1 numbers a rank.
 *
 *  With x from the centre of a cell to that of some targets, a body at s from the former and a target at y from the
 *  latter (Dehnen 2002, J. Comput. Phys. 179, 27; local.h),
 *      sum m G(x + y - s) = sum_a L_a y^a/a!,   L_a = sum_b (-1)^|b| M_b/b! D_(a+b)(x),   G = 1/r,
 *  cut at |a| + |b| = HARMONIC_ORDER. D has no trace, so that a component with two indices z is minus the sum of those
 *  with two indices x, or y, in their place. Hence components with at most one index z are enough: of moments, of L,
 *  and of the functions h_b(y) into which y^b/b! is folded,
 *      G(x - s) = sum_b h_b(-s) D_b(x),   sum_a L_a y^a/a! = sum_a L_a h_a(y).
 *  Moments here are sum m h_b(-s).
 *
 *  A rank n has its components without an index z, by the number of indices y, from 0 to n, then those with one, by
 *  the number of indices y, from 0 to n - 1. Derivatives also have those with two, from 0 to n - 2. */
#ifndef GPUNB_TREE_HARMONIC_H
#define GPUNB_TREE_HARMONIC_H

#include "gpunb/gpunb.h"

enum {
    HARMONIC_ORDER = GPUNB_MOST_ORDER,
    HARMONICS = (HARMONIC_ORDER + 1) * (HARMONIC_ORDER + 1),
    HARMONIC_DERIVATIVES = 1 + 3 * HARMONIC_ORDER * (HARMONIC_ORDER + 1) / 2
};

/** Where the components of a rank with z indices z begin, z = 0 or 1. */
static inline int harmonic_row(int rank, int z)
{
    return rank * rank + z * (rank + 1);
}

/** The same of derivatives, z = 0, 1 or 2. */
static inline int harmonic_derivative_row(int rank, int z)
{
    return (rank > 0 ? 1 + 3 * rank * (rank - 1) / 2 : 0) + z * rank + (z > 0);
}

/** All h_b(s).   @param[out] h  [HARMONICS] */
void harmonic_functions(const double s[3], double *h);
/** Moments about a centre at t from another one onto those about the latter.   @param[in,out] to  [HARMONICS] */
void harmonic_add_moments(const double *moment, const double t[3], double *to);
/** A series about a centre as one about another, at t from there.   @param[out] to  [HARMONICS] */
void harmonic_move_series(const double *series, const double t[3], double *to);
/** The value of a series at y from its centre. */
double harmonic_value(const double *series, const double y[3]);

#endif
