/* Ranks as threads: messages, collective calls, agreement on failures, the virtual network, with messages in order and
 * shuffled. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nbody6/world/collect.h"
#include "nbody6/world/threads.h"
#include "nbody6/world/world.h"

enum { MOST_RANKS = 64, ITEMS = 100 };

/* Threads of tests cannot fail a test themselves: they count what is wrong. */
struct found {
    int wrong[MOST_RANKS];
    int ran[MOST_RANKS];
};

#define EXPECT(found, world, condition) ((found)->wrong[nb6_world_rank(world)] += !(condition))

static const int sizes[] = {1, 2, 3, 5, 7, 8, 64};

/* On all numbers of ranks, with messages in order and with shuffled ones. */
static void on_all(nb6_rank_main *main)
{
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
        for (uint64_t shuffle = 0; shuffle < 3; shuffle++) {
            struct found found = {0};
            struct nbc_error err = {0};
            const struct nb6_threads_options options = {.shuffle = shuffle};
            if (nb6_world_threads_run(sizes[s], &options, main, &found, &err)) fail_msg("%s", err.text);
            for (int k = 0; k < sizes[s]; k++) {
                assert_int_equal(found.ran[k], 1);
                if (found.wrong[k]) fail_msg("%d wrong on rank %d of %d", found.wrong[k], k, sizes[s]);
            }
        }
}

/* Each rank sends two messages of one tag, and one of another tag before them, to all; they are taken in the other
 * order. */
static void pass_messages(struct nb6_world *world, void *context)
{
    struct found *found = context;
    const int rank = nb6_world_rank(world), size = nb6_world_size(world);
    const int tag = nb6_world_tag(world), other_tag = nb6_world_tag(world);
    struct nb6_message out[3 * MOST_RANKS];
    int data[3] = {rank, rank + 1000, rank + 2000};
    found->ran[rank]++;
    for (int to = 0; to < size; to++) {
        if (to == rank) continue;
        nb6_world_send(world, &out[3 * to], to, other_tag, &data[0], sizeof data[0]);
        nb6_world_send(world, &out[3 * to + 1], to, tag, &data[1], sizeof data[1]);
        nb6_world_send(world, &out[3 * to + 2], to, tag, &data[2], sizeof data[2]);
    }
    for (int from = size - 1; from >= 0; from--) {
        struct nb6_message in[3];
        int got[3] = {-1, -1, -1};
        if (from == rank) continue;
        nb6_world_receive(world, &in[0], from, tag, &got[0], sizeof got[0]);
        nb6_message_wait(world, &in[0]);
        nb6_world_receive(world, &in[1], from, tag, &got[1], sizeof got[1]);
        nb6_message_wait(world, &in[1]);
        nb6_world_receive(world, &in[2], from, other_tag, &got[2], sizeof got[2]);
        nb6_message_wait(world, &in[2]);
        EXPECT(found, world, got[0] == from + 1000 && got[1] == from + 2000 && got[2] == from);
        EXPECT(found, world, nb6_message_test(world, &in[2]));
    }
    for (int k = 0; k < 3 * size; k++)
        if (k / 3 != rank) nb6_message_wait(world, &out[k]);
}

static void messages_arrive_in_order(void **state)
{
    (void)state;
    on_all(pass_messages);
}

