/* SIMD backends: blocks of many targets that are sources as well. Targets have tiles of their own. Players are such
 * tiles, or parts of tiles. Forces on a player between its own targets, and from other sources, are summed as in any
 * block (cpu/block.c); two players meet once, and both get their forces (kernel_mutual.h).
 *
 * Players meet as in a tournament: in each round every player has another opponent. So the sums of a player have one
 * order for any number of threads, and all meetings of a round can be made at the same time. */
#include "gpunb/cpu/mutual.h"

#include "common/team.h"
#include "gpunb/cpu/target.h"
#include "gpunb/cpu/tiles.h"
#include "gpunb/sizes.h"

#include <math.h>

enum {
    FEWEST_TARGETS = 6144,   /* with fewer many are near to each other, and too few meet for many threads */
    SHARE = 2,               /* one in so many sources, at least, is a target */
    TARGETS_OF_A_PART = 256, /* that are packed and compared in some microseconds */
    MANY_TARGETS = 12288,    /* enough large players for all threads of a machine */
    TILE = TILE_CELLS * CPU_CELL,
};

/* Rounds that a player has had. */
struct progress {
    _Alignas(64) int32_t rounds;
};

struct tournament {
    struct gpunb_cpu_state *cpu;
    const struct gpunb_block *block;
    int32_t *row; /* [n_j] target of each source, -1: none */
    int differs;  /* a target is not where its source is */
    size_t n;     /* targets */
    /* By place: */
    struct gpunb_target *targets;
    struct gpunb_sink *sinks;
    struct gpunb_sum *sums;
    struct gpunb_mutual_cell *cells;
    size_t player, players; /* cells of one; an even number of them, the last one may be missing */
    struct progress *progress;
    struct nbc_queue queue;
};

/* ---- players */

static int is_source(const struct gpunb_cpu_state *cpu, const struct gpunb_target *t)
{
    const struct gpunb_cell *cell = &cpu->cells[t->self / CPU_CELL];
    const int l = t->self % CPU_CELL;
    const float d[] = {cell->xh[l] - t->xh[0], cell->yh[l] - t->xh[1], cell->zh[l] - t->xh[2],
                       cell->xl[l] - t->xl[0], cell->yl[l] - t->xl[1], cell->zl[l] - t->xl[2],
                       cell->vx[l] - t->v[0],  cell->vy[l] - t->v[1],  cell->vz[l] - t->v[2]};
    int same = 1;
    for (size_t k = 0; k < sizeof d / sizeof d[0]; k++) same &= d[k] == 0.0f;
    return same;
}

static void compare_targets(void *context, int part, int parts)
{
    struct tournament *t = context;
    int64_t first, end;
    int differs = 0;
    nbc_range((int64_t)t->n, part, parts, &first, &end);
    for (int64_t i = first; i < end; i++) {
        struct gpunb_target target;
        gpunb_cpu_pack_target(t->cpu, t->block, (size_t)i, &target);
        if (target.self < 0 || !is_source(t->cpu, &target))
            differs = 1;
        else
            __atomic_store_n(&t->row[target.self], (int32_t)i, __ATOMIC_RELAXED);
    }
    if (differs) __atomic_store_n(&t->differs, 1, __ATOMIC_RELAXED);
}

/* Whether each target is a source, where it is, and no two are the same one: fills t->row. */
static int find_sources(struct tournament *t)
{
    const struct gpunb_block *block = t->block;
    memset(t->row, 0xff, t->cpu->n_j * sizeof *t->row);
    nbc_team_run(nbc_parts((int64_t)t->n, TARGETS_OF_A_PART), compare_targets, t);
    if (t->differs) return 0;
    for (size_t i = 0; i < t->n; i++)
        if (t->row[block->self[i]] != (int32_t)i) return 0;
    return 1;
}

/* ---- each player, and the other sources */

static void sweep(const struct tournament *t, size_t first, size_t count, size_t cell, size_t skip, size_t n_cells)
{
    struct gpunb_sum part[CPU_UNIT];
    struct gpunb_tile_job job = gpunb_cpu_tile_job(t->cpu, t->block, cell, n_cells);
    job.skip = skip;
    job.count = count;
    job.targets = t->targets + first;
    job.sinks = t->sinks + first;
    job.sums = part;
    t->cpu->kernels->regf_tiles(&job);
    for (size_t k = 0; k < count; k++) gpunb_cpu_add(&t->sums[first + k], &part[k]);
}

