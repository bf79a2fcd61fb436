/** When a cell may act by its multipoles, for hosts and GPUs.
 *
 *  The expansion to rank p leaves out the ranks above it. At R^2 = r^2 + softening^2, s = radius/R, a rank n has an
 *  acceleration of at most (n + 1) mass/R^2 s^n E_n, where E_n is the largest potential of its multipole in units of
 *  mass radius^n, P_n, and with softening, whose traces act as well, no more than
 *      E_n = P_n + min(1, n(n - 1)/4 softening^2/R^2) B_n,   B_n = sum m |s|^n:
 *  |P_n(qc) - q^n P_n(c)| is about (1 - q) P'_(n-1)(c) <= (1 - q) n(n - 1)/2 for q = r/R. Ranks p + 1 and p + 2 are
 * known (of two equal bodies all odd ones are zero); those after them are taken to fall as s^2 from rank to rank of the
 * same parity, and not to be below what the shape of a cell leaves: of bodies on a lattice both known ranks may vanish.
 *
 *  With the share that a term has in the summed sizes of all, mass/R^2/sum, the bound is aim scale sqrt(share): however
 *  many terms there are, the sum of the squares of their errors is below (aim scale)^2. */
#ifndef GPUNB_TREE_ACCEPT_H
#define GPUNB_TREE_ACCEPT_H

#include "common/hd.h"
#include "gpunb/tree/cells.h"
#include "gpunb/tree/tensor.h"

/** How a group accepts cells. */
struct tree_rule {
    float aim2;          /**< square of the aim for a term; 0: by angle */
    float steady;        /**< aim for what expansions about regions leave out of the masses of all cells */
    float theta2;        /**< square of the angle */
    float region_theta2; /**< of that for a cell and a region together, whose expansions have errors of their rank */
    float softening2;
    int order;
};

/* For the sum of the sizes of all terms, to some percent, cells look smaller than this from a group's centre; a
 * hundredth of the sum is the least scale of a force that nearly vanishes. */
#define TREE_SCALE_THETA2 1.0f
#define TREE_LEAST_SHARE 0.01

/* Two floats know a position to this part of the group's radius, and better; targets that are nearer to each other, and
 * feel it, are walked for one by one. */
#define TREE_RESOLVED 1e-7

/* Rounding of a position to float, in units of the group's radius, over the part of the aim that it may have. */
#define TREE_NEAREST (6e-8 / 0.1)

/* s^2 above which the ranks left out are not known. */
#define TREE_MOST_S2 0.8f

/** The least power of later ranks, whatever those before: the shape of a cube has a multipole of rank 4 of some 0.15,
 *  and that of few bodies one of 1/sqrt(count), above 0.15 for up to 44. */
NBC_HD float tree_shape_of(const struct tree_rest *rest, int32_t count)
{
    return rest->size * (count > 44 ? 0.15f : nbc_inverse_root((float)count));
}

/** The acceleration that an expansion leaves out, in units of mass/R^2. */
NBC_HD float tree_left_out(const struct tree_rest *rest, int32_t count, int order, float s2, float soft)
{
    const float p = (float)order, s = nbc_quick_root(s2), next = nbc_quick_ratio(1, 1 - s2),
                more = 2 * s2 * next * next;
    const float blur1 = (p + 1) * p / 4 * soft, blur2 = (p + 2) * (p + 1) / 4 * soft;
    const float e1 = rest->power[0] + (blur1 < 1 ? blur1 : 1) * rest->size,
                e2 = rest->power[1] + (blur2 < 1 ? blur2 : 1) * rest->size;
    float s_n = order % 2 == 0 ? s : s2; /* s^(order + 1) */
    for (int n = 2; n <= order; n += 2) s_n *= s2;
    return s_n * (((p + 2) * next + more) * e1 + ((p + 3) * next + more) * s * e2 +
                  (p + 4) * next * s2 * tree_shape_of(rest, count));
}

/** Whether a cell acts as a whole on targets not nearer to its centre than r.
 *  @param[in] mass   a part of that of all bodies
 *  @param[in] scale  scale^2/sum, the least of the targets', for a mass of 1 */
