/* The benchmark of Nitadori & Aarseth 2012 at 8k; long_na12.c has the larger ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdint.h>

#include "tests/support/na12.h"

/* The bound of the energy error: that of the legacy code, 2.3e-7, by the same factor of 1.25 as at 16k. */
static void stars_8k(void **state)
{
    (void)state;
    na12_run(&(struct na12_benchmark){8192, 36, 5.41e6, 0.73e6, 2.9e-7});
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(stars_8k)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
