/* The criterion of Mardling & Aarseth 2001 against integration of random triples, a few; the thousand are in
 * long_hierarchy_stability. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/support/triples.h"

static void random_triples(void **state)
{
    (void)state;
    struct triples_count c;
    triples_survey(1, 40, 30, &c);
    print_message(
        "stable by the criterion: %d last, %d do not; unstable: %d last, %d do not; energy error up to %.1e\n",
        c.lasting[1], c.broken[1], c.lasting[0], c.broken[0], c.worst_energy_error);
    assert_int_equal(c.failed, 0);
    /* It errs on the side of caution: hierarchies that it calls stable last, and so do some that it calls unstable. */
    assert_true(c.broken[1] <= 0.1 * (c.lasting[1] + c.broken[1]));
    assert_true(c.broken[0] >= 0.4 * (c.lasting[0] + c.broken[0]));
    assert_true(c.worst_energy_error < 1e-8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_triples)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
