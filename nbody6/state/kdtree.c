#include "nbody6/state/kdtree.h"

#include "common/nbc.h"

#include <math.h>

/* Ranges of at most this many points are not split further: a few cache lines of coordinates, scanned in a row. */
enum { LEAF_MAX = 12, K_MAX = 32767, TASK_MIN = 20000 };

/* The tree is implicit: node c of points [lo, hi) has the children 2c + 1 of [lo, mid) and 2c + 2 of [mid, hi), mid
 * half-way. Only the boxes are stored. */
struct box {
    double lo[3], hi[3];
};

struct nb6_kdtree {
    int64_t n;
    double (*x)[3];  /* [n] in tree order */
    int64_t *index;  /* [n] index that the caller knows */
    struct box *box; /* [n_box] */
    size_t n_box;
};

/* A search under way: the nearest found so far, ascending by (r2, index). */
struct search {
    const nb6_kdtree_t *tree;
    double place[3];
    int64_t exclude;
    int k, found;
    int64_t *index;
    double *r2;
};

static inline int64_t middle(int64_t lo, int64_t hi)
{
    return lo + (hi - lo) / 2;
}

/* --- building ---------------------------------------------------------------------------------------------------- */

static void swap_points(nb6_kdtree_t *tree, int64_t a, int64_t b)
{
    for (int d = 0; d < 3; d++) {
        const double t = tree->x[a][d];
        tree->x[a][d] = tree->x[b][d];
        tree->x[b][d] = t;
    }
    const int64_t t = tree->index[a];
    tree->index[a] = tree->index[b];
    tree->index[b] = t;
}

/* A pivot position that no regular pattern of the input can make a bad one time after time. */
static int64_t pivot_position(int64_t lo, int64_t hi)
{
    uint64_t h = (uint64_t)lo * 0x9e3779b97f4a7c15u ^ (uint64_t)hi;
    h = (h ^ (h >> 31)) * 0xbf58476d1ce4e5b9u;
    h ^= h >> 29;
    return lo + (int64_t)(h % (uint64_t)(hi - lo));
}

/* Hoare's selection: afterwards coordinate d of [lo, nth) <= that of nth <= that of (nth, hi). Equal keys stop both
 * scans, so that many equal points are split evenly. */
static void select_nth(nb6_kdtree_t *tree, int64_t lo, int64_t hi, int64_t nth, int d)
{
    double(*x)[3] = tree->x;
    while (hi - lo > 1) {
        const double pivot = x[pivot_position(lo, hi)][d];
        int64_t i = lo, j = hi - 1;
        while (i <= j) {
            while (x[i][d] < pivot) i++;
            while (x[j][d] > pivot) j--;
            if (i <= j) swap_points(tree, i++, j--);
        }
        if (nth <= j) {
            hi = j + 1;
        } else if (nth >= i) {
            lo = i;
        } else {
            return;
        }
    }
}

static struct box bounding_box(const nb6_kdtree_t *tree, int64_t lo, int64_t hi)
{
    struct box box;
    for (int d = 0; d < 3; d++) box.lo[d] = box.hi[d] = tree->x[lo][d];
    for (int64_t i = lo + 1; i < hi; i++) {
        for (int d = 0; d < 3; d++) {
            const double x = tree->x[i][d];
            if (x < box.lo[d]) box.lo[d] = x;
            if (x > box.hi[d]) box.hi[d] = x;
        }
    }
    return box;
}

static void split(nb6_kdtree_t *tree, size_t node, int64_t lo, int64_t hi)
{
    const struct box box = bounding_box(tree, lo, hi);
    tree->box[node] = box;
    if (hi - lo <= LEAF_MAX) return;
    int widest = 0;
    for (int d = 1; d < 3; d++) {
        if (box.hi[d] - box.lo[d] > box.hi[widest] - box.lo[widest]) widest = d;
    }
    const int64_t mid = middle(lo, hi);
    select_nth(tree, lo, hi, mid, widest);
#pragma omp task default(none) firstprivate(tree, node, lo, mid) if (mid - lo > TASK_MIN)
    split(tree, 2 * node + 1, lo, mid);
    split(tree, 2 * node + 2, mid, hi);
#pragma omp taskwait
}

