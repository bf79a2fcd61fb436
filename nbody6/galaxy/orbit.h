/** The orbit of the point about which a cluster is described, in a galaxy that does not change: a function of time,
 * made piece by piece. A piece is a twentieth of the time in which the tide there turns a path, its ends are exact
 * to rounding (extrapolation, Gragg 1965), and between them is the polynomial of degree 7 that has position, velocity,
 * acceleration and jerk of both. Private to nbody6/galaxy. */
#ifndef NB6_ORBIT_H
#define NB6_ORBIT_H

#include "common/nbc.h"
#include "nbody6/galaxy/external.h"
#include "nbody6/galaxy/orbit_at.h"

/** The orbit begins at t = 0 here.   @param[in,out] external  parameters are set; orbit is
 *  @return NBC_OK; NBC_BAD_INPUT: it meets the centre within the first revolutions */
int nb6_orbit_begin(struct nb6_external *external, const double x[3], const double v[3], struct nbc_error *err);
/** Extend the orbit to t and keep the point there, so that nb6_orbit_at need not compute it.
 *  @return NBC_OK; NBC_NON_FINITE: the orbit meets the centre */
int nb6_orbit_reach(struct nb6_external *external, double t, struct nbc_error *err);

#endif
