/** Expansions of forces in double, of any order up to 15: loops with the order as a number, where the terms of runs
 *  (gpunb/tree/term.h) are a copy of their source for each order up to 8. Two bases have the same calls:
 *
 *    tensors    symmetric Cartesian tensors, of the softened kernel (r^2 + e^2)^(-1/2): (p+1)(p+2)(p+3)/6 numbers a
 *               cell; a cell on a cell takes binomial(p+6, 6) products
 *    harmonics  solid harmonics, of 1/r alone: (p+1)(p+2) numbers; a cell on a cell is turned to the axis, moved along
 *               it, and turned back, each with the third power of the order (Dehnen 2014, Comput. Astrophys. Cosmol.
 *               1, 1, appendix A)
 *
 *  With |s|, |y| the distances of bodies from the centres of their cells, which are R apart (softening included), a
 *  cell on a body leaves out terms of (|s|/R)^(p+1) of the potential, a body on a cell (|y|/R)^(p+1), a cell on a cell,
 *  of whose terms those of ranks n + m <= p are summed, ((|s| + |y|)/R)^(p+1). The gradient of an expansion about
 *  targets is of one order less. Without softening both bases have the same terms, so the same forces but for
 *  rounding.
 *
 *  Numbers have units: powers of sizes to the order, and of inverse distances to order + 2, are doubles where sizes are
 *  from 1e-15 to 1e15. */
#ifndef BENCH_ORDERS_BASIS_H
#define BENCH_ORDERS_BASIS_H

#include <stddef.h>

enum {
    ORDERS_MOST = 15,
    ORDERS_MOST_LENGTH = (ORDERS_MOST + 1) * (ORDERS_MOST + 2) * (ORDERS_MOST + 3) / 6,
    ORDERS_SQUARES = (ORDERS_MOST + 1) * (ORDERS_MOST + 2) * (2 * ORDERS_MOST + 3) / 6 /* 1 + 4 + ... + 256 */
};

/** Kinds of terms: sources on targets. */
enum orders_kind { ORDERS_CELL_CELL, ORDERS_CELL_BODY, ORDERS_BODY_CELL, ORDERS_BODY_BODY, ORDERS_KINDS };
extern const char *const orders_kind_names[ORDERS_KINDS];

/** How harmonics change when x and z are exchanged (harmonics.c). */
struct orders_swap {
    double of_moments[ORDERS_SQUARES], of_locals[ORDERS_SQUARES];
};

struct orders_kernel {
    const struct orders_basis *basis;
    int order;
    double softening2;
    struct orders_swap swap;
};

/** All results are added to. Vectors are in the frame that the centre of the expansion is the origin of. `field`: the
 *  acceleration and the potential, positive. */
struct orders_basis {
    const char *name;
    int has_softening;
    int (*length)(int order); /**< numbers of an expansion */
    void (*add_body)(const struct orders_kernel *k, double mass, const double s[3], double *moment);
    /** @param[in] d  the old centre seen from the new one */
    void (*move_moments)(const struct orders_kernel *k, const double *moment, const double d[3], double *to);
    void (*cell_on_body)(const struct orders_kernel *k, const double *moment, const double x[3], double field[4]);
    /** @param[in] x  the centre of the targets seen from that of the sources */
    void (*cell_on_cell)(const struct orders_kernel *k, const double *moment, const double x[3], double *local);
    /** @param[in] x  the same, seen from the body */
    void (*body_on_cell)(const struct orders_kernel *k, double mass, const double x[3], double *local);
    /** @param[in] d  the new centre seen from the old one */
    void (*move_local)(const struct orders_kernel *k, const double *local, const double d[3], double *to);
    void (*local_on_body)(const struct orders_kernel *k, const double *local, const double y[3], double field[4]);
};

extern const struct orders_basis orders_tensors, orders_harmonics;

/** @param[in] order  1 to ORDERS_MOST   @param[in] softening  0, unless the basis has it */
void orders_kernel_init(struct orders_kernel *kernel, const struct orders_basis *basis, int order, double softening);
/** The matrices of swaps to an order. */
void orders_fill_swap(struct orders_swap *swap, int order);

#endif
