#include "nbody6/collisionless/ranks/structure.h"

#include "common/sort.h"
#include "common/sum.h"
#include "common/team.h"
#include "nbody6/collisionless/collisionless.h"
#include "nbody6/collisionless/part.h"
#include "nbody6/state/kdtree.h"
#include "nbody6/world/rank_sum.h"
#include "nbody6/world/spread.h"
#include "nbody6/world/world.h"

#include <math.h>
#include <string.h>

/* As in analysis/structure.c, of which these are the definitions. */
enum { NEIGHBOURS = 6, BODIES_OF_A_PART = 1024 };
static const double FRACTION_SLACK = 1e-12, R_FLOOR = 1e-9;

/* The nearest of a body so far, in ascending order. */
struct near {
    double r2[NEIGHBOURS], mass[NEIGHBOURS];
};

struct shell {
    double r2;
    int64_t inside; /* mass up to here, of this rank, in units of 2^-62 of all */
};

struct job {
    const struct nb6_collisionless *share;
    struct nb6_spread *spread;
    struct nb6_world *world;
    struct near *near;  /* [own] */
    double *rho;        /* [own] */
    double total, size; /* of all ranks: mass, largest extent along an axis */
    const struct nb6_source *items;
    const nb6_kdtree_t *tree;
    int is_own; /* 1: the items are the own ones */
    int status;
    struct nbc_error *err;
};

/* ---- nearest neighbours, set by set */

static void insert(struct near *near, double r2, double mass)
{
    int k = NEIGHBOURS - 1;
    if (!(r2 < near->r2[k])) return;
    for (; k > 0 && r2 < near->r2[k - 1]; k--) {
        near->r2[k] = near->r2[k - 1];
        near->mass[k] = near->mass[k - 1];
    }
    near->r2[k] = r2;
    near->mass[k] = mass;
}

static void search_part(void *context, int part, int parts)
{
    const struct job *job = context;
    const struct nb6_collisionless *s = job->share;
    int64_t first, end;
    nbc_range(s->n, part, parts, &first, &end);
    for (int64_t i = first; i < end; i++) {
        int64_t index[NEIGHBOURS];
        double r2[NEIGHBOURS];
        const int found = nb6_kdtree_nearest(job->tree, s->x0[i], job->is_own ? i : -1, NEIGHBOURS, index, r2);
        for (int k = 0; k < found; k++) insert(&job->near[i], r2[k], job->items[index[k]].mass);
    }
}

static int search_set(struct job *job, const struct nb6_spread_set *set)
{
    nb6_kdtree_t *tree = NULL;
    double(*x)[3] = nbc_alloc_unset((size_t)set->n, sizeof *x);
    if (!x) return nbc_fail(job->err, NBC_NO_MEMORY, "no memory for the neighbours of a set of bodies");
    for (int64_t j = 0; j < set->n; j++) memcpy(x[j], job->items[j].x, sizeof x[j]);
    const int status = nb6_kdtree_build(set->n, (const double(*)[3])x, &tree, job->err);
    nbc_free(x);
    nb6_spread_move_on(job->spread);
    if (status) return status;
    job->tree = tree;
    nbc_team_run(nbc_parts(job->share->n, BODIES_OF_A_PART), search_part, job);
    nb6_kdtree_free(tree);
    return NBC_OK;
}

static void take_set(void *context, const struct nb6_spread_set *set, const void *items)
{
    struct job *job = context;
    job->items = items;
    job->is_own = set->owners == 1 && set->first == nb6_world_rank(job->world);
    if (!job->status && set->n > 0 && job->share->n > 0) job->status = search_set(job, set);
}

/* In units of the total mass per size^3, so that no power overflows. */
static double density_of(const struct job *job, const struct near *near)
{
    double m = 0;
    for (int k = 0; k < NEIGHBOURS - 1; k++) m += near->mass[k];
    const double r = fmax(sqrt(near->r2[NEIGHBOURS - 1]) / job->size, R_FLOOR);
    return m / job->total / (4.0 / 3.0 * 3.14159265358979323846 * r * r * r);
}

/* All ranks pass the items on, also after a failure on one of them. */
static int find_densities(struct job *job)
{
    const struct nb6_collisionless *s = job->share;
    struct nb6_source *own = nb6_spread_own(job->spread);
    job->near = nbc_alloc_unset((size_t)s->n, sizeof *job->near);
    job->rho = nbc_alloc_unset((size_t)s->n, sizeof *job->rho);
    if (!job->near || !job->rho)
        job->status = nbc_fail(job->err, NBC_NO_MEMORY, "no memory for the neighbours of %lld bodies", (long long)s->n);
    for (int64_t i = 0; i < s->n; i++) {
        own[i] = (struct nb6_source){.x = {s->x0[i][0], s->x0[i][1], s->x0[i][2]}, .mass = s->mass[i]};
        for (int k = 0; k < NEIGHBOURS && !job->status; k++) job->near[i].r2[k] = INFINITY;
    }
    nb6_spread_run(job->spread, take_set, job);
    for (int64_t i = 0; i < s->n && !job->status; i++) job->rho[i] = density_of(job, &job->near[i]);
    return nb6_world_agree(job->world, job->status, job->err);
}