static void pack_place(const struct tournament *t, size_t place)
{
    const struct gpunb_block *block = t->block;
    const size_t i = (size_t)t->row[t->cpu->tiles.number[place]], lane = place % CPU_CELL;
    struct gpunb_mutual_cell *cell = &t->cells[place / CPU_CELL];
    struct gpunb_target *target = &t->targets[place];
    if (lane == 0) *cell = (struct gpunb_mutual_cell){.h = 0};
    gpunb_cpu_pack_target(t->cpu, block, i, target);
    target->place = (int32_t)place;
    t->sinks[place] = (struct gpunb_sink){.list = block->nblist + i * block->list_stride, .cap = block->nb_cap};
    t->sums[place] = (struct gpunb_sum){.pot = 0};
    cell->dt[lane] = target->dt;
    cell->h2[lane] = target->h2;
    cell->h = fmaxf(cell->h, target->h);
    cell->dt_most = fmaxf(cell->dt_most, target->dt);
}

/* A unit of targets, all of one player. */
static void begin_unit(const struct tournament *t, size_t u)
{
    const struct gpunb_cpu_tiles *tiles = &t->cpu->tiles;
    const size_t first = u * CPU_UNIT, count = gpunb_min_size(CPU_UNIT, t->n - first);
    const size_t tile = first / TILE * TILE_CELLS, own = first / CPU_CELL / t->player * t->player,
                 end = gpunb_min_size(own + t->player, gpunb_ceil_div(t->n, CPU_CELL));
    for (size_t k = 0; k < count; k++) pack_place(t, first + k);
    sweep(t, first, count, tile, own - tile, end - tile);
    for (size_t cell = tiles->others / CPU_CELL; cell < tiles->n_cells; cell += CPU_CHUNK)
        sweep(t, first, count, cell, 0, gpunb_min_size(CPU_CHUNK, tiles->n_cells - cell));
}

static void begin_units(void *context, int part, int parts)
{
    struct tournament *t = context;
    (void)part, (void)parts;
    for (int64_t u; (u = nbc_take(&t->queue)) < (int64_t)gpunb_ceil_div(t->n, CPU_UNIT);) begin_unit(t, (size_t)u);
}

/* ---- meetings */

static void meet(const struct tournament *t, size_t a, size_t b)
{
    const struct gpunb_cpu_tiles *tiles = &t->cpu->tiles;
    const size_t cell_i = a * t->player, cell_j = b * t->player, place_i = cell_i * CPU_CELL,
                 place_j = cell_j * CPU_CELL, tile = cell_j / TILE_CELLS;
    if (place_j >= t->n) return; /* no player */
    const struct gpunb_mutual_job job = {
        .tile = &tiles->tile[tile],
        .bounds = &tiles->bounds[tile / CHUNK_TILES],
        .at = tile % CHUNK_TILES,
        .first_j = cell_j % TILE_CELLS,
        .n_i = t->player * CPU_CELL,
        .n_j = gpunb_min_size(t->player * CPU_CELL, t->n - place_j),
        .cells_i = &tiles->cell[cell_i],
        .cells_j = &tiles->cell[cell_j],
        .of_i = &t->cells[cell_i],
        .of_j = &t->cells[cell_j],
        .number_i = &tiles->number[place_i],
        .number_j = &tiles->number[place_j],
        .sinks_i = &t->sinks[place_i],
        .sinks_j = &t->sinks[place_j],
        .twofloat = t->cpu->twofloat,
        .weighted = t->block->mass_weighted,
        .want_pot = t->block->pot != NULL,
    };
    t->cpu->kernels->regf_mutual(&job);
}

