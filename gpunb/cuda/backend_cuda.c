/* NVIDIA GPUs: the descriptor, and the choice of devices. */
#include "gpunb/cuda/table.h"
#include "gpunb/device/device.h"

#include <stdlib.h>

/* Number of devices that can be used; if 0, *why has the reason. */
static int usable(const char **why)
{
    const int count = nbd_count(nbd_cuda, why);
    if (count > 0) *why = "";
    return count < DEVICE_MAX_GPUS ? count : DEVICE_MAX_GPUS;
}

static const char *why_unavailable(void)
{
    const char *why;
    usable(&why);
    return why;
}

static int create(void **state, const struct gpunb_setup *setup, struct nbc_error *err)
{
    const char *why;
    int number[DEVICE_MAX_GPUS];
    const int available = usable(&why);
    if (available == 0) return nbc_fail(err, NBC_UNAVAILABLE, "gpunb_create: %s", why);
    const int count = gpunb_device_choose(&gpunb_cuda_kernels, setup, getenv("GPU_LIST"), available, number, err);
    if (count < 0) return NBC_UNAVAILABLE;
    return gpunb_device_create(state, &gpunb_cuda_kernels, setup, count, number, err);
}

static int gpus(const void *state, int room, int *device)
{
    const struct device_state *devices = state;
    for (int g = 0; device && g < devices->n_listed && g < room; g++) device[g] = devices->listed[g];
    return devices->n_listed;
}

const struct gpunb_backend gpunb_backend_cuda = {
    .name = "cuda",
    .description = "NVIDIA GPUs",
    .ns_per_pair = 0.03, /* in whole runs, blocks of all sizes: 0.11 at N = 16384, 0.026 at 65536 */
    .precisions = 1u << GPUNB_FLOAT | 1u << GPUNB_TWOFLOAT,
    .precision = GPUNB_TWOFLOAT,
    .why_unavailable = why_unavailable,
    .create = create,
    GPUNB_DEVICE_OPS,
    .gpus = gpus,
    .n_worth = 4096, /* measured in whole runs, docs/performance.md */
};
