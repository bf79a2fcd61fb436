/** The library of regular forces, which a thread can open while the stars are checked: a GPU takes a fifth of a second
 * to wake, and as long for the tables of a million stars. The GPU begins with the potential of these stars at once. */
#ifndef NB6_OPENING_H
#define NB6_OPENING_H

#include "common/nbc.h"
#include "gpunb/gpunb.h"
#include "nbody6/input/config.h"
#include "nbody6/state/sim.h"

#include <pthread.h>
#include <stdint.h>

struct nb6_opening {
    const struct nb6_config *config;
    int64_t n;
    const double *mass, (*x)[3];
    gpunb_t *reg;                         /**< the opened library, */
    struct nb6_potential_cache potential; /**< and begun, unless binaries are declared */
    pthread_t thread;
    int threads; /**< of the caller's teams */
    int is_under_way, status;
    struct nbc_error err;
};

/** Begin, for n stars, if that is worth a thread and one can be had; to be followed by nb6_opening_end.
 *  @param[in] config, mass [n], x [n][3]  stay as they are up to then; they are not checked yet */
void nb6_opening_begin(const struct nb6_config *config, int64_t n, const double *mass, const double (*x)[3],
                       struct nb6_opening *opening);
/** End: the simulation owns the library and the potential that was begun, after a failure too. If nothing was begun,
 *  nb6_sim_open opens the library.
 *  @return as nb6_sim_open_regular; NBC_BAD_INPUT, NBC_NON_FINITE: stars that have no potential */
int nb6_opening_end(struct nb6_opening *opening, struct nb6_sim *sim, struct nbc_error *err);
/** Begin with the potential of the bodies that take part, at their last positions, as the first adjust wants it, unless
 *  one is under way, or none begins early: on processors, and by a tree.
 *  @return NBC_OK; NBC_NO_MEMORY; as gpunb_potential_start */
int nb6_opening_begin_bodies(struct nb6_sim *sim, struct nbc_error *err);

#endif
