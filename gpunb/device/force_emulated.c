/* The force kernel of an emulated device: groups of targets, each with the tiles of sources that a block of a GPU has.
 */
#include "common/team.h"
#include "device/emulated/emulated.h"
#include "gpunb/device/emulated.h"
#include "gpunb/pair.h"

#include <string.h>

enum { BLOCKS = 4, MOST_TARGETS = 64 };

/* Pairs closer than this are left out for any radius, as on a GPU, where 1/r^3 would not fit a float. */
static const double least_reach = 4e-19;
/* Larger steps and radii have the same effect. */
static const double dt_max = 1e20, h2_max = 1e37;
/* Generous bounds on the rounding of a distance between a target and a box. */
static const double margin = 1.0001, cancel = 2e-6;

struct target {
    double x[3], v[3], dt, h2;
    int self; /* place of its own source, -1: none here */
    int32_t *in_doubt;
};

/* The targets of a block. */
struct group {
    const struct device_force *force;
    int number, n;
    struct target target[MOST_TARGETS];
};

static const struct device_emulated_tile *tile_of(const struct device_force *a, int number)
{
    return (const void *)((const char *)a->layout.tiles + (size_t)number * DEVICE_TILE_BYTES);
}

static struct target load(const struct device_force *a, int place)
{
    const int at = a->first + place, i = a->order ? a->order[at] : at;
    const struct device_targets *from = &a->targets;
    struct target t = {.dt = fmin(from->dt[i], dt_max), .h2 = fmin(from->r_nb2[i], h2_max)};
    for (int k = 0; k < 3; k++) {
        t.x[k] = a->twofloat ? from->x[i][k] : gpunb_emulated_rounded(from->x[i][k]);
        t.v[k] = gpunb_emulated_rounded(from->v[i][k]);
    }
    const int self = from->self[i] < 0 ? -1 : from->self[i] - a->j_first;
    t.self = self >= 0 && self < a->n_j ? a->layout.place[self] : -1;
    t.in_doubt = &from->in_doubt[at];
    return t;
}

/* Square of the distance from the origin to a box. */
static double to_box(const double centre[3], const double half[3])
{
    double r2 = 0.0;
    for (int k = 0; k < 3; k++) {
        const double gap = fmax(fabs(centre[k]) - half[k], 0.0);
        r2 += gap * gap;
    }
    return r2;
}

/* Whether the pairs of this tile and this target need the test, now or after its step, or one is the other. NaN counts
 * as near. */
static int is_near(const struct device_emulated_tile *tile, int first, const struct target *t, int weighted)
{
    const double h2 = (weighted ? tile->m_max * t->h2 : t->h2) * margin;
    double d[3], half[3], moved[3], half_moved[3], size2 = 0.0;
    if (t->self >= first && t->self < first + DEVICE_TILE) return 1;
    for (int k = 0; k < 3; k++) {
        const double way = t->dt * (tile->centre_v[k] - t->v[k]);
        d[k] = tile->centre[k] - t->x[k];
        half[k] = tile->extent[k] * margin + cancel * fabs(d[k]);
        moved[k] = d[k] + way;
        half_moved[k] = tile->extent[k] + t->dt * tile->extent_v[k] + cancel * (fabs(d[k]) + fabs(way));
        size2 += tile->extent[k] * tile->extent[k];
    }
    return !(to_box(d, half) > fmax(0.25 * size2, h2) && to_box(moved, half_moved) > h2);
}

/* Largest increase of the radius of a sphere by a relative velocity in this tile within the step, rounded up. */
static double approach(const struct device_emulated_tile *tile, const struct target *t)
{
    double most2 = 0.0;
    for (int k = 0; k < 3; k++) {
        const double most = fabs(tile->centre_v[k] - t->v[k]) + tile->extent_v[k];
        most2 += most * most;
    }
    return t->dt * sqrt(most2) * margin;
}

static double difference(const struct device_force *a, const struct device_emulated_tile *tile, int k,
                         const struct target *t, double dx[3], double dv[3])
{
    double r2 = 0.0;
    for (int c = 0; c < 3; c++) {
        dx[c] = (a->twofloat ? tile->x[k][c] : gpunb_emulated_rounded(tile->x[k][c])) - t->x[c];
        dv[c] = (double)tile->v[k][c] - t->v[c];
        r2 += dx[c] * dx[c];
    }
    return r2;
}

static void add_far(const struct device_force *a, const struct device_emulated_tile *tile, const struct target *t,
                    struct gpunb_sum *sum)
{
    double dx[3], dv[3];
    for (int k = 0; k < DEVICE_TILE; k++) {
        difference(a, tile, k, t, dx, dv);
        gpunb_pair_add(dx, dv, (double)tile->m[k], sum);
    }
}

