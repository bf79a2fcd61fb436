#include "nbody6/collisionless/ranks/sections.h"

#include "common/sort.h"
#include "nbody6/world/world.h"

#include <math.h>
#include <string.h>

/* Samples of all ranks, at most, and of each body, and the fewest of a rank: cuts are as exact as the bodies of a
 * domain have samples. */
enum { ALL_SAMPLES = 1 << 17, SAMPLES_OF_A_BODY = 8, FEWEST_SAMPLES = 64 };

struct nb6_sections *nb6_sections_create(int ranks)
{
    const size_t n = (size_t)ranks;
    struct nb6_sections *s = nbc_alloc(1, sizeof *s);
    if (!s) return NULL;
    s->ranks = ranks;
    s->level = nbc_alloc(n, sizeof *s->level);
    s->cut = nbc_alloc(n, sizeof *s->cut);
    s->lower = nbc_alloc(n, sizeof *s->lower);
    s->upper = nbc_alloc(n, sizeof *s->upper);
    if (s->level && s->cut && s->lower && s->upper) return s;
    nb6_sections_free(s);
    return NULL;
}

void nb6_sections_free(struct nb6_sections *s)
{
    if (!s) return;
    nbc_free(s->level);
    nbc_free(s->cut);
    nbc_free(s->lower);
    nbc_free(s->upper);
    nbc_free(s);
}

/* ---- where a position is */

/* The middle one of the cuts of the lowest level among the ranks [first, end). */
static int32_t middle_cut(const struct nb6_sections *s, int32_t first, int32_t end)
{
    int lowest = 3;
    int32_t cuts = 0, middle = 0;
    for (int32_t r = first + 1; r < end; r++)
        if (s->level[r] < lowest) {
            lowest = s->level[r];
            cuts = 0;
        } else
            cuts += s->level[r] == lowest;
    for (int32_t r = first + 1, seen = 0; r < end && middle == 0; r++)
        if (s->level[r] == lowest && seen++ == (cuts + 1) / 2) middle = r;
    return middle;
}

static int32_t link_cuts(struct nb6_sections *s, int32_t first, int32_t end)
{
    if (end - first < 2) return 0;
    const int32_t middle = middle_cut(s, first, end);
    s->lower[middle] = link_cuts(s, first, middle);
    s->upper[middle] = link_cuts(s, middle, end);
    return middle;
}

int nb6_sections_link(struct nb6_sections *s)
{
    int axes = 0;
    for (int l = 0; l < 3; l++)
        if (s->axis[l] >= 0 && s->axis[l] < 3) axes |= 1 << s->axis[l];
    int is_sound = axes == 7;
    for (int r = 1; r < s->ranks; r++) is_sound &= s->level[r] >= 0 && s->level[r] < 3 && isfinite(s->cut[r]);
    if (is_sound) s->root = link_cuts(s, 0, s->ranks);
    return is_sound;
}

int nb6_sections_rank_of(const struct nb6_sections *s, const double x[3])
{
    int rank = 0;
    for (int32_t r = s->root; r > 0;)
        if (x[s->axis[s->level[r]]] < s->cut[r]) {
            r = s->lower[r];
        } else {
            rank = r;
            r = s->upper[r];
        }
    return rank;
}

void nb6_sections_copy(struct nb6_sections *to, const struct nb6_sections *from)
{
    memcpy(to->axis, from->axis, sizeof to->axis);
    memcpy(to->level, from->level, (size_t)to->ranks * sizeof *to->level);
    memcpy(to->cut, from->cut, (size_t)to->ranks * sizeof *to->cut);
    (void)nb6_sections_link(to);
}

/* ---- cuts */

/* By one coordinate, then by all else, so that the order depends on nothing but what is sorted. */
static int compare(const struct nb6_sample *a, const struct nb6_sample *b, int axis)
{
    for (int k = 0; k < 3; k++) {
        const int at = (axis + k) % 3;
        if (a->x[at] != b->x[at]) return a->x[at] < b->x[at] ? -1 : 1;
    }
    return (a->weight > b->weight) - (a->weight < b->weight);
}

