/** Multipoles of a cell as symmetric tensors, for hosts and GPUs.
 *
 *  The potential of bodies m at positions s from the centre of their cell, at a point x from there, softened with e, is
 *  a sum of Legendre polynomials, since |x - s|^2 + e^2 = R^2 - 2 x s + |s|^2 with R^2 = |x|^2 + e^2:
 *      psi = sum m |s|^n P_n(x s/(R |s|)) / R^(n+1)
 *          = sum_n sum_k A_nk (T_nk x^(n-2k)) / R^(2(n-k)+1),  A_nk = (-1)^k (2n-2k-1)!! / (2^k k! (n-2k)!),
 *  where T_n0 is the moment sum m s s ... s of rank n and T_nk what is left of it after k traces. It converges as
 *  (|s|/R)^n: softening makes it better. Without softening the sum over k is that of solid harmonics.
 *
 *  A tensor of rank n has a component for each x^a y^b z^c, a + b + c = n, at place i(i + 1)/2 + c with i = b + c. So
 *  one index more in x leaves the place as it is. */
#ifndef GPUNB_TREE_TENSOR_H
#define GPUNB_TREE_TENSOR_H

#include "common/hd.h"
#include "gpunb/gpunb.h"

/** Ranks of which a tree knows the moments: two above the order, which tell what the expansion leaves out. */
enum { TREE_MOST_RANK = GPUNB_MOST_ORDER + 2 };

/** The rank of expansions about regions of targets (local.h), and that of the moments which they take. */
enum { TREE_MOST_LOCAL = 6 };
NBC_HD int tree_local_top(int order)
{
    return order + 2 < TREE_MOST_LOCAL ? order + 2 : TREE_MOST_LOCAL;
}

/** Components of a tensor of a rank, and of all ranks below it. */
NBC_HD int tree_components(int rank)
{
    return (rank + 1) * (rank + 2) / 2;
}

NBC_HD int tree_components_below(int rank)
{
    return rank * (rank + 1) * (rank + 2) / 6;
}

enum { TREE_MOST_MOMENTS = (TREE_MOST_RANK + 1) * (TREE_MOST_RANK + 2) * (TREE_MOST_RANK + 3) / 6 };

enum {
    TREE_MOST_LOCALS = (TREE_MOST_LOCAL + 1) * (TREE_MOST_LOCAL + 2) * (TREE_MOST_LOCAL + 3) / 6,
    TREE_LOCAL_ROOM = (TREE_MOST_LOCALS + 7) / 8 * 8
};

/** Place of the component with b indices y and c indices z. */
NBC_HD int tree_place(int b, int c)
{
    return (b + c) * (b + c + 1) / 2 + c;
}

/** (2n - 1)!! */
NBC_HD double tree_odd_factorial(int n)
{
    double f = 1;
    for (int k = 2; k <= n; k++) f *= 2 * k - 1;
    return f;
}

NBC_HD double tree_factorial(int n)
{
    double f = 1;
    for (int k = 2; k <= n; k++) f *= k;
    return f;
}

/** |A_nk| (n - 2k)! of the file comment. */
NBC_HD double tree_weight(int n, int k)
{
    double w = tree_odd_factorial(n - k);
    for (int i = 1; i <= k; i++) w /= 2 * i;
    return w;
}

/** Components of all T_nk of an order, 2 <= n <= order: the length of a cell's coefficients. */
NBC_HD int tree_coefficients(int order)
{
    int count = 0;
    for (int n = 2; n <= order; n++)
        for (int k = 0; 2 * k <= n; k++) count += tree_components(n - 2 * k);
    return count;
}

#endif
