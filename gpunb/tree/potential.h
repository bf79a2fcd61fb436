/** Potentials of very many bodies by a tree of order 8, in double, on processors whatever the backend. */
#ifndef GPUNB_TREE_POTENTIAL_H
#define GPUNB_TREE_POTENTIAL_H

#include "gpunb/gpunb.h"

/** The potentials that gpunb_potential makes of all bodies, to an error. Cells act on cells by harmonic.h, near ones by
 * all pairs. Sources of the handle stay. Bits are the same for any number of threads; a backend on a device, and `ref`,
 * have those of the best instruction set here.
 *  @param[in] mass  [n] >= 0   @param[in] x  [n][3]
 *  @param[in] aim   of one cell on another: the bound of what its series leaves out, a potential, > 0. The error of a
 *                   body is some aims.
 *  @param[out] pot  [n] written on success only
 *  @return NBC_OK; NBC_BAD_ARGUMENT (a number is not finite or out of range); NBC_NO_MEMORY */
int gpunb_potential_by_tree(gpunb_t *handle, size_t n, const double *mass, const double (*x)[3], double aim,
                            double *pot);

#endif
