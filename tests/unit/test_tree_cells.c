/* The cells of a tree: which bodies are where, for distributions that are hard on keys, and the same for any number of
 * threads; boxes, masses and radii after moments have been made. */
#include "gpunb/gpunb.h"
#include "gpunb/tree/cells.h"
#include "gpunb/tree/tree.h"
#include "tests/support/test_size.h"

#include <float.h>
#include <math.h>
#include <omp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- bodies */

enum scene {
    CUBE,   /* at random */
    STRAY,  /* one body at 10^10 */
    NESTED, /* clusters within each other, each a thousandth of the one before */
    POINT,  /* all in one point */
    HEAP,   /* a tenth in one point */
    POWERS, /* at powers of two along the diagonal, to 2^-60 and back to 2^49 */
    LINE,   /* evenly on a line */
    GRID,   /* on a lattice, whose planes are those of cells */
    PAIRS,  /* each body has another one at 10^-15 */
    STEPS,  /* next to each other as doubles are */
    DEEP,   /* each body halves the distance of the one before: to 2^-1000 */
    N_SCENES
};
static const char *const names[N_SCENES] = {"cube", "stray", "nested", "point", "heap", "powers",
                                            "line", "grid",  "pairs",  "steps", "deep"};

static uint64_t random_state;

/* Uniform in [0, 1): xorshift64. */
static double uniform(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (double)(random_state >> 11) * 0x1p-53;
}

static void place(enum scene scene, size_t i, size_t n, double x[3])
{
    const size_t side = (size_t)cbrt((double)n) + 1;
    for (int k = 0; k < 3; k++) x[k] = uniform();
    if (scene == STRAY && i == n / 3) x[0] = 1e10;
    if (scene == POINT || (scene == HEAP && i % 10 == 7)) x[0] = x[1] = x[2] = 0.3;
    for (int k = 0; k < 3; k++) {
        if (scene == NESTED) x[k] = 0.7 + (x[k] - 0.5) * pow(1e-3, (double)(i % 5));
        if (scene == POWERS) x[k] = ldexp(i % 3 == 2 ? -1 : 1, (int)(i % 110) - 60);
        if (scene == LINE) x[k] = k == 1 ? (double)i / (double)n : 0;
        if (scene == PAIRS) x[k] = (double)(i / 2 * (size_t)(k + 3) % 1009) + (i % 2 ? 1e-15 : 0);
        if (scene == STEPS) x[k] = 1 + (double)(i * (size_t)(2 * k + 1) % 257) * 0x1p-52;
        if (scene == DEEP) x[k] = k == 0 ? ldexp(1, -(int)(i % 1000)) : 0;
    }
    if (scene == GRID) {
        x[0] = (double)(i % side);
        x[1] = (double)(i / side % side);
        x[2] = (double)(i / side / side);
    }
}

static double (*make_bodies(enum scene scene, size_t n))[3]
{
    double(*x)[3] = calloc(n, sizeof *x);
    assert_non_null(x);
    random_state = 88172645463325252u + n;
    for (size_t i = 0; i < n; i++) place(scene, i, n, x[i]);
    return x;
}

/* ---- invariants */

static int is_one_point(const struct tree_cells *t, const struct tree_cell *cell, const double (*x)[3])
{
    for (int32_t p = 1; p < cell->count; p++)
        if (memcmp(x[t->number[cell->first]], x[t->number[cell->first + p]], sizeof x[0]) != 0) return 0;
    return 1;
}

/* Each body has one place. */
static void check_order(const struct tree_cells *t)
{
    unsigned char *seen = calloc(t->n, 1);
    assert_non_null(seen);
    for (size_t p = 0; p < t->n; p++) {
        assert_true(t->number[p] >= 0 && (size_t)t->number[p] < t->n);
        assert_false(seen[t->number[p]]++);
    }
    free(seen);
}

/* Parts follow each other, are not empty, and hold the bodies of their cell in the order of places. */
static void check_parts(const struct tree_cells *t, size_t c)
{
    const struct tree_cell *cell = &t->cell[c];
    int32_t at = cell->first;
    assert_true(cell->n_child == 0 || (cell->n_child >= 2 && cell->n_child <= 8));
    for (int32_t p = 0; p < cell->n_child; p++) {
        const struct tree_cell *part = &t->cell[cell->child + p];
        assert_int_equal(part->first, at);
        assert_true(part->count > 0);
        at += part->count;
    }
    if (cell->n_child > 0) assert_int_equal(at, cell->first + cell->count);
}

