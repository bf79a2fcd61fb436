/** First steps of bodies that begin anew, as plain numbers, on processors and devices: nothing is known of their forces
 *  but values at one time. */
#ifndef NB6_FIRST_RULES_H
#define NB6_FIRST_RULES_H

#include "common/hd.h"
#include "nbody6/state/body.h"
#include "nbody6/state/level.h"
#include "nbody6/step/hermite.h"
#include "nbody6/step/rules.h"

#include <math.h>

struct nb6_sim;

/** First steps are shorter than the criterion asks for: the polynomials are not known to full order yet. */
#define NB6_START_SAFETY 0.5

struct nb6_first_rules {
    double eta_irr, eta_reg;           /**< the present ETAI, ETAR */
    double dt_max;                     /**< the longest step, */
    double dt_fixed_irr, dt_fixed_reg; /**< or the only one; 0: it follows the forces */
    double spread;                     /**< velocity dispersion of all that take part */
    double longest;                    /**< irregular step that the field allows */
    int max_level;                     /**< of the longest step that divides the time */
    int with_regular;                  /**< 1: second and third derivatives of regular forces are known */
    int any;                           /**< 1: a regular step may be any times as long as an irregular one */
    int is_start;                      /**< 1: of the run */
};
/** At time t.   @param[in] spread  as there */
struct nb6_first_rules nb6_first_rules_of(const struct nb6_sim *sim, nb6_time t, double spread);

/** Of n velocities from the sums of their components and squares. */
NBC_HD double nb6_dispersion(double n, const double sum[4])
{
    double squares = sum[3];
    for (int k = 0; k < 3; k++) squares -= sum[k] * sum[k] / n;
    return sqrt(fmax(squares, 0.0) / n);
}

/** No first regular step is longer. The first list is made before the forces that determine the step. It holds the
 *  bodies that enter the sphere within this time (NA12 eq. 4): a small part of what bodies need to cross it, so that
 *  none passes through unseen. */
NBC_HD double nb6_longest_first_step(const struct nb6_first_rules *rules, const double v[3], double r_nb)
{
    if (rules->dt_fixed_reg > 0) return rules->dt_fixed_reg;
    const double speed = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) + rules->spread;
    return fmin(NB6_START_SAFETY * sqrt(rules->eta_reg) * r_nb / speed, rules->dt_max);
}

/** Without its second derivative the regular force may still not let a star cross its neighbour sphere in one step,
 *  moving or falling from rest. */
NBC_HD double nb6_crossing_limit(const struct nb6_star *star, const struct nb6_body *body)
{
    double v2 = 0, a2 = 0;
    for (int k = 0; k < 3; k++) {
        v2 += body->v0[k] * body->v0[k];
        a2 += body->acc[k] * body->acc[k];
    }
    return star->r_nb / (sqrt(v2) + sqrt(star->r_nb * sqrt(a2)));
}

/** Set the levels of a body from its forces and derivatives.   @param[in] limit  of the irregular step, by systems */
NBC_HD void nb6_first_levels(const struct nb6_first_rules *rules, const struct nb6_body *body, double limit,
                             struct nb6_star *star)
{
    double irr = nb6_timestep(rules->eta_irr, star->acc_irr, star->jerk_irr, star->snap_irr, star->crackle_irr);
    double reg = nb6_timestep(rules->eta_reg, star->acc_reg, star->jerk_reg, star->snap_reg, star->crackle_reg);
    if (!rules->with_regular) reg = fmin(reg, sqrt(rules->eta_reg) * nb6_crossing_limit(star, body));
    reg = fmin(reg, nb6_longest_first_step(rules, body->v0, star->r_nb) / NB6_START_SAFETY);
    irr = fmin(fmin(irr, limit), rules->longest);
    if (rules->dt_fixed_irr > 0) irr = rules->dt_fixed_irr / NB6_START_SAFETY;
    if (rules->dt_fixed_reg > 0) reg = rules->dt_fixed_reg / NB6_START_SAFETY;
    star->level_reg = (int8_t)nb6_level_of(NB6_START_SAFETY * reg, rules->max_level);
    star->level_irr = (int8_t)nb6_level_of(NB6_START_SAFETY * irr, star->level_reg);
    if (!rules->is_start) star->level_reg = nb6_regular_level_beside(star->level_reg, star->level_irr, rules->any);
}

#endif
