/* A handle on devices: its creation and its end, and which devices it is on. */
#include "gpunb/device/device.h"
#include "gpunb/device/regular_tree_host.h"
#include "gpunb/predictor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Buffers of the host that no device alone has. */
static void release_shared(struct device_state *devices)
{
    const struct nbd_device *device = &devices->gpus[0].device;
    if (!device->kind) return;
    nbd_buffer_release(device, &devices->host_targets);
    nbd_buffer_release(device, &devices->host_bodies);
    nbd_buffer_release(device, &devices->host_jp);
    nbd_buffer_release(device, &devices->marks);
    nbd_buffer_release(device, &devices->host_numbers);
    struct nbd_buffer *whole[] = {&devices->whole.sources,   &devices->whole.asked, &devices->whole.rows,
                                  &devices->whole.scratch,   &devices->whole.flag,  &devices->whole.sizes,
                                  &devices->whole.host_sizes};
    for (size_t k = 0; k < sizeof whole / sizeof *whole; k++) nbd_buffer_release(device, whole[k]);
}

void gpunb_device_free(void *state)
{
    struct device_state *devices = state;
    if (!devices) return;
    for (int g = 0; g < devices->n_gpus; g++)
        gpunb_device_close(&devices->gpus[g]); /* first: devices may read the following */
    release_shared(devices);
    gpunb_device_regular_forget(devices);
    nbc_free(devices->changed);
    nbc_free(devices);
}

/* "0,2" or "0 2" -> device numbers; their count, or -1 with err filled. */
static int parse_list(const struct gpunb_kernels *kernels, const char *backend, const char *list, int available,
                      int *number, struct nbc_error *err)
{
    int count = 0;
    for (const char *p = list; *p;) {
        char *end;
        long device = strtol(p, &end, 10);
        int repeated = 0;
        for (int k = 0; k < count; k++) repeated |= number[k] == device;
        if (end == p || device < 0 || device >= available || repeated || count == DEVICE_MAX_GPUS) {
            nbc_fail(err, NBC_UNAVAILABLE,
                     "gpunb_create: '%s' is no list of %s: give different numbers from 0 to %d, like '%s:0,1'", list,
                     kernels->devices, available - 1, backend);
            return -1;
        }
        number[count++] = (int)device;
        p = end + strspn(end, ", ");
    }
    return count;
}

int gpunb_device_choose(const struct gpunb_kernels *kernels, const struct gpunb_setup *setup, const char *listed,
                        int available, int *number, struct nbc_error *err)
{
    const char *list = setup->devices[0] ? setup->devices : listed;
    if (list && list[0]) return parse_list(kernels, setup->backend->name, list, available, number, err);
    size_t worth = setup->by_tree ? 1 : (setup->n_j_max + DEVICE_SOURCES_PER_GPU - 1) / DEVICE_SOURCES_PER_GPU;
    int count = worth < 1 ? 1 : worth < (size_t)available ? (int)worth : available;
    for (int k = 0; k < count; k++) number[k] = k;
    return count;
}

/* Each device has its share of the sources, rounded up. */
static int reserve_sources(struct device_state *devices, struct nbc_error *err)
{
    for (int g = 0; g < devices->n_gpus; g++) {
        struct device_gpu *gpu = &devices->gpus[g];
        gpu->n_j_max = devices->n_j_max / (size_t)devices->n_gpus + 1;
        NBD_TRY(nbd_use(&gpu->device, err));
        NBD_TRY(gpunb_device_reserve(gpu, &gpu->sources, gpu->n_j_max * sizeof(struct device_source), err));
        NBD_TRY(gpunb_device_reserve(gpu, &gpu->host_sources, gpu->n_j_max * sizeof(struct device_source), err));
        NBD_TRY(gpunb_device_reserve(gpu, &gpu->refused, sizeof(int), err));
        NBD_TRY(gpunb_device_reserve(gpu, &gpu->stored, sizeof(uint64_t), err));
        *(uint64_t *)gpu->stored.data = 0;
        gpunb_device_forget(gpu);
    }
    gpunb_device_refuse_nobody(devices);
    return NBC_OK;
}

enum { TEST_ROOM = 1024 }; /* sources that the self-test may send */

static int open_all(struct device_state *devices, const struct gpunb_kernels *kernels, const struct gpunb_setup *setup,
                    int count, const int *number, struct nbc_error *err)
{
    devices->twofloat = setup->precision == GPUNB_TWOFLOAT;
    devices->n_j_max = setup->n_j_max > TEST_ROOM ? setup->n_j_max : TEST_ROOM;
    devices->piece = DEVICE_PIECE;
    devices->list_cap = DEVICE_LIST_CAP;
    devices->host_targets.where = devices->host_bodies.where = NBD_ON_HOST;
    devices->host_jp.where = devices->marks.where = devices->host_numbers.where = NBD_ON_HOST;
    devices->mark = 1;
    devices->n_listed = count;
    memcpy(devices->listed, number, (size_t)count * sizeof *number);
    if (setup->by_tree) count = 1;
    devices->changed = nbc_alloc(DEVICE_SEND_PIECES, sizeof *devices->changed);
    if (!devices->changed) return nbc_fail(err, NBC_NO_MEMORY, "gpunb_create: no memory for the state of the devices");
    for (int k = 0; k < count; k++) {
        devices->n_gpus = k + 1;
        NBD_TRY(gpunb_device_open(&devices->gpus[k], kernels, number[k], err));
    }
    NBD_TRY(reserve_sources(devices, err));
    NBD_TRY(gpunb_device_self_test(devices, err));
    for (int g = 0; g < count; g++) devices->gpus[g].bytes_sent = 0;
    devices->bytes_received = 0;
    return NBC_OK;
}

void gpunb_device_traffic(const void *state, uint64_t *sent, uint64_t *received)
{
    const struct device_state *devices = state;
    *sent = 0;
    for (int g = 0; g < devices->n_gpus; g++) {
        const uint64_t stored = *(const volatile uint64_t *)devices->gpus[g].stored.data;
        *sent += devices->gpus[g].bytes_sent + stored * sizeof(struct gpunb_jp);
    }
    *received = devices->bytes_received;
}

void gpunb_device_list(const void *state, char *text, size_t size)
{
    const struct device_state *devices = state;
    text[0] = '\0';
    for (int g = 0; g < devices->n_gpus; g++) {
        const size_t used = strlen(text);
        snprintf(text + used, size - used, "%s%s", g ? ", " : "", devices->gpus[g].device.name);
    }
}

int gpunb_device_create(void **state, const struct gpunb_kernels *kernels, const struct gpunb_setup *setup, int count,
                        const int *number, struct nbc_error *err)
{
    struct device_state *devices = nbc_alloc(1, sizeof *devices);
    if (!devices) return nbc_fail(err, NBC_NO_MEMORY, "gpunb_create: no memory for the state of the devices");
    int status = open_all(devices, kernels, setup, count, number, err);
    if (status == NBC_OK)
        *state = devices;
    else
        gpunb_device_free(devices);
    return status;
}