/* Cells of a level are the parts of the level above, in its order. */
static void check_levels(const struct tree_cells *t)
{
    size_t next = 1;
    assert_int_equal(t->level[0], 0);
    assert_int_equal(t->level[1], 1);
    for (int l = 0; l < t->n_levels; l++) {
        assert_int_equal(t->level[l + 1], next);
        for (size_t c = t->level[l]; c < t->level[l + 1]; c++) {
            if (t->cell[c].n_child == 0) continue;
            assert_int_equal(t->cell[c].child, next);
            next += (size_t)t->cell[c].n_child;
        }
    }
    assert_int_equal(next, t->level[t->n_levels]); /* nothing is below the last level */
}

static void check_cells(const struct tree_cells *t, const double (*x)[3], int leaf)
{
    assert_int_equal(t->cell[0].first, 0);
    assert_int_equal(t->cell[0].count, t->n);
    check_order(t);
    check_levels(t);
    assert_true(t->n_levels <= TREE_LEVELS);
    for (size_t c = 0; c < t->level[t->n_levels]; c++) {
        const struct tree_cell *cell = &t->cell[c];
        const int is_deepest = t->n_levels == TREE_LEVELS && c >= t->level[TREE_LEVELS - 1];
        check_parts(t, c);
        if (cell->n_child == 0)
            assert_true(cell->count <= leaf || is_one_point(t, cell, x) || is_deepest);
        else
            assert_true(cell->count > leaf);
    }
}

static struct tree_cells make_cells(size_t n, const double (*x)[3], int leaf)
{
    struct tree_cells t = {0};
    double seconds[3] = {0};
    assert_int_equal(tree_make_cells(&t, n, x, 0, leaf, 0, seconds), NBC_OK);
    return t;
}

static void assert_same_cells(const struct tree_cells *a, const struct tree_cells *b)
{
    assert_int_equal(a->n_levels, b->n_levels);
    assert_memory_equal(a->level, b->level, ((size_t)a->n_levels + 1) * sizeof a->level[0]);
    assert_memory_equal(a->number, b->number, a->n * sizeof a->number[0]);
    for (size_t c = 0; c < a->level[a->n_levels]; c++) {
        const struct tree_cell *p = &a->cell[c], *q = &b->cell[c];
        assert_true(p->first == q->first && p->count == q->count && p->n_child == q->n_child);
        assert_true(p->n_child == 0 || p->child == q->child);
    }
}

/* ---- tests */

static void check_scene(enum scene scene, size_t n, int leaf)
{
    const int threads = omp_get_max_threads();
    double(*x)[3] = make_bodies(scene, n);
    print_message("%s, %zu bodies, leaf %d\n", names[scene], n, leaf);
    omp_set_num_threads(1);
    struct tree_cells one = make_cells(n, (const double(*)[3])x, leaf);
    check_cells(&one, (const double(*)[3])x, leaf);
    for (int t = 2; t <= 4; t *= 2) {
        omp_set_num_threads(t);
        struct tree_cells other = make_cells(n, (const double(*)[3])x, leaf);
        assert_same_cells(&one, &other);
        tree_free_cells(&other);
    }
    omp_set_num_threads(threads);
    tree_free_cells(&one);
    free(x);
}

static void scenes(void **state)
{
    (void)state;
    static const int leaves[] = {1, 8, 32};
    for (int scene = 0; scene < DEEP; scene++)
        for (size_t k = 0; k < sizeof leaves / sizeof leaves[0]; k++) check_scene((enum scene)scene, 3000, leaves[k]);
}

static void few_bodies(void **state)
{
    (void)state;
    for (int scene = 0; scene < N_SCENES; scene++)
        for (size_t n = 1; n <= 9; n += n < 3 ? 1 : 2)
            for (int leaf = 1; leaf <= 4; leaf += 3) check_scene((enum scene)scene, n, leaf);
}

/* Deeper than cells go: the last level has what is left. */
static void deep(void **state)
{
    (void)state;
    check_scene(DEEP, 120, 1);
    check_scene(DEEP, 900, 8);
}

/* Enough bodies that all threads take part, 10^4 of them in one point. */
static void many_bodies(void **state)
{
    (void)state;
    const size_t n = (size_t)test_size(100000, 20000);
    check_scene(HEAP, n, 32);
    check_scene(STRAY, n, 16);
    check_scene(NESTED, n, 16);
}

/* Memory is used again for other bodies, more and fewer. */
static void made_again(void **state)
{
    (void)state;
    static const size_t sizes[] = {100, 5000, 3, 2000};
    struct tree_cells t = {0};
    double seconds[3] = {0};
    for (int scene = 0; scene < DEEP; scene++)
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
            double(*x)[3] = make_bodies((enum scene)scene, sizes[s]);
            struct tree_cells fresh = make_cells(sizes[s], (const double(*)[3])x, 16);
            assert_int_equal(tree_make_cells(&t, sizes[s], (const double(*)[3])x, 0, 16, 0, seconds), NBC_OK);
            check_cells(&t, (const double(*)[3])x, 16);
            assert_same_cells(&t, &fresh);
            tree_free_cells(&fresh);
            free(x);
        }
    for (int k = 0; k < 3; k++) assert_true(seconds[k] >= 0);
    tree_free_cells(&t);
}

