/* The systems that resolve a body (state/resolvers.h): they are those with the body in their list, ascending, whatever
 * changes lists; groups of systems that resolve each other (state/groups.h); ascending lists (state/ascending.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "common/ascending.h"
#include "common/nbc.h"
#include "nbody6/state/ascending.h"
#include "nbody6/state/groups.h"
#include "nbody6/state/lists.h"
#include "nbody6/state/members.h"
#include "nbody6/state/resolvers.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "tests/support/failing_alloc.h"

enum { STARS = 24, SLOTS = 9, BODIES = STARS + SLOTS };

/* Systems of stars 2 k and 2 k + 1 without perturbers. */
static struct nb6_sim with_slots(void)
{
    struct nb6_sim sim = {.n = STARS};
    struct nb6_subsystems *p = &sim.subsystems;
    assert_true(nb6_subsystems_alloc(p, STARS, 0));
    p->n_slot = p->count = SLOTS;
    for (nb6_slot slot = 0; slot < SLOTS; slot++)
        for (int m = 0; m < 2; m++) p->system[slot].member[m] = 2 * (nb6_index)slot + m;
    nb6_groups_find(&sim);
    return sim;
}

static void set_list(struct nb6_subsystems *p, nb6_slot slot, int n, const nb6_index *body)
{
    assert_int_equal(nb6_subsystems_set_perturbers(p, slot, n, body, NULL), NBC_OK);
}

/* @param[in] is_in  whether a body is in the list of a slot */
static void assert_resolvers(const struct nb6_subsystems *p, const int is_in[SLOTS][BODIES])
{
    for (int body = 0; body < BODIES; body++) {
        nb6_slot found = nb6_resolver_first(p, body);
        int is_resolved = 0;
        for (nb6_slot slot = 0; slot < SLOTS; slot++) {
            if (!is_in[slot][body]) continue;
            assert_int_equal(found, slot);
            found = nb6_resolver_next(p, slot, body);
            is_resolved = 1;
        }
        assert_int_equal(found, NB6_NO_SLOT);
        assert_int_equal(nb6_is_resolved(p, body), is_resolved);
    }
}

static uint32_t random_bits(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 16;
}

static void follow_all_changes_of_lists(void **state)
{
    (void)state;
    static int is_in[SLOTS][BODIES];
    struct nb6_sim sim = with_slots();
    struct nb6_subsystems *p = &sim.subsystems;
    uint32_t seed = 5;
    memset(is_in, 0, sizeof is_in);
    assert_resolvers(p, (const int(*)[BODIES])is_in);
    for (int change = 0; change < 500; change++) {
        const nb6_slot slot = random_bits(&seed) % SLOTS;
        const uint32_t share = random_bits(&seed) % 5; /* 0: nobody, 4: all */
        nb6_index list[BODIES];
        int n = 0;
        for (nb6_index body = 0; body < BODIES; body++) {
            is_in[slot][body] = body != STARS + slot && random_bits(&seed) % 4 < share;
            if (is_in[slot][body]) list[n++] = body;
        }
        set_list(p, slot, n, list);
        assert_true(p->longest >= n);
        assert_resolvers(p, (const int(*)[BODIES])is_in);
        if (change % 10 > 0) continue;
        nb6_resolvers_find(p, BODIES);
        assert_resolvers(p, (const int(*)[BODIES])is_in);
    }
    nb6_subsystems_free(p);
}

/* The lowest slot that a slot is linked with, directly or by others. */
static nb6_slot leader_by_links(const struct nb6_sim *sim, nb6_slot slot)
{
    int is_in[SLOTS] = {0}, grows = 1;
    for (is_in[slot] = 1; grows;) {
        grows = 0;
        for (int a = 0; a < SLOTS; a++)
            for (int b = 0; b < SLOTS; b++)
                if (is_in[a] && !is_in[b] && nb6_slots_are_mutual(sim, a, b)) grows = is_in[b] = 1;
    }
    nb6_slot first = 0;
    while (!is_in[first]) first++;
    return first;
}

static void assert_groups(const struct nb6_sim *sim)
{
    const struct nb6_subsystems *p = &sim->subsystems;
    int64_t listed = 0;
    for (nb6_slot slot = 0; slot < SLOTS; slot++) {
        const nb6_slot leader = leader_by_links(sim, slot);
        nb6_slot next = slot + 1;
        while (next < SLOTS && leader_by_links(sim, next) != leader) next++;
        assert_int_equal(p->leader[slot], leader);
        assert_int_equal(p->follower[slot], next < SLOTS ? next : NB6_NO_SLOT);
        if (p->pert[slot].n > 0) assert_int_equal(p->listed[listed++], slot);
        if (p->pert[slot].n > 0 && leader == slot)
            assert_true(p->next[slot] == nb6_group_step_end(p, slot));
        else
            assert_true(p->next[slot] == INFINITY);
    }
    assert_int_equal(p->n_listed, listed);
}

/* Between two calls up to three lists change, and the times at which motions have come to. */
static void groups_follow_all_changes_of_lists(void **state)
{
    (void)state;
    struct nb6_sim sim = with_slots();
    struct nb6_subsystems *p = &sim.subsystems;
    uint32_t seed = 7;
    for (int change = 0; change < 500; change++) {
        for (uint32_t left = random_bits(&seed) % 4; left > 0; left--) {
            const nb6_slot slot = random_bits(&seed) % SLOTS, other = random_bits(&seed) % SLOTS;
            const uint32_t share = random_bits(&seed) % 4; /* 0: nobody */
            nb6_index list[SLOTS];
            int n = 0;
            for (nb6_index c = 0; c < SLOTS; c++)
                if (c != slot && random_bits(&seed) % 8 < share * 2) list[n++] = STARS + c;
            set_list(p, slot, n, list);
            nb6_note_motion(p, other);
            p->ks[other].t = random_bits(&seed);
        }
        nb6_groups_link(&sim);
        nb6_groups_set_next(&sim);
        assert_groups(&sim);
    }
    nb6_subsystems_free(p);
}

