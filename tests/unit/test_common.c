/* Status codes, errors, memory, cpu features and the clock. */
#include "common/line.h"
#include "common/nbc.h"
#include "tests/support/environment.h"
#include "tests/support/test_size.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#if TEST_SANITIZED
/* Blocks that are too large are what is tested here: the sanitizer must not stop at them. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}
#endif

static void status_table(void **state)
{
    (void)state;
    static const struct {
        int status, number, exit_code;
        const char *name;
    } rows[] = {
        {NBC_OK, 0, 0, "NBC_OK"},
        {NBC_NB_OVERFLOW, 1, 1, "NBC_NB_OVERFLOW"},
        {NBC_BAD_ARGUMENT, 2, 1, "NBC_BAD_ARGUMENT"},
        {NBC_NO_MEMORY, 3, 6, "NBC_NO_MEMORY"},
        {NBC_NON_FINITE, 4, 1, "NBC_NON_FINITE"},
        {NBC_BAD_STATE, 5, 1, "NBC_BAD_STATE"},
        {NBC_BAD_INPUT, 6, 2, "NBC_BAD_INPUT"},
        {NBC_ENERGY, 7, 3, "NBC_ENERGY"},
        {NBC_FILE, 8, 4, "NBC_FILE"},
        {NBC_DEVICE, 9, 5, "NBC_DEVICE"},
        {NBC_UNAVAILABLE, 10, 5, "NBC_UNAVAILABLE"},
        {NBC_INTERNAL, 11, 1, "NBC_INTERNAL"},
    };
    enum { ROWS = sizeof rows / sizeof rows[0] };
    for (int k = 0; k < ROWS; k++) {
        assert_int_equal(rows[k].status, rows[k].number);
        assert_string_equal(nbc_status_name(rows[k].status), rows[k].name);
        assert_int_equal(nbc_status_exit_code(rows[k].status), rows[k].exit_code);
        assert_true(strlen(nbc_status_text(rows[k].status)) > 0);
    }
    /* A number that the list above does not know has to be added to it. */
    assert_string_equal(nbc_status_name(ROWS), "NBC_?");
    assert_string_equal(nbc_status_name(-1), "NBC_?");
    assert_int_equal(nbc_status_exit_code(12345), 1);
    assert_string_equal(nbc_status_text(12345), "unknown status");
}

static void failures_are_recorded(void **state)
{
    (void)state;
    struct nbc_error err = {0};
    assert_int_equal(nbc_fail(&err, NBC_FILE, "%s: line %d", "cluster.inp", 7), NBC_FILE);
    assert_int_equal(err.status, NBC_FILE);
    assert_string_equal(err.text, "cluster.inp: line 7");
    assert_int_equal(nbc_fail(&err, NBC_DEVICE, "again"), NBC_DEVICE);
    assert_string_equal(err.text, "again");
    assert_int_equal(nbc_fail(NULL, NBC_BAD_INPUT, "nobody listens %d", 1), NBC_BAD_INPUT);
}

static void long_failures_are_cut(void **state)
{
    (void)state;
    struct {
        struct nbc_error err;
        char guard[8];
    } place = {.guard = "guard"};
    char text[2 * sizeof place.err.text];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    nbc_fail(&place.err, NBC_INTERNAL, "%s", text);
    assert_int_equal(strlen(place.err.text), sizeof place.err.text - 1);
    assert_string_equal(place.guard, "guard");
}

static int is_aligned(const void *memory)
{
    return (uintptr_t)memory % 64 == 0;
}

/* Aligned, zero, and writable up to the next multiple of 64 bytes (a sanitizer watches). */
static void blocks_are_aligned_and_zero(void **state)
{
    (void)state;
    for (size_t bytes = 0; bytes < 300; bytes++) {
        size_t padded = (bytes + 63) / 64 * 64;
        /* The old content of the block must not show. */
        unsigned char *dirty = nbc_alloc(bytes, 1);
        assert_non_null(dirty);
        memset(dirty, 0xab, padded);
        nbc_free(dirty);
        unsigned char *memory = nbc_alloc(1, bytes);
        assert_non_null(memory);
        assert_true(is_aligned(memory));
        for (size_t k = 0; k < padded; k++) assert_int_equal(memory[k], 0);
        memset(memory, 0xcd, padded);
        nbc_free(memory);
    }
    nbc_free(NULL);
}

