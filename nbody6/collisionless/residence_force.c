#include "nbody6/collisionless/residence_force.h"

#include "gpunb/tree_kept.h"

#include <stdio.h>

enum { NO_SOURCES = 1 /* that the handle keeps: those of a part are in its arrays */ };

int nb6_residence_open_force(gpunb_t **force, const struct nb6_part *part, int device,
                             const struct gpunb_options *options, gpunb_t *system, struct nbc_error *err)
{
    (void)part;
    char backend[64];
    struct gpunb_options own = *options;
    gpunb_t *made = NULL;
    *force = system;
    if (!gpunb_tree_is_asked(options)) return NBC_OK;
    snprintf(backend, sizeof backend, "%s:%d", gpunb_info(system)->name, device);
    own.backend = backend;
    const int status = gpunb_create(&made, NO_SOURCES, &own, err);
    if (status == NBC_OK) *force = made;
    return status;
}

static int repeated(gpunb_t *force, int status, struct nbc_error *err)
{
    return status ? nbc_fail(err, status, "%s", gpunb_last_error(force)) : NBC_OK;
}

int nb6_residence_force_bytes(gpunb_t *force, size_t n_i, size_t n_j, size_t *bytes, struct nbc_error *err)
{
    return repeated(force, gpunb_softened_device_bytes(force, n_i, n_j, bytes), err);
}

int nb6_residence_kept_bytes(gpunb_t *force, const struct nb6_part *part, size_t *tree, size_t *work,
                             struct nbc_error *err)
{
    const size_t n_i = (size_t)part->room, n_j = (size_t)part->n;
    return repeated(force, gpunb_softened_device_kept_bytes(force, n_i, n_j, tree, work), err);
}

int nb6_residence_open_tree(gpunb_t *force, const struct nb6_part *part, gpunb_tree_t **tree, struct nbc_error *err)
{
    return repeated(force, gpunb_softened_device_tree(force, (size_t)part->n, tree), err);
}

int nb6_residence_begin(gpunb_t *force, const struct gpunb_softened_device *job, struct nbd_stream *stream,
                        struct nbc_error *err)
{
    return repeated(force, gpunb_softened_device_begin(force, job, stream), err);
}

int nb6_residence_sum(gpunb_t *force, const struct nb6_part *part, const struct gpunb_softened_device *job,
                      struct nbd_stream *stream, struct nbc_error *err)
{
    (void)part;
    return repeated(force, gpunb_softened_device(force, job, stream), err);
}