/* Some of the numbers below 40, ascending. */
static int64_t some_numbers(uint32_t *seed, int32_t *list)
{
    const uint32_t share = random_bits(seed) % 5;
    int64_t n = 0;
    for (int32_t k = 0; k < 40; k++)
        if (random_bits(seed) % 4 < share) list[n++] = k;
    return n;
}

static int is_in(const int32_t *list, int64_t n, int32_t value)
{
    for (int64_t k = 0; k < n; k++)
        if (list[k] == value) return 1;
    return 0;
}

static void values_come_and_go(void **state)
{
    (void)state;
    uint32_t seed = 3;
    for (int change = 0; change < 1000; change++) {
        int32_t with[40], without[40], old[40], some[40];
        const int64_t n_old = some_numbers(&seed, old), n = some_numbers(&seed, some);
        int64_t n_with = 0, n_without = 0, below = 0;
        memcpy(with, old, sizeof old);
        memcpy(without, old, sizeof old);
        const int64_t all = nb6_list_insert_some(with, n_old, n, some);
        const int64_t rest = nb6_list_remove_some(without, n_old, n, some);
        for (int32_t k = 0; k < 40; k++) {
            const int was = is_in(old, n_old, k), is = is_in(some, n, k);
            if (was || is) assert_int_equal(with[n_with++], k);
            if (was && !is) assert_int_equal(without[n_without++], k);
            assert_int_equal(nbc_first_from(old, n_old, k), below);
            assert_int_equal(nb6_list_find(old, (size_t)n_old, k), was ? below : -1);
            below += was;
        }
        assert_int_equal(all, n_with);
        assert_int_equal(rest, n_without);
    }
}

/* A table with room for more slots keeps them, and bodies in the new room have none. */
static void stay_when_tables_grow(void **state)
{
    (void)state;
    struct nb6_sim sim = with_slots();
    struct nb6_subsystems *p = &sim.subsystems;
    static const nb6_index both[2] = {3, STARS + 1};
    const int64_t more = p->capacity + 10;
    set_list(p, 0, 2, both);
    set_list(p, 4, 1, both);
    assert_true(nb6_subsystems_reserve(p, STARS, more));
    assert_int_equal(nb6_resolver_first(p, 3), 0);
    assert_int_equal(nb6_resolver_next(p, 0, 3), 4);
    assert_int_equal(nb6_resolver_next(p, 4, 3), NB6_NO_SLOT);
    assert_int_equal(nb6_resolver_first(p, STARS + 1), 0);
    for (int64_t body = BODIES; body < STARS + more; body++) assert_false(nb6_is_resolved(p, body));
    nb6_subsystems_free(p);
}

/* A list that needs more memory than there is stays, and so do the resolvers. */
static void stay_without_memory(void **state)
{
    (void)state;
    struct nb6_sim sim = with_slots();
    struct nb6_subsystems *p = &sim.subsystems;
    nb6_index all[STARS];
    if (!can_fail_alloc()) {
        nb6_subsystems_free(p);
        return;
    }
    for (nb6_index i = 0; i < STARS; i++) all[i] = i;
    set_list(p, 2, 2, all);
    fail_alloc(0);
    const int status = nb6_subsystems_set_perturbers(p, 2, STARS, all, NULL);
    fail_alloc(-1);
    assert_int_equal(status, NBC_NO_MEMORY);
    assert_int_equal(p->pert[2].n, 2);
    for (nb6_index i = 0; i < STARS; i++) assert_int_equal(nb6_resolver_first(p, i), i < 2 ? 2 : NB6_NO_SLOT);
    nb6_subsystems_free(p);
}

/* Two bodies become one in all lists with one or both of them: a new one, or one of the two, which is resolved then
 * where the other was. */
static void follow_a_replacement(void **state)
{
    (void)state;
    static const nb6_index remove[2] = {4, 7}, new_one[2][2] = {{NB6_NOBODY, STARS + 8}, {NB6_NOBODY, 4}};
    static const nb6_index first[3] = {1, 4, 9}, second[2] = {7, 9}, both[2] = {4, 7}, none[1] = {9};
    for (int c = 0; c < 2; c++) {
        int is_in[SLOTS][BODIES] = {{0}};
        struct nb6_sim sim = with_slots();
        struct nb6_subsystems *p = &sim.subsystems;
        set_list(p, 0, 2, second);
        set_list(p, 1, 3, first);
        set_list(p, 3, 2, both);
        set_list(p, 5, 1, none);
        set_list(p, 6, 3, first);
        set_list(p, 7, 2, second);
        assert_int_equal(nb6_perturbers_replace(&sim, remove, new_one[c], NULL), NBC_OK);
        is_in[1][1] = is_in[6][1] = 1;
        is_in[0][9] = is_in[1][9] = is_in[5][9] = is_in[6][9] = is_in[7][9] = 1;
        for (nb6_slot slot = 0; slot < 8; slot++) is_in[slot][new_one[c][1]] = slot != 2 && slot != 4 && slot != 5;
        assert_resolvers(p, (const int(*)[BODIES])is_in);
        nb6_subsystems_free(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(follow_all_changes_of_lists), cmocka_unit_test(groups_follow_all_changes_of_lists),
        cmocka_unit_test(values_come_and_go),          cmocka_unit_test(stay_when_tables_grow),
        cmocka_unit_test(stay_without_memory),         cmocka_unit_test(follow_a_replacement)};
    return cmocka_run_group_tests_name("resolvers", tests, NULL, NULL);
}
