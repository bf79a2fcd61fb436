/** The library of regular forces, which a thread can open while the stars are looked at: a GPU takes a fifth of a
 * second to wake, and as long for the tables of a million stars. */
#ifndef NB6_OPENING_H
#define NB6_OPENING_H

#include "common/nbc.h"
#include "gpunb/gpunb.h"
#include "nbody6/input/config.h"

#include <pthread.h>
#include <stdint.h>

struct nb6_opening {
    const struct nb6_config *config;
    int64_t n;
    gpunb_t *reg; /**< what was opened */
    pthread_t thread;
    int threads; /**< of the caller's teams */
    int is_under_way, status;
    struct nbc_error err;
};

/** Begin, for n stars, if that is worth a thread and there is one; to be followed by nb6_opening_end.
 *  @param[in] config  stays as it is up to then */
void nb6_opening_begin(const struct nb6_config *config, int64_t n, struct nb6_opening *opening);
/** What was opened is the caller's; NULL: nb6_sim_open does it.   @return as nb6_sim_open_regular */
int nb6_opening_end(struct nb6_opening *opening, gpunb_t **reg, struct nbc_error *err);

#endif
