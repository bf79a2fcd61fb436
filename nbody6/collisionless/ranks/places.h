/** Where the bodies of a rank were when its lists were made (trees.h), as columns of all bodies have it: lists follow
 *  from nothing else. */
#ifndef NB6_RANK_PLACES_H
#define NB6_RANK_PLACES_H

#include "common/nbc.h"
#include "nbody6/state/body_rows.h"

#include <stdint.h>

/** All NULL: there are none. */
struct nb6_rank_places {
    int32_t *rank;             /**< [n] that has the body */
    double (*x)[3], (*acc)[3]; /**< [n] where it is, and its last acceleration */
    double *drift;             /**< [n] and how far it is to move by the next lists */
};

/** @return NBC_OK; NBC_NO_MEMORY: to be freed all the same */
int nb6_rank_places_open(struct nb6_rank_places *places, int64_t n, struct nbc_error *err);
void nb6_rank_places_free(struct nb6_rank_places *places);
/** A column from NB6_ROWS_PLACE_RANK on; NULL: another one. */
void *nb6_rank_places_column(const struct nb6_rank_places *places, enum nb6_body_column column);

#endif
