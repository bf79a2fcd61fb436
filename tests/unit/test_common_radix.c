/* The radix sort: a stable sort of the keys, for any number of entries, bits and threads. */
#include "common/radix.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum kind { ALL_BITS, FEW_KEYS, ONE_KEY, FALLING, KINDS };

static uint64_t state = 1;

static uint64_t some_bits(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return state ^ state >> 32;
}

/* Values are the numbers of the entries, so that equal keys ascend in them if the sort is stable. */
static void make_entries(size_t n, int bits, enum kind kind, struct nbc_keyed *entry)
{
    const uint64_t largest = ~(uint64_t)0 >> (64 - bits);
    for (size_t k = 0; k < n; k++) {
        const uint64_t key = kind == ALL_BITS   ? some_bits()
                             : kind == FEW_KEYS ? some_bits() % 5 * (largest / 4)
                             : kind == ONE_KEY  ? largest / 3
                                                : largest - k % 4096 * (largest >> 12);
        entry[k] = (struct nbc_keyed){key & largest, k};
    }
}

static int by_key_and_value(const void *a, const void *b)
{
    const struct nbc_keyed *p = a, *q = b;
    if (p->key != q->key) return p->key < q->key ? -1 : 1;
    return (p->value > q->value) - (p->value < q->value);
}

static void *get(size_t n, size_t size)
{
    void *memory = malloc(n * size + 1);
    assert_non_null(memory);
    return memory;
}

static void compare64(size_t n, int bits, const struct nbc_keyed *unsorted, const struct nbc_keyed *sorted)
{
    struct nbc_keyed *one = get(n, sizeof *one), *other = get(n, sizeof *other);
    const int parts = nbc_radix_parts(n);
    uint32_t(*count)[NBC_RADIX_DIGITS] = get((size_t)parts, sizeof *count);
    memcpy(one, unsorted, n * sizeof *one);
    const struct nbc_keyed *made = nbc_radix_sort64(n, bits, one, other, count, parts);
    assert_true(made == one || made == other);
    assert_memory_equal(made, sorted, n * sizeof *made);
    free(count);
    free(one);
    free(other);
}

static void compare32(size_t n, int bits, const struct nbc_keyed *unsorted, const struct nbc_keyed *sorted)
{
    uint64_t *one = get(n, sizeof *one), *other = get(n, sizeof *other);
    const int parts = nbc_radix_parts(n);
    uint32_t(*count)[NBC_RADIX_DIGITS] = get((size_t)parts, sizeof *count);
    for (size_t k = 0; k < n; k++) one[k] = nbc_keyed32((uint32_t)unsorted[k].key, (uint32_t)unsorted[k].value);
    const uint64_t *made = nbc_radix_sort32(n, bits, one, other, count, parts);
    assert_true(made == one || made == other);
    for (size_t k = 0; k < n; k++)
        assert_true(made[k] == nbc_keyed32((uint32_t)sorted[k].key, (uint32_t)sorted[k].value));
    free(count);
    free(one);
    free(other);
}

static void compare(size_t n, int bits, enum kind kind)
{
    struct nbc_keyed *unsorted = get(n, sizeof *unsorted), *sorted = get(n, sizeof *sorted);
    make_entries(n, bits, kind, unsorted);
    memcpy(sorted, unsorted, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, by_key_and_value);
    for (int threads = 1; threads <= 5; threads += 2) {
        omp_set_num_threads(threads);
        compare64(n, bits, unsorted, sorted);
        if (bits <= 32) compare32(n, bits, unsorted, sorted);
    }
    free(unsorted);
    free(sorted);
}

static void few(void **unused)
{
    (void)unused;
    static const size_t sizes[] = {0, 1, 2, 3, 17, 1000};
    for (int bits = 1; bits <= 64; bits++)
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
            for (enum kind kind = 0; kind < KINDS; kind++) compare(sizes[k], bits, kind);
}

/* Several parts, whose ends are not multiples of anything. */
static void many(void **unused)
{
    (void)unused;
    static const int bits[] = {1, 10, 21, 30, 32, 33, 63, 64};
    for (size_t k = 0; k < sizeof bits / sizeof *bits; k++)
        for (enum kind kind = 0; kind < KINDS; kind++) {
            compare(16384, bits[k], kind);
            compare(50021, bits[k], kind);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(few), cmocka_unit_test(many)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
