/* Ten million states of stars with values that cannot be: see tests/support/wild_stars.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/support/wild_stars.h"

static void ten_million(void **state)
{
    (void)state;
    wild_stars_try(10000000, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ten_million)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
