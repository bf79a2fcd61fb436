/* The level scheduler against one that looks at every body every time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>

#include "nbody6/state/ascending.h"
#include "nbody6/state/body.h"
#include "nbody6/state/schedule.h"
#include "tests/support/memory_limit.h"

enum { BODIES = 300, NOWHERE = -1 };

/* Numbers for the moves: xorshift64, seeded by the test. */
static uint64_t draw(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static nb6_time slow_next(const int *level, int64_t n, nb6_time now)
{
    nb6_time next = INT64_MAX;
    for (int64_t i = 0; i < n; i++) {
        if (level[i] == NOWHERE) continue;
        nb6_time step = (nb6_time)1 << level[i], mine = (now / step + 1) * step;
        if (mine < next) next = mine;
    }
    return next;
}

static void compare(struct nb6_schedule *schedule, const int *level, int64_t n, nb6_time t)
{
    int32_t *act = malloc((size_t)n * sizeof *act);
    int64_t found = nb6_schedule_due(schedule, t, act), at = 0;
    for (int64_t i = 0; i < n; i++) {
        if (level[i] == NOWHERE || t % ((nb6_time)1 << level[i]) != 0) continue;
        assert_true(at < found);
        assert_int_equal(act[at], i);
        at++;
    }
    assert_int_equal(at, found);
    assert_int_equal(nb6_schedule_next(schedule, t), slow_next(level, n, t));
    free(act);
}

static int64_t slow_count(const int *level, int64_t n, int wanted)
{
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++) count += level[i] == wanted;
    return count;
}

static void compare_counts(const struct nb6_schedule *schedule, const int *level, int64_t n)
{
    for (int k = 0; k <= NB6_TIME_BITS; k++) assert_int_equal(nb6_schedule_count(schedule, k), slow_count(level, n, k));
}

/* Random moves, removals and returns; times with few and with many trailing zero bits, so that both small sets (sorted)
 * and large ones (a sweep over all levels) occur. */
static void random_moves(int64_t n, int lowest, int highest, uint64_t seed)
{
    struct nb6_schedule *schedule = nb6_schedule_create(n);
    int *level = malloc((size_t)n * sizeof *level);
    assert_non_null(schedule);
    for (int64_t i = 0; i < n; i++) level[i] = NOWHERE;
    for (int round = 0; round < 400; round++) {
        for (int move = 0; move < 20; move++) {
            int32_t i = (int32_t)(draw(&seed) % (uint64_t)n);
            level[i] = draw(&seed) % 5 == 0 ? NOWHERE : lowest + (int)(draw(&seed) % (uint64_t)(highest - lowest + 1));
            if (level[i] == NOWHERE)
                nb6_schedule_remove(schedule, i);
            else
                nb6_schedule_set(schedule, i, level[i]);
        }
        nb6_time t = (nb6_time)(draw(&seed) >> 20) << (draw(&seed) % 20);
        compare(schedule, level, n, round % 10 == 0 ? 0 : t);
    }
    compare_counts(schedule, level, n);
    free(level);
    nb6_schedule_free(schedule);
}

/* Room for one body at first. Bodies stay where they are as it grows, and new ones are nowhere until they are set. */
static void grows(void **state)
{
    (void)state;
    enum { N = 3000 };
    struct nb6_schedule *schedule = nb6_schedule_create(1);
    int *level = malloc(N * sizeof *level);
    uint64_t seed = 13;
    int64_t n_max = 1;
    assert_non_null(schedule);
    for (int32_t i = 0; i < N; i++) {
        if (i == n_max) {
            n_max += n_max / 2 + 1;
            assert_int_equal(nb6_schedule_reserve(schedule, n_max), 1);
            compare(schedule, level, i, 0);
        }
        level[i] = 10 + (int)(draw(&seed) % 15);
        nb6_schedule_set(schedule, i, level[i]);
        int32_t other = (int32_t)(draw(&seed) % (uint64_t)(i + 1));
        level[other] = NOWHERE;
        nb6_schedule_remove(schedule, other);
    }
    assert_int_equal(nb6_schedule_reserve(schedule, 1), 1); /* it never shrinks */
    nb6_schedule_remove(schedule, (int32_t)n_max - 1);
    for (int k = 10; k <= 25; k++) compare(schedule, level, N, (nb6_time)1 << k);
    compare_counts(schedule, level, N);
    free(level);
    nb6_schedule_free(schedule);
}

/* More memory at each attempt, so that each of the allocations is once the one that fails. */
static void no_memory_changes_nothing(void **state)
{
    (void)state;
    enum { LARGE = 1 << 20 };
    struct nb6_schedule *schedule = nb6_schedule_create(BODIES);
    int level[BODIES], failures = 0, done = 0, can_fail = can_limit_memory();
    uint64_t seed = 17;
    assert_non_null(schedule);
    for (int32_t i = 0; i < BODIES; i++) nb6_schedule_set(schedule, i, level[i] = (int)(draw(&seed) % 12));
    assert_int_equal(nb6_schedule_reserve(schedule, INT64_MAX), 0); /* more bytes than a size_t counts */
    for (size_t more = 0; can_fail && !done; more += (size_t)1 << 20) {
        assert_int_equal(limit_memory(more), 0);
        done = nb6_schedule_reserve(schedule, LARGE);
        unlimit_memory();
        failures += !done;
        compare(schedule, level, BODIES, 1 << 5);
        compare(schedule, level, BODIES, 0);
    }
    assert_true(!done || failures > 7); /* 9 bytes a body */
    if (done) nb6_schedule_set(schedule, LARGE - 1, 0);
    assert_int_equal(nb6_schedule_count(schedule, 0), done + slow_count(level, BODIES, 0));
    nb6_schedule_free(schedule);
}

