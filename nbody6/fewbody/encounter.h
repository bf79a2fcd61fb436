/** Candidates for encounters: the first, cheap conditions of nb6_subsystems_search, for engines with an engine
 * image. */
#ifndef NB6_ENCOUNTER_H
#define NB6_ENCOUNTER_H

#include "common/hd.h"

#include <math.h>

struct nb6_sim;

/** Candidates have a step below this many DTMIN. With Aarseth's DTMIN two stars of mean mass on a circle of radius RMIN
 * make steps of 2.5, on one of 3 RMIN of 13. */
#define NB6_LOOKED_AT 13.0
/** Above this many, where many stars of a cluster of low density are, only stars that feel a companion within 3
 *  RMIN. */
#define NB6_LOOKED_AT_ANYWAY 4.0
/** A bound pair that stays within this many RMIN is one: in a dense core RMIN is so small that undisturbed binaries are
 * wider, and the Hermite scheme loses up to 2e-5 of their energy in each orbit. */
#define NB6_CONFINED 3.0
/** Stars count as approaching until they recede at this fraction of the velocity of a circular orbit (NBODY6). */
#define NB6_RECEDING 0.02

struct nb6_encounter_rules {
    int enabled;             /**< 0: no search */
    int level, level_anyway; /**< of steps of NB6_LOOKED_AT, NB6_LOOKED_AT_ANYWAY DTMIN */
    double r_min, mean_mass;
    double touch; /**< for engines: stars farther apart than this are not about to touch; 0: stars have no radii */
};
struct nb6_encounter_rules nb6_encounter_rules_of(const struct nb6_sim *sim);

/** Whether a star is pulled as strongly as a companion of its own mass, or half of it, would pull within 3 RMIN: so is
 * at least the lighter star of a pair. */
NBC_HD int nb6_feels_companion(double r_min, const double acc_irr[3], double mass)
{
    const double *a = acc_irr, reach = NB6_CONFINED * r_min, pull = 0.5 * mass;
    return (a[0] * a[0] + a[1] * a[1] + a[2] * a[2]) * reach * reach * reach * reach > pull * pull;
}

/** Is a star with a step of this level a candidate? */
NBC_HD int nb6_encounter_is_looked_at(const struct nb6_encounter_rules *rules, int level, const double acc_irr[3],
                                      double mass)
{
    if (!rules->enabled || level > rules->level) return 0;
    return level <= rules->level_anyway || nb6_feels_companion(rules->r_min, acc_irr, mass);
}

/** Whether two stars of total mass m may be near each other and approaching, after the first block: true for all that
 * nb6_subsystems_search finds so, at any density around them.   @param[in] x, v  relative */
NBC_HD int nb6_encounter_is_possible(const struct nb6_encounter_rules *rules, double m, const double x[3],
                                     const double v[3])
{
    const double ROUNDING = 1 + 1e-6;
    const double r2 = x[0] * x[0] + x[1] * x[1] + x[2] * x[2], v2 = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
    const double rv = x[0] * v[0] + x[1] * v[1] + x[2] * v[2], r = sqrt(r2);
    const double near = rules->r_min * fmax(1.0, m / (2 * rules->mean_mass)) * ROUNDING;
    if (!(m > 0 && rv < NB6_RECEDING * sqrt(m * r) * ROUNDING)) return 0;
    if (r < near) return 1;
    const double inv_a = 2 / r - v2 / m; /* e^2 = (1 - r/a)^2 + (r v)^2/(m a) */
    if (!(inv_a > 0)) return 0;
    const double e = sqrt((1 - r * inv_a) * (1 - r * inv_a) + rv * rv * inv_a / m);
    return (1 + e) / inv_a < NB6_CONFINED * near;
}

#endif
