#include "nbody6/collisionless/ranks/sections.h"

#include "common/sort.h"
#include "nbody6/world/world.h"

#include <math.h>
#include <string.h>

/* Samples of all ranks, at most, and of each body, and the fewest of a rank: cuts are as exact as the bodies of a
 * domain have samples. */
enum { ALL_SAMPLES = 1 << 15, SAMPLES_OF_A_BODY = 8, FEWEST_SAMPLES = 64 };

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
static double width_of(const struct piece *p, int axis)
{
    const double all = weight_of(p);
    if (p->n == 0) return 0;
    sort_along(p->sample, p->n, axis);
    return p->sample[reaching(p, 0.875 * all)].x[axis] - p->sample[reaching(p, 0.125 * all)].x[axis];
}

/* Domains that are cut along other axes than before are others: each has the work of bodies that was measured in the
 * lists of several ranks, and another one then. So axes, and numbers of slabs, stay as long as they fit about as well
 * as the best ones. */
static const double AXES_FIT = 1.2, SLABS_FIT = 0.75;

/* The widest first, of equal ones the first.   @return whether they have changed */
static int find_axes(struct nb6_sections *s, const struct piece *p, double spread[3])
{
    const int are_new = s->root == 0;
    const double fit = are_new ? 1 : AXES_FIT;
    double width[3];
    int changes = are_new;
    for (int k = 0; k < 3; k++) {
        width[k] = width_of(p, k);
        if (are_new) s->axis[k] = k;
    }
    for (int k = 0; k < 2; k++)
        for (int l = 0; l < 2 - k; l++)
            if (width[s->axis[l + 1]] > fit * width[s->axis[l]]) {
                const int32_t axis = s->axis[l];
                s->axis[l] = s->axis[l + 1];
                s->axis[l + 1] = axis;
                changes = 1;
            }
    for (int l = 0; l < 3; l++) spread[l] = width[s->axis[l]];
    return changes;
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

/* Those that there are along the axis of a level. */
static int slabs_there(const struct nb6_sections *s, const struct piece *p, int level)
{
    int slabs = 1;
    for (int r = p->first + 1; r < p->end; r++) slabs += s->level[r] == level;
    return slabs;
}

/* Slabs along the axis of a level, so that domains are about as long as wide.
 * @param[in] there  those that there are; 0: none */
static int slabs_of(int ranks, int level, const double spread[3], int there)
{
    if (level == 2) return ranks;
    const double slabs = spread[level] / side_of(ranks, level, spread); /* all in one point: not a number */
    if (there > 0 && fabs(slabs - there) < SLABS_FIT) return there;
    return (int)fmin(fmax(round(slabs), 1), ranks);
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

/* @param[in] changes  1: the slabs that there are do not count, since they are along other axes, or parts of others */
static void divide(struct nb6_sections *s, const struct piece *p, int level, const double spread[3], int changes)
{
    const int ranks = p->end - p->first, axis = s->axis[level], there = changes ? 0 : slabs_there(s, p, level),
              slabs = slabs_of(ranks, level, spread, there);
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
        if (level < 2) divide(s, &slab, level + 1, spread, slabs != there);
        from = at;
    }
}

void nb6_sections_divide(struct nb6_sections *s, struct nb6_sample *sample, int64_t n)
{
    double spread[3];
    const struct piece all = {sample, n, 0, s->ranks};
    const int changes = find_axes(s, &all, spread);
    divide(s, &all, 0, spread, changes);
    (void)nb6_sections_link(s);
}

/* ---- of the bodies of all ranks */

/* Bodies after equal parts of the work: each stands for as much. */
static void take_samples(const struct nb6_sections_job *job, int64_t count, struct nb6_sample *sample)
{
    const int64_t n = job->n;
    const uint64_t *work = job->work;
    uint64_t all = 0, passed = 0;
    int64_t k = 0;
    for (int64_t i = 0; i < n && work; i++) all += work[i];
    if (all == 0) {
        work = NULL;
        all = (uint64_t)n;
    }
    for (int64_t i = 0; i < n && all > 0; i++) {
        const int64_t body = job->order ? job->order[i] : i;
        passed += work ? work[body] : 1;
        for (; k < count && ((double)k + 0.5) * (double)all < (double)passed * (double)count; k++) {
            memcpy(sample[k].x, job->x[body], sizeof sample[k].x);
            sample[k].weight = (job->is_damped ? sqrt((double)all) : (double)all) / (double)count;
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

int nb6_sections_find(struct nb6_sections *s, struct nb6_world *world, const struct nb6_sections_job *job,
                      struct nbc_error *err)
{
    int64_t bodies = job->n;
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
        take_samples(job, each, mine);
        nb6_world_gather(world, each * s->ranks, sizeof *mine, mine, all);
        if (is_first) nb6_sections_divide(s, all, drop_empty(all, each * s->ranks));
        nb6_sections_broadcast(s, world);
    }
    nbc_free(mine);
    nbc_free(all);
    return status;
}
