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
    static const int64_t sizes[] = {0, 1, 4095, 4096, 4097, 100003};
    const double from = 0.1;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        double first[NBC_SUMS], sum[NBC_SUMS];
        for (int threads = 1; threads <= 7; threads++) {
            omp_set_num_threads(threads);
            assert_int_equal(nbc_sum(sizes[s], add_powers, &from, threads == 1 ? first : sum, NULL), 0);
            if (threads > 1) assert_memory_equal(first, sum, sizeof sum);
        }
        long double inverse = 0, root = 0;
        for (int64_t k = 0; k < sizes[s]; k++) {
            inverse += 1 / ((long double)from + (long double)k);
            root += sqrtl((long double)from + (long double)k);
        }
        assert_true(first[0] == (double)sizes[s]);
        /* Of n terms a sum in pieces has some hundred roundings behind each other that matter. Measured: 4e-16. */
        assert_true(fabsl(first[1] - inverse) <= 1e-14L * inverse);
        assert_true(fabsl(first[7] - root) <= 1e-14L * root);
        for (int k = 2; k < 7; k++) assert_true(first[k] == 0);
    }
}

static void no_memory(void **state)
{
    (void)state;
#ifdef __SANITIZE_ADDRESS__ /* which ends a program that asks for as much */
    skip();
#endif
    struct nbc_error err = {0};
    double sum[NBC_SUMS] = {1, 2, 3}, before[NBC_SUMS];
    memcpy(before, sum, sizeof sum);
    assert_int_equal(nbc_sum(INT64_MAX, add_powers, NULL, sum, &err), NBC_NO_MEMORY);
    assert_memory_equal(sum, before, sizeof sum);
    assert_non_null(strstr(err.text, "no memory"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_bits), cmocka_unit_test(no_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
