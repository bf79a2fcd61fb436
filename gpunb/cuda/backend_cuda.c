/* NVIDIA GPUs: the descriptor, and the choice of devices. */
#include "gpunb/cuda/gpu.h"
#include "gpunb/predictor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *cuda_why_unavailable(void)
{
    const char *why;
    gpunb_cuda_count(&why);
    return why;
}

/* Buffers of the host that no device alone has. */
static void release_shared(struct cuda_state *cuda)
{
    const struct nbd_device *device = &cuda->gpus[0].device;
    if (!device->kind) return;
    nbd_buffer_release(device, &cuda->host_targets);
    nbd_buffer_release(device, &cuda->host_bodies);
    nbd_buffer_release(device, &cuda->host_jp);
    nbd_buffer_release(device, &cuda->marks);
    nbd_buffer_release(device, &cuda->host_numbers);
}

static void cuda_free(void *state)
{
    struct cuda_state *cuda = state;
    if (!cuda) return;
    for (int g = 0; g < cuda->n_gpus; g++) gpunb_cuda_close(&cuda->gpus[g]); /* first: devices may read the following */
    release_shared(cuda);
    nbc_free(cuda->changed);
    nbc_free(cuda);
}

/* "0,2" or "0 2" -> device numbers; their count, or -1 with err filled. */
static int parse_devices(const char *list, int available, int *devices, struct nbc_error *err)
{
    int count = 0;
    for (const char *p = list; *p;) {
        char *end;
        long device = strtol(p, &end, 10);
        int repeated = 0;
        for (int k = 0; k < count; k++) repeated |= devices[k] == device;
        if (end == p || device < 0 || device >= available || repeated || count == CUDA_MAX_GPUS) {
            nbc_fail(
                err, NBC_UNAVAILABLE,
                "gpunb_create: '%s' is no list of CUDA devices: give different numbers from 0 to %d, like 'cuda:0,1'",
                list, available - 1);
            return -1;
        }
        devices[count++] = (int)device;
        p = end + strspn(end, ", ");
    }
    return count;
}

/* Devices of the request; without names, as many as the number of sources is worth. */
static int choose_devices(const struct gpunb_setup *setup, int *devices, struct nbc_error *err)
{
    const char *why, *listed = getenv("GPU_LIST");
    int available = gpunb_cuda_count(&why);
    if (available == 0) {
        nbc_fail(err, NBC_UNAVAILABLE, "gpunb_create: %s", why);
        return -1;
    }
    if (setup->devices[0]) return parse_devices(setup->devices, available, devices, err);
    if (listed && listed[0]) return parse_devices(listed, available, devices, err);
    size_t worth = (setup->n_j_max + CUDA_SOURCES_PER_GPU - 1) / CUDA_SOURCES_PER_GPU;
    int count = worth < 1 ? 1 : worth < (size_t)available ? (int)worth : available;
    for (int k = 0; k < count; k++) devices[k] = k;
    return count;
}

/* Each device has its share of the sources, rounded up. */
static int reserve_sources(struct cuda_state *cuda, struct nbc_error *err)
{
    for (int g = 0; g < cuda->n_gpus; g++) {
        struct cuda_gpu *gpu = &cuda->gpus[g];
        gpu->n_j_max = cuda->n_j_max / (size_t)cuda->n_gpus + 1;
        NBD_TRY(nbd_use(&gpu->device, err));
        NBD_TRY(gpunb_cuda_reserve(gpu, &gpu->sources, gpu->n_j_max * sizeof(struct cuda_source), err));
        NBD_TRY(gpunb_cuda_reserve(gpu, &gpu->host_sources, gpu->n_j_max * sizeof(struct cuda_source), err));
        NBD_TRY(gpunb_cuda_reserve(gpu, &gpu->refused, sizeof(int), err));
        NBD_TRY(gpunb_cuda_reserve(gpu, &gpu->stored, sizeof(uint64_t), err));
        *(uint64_t *)gpu->stored.data = 0;
        gpunb_cuda_forget(gpu);
    }
    gpunb_cuda_refuse_nobody(cuda);
    return NBC_OK;
}

enum { TEST_ROOM = 1024 }; /* sources that the self-test may send */

