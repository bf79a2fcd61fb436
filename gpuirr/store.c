#include "store.h"

#include <math.h>

struct gpuirr_store *gpuirr_store_open(size_t n_max, int with_pred)
{
    struct gpuirr_store *store = nbc_alloc(1, sizeof *store);
    if (!store) return NULL;
    store->body = nbc_alloc(n_max, sizeof *store->body);
    if (with_pred) store->pred = nbc_alloc(n_max, sizeof *store->pred);
    if (!store->body || (with_pred && !store->pred)) {
        gpuirr_store_close(store);
        return NULL;
    }
    for (size_t i = 0; i < n_max; i++) store->body[i].s.t0 = NAN; /* not set yet */
    return store;
}

void gpuirr_store_close(void *memory)
{
    struct gpuirr_store *store = memory;
    if (!store) return;
    nbc_free(store->body);
    nbc_free(store->pred);
    nbc_free(store);
}

void gpuirr_store_set_jp(void *memory, size_t i, const struct gpuirr_state *state)
{
    struct gpuirr_store *store = memory;
    store->body[i].s = *state;
}