/* ---- sums over bodies */

struct weights {
    const struct nb6_collisionless *share;
    const double *weight; /* NULL: all are alike */
};

static void add_weighted(const void *context, int64_t i, double sum[NBC_SUMS])
{
    const struct weights *w = context;
    const struct nb6_collisionless *s = w->share;
    const double weight = w->weight ? w->weight[i] : 1;
    sum[0] += weight;
    for (int d = 0; d < 3; d++) {
        sum[1 + d] += weight * s->x0[i][d];
        sum[4 + d] += weight * s->v[i][d];
    }
}

/* Weighted means of x and v of all ranks, which stay as they are if all weights are zero.   @return the sum of weights
 */
static double weighted_mean(const struct job *job, const double *weight, struct nb6_structure *out)
{
    const struct weights w = {job->share, weight};
    double sum[NBC_SUMS] = {0};
    if (job->share->n > 0) nbc_sum(job->share->n, add_weighted, &w, sum);
    nb6_rank_sum(job->world, sum, 7);
    for (int d = 0; d < 3 && sum[0] > 0; d++) {
        out->r_density[d] = sum[1 + d] / sum[0];
        out->v_density[d] = sum[4 + d] / sum[0];
    }
    return sum[0];
}

static double distance2(const double a[3], const double b[3])
{
    const double dx = a[0] - b[0], dy = a[1] - b[1], dz = a[2] - b[2];
    return dx * dx + dy * dy + dz * dz;
}

struct core {
    const struct job *job;
    const struct nb6_structure *out;
};

static void add_to_core(const void *context, int64_t i, double sum[NBC_SUMS])
{
    const struct core *core = context;
    const double rho = core->job->rho[i], w = rho * rho;
    sum[0] += rho;
    sum[1] += w;
    sum[2] += w * distance2(core->job->share->x0[i], core->out->r_density);
}

static void count_in_core(const void *context, int64_t i, double sum[NBC_SUMS])
{
    const struct core *core = context;
    const double r = core->out->r_core;
    sum[0] += distance2(core->job->share->x0[i], core->out->r_density) <= r * r;
}

static void measure_core(const struct job *job, struct nb6_structure *out)
{
    const struct core core = {job, out};
    double sum[NBC_SUMS] = {0}, members[NBC_SUMS] = {0};
    if (job->share->n > 0) nbc_sum(job->share->n, add_to_core, &core, sum);
    nb6_rank_sum(job->world, sum, 3);
    out->r_core = sqrt(sum[2] / sum[1]);
    out->rho_core = sum[1] / sum[0] * (job->total / (job->size * job->size * job->size));
    if (job->share->n > 0) nbc_sum(job->share->n, count_in_core, &core, members);
    nb6_rank_sum(job->world, members, 1);
    out->n_core = (int64_t)members[0];
}

/* Largest extent along an axis; 0 for one body. */
static double find_size(const struct job *job)
{
    const struct nb6_collisionless *s = job->share;
    double largest[6], size = 0; /* of x, and of -x */
    for (int d = 0; d < 6; d++) largest[d] = -INFINITY;
    for (int64_t i = 0; i < s->n; i++)
        for (int d = 0; d < 3; d++) {
            largest[d] = fmax(largest[d], s->x0[i][d]);
            largest[3 + d] = fmax(largest[3 + d], -s->x0[i][d]);
        }
    nb6_rank_largest(job->world, largest, 6);
    for (int d = 0; d < 3; d++) size = fmax(size, largest[d] + largest[3 + d]);
    return size;
}

/* ---- Lagrangian radii */

static int compare_shells(const void *a, const void *b)
{
    const struct shell *p = a, *q = b;
    return (p->r2 > q->r2) - (p->r2 < q->r2);
}

static struct shell *make_shells(const struct job *job, const double centre[3])
{
    const struct nb6_collisionless *s = job->share;
    struct shell *shell = nbc_alloc_unset((size_t)s->n, sizeof *shell);
    for (int64_t i = 0; i < s->n && shell; i++)
        shell[i] =
            (struct shell){distance2(s->x0[i], centre), job->total > 0 ? llrint(s->mass[i] / job->total * 0x1p62) : 1};
    if (!shell) return NULL;
    nbc_sort(shell, (size_t)s->n, sizeof *shell, compare_shells);
    for (int64_t i = 1; i < s->n; i++) shell[i].inside += shell[i - 1].inside;
    return shell;
}

