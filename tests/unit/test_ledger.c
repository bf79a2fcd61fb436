/* The ledger of energies: channels add up, transfers change what is expected, errors do not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "common/nbc.h"
#include "nbody6/state/energy_ledger.h"

/* Powers of two: all sums are exact. */
static const double
    START = -0.25,
    ENERGY[NB6_CHANNEL_COUNT] = {
        [NB6_CHANNEL_PAIRS] = 0x1p-20,   [NB6_CHANNEL_CHAINS] = -0x1p-21,        [NB6_CHANNEL_HIERARCHIES] = 0x1p-22,
        [NB6_CHANNEL_ESCAPED] = -0x1p-5, [NB6_CHANNEL_ESCAPED_BINDING] = 0x1p-6, [NB6_CHANNEL_MERGED] = 0x1p-3,
};
static const double ERRORS = 0x1p-20 - 0x1p-21 + 0x1p-22, TRANSFERS = -0x1p-5 + 0x1p-6 + 0x1p-3;

static void book(struct nb6_energy_ledger *ledger, int channel, double energy)
{
    assert_int_equal(nb6_ledger_book(ledger, (enum nb6_channel)channel, energy, NULL), NBC_OK);
}

static void channels_add_up(void **state)
{
    (void)state;
    struct nb6_energy_ledger ledger;
    memset(&ledger, 0xff, sizeof ledger);
    nb6_ledger_open(&ledger, START);
    assert_true(nb6_ledger_expected(&ledger) == START && nb6_ledger_known_error(&ledger) == 0);
    for (int twice = 0; twice < 2; twice++)
        for (int k = 0; k < NB6_CHANNEL_COUNT; k++) book(&ledger, k, ENERGY[k]);
    for (int k = 0; k < NB6_CHANNEL_COUNT; k++) assert_true(ledger.booked[k] == 2 * ENERGY[k]);
    assert_true(nb6_ledger_expected(&ledger) == START + 2 * TRANSFERS);
    assert_true(nb6_ledger_known_error(&ledger) == 2 * ERRORS);
    const double integration = 0x1p-30;
    assert_true(nb6_ledger_integration(&ledger, START + 2 * (TRANSFERS + ERRORS) + integration) == integration);
}

static void intervals(void **state)
{
    (void)state;
    struct nb6_energy_ledger ledger;
    nb6_ledger_open(&ledger, START);
    assert_true(nb6_ledger_interval_error(&ledger, START + 0x1p-20) == 0x1p-20);
    nb6_ledger_end_interval(&ledger, 0x1p-20);
    book(&ledger, NB6_CHANNEL_ESCAPED, -0x1p-4); /* the total falls by as much: no error */
    assert_true(nb6_ledger_interval_error(&ledger, START - 0x1p-4 + 0x1p-20) == 0);
    book(&ledger, NB6_CHANNEL_CHAINS, 0x1p-21); /* known, and yet an error */
    assert_true(nb6_ledger_interval_error(&ledger, START - 0x1p-4 + 0x1p-20 + 0x1p-21) == 0x1p-21);
    nb6_ledger_end_interval(&ledger, 0x1p-22);
    assert_true(nb6_ledger_interval_error(&ledger, START - 0x1p-4) == -0x1p-22);
}

/* The work of a galaxy in an interval, which has both signs, and no other work. */
static void work_of_an_interval(void **state)
{
    (void)state;
    struct nb6_energy_ledger ledger;
    nb6_ledger_open(&ledger, START);
    book(&ledger, NB6_CHANNEL_GALAXY, 0x1p+3);
    book(&ledger, NB6_CHANNEL_ESCAPED, -0x1p+5);
    book(&ledger, NB6_CHANNEL_GALAXY, -0x1p+3);
    assert_true(ledger.work == 0x1p+4 && ledger.booked[NB6_CHANNEL_GALAXY] == 0);
    nb6_ledger_end_interval(&ledger, 0);
    assert_true(ledger.work == 0);
    assert_int_equal(nb6_ledger_book(&ledger, NB6_CHANNEL_GALAXY, NAN, NULL), NBC_NON_FINITE);
    assert_true(ledger.work == 0);
}

/* Bookings in turns, of numbers whose sums have to be rounded: the expected result depends on each channel alone. */
static void order_does_not_matter(void **state)
{
    (void)state;
    struct nb6_energy_ledger one, other;
    nb6_ledger_open(&one, START);
    nb6_ledger_open(&other, START);
    for (int k = 0; k < NB6_CHANNEL_COUNT; k++)
        for (int n = 1; n < 100; n++) book(&one, k, (k + 1) / (7.0 + n));
    for (int n = 1; n < 100; n++)
        for (int k = NB6_CHANNEL_COUNT - 1; k >= 0; k--) book(&other, k, (k + 1) / (7.0 + n));
    assert_memory_equal(&one, &other, sizeof one);
    assert_true(nb6_ledger_expected(&one) == nb6_ledger_expected(&other));
}

static void nothing_else_is_booked(void **state)
{
    (void)state;
    static const double bad[] = {NAN, INFINITY, -INFINITY};
    struct nb6_energy_ledger ledger, before;
    nb6_ledger_open(&ledger, START);
    before = ledger;
    for (int k = 0; k < NB6_CHANNEL_COUNT; k++)
        for (int b = 0; b < 3; b++) {
            struct nbc_error err = {0};
            assert_int_equal(nb6_ledger_book(&ledger, (enum nb6_channel)k, bad[b], &err), NBC_NON_FINITE);
            assert_non_null(strstr(err.text, nb6_channel_names[k]));
        }
    assert_memory_equal(&ledger, &before, sizeof ledger);
}

static void names_differ(void **state)
{
    (void)state;
    for (int k = 0; k < NB6_CHANNEL_COUNT; k++)
        for (int m = 0; m < k; m++) assert_string_not_equal(nb6_channel_names[k], nb6_channel_names[m]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(channels_add_up),        cmocka_unit_test(intervals),
        cmocka_unit_test(work_of_an_interval),    cmocka_unit_test(order_does_not_matter),
        cmocka_unit_test(nothing_else_is_booked), cmocka_unit_test(names_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
