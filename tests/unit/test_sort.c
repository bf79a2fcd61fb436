/* Sorting by the team: the result of qsort, for any number of threads and elements. */
#include "common/sort.h"
#include "common/twins.h"

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

/* Numbers that all differ, but for some that are given twice; more than are compared at a time. */
enum { NUMBERS = 700000 };

struct numbers {
    int64_t same[4]; /* places of numbers that are those of the places before them */
    int are_alike, rounds;
};

static int give(void *context, struct nbc_twins *to, struct nbc_error *err)
{
    static int64_t number[1000];
    struct numbers *numbers = context;
    (void)err;
    for (int64_t first = 0; first < NUMBERS; first += 1000) {
        for (int64_t i = first; i < first + 1000; i++) {
            int64_t k = numbers->are_alike ? 7 : i;
            for (int s = 0; s < 4; s++) k -= numbers->same[s] == i && i > 0;
            number[i - first] = (k * 1234577 ^ 0x2a5a5) - NUMBERS; /* odd factor: no two are the same */
        }
        nbc_twins_take(to, 1000, number);
    }
    return numbers->rounds++ > 100;
}

static int64_t number_at(int64_t i)
{
    return (i * 1234577 ^ 0x2a5a5) - NUMBERS;
}

static void twins(void **state)
{
    (void)state;
    int64_t twice;
    int found;
    struct numbers numbers = {.rounds = 0};
    omp_set_num_threads(2);
    assert_int_equal(nbc_twins_find(NUMBERS, give, &numbers, &twice, &found, NULL), 0);
    assert_true(!found && numbers.rounds == 2);
    numbers = (struct numbers){.same = {3, 17, 600000, NUMBERS - 1}};
    int64_t least = INT64_MAX;
    for (int s = 0; s < 4; s++)
        if (number_at(numbers.same[s] - 1) < least) least = number_at(numbers.same[s] - 1);
    assert_int_equal(nbc_twins_find(NUMBERS, give, &numbers, &twice, &found, NULL), 0);
    assert_true(found && twice == least);
    numbers = (struct numbers){.are_alike = 1}; /* do not fit, and need not */
    assert_int_equal(nbc_twins_find(NUMBERS, give, &numbers, &twice, &found, NULL), 0);
    assert_true(found && twice == number_at(7));
    numbers = (struct numbers){.rounds = 101};
    assert_int_equal(nbc_twins_find(NUMBERS, give, &numbers, &twice, &found, NULL), 1);
    assert_true(numbers.rounds == 102);
    assert_int_equal(nbc_twins_find(1, give, &(struct numbers){.are_alike = 1}, &twice, &found, NULL), 0);
    assert_true(found); /* more numbers than were said */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(like_qsort), cmocka_unit_test(orders), cmocka_unit_test(twins)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
