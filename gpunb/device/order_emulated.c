/* The order along the curve, on an emulated device. */
#include "common/radix.h"
#include "device/emulated/emulated.h"
#include "gpunb/device/emulated.h"

/* ---- keys */

struct keys_job {
    struct device_positions positions;
    struct gpunb_map map;
    uint32_t *keys;
    int32_t *places;
};

static void make_keys(const void *job)
{
    const struct keys_job *a = job;
    for (int k = 0; k < a->positions.n; k++) {
        a->keys[k] = gpunb_curve_key(gpunb_device_position(&a->positions, k), &a->map);
        a->places[k] = a->positions.first + k;
    }
}

int gpunb_emulated_keys(const struct device_positions *positions, const struct gpunb_map *map, uint32_t *keys,
                        int32_t *places, struct nbd_stream *stream)
{
    const struct keys_job job = {*positions, *map, keys, places};
    return nbd_emulated_launch(stream, make_keys, &job, sizeof job);
}

/* ---- sorts, each by one thread */

struct sort_job {
    const void *keys;
    void *sorted_keys, *scratch;
    const int32_t *places;
    int32_t *sorted_places;
    int n, bits;
};

static void sort32(const void *job)
{
    const struct sort_job *a = job;
    const uint32_t *keys = a->keys;
    uint32_t *sorted_keys = a->sorted_keys, count[1][NBC_RADIX_DIGITS];
    uint64_t *entry = a->scratch;
    for (int k = 0; k < a->n; k++) entry[k] = nbc_keyed32(keys[k], (uint32_t)a->places[k]);
    const uint64_t *sorted = nbc_radix_sort32((size_t)a->n, a->bits, entry, entry + a->n, count, 1);
    for (int k = 0; k < a->n; k++) {
        sorted_keys[k] = (uint32_t)(sorted[k] >> 32);
        a->sorted_places[k] = (int32_t)(uint32_t)sorted[k];
    }
}

static void sort64(const void *job)
{
    const struct sort_job *a = job;
    const uint64_t *keys = a->keys;
    uint64_t *sorted_keys = a->sorted_keys;
    uint32_t count[1][NBC_RADIX_DIGITS];
    struct nbc_keyed *entry = a->scratch;
    for (int k = 0; k < a->n; k++) entry[k] = (struct nbc_keyed){keys[k], (uint64_t)a->places[k]};
    const struct nbc_keyed *sorted = nbc_radix_sort64((size_t)a->n, a->bits, entry, entry + a->n, count, 1);
    for (int k = 0; k < a->n; k++) {
        sorted_keys[k] = sorted[k].key;
        a->sorted_places[k] = (int32_t)sorted[k].value;
    }
}

/* All 32 bits: regular forces in device memory have two more than GPUNB_CURVE_KEY_BITS in a key. */
int gpunb_emulated_sort(void *scratch, size_t *bytes, const uint32_t *keys, uint32_t *sorted_keys,
                        const int32_t *places, int32_t *sorted_places, int n, struct nbd_stream *stream)
{
    const struct sort_job job = {keys, sorted_keys, scratch, places, sorted_places, n, 32};
    if (!scratch) *bytes = 2 * (size_t)n * sizeof(uint64_t);
    return scratch ? nbd_emulated_launch(stream, sort32, &job, sizeof job) : 0;
}

int gpunb_emulated_sort64(void *scratch, size_t *bytes, const uint64_t *keys, uint64_t *sorted_keys,
                          const int32_t *places, int32_t *sorted_places, int n, int bits, struct nbd_stream *stream)
{
    const struct sort_job job = {keys, sorted_keys, scratch, places, sorted_places, n, bits};
    if (!scratch) *bytes = 2 * (size_t)n * sizeof(struct nbc_keyed);
    return scratch ? nbd_emulated_launch(stream, sort64, &job, sizeof job) : 0;
}

/* ---- ranks */

struct rank_job {
    struct device_targets targets;
    struct gpunb_map map;
    int32_t *order;
};

/* order[number of targets with a smaller key, or the same and a smaller number] = target */
static void rank(const void *job)
{
    const struct rank_job *a = job;
    uint32_t keys[DEVICE_RANK_MAX];
    const int n = a->targets.n;
    for (int i = 0; i < n; i++) keys[i] = gpunb_curve_key(a->targets.x[i], &a->map);
    for (int i = 0; i < n; i++) {
        int before = 0;
        for (int k = 0; k < n; k++) before += keys[k] < keys[i] || (keys[k] == keys[i] && k < i);
        a->order[before] = i;
    }
}

int gpunb_emulated_rank(const struct device_targets *targets, const struct gpunb_map *map, int32_t *order,
                        struct nbd_stream *stream)
{
    const struct rank_job job = {*targets, *map, order};
    return nbd_emulated_launch(stream, rank, &job, sizeof job);
}
