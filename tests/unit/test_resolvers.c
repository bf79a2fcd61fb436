/* The systems that resolve a body (state/resolvers.h): they are those with the body in their list, ascending, whatever
 * changes lists. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdint.h>
#include <string.h>

#include "common/nbc.h"
#include "nbody6/state/lists.h"
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
    assert_true(nb6_subsystems_alloc(p, STARS));
    p->n_slot = p->count = SLOTS;
    for (nb6_slot slot = 0; slot < SLOTS; slot++)
        for (int m = 0; m < 2; m++) p->system[slot].member[m] = 2 * (nb6_index)slot + m;
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(follow_all_changes_of_lists),
                                       cmocka_unit_test(stay_when_tables_grow), cmocka_unit_test(stay_without_memory),
                                       cmocka_unit_test(follow_a_replacement)};
    return cmocka_run_group_tests_name("resolvers", tests, NULL, NULL);
}
