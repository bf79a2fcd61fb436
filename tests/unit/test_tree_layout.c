/* Layouts of trees: columns from cells and back, on the host and on an emulated device; columns that are of no tree. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

#include "common/nbc.h"
#include "gpunb/tree/layout.h"
#include "gpunb/tree_kept.h"

enum { N = 3000, LEAF = 5 };

static const double SOFTENING = 0.02;

static double uniform(void)
{
    static uint64_t state = 88172645463325252u;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (double)(state >> 11) * 0x1p-53;
}

/* Bodies in space, a tenth of them in one point, some in clumps so small that one key does not tell them apart. */
static void make_bodies(double (*x)[3])
{
    for (int i = 0; i < N; i++)
        for (int k = 0; k < 3; k++) {
            x[i][k] = i % 10 == 3 ? 0.25 : uniform();
            if (i % 7 == 2) x[i][k] = 0.75 + 1e-9 * uniform();
        }
}

static void make_columns(const struct tree_cells *cells, int32_t *order, uint8_t *cut)
{
    int32_t level[TREE_LEVELS + 1];
    for (int l = 0; l <= cells->n_levels; l++) level[l] = (int32_t)cells->level[l];
    memcpy(order, cells->number, cells->n * sizeof *order);
    tree_layout_cuts(cells->cell, cells->n_levels, level, cells->n, cut);
}

static void cells_come_back(void **state)
{
    (void)state;
    static double x[N][3];
    static int32_t order[N];
    static uint8_t cut[N];
    static const size_t sizes[] = {N, 1, 2, LEAF, LEAF + 1};
    double seconds[3] = {0};
    make_bodies(x);
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        struct tree_cells made = {0}, back = {0};
        assert_int_equal(tree_make_cells(&made, sizes[s], (const double(*)[3])x, 0, LEAF, 0, seconds), NBC_OK);
        make_columns(&made, order, cut);
        assert_int_equal(tree_layout_order_flaw(sizes[s], order), sizes[s]);
        assert_int_equal(tree_layout_cut_flaw(sizes[s], cut), sizes[s]);
        assert_int_equal(tree_layout_restore(&back, sizes[s], order, cut), NBC_OK);
        assert_int_equal(back.n_levels, made.n_levels);
        assert_memory_equal(back.level, made.level, (size_t)(made.n_levels + 1) * sizeof *made.level);
        assert_memory_equal(back.number, made.number, sizes[s] * sizeof *made.number);
        for (size_t c = 0; c < made.level[made.n_levels]; c++) {
            const struct tree_cell *a = &made.cell[c], *b = &back.cell[c];
            assert_true(a->first == b->first && a->count == b->count && a->n_child == b->n_child);
            assert_true(a->n_child == 0 || a->child == b->child);
        }
        assert_true(sizes[s] < N || made.n_levels > 4);
        tree_free_cells(&made);
        tree_free_cells(&back);
    }
}

/* The same tree, whatever number its first body has. */
static void bodies_may_be_numbered_from_any_one(void **state)
{
    (void)state;
    static double x[N][3], turned[N][3];
    const int origin = 1234; /* number of the first body among those that are turned */
    double seconds[3] = {0};
    struct tree_cells a = {0}, b = {0};
    make_bodies(x);
    for (int i = 0; i < N; i++) memcpy(turned[(i + origin) % N], x[i], sizeof x[i]);
    assert_int_equal(tree_make_cells(&a, N, (const double(*)[3])x, 0, LEAF, 0, seconds), NBC_OK);
    assert_int_equal(tree_make_cells(&b, N, (const double(*)[3])turned, 0, LEAF, origin, seconds), NBC_OK);
    for (int p = 0; p < N; p++) assert_int_equal((a.number[p] + origin) % N, b.number[p]);
    tree_free_cells(&a);
    tree_free_cells(&b);
}