/* ---- boxes */

static void check_box(const struct gpunb_tree *tree, const struct tree_cell *cell)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, mass = 0, sum[3] = {0};
    for (int32_t p = cell->first; p < cell->first + cell->count; p++) {
        double r2 = 0;
        mass += tree->mass[p];
        for (int k = 0; k < 3; k++) {
            const double d = tree->x[p][k] - cell->centre[k];
            low[k] = fmin(low[k], tree->x[p][k]);
            high[k] = fmax(high[k], tree->x[p][k]);
            sum[k] += tree->mass[p] * d;
            r2 += d * d;
        }
        assert_true(sqrt(r2) <= cell->radius * (1 + 1e-14)); /* roundings of the distances of levels */
    }
    assert_memory_equal(low, cell->low, sizeof low);
    assert_memory_equal(high, cell->high, sizeof high);
    /* A sum of n roundings of 1e-16, and of a centre far from the origin */
    assert_true(fabs(mass - cell->mass) <= 1e-16 * (cell->count + 10) * mass);
    for (int k = 0; k < 3; k++)
        assert_true(fabs(sum[k]) <= 1e-15 * (cell->count + 10) * mass * (cell->radius + fabs(cell->centre[k])));
    if (memcmp(low, high, sizeof low) == 0) assert_true(cell->radius == 0);
}

/* Nodes say what cells say, in float, and no radius is rounded down. */
static void check_node(const struct gpunb_tree *tree, size_t c)
{
    const struct tree_cell *cell = &tree->cells.cell[c];
    const struct tree_node *node = &tree->node[c];
    assert_memory_equal(node->centre, cell->centre, sizeof node->centre);
    assert_memory_equal(&node->rest, &cell->rest, sizeof node->rest);
    assert_true(node->first == cell->first && node->count == cell->count && node->n_child == cell->n_child);
    assert_true(node->n_child == 0 || node->child == cell->child);
    assert_true(node->mass == (float)(cell->mass / tree->cells.cell[0].mass));
    /* Below what floats have, a radius may be 0: a point is as good */
    if (cell->radius > FLT_MIN) assert_true(node->radius >= cell->radius && node->radius <= cell->radius * 1.00001);
}

static gpunb_t *make_handle(size_t n, int leaf)
{
    const struct gpunb_options options = {.backend = "ref", .theta = 0.5, .leaf = leaf};
    struct nbc_error err = {0};
    gpunb_t *h = NULL;
    if (gpunb_create(&h, n, &options, &err) != NBC_OK) fail_msg("%s", err.text);
    return h;
}

/* Bodies as those of the scene, then all of them exchanged at random in the same cells. */
static void boxes(void **state)
{
    (void)state;
    enum { N = 2000 };
    double *mass = calloc(N, sizeof *mass);
    assert_non_null(mass);
    for (int scene = 0; scene < N_SCENES; scene++) {
        double(*x)[3] = make_bodies((enum scene)scene, N), (*moved)[3] = make_bodies((enum scene)scene, N);
        gpunb_t *h = make_handle(N, 8);
        gpunb_tree_t *tree = NULL;
        for (size_t i = 0; i < N; i++) {
            mass[i] = i % 7 == 0 ? 0 : 1 + uniform();
            memcpy(moved[i], x[i * 733 % N], sizeof moved[i]);
        }
        print_message("boxes: %s\n", names[scene]);
        assert_int_equal(gpunb_send_positions(h, N, mass, (const double(*)[3])x), NBC_OK);
        assert_int_equal(gpunb_tree_build(h, &tree), NBC_OK);
        for (int renewed = 0; renewed < 2; renewed++) {
            for (size_t c = 0; c < tree->cells.level[tree->cells.n_levels]; c++) {
                check_box(tree, &tree->cells.cell[c]);
                check_node(tree, c);
            }
            assert_int_equal(gpunb_send_positions(h, N, mass, (const double(*)[3])moved), NBC_OK);
            assert_int_equal(gpunb_tree_renew(h, tree), NBC_OK);
        }
        gpunb_tree_free(tree);
        gpunb_free(h);
        free(x);
        free(moved);
    }
    free(mass);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scenes),      cmocka_unit_test(few_bodies), cmocka_unit_test(deep),
        cmocka_unit_test(many_bodies), cmocka_unit_test(made_again), cmocka_unit_test(boxes),
    };
    return cmocka_run_group_tests_name("cells of a tree", tests, NULL, NULL);
}
