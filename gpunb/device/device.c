/* A device of GPUNB: opening and closing, memory. */
#include "gpunb/device/device.h"

static void place_buffers_on_host(struct device_gpu *gpu)
{
    struct nbd_buffer *on_host[] = {&gpu->host_sources, &gpu->host_pot,      &gpu->refused,
                                    &gpu->stored,       &gpu->host_softened, &gpu->tree_word};
    for (size_t k = 0; k < sizeof on_host / sizeof on_host[0]; k++) on_host[k]->where = NBD_ON_HOST;
    for (int s = 0; s < DEVICE_SLOTS; s++) gpu->slots[s].results.where = gpu->slots[s].lists.where = NBD_ON_HOST;
}

/* With two priorities, sums have that of what ends them. */
static int open_slot(const struct device_gpu *gpu, struct device_slot *slot, struct nbc_error *err)
{
    NBD_TRY(nbd_stream_open(&gpu->device, NBD_MIDDLE, &slot->stream, err));
    NBD_TRY(nbd_stream_open(&gpu->device, NBD_HIGHEST, &slot->finish, err));
    NBD_TRY(nbd_event_open(&gpu->device, &slot->summed, err));
    return nbd_event_open(&gpu->device, &slot->done, err);
}

int gpunb_device_open(struct device_gpu *gpu, const struct gpunb_kernels *kernels, int number, struct nbc_error *err)
{
    gpu->kernels = kernels;
    place_buffers_on_host(gpu);
    NBD_TRY(nbd_open(&gpu->device, *kernels->kind, number, "gpunb", err));
    NBD_TRY(nbd_stream_open(&gpu->device, NBD_MIDDLE, &gpu->stream, err));
    NBD_TRY(nbd_stream_open(&gpu->device, NBD_LOWEST, &gpu->pot_stream, err));
    NBD_TRY(nbd_event_open(&gpu->device, &gpu->sent, err));
    NBD_TRY(nbd_event_open(&gpu->device, &gpu->prepared, err));
    for (int s = 0; s < DEVICE_SLOTS; s++) NBD_TRY(open_slot(gpu, &gpu->slots[s], err));
    return NBC_OK;
}

int gpunb_device_finish_blocks(const struct device_gpu *gpu, struct nbc_error *err)
{
    NBD_TRY(nbd_stream_wait(&gpu->device, gpu->stream, err));
    for (int s = 0; s < DEVICE_SLOTS; s++) {
        NBD_TRY(nbd_stream_wait(&gpu->device, gpu->slots[s].stream, err));
        NBD_TRY(nbd_stream_wait(&gpu->device, gpu->slots[s].finish, err));
    }
    return NBC_OK;
}

static void close_slot(const struct nbd_device *device, struct device_slot *slot)
{
    struct nbd_buffer *buffers[] = {&slot->partial, &slot->near,    &slot->mask, &slot->rows,
                                    &slot->sorted,  &slot->results, &slot->lists};
    for (size_t k = 0; k < sizeof buffers / sizeof buffers[0]; k++) nbd_buffer_release(device, buffers[k]);
    nbd_event_close(device, slot->summed);
    nbd_event_close(device, slot->done);
    nbd_stream_close(device, slot->finish);
    nbd_stream_close(device, slot->stream);
}

void gpunb_device_close(struct device_gpu *gpu)
{
    const struct nbd_device *device = &gpu->device;
    struct nbd_buffer *buffers[] = {&gpu->host_sources, &gpu->sources,      &gpu->plain.tiles,   &gpu->plain.index,
                                    &gpu->curved.tiles, &gpu->curved.index, &gpu->keys,          &gpu->places,
                                    &gpu->sort_scratch, &gpu->targets,      &gpu->order,         &gpu->bodies,
                                    &gpu->pot_keys,     &gpu->pot_scratch,  &gpu->pot_order,     &gpu->pot_tiles,
                                    &gpu->pot_sorted,   &gpu->pot_partial,  &gpu->pot,           &gpu->host_pot,
                                    &gpu->jp,           &gpu->numbers,      &gpu->refused,       &gpu->stored,
                                    &gpu->softened_in,  &gpu->softened_out, &gpu->softened_work, &gpu->host_softened,
                                    &gpu->tree_counts,  &gpu->tree_word,    &gpu->regular};
    if (!device->kind) return;
    (void)nbd_wait(device, NULL);
    for (size_t k = 0; k < sizeof buffers / sizeof buffers[0]; k++) nbd_buffer_release(device, buffers[k]);
    for (int s = 0; s < DEVICE_SLOTS; s++) close_slot(device, &gpu->slots[s]);
    nbd_event_close(device, gpu->regular_event);
    nbd_stream_close(device, gpu->regular_stream);
    nbd_event_close(device, gpu->sent);
    nbd_event_close(device, gpu->prepared);
    nbd_stream_close(device, gpu->pot_stream);
    nbd_stream_close(device, gpu->stream);
}

static int as_loss(int status, struct nbc_error *err)
{
    if (status == NBC_NO_MEMORY && err) err->status = NBC_DEVICE;
    return status == NBC_NO_MEMORY ? NBC_DEVICE : status;
}

int gpunb_device_reserve(const struct device_gpu *gpu, struct nbd_buffer *buffer, size_t bytes, struct nbc_error *err)
{
    return as_loss(nbd_buffer_reserve(&gpu->device, buffer, bytes, err), err);
}

int gpunb_device_extend(const struct device_gpu *gpu, struct nbd_buffer *buffer, size_t bytes, struct nbc_error *err)
{
    return as_loss(nbd_buffer_extend(&gpu->device, buffer, bytes, err), err);
}