static void sizes_that_overflow(void **state)
{
    (void)state;
    volatile size_t huge = SIZE_MAX; /* volatile: not for the compiler to warn about */
    assert_null(nbc_alloc(huge, 2));
    assert_null(nbc_alloc(2, huge));
    assert_null(nbc_alloc(huge / 8 + 2, 8));
    assert_null(nbc_alloc(huge, 1));
    assert_null(nbc_alloc(huge - 63, 1));
    assert_null(nbc_alloc((size_t)1 << 33, (size_t)1 << 33));
}

static void reallocation_keeps_and_clears(void **state)
{
    (void)state;
    int32_t *memory = nbc_realloc(NULL, 0, 10, sizeof *memory);
    assert_non_null(memory);
    for (int k = 0; k < 10; k++) memory[k] = k + 1;
    memory = nbc_realloc(memory, 10, 1000, sizeof *memory);
    assert_non_null(memory);
    assert_true(is_aligned(memory));
    for (int k = 0; k < 1000; k++) assert_int_equal(memory[k], k < 10 ? k + 1 : 0);
    memory = nbc_realloc(memory, 1000, 4, sizeof *memory);
    assert_non_null(memory);
    for (int k = 0; k < 4; k++) assert_int_equal(memory[k], k + 1);
    nbc_free(memory);
}

static void failed_reallocation_keeps_the_old_block(void **state)
{
    (void)state;
    volatile size_t huge = SIZE_MAX / 2;
    int32_t *memory = nbc_alloc(4, sizeof *memory);
    memory[3] = 42;
    assert_null(nbc_realloc(memory, 4, huge, sizeof *memory));
    assert_int_equal(memory[3], 42);
    nbc_free(memory);
}

static void tables_grow_and_keep_their_entries(void **state)
{
    (void)state;
    enum { FEWEST = 16, N = 1000 };
    volatile int64_t huge = INT64_MAX / 2;
    int32_t *table = NULL;
    int64_t room = 0, allocations = 0;
    for (int64_t n = 1; n <= N; n++) {
        const int64_t before = room;
        assert_true(nbc_grow(&table, &room, n, sizeof *table));
        assert_true(room >= n && (room <= 2 * n || room == FEWEST));
        allocations += room != before;
        for (int64_t k = before; k < room; k++) assert_int_equal(table[k], 0);
        table[n - 1] = (int32_t)n;
    }
    assert_int_equal(allocations, 7); /* 16 times 2^6 are more than N */
    assert_false(nbc_grow(&table, &room, huge, sizeof *table));
    for (int k = 0; k < N; k++) assert_int_equal(table[k], k + 1);
    nbc_free(table);
}

/* Hiding an instruction set does not change what the processor has; a set that it lacks is not reported as hidden. */
static void instruction_sets(void **state)
{
    (void)state;
    char *kept = keep_variable("NBC_ISA");
    int levels = 0;
    for (; nbc_isa_name(levels); levels++) assert_non_null(nbc_isa_text(levels));
    assert_int_equal(levels, 3);
    assert_null(nbc_isa_name(-1));
    for (int limit = -2; limit < levels; limit++) {
        for (int level = 0; level < levels; level++) {
            set_variable("NBC_ISA", NULL);
            const char *lacking = nbc_isa_missing((enum nbc_isa)level);
            set_variable("NBC_ISA", limit == -2 ? NULL : limit == -1 ? "" : nbc_isa_name(limit));
            const char *missing = nbc_isa_missing((enum nbc_isa)level);
            if (lacking)
                assert_string_equal(missing, lacking);
            else if (limit >= 0 && level > limit)
                assert_non_null(strstr(missing, "hidden by the environment variable NBC_ISA"));
            else
                assert_null(missing);
            assert_int_equal(nbc_isa_check(NULL), NBC_OK);
        }
    }
    assert_null(nbc_isa_missing(NBC_ISA_BASELINE));
    restore_variable("NBC_ISA", kept);
}

