/** The rule for perturbers of a system, as plain numbers: engine images hold a copy. */
#ifndef NB6_PERTURBER_RULE_H
#define NB6_PERTURBER_RULE_H

#include "common/hd.h"

#include <float.h>
#include <math.h>

/** A body of mass m is a perturber within r (unit max(m, lightest))^(1/3), which is r (2 m/(M gamma_min))^(1/3)
 * (Aarseth 2003, Gravitational N-Body Simulations, eq. 8.59). */
struct nb6_perturber_rule {
    double r2;       /**< square of the radius of the system */
    double unit;     /**< 2/(M gamma_min) */
    double lightest; /**< a body lighter than this counts as so heavy: it does little to the system, but the system,
                        seen as a point, would do as wrong things to it as to a heavy one */
    double light2;   /**< square of the distance within which it is one */
};

NBC_HD double nb6_perturber_limit2_of(const struct nb6_perturber_rule *rule, double m)
{
    const double limit = cbrt(rule->unit * m);
    return limit * (limit * rule->r2);
}

/** Set `lightest`. */
NBC_HD void nb6_perturber_set_lightest(struct nb6_perturber_rule *rule, double lightest)
{
    rule->lightest = lightest;
    rule->light2 = nb6_perturber_limit2_of(rule, lightest);
}

/** Square of the distance within which a body of mass m is one. */
NBC_HD double nb6_perturber_limit2(const struct nb6_perturber_rule *rule, double m)
{
    return m > rule->lightest ? nb6_perturber_limit2_of(rule, m) : rule->light2;
}

/** A perturber is let go only when its tide has fallen below GMIN by this factor, so that lists do not change at every
 * step. */
NBC_HD double nb6_perturber_keep(void)
{
    return 0.25;
}

/** Square of the distance at which it is, from that within which it became one: over the cube root of the square of
 * that factor. */
NBC_HD double nb6_let_go2(double limit2)
{
    return limit2 * 2.5198420997897464;
}

/** Time in which a body at distance d, with relative velocity of this square, comes within r: the speed may double. */
NBC_HD double nb6_time_to_reach(double d, double r, double v2)
{
    return d > r ? 0.5 * (d - r) / sqrt(v2 + DBL_MIN) : 0;
}

/** Square of the distance at x now or, by linear motion, in the time dt, whichever is less. */
NBC_HD double nb6_nearest2(const double x[3], const double v[3], double dt)
{
    double now = 0, then = 0;
    for (int d = 0; d < 3; d++) {
        now += x[d] * x[d];
        then += (x[d] + dt * v[d]) * (x[d] + dt * v[d]);
    }
    return fmin(now, then);
}

/** Whether a body of mass m may be a perturber now or by linear motion in the time dt; includes every body that
 * nb6_pair_select would take.
 *  @param[in] x, v, r2  from the system to the body
 *  @param[in,out] safe  it cannot be one within this time */
NBC_HD int nb6_may_perturb(const struct nb6_perturber_rule *rule, double m, const double x[3], const double v[3],
                           double r2, double dt, double *safe)
{
    const double ROUNDING = 1 + 1e-9;
    const double limit = nb6_perturber_limit2(rule, m) * ROUNDING;
    double v2 = 0;
    for (int d = 0; d < 3; d++) v2 += v[d] * v[d];
    *safe = fmin(*safe, nb6_time_to_reach(sqrt(r2), sqrt(limit), v2));
    return nb6_nearest2(x, v, dt) < limit;
}

#endif
