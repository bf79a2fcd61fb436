/* The team of threads: every part of every run once, from any calling thread, for any number of parts, also within a
 * part, from several threads at once, beside processes that take the processors away, and in a child of fork. */
#include "common/select.h"
#include "common/team.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <omp.h>
#include <pthread.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 40 };

struct tally {
    int parts;
    int64_t seen[MOST]; /* runs of each part */
    int64_t sum;        /* of what was there before the run */
    int64_t shared;     /* written by the caller before each run, by no part */
};

static void count(void *context, int part, int parts)
{
    struct tally *t = context;
    if (part >= 0 && part < MOST && parts == t->parts) t->seen[part]++;
    __atomic_fetch_add(&t->sum, t->shared, __ATOMIC_RELAXED);
}

/* Runs of all numbers of parts in turn.   @return whether each part ran once in each */
static int all_parts_run(int runs, int most)
{
    for (int k = 0; k < runs; k++) {
        struct tally t = {.parts = 1 + k % most, .shared = k};
        nbc_team_run(t.parts, count, &t);
        for (int p = 0; p < MOST; p++)
            if (t.seen[p] != (p < t.parts)) return 0;
        if (t.sum != (int64_t)t.parts * k) return 0;
    }
    return 1;
}

static void every_part_once(void **state)
{
    (void)state;
    assert_true(all_parts_run(20000, 4));
    assert_true(all_parts_run(400, MOST)); /* many more threads than processors */
    assert_true(all_parts_run(2000, 3));
}

/* Long enough between two runs for all to sleep. */
static void sleepers_come_back(void **state)
{
    (void)state;
    const struct timespec pause = {0, 5000000};
    for (int k = 0; k < 20; k++) {
        nanosleep(&pause, NULL);
        assert_true(all_parts_run(3, 4));
    }
}

static void run_within(void *context, int part, int parts)
{
    int *good = context;
    (void)parts;
    if (nbc_team_size() == 1 && all_parts_run(5, 3)) __atomic_fetch_add(&good[part], 1, __ATOMIC_RELAXED);
}

static void within_a_part(void **state)
{
    (void)state;
    int good[4] = {0};
    nbc_team_run(4, run_within, good);
    for (int p = 0; p < 4; p++) assert_int_equal(good[p], 1);
    assert_int_equal(nbc_team_size(), omp_get_max_threads());
}

static void *call_often(void *result)
{
    *(int *)result = all_parts_run(3000, 4);
    return NULL;
}

static void several_callers(void **state)
{
    (void)state;
    pthread_t thread[3];
    int good[3] = {0};
    for (int k = 0; k < 3; k++) assert_int_equal(pthread_create(&thread[k], NULL, call_often, &good[k]), 0);
    for (int k = 0; k < 3; k++) assert_int_equal(pthread_join(thread[k], NULL), 0);
    for (int k = 0; k < 3; k++) assert_true(good[k]);
}

static void child_of_fork(void **state)
{
    (void)state;
    assert_true(all_parts_run(10, 4));
    const pid_t child = fork();
    if (child == 0) _exit(all_parts_run(100, 4) ? 0 : 1);
    int status = -1;
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_true(all_parts_run(10, 4));
}

static void shares(void **state)
{
    (void)state;
    for (int64_t n = 0; n < 50; n++)
        for (int parts = 1; parts < 8; parts++) {
            int64_t next = 0, first, end;
            for (int part = 0; part < parts; part++) {
                nbc_range(n, part, parts, &first, &end);
                assert_int_equal(first, next);
                assert_true(end - first == n / parts || end - first == n / parts + 1);
                next = end;
            }
            assert_int_equal(next, n);
        }
    omp_set_num_threads(6);
    assert_int_equal(nbc_parts(0, 10), 1);
    assert_int_equal(nbc_parts(19, 10), 1);
    assert_int_equal(nbc_parts(20, 10), 2);
    assert_int_equal(nbc_parts(1000, 10), 6);
}

/* Parts that wait for the part before, in whichever thread it runs. */
struct row {
    struct nbc_queue queue;
    int32_t n, done;
    int64_t sum;
};

static void in_turn(void *context, int part, int parts)
{
    struct row *row = context;
    (void)part, (void)parts;
    for (int64_t k; (k = nbc_take(&row->queue)) < row->n;) {
        nbc_await(&row->done, (int32_t)k);
        row->sum = 3 * row->sum + k; /* one at a time, in order: no other piece is at work */
        row->sum %= 1000003;
        __atomic_store_n(&row->done, (int32_t)k + 1, __ATOMIC_RELEASE);
    }
}

static void pieces_in_order(void **state)
{
    (void)state;
    int64_t sum = 0;
    for (int64_t k = 0; k < 2000; k++) sum = (3 * sum + k) % 1000003;
    for (int parts = 1; parts <= MOST; parts += parts < 4 ? 1 : 12) {
        struct row row = {.n = 2000};
        nbc_team_run(parts, in_turn, &row);
        assert_int_equal(row.done, row.n);
        assert_int_equal(row.sum, sum);
    }
}

static int is_every_third_or_late(const void *context, int64_t k)
{
    return k % 3 == 1 || k >= *(const int64_t *)context;
}

/* The numbers that one thread would find, in its order: of none, one, some and many things, few and all wanted. */
static void select_is_ordered(void **state)
{
    (void)state;
    enum { MOST_THINGS = 100000 };
    static int32_t found[MOST_THINGS];
    const int64_t sizes[] = {0, 1, 2, 63, 64, 65, 1000, MOST_THINGS};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int64_t late = 0; late <= sizes[s]; late += sizes[s] / 3 + 1) {
            const int64_t n = nbc_select(sizes[s], 16, is_every_third_or_late, &late, found);
            int64_t expected = 0;
            for (int64_t k = 0; k < sizes[s]; k++)
                if (is_every_third_or_late(&late, k)) assert_int_equal(found[expected++], k);
            assert_int_equal(n, expected);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(select_is_ordered),
        cmocka_unit_test(every_part_once),
        cmocka_unit_test(sleepers_come_back),
        cmocka_unit_test(within_a_part),
        cmocka_unit_test(several_callers),
        cmocka_unit_test(child_of_fork),
        cmocka_unit_test(shares),
        cmocka_unit_test(pieces_in_order),
    };
    omp_set_num_threads(4);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
