/* The reference: a plain loop in double precision, prediction on the fly. Every other backend is tested against it,
 * so it is never optimised. */
#include "gpuirr/store.h"

#include <string.h>

static void *open_store(size_t n_max, struct nbc_error *err)
{
    (void)err;
    return gpuirr_records_grow(NULL, 0, n_max);
}

static int grow_store(void **store, size_t n_old, size_t n_max)
{
    void *grown = gpuirr_records_grow(*store, n_old, n_max);
    if (grown) *store = grown;
    return grown ? 0 : -1;
}

static void set_jp(void *store, size_t i, const struct gpuirr_state *state)
{
    struct gpuirr_record *body = store;
    body[i].s = *state;
}

static void forces(const void *store, const struct gpuirr_batch *batch, struct gpuirr_force *force)
{
    const struct gpuirr_record *body = store;
    for (size_t b = 0; b < batch->n; b++) {
        const struct gpuirr_task *task = &batch->task[b];
        struct gpuirr_exact sum;
        gpuirr_exact_begin(&body[task->i], batch->t, &sum);
        for (size_t k = 0; k < task->nnb; k++)
            gpuirr_exact_add(&body[task->nblist[k]], task->nblist[k], batch->t, &sum);
        force[b] = (struct gpuirr_force){.nearest = sum.nearest, .coincident = sum.coincident};
        memcpy(force[b].acc, sum.acc, sizeof sum.acc);
        memcpy(force[b].jerk, sum.jerk, sizeof sum.jerk);
        if (batch->noise) batch->noise[b] = sum.noise;
    }
}

const struct gpuirr_backend gpuirr_backend_ref = {
    .name = "ref",
    .description = "plain loop in double precision, never optimised",
    .ns_per_pair = 30,
    .open = open_store,
    .grow = grow_store,
    .close = nbc_free,
    .set_jp = set_jp,
    .forces = forces,
};
