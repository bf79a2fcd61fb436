#include "gpunb/handle.h"
#include "gpunb/quantity.h"
#include "gpunb/tree/potential.h"

#include <math.h>

/* The handle's backend, or else the best one here that can. */
static const struct gpunb_backend *backend_of(const gpunb_t *handle)
{
    if (handle->backend->potential_by_tree) return handle->backend;
    for (int k = 0; k < gpunb_backend_count(); k++) {
        const struct gpunb_backend *row = gpunb_backend_row(k);
        if (row->potential_by_tree && row->why_unavailable()[0] == '\0') return row;
    }
    return NULL;
}

int gpunb_potential_by_tree(gpunb_t *handle, size_t n, const double *mass, const double (*x)[3], double aim,
                            double *pot)
{
    if (!handle) return NBC_BAD_ARGUMENT;
    struct nbc_error *err = &handle->error;
    const double start = nbc_wtime();
    const struct gpunb_backend *backend = backend_of(handle);
    const struct gpunb_pot_job job = {.n_i = n, .n = n, .mass = mass, .x = x, .pot = pot};
    const struct gpunb_quantity list[] = {
        {"body", "mass", mass, n, 1, 0, GPUNB_LIMIT},
        {"body", "x", (const double *)x, n, 3, -GPUNB_LIMIT, GPUNB_LIMIT},
    };
    int status = gpunb_check(err, "gpunb_potential_by_tree", list, 2);
    if (status != NBC_OK) return status;
    if (n > 0 && !pot) return nbc_fail(err, NBC_BAD_ARGUMENT, "gpunb_potential_by_tree: pot is NULL");
    if (!(aim > 0)) return nbc_fail(err, NBC_BAD_ARGUMENT, "gpunb_potential_by_tree: aim is %g, not positive", aim);
    if (n > INT32_MAX) return nbc_fail(err, NBC_BAD_ARGUMENT, "gpunb_potential_by_tree: %zu bodies are too many", n);
    if (n > 0) status = backend->potential_by_tree(backend, &job, aim);
    if (status) return nbc_fail(err, status, "gpunb_potential_by_tree: no memory for %zu bodies", n);
    handle->stats.seconds_potential += nbc_wtime() - start;
    return status;
}
