/* Sums by the team: those of pieces in order, with the same bits for any number of threads. */
#include "common/sum.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <omp.h>
#include <string.h>

static void add_powers(const void *context, int64_t k, double sum[NBC_SUMS])
{
    const double x = *(const double *)context + (double)k;
    sum[0] += 1;
    sum[1] += 1 / x;
    sum[7] += sqrt(x);
}

static void same_bits(void **state)
{
    (void)state;
    static const int64_t sizes[] = {0, 1, 1023, 1024, 1025, 4096, 100003};
    const double from = 0.1;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        double first[NBC_SUMS], sum[NBC_SUMS];
        for (int threads = 1; threads <= 7; threads++) {
            omp_set_num_threads(threads);
            nbc_sum(sizes[s], add_powers, &from, threads == 1 ? first : sum);
            if (threads > 1) assert_memory_equal(first, sum, sizeof sum);
        }
        long double inverse = 0, root = 0;
        for (int64_t k = 0; k < sizes[s]; k++) {
            inverse += 1 / ((long double)from + (long double)k);
            root += sqrtl((long double)from + (long double)k);
        }
        assert_true(first[0] == (double)sizes[s]);
        /* Of 1024 terms, one by one, as many roundings may add up. Measured: 2.9e-15 and 2.0e-15. */
        assert_true(fabsl(first[1] - inverse) <= 1e-14L * inverse);
        assert_true(fabsl(first[7] - root) <= 1e-14L * root);
        for (int k = 2; k < 7; k++) assert_true(first[k] == 0);
    }
}

/* Terms that cancel: a plain sum of 1e16, 1 and -1e16 has lost the 1. In each piece the first two come in the
 * beginning, the last one at the end of all. */
static void add_cancelling(const void *context, int64_t k, double sum[NBC_SUMS])
{
    const int64_t n = *(const int64_t *)context;
    nbc_add_exactly(&sum[0], &sum[1], k == 0 ? 1e16 : k == n - 1 ? -1e16 : 1);
}

static void nothing_is_lost(void **state)
{
    (void)state;
    for (int64_t n = 3; n < 1000000; n = 10 * n + 1) {
        double sum[NBC_SUMS];
        nbc_sum(n, add_cancelling, &n, sum);
        assert_true(sum[0] + sum[1] == (double)(n - 2));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_bits), cmocka_unit_test(nothing_is_lost)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