static int by_x(const void *a, const void *b)
{
    return compare(a, b, 0);
}

static int by_y(const void *a, const void *b)
{
    return compare(a, b, 1);
}

static int by_z(const void *a, const void *b)
{
    return compare(a, b, 2);
}

static void sort_along(struct nb6_sample *sample, int64_t n, int axis)
{
    int (*const by[])(const void *, const void *) = {by_x, by_y, by_z};
    if (n > 0) nbc_sort(sample, (size_t)n, sizeof *sample, by[axis]);
}

/* Samples that are divided, and the ranks [first, end) whose domains they get. */
struct piece {
    struct nb6_sample *sample;
    int64_t n;
    int first, end;
};

static double weight_of(const struct piece *p)
{
    double all = 0;
    for (int64_t i = 0; i < p->n; i++) all += p->sample[i].weight;
    return all;
}

/* The first of sorted samples with which so much weight is reached. */
static int64_t reaching(const struct piece *p, double weight)
{
    int64_t i = 0;
    for (double below = p->sample[0].weight; below < weight && i < p->n - 1;) below += p->sample[++i].weight;
    return i;
}

/* The width that holds three quarters of the weight: a body far away does not count. */
static void find_axes(struct nb6_sections *s, const struct piece *p, double spread[3])
{
    const double all = weight_of(p);
    double width[3];
    for (int k = 0; k < 3; k++) {
        sort_along(p->sample, p->n, k);
        s->axis[k] = k;
        width[k] = 0;
        if (p->n > 0) width[k] = p->sample[reaching(p, 0.875 * all)].x[k] - p->sample[reaching(p, 0.125 * all)].x[k];
    }
    for (int k = 0; k < 2; k++) /* the widest first, of equal ones the first */
        for (int l = 0; l < 2 - k; l++)
            if (width[s->axis[l + 1]] > width[s->axis[l]]) {
                const int32_t axis = s->axis[l];
                s->axis[l] = s->axis[l + 1];
                s->axis[l + 1] = axis;
            }
    for (int l = 0; l < 3; l++) spread[l] = width[s->axis[l]];
}

/* The side of cubes, squares or pieces of a line, as many as ranks, along the axes from a level on: where a cube would
 * be thicker than the bodies are spread along the last axis, that is not cut. */
static double side_of(int ranks, int level, const double spread[3])
{
    const double cube = cbrt(spread[0] / ranks * spread[1] * spread[2]),
                 square = sqrt(level == 0 ? spread[0] / ranks * spread[1] : spread[1] / ranks * spread[2]);
    if (level == 0 && cube < spread[2]) return cube;
    return square < spread[level == 0 ? 1 : 2] ? square : spread[level] / ranks;
}

/* Slabs along the axis of a level, so that domains are about as long as wide. */
static int slabs_of(int ranks, int level, const double spread[3])
{
    if (level == 2) return ranks;
    return (int)fmin(fmax(round(spread[level] / side_of(ranks, level, spread)), 1), ranks); /* all in one point: 1 */
}

/* Where a part of the weight is below, of sorted samples whose weight is about them.
 * @param[in,out] at, below  samples below, and their weight */
static double find_cut(const struct piece *p, int axis, double weight, int64_t *at, double *below)
{
    if (p->n == 0) return 0;
    while (*at < p->n && *below + 0.5 * p->sample[*at].weight < weight) *below += p->sample[(*at)++].weight;
    if (*at == 0) return p->sample[0].x[axis];
    if (*at == p->n) return p->sample[p->n - 1].x[axis];
    const struct nb6_sample *one = &p->sample[*at - 1], *next = one + 1;
    const double apart = 0.5 * (one->weight + next->weight), from = *below - 0.5 * one->weight;
    const double part = apart > 0 ? (weight - from) / apart : 0.5;
    return one->x[axis] + fmin(fmax(part, 0), 1) * (next->x[axis] - one->x[axis]);
}