/* All sources of a tile but for those that are close.   @return their mask */
static unsigned long long add_near(const struct device_force *a, const struct device_emulated_tile *tile, int first,
                                   const struct target *t, struct gpunb_sum *sum)
{
    const double h = sqrt(t->h2) * margin, more = approach(tile, t) + least_reach;
    unsigned long long mask = 0;
    for (int k = 0; k < DEVICE_TILE; k++) {
        double dx[3], dv[3];
        const double reach = (a->weighted ? sqrt(fmax((double)tile->m[k], 0.0)) : 1.0) * h + more;
        if (difference(a, tile, k, t, dx, dv) < reach * reach)
            mask |= 1ull << k;
        else
            gpunb_pair_add(dx, dv, (double)tile->m[k], sum);
    }
    /* A target that is not at the position of its source: the pair was added. */
    const int own = t->self - first;
    if (own >= 0 && own < DEVICE_TILE && !(mask >> own & 1u)) *t->in_doubt = 1;
    return mask;
}

static void sum_tile(const struct group *g, int number, struct gpunb_sum sum[MOST_TARGETS])
{
    const struct device_force *a = g->force;
    const struct device_emulated_tile *tile = tile_of(a, number);
    const size_t at = (size_t)g->number * (size_t)a->close.stride + (size_t)number;
    const int first = number * DEVICE_TILE;
    int near = 0;
    for (int i = 0; !near && i < g->n; i++) near = is_near(tile, first, &g->target[i], a->weighted);
    a->close.near[at] = (unsigned char)near;
    for (int i = 0; i < g->n; i++) {
        if (near)
            a->close.mask[at * (size_t)a->in_block + (size_t)i] = add_near(a, tile, first, &g->target[i], &sum[i]);
        else
            add_far(a, tile, &g->target[i], &sum[i]);
    }
}

static void add(const struct gpunb_sum *sum, double out[DEVICE_SUMS])
{
    for (int k = 0; k < 3; k++) {
        out[k] += sum->acc[k];
        out[3 + k] += sum->jerk[k];
    }
    out[6] += sum->pot;
}

/* One part of the sources: the tiles of each warp in their order, then the warps in theirs. */
static void sum_split(const struct group *g, int split)
{
    const struct device_force *a = g->force;
    const size_t first = (size_t)(g->number * a->in_block);
    for (int i = 0; i < g->n; i++)
        memset(a->partial + ((first + (size_t)i) * (size_t)a->splits + (size_t)split) * DEVICE_SUMS, 0,
               DEVICE_SUMS * sizeof *a->partial);
    for (int warp = 0; warp < DEVICE_WARPS; warp++) {
        struct gpunb_sum sum[MOST_TARGETS] = {0};
        for (int tile = split * DEVICE_WARPS + warp; tile < a->n_tiles; tile += a->splits * DEVICE_WARPS)
            sum_tile(g, tile, sum);
        for (int i = 0; i < g->n; i++)
            add(&sum[i], a->partial + ((first + (size_t)i) * (size_t)a->splits + (size_t)split) * DEVICE_SUMS);
    }
}

static int groups_of(const struct device_force *a)
{
    return (a->n + a->in_block - 1) / a->in_block;
}

static void sum_groups(void *context, int part, int parts)
{
    const struct device_force *a = context;
    int64_t begin, end;
    nbc_range(groups_of(a), part, parts, &begin, &end);
    for (int number = (int)begin; number < end; number++) {
        const int first = number * a->in_block, left = a->n - first;
        struct group g = {.force = a, .number = number, .n = left < a->in_block ? left : a->in_block};
        for (int i = 0; i < g.n; i++) g.target[i] = load(a, first + i);
        for (int split = 0; split < a->splits; split++) sum_split(&g, split);
    }
}

static void sum_forces(const void *job)
{
    struct device_force own = *(const struct device_force *)job;
    nbc_team_run(nbc_parts(groups_of(&own), 1), sum_groups, &own);
}

int gpunb_emulated_blocks_per_sm(const struct device_variant *variant, int *blocks)
{
    (void)variant;
    *blocks = BLOCKS;
    return 0;
}

/* Potentials are summed whether they are wanted or not. */
int gpunb_emulated_force(const struct device_variant *variant, const struct device_force *force,
                         struct nbd_stream *stream)
{
    (void)variant;
    return nbd_emulated_launch(stream, sum_forces, force, sizeof *force);
}
