/** Forces of bodies on themselves by expansions of any order up to 15, in double, with cells of targets of all sizes:
 *  the dual traversal of Yokota & Barba 2012 (Comput. Sci. Eng. 14, 30). A pair of cells is taken from a stack; if they
 *  are far apart, sizes over distance below theta, it is one term, of the kind that the walk chooses; if not, the
 * larger one is cut. Runs have other walks (gpunb/tree/), of orders up to 8. */
#ifndef BENCH_ORDERS_H
#define BENCH_ORDERS_H

#include "bench/orders/basis.h"

enum orders_walk {
    ORDERS_TREECODE, /**< cells on bodies, and bodies on bodies */
    ORDERS_FMM,      /**< cells on cells, and bodies on bodies */
    ORDERS_HYBRID,   /**< of all kinds that with the least cost */
    ORDERS_WALKS
};
extern const char *const orders_walk_names[ORDERS_WALKS];

struct orders_job {
    const struct orders_kernel *kernel;
    enum orders_walk walk;
    double theta;              /**< sum of both radii over the distance, softening included, 0 < theta < 1 */
    int leaf;                  /**< most bodies of the smallest cells */
    double cost[ORDERS_KINDS]; /**< of a term of each kind, in any unit: walks hybrid */
    size_t n;
    const double *mass, (*x)[3];
    double (*field)[4]; /**< [n] acceleration and potential (positive), each body without itself */
};

/** Terms, body by body those of bodies on bodies. */
struct orders_counts {
    double terms[ORDERS_KINDS];
    double seconds; /**< of the processor, without making the cells */
};

/** Seconds that this thread had a processor. */
double orders_clock(void);
/** @return NBC_OK; NBC_NO_MEMORY */
int orders_force(const struct orders_job *job, struct orders_counts *counts);

/** The sum of n bodies at x, without number `self` (-1: of all). */
void orders_direct(size_t n, const double *mass, const double (*x)[3], double softening2, const double at[3],
                   ptrdiff_t self, double field[4]);
/** Most bodies of the smallest cells: three times as many as make a cell on a cell cost as much as its bodies on
 * bodies, since cells have a third of the most on average. 8 to 256. */
int orders_leaf_of(const double cost[ORDERS_KINDS]);

#endif