/* Mass of the own bodies with distances up to this one. */
static int64_t mass_inside(const struct shell *shell, int64_t n, double r2)
{
    int64_t low = 0, high = n; /* shells that are inside; those that may be */
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (shell[middle].r2 <= r2)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? shell[low - 1].inside : 0;
}

static double double_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The squares of radii, of each as bits, whose order is that of numbers above 0: not enough is inside of low - 1,
 * enough inside of high. */
enum { RADII = NB6_LAGR_COUNT + 1, PIVOTS = 63 };
struct radii {
    int64_t wanted[RADII]; /* without any mass the nearest body is enough */
    uint64_t low[RADII], high[RADII];
};

static double pivot_of(const struct radii *radii, int k, int p)
{
    const uint64_t width = radii->high[k] - radii->low[k], parts = PIVOTS + 1, number = (uint64_t)p + 1;
    return double_of(radii->low[k] + width / parts * number + width % parts * number / parts);
}

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* All intervals become 64 times narrower: ranks need ten sums or so.   @return whether there is one left */
static int narrow(const struct job *job, const struct shell *shell, struct radii *radii)
{
    int64_t inside[RADII][PIVOTS];
    int left = 0;
    for (int k = 0; k < RADII; k++)
        for (int p = 0; p < PIVOTS; p++) inside[k][p] = mass_inside(shell, job->share->n, pivot_of(radii, k, p));
    nb6_world_sum(job->world, inside[0], RADII * PIVOTS);
    for (int k = 0; k < RADII; k++) {
        int p = 0;
        while (p < PIVOTS && inside[k][p] < radii->wanted[k]) p++;
        const uint64_t high = p < PIVOTS ? bits_of(pivot_of(radii, k, p)) : radii->high[k];
        if (p > 0) radii->low[k] = bits_of(pivot_of(radii, k, p - 1)) + 1;
        radii->high[k] = high;
        left |= radii->low[k] < high;
    }
    return left;
}

static void find_radii(const struct job *job, const struct shell *shell, struct nb6_structure *out)
{
    double farthest = job->share->n > 0 ? shell[job->share->n - 1].r2 : 0;
    struct radii radii = {0};
    nb6_rank_largest(job->world, &farthest, 1);
    for (int k = 0; k < RADII; k++) {
        const double fraction = k < NB6_LAGR_COUNT ? nb6_lagr_fractions[k] : 0.5;
        radii.wanted[k] = job->total > 0 ? llrint(fraction * (1 - FRACTION_SLACK) * 0x1p62) : 1;
        radii.high[k] = bits_of(farthest);
    }
    while (narrow(job, shell, &radii)) continue;
    for (int k = 0; k < NB6_LAGR_COUNT; k++) out->r_lagr[k] = sqrt(double_of(radii.high[k]));
    out->r_half = sqrt(double_of(radii.high[NB6_LAGR_COUNT]));
}

static int find_lagrangian(const struct job *job, struct nb6_structure *out)
{
    struct shell *shell = make_shells(job, out->r_density);
    const int status = nb6_world_agree(
        job->world, shell ? NBC_OK : nbc_fail(job->err, NBC_NO_MEMORY, "no memory for the Lagrangian radii"), job->err);
    if (!status) find_radii(job, shell, out);
    nbc_free(shell);
    return status;
}

int nb6_rank_structure(const struct nb6_collisionless *s, struct nb6_spread *spread, struct nb6_structure *out,
                       struct nbc_error *err)
{
    struct nb6_structure found = {0};
    struct job job = {.share = s, .spread = spread, .world = s->world};
    int64_t n = s->n;
    job.err = err;
    nb6_world_sum(job.world, &n, 1);
    job.total = weighted_mean(&job, s->mass, &found);
    if (!(job.total > 0)) weighted_mean(&job, NULL, &found);
    job.size = find_size(&job);
    int status = NBC_OK;
    if (n > NEIGHBOURS && job.size > 0 && job.total > 0) {
        status = find_densities(&job);
        if (!status && weighted_mean(&job, job.rho, &found) > 0) measure_core(&job, &found);
    }
    if (!status) status = find_lagrangian(&job, &found);
    nbc_free(job.near);
    nbc_free(job.rho);
    if (status) return status;
    if (!isfinite(found.rho_core) || !isfinite(found.r_core) || !isfinite(found.r_half))
        return nbc_fail(err, NBC_NON_FINITE, "the structure of %lld bodies is out of the range of a double",
                        (long long)n);
    *out = found;
    return NBC_OK;
}
