/* Nearest neighbours against a search through all pairs, and the cases in which trees go wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <omp.h>
#include <string.h>

#include "common/nbc.h"
#include "nbody6/state/kdtree.h"
#include "nbody6/state/nearest.h"

enum { N_MAX = 40000, K_MAX = 128 };
static double x[N_MAX][3];

static double random_number(void)
{
    static uint64_t s = 88172645463325252u; /* xorshift64 */
    s ^= s << 13;
    s ^= s >> 7;
    s ^= s << 17;
    return (double)(s >> 11) * 0x1p-53;
}

/* Dense in the middle, as clusters are. */
static void make_points(int n)
{
    for (int i = 0; i < n; i++) {
        const double scale = pow(random_number(), 3.0);
        for (int d = 0; d < 3; d++) x[i][d] = scale * (random_number() - 0.5);
    }
}

static double distance2(const double a[3], const double b[3])
{
    const double dx = a[0] - b[0], dy = a[1] - b[1], dz = a[2] - b[2];
    return dx * dx + dy * dy + dz * dz;
}

/* The k nearest by insertion into a list ordered by (r2, index). */
static int search_all(int n, const double place[3], int64_t exclude, int k, int64_t *index, double *r2)
{
    int found = 0;
    for (int j = 0; j < n; j++) {
        const double d2 = distance2(x[j], place);
        if (j == exclude || (found == k && d2 >= r2[k - 1])) continue;
        int at = found < k ? found++ : k - 1;
        for (; at > 0 && r2[at - 1] > d2; at--) {
            r2[at] = r2[at - 1];
            index[at] = index[at - 1];
        }
        r2[at] = d2;
        index[at] = j;
    }
    return found;
}

static nb6_kdtree_t *build(int n)
{
    nb6_kdtree_t *tree = NULL;
    assert_int_equal(nb6_kdtree_build(n, (const double(*)[3])x, &tree, NULL), NBC_OK);
    return tree;
}

/* Both searches form squared distances by the same operations: equality, not a tolerance. */
static void compare_with_search_all(int n, int k)
{
    static int64_t index[N_MAX * 8];
    static double r2[N_MAX * 8];
    nb6_kdtree_t *tree = build(n);
    assert_true((int64_t)n * k <= N_MAX * 8);
    assert_int_equal(nb6_kdtree_neighbours(tree, k, index, r2, NULL), NBC_OK);
    for (int i = 0; i < n; i++) {
        int64_t want_index[K_MAX];
        double want_r2[K_MAX];
        const int found = search_all(n, x[i], i, k, want_index, want_r2);
        for (int j = 0; j < k; j++) {
            assert_int_equal(index[i * k + j], j < found ? want_index[j] : -1);
            assert_true(r2[i * k + j] == (j < found ? want_r2[j] : INFINITY));
        }
    }
    nb6_kdtree_free(tree);
}

static void random_points(void **state)
{
    (void)state;
    const int n[] = {1, 2, 7, 12, 13, 24, 25, 26, 49, 1000, 2500}, k[] = {1, 6, 20, 100};
    for (int a = 0; a < 11; a++) {
        make_points(n[a]);
        for (int b = 0; b < 4; b++) compare_with_search_all(n[a], k[b]);
    }
}

/* Ties at every distance: the smaller index comes first, whatever the tree looks like. */
static void lattice(void **state)
{
    (void)state;
    for (int i = 0; i < 1000; i++) {
        x[i][0] = (i * 7) % 10;
        x[i][1] = i / 10 % 10;
        x[i][2] = i / 100;
    }
    compare_with_search_all(1000, 6);
    compare_with_search_all(1000, 27);
}

static void coincident_and_flat(void **state)
{
    (void)state;
    memset(x, 0, sizeof x);
    compare_with_search_all(300, 6);
    for (int i = 0; i < 300; i++) x[i][1] = i % 3; /* three heaps on a line */
    compare_with_search_all(300, 6);
    for (int i = 0; i < 300; i++) x[i][2] = 1e-300 * i; /* squares underflow */
    compare_with_search_all(300, 6);
}

static void far_from_the_origin(void **state)
{
    (void)state;
    make_points(1500);
    for (int i = 0; i < 1500; i++) x[i][0] = x[i][0] * 1e-9 + 1e6;
    compare_with_search_all(1500, 6);
}

