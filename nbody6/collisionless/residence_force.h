/** Forces of a part whose arrays are in the memory of the devices that make them, for struct nb6_residence. */
#ifndef NB6_RESIDENCE_FORCE_H
#define NB6_RESIDENCE_FORCE_H

#include "nbody6/collisionless/residence.h"

/** For direct sums the handle of the system, which serves all devices. A tree belongs to one device: the part gets a
 *  handle on its own, with the same options. */
int nb6_residence_open_force(gpunb_t **force, const struct nb6_part *part, int device,
                             const struct gpunb_options *options, gpunb_t *system, struct nbc_error *err);
int nb6_residence_force_bytes(gpunb_t *force, size_t n_i, size_t n_j, size_t *bytes, struct nbc_error *err);
int nb6_residence_kept_bytes(gpunb_t *force, const struct nb6_part *part, size_t *tree, size_t *work,
                             struct nbc_error *err);
int nb6_residence_open_tree(gpunb_t *force, const struct nb6_part *part, gpunb_tree_t **tree, struct nbc_error *err);
int nb6_residence_begin(gpunb_t *force, const struct gpunb_softened_device *job, struct nbd_stream *stream,
                        struct nbc_error *err);
int nb6_residence_sum(gpunb_t *force, const struct nb6_part *part, const struct gpunb_softened_device *job,
                      struct nbd_stream *stream, struct nbc_error *err);

#endif