static void isa_levels_follow_each_other(void **state)
{
    (void)state;
    for (int level = 1; nbc_isa_name(level); level++) /* each processor with the one has the other */
        assert_true(nbc_isa_missing((enum nbc_isa)level) || !nbc_isa_missing((enum nbc_isa)(level - 1)));
#if !defined(__x86_64__)
    assert_non_null(nbc_isa_missing(NBC_ISA_AVX2));
#endif
}

static void no_such_isa(void **state)
{
    (void)state;
    char *kept = keep_variable("NBC_ISA");
    struct nbc_error err = {0};
    set_variable("NBC_ISA", "AVX2"); /* letters count */
    assert_int_equal(nbc_isa_check(&err), NBC_BAD_ARGUMENT);
    assert_non_null(strstr(err.text, "NBC_ISA is 'AVX2'; it must be avx512, avx2 or baseline"));
    assert_non_null(nbc_isa_missing(NBC_ISA_AVX2));
    assert_non_null(nbc_isa_missing(NBC_ISA_AVX512));
    assert_null(nbc_isa_missing(NBC_ISA_BASELINE));
    restore_variable("NBC_ISA", kept);
}

static void clock_runs_forward(void **state)
{
    (void)state;
    double start = nbc_wtime(), now = start;
    assert_true(start >= 0);
    for (int k = 0; k < 10000000 && now == start; k++) {
        now = nbc_wtime();
        assert_true(now >= start);
    }
    assert_true(now > start);
}

static void memory_of_the_machine(void **state)
{
    (void)state;
    uint64_t bytes = nbc_memory_bytes();
    assert_true(bytes == 0 || bytes > 16u << 20); /* nothing that runs this has less than 16 MiB */
}

static void long_lines_are_cut(void **state)
{
    (void)state;
    struct nbc_line line = {.used = 0};
    nbc_line_add(&line, "%d stars", 12);
    nbc_line_add(&line, ", %s", "no more");
    assert_string_equal(line.text, "12 stars, no more");
    for (int k = 0; k < 200; k++) nbc_line_add(&line, " and %d", 100 + k);
    assert_int_equal(line.used, sizeof line.text - 1);
    assert_int_equal(strlen(line.text), line.used);
}

static void who_wants_quiet(void **state)
{
    (void)state;
    char *kept = keep_variable("NBC_QUIET");
    static const char *const values[] = {NULL, "", "0", "1", "yes"};
    static const int quiet[] = {0, 0, 0, 1, 1};
    for (int k = 0; k < 5; k++) {
        set_variable("NBC_QUIET", values[k]);
        assert_string_equal(nbc_variable("NBC_QUIET"), values[k] ? values[k] : "");
        assert_int_equal(nbc_is_quiet(), quiet[k]);
    }
    restore_variable("NBC_QUIET", kept);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(status_table),
        cmocka_unit_test(failures_are_recorded),
        cmocka_unit_test(long_failures_are_cut),
        cmocka_unit_test(blocks_are_aligned_and_zero),
        cmocka_unit_test(sizes_that_overflow),
        cmocka_unit_test(reallocation_keeps_and_clears),
        cmocka_unit_test(failed_reallocation_keeps_the_old_block),
        cmocka_unit_test(tables_grow_and_keep_their_entries),
        cmocka_unit_test(instruction_sets),
        cmocka_unit_test(isa_levels_follow_each_other),
        cmocka_unit_test(no_such_isa),
        cmocka_unit_test(clock_runs_forward),
        cmocka_unit_test(memory_of_the_machine),
        cmocka_unit_test(long_lines_are_cut),
        cmocka_unit_test(who_wants_quiet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
