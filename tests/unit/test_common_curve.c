/* The Hilbert curve: the keys of its first form, written out here, and what makes it such a curve. */
#include "common/curve.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PASSED = 5 }; /* bits an axis of a curve that is passed from end to end */

struct cell {
    uint32_t c[3];
};

static uint64_t state = 1;

static uint32_t below(uint32_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % n;
}

static struct cell some_cell(int bits)
{
    struct cell cell;
    for (int k = 0; k < 3; k++) cell.c[k] = below(1u << bits);
    return cell;
}

static uint64_t key(const struct cell *cell, int bits)
{
    return nbc_hilbert_key64(cell->c[0], cell->c[1], cell->c[2], bits);
}

/* Skilling's loops with a branch for each bit, and a key of one bit after the other. */
static uint64_t plain_key(struct cell cell, int bits)
{
    uint32_t *c = cell.c, flip = 0;
    for (uint32_t bit = 1u << (bits - 1); bit > 1; bit >>= 1)
        for (int k = 0; k < 3; k++) {
            const uint32_t swap = (c[0] ^ c[k]) & (bit - 1);
            if (c[k] & bit) {
                c[0] ^= bit - 1;
            } else {
                c[0] ^= swap;
                c[k] ^= swap;
            }
        }
    c[1] ^= c[0];
    c[2] ^= c[1];
    for (uint32_t bit = 1u << (bits - 1); bit > 1; bit >>= 1)
        if (c[2] & bit) flip ^= bit - 1;
    uint64_t made = 0;
    for (int b = bits - 1; b >= 0; b--)
        for (int k = 0; k < 3; k++) made = made << 1 | ((c[k] ^ flip) >> b & 1u);
    return made;
}

static void like_plain_form(void **unused)
{
    (void)unused;
    for (int bits = 1; bits <= NBC_HILBERT_BITS_64; bits++)
        for (int n = 0; n < 20000; n++) {
            const struct cell cell = some_cell(bits);
            assert_int_equal(key(&cell, bits), plain_key(cell, bits));
        }
}

/* Of the form that GPUs had before processors and GPUs had one. */
static void stored_keys(void **unused)
{
    (void)unused;
    static const struct {
        struct cell cell;
        uint32_t key;
    } ten[] = {
        {{{0, 0, 0}}, 0},
        {{{1023, 1023, 1023}}, 766958445},
        {{{0, 0, 1023}}, 153391689},
        {{{512, 511, 512}}, 867621741},
        {{{517, 3, 998}}, 901170562},
        {{{100, 200, 300}}, 124266514},
        {{{1023, 0, 512}}, 939524095},
        {{{341, 682, 341}}, 413305384},
    };
    for (size_t n = 0; n < sizeof ten / sizeof *ten; n++) assert_int_equal(key(&ten[n].cell, 10), ten[n].key);
}

/* Each cell has a key of its own, and cells with keys that follow each other touch. */
static void passes_all_cells(void **unused)
{
    (void)unused;
    static struct cell at[1 << 3 * MOST_PASSED];
    static char seen[1 << 3 * MOST_PASSED];
    for (int bits = 1; bits <= MOST_PASSED; bits++) {
        const uint32_t side = 1u << bits, cells = 1u << 3 * bits;
        memset(seen, 0, sizeof seen);
        for (uint32_t n = 0; n < cells; n++) {
            const struct cell cell = {{n / side / side, n / side % side, n % side}};
            const uint64_t place = key(&cell, bits);
            assert_true(place < cells);
            assert_int_equal(seen[place]++, 0);
            at[place] = cell;
        }
        for (uint32_t n = 1; n < cells; n++) {
            int distance = 0;
            for (int k = 0; k < 3; k++) distance += abs((int)at[n].c[k] - (int)at[n - 1].c[k]);
            assert_int_equal(distance, 1);
        }
    }
}

/* The same where there are too many cells to pass all: cells beside a cell, one of which comes next. */
static void touches_next(void **unused)
{
    (void)unused;
    for (int bits = MOST_PASSED + 1; bits <= NBC_HILBERT_BITS_64; bits++)
        for (int n = 0; n < 2000; n++) {
            const struct cell cell = some_cell(bits);
            const uint64_t place = key(&cell, bits);
            int next = place == ((uint64_t)1 << 3 * bits) - 1;
            for (int side = 0; side < 6; side++) {
                struct cell beside = cell;
                beside.c[side / 2] += side % 2 ? 1u : ~0u;
                if (beside.c[side / 2] >> bits) continue;
                next += key(&beside, bits) == place + 1;
            }
            assert_int_equal(next, 1);
        }
}

/* A cell of twice the size has the key of its eight cells without the last three bits. */
static void cells_of_twice_the_size(void **unused)
{
    (void)unused;
    for (int bits = 2; bits <= NBC_HILBERT_BITS_64; bits++)
        for (int n = 0; n < 5000; n++) {
            const struct cell cell = some_cell(bits);
            const struct cell large = {{cell.c[0] >> 1, cell.c[1] >> 1, cell.c[2] >> 1}};
            assert_int_equal(key(&cell, bits) >> 3, key(&large, bits - 1));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(like_plain_form),         cmocka_unit_test(stored_keys),
        cmocka_unit_test(passes_all_cells),        cmocka_unit_test(touches_next),
        cmocka_unit_test(cells_of_twice_the_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
