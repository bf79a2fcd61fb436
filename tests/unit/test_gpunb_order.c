/* Orders along the curve on devices (gpunb/device/kernels.h): keys, both sorts, and ranks, against those made here. The
 * keys of a sort are few, so that it is seen to be stable. */
#include "gpunb/device/device.h"
#include "gpunb/handle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 70000 };

static const char *const names[] = {"emulated:1", "cuda:0"};

static uint64_t state = 1;

static uint64_t some_bits(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return state ^ state >> 32;
}

/* Memory of a device that begins as some memory of the host. */
static void *put(const struct device_gpu *gpu, struct nbd_buffer *buffer, const void *from, size_t bytes)
{
    struct nbc_error err = {0};
    *buffer = (struct nbd_buffer){.where = NBD_ON_DEVICE};
    if (nbd_buffer_reserve(&gpu->device, buffer, bytes, &err)) fail_msg("%s", err.text);
    if (from) assert_int_equal(nbd_copy(&gpu->device, gpu->stream, buffer->data, from, bytes, &err), NBC_OK);
    return buffer->data;
}

static void get(const struct device_gpu *gpu, struct nbd_buffer *buffer, void *to, size_t bytes)
{
    struct nbc_error err = {0};
    assert_int_equal(nbd_copy(&gpu->device, gpu->stream, to, buffer->data, bytes, &err), NBC_OK);
    assert_int_equal(nbd_stream_wait(&gpu->device, gpu->stream, &err), NBC_OK);
    nbd_buffer_release(&gpu->device, buffer);
}

/* Calls a test with the first device of each kind that is there. */
static void for_each_device(void (*test)(struct device_gpu *gpu))
{
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        const struct gpunb_options options = {.backend = names[k]};
        struct nbc_error err = {0};
        gpunb_t *h = NULL;
        if (gpunb_create(&h, MOST, &options, &err)) {
            assert_true(k > 0);
            continue;
        }
        print_message("%s\n", names[k]);
        struct device_gpu *gpu = &((struct device_state *)h->state)->gpus[0];
        assert_int_equal(nbd_use(&gpu->device, &err), NBC_OK);
        state = 1;
        test(gpu);
        gpunb_free(h);
    }
}

struct keyed {
    uint64_t key;
    int32_t place;
};

static int by_key_and_place(const void *a, const void *b)
{
    const struct keyed *p = a, *q = b;
    if (p->key != q->key) return p->key < q->key ? -1 : 1;
    return (p->place > q->place) - (p->place < q->place);
}

static uint64_t largest_of(int bits)
{
    return ~(uint64_t)0 >> (64 - bits);
}

/* Some of 1000 numbers that use all bits, in both forms; places are 7, 8, 9, ... */
static void make_pairs(size_t n, int bits, uint64_t *key64, uint32_t *key32, int32_t *place, struct keyed *pair)
{
    uint64_t some[1000];
    for (int k = 0; k < 1000; k++) some[k] = some_bits() & largest_of(bits);
    for (size_t k = 0; k < n; k++) {
        key64[k] = some[some_bits() % 1000];
        key32[k] = (uint32_t)key64[k];
        place[k] = (int32_t)k + 7;
        pair[k] = (struct keyed){key64[k], place[k]};
    }
    qsort(pair, n, sizeof *pair, by_key_and_place);
}

/* One sort of n pairs, whose keys have so many bytes. */
static void sort_on(struct device_gpu *gpu, size_t n, int bits, size_t size, const void *keys, const int32_t *places,
                    void *sorted_keys, int32_t *sorted_places)
{
    struct nbd_buffer key, place, sorted, order, scratch;
    const void *from = put(gpu, &key, keys, n * size);
    const int32_t *numbers = put(gpu, &place, places, n * sizeof *places);
    void *to = put(gpu, &sorted, NULL, n * size);
    int32_t *at = put(gpu, &order, NULL, n * sizeof *places);
    size_t bytes = 0;
    void *work = NULL;
    for (int pass = 0; pass < 2; pass++) { /* first the size of the scratch */
        const int code = size == sizeof(uint64_t)
                             ? gpu->kernels->sort64(work, &bytes, from, to, numbers, at, (int)n, bits, gpu->stream)
                             : gpu->kernels->sort(work, &bytes, from, to, numbers, at, (int)n, gpu->stream);
        assert_int_equal(code, 0);
        if (pass == 0) work = put(gpu, &scratch, NULL, bytes);
    }
    get(gpu, &sorted, sorted_keys, n * size);
    get(gpu, &order, sorted_places, n * sizeof *places);
    nbd_buffer_release(&gpu->device, &scratch);
    nbd_buffer_release(&gpu->device, &place);
    nbd_buffer_release(&gpu->device, &key);
}

