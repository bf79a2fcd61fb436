/** Two-body motion on any conic (ellipse, parabola, hyperbola, radial or not) in universal variables, and the Stumpff
 *  functions that it is written in. No state, no allocation; every call may run in any number of threads at once.
 *
 *  Units: any with G = 1. `mass` is the sum of both masses, x and v are relative: of the second body seen from the
 *  first, or the reverse. s, the universal anomaly, is the fictitious time of KS regularization: dt = r ds.
 *  Textbook: Stiefel & Scheifele 1971 (universal variables); Conway 1986 (Laguerre iteration). */
#ifndef KEPLER_H
#define KEPLER_H

#include "common/nbc.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Highest order of Stumpff functions here. */
#define KEPLER_STUMPFF_MAX 8

/** Stumpff functions c_n(z) = sum_k (-z)^k / (n + 2k)!, n = 0 .. KEPLER_STUMPFF_MAX.
 *  c_0 = cos sqrt(z), c_1 = sin sqrt(z) / sqrt(z); z < 0 gives the hyperbolic ones, z = 0 gives 1/n!.
 *  Precision: absolute error of a few 2^-53 times max(1/n!, |c_n|); overflows to infinity below z = -5e5.
 *  @param[out] c  [KEPLER_STUMPFF_MAX + 1] */
void kepler_stumpff(double z, double c[KEPLER_STUMPFF_MAX + 1]);

/** Elements that describe shape and phase of a conic. */
struct kepler_elements {
    double h;            /**< energy of relative motion per reduced mass, v^2/2 - mass/r */
    double a;            /**< semi-major axis, -mass/(2h): negative on a hyperbola, infinite on a parabola */
    double e;            /**< eccentricity */
    double q;            /**< distance at pericentre, a(1 - e), good to its last digits also for e near 1 */
    double period;       /**< 2 pi sqrt(a^3/mass); infinite unless h < 0 */
    double l;            /**< angular momentum per reduced mass, |x times v| */
    double t_pericentre; /**< time since the pericentre: in [-period/2, period/2] on an ellipse; negative: before it */
};

/** Elements of a relative state.
 *  @param[in] mass  > 0
 *  @param[in] x,v   finite, |x| > 0
 *  @return NBC_OK; NBC_BAD_ARGUMENT (mass or |x| not positive); NBC_NON_FINITE. elements are unset then. */
int kepler_elements(double mass, const double x[3], const double v[3], struct kepler_elements *elements);

/** The universal anomaly s that two-body motion passes in the time dt: the root of
 *      dt = r s c_1 + sigma s^2 c_2 + mass s^3 c_3,   c_n = c_n(-2 h s^2),   sigma = x.v
 *  found by Laguerre's iteration inside a bracket. On an ellipse whole periods are taken off dt first, so that at most
 *  half of one is left: |s| is then below one period of s, 2 pi/sqrt(-2h), and *periods counts what was taken off.
 *  @param[in]  r        distance, > 0
 *  @param[in]  sigma    x.v = r dr/dt
 *  @param[in]  h        energy per reduced mass
 *  @param[in]  dt       of either sign
 *  @param[out] s        universal anomaly
 *  @param[out] periods  whole periods taken off (may be NULL)
 *  @return NBC_OK; NBC_BAD_ARGUMENT; NBC_NON_FINITE; NBC_INTERNAL (no root found: s is unset) */
int kepler_anomaly(double mass, double r, double sigma, double h, double dt, double *s, double *periods);

/** Move a relative state by dt along its conic, forwards or backwards, over any part or number of periods.
 *  Precision: componentwise backward stable in practice: the error is below 1e-13 times the change of the result that
 *  relative changes of one of mass, dt and all components of x and v would cause, summed (tests/unit/test_kepler.c).
 *  @param[in]     mass  > 0
 *  @param[in,out] x,v   relative position and velocity; unchanged on failure
 *  @return as kepler_anomaly */
int kepler_advance(double mass, double dt, double x[3], double v[3]);

#ifdef __cplusplus
}
#endif
#endif
