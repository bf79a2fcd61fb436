/** Remote pairs as plain numbers: engine images hold copies. A system resolved by a remote pair feels the mean over its
 *  orbit, and the pair feels the mean over that system's (pairs/remote.h). */
#ifndef NB6_REMOTE_H
#define NB6_REMOTE_H

#include "common/hd.h"
#include "regularization/ks_ellipse.h"

#include <math.h>
#include <stdint.h>

enum {
    NB6_REMOTE_PERTURBERS = 8, /**< a remote pair has so many at most */
    NB6_MEAN_POINTS = 8, /**< along an orbit: all multipoles that are seen from afar are exact, up to the sixth power
                              of the separation */
    NB6_MEAN_PARTS = 2 * NB6_MEAN_POINTS
};

/** The rule for bodies that feel the mean over an orbit (nb6_slot_mean_rule). */
struct nb6_mean_rule {
    double apocentres; /**< in any case beyond this; INFINITY: none does */
    double mass;       /**< of the pair */
    double periods;    /**< and beyond the way in this time */
    double waves;      /**< and beyond the cube root of this for each unit of his mass */
};

/** Beyond which distance a body of this mass and velocity does. */
NBC_HD double nb6_mean_radius(const struct nb6_mean_rule *rule, double mass, double v)
{
    return fmax(fmax(rule->apocentres * cbrt(1 + mass / rule->mass), rule->periods * v), cbrt(mass * rule->waves));
}

/** Both forces count up to so many times that distance (pairs/view.c). */
NBC_HD double nb6_all_mean(void)
{
    return 1.3;
}

/** A pair in an engine image. */
struct nb6_remote {
    struct ks_ellipse ellipse; /**< of a remote one */
    double share[2];           /**< of both stars in its mass */
    struct nb6_mean_rule mean;
    double reach, reach_of_mass; /**< see nb6_may_be_hierarchy */
    int32_t n;                   /**< perturbers; 0: it is no remote pair */
    int32_t mutual;              /**< a bit for each: it is a remote pair as well, and resolves this one */
    int32_t body[NB6_REMOTE_PERTURBERS];
    double far_limit; /**< from which strength on the tide of bodies beyond its list is worth a sum */
};

/** Two bodies are bound, or not far from it, if v^2 r is less than so many times their mass; on a parabola it is twice.
 */
NBC_HD double nb6_hierarchy_bound(void)
{
    return 2.5;
}

/** Whether a pair and another body may become a hierarchy (hierarchies/search.c): they are bound, or not far from it,
 * and as near as compact systems are wide.
 *  @param[in] reach, reach_of_mass  so wide is the larger of both, the second times the mass
 *  @param[in] mass  of both together
 *  @param[in] nearest2, r2, v2  squares of the distance at which they are or soon will be, is now; of the velocity */
NBC_HD int nb6_may_be_hierarchy(double reach, double reach_of_mass, double mass, double nearest2, double r2, double v2)
{
    const double wide = fmax(reach, reach_of_mass * mass);
    return nearest2 < wide * wide && v2 * sqrt(r2) < nb6_hierarchy_bound() * mass;
}

/** Whether a body is one of its perturbers; all are fetched at once. */
NBC_HD int nb6_remote_resolves(const struct nb6_remote *pair, int32_t body)
{
    int is = 0;
    for (int k = 0; k < NB6_REMOTE_PERTURBERS; k++) is |= pair->body[k] == body && k < pair->n;
    return is;
}

/** Part m of NB6_MEAN_PARTS of a pair in the mean: its place about the centre of mass.   @return its share of the mass
 */
NBC_HD double nb6_remote_part(const struct nb6_remote *pair, int m, double x[3])
{
    const double HALF = 0.70710678118654752440; /* of the root of 2 */
    const double cosine[NB6_MEAN_POINTS] = {1, HALF, 0, -HALF, -1, -HALF, 0, HALF};
    const int star = m % 2, at = m / 2;
    const double w = star ? -pair->share[0] : pair->share[1];
    const double time = ks_ellipse_point(&pair->ellipse, cosine[at], cosine[(at + 6) % NB6_MEAN_POINTS], x);
    for (int k = 0; k < 3; k++) x[k] *= w;
    return pair->share[star] * time / NB6_MEAN_POINTS;
}

/** Add the force of unit mass times m. */
NBC_HD void nb6_remote_add(double m, const double x[3], const double v[3], double sum[6])
{
    const double r2 = x[0] * x[0] + x[1] * x[1] + x[2] * x[2];
    if (!(r2 > 0)) return;
    const double rinv = nbc_inverse_root_in_double(r2), rinv2 = rinv * rinv, w = m * (rinv * rinv2);
    const double alpha = 3 * (x[0] * v[0] + x[1] * v[1] + x[2] * v[2]) * rinv2;
    for (int k = 0; k < 3; k++) {
        sum[k] += w * x[k];
        sum[3 + k] += w * (v[k] - alpha * x[k]);
    }
}

/** Every lanes-th term of the force in the mean, less that of points of mass, of a body of this mass at x, v on one at
 *  the origin.   @param[in] own, other  NULL: a point of mass   @param[in,out] sum  acc, jerk */
NBC_HD void nb6_remote_force(const struct nb6_remote *own, const struct nb6_remote *other, double mass,
                             const double x[3], const double v[3], int lane, int lanes, double sum[6])
{
    const int n_own = own ? NB6_MEAN_PARTS : 1, n_other = other ? NB6_MEAN_PARTS : 1, n = n_own * n_other;
    for (int m = lane; m <= n; m += lanes) {
        double from[3] = {0, 0, 0}, to[3] = {0, 0, 0}, share = m < n ? mass : -mass; /* at last, points of mass */
        if (own && m < n) share *= nb6_remote_part(own, m / n_other, from);
        if (other && m < n) share *= nb6_remote_part(other, m % n_other, to);
        for (int k = 0; k < 3; k++) to[k] = x[k] + (to[k] - from[k]);
        nb6_remote_add(share, to, v, sum);
    }
}

#endif