static void compare_sorts(struct device_gpu *gpu, size_t n, int bits)
{
    static uint64_t key64[MOST], sorted64[MOST];
    static uint32_t key32[MOST], sorted32[MOST];
    static int32_t place[MOST], order[MOST];
    static struct keyed pair[MOST];
    make_pairs(n, bits, key64, key32, place, pair);
    sort_on(gpu, n, bits, sizeof *key64, key64, place, sorted64, order);
    for (size_t k = 0; k < n; k++) assert_true(sorted64[k] == pair[k].key && order[k] == pair[k].place);
    if (bits > GPUNB_CURVE_KEY_BITS) return;
    sort_on(gpu, n, bits, sizeof *key32, key32, place, sorted32, order);
    for (size_t k = 0; k < n; k++) assert_true(sorted32[k] == pair[k].key && order[k] == pair[k].place);
}

static void sorts_of(struct device_gpu *gpu)
{
    static const size_t numbers[] = {1, 2, 33, 1000, MOST};
    static const int bits[] = {1, GPUNB_CURVE_KEY_BITS, 31, 33, 3 * NBC_HILBERT_BITS_64, 64};
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
        for (size_t b = 0; b < sizeof bits / sizeof *bits; b++) compare_sorts(gpu, numbers[k], bits[b]);
}

static void sorts(void **unused)
{
    (void)unused;
    for_each_device(sorts_of);
}

/* Keys of some of the bodies, and the order of positions by rank, which is that of a sort. */
static void orders_of(struct device_gpu *gpu)
{
    enum { N = 900, FIRST = 40 };
    const struct gpunb_map map = {{0.1, -0.2, 0.3}, 1.7};
    struct device_body body[N];
    struct keyed pair[N];
    double x[N][3];
    uint32_t key[N];
    int32_t place[N], order[N];
    struct nbd_buffer bodies, keys, places, targets, ranks;
    for (int j = 0; j < N; j++)
        for (int k = 0; k < 3; k++) body[j].x[k] = x[j][k] = (double)(int64_t)some_bits() * 0x1p-62;
    const struct device_body *on_device = put(gpu, &bodies, body, sizeof body);
    const struct device_positions positions = {on_device->x, sizeof *body, FIRST, N - FIRST};
    uint32_t *to = put(gpu, &keys, NULL, sizeof key);
    int32_t *at = put(gpu, &places, NULL, sizeof place);
    assert_int_equal(gpu->kernels->keys(&positions, &map, to, at, gpu->stream), 0);
    get(gpu, &keys, key, (N - FIRST) * sizeof *key);
    get(gpu, &places, place, (N - FIRST) * sizeof *place);
    for (int k = 0; k < N - FIRST; k++) {
        assert_int_equal(key[k], gpunb_curve_key(x[FIRST + k], &map));
        assert_int_equal(place[k], FIRST + k);
    }
    const struct device_targets all = {.x = put(gpu, &targets, x, sizeof x), .n = N};
    int32_t *rank = put(gpu, &ranks, NULL, sizeof order);
    assert_int_equal(gpu->kernels->rank(&all, &map, rank, gpu->stream), 0);
    get(gpu, &ranks, order, sizeof order);
    for (int j = 0; j < N; j++) pair[j] = (struct keyed){gpunb_curve_key(x[j], &map), j};
    qsort(pair, N, sizeof *pair, by_key_and_place);
    for (int j = 0; j < N; j++) assert_int_equal(order[j], pair[j].place);
    nbd_buffer_release(&gpu->device, &bodies);
    nbd_buffer_release(&gpu->device, &targets);
}

static void orders(void **unused)
{
    (void)unused;
    for_each_device(orders_of);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sorts), cmocka_unit_test(orders)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
