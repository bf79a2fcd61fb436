/** The handle, for the files of the library with calls: gpunb.c (sources, potentials), predictors.c, block_calls.c
 *  (regular forces) and softened.c. */
#ifndef GPUNB_HANDLE_H
#define GPUNB_HANDLE_H

#include "gpunb/backend.h"
#include "gpunb/predictor.h"

struct gpunb {
    const struct gpunb_backend *backend;
    const struct gpunb_backend_info *info;
    void *state;
    enum gpunb_precision precision; /* in use, never the default */
    struct gpunb_tree_use *tree;    /* NULL: softened forces are direct sums */
    size_t n_j_max;                 /* sources that may come */
    size_t n_j_ready;               /* and for which the backend has memory: all, or 0 until the first come */
    size_t n_sources;               /* sources that act on targets: those last sent, or predicted */
    size_t n_numbers;               /* sources are numbered 0 .. n_numbers - 1, not all of them may be there */
    int mass_weighted, sent;
    int device_by_tree; /* whether the last force in device memory was made by tree */
    int has_velocities; /* sources that were sent have them */

    /* The block that was started; its results go to the caller's arrays when it was waited for. */
    struct gpunb_block block;
    int started;         /* and the sources are still those it was started with */
    int32_t *self_place; /* [self_room] block.self, if numbers and places differ */
    size_t self_room;

    struct gpunb_pot_job pot; /* the potential that was started */
    int pot_started;

    struct gpunb_stats stats;
    struct nbc_error error;

    /* Predictors. Tables exist from the first call of gpunb_set_jp. */
    int has_predictors, members_changed, predicted;
    unsigned char *present; /* [n_j_max] whether there is a source of this number */
    int32_t *number;        /* [n_j_max] sources that are there, ascending */
    int32_t *place;         /* [n_j_max] position in `number`, -1: not there */
    struct gpunb_order order;
};

/** Whether numbers and places of the present sources differ. */
static inline int gpunb_has_gaps(const struct gpunb *handle)
{
    return handle->predicted && handle->order.number != NULL;
}

/** Memory for all sources that may come, if there is none yet.   @return as gpunb_reserve */
int gpunb_make_ready(struct gpunb *handle, struct nbc_error *err);
/** `self` of the caller, [n_i], as the backend counts sources: the same array, or one of places, which belongs to the
 *  handle; NULL without memory. */
const int32_t *gpunb_self_by_place(struct gpunb *handle, const int32_t *self, size_t n_i);
/** Whether each of `self`, [n_i] or NULL, is a source or -1.   @return NBC_OK, NBC_BAD_ARGUMENT with a message */
int gpunb_check_self(struct gpunb *handle, const char *call, const int32_t *self, size_t n_i);
/** Lists as the backend made them, of places, to numbers of sources. Rows that overflow stay undefined. */
void gpunb_lists_to_numbers(const struct gpunb *handle, const struct gpunb_block *block);

#endif
