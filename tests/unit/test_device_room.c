/* Room for targets of rounds on a device (engine/stages/room.h, gpunb/device/regular.h), for all numbers of stars and
 * of GPUs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gpunb/device/regular.h"
#include "nbody6/engine/stages/room.h"

enum { MOST_GPUS = 8 };
static const int64_t MOST_STARS = 1 << 22;

static int64_t chunks_of(int64_t n)
{
    return (n + NB6_DEV_LANES - 1) / NB6_DEV_LANES;
}

/* A round that had a part of a group of targets would share the group with the next round: targets would be summed
 * twice or not at all. So it was with 300000 stars and one GPU, which have room for 3579. */
static void rounds_have_whole_groups(void **state)
{
    (void)state;
    int64_t before = NB6_DEVICE_MOST_TARGETS;
    for (int64_t n = 1; n <= MOST_STARS; n += 1 + n / 100) {
        const int64_t targets = nb6_device_targets(chunks_of(n));
        assert_int_equal(targets % NB6_DEVICE_PAIRED_TARGETS, 0);
        assert_in_range(targets, NB6_DEVICE_LEAST_TARGETS, before);
        before = targets;
    }
    assert_int_equal(nb6_device_targets(chunks_of(300000)), 3579 / 64 * 64);
    assert_int_equal(nb6_device_targets(0), NB6_DEVICE_MOST_TARGETS);
}

/* Of fewer stars than there is room for, too, as after escapes, which may be more in a round. */
static void what_they_find_has_room(void **state)
{
    (void)state;
    for (int64_t room = 1; room <= MOST_STARS; room += 1 + room / 10)
        for (int64_t n = 1; n <= room; n += 1 + n / 10) {
            const uint64_t chunks = (uint64_t)chunks_of(n);
            assert_true((uint64_t)nb6_device_targets((int64_t)chunks) * chunks <=
                        nb6_device_found_room((size_t)chunks_of(room)));
        }
}

/* The same of GPUNB's rounds. */
static void forces_have_room(void **state)
{
    (void)state;
    for (int64_t gpus = 1; gpus <= MOST_GPUS; gpus++)
        for (int64_t n = 1; n <= MOST_STARS; n += 1 + n / 100) {
            const int64_t round = gpunb_dev_round(n, gpus);
            assert_int_equal(round % GPUNB_DEV_PAIR_TARGETS, 0);
            assert_in_range(round, GPUNB_DEV_LEAST_ROUND, GPUNB_DEV_MOST_ROUND);
            assert_true(round * chunks_of(n) <= gpunb_dev_found_room(n, gpus));
            for (int64_t m = 1; m <= n; m += 1 + m / 3) {
                const int64_t each = gpunb_dev_each(m, round);
                assert_int_equal(each % GPUNB_DEV_PAIR_TARGETS, 0);
                assert_in_range(each, 1, round);
                assert_true(gpunb_dev_groups(m, n) * GPUNB_DEV_GROUP <= m);
            }
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rounds_have_whole_groups),
                                       cmocka_unit_test(what_they_find_has_room), cmocka_unit_test(forces_have_room)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
