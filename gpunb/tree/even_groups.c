/* Groups of the same number of targets, by halves along the widest axis: the leaves of a k-d tree (Bentley 1975,
 * Commun. ACM 18, 509). */
#include "common/team.h"
#include "gpunb/tree/groups.h"

#include <math.h>
#include <stdlib.h>

enum { TARGETS_OF_A_PART = 8192 };

struct halving {
    const struct gpunb_tree *tree;
    const struct gpunb_softened_job *job;
    struct tree_groups *groups;
    int32_t *place; /* [targets] where they are in the tree */
    int level;      /* 2^level pieces of all groups, which are halved */
};

/* The first target of a group. */
static int64_t target_of(const struct halving *h, int64_t group)
{
    return (int64_t)h->job->n_i * group / (int64_t)h->groups->n;
}

static int widest_axis(const struct halving *h, int64_t first, int64_t end)
{
    int widest = 0;
    double most = 0;
    for (int k = 0; k < 3; k++) {
        double low = INFINITY, high = -INFINITY;
        for (int64_t i = first; i < end; i++) {
            const double x = h->tree->x[h->place[i]][k];
            low = x < low ? x : low;
            high = x > high ? x : high;
        }
        if (high - low > most) {
            most = high - low;
            widest = k;
        }
    }
    return widest;
}

/* Along an axis; in one plane along the curve, so that no two are equal. */
static int is_before(const struct halving *h, int axis, int32_t a, int32_t b)
{
    const double x = h->tree->x[a][axis], y = h->tree->x[b][axis];
    return x < y || (!(y < x) && a < b);
}

/* Puts those of [first, end) that come before number `middle` before it (Hoare 1961, Commun. ACM 4, 321). Pivots are
 * taken by a fixed sequence of numbers: the time is as that of the targets on average, whatever their order. */
static void select_half(const struct halving *h, int axis, int64_t first, int64_t middle, int64_t end)
{
    uint64_t seed = 1;
    while (end - first > 1) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        const int32_t pivot = h->place[first + (int64_t)((seed >> 33) % (uint64_t)(end - first))];
        int64_t low = first, high = end - 1;
        while (low <= high) {
            while (is_before(h, axis, h->place[low], pivot)) low++;
            while (is_before(h, axis, pivot, h->place[high])) high--;
            if (low > high) break;
            const int32_t other = h->place[low];
            h->place[low++] = h->place[high];
            h->place[high--] = other;
        }
        if (middle <= high)
            end = high + 1;
        else if (middle >= low)
            first = low;
        else
            return;
    }
}

/* The groups from n piece/2^level on. */
static void halve(const struct halving *h, int64_t piece)
{
    const int64_t n = (int64_t)h->groups->n, low = n * piece >> h->level, high = n * (piece + 1) >> h->level,
                  middle = n * (2 * piece + 1) >> (h->level + 1);
    if (middle == low) return;
    const int64_t first = target_of(h, low), end = target_of(h, high);
    select_half(h, widest_axis(h, first, end), first, target_of(h, middle), end);
}

static void halve_part(void *context, int part, int parts)
{
    const struct halving *h = context;
    int64_t first, end;
    nbc_range((int64_t)1 << h->level, part, parts, &first, &end);
    for (int64_t piece = first; piece < end; piece++) halve(h, piece);
}

static void place_part(void *context, int part, int parts)
{
    const struct halving *h = context;
    int64_t first, end;
    nbc_range((int64_t)h->job->n_i, part, parts, &first, &end);
    for (int64_t i = first; i < end; i++) h->place[i] = h->tree->place[h->job->self[h->groups->target[i]]];
}

static int compare(const void *a, const void *b)
{
    const int32_t p = *(const int32_t *)a, q = *(const int32_t *)b;
    return (p > q) - (p < q);
}

/* Targets of a group follow each other along the curve: a walk looks for near ones there. */
static void close_part(void *context, int part, int parts)
{
    const struct halving *h = context;
    int64_t first, end;
    nbc_range((int64_t)h->groups->n, part, parts, &first, &end);
    for (int64_t g = first; g < end; g++) {
        const int64_t low = target_of(h, g), high = target_of(h, g + 1);
        h->groups->group[g] = (struct tree_group){(int32_t)low, (int32_t)(high - low)};
        qsort(h->place + low, (size_t)(high - low), sizeof *h->place, compare);
        for (int64_t i = low; i < high; i++) h->groups->target[i] = h->groups->mark[h->place[i]];
    }
}

int tree_make_even_groups(struct tree_groups *groups, const struct gpunb_tree *tree,
                          const struct gpunb_softened_job *job, int most, double *seconds)
{
    const double begin = nbc_wtime();
    const size_t n = (job->n_i + (size_t)most - 1) / (size_t)most;
    const int status = tree_order_targets(groups, tree, job, most, seconds);
    if (status) return status;
    struct halving h = {
        .tree = tree, .job = job, .groups = groups, .place = tree_room(&groups->places, job->n_i, sizeof *h.place)};
    groups->group = tree_room(&groups->groups, n, sizeof *groups->group);
    if (!groups->group || !h.place) return NBC_NO_MEMORY;
    groups->n = n;
    const int parts = nbc_parts((int64_t)job->n_i, TARGETS_OF_A_PART);
    nbc_team_run(parts, place_part, &h);
    for (; (size_t)1 << h.level < n; h.level++)
        nbc_team_run(1 << h.level < parts ? 1 << h.level : parts, halve_part, &h);
    nbc_team_run(parts, close_part, &h);
    seconds[GPUNB_TREE_LINK] += nbc_wtime() - begin;
    return NBC_OK;
}
