/* The backend `cuda` on emulated devices, for tests; nothing takes it by itself. */
#include "device/emulated/emulated.h"
#include "gpunb/device/device.h"
#include "gpunb/device/emulated.h"

const struct gpunb_kernels gpunb_emulated_kernels = {
    .kind = &nbd_emulated,
    .devices = "emulated devices",
    .store = gpunb_emulated_store,
    .predict_share = gpunb_emulated_predict_share,
    .keys = gpunb_emulated_keys,
    .sort = gpunb_emulated_sort,
    .sort64 = gpunb_emulated_sort64,
    .tiles = gpunb_emulated_tiles,
    .predicted_tiles = gpunb_emulated_predicted_tiles,
    .rank = gpunb_emulated_rank,
    .blocks_per_sm = gpunb_emulated_blocks_per_sm,
    .force = gpunb_emulated_force,
    .finish = gpunb_emulated_finish,
    .regular_blocks = gpunb_emulated_regular_blocks,
    .regular_prepare = gpunb_emulated_regular_prepare,
    .regular_pairs = gpunb_emulated_regular_pairs,
    .regular_viewers = gpunb_emulated_regular_viewers,
    .regular_left = gpunb_emulated_regular_left,
    .regular_finish = gpunb_emulated_regular_finish,
    .regular_sources = gpunb_emulated_regular_sources,
    .regular_ask = gpunb_emulated_regular_ask,
    .regular_send = gpunb_emulated_regular_send,
    .pot_tiles = gpunb_emulated_pot_tiles,
    .potential = gpunb_emulated_potential,
    .softened_bytes = gpunb_emulated_softened_bytes,
    .softened_sum = gpunb_emulated_softened_sum,
    .tree = &gpunb_emulated_tree_kernels,
    .regular_tree = &gpunb_emulated_regular_tree_kernels,
};

static const char *why_unavailable(void)
{
    return "";
}

static int create(void **state, const struct gpunb_setup *setup, struct nbc_error *err)
{
    const char *why;
    int number[DEVICE_MAX_GPUS];
    const int available = nbd_count(nbd_emulated, &why);
    const int count = gpunb_device_choose(&gpunb_emulated_kernels, setup, NULL, available, number, err);
    if (count < 0) return NBC_UNAVAILABLE;
    return gpunb_device_create(state, &gpunb_emulated_kernels, setup, count, number, err);
}

const struct gpunb_backend gpunb_backend_emulated = {
    .name = "emulated",
    .description = "the work of GPUs done by the processor, for tests",
    .ns_per_pair = 10,
    .precisions = 1u << GPUNB_FLOAT | 1u << GPUNB_TWOFLOAT,
    .precision = GPUNB_TWOFLOAT,
    .why_unavailable = why_unavailable,
    .create = create,
    GPUNB_DEVICE_OPS,
};
