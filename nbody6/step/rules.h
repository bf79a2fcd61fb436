/** The rules by which bodies get new steps and neighbour radii, as plain numbers: engines take them along, wherever
 * they compute. They hold until the next adjust, or change of members. */
#ifndef NB6_RULES_H
#define NB6_RULES_H

#include "common/hd.h"
#include "nbody6/state/body.h"
#include "nbody6/state/corrected.h"
#include "nbody6/state/level.h"
#include "nbody6/step/hermite.h"

#include <math.h>
#include <stdint.h>

struct nb6_sim;

/** Of steps. */
struct nb6_step_rules {
    double eta_irr, eta_reg; /**< the present ETAI, ETAR */
    struct nb6_velocity_limit limit_irr, limit_reg;
    double dt_close;        /**< steps below this are those of close encounters; 0: encounters are not looked for */
    int64_t n_source;       /**< bodies that take part */
    int level_max;          /**< of the longest step */
    int all_are_neighbours; /**< few stars: there is no regular force */
    int seen_between_steps; /**< derivatives of higher order have to belong to the present lists */
    int in_double;          /**< irregular forces are summed in double throughout: nb6_needs_double */
    double noise_reg_near;  /**< rounding error of a regular force by those just outside, times r_nb^2/nnb */
    double noise_reg_far;   /**< that of a regular force by all mass, times the square of its distance */
    double r_half2;         /**< square of the half-mass radius */
    double noise_by_tree;   /**< that of one by tree, in parts of the last total acceleration */
    double noise_reg_most;  /**< noise_reg_far there: rounding error of a total force that is not irregular */
};
struct nb6_step_rules nb6_step_rules_of(const struct nb6_sim *sim);
/** The error of a regular force by tree, in parts of the last total acceleration; 0: all are direct sums. */
double nb6_noise_by_tree(const struct nb6_sim *sim);

/** Number of the tree of a block at time t (gpunb_tree_build_moved): its cells are at other places than those of other
 *  blocks, so that what they leave out does not add up over steps. Runs that go on from a checkpoint have the same. */
NBC_HD uint64_t nb6_tree_number(nb6_time t)
{
    return (uint64_t)t + 1;
}

/** Two regular forces differ by rounding errors of this part of the sum of the magnitudes of their terms, at most. */
#define NB6_NOISE_FLOAT 0x1p-22
#define NB6_NOISE_DOUBLE 0x1p-51

/** The third derivative of a force F that changes within T is some F/T^3; over a step h = eta^(1/2) T it makes a
 *  difference of F h^3/12 in the force. Below this eta that is less than some ten times the error of a sum in float of
 *  which F is a tenth: then forces in float are too coarse for the steps of this eta. */
#define NB6_ETA_FOR_DOUBLE 4e-3

NBC_HD int nb6_needs_double(double eta_irr)
{
    return eta_irr < NB6_ETA_FOR_DOUBLE;
}

/** Rounding error of the regular force at x. The magnitudes are estimated, not summed: of bodies of mass m that are as
 * dense outside of the sphere as within they are 3 nnb m/r_nb^2 between r_nb and twice that, and all mass has some 3
 * M/r_h^2, or less from afar. 0 if no body is outside. */
NBC_HD float nb6_noise_of_regular(const struct nb6_step_rules *rules, const double x[3], int32_t nnb, double r_nb)
{
    if (nnb >= rules->n_source - 1) return 0;
    const float far = nbc_quick_ratio((float)rules->noise_reg_far, (float)(rules->r_half2 + nb6_norm2(x)));
    return far + nbc_quick_ratio((float)rules->noise_reg_near * (float)nnb, (float)(r_nb * r_nb));
}

/** Of neighbour spheres. */
struct nb6_radius_rules {
    int fixed, all_are_neighbours;
    double lowest, mean, highest; /**< wanted number of neighbours */
    double alpha;                 /**< factor of NA12 eq. 2 */
    double r_half, n;             /**< half-mass radius and number of the stars */
};

/** Radius of a sphere that always holds all stars. */
#define NB6_R_NB_ALL 1e15

/** A sphere's volume changes by at most this factor from one regular step to the next. */
#define NB6_VOLUME_CHANGE 1.25
/** A star without neighbours grows its sphere by this factor in volume, up to this many half-mass radii. */
#define NB6_VOLUME_GROWTH_EMPTY 2.0
#define NB6_LARGEST_RADIUS 100.0

/** A regular step that is more than 2^6 times the irregular one ends with it (levels.h). 2^5 to 2^8 all hold the error
 * of close encounters; this one costs a percent of all regular steps. */
enum { NB6_LEVELS_APART = 6 };

NBC_HD int8_t nb6_regular_level_beside(int level_reg, int level_irr, int any)
{
    return (int8_t)(any || level_reg <= level_irr + NB6_LEVELS_APART ? level_reg : level_irr);
}

/** Steps below two DTMIN are those of close encounters. Two stars become a pair; the remaining encounters are of a star
 * with a pair, or of more stars, often bound to each other for many orbits. In each orbit the scheme loses energy with
 * the fifth power of the step. They are few, and make up to twice as many steps. */
NBC_HD double nb6_step_in_encounter(double dt_close, double dt)
{
    const double SHORTEST = 0.5;
    return dt >= dt_close ? dt : fmax(dt / dt_close, SHORTEST) * dt;
}