static void use_collectives(struct nb6_world *world, void *context)
{
    struct found *found = context;
    const int rank = nb6_world_rank(world), size = nb6_world_size(world);
    found->ran[rank]++;
    for (int64_t n = 0; n <= ITEMS; n += n < 10 ? 1 : 45) {
        int64_t all[ITEMS], mine[ITEMS], back[ITEMS], first, end;
        nb6_world_share(world, n, rank, &first, &end);
        for (int64_t k = 0; k < n; k++) all[k] = rank == 0 ? 7 * k + 1 : -1;
        nb6_world_scatter(world, n, sizeof *all, all, mine);
        for (int64_t k = first; k < end; k++) EXPECT(found, world, mine[k - first] == 7 * k + 1);
        memset(back, 0, sizeof back);
        nb6_world_gather(world, n, sizeof *all, mine, back);
        for (int64_t k = 0; k < n && rank == 0; k++) EXPECT(found, world, back[k] == 7 * k + 1);
        nb6_world_broadcast(world, all, (size_t)n * sizeof *all);
        for (int64_t k = 0; k < n; k++) EXPECT(found, world, all[k] == 7 * k + 1);
    }
    /* Above 2^53: sums in double would be wrong. */
    int64_t values[3] = {((int64_t)1 << 55) + rank, -rank, 1}, least[2] = {100 - rank, rank};
    nb6_world_sum(world, values, 3);
    nb6_world_minimum(world, least, 2);
    EXPECT(found, world, values[0] == ((int64_t)size << 55) + (int64_t)size * (size - 1) / 2);
    EXPECT(found, world, values[1] == -(int64_t)size * (size - 1) / 2 && values[2] == size);
    EXPECT(found, world, least[0] == 101 - size && least[1] == 0);
}

static void collectives_are_exact(void **state)
{
    (void)state;
    on_all(use_collectives);
}

/* Each rank has as many items as its number in a row that has zeros, too. */
static void collect_items(struct nb6_world *world, void *context)
{
    struct found *found = context;
    const int rank = nb6_world_rank(world), size = nb6_world_size(world);
    int64_t count[MOST_RANKS], before = 0, all = 0, item[4 * MOST_RANKS];
    double value[3] = {0.1 * rank, 1, 1e-17 * rank}, more[3], first[3];
    found->ran[rank]++;
    for (int r = 0; r < size; r++) {
        count[r] = r % 3 == 1 ? 0 : r % 4;
        before += r < rank ? count[r] : 0;
        all += count[r];
    }
    for (int64_t k = 0; k < all; k++) item[k] = -1;
    for (int64_t k = before; k < before + count[rank]; k++) item[k] = 100 + k;
    nb6_world_collect(world, count, sizeof *item, item);
    for (int64_t k = 0; k < all; k++) EXPECT(found, world, item[k] == 100 + k);
    int64_t go[MOST_RANKS], come[MOST_RANKS], scratch[2 * MOST_RANKS];
    for (int r = 0; r < size; r++) go[r] = 1000 * rank + r;
    nb6_world_deal(world, go, come, scratch);
    for (int r = 0; r < size; r++) EXPECT(found, world, come[r] == 1000 * r + rank);
    nb6_world_add(world, 3, value, more);
    EXPECT(found, world, fabs(value[0] - 0.05 * size * (size - 1)) < 1e-12 && value[1] == size);
    memcpy(first, value, sizeof first);
    nb6_world_broadcast(world, first, sizeof first);
    EXPECT(found, world, memcmp(first, value, sizeof first) == 0);
}

static void arrays_are_collected(void **state)
{
    (void)state;
    on_all(collect_items);
}

/* Each rank fails once alone, and once all from it on fail: all learn of the first one. */
static void fail_in_turn(struct nb6_world *world, void *context)
{
    struct found *found = context;
    const int rank = nb6_world_rank(world), size = nb6_world_size(world);
    struct nbc_error err = {0};
    found->ran[rank]++;
    EXPECT(found, world, nb6_world_agree(world, NBC_OK, &err) == NBC_OK);
    for (int bad = 0; bad < size; bad++)
        for (int more = 0; more < 2; more++) {
            char wanted[32];
            const int fails = rank == bad || (more && rank > bad);
            const int status = fails ? nbc_fail(&err, NBC_NON_FINITE + (rank > bad), "rank %d fails", rank) : NBC_OK;
            snprintf(wanted, sizeof wanted, "rank %d fails", bad);
            EXPECT(found, world, nb6_world_agree(world, status, &err) == NBC_NON_FINITE);
            EXPECT(found, world, strcmp(err.text, wanted) == 0);
            int64_t sums[2] = {rank, 1};
            const int sure = more ? NBC_OK : fails ? nbc_fail(&err, NBC_FILE, "rank %d fails", rank) : NBC_OK;
            EXPECT(found, world, nb6_world_agree_sum(world, sure, sums, 2, &err) == (more ? NBC_OK : NBC_FILE));
            EXPECT(found, world, sums[0] == (more ? size * (size - 1) / 2 : rank) && sums[1] == (more ? size : 1));
        }
}