NBC_HD int tree_accepts(const struct tree_rule *rule, float mass, float radius, const struct tree_rest *rest,
                        int32_t count, float r2, float scale)
{
    const float big2 = r2 + rule->softening2, s2 = nbc_quick_ratio(radius * radius, big2);
    if (radius == 0) return 1;
    if (!(s2 < TREE_MOST_S2)) return 0;
    if (rule->aim2 == 0) return s2 < rule->theta2;
    const float left = tree_left_out(rest, count, rule->order, s2, nbc_quick_ratio(rule->softening2, big2));
    return left * left * nbc_quick_ratio(mass, big2) <= rule->aim2 * scale;
}

/* Sizes of a region and of a cell, over their distance, from which on the ranks left out are not known. */
#define TREE_MOST_SPREAD 0.8f
/* The least size of a region over the distance of a cell whose powers to the most rank floats can tell from zero. */
#define TREE_LEAST_SPREAD 1e-6f

/** The acceleration that an expansion about a region of targets (local.h) leaves out of a cell's multipoles, in
 *  units of mass/R^2, at s = radius/R and t the size of the region over R. A rank n of the cell and m of the region is
 *  binomial(n + m, m) s^n E_n t^m of the potential, at most; its gradient loses a t. The first ranks that are cut,
 *  n + m = rank + 1, have
 *      (rank + 1) sum_n binomial(rank, n) s^n E_n t^(rank - n),   E_1 = 0,
 *  later ones fall as s + t. Moments above order + 2 are not there; ranks fall from one to the next of the same parity.
 */
NBC_HD float tree_left_of_region(const struct tree_rest *rest, int32_t count, int order, float s, float t, float soft)
{
    const int rank = TREE_MOST_LOCAL, top = tree_local_top(order);
    const float between = rest->quadrupole > rest->power[0] ? rest->quadrupole : rest->power[0];
    float sum = 0, s_n = s * s, binomial = rank * (rank - 1) / 2, power[TREE_MOST_LOCAL + 1];
    power[0] = 1;
    NBC_UNROLL
    for (int n = 1; n <= rank - 2; n++) power[n] = power[n - 1] * t;
    NBC_UNROLL
    for (int n = 2; n <= rank; n++) {
        const float known = n == order + 2   ? rest->power[1]
                            : n == order + 1 ? rest->power[0]
                            : n == 2         ? rest->quadrupole
                                             : between;
        const float blur = (float)(n * (n - 1)) / 4 * soft;
        if (n > top) continue;
        sum += binomial * s_n * power[rank - n] * (known + (blur < 1 ? blur : 1) * rest->size);
        s_n *= s;
        binomial *= (float)(rank - n) / (float)(n + 1);
    }
    const float shape = tree_shape_of(rest, count),
                known = rest->power[0] > rest->power[1] ? rest->power[0] : rest->power[1];
    return nbc_quick_ratio((float)(rank + 1) * sum + (float)(top + 2) * s_n * (known > shape ? known : shape),
                           1 - s - t);
}

/** It leaves out (rank + 1) t^rank of the mass of a cell, E_0 = 1: alike for all cells in one direction, so that their
 *  errors add up.
 *  @param[in] part  scale/sum, the least of the targets'   @return the square of the largest t */
NBC_HD float tree_most_spread2(const struct tree_rule *rule, float part)
{
    return (float)pow((double)(rule->steady * part) / (TREE_MOST_LOCAL + 1), 2.0 / TREE_MOST_LOCAL);
}

/** Whether a cell acts as a whole on all targets within `reach` of a centre that is r from its own.
 *  @param[in] most_spread2  the largest reach^2/R^2   @param[in] scale  as for tree_accepts */
NBC_HD int tree_accepts_region(const struct tree_rule *rule, float mass, float radius, const struct tree_rest *rest,
                               int32_t count, float r2, float reach, float most_spread2, float scale)
{
    const float big2 = r2 + rule->softening2;
    if (!(reach * reach <= most_spread2 * big2)) return 0;
    const float inverse = nbc_inverse_root(big2), s = radius * inverse, t = reach * inverse;
    if (!(s + t < TREE_MOST_SPREAD) || t < TREE_LEAST_SPREAD) return 0;
    if (rule->aim2 == 0) return (s + t) * (s + t) < rule->region_theta2;
    const float left = tree_left_of_region(rest, count, rule->order, s, t, rule->softening2 * inverse * inverse);
    return left * left * mass * inverse * inverse <= rule->aim2 * scale;
}

/** Bodies of a cell that cost as much as its term: operations of a term grow as the cube of the order, those of a pair
 *  are 15. */
NBC_HD int tree_worth_a_term(int order)
{
    return 1 + order * order * order / 5;
}

#endif