static size_t count_boxes(int64_t n)
{
    size_t boxes = 1;
    for (int64_t m = n; m > LEAF_MAX; m -= m / 2) boxes = 2 * boxes + 1;
    return boxes;
}

static int check_points(int64_t n, const double (*x)[3], struct nbc_error *err)
{
    for (int64_t i = 0; i < n; i++) {
        for (int d = 0; d < 3; d++) {
            if (!isfinite(x[i][d])) {
                return nbc_fail(err, NBC_NON_FINITE, "neighbour search: coordinate %c of point %lld is %g", "xyz"[d],
                                (long long)i, x[i][d]);
            }
        }
    }
    return NBC_OK;
}

int nb6_kdtree_build(int64_t n, const double (*x)[3], nb6_kdtree_t **tree, struct nbc_error *err)
{
    if (n < 0) return nbc_fail(err, NBC_BAD_ARGUMENT, "neighbour search: n = %lld, must be >= 0", (long long)n);
    const int status = check_points(n, x, err);
    if (status) return status;
    nb6_kdtree_t *made = nbc_alloc(1, sizeof *made);
    if (made) {
        made->n = n;
        made->n_box = count_boxes(n);
        made->x = nbc_alloc((size_t)n, sizeof *made->x);
        made->index = nbc_alloc((size_t)n, sizeof *made->index);
        made->box = nbc_alloc(made->n_box, sizeof *made->box);
    }
    if (!made || !made->x || !made->index || !made->box) {
        nb6_kdtree_free(made);
        return nbc_fail(err, NBC_NO_MEMORY, "no memory for the neighbour search of %lld points", (long long)n);
    }
    for (int64_t i = 0; i < n; i++) {
        for (int d = 0; d < 3; d++) made->x[i][d] = x[i][d];
        made->index[i] = i;
    }
    if (n > 0) {
#pragma omp parallel default(none) shared(made, n) if (n > TASK_MIN)
#pragma omp single
        split(made, 0, 0, n);
    }
    *tree = made;
    return NBC_OK;
}

void nb6_kdtree_free(nb6_kdtree_t *tree)
{
    if (!tree) return;
    nbc_free(tree->x);
    nbc_free(tree->index);
    nbc_free(tree->box);
    nbc_free(tree);
}

const int64_t *nb6_kdtree_order(const nb6_kdtree_t *tree)
{
    return tree->index;
}

/* --- searching --------------------------------------------------------------------------------------------------- */

static double distance2_to_box(const struct box *box, const double place[3])
{
    double r2 = 0.0;
    for (int d = 0; d < 3; d++) {
        const double below = box->lo[d] - place[d], above = place[d] - box->hi[d];
        const double out = below > 0.0 ? below : above > 0.0 ? above : 0.0;
        r2 += out * out;
    }
    return r2;
}

static void offer(struct search *s, int64_t index, double r2)
{
    int at = s->found;
    if (s->found == s->k) {
        at--;
        if (r2 > s->r2[at] || (r2 == s->r2[at] && index > s->index[at])) return;
    } else {
        s->found++;
    }
    for (; at > 0 && (r2 < s->r2[at - 1] || (r2 == s->r2[at - 1] && index < s->index[at - 1])); at--) {
        s->r2[at] = s->r2[at - 1];
        s->index[at] = s->index[at - 1];
    }
    s->r2[at] = r2;
    s->index[at] = index;
}

static void search_leaf(struct search *s, int64_t lo, int64_t hi)
{
    for (int64_t i = lo; i < hi; i++) {
        const double *x = s->tree->x[i];
        const double dx = x[0] - s->place[0], dy = x[1] - s->place[1], dz = x[2] - s->place[2];
        const double r2 = dx * dx + dy * dy + dz * dz;
        if (s->tree->index[i] != s->exclude) offer(s, s->tree->index[i], r2);
    }
}

