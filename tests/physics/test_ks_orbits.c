/* A free pair, 10^4 orbits of each eccentricity; long_ks_orbits makes 10^6. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/support/ks_orbits.h"

static void free_pairs_keep_their_orbits(void **state)
{
    (void)state;
    assert_int_equal(ks_orbits_table(1e4), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(free_pairs_keep_their_orbits)};
    return cmocka_run_group_tests_name("ks_orbits", tests, NULL, NULL);
}