static void failures_are_agreed_on(void **state)
{
    (void)state;
    on_all(fail_in_turn);
}

/* Rank 0 sends 1000 bytes and works for 3 s; rank 1 works for 1 s and waits. */
static void use_network(struct nb6_world *world, void *context)
{
    struct found *found = context;
    char data[1000] = {0};
    struct nb6_message message, second;
    const int tag = nb6_world_tag(world);
    found->ran[nb6_world_rank(world)]++;
    if (nb6_world_rank(world) == 0) {
        nb6_world_send(world, &message, 1, tag, data, sizeof data);
        nb6_world_send(world, &second, 1, tag, data, sizeof data);
        nb6_world_spend(world, 1, 2);
        nb6_message_wait(world, &message);
        EXPECT(found, world, nb6_world_seconds(world) == 3); /* the messages left meanwhile, at 1 s and 2 s */
        nb6_message_wait(world, &second);
    } else {
        nb6_world_receive(world, &message, 0, tag, data, sizeof data);
        nb6_world_receive(world, &second, 0, tag, data, sizeof data);
        nb6_world_spend(world, 1, 0);
        nb6_message_wait(world, &message);
        EXPECT(found, world, nb6_world_seconds(world) == 1.25); /* sent in 1 s at 1000 bytes/s, and 0.25 s on the way */
        nb6_message_wait(world, &second);
        EXPECT(found, world, nb6_world_seconds(world) == 2.25);
        nb6_world_spend(world, 0, 4);
        EXPECT(found, world, nb6_world_seconds(world) == 6.25);
    }
}

static void virtual_clocks_follow_the_network(void **state)
{
    (void)state;
    const struct nb6_network network = {.latency_s = 0.25, .bytes_per_s = 1000, .call_s = 1, .unit_s = 1, .scale = 1};
    for (uint64_t shuffle = 0; shuffle < 4; shuffle++) {
        struct found found = {0};
        struct nbc_error err = {0};
        const struct nb6_threads_options options = {.network = &network, .shuffle = shuffle};
        if (nb6_world_threads_run(2, &options, use_network, &found, &err)) fail_msg("%s", err.text);
        assert_int_equal(found.wrong[0] + found.wrong[1], 0);
    }
}

static void send_other_lengths(struct nb6_world *world, void *context)
{
    char data[8] = {0};
    struct nb6_message message;
    const int tag = nb6_world_tag(world);
    (void)context;
    if (nb6_world_rank(world) == 0)
        nb6_world_send(world, &message, 1, tag, data, 8);
    else
        nb6_world_receive(world, &message, 0, tag, data, 4);
    nb6_message_wait(world, &message);
}

static void wrong_lengths_are_found(void **state)
{
    (void)state;
    struct nbc_error err = {0};
    const struct nb6_threads_options options = {0};
    assert_int_equal(nb6_world_threads_run(2, &options, send_other_lengths, NULL, &err), NBC_INTERNAL);
}

static void no_world_is_one_rank(void **state)
{
    (void)state;
    int64_t first, end;
    assert_int_equal(nb6_world_size(NULL), 1);
    assert_int_equal(nb6_world_rank(NULL), 0);
    assert_string_equal(nb6_world_name(NULL), "alone");
    nb6_world_share(NULL, 10, 0, &first, &end);
    assert_true(first == 0 && end == 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_arrive_in_order),
        cmocka_unit_test(collectives_are_exact),
        cmocka_unit_test(arrays_are_collected),
        cmocka_unit_test(failures_are_agreed_on),
        cmocka_unit_test(virtual_clocks_follow_the_network),
        cmocka_unit_test(wrong_lengths_are_found),
        cmocka_unit_test(no_world_is_one_rank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
