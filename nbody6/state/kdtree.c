#include "nbody6/state/kdtree.h"

#include "common/nbc.h"
#include "common/team.h"

#include <math.h>

/* Ranges of at most LEAF_MAX points are not split further: a few cache lines of coordinates, scanned in a row. The
 * others are the units of work of a thread. */
enum { LEAF_MAX = 12, K_MAX = 32767, POINTS_OF_A_SUBTREE = 1024, POINTS_OF_A_COPY = 4096, POINTS_OF_A_SEARCH = 256 };

/* The tree is implicit: node c of points [lo, hi) has the children 2c + 1 of [lo, mid) and 2c + 2 of [mid, hi), mid
 * half-way. Only the boxes are stored. */
struct box {
    double lo[3], hi[3];
};

struct nb6_kdtree {
    int64_t n;
    double (*x)[3];  /* [n] in tree order */
    int64_t *index;  /* [n] the caller's indices */
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

/* The box of a node; its points in the order of its children.   @return 0: it is a leaf */
static int split(nb6_kdtree_t *tree, size_t node, int64_t lo, int64_t hi)
{
    const struct box box = bounding_box(tree, lo, hi);
    tree->box[node] = box;
    if (hi - lo <= LEAF_MAX) return 0;
    int widest = 0;
    for (int d = 1; d < 3; d++) {
        if (box.hi[d] - box.lo[d] > box.hi[widest] - box.lo[widest]) widest = d;
    }
    select_nth(tree, lo, hi, middle(lo, hi), widest);
    return 1;
}

static void split_all(nb6_kdtree_t *tree, size_t node, int64_t lo, int64_t hi)
{
    if (!split(tree, node, lo, hi)) return;
    const int64_t mid = middle(lo, hi);
    split_all(tree, 2 * node + 1, lo, mid);
    split_all(tree, 2 * node + 2, mid, hi);
}

/* The nodes of one level. */
struct level {
    nb6_kdtree_t *tree;
    int depth, with_all_below;
    struct nbc_queue queue;
};

/* Number k from the left. */
static void split_one(const struct level *level, int64_t k)
{
    nb6_kdtree_t *tree = level->tree;
    const size_t node = ((size_t)1 << level->depth) - 1 + (size_t)k;
    int64_t lo = 0, hi = tree->n;
    for (int bit = level->depth - 1; bit >= 0; bit--) {
        const int64_t mid = middle(lo, hi);
        if (k >> bit & 1)
            lo = mid;
        else
            hi = mid;
    }
    if (level->with_all_below)
        split_all(tree, node, lo, hi);
    else
        split(tree, node, lo, hi);
}

static void split_some(void *context, int part, int parts)
{
    (void)part;
    (void)parts;
    struct level *level = context;
    for (int64_t k; (k = nbc_take(&level->queue)) < (int64_t)1 << level->depth;) split_one(level, k);
}

/* Level by level, until there are some subtrees for each thread. The result does not depend on the thread that splits a
 * node. */
static void split_tree(nb6_kdtree_t *tree)
{
    enum { SUBTREES_OF_A_THREAD = 4 };
    const int wanted = SUBTREES_OF_A_THREAD * nbc_team_size();
    for (int depth = 0;; depth++) {
        const int is_last = 1 << depth >= wanted || tree->n >> depth <= POINTS_OF_A_SUBTREE;
        struct level level = {.tree = tree, .depth = depth, .with_all_below = is_last};
        nbc_team_run(nbc_parts((int64_t)1 << depth, 1), split_some, &level);
        if (is_last) return;
    }
}

static size_t count_boxes(int64_t n)
{
    size_t boxes = 1;
    for (int64_t m = n; m > LEAF_MAX; m -= m / 2) boxes = 2 * boxes + 1;
    return boxes;
}

struct copying {
    nb6_kdtree_t *tree;
    const double (*x)[3];
    int64_t bad; /* first point that is not finite */
};

static void copy_part(void *context, int part, int parts)
{
    struct copying *job = context;
    nb6_kdtree_t *tree = job->tree;
    int64_t first, end;
    nbc_range(tree->n, part, parts, &first, &end);
    for (int64_t i = first; i < end; i++) {
        for (int d = 0; d < 3; d++) tree->x[i][d] = job->x[i][d];
        tree->index[i] = i;
        if (!isfinite(tree->x[i][0]) || !isfinite(tree->x[i][1]) || !isfinite(tree->x[i][2])) {
            nbc_atomic_min(&job->bad, i);
            return;
        }
    }
}

static int copy_points(nb6_kdtree_t *tree, const double (*x)[3], struct nbc_error *err)
{
    struct copying job = {tree, x, INT64_MAX};
    nbc_team_run(nbc_parts(tree->n, POINTS_OF_A_COPY), copy_part, &job);
    if (job.bad == INT64_MAX) return NBC_OK;
    int d = 0;
    while (isfinite(x[job.bad][d])) d++;
    return nbc_fail(err, NBC_NON_FINITE, "neighbour search: coordinate %c of point %lld is %g", "xyz"[d],
                    (long long)job.bad, x[job.bad][d]);
}

int nb6_kdtree_build(int64_t n, const double (*x)[3], nb6_kdtree_t **tree, struct nbc_error *err)
{
    if (n < 0) return nbc_fail(err, NBC_BAD_ARGUMENT, "neighbour search: n = %lld, must be >= 0", (long long)n);
    nb6_kdtree_t *made = nbc_alloc(1, sizeof *made);
    if (made) {
        made->n = n;
        made->n_box = count_boxes(n);
        made->x = nbc_alloc_unset((size_t)n, sizeof *made->x);
        made->index = nbc_alloc_unset((size_t)n, sizeof *made->index);
        made->box = nbc_alloc_unset(made->n_box, sizeof *made->box);
    }
    const int status =
        made && made->x && made->index && made->box
            ? copy_points(made, x, err)
            : nbc_fail(err, NBC_NO_MEMORY, "no memory for the neighbour search of %lld points", (long long)n);
    if (status) {
        nb6_kdtree_free(made);
        return status;
    }
    if (n > 0) split_tree(made);
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

/* Searches about all points of a tree. */
struct searching {
    const nb6_kdtree_t *tree;
    int k;
    nb6_kdtree_take *take;
    void *context;
    struct nbc_queue queue;
    int out_of_memory;
};

/* In tree order: searches next to each other walk the same nodes, and these are in the cache. */
static void search_part(void *context, int part, int parts)
{
    (void)part;
    (void)parts;
    struct searching *job = context;
    const nb6_kdtree_t *tree = job->tree;
    int64_t *index = nbc_alloc((size_t)job->k, sizeof *index);
    double *r2 = nbc_alloc((size_t)job->k, sizeof *r2);
    const int can = index && r2;
    if (!can) __atomic_store_n(&job->out_of_memory, 1, __ATOMIC_RELAXED);
    for (int64_t first; can && (first = POINTS_OF_A_SEARCH * nbc_take(&job->queue)) < tree->n;) {
        const int64_t end = first + POINTS_OF_A_SEARCH;
        for (int64_t place = first; place < end && place < tree->n; place++) {
            const int64_t i = tree->index[place];
            job->take(job->context, i, nb6_kdtree_nearest(tree, tree->x[place], i, job->k, index, r2), index, r2);
        }
    }
    nbc_free(index);
    nbc_free(r2);
}

int nb6_kdtree_each(const nb6_kdtree_t *tree, int k, nb6_kdtree_take *take, void *context, struct nbc_error *err)
{
    struct searching job = {.tree = tree, .k = k, .take = take, .context = context};
    if (k < 1 || k > K_MAX)
        return nbc_fail(err, NBC_BAD_ARGUMENT, "neighbour search: k = %d, must be 1 to %d", k, (int)K_MAX);
    nbc_team_run(nbc_parts(tree->n, POINTS_OF_A_SEARCH), search_part, &job);
    if (!job.out_of_memory) return NBC_OK;
    return nbc_fail(err, NBC_NO_MEMORY, "no memory for a neighbour search of k = %d", k);
}

/* Rows for the caller. */
struct rows {
    int k;
    int64_t *index;
    double *r2;
};

static void take_row(void *context, int64_t i, int found, const int64_t *index, const double *r2)
{
    const struct rows *rows = context;
    const int k = rows->k;
    for (int j = 0; j < k; j++) {
        if (rows->index) rows->index[i * k + j] = j < found ? index[j] : -1;
        if (rows->r2) rows->r2[i * k + j] = j < found ? r2[j] : INFINITY;
    }
}

int nb6_kdtree_neighbours(const nb6_kdtree_t *tree, int k, int64_t *index, double *r2, struct nbc_error *err)
{
    struct rows rows = {k, index, r2};
    return nb6_kdtree_each(tree, k, take_row, &rows, err);
}