/** Level of a new irregular step dt.   @param[in] longest  limit of the step */
NBC_HD int8_t nb6_irregular_level_of(const struct nb6_step_rules *rules, const struct nb6_star *star, double dt,
                                     double longest, nb6_time t)
{
    dt = fmin(nb6_step_in_encounter(rules->dt_close, dt), longest);
    return (int8_t)nb6_level_next(star->level_irr, nb6_level_of(dt, star->level_reg), t);
}

/** New irregular level. The force is the total one, its derivatives are those of the irregular part (Makino & Aarseth
 * 1992): a star whose neighbours pull weakly need not follow them more finely than its motion as a whole demands.
 *  @param[in] c  with the rounding errors of its forces   @param[in] longest  limit of the step
 *  @param[in] h, higher  the step just made */
NBC_HD int8_t nb6_next_irregular_level(const struct nb6_step_rules *rules, const struct nb6_star *star,
                                       const struct nb6_corrected *c, const struct nb6_higher *higher, double h,
                                       double longest, nb6_time t)
{
    const double j2 = nb6_norm2(c->jerk_irr), s2 = nb6_norm2(higher->snap), c2 = nb6_norm2(higher->crackle);
    const int may_be = nb6_derivatives_may_be_noise(h, NB6_NOISE_MARGIN * c->noise_irr, j2, s2, c2);
    const struct nb6_noise noise = {may_be ? c->noise_total : 0, may_be ? c->noise_irr : 0};
    double total[3];
    for (int k = 0; k < 3; k++) total[k] = c->acc_irr[k] + star->acc_reg[k];
    double dt = nb6_timestep_above_noise(rules->eta_irr, h, noise, nb6_norm2(total), j2, s2, c2);
    dt = nb6_timestep_limited(dt, rules->limit_irr, h, noise.part, c->acc_irr, higher);
    return nb6_irregular_level_of(rules, star, dt, longest, t);
}

/** Levels of a new regular step dt, and of the irregular one, which is not longer. */
NBC_HD void nb6_take_regular_step(const struct nb6_step_rules *rules, int level, double dt, nb6_time t,
                                  struct nb6_corrected *c)
{
    c->level_reg = (int8_t)nb6_level_next(level, nb6_level_of(dt, rules->level_max), t);
    if (c->level_irr > c->level_reg) c->level_irr = c->level_reg;
    c->level_reg = nb6_regular_level_beside(c->level_reg, c->level_irr, rules->all_are_neighbours);
}

/** New regular level of a body that ends its regular step, and the irregular one. If the new list leaves no body
 * outside, the regular force is zero and the old list's derivatives do not apply. */
NBC_HD void nb6_next_regular_level(const struct nb6_step_rules *rules, const struct nb6_star *star,
                                   const struct nb6_higher *higher, double h, nb6_time t, struct nb6_corrected *c)
{
    double dt = INFINITY;
    if (c->nnb < rules->n_source - 1) {
        const double j2 = nb6_norm2(c->jerk_reg), s2 = nb6_norm2(higher->snap), c2 = nb6_norm2(higher->crackle);
        const double error = NB6_NOISE_MARGIN_REGULAR * c->noise_reg;
        const double part = nb6_derivatives_may_be_noise(h, error, j2, s2, c2) ? c->noise_reg : 0;
        const struct nb6_noise noise = {part, part};
        dt = nb6_timestep_above_noise(rules->eta_reg, h, noise, nb6_norm2(c->acc_reg), j2, s2, c2);
        dt = nb6_timestep_limited(dt, rules->limit_reg, h, part, c->acc_reg, higher);
    }
    nb6_take_regular_step(rules, star->level_reg, dt, t, c);
}

/** Wanted number of neighbours where the local density contrast is c: NA12 eq. 2, n_p = clip(alpha n_opt sqrt(C)). */
NBC_HD double nb6_neighbours_wanted(const struct nb6_radius_rules *rules, double contrast)
{
    return fmax(fmin(rules->alpha * rules->mean * sqrt(contrast), rules->highest), rules->lowest);
}

/** Radius for the next regular step from the number of neighbours found. */
NBC_HD double nb6_next_radius(const struct nb6_radius_rules *rules, double r_nb, int64_t nnb)
{
    if (rules->fixed) return r_nb;
    if (rules->all_are_neighbours) return NB6_R_NB_ALL;
    if (nnb == 0) return fmin(r_nb * cbrt(NB6_VOLUME_GROWTH_EMPTY), fmax(NB6_LARGEST_RADIUS * rules->r_half, r_nb));
    double size = rules->r_half / r_nb, contrast = 2.0 * (double)nnb * size * size * size / rules->n;
    double change = nb6_neighbours_wanted(rules, contrast) / (double)nnb;
    return r_nb * cbrt(fmax(fmin(change, NB6_VOLUME_CHANGE), 1 / NB6_VOLUME_CHANGE));
}

/** The radius of a centre of mass, whose sphere may have to be larger than that of a star, as far as the list allows.
 *  @param[in] wanted  by the system   @param[in] limit  longest list */
NBC_HD double nb6_radius_with_system(double r_nb, double wanted, int64_t limit, int64_t nnb)
{
    const double room = 0.8 * (double)limit / fmax((double)nnb, 1.0);
    return fmax(r_nb, fmin(wanted, r_nb * cbrt(room)));
}

/** A sphere that holds more than a list may be long. */
NBC_HD double nb6_smaller_radius(double r_nb, int64_t limit, int64_t nnb)
{
    return r_nb * cbrt(0.8 * (double)limit / (double)nnb);
}

#endif