/* A box is left out only if it is strictly farther than the k-th found, so that ties are decided by index. The box
 * distance is rounded like that of a point on its face: it never exceeds the distance of a point inside. */
static void search_node(struct search *s, size_t node, int64_t lo, int64_t hi)
{
    if (hi - lo <= LEAF_MAX) {
        search_leaf(s, lo, hi);
        return;
    }
    const int64_t mid = middle(lo, hi);
    const struct box *box = s->tree->box;
    const double left = distance2_to_box(&box[2 * node + 1], s->place);
    const double right = distance2_to_box(&box[2 * node + 2], s->place);
    const int left_first = left <= right;
    for (int pass = 0; pass < 2; pass++) {
        const int go_left = left_first == (pass == 0);
        if (s->found == s->k && (go_left ? left : right) > s->r2[s->k - 1]) continue;
        if (go_left) {
            search_node(s, 2 * node + 1, lo, mid);
        } else {
            search_node(s, 2 * node + 2, mid, hi);
        }
    }
}

int nb6_kdtree_nearest(const nb6_kdtree_t *tree, const double place[3], int64_t exclude, int k, int64_t *index,
                       double *r2)
{
    struct search s = {.tree = tree, .exclude = exclude, .k = k, .index = index, .r2 = r2};
    for (int d = 0; d < 3; d++) s.place[d] = place[d];
    if (tree->n > 0 && k > 0) search_node(&s, 0, 0, tree->n);
    return s.found;
}

/* Rows for the caller, or the distance of the last of each row, or both. */
static int for_all_points(const nb6_kdtree_t *tree, int k, int64_t *index, double *r2, double *r_kth,
                          struct nbc_error *err)
{
    if (k < 1 || k > K_MAX) {
        return nbc_fail(err, NBC_BAD_ARGUMENT, "neighbour search: k = %d, must be 1 to %d", k, (int)K_MAX);
    }
    int out_of_memory = 0;
#pragma omp parallel default(none) shared(tree, k, index, r2, r_kth) reduction(| : out_of_memory)
    {
        int64_t *row_index = nbc_alloc((size_t)k, sizeof *row_index);
        double *row_r2 = nbc_alloc((size_t)k, sizeof *row_r2);
        out_of_memory = !row_index || !row_r2;
        /* in tree order: neighbouring queries walk the same nodes, and these are in the cache */
#pragma omp for schedule(dynamic, 256)
        for (int64_t t = 0; t < tree->n; t++) {
            if (out_of_memory) continue;
            const int64_t i = tree->index[t];
            const int found = nb6_kdtree_nearest(tree, tree->x[t], i, k, row_index, row_r2);
            for (int j = 0; j < k; j++) {
                if (index) index[i * k + j] = j < found ? row_index[j] : -1;
                if (r2) r2[i * k + j] = j < found ? row_r2[j] : INFINITY;
            }
            if (r_kth) r_kth[i] = found > 0 ? sqrt(row_r2[found - 1]) : 0.0;
        }
        nbc_free(row_index);
        nbc_free(row_r2);
    }
    if (out_of_memory) return nbc_fail(err, NBC_NO_MEMORY, "no memory for a neighbour search of k = %d", k);
    return NBC_OK;
}

int nb6_kdtree_neighbours(const nb6_kdtree_t *tree, int k, int64_t *index, double *r2, struct nbc_error *err)
{
    return for_all_points(tree, k, index, r2, NULL, err);
}

int nb6_kdtree_kth_distance(int64_t n, const double (*x)[3], int k, double *r, struct nbc_error *err)
{
    nb6_kdtree_t *tree = NULL;
    int status = nb6_kdtree_build(n, x, &tree, err);
    if (!status) status = for_all_points(tree, k, NULL, NULL, r, err);
    nb6_kdtree_free(tree);
    return status;
}
