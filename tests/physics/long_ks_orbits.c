/* A free pair, 10^6 orbits of each eccentricity. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/support/ks_orbits.h"

static void free_pairs_keep_their_orbits(void **state)
{
    (void)state;
    assert_int_equal(ks_orbits_table(1e6), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(free_pairs_keep_their_orbits)};
    return cmocka_run_group_tests_name("long_ks_orbits", tests, NULL, NULL);
}