static void any_place(void **state)
{
    (void)state;
    make_points(2000);
    nb6_kdtree_t *tree = build(2000);
    for (int i = 0; i < 500; i++) {
        double place[3], r2[10], want_r2[10];
        int64_t index[10], want_index[10];
        for (int d = 0; d < 3; d++) place[d] = 4.0 * (random_number() - 0.5);
        assert_int_equal(nb6_kdtree_nearest(tree, place, -1, 10, index, r2), 10);
        search_all(2000, place, -1, 10, want_index, want_r2);
        assert_memory_equal(index, want_index, sizeof index);
        assert_memory_equal(r2, want_r2, sizeof r2);
    }
    nb6_kdtree_free(tree);
}

/* Large enough to be built by several threads. */
static void threads_do_not_matter(void **state)
{
    (void)state;
    struct nb6_nearest *nearest[3];
    make_points(N_MAX);
    const int before = omp_get_max_threads();
    for (int threads = 1; threads <= 3; threads++) {
        omp_set_num_threads(threads);
        assert_int_equal(nb6_nearest_find(N_MAX, (const double(*)[3])x, &nearest[threads - 1], NULL), NBC_OK);
    }
    omp_set_num_threads(before);
    for (int k = 1; k < 3; k++) {
        assert_memory_equal(nearest[0]->r2, nearest[k]->r2, N_MAX * sizeof *nearest[0]->r2);
        assert_memory_equal(nearest[0]->order, nearest[k]->order, N_MAX * sizeof *nearest[0]->order);
    }
    for (int k = 0; k < 3; k++) nb6_nearest_free(nearest[k]);
}

/* A shared search result has the rows of the search, an order of all, and the positions that it is of. */
static void found_once(void **state)
{
    (void)state;
    enum { N = 500 };
    struct nb6_nearest *nearest = NULL;
    struct nbc_error err = {0};
    int seen[N] = {0};
    make_points(N);
    assert_int_equal(nb6_nearest_find(N, (const double(*)[3])x, &nearest, &err), NBC_OK);
    for (int i = 0; i < N; i++) {
        int64_t index[NB6_NEAREST_KEPT];
        double r2[NB6_NEAREST_KEPT];
        search_all(N, x[i], i, NB6_NEAREST_KEPT, index, r2);
        assert_memory_equal(nearest->index[i], index, sizeof index);
        assert_memory_equal(nearest->r2[i], r2, sizeof r2);
        seen[nearest->order[i]]++;
    }
    for (int i = 0; i < N; i++) assert_int_equal(seen[i], 1);
    assert_true(nb6_nearest_is_of(nearest, N, (const double(*)[3])x));
    assert_false(nb6_nearest_is_of(nearest, N - 1, (const double(*)[3])x));
    x[N - 1][2] = nextafter(x[N - 1][2], 10);
    assert_false(nb6_nearest_is_of(nearest, N, (const double(*)[3])x));
    assert_false(nb6_nearest_is_of(NULL, N, (const double(*)[3])x));
    nb6_nearest_free(nearest);
    assert_int_equal(nb6_nearest_find(2, (const double(*)[3])x, &nearest, &err), NBC_OK);
    assert_true(nearest->index[0][0] == 1 && nearest->index[0][1] == -1 && nearest->r2[0][1] == INFINITY);
    nb6_nearest_free(nearest);
    assert_int_equal(nb6_nearest_find(0, (const double(*)[3])x, &nearest, &err), NBC_BAD_ARGUMENT);
    assert_null(nearest);
}

static void refusals(void **state)
{
    (void)state;
    nb6_kdtree_t *tree = NULL;
    struct nbc_error err = {0};
    int64_t index[6];
    make_points(6);
    assert_int_equal(nb6_kdtree_build(-1, (const double(*)[3])x, &tree, &err), NBC_BAD_ARGUMENT);
    x[4][1] = NAN;
    assert_int_equal(nb6_kdtree_build(6, (const double(*)[3])x, &tree, &err), NBC_NON_FINITE);
    assert_non_null(strstr(err.text, "coordinate y of point 4"));
    assert_null(tree);
    assert_int_equal(nb6_kdtree_build(4, (const double(*)[3])x, &tree, &err), NBC_OK);
    assert_int_equal(nb6_kdtree_neighbours(tree, 0, index, NULL, &err), NBC_BAD_ARGUMENT);
    assert_int_equal(nb6_kdtree_neighbours(tree, 40000, index, NULL, &err), NBC_BAD_ARGUMENT);
    nb6_kdtree_free(tree);
    nb6_kdtree_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_points),       cmocka_unit_test(lattice),   cmocka_unit_test(coincident_and_flat),
        cmocka_unit_test(far_from_the_origin), cmocka_unit_test(any_place), cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(found_once),          cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests_name("kdtree", tests, NULL, NULL);
}
