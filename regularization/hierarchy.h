/** Hierarchies of few bodies: orbits of bound pairs, pairs of pairs, and whether they last.
 *  Values in, values out; units with G = 1; angles in radians. */
#ifndef HIERARCHY_H
#define HIERARCHY_H

#include "common/nbc.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { HIERARCHY_MAX = 16 };

/** Elements of a two-body orbit. */
struct hierarchy_orbit {
    double a;          /**< semi-major axis, negative for a hyperbola */
    double e;          /**< eccentricity */
    double pericentre; /**< distance */
    double period;     /**< 0 if unbound */
    double j[3];       /**< angular momentum per reduced mass */
};

/** Orbit of the relative motion x, v (second minus first) of a total mass. */
void hierarchy_orbit_find(double mass, const double x[3], const double v[3], struct hierarchy_orbit *orbit);

/** Least pericentre of the outer orbit at which a triple is stable, in units of the inner semi-major axis:
 *  2.8 [(1 + q) (1 + e)/sqrt(1 - e)]^(2/5) (1 - 0.3 i/pi), q = m_outer/(m1 + m2), e the outer eccentricity, i the
 *  inclination of the two orbits. 2.8 and the exponent are for coplanar prograde orbits; the last factor is the
 *  allowance for inclination.
 *  Paper: Mardling & Aarseth 2001, MNRAS 321, 398.
 *  @param[in] q >= 0   @param[in] e  HUGE_VAL is returned from 1 on   @param[in] inclination  0 to pi */
double hierarchy_critical_ratio(double q, double e, double inclination);

/** A pair of nodes that is bound. Nodes [0, n) are the bodies, [n, n + pairs) the pairs. */
struct hierarchy_pair {
    int32_t first, second; /**< nodes */
    double mass;
    struct hierarchy_orbit orbit;
    double ratio;       /**< pericentre over the critical one for the pair inside, the smaller if there are two;
                             0 if both nodes are bodies */
    double inclination; /**< to the orbit of that pair; 0 if both nodes are bodies */
    int32_t stable;     /**< this and all pairs inside are: ratio > 1 wherever there is one */
};

struct hierarchy {
    int32_t n, pairs, roots;
    struct hierarchy_pair pair[HIERARCHY_MAX - 1]; /**< inner ones first */
    int32_t root[HIERARCHY_MAX];                   /**< nodes that are bound to no other */
};

/** Take bodies apart into bound pairs: of all pairs of nodes, the bound one of least semi-major axis is joined first.
 *  A pair of pairs counts as stable if it would be with either of them as a point (Aarseth 2003).
 *  @param[in] n     1 to HIERARCHY_MAX
 *  @param[in] mass,x,v  [n]
 *  @return NBC_OK; NBC_BAD_ARGUMENT (n, or a mass not above 0) */
int hierarchy_find(int n, const double mass[], const double x[][3], const double v[][3], struct hierarchy *h);

/** Relative position and velocity of the first two roots, second minus first, and their total mass.
 *  @param[in] h  of hierarchy_find for the same bodies, with at least two roots */
void hierarchy_roots_relative(const struct hierarchy *h, const double mass[], const double x[][3], const double v[][3],
                              double *total, double dx[3], double dv[3]);

#ifdef __cplusplus
}
#endif
#endif