/* Meeting k of a round. The last player meets player `round`; the others are arranged in a circle. */
static void meet_in_round(const struct tournament *t, size_t round, size_t k)
{
    const size_t circle = t->players - 1;
    const size_t one = (round + k) % circle, other = k == 0 ? circle : (round + circle - k) % circle;
    const size_t a = one < other ? one : other, b = one < other ? other : one;
    nbc_await(&t->progress[a].rounds, (int32_t)round);
    nbc_await(&t->progress[b].rounds, (int32_t)round);
    meet(t, a, b);
    __atomic_store_n(&t->progress[a].rounds, (int32_t)round + 1, __ATOMIC_RELEASE);
    __atomic_store_n(&t->progress[b].rounds, (int32_t)round + 1, __ATOMIC_RELEASE);
}

static void play(void *context, int part, int parts)
{
    struct tournament *t = context;
    const size_t meetings = t->players / 2, all = meetings * (t->players - 1);
    (void)part, (void)parts;
    for (int64_t k; (k = nbc_take(&t->queue)) < (int64_t)all;)
        meet_in_round(t, (size_t)k / meetings, (size_t)k % meetings);
}

/* ---- results */

static void finish_places(void *context, int part, int parts)
{
    const struct tournament *t = context;
    const double unit = t->cpu->kernels->mutual_unit(t->cpu->twofloat);
    int64_t first, end;
    nbc_range((int64_t)t->n, part, parts, &first, &end);
    for (int64_t place = first; place < end; place++) {
        const struct gpunb_mutual_cell *cell = &t->cells[place / CPU_CELL];
        const size_t lane = (size_t)place % CPU_CELL, i = (size_t)t->row[t->cpu->tiles.number[place]];
        struct gpunb_sum total = t->sums[place];
        for (int k = 0; k < 3; k++) {
            total.acc[k] += unit * (cell->met[k][lane] + cell->passed[lane][k]);
            total.jerk[k] += unit * (cell->met[3 + k][lane] + cell->passed[lane][3 + k]);
        }
        total.pot += cell->met[6][lane] + cell->passed[lane][6];
        gpunb_cpu_finish_target(t->cpu, t->block, i, &t->targets[place], &total, t->sinks[place].found, part);
    }
}

static int provide(struct tournament *t, int threads)
{
    struct gpunb_cpu_state *cpu = t->cpu;
    t->player = t->n >= MANY_TARGETS ? TILE_CELLS : TILE_CELLS / 2;
    t->players = gpunb_ceil_div(t->n, t->player * CPU_CELL);
    t->players += t->players % 2;
    t->targets = gpunb_cpu_grow(&cpu->targets, t->n, sizeof *t->targets);
    t->sinks = gpunb_cpu_grow(&cpu->sinks, t->n, sizeof *t->sinks);
    t->sums = gpunb_cpu_grow(&cpu->partial, t->n, sizeof *t->sums);
    t->cells = gpunb_cpu_grow(&cpu->mutual, gpunb_ceil_div(t->n, CPU_CELL), sizeof *t->cells);
    t->progress = gpunb_cpu_grow(&cpu->progress, t->players, sizeof *t->progress);
    if (!t->targets || !t->sinks || !t->sums || !t->cells || !t->progress) return 0;
    memset(t->progress, 0, t->players * sizeof *t->progress);
    return gpunb_cpu_grow_marks(cpu, threads) && gpunb_cpu_make_tiles(cpu, t->row);
}

int gpunb_cpu_regf_mutual(struct gpunb_cpu_state *cpu, const struct gpunb_block *block, int *done,
                          struct nbc_error *err)
{
    struct tournament t = {.cpu = cpu, .block = block, .n = block->n_i};
    *done = 0;
    if (!block->self || t.n < FEWEST_TARGETS || t.n * SHARE < cpu->n_j) return NBC_OK;
    t.row = gpunb_cpu_grow(&cpu->rows, cpu->n_j, sizeof *t.row);
    if (t.row && !find_sources(&t)) return NBC_OK;
    const int threads = nbc_parts((int64_t)(t.n * cpu->n_j), CPU_PAIRS_OF_A_PART);
    if (!t.row || !provide(&t, threads))
        return nbc_fail(err, NBC_NO_MEMORY, "gpunb_regf: no memory for a block of %zu targets", t.n);
    nbc_team_run(threads, begin_units, &t);
    t.queue.next = 0;
    nbc_team_run(threads, play, &t);
    nbc_team_run(threads, finish_places, &t);
    *done = 1;
    return NBC_OK;
}