static int cuda_open(struct cuda_state *cuda, const struct gpunb_setup *setup, struct nbc_error *err)
{
    int devices[CUDA_MAX_GPUS], count = choose_devices(setup, devices, err);
    if (count < 0) return NBC_UNAVAILABLE;
    cuda->twofloat = setup->precision == GPUNB_TWOFLOAT;
    cuda->n_j_max = setup->n_j_max > TEST_ROOM ? setup->n_j_max : TEST_ROOM;
    cuda->list_cap = CUDA_LIST_CAP;
    cuda->host_targets.where = cuda->host_bodies.where = NBD_ON_HOST;
    cuda->host_jp.where = cuda->marks.where = cuda->host_numbers.where = NBD_ON_HOST;
    cuda->mark = 1;
    cuda->changed = nbc_alloc(CUDA_SEND_PIECES, sizeof *cuda->changed);
    if (!cuda->changed) return nbc_fail(err, NBC_NO_MEMORY, "gpunb_create: no memory for the CUDA backend");
    for (int k = 0; k < count; k++) {
        cuda->n_gpus = k + 1;
        NBD_TRY(gpunb_cuda_open(&cuda->gpus[k], devices[k], err));
    }
    NBD_TRY(reserve_sources(cuda, err));
    NBD_TRY(gpunb_cuda_self_test(cuda, err));
    for (int g = 0; g < count; g++) cuda->gpus[g].bytes_sent = 0;
    cuda->bytes_received = 0;
    return NBC_OK;
}

static void cuda_traffic(const void *state, uint64_t *sent, uint64_t *received)
{
    const struct cuda_state *cuda = state;
    *sent = 0;
    for (int g = 0; g < cuda->n_gpus; g++) {
        const uint64_t stored = *(const volatile uint64_t *)cuda->gpus[g].stored.data;
        *sent += cuda->gpus[g].bytes_sent + stored * sizeof(struct gpunb_jp);
    }
    *received = cuda->bytes_received;
}

static void cuda_device_names(const void *state, char *text, size_t size)
{
    const struct cuda_state *cuda = state;
    text[0] = '\0';
    for (int g = 0; g < cuda->n_gpus; g++) {
        const size_t used = strlen(text);
        snprintf(text + used, size - used, "%s%s", g ? ", " : "", cuda->gpus[g].device.name);
    }
}

static int cuda_gpus(const void *state, int room, int *device)
{
    const struct cuda_state *cuda = state;
    for (int g = 0; device && g < cuda->n_gpus && g < room; g++) device[g] = cuda->gpus[g].device.number;
    return cuda->n_gpus;
}

static int cuda_create(void **state, const struct gpunb_setup *setup, struct nbc_error *err)
{
    struct cuda_state *cuda = nbc_alloc(1, sizeof *cuda);
    if (!cuda) return nbc_fail(err, NBC_NO_MEMORY, "gpunb_create: no memory for the CUDA backend");
    int status = cuda_open(cuda, setup, err);
    if (status == NBC_OK)
        *state = cuda;
    else
        cuda_free(cuda);
    return status;
}

const struct gpunb_backend gpunb_backend_cuda = {
    .name = "cuda",
    .description = "NVIDIA GPUs",
    .ns_per_pair = 0.03, /* in whole runs, blocks of all sizes: 0.11 at N = 16384, 0.026 at 65536 */
    .precisions = 1u << GPUNB_FLOAT | 1u << GPUNB_TWOFLOAT,
    .precision = GPUNB_TWOFLOAT,
    .why_unavailable = cuda_why_unavailable,
    .create = cuda_create,
    .free = cuda_free,
    .send = gpunb_cuda_send,
    .reserve = gpunb_cuda_more_sources,
    .predictors = gpunb_cuda_predictors,
    .set_jp = gpunb_cuda_set_jp,
    .push_jp = gpunb_cuda_push_jp,
    .predict = gpunb_cuda_predict,
    .regf_start = gpunb_cuda_regf_start,
    .regf = gpunb_cuda_regf,
    .potential_start = gpunb_cuda_pot_start,
    .potential = gpunb_cuda_pot,
    .softened = gpunb_cuda_softened,
    .traffic = cuda_traffic,
    .device_names = cuda_device_names,
    .gpus = cuda_gpus,
    .takes_devices = 1,
    .n_worth = 4096, /* measured in whole runs, docs/performance.md */
};
