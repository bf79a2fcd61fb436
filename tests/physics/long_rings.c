/* Many rings of three to six stars at rest, from 1e-4 to 1e-8 of their size off an exact collision. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>

#include "tests/support/rings.h"

enum { SEEDS = 8 };

static void many(double offset, enum nb6_engine_choice engine)
{
    double worst = 0;
    for (int n = 3; n <= 6; n++)
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            double chains;
            worst = fmax(worst, rings_error(n, offset, seed, engine, &chains));
            assert_true(chains > 0);
        }
    assert_true(worst < rings_bound(offset));
}

static void off_by_1e4(void **state)
{
    many(1e-4, *(enum nb6_engine_choice *)*state);
}

static void off_by_1e6(void **state)
{
    many(1e-6, *(enum nb6_engine_choice *)*state);
}

static void off_by_1e8(void **state)
{
    many(1e-8, *(enum nb6_engine_choice *)*state);
}

#define BOTH(test) cmocka_unit_test_prestate(test, &host), cmocka_unit_test_prestate(test, &emulated)

int main(void)
{
    static enum nb6_engine_choice host = NB6_ENGINE_HOST, emulated = NB6_ENGINE_EMULATED;
    const struct CMUnitTest tests[] = {BOTH(off_by_1e4), BOTH(off_by_1e6), BOTH(off_by_1e8)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
