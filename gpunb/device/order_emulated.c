/* The order along the curve, on an emulated device. */
#include "device/emulated/emulated.h"
#include "gpunb/device/emulated.h"

#include <string.h>

/* ---- keys */

/* Positions so many bytes apart. */
struct keys_job {
    const char *x;
    size_t step;
    struct gpunb_map map;
    uint32_t *keys;
    int32_t *places;
    int first, n;
};

static uint32_t key_of(const struct keys_job *a, int k)
{
    return gpunb_curve_key((const double *)(const void *)(a->x + (size_t)(a->first + k) * a->step), &a->map);
}

static void make_keys(const void *job)
{
    const struct keys_job *a = job;
    for (int k = 0; k < a->n; k++) {
        a->keys[k] = key_of(a, k);
        a->places[k] = a->first + k;
    }
}

int gpunb_emulated_source_keys(const struct device_source *sources, int n, const struct gpunb_map *map, uint32_t *keys,
                               int32_t *places, struct nbd_stream *stream)
{
    const struct keys_job job = {(const char *)sources->x, sizeof *sources, *map, keys, places, 0, n};
    return nbd_emulated_launch(stream, make_keys, &job, sizeof job);
}

int gpunb_emulated_target_keys(const struct device_targets *targets, const struct gpunb_map *map, uint32_t *keys,
                               int32_t *places, struct nbd_stream *stream)
{
    const struct keys_job job = {(const char *)targets->x, sizeof *targets->x, *map, keys, places, 0, targets->n};
    return nbd_emulated_launch(stream, make_keys, &job, sizeof job);
}

int gpunb_emulated_body_keys(const struct device_body *bodies, int first, int n, const struct gpunb_map *map,
                             uint32_t *keys, int32_t *places, struct nbd_stream *stream)
{
    const struct keys_job job = {(const char *)bodies->x, sizeof *bodies, *map, keys, places, first, n};
    return nbd_emulated_launch(stream, make_keys, &job, sizeof job);
}

/* ---- sorts */

enum { DIGITS = 256, DIGIT_BITS = 8, PASSES = 4 };

struct sort_job {
    const uint32_t *keys;
    const int32_t *places;
    uint32_t *sorted_keys, *other_keys;
    int32_t *sorted_places, *other_places;
    int n;
};

/* One digit, stable. */
static void sort_digit(int shift, int n, const uint32_t *keys, const int32_t *places, uint32_t *to_keys,
                       int32_t *to_places)
{
    int at[DIGITS + 1] = {0};
    for (int k = 0; k < n; k++) at[(keys[k] >> shift) % DIGITS + 1]++;
    for (int d = 0; d < DIGITS; d++) at[d + 1] += at[d];
    for (int k = 0; k < n; k++) {
        const int to = at[(keys[k] >> shift) % DIGITS]++;
        to_keys[to] = keys[k];
        to_places[to] = places[k];
    }
}

NBC_ASSERT_CONSTANT(PASSES *DIGIT_BITS >= GPUNB_CURVE_KEY_BITS && PASSES % 2 == 0, "keys are sorted whole");

static void sort(const void *job)
{
    const struct sort_job *a = job;
    const uint32_t *keys = a->keys;
    const int32_t *places = a->places;
    for (int pass = 0; pass < PASSES; pass++) {
        uint32_t *to_keys = pass % 2 ? a->sorted_keys : a->other_keys;
        int32_t *to_places = pass % 2 ? a->sorted_places : a->other_places;
        sort_digit(pass * DIGIT_BITS, a->n, keys, places, to_keys, to_places);
        keys = to_keys;
        places = to_places;
    }
}

int gpunb_emulated_sort(void *scratch, size_t *bytes, const uint32_t *keys, uint32_t *sorted_keys,
                        const int32_t *places, int32_t *sorted_places, int n, struct nbd_stream *stream)
{
    if (!scratch) {
        *bytes = (size_t)n * (sizeof *keys + sizeof *places);
        return 0;
    }
    const struct sort_job job = {.keys = keys,
                                 .places = places,
                                 .sorted_keys = sorted_keys,
                                 .sorted_places = sorted_places,
                                 .other_keys = scratch,
                                 .other_places = (int32_t *)((uint32_t *)scratch + n),
                                 .n = n};
    return nbd_emulated_launch(stream, sort, &job, sizeof job);
}

struct rank_job {
    struct keys_job keys;
    int32_t *order;
};

/* order[number of targets with a smaller key, or the same and a smaller number] = target */
static void rank(const void *job)
{
    const struct rank_job *a = job;
    uint32_t keys[DEVICE_RANK_MAX];
    for (int i = 0; i < a->keys.n; i++) keys[i] = key_of(&a->keys, i);
    for (int i = 0; i < a->keys.n; i++) {
        int before = 0;
        for (int k = 0; k < a->keys.n; k++) before += keys[k] < keys[i] || (keys[k] == keys[i] && k < i);
        a->order[before] = i;
    }
}

int gpunb_emulated_rank(const struct device_targets *targets, const struct gpunb_map *map, int32_t *order,
                        struct nbd_stream *stream)
{
    const struct rank_job job = {
        {.x = (const char *)targets->x, .step = sizeof *targets->x, .map = *map, .n = targets->n}, order};
    return nbd_emulated_launch(stream, rank, &job, sizeof job);
}