static void against_brute_force(void **state)
{
    (void)state;
    random_moves(BODIES, 0, NB6_TIME_BITS, 1);
    random_moves(BODIES, 0, 6, 2);
    random_moves(BODIES, 20, 30, 3);
    random_moves(2, 0, NB6_TIME_BITS, 4);
    random_moves(1, 38, NB6_TIME_BITS, 5);
}

/* Many lines of levels, with a tenth of all bodies due, all, none. */
static void many_bodies(void **state)
{
    (void)state;
    enum { N = 5000 };
    struct nb6_schedule *schedule = nb6_schedule_create(N);
    int *level = malloc(N * sizeof *level);
    uint64_t seed = 7;
    assert_non_null(schedule);
    for (int32_t k = 0; k < N; k++) {
        int32_t i = (int32_t)(((int64_t)k * 3001) % N); /* 3001 is coprime to 5000: lists are in a mixed order */
        level[i] = draw(&seed) % 10 == 0 ? 10 : 25;
        nb6_schedule_set(schedule, i, level[i]);
    }
    compare(schedule, level, N, (nb6_time)3 << 10);
    compare(schedule, level, N, (nb6_time)1 << 25);
    compare(schedule, level, N, 1);
    free(level);
    nb6_schedule_free(schedule);
}

static void empty_and_ends(void **state)
{
    (void)state;
    struct nb6_schedule *schedule = nb6_schedule_create(3);
    int32_t act[3];
    assert_non_null(schedule);
    assert_int_equal(nb6_schedule_next(schedule, 0), INT64_MAX);
    assert_int_equal(nb6_schedule_due(schedule, 0, act), 0);
    nb6_schedule_set(schedule, 2, NB6_TIME_BITS);
    assert_int_equal(nb6_schedule_next(schedule, 0), (nb6_time)1 << NB6_TIME_BITS);
    assert_int_equal(nb6_schedule_due(schedule, 0, act), 1);
    nb6_schedule_set(schedule, 0, 0);
    assert_int_equal(nb6_schedule_next(schedule, 0), 1);
    assert_int_equal(nb6_schedule_due(schedule, 1, act), 1);
    assert_int_equal(act[0], 0);
    nb6_schedule_remove(schedule, 0);
    nb6_schedule_remove(schedule, 0); /* twice is as good as once */
    assert_int_equal(nb6_schedule_count(schedule, 0), 0);
    /* the last tick that a run can reach, 4e6 units and more */
    nb6_time late = ((nb6_time)1 << 62) - 1;
    assert_int_equal(nb6_schedule_next(schedule, late), (nb6_time)1 << 62);
    nb6_schedule_free(schedule);
}

/* A run in small: members of each block move as the driver moves them, and none is ever late or forgotten. */
static void block_steps(void **state)
{
    (void)state;
    enum { N = 50 };
    struct nb6_schedule *schedule = nb6_schedule_create(N);
    int level[N];
    nb6_time last[N] = {0}, now = 0;
    int32_t act[N];
    uint64_t seed = 11;
    assert_non_null(schedule);
    for (int32_t i = 0; i < N; i++) nb6_schedule_set(schedule, i, level[i] = (int)(draw(&seed) % 12));
    for (int block = 0; block < 20000; block++) {
        nb6_time t = nb6_schedule_next(schedule, now);
        int64_t n = nb6_schedule_due(schedule, t, act);
        assert_true(n > 0 && t > now);
        for (int64_t k = 0; k < n; k++) {
            int32_t i = act[k];
            assert_int_equal(last[i] + ((nb6_time)1 << level[i]), t);
            last[i] = t;
            int wanted = (int)(draw(&seed) % 12);
            if (wanted < level[i])
                level[i] = wanted;
            else if (wanted > level[i] && t % ((nb6_time)2 << level[i]) == 0)
                level[i]++;
            nb6_schedule_set(schedule, i, level[i]);
        }
        now = t;
    }
    for (int i = 0; i < N; i++) assert_true(last[i] + ((nb6_time)1 << level[i]) > now);
    nb6_schedule_free(schedule);
}

static int order(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Those that are sorted by insertion alone, and long ones, with equal numbers, as the C library sorts them. */
static void lists_are_sorted(void **state)
{
    (void)state;
    enum { MOST = 5000 };
    static const int64_t lengths[] = {0, 1, 2, 31, 32, 63, 64, 65, 129, 1000, MOST};
    int32_t *list = malloc(2 * MOST * sizeof *list), *sorted = list + MOST;
    uint64_t seed = 5;
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        for (int64_t m = 0; m < lengths[k]; m++) sorted[m] = list[m] = (int32_t)(draw(&seed) % MOST);
        qsort(sorted, (size_t)lengths[k], sizeof *sorted, order);
        nb6_list_sort(list, lengths[k]);
        for (int64_t m = 0; m < lengths[k]; m++) assert_int_equal(list[m], sorted[m]);
    }
    free(list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(against_brute_force),
        cmocka_unit_test(many_bodies),
        cmocka_unit_test(empty_and_ends),
        cmocka_unit_test(block_steps),
        cmocka_unit_test(grows),
        cmocka_unit_test(no_memory_changes_nothing),
        cmocka_unit_test(lists_are_sorted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