static void wrong_columns_are_refused(void **state)
{
    (void)state;
    enum { FEW = 20 };
    static const struct {
        const char *what;
        int place, value, flaw;
    } wrong[] = {{"a part begins before all bodies", 0, 0, 0},
                 {"a cell of one part", 12, 5, FEW - 1},
                 {"nine parts", 19, 0, 19}};
    struct tree_cells back = {0};
    int32_t order[FEW];
    uint8_t cut[FEW];
    for (size_t w = 0; w < sizeof wrong / sizeof wrong[0]; w++) {
        for (int p = 0; p < FEW; p++) {
            order[p] = FEW - 1 - p;
            cut[p] = p > 0 && p % 2 == 0 && p < 16 ? 0 : TREE_NO_CUT; /* 8 parts: as many as there may be */
        }
        assert_int_equal(tree_layout_cut_flaw(FEW, cut), FEW);
        if (wrong[w].value == 5) memset(cut, TREE_NO_CUT, sizeof cut);
        cut[wrong[w].place] = (uint8_t)wrong[w].value;
        assert_int_equal(tree_layout_cut_flaw(FEW, cut), wrong[w].flaw);
        assert_int_equal(tree_layout_restore(&back, FEW, order, cut), NBC_BAD_ARGUMENT);
    }
    memset(cut, TREE_NO_CUT, sizeof cut);
    assert_int_equal(tree_layout_restore(&back, FEW, order, cut), NBC_OK);
    order[7] = order[3];
    assert_int_equal(tree_layout_order_flaw(FEW, order), 7);
    order[7] = FEW;
    assert_int_equal(tree_layout_order_flaw(FEW, order), 7);
    order[7] = -1;
    assert_int_equal(tree_layout_restore(&back, FEW, order, cut), NBC_BAD_ARGUMENT);
    tree_free_cells(&back);
}

/* ---- the calls of a handle */

static void must(gpunb_t *h, int status)
{
    if (status) fail_msg("%s", gpunb_last_error(h));
}

/* A tree that was restored has the bits of the one whose layout it has, after both were renewed; all bodies have moved
 * meanwhile. */
static void a_restored_tree_has_the_same_forces(void **state)
{
    (void)state;
    static double x[N][3], mass[N], acc[2][N][3], pot[2][N];
    static int32_t self[N], order[N], again[N];
    static uint8_t cut[N], cut_again[N];
    static const char *const backends[] = {"portable", "ref", "emulated"};
    for (int b = 0; b < 3; b++) {
        const struct gpunb_options options = {
            .backend = backends[b], .force_error = 1e-3, .leaf = LEAF, .walk = GPUNB_WALK_HYBRID};
        struct nbc_error err = {0};
        gpunb_t *h = NULL;
        gpunb_tree_t *tree[2] = {NULL, NULL};
        assert_int_equal(gpunb_create(&h, N, &options, &err), NBC_OK);
        make_bodies(x);
        for (int i = 0; i < N; i++) {
            mass[i] = 1.0 / N;
            self[i] = i;
        }
        assert_int_equal(gpunb_tree_create(h, &tree[1]), NBC_OK);
        assert_int_equal(gpunb_tree_get_layout(h, tree[1], order, cut), NBC_BAD_STATE);
        must(h, gpunb_send_positions(h, N, mass, (const double(*)[3])x));
        assert_int_equal(gpunb_tree_renew(h, tree[1]), NBC_BAD_ARGUMENT);
        must(h, gpunb_tree_build(h, &tree[0]));
        must(h, gpunb_tree_get_layout(h, tree[0], order, cut));
        must(h, gpunb_tree_restore(h, tree[1], N, order, cut));
        for (int i = 0; i < N; i++)
            for (int k = 0; k < 3; k++) x[i][k] += 0.05 * uniform();
        must(h, gpunb_send_positions(h, N, mass, (const double(*)[3])x));
        for (int t = 0; t < 2; t++) {
            const struct gpunb_softened_job job = {.n_i = N,
                                                   .x = (const double(*)[3])x,
                                                   .self = self,
                                                   .softening = SOFTENING,
                                                   .acc = acc[t],
                                                   .pot = pot[t]};
            must(h, gpunb_tree_renew(h, tree[t]));
            must(h, gpunb_tree_force(h, tree[t], &job));
            must(h, gpunb_tree_get_layout(h, tree[t], again, cut_again));
            assert_memory_equal(order, again, sizeof order);
            assert_memory_equal(cut, cut_again, sizeof cut);
        }
        assert_memory_equal(acc[0], acc[1], sizeof acc[0]);
        assert_memory_equal(pot[0], pot[1], sizeof pot[0]);
        order[0] = order[1];
        assert_int_equal(gpunb_tree_restore(h, tree[1], N, order, cut), NBC_BAD_ARGUMENT);
        assert_non_null(strstr(gpunb_last_error(h), "no tree of 3000 bodies has this layout"));
        assert_int_equal(gpunb_tree_renew(h, tree[1]), NBC_BAD_STATE);
        must(h, gpunb_tree_rebuild(h, 0, tree[1]));
        for (int t = 0; t < 2; t++) gpunb_tree_free(tree[t]);
        gpunb_free(h);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_come_back),
        cmocka_unit_test(bodies_may_be_numbered_from_any_one),
        cmocka_unit_test(wrong_columns_are_refused),
        cmocka_unit_test(a_restored_tree_has_the_same_forces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