static void divide(struct nb6_sections *s, const struct piece *p, int level, const double spread[3])
{
    const int ranks = p->end - p->first, slabs = slabs_of(ranks, level, spread), axis = s->axis[level];
    double below = 0;
    int64_t from = 0, at = 0;
    if (ranks == 1) return;
    sort_along(p->sample, p->n, axis);
    const double all = weight_of(p);
    for (int j = 0; j < slabs; j++) {
        const int first = p->first + (int)((int64_t)ranks * j / slabs),
                  end = p->first + (int)((int64_t)ranks * (j + 1) / slabs);
        if (end < p->end) {
            s->level[end] = (int8_t)level;
            s->cut[end] = find_cut(p, axis, all * (end - p->first) / ranks, &at, &below);
        } else
            at = p->n;
        const struct piece slab = {p->sample + from, at - from, first, end};
        if (level < 2) divide(s, &slab, level + 1, spread);
        from = at;
    }
}

void nb6_sections_divide(struct nb6_sections *s, struct nb6_sample *sample, int64_t n)
{
    double spread[3];
    const struct piece all = {sample, n, 0, s->ranks};
    find_axes(s, &all, spread);
    divide(s, &all, 0, spread);
    (void)nb6_sections_link(s);
}

/* ---- of the bodies of all ranks */

/* Bodies after equal parts of the work: each stands for as much. */
static void take_samples(int64_t n, const double (*x)[3], const int32_t *order, const uint64_t *work, int64_t count,
                         struct nb6_sample *sample)
{
    uint64_t all = 0, passed = 0;
    int64_t k = 0;
    for (int64_t i = 0; i < n && work; i++) all += work[i];
    if (all == 0) {
        work = NULL;
        all = (uint64_t)n;
    }
    for (int64_t i = 0; i < n && all > 0; i++) {
        const int64_t body = order ? order[i] : i;
        passed += work ? work[body] : 1;
        for (; k < count && ((double)k + 0.5) * (double)all < (double)passed * (double)count; k++) {
            memcpy(sample[k].x, x[body], sizeof sample[k].x);
            sample[k].weight = (double)all / (double)count;
        }
    }
    for (; k < count; k++) sample[k] = (struct nb6_sample){{0}, 0};
}

/* Rank 0: those without weight are none. */
static int64_t drop_empty(struct nb6_sample *sample, int64_t n)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < n; i++)
        if (sample[i].weight > 0) sample[kept++] = sample[i];
    return kept;
}

void nb6_sections_broadcast(struct nb6_sections *s, struct nb6_world *world)
{
    nb6_world_broadcast(world, s->axis, sizeof s->axis);
    nb6_world_broadcast(world, s->level, (size_t)s->ranks * sizeof *s->level);
    nb6_world_broadcast(world, s->cut, (size_t)s->ranks * sizeof *s->cut);
    (void)nb6_sections_link(s);
}

int nb6_sections_find(struct nb6_sections *s, struct nb6_world *world, int64_t n, const double (*x)[3],
                      const int32_t *order, const uint64_t *work, struct nbc_error *err)
{
    int64_t bodies = n;
    nb6_world_sum(world, &bodies, 1);
    const int64_t most = bodies < ALL_SAMPLES / SAMPLES_OF_A_BODY ? SAMPLES_OF_A_BODY * bodies : ALL_SAMPLES,
                  share = most / s->ranks, each = share > FEWEST_SAMPLES ? share : FEWEST_SAMPLES;
    const int is_first = nb6_world_rank(world) == 0;
    struct nb6_sample *mine = nbc_alloc_unset((size_t)each, sizeof *mine),
                      *all = is_first ? nbc_alloc_unset((size_t)(each * s->ranks), sizeof *all) : NULL;
    int status = mine && (all || !is_first)
                     ? NBC_OK
                     : nbc_fail(err, NBC_NO_MEMORY, "no memory for the samples of %d domains", s->ranks);
    status = nb6_world_agree(world, status, err);
    if (!status) {
        take_samples(n, x, order, work, each, mine);
        nb6_world_gather(world, each * s->ranks, sizeof *mine, mine, all);
        if (is_first) nb6_sections_divide(s, all, drop_empty(all, each * s->ranks));
        nb6_sections_broadcast(s, world);
    }
    nbc_free(mine);
    nbc_free(all);
    return status;
}
