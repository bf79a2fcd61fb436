/* Sorting by the team: the result of qsort, for any number of threads and elements. */
#include "common/sort.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

struct element {
    double key;
    int64_t number;
    char rest[3];
};

static int by_key(const void *a, const void *b)
{
    const struct element *p = a, *q = b;
    if (p->key != q->key) return p->key < q->key ? -1 : 1;
    return (p->number > q->number) - (p->number < q->number);
}

/* Many equal keys: half of the elements have one of 16. */
static struct element *some_elements(size_t n)
{
    struct element *e = calloc(n + 1, sizeof *e);
    uint64_t state = n + 1;
    assert_non_null(e);
    for (size_t i = 0; i < n; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        e[i].key = (double)(state >> (state & 1u << 20 ? 60 : 11));
        e[i].number = (int64_t)(i ^ 0x5555);
        memset(e[i].rest, (int)(i % 100), sizeof e[i].rest);
    }
    return e;
}

static void like_qsort(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 2, 3, 1000, 16383, 16384, 16385, 65536, 100003, 300007};
    for (int threads = 1; threads <= 7; threads++) {
        omp_set_num_threads(threads);
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            struct element *one = some_elements(sizes[k]), *other = some_elements(sizes[k]);
            qsort(one, sizes[k], sizeof *one, by_key);
            nbc_sort(other, sizes[k], sizeof *other, by_key);
            assert_memory_equal(one, other, (sizes[k] + 1) * sizeof *one);
            free(one);
            free(other);
        }
    }
}

/* Already in order, the other way round, and all alike. */
static void orders(void **state)
{
    (void)state;
    enum { N = 50001 };
    omp_set_num_threads(4);
    struct element *e = some_elements(N), *sorted = some_elements(N);
    qsort(sorted, N, sizeof *sorted, by_key);
    memcpy(e, sorted, N * sizeof *e);
    nbc_sort(e, N, sizeof *e, by_key);
    assert_memory_equal(e, sorted, N * sizeof *e);
    for (size_t i = 0; i < N; i++) e[i] = sorted[N - 1 - i];
    nbc_sort(e, N, sizeof *e, by_key);
    assert_memory_equal(e, sorted, N * sizeof *e);
    for (size_t i = 0; i < N; i++) e[i] = sorted[0];
    nbc_sort(e, N, sizeof *e, by_key);
    for (size_t i = 0; i < N; i++) assert_memory_equal(&e[i], &sorted[0], sizeof *e);
    free(e);
    free(sorted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(like_qsort), cmocka_unit_test(orders)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
