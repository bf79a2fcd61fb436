/* Items of all ranks come to each rank: all of them, once, in sets whose slots are in the order of owners, with and
 * without room for the accumulation; while sets come, others are worked with. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "nbody6/world/spread.h"
#include "nbody6/world/threads.h"
#include "nbody6/world/world.h"

enum { MOST_RANKS = 33, MOST_ITEMS = 200, MOST_SETS = 2 * MOST_RANKS };

struct item {
    int64_t number, check;
};

/* Threads of tests cannot fail a test themselves: they count what is wrong. */
struct scene {
    int64_t n;
    size_t room;
    int wrong[MOST_RANKS];
    double finished[MOST_RANKS]; /* on the clocks of a virtual network */
    struct nb6_spread_counts counts;
};

struct seen {
    struct nb6_world *world;
    struct nb6_spread *spread;
    int64_t n;
    int times[MOST_ITEMS];
    int wrong;
};

static int64_t checked(int64_t number)
{
    return 1000003 * number + 17;
}

static void look_at(void *context, const struct nb6_spread_set *set, const void *items)
{
    struct seen *seen = context;
    const struct item *item = items;
    int64_t k = 0;
    for (int o = 0; o < set->owners; o++) {
        int64_t first, end;
        nb6_world_share(seen->world, seen->n, (set->first + o) % nb6_world_size(seen->world), &first, &end);
        for (int64_t number = first; number < end; number++, k++) {
            seen->wrong += item[k].number != number || item[k].check != checked(number);
            seen->times[number]++;
        }
    }
    seen->wrong += k != set->n || k > nb6_spread_most(seen->spread);
    nb6_world_spend(seen->world, 1, (double)set->owners);
    nb6_spread_move_on(seen->spread);
}

/* Sets of a slot come in the order of owners, and so do the slots. */
static int count_disorder(const struct nb6_spread *spread)
{
    const struct nb6_spread_set *sets;
    const int count = nb6_spread_sets(spread, &sets);
    int wrong = 0, last = -1;
    for (int slot = 0; slot < nb6_spread_slots(spread); slot++) {
        int found = 0;
        for (int k = 0; k < count; k++)
            if (sets[k].slot == slot) {
                wrong += sets[k].first <= last;
                last = sets[k].first;
                found = 1;
            }
        wrong += !found;
    }
    return wrong;
}

static void spread_items(struct nb6_world *world, void *context)
{
    struct scene *scene = context;
    const int rank = nb6_world_rank(world);
    struct seen seen = {.world = world, .n = scene->n};
    struct nbc_error err = {0};
    int64_t first, end;
    if (nb6_spread_open(&seen.spread, world, scene->n, sizeof(struct item), scene->room, NULL, &err)) {
        scene->wrong[rank]++;
        return;
    }
    seen.wrong += count_disorder(seen.spread);
    nb6_world_share(world, scene->n, rank, &first, &end);
    for (int run = 1; run <= 2; run++) {
        struct item *own = nb6_spread_own(seen.spread);
        for (int64_t k = first; k < end; k++) own[k - first] = (struct item){k, checked(k)};
        nb6_spread_run(seen.spread, look_at, &seen);
        for (int64_t k = 0; k < scene->n; k++) seen.wrong += seen.times[k] != run;
    }
    scene->wrong[rank] += seen.wrong;
    scene->finished[rank] = nb6_world_seconds(world);
    if (rank == 0) nb6_spread_get_counts(seen.spread, &scene->counts);
    nb6_spread_close(seen.spread);
}

static void run(struct scene *scene, int size, const struct nb6_threads_options *options)
{
    struct nbc_error err = {0};
    if (nb6_world_threads_run(size, options, spread_items, scene, &err)) fail_msg("%s", err.text);
    for (int k = 0; k < size; k++)
        if (scene->wrong[k])
            fail_msg("%d wrong on rank %d of %d, %lld items, room %zu", scene->wrong[k], k, size, (long long)scene->n,
                     scene->room);
}

static void all_items_come_once(void **state)
{
    (void)state;
    const int64_t numbers[] = {0, 1, 5, 64, MOST_ITEMS};
    const size_t rooms[] = {0, 2 * 30 * sizeof(struct item), 1 << 20};
    for (int size = 1; size <= 17; size++)
        for (size_t n = 0; n < sizeof numbers / sizeof numbers[0]; n++)
            for (size_t room = 0; room < sizeof rooms / sizeof rooms[0]; room++) {
                struct scene scene = {.n = numbers[n], .room = rooms[room]};
                const struct nb6_threads_options options = {.shuffle = n % 2 ? (uint64_t)size : 0};
                run(&scene, size, &options);
            }
}

/* @return messages that a rank sends */
static uint64_t messages(int size, size_t room)
{
    struct scene scene = {.n = MOST_ITEMS, .room = room};
    run(&scene, size, &(struct nb6_threads_options){0});
    return scene.counts.messages / 2;
}

static void accumulation_takes_few_messages(void **state)
{
    (void)state;
    const size_t share = (MOST_ITEMS + 15) / 16 * sizeof(struct item);
    const int sizes[] = {2, 3, 5, 8, 16, 33}, logarithms[] = {1, 2, 3, 3, 4, 6};
    for (int k = 0; k < 6; k++) assert_int_equal(messages(sizes[k], 1 << 20), logarithms[k]);
    assert_int_equal(messages(16, 0), 15);        /* a ring of all */
    assert_int_equal(messages(16, 2 * share), 8); /* units of two: one stage, seven turns */
    assert_int_equal(messages(16, 4 * share), 5);
}

/* A rank sums for 1 s for each owner; messages take 0.9 s for each of those. If all is in turn, a run takes 8 + 7 x 0.9
 * s; beside the sums, all but nothing. */
static void sums_and_messages_overlap(void **state)
{
    (void)state;
    enum { RANKS = 8, SHARE = 25 };
    const struct nb6_network network = {
        .latency_s = 0.001, .bytes_per_s = SHARE * sizeof(struct item) / 0.9, .unit_s = 1, .scale = 1};
    const size_t rooms[] = {0, 1 << 20};
    for (int k = 0; k < 2; k++) {
        struct scene scene = {.n = (int64_t)RANKS * SHARE, .room = rooms[k]};
        run(&scene, RANKS, &(struct nb6_threads_options){.network = &network});
        /* All sums but that of the last set are made while messages are under way. */
        assert_int_equal(scene.counts.beside, scene.counts.works - 2);
        /* Two runs. In a stage as many owners come as are summed in all: own sums, 1 s, hide the first message, and of
         * each later one as much as the set before had: 0.8 s of 1.8 s and 1.6 s of 3.6 s are waited for. */
        const double waited = k == 0 ? 0 : 0.8 + 1.6;
        for (int r = 0; r < RANKS; r++) {
            assert_true(scene.finished[r] >= 2 * 8.0);
            assert_true(scene.finished[r] < 2 * (8.0 + waited) + 0.1); /* latencies */
            assert_true(scene.finished[r] < 2 * (8 + 7 * 0.9) - 3);    /* what it takes one after another */
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_items_come_once),
        cmocka_unit_test(accumulation_takes_few_messages),
        cmocka_unit_test(sums_and_messages_overlap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
