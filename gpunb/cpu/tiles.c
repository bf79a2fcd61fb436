/* SIMD backends: sources in tiles, for blocks of many targets. The order of the sources is in cpu/order.c. */
#include "gpunb/cpu/tiles.h"

#include "common/team.h"
#include "gpunb/cpu/order.h"

#include <math.h>

enum { TILES_OF_A_PART = 4 }; /* 1024 sources, packed by a thread in some ten microseconds */

/* Roundings of the box of a cell. */
#define BOUND_MARGIN 1.000002f

struct packing {
    struct gpunb_cpu_state *cpu;
    const uint64_t *keys;
};

/* Prefetch the lines of the sources of a cell: they are scattered in memory. */
static void prefetch_cell(const struct packing *job, size_t c)
{
    for (size_t l = 0; l < CPU_CELL; l++) {
        const size_t j = gpunb_key_number(job->keys[c * CPU_CELL + l]);
        const char *cell = (const char *)&job->cpu->cells[j / CPU_CELL];
        for (size_t line = 0; line < sizeof(struct gpunb_cell); line += 64) __builtin_prefetch(cell + line);
    }
}

/* Sources of a cell of places. Past the end the last one is repeated without mass. */
static void gather_cell(const struct packing *job, size_t c)
{
    const struct gpunb_cpu_state *cpu = job->cpu;
    const struct gpunb_cpu_tiles *tiles = &cpu->tiles;
    struct gpunb_cell *to = &tiles->cell[c];
    int32_t *number = tiles->number + c * CPU_CELL;
    for (size_t l = 0; l < CPU_CELL; l++) {
        const size_t place = c * CPU_CELL + l;
        const int is_source = !(job->keys[place] & GPUNB_KEY_PADDING);
        const size_t j = gpunb_key_number(job->keys[place]), f = j % CPU_CELL;
        const struct gpunb_cell *from = &cpu->cells[j / CPU_CELL];
        to->xh[l] = from->xh[f];
        to->yh[l] = from->yh[f];
        to->zh[l] = from->zh[f];
        to->vx[l] = from->vx[f];
        to->vy[l] = from->vy[f];
        to->vz[l] = from->vz[f];
        to->m[l] = is_source ? from->m[f] : 0.0f;
        to->xl[l] = from->xl[f];
        to->yl[l] = from->yl[f];
        to->zl[l] = from->zl[f];
        number[l] = is_source ? (int32_t)j : -1;
        if (is_source) tiles->place[j] = (int32_t)place;
    }
}

/* Bounds of some numbers. */
struct range {
    float least, largest;
};

static struct range range_of(const float *values)
{
    struct range range = {values[0], values[0]};
    for (size_t l = 1; l < CPU_CELL; l++) {
        range.least = values[l] < range.least ? values[l] : range.least;
        range.largest = values[l] > range.largest ? values[l] : range.largest;
    }
    return range;
}

static struct range both(struct range a, struct range b)
{
    return (struct range){a.least < b.least ? a.least : b.least, a.largest > b.largest ? a.largest : b.largest};
}

static float middle(struct range range)
{
    return 0.5f * range.least + 0.5f * range.largest;
}

/* A tile being packed, and its place in the bounds of its chunk. */
struct tile {
    struct gpunb_tile *tile;
    struct gpunb_tile_bounds *bounds;
    size_t at;
};

/* Positions relative to the centres of the cell and of the tile, in double until they are rounded. */
static void place_axis(const struct tile *t, int k, size_t c, const float *high, const float *low)
{
    struct gpunb_tile *tile = t->tile;
    struct gpunb_far_cell *to = &tile->cell[c];
    const float at = (float)((double)middle(range_of(high)) - tile->centre[k]);
    const double from = tile->centre[k], centre = from + (double)at;
    for (int l = 0; l < CPU_CELL; l++) {
        to->in_cell[k][l] = (float)((double)high[l] - centre + (double)low[l]);
        to->in_tile[k][l] = (float)((double)high[l] - from + (double)low[l]);
    }
    const struct range cell = range_of(to->in_cell[k]), all = range_of(to->in_tile[k]);
    float *half = &t->bounds->half[k][t->at];
    tile->at[k][c] = at;
    tile->half[k][c] = fmaxf(-cell.least, cell.largest) * BOUND_MARGIN;
    *half = fmaxf(*half, fmaxf(-all.least, all.largest) * BOUND_MARGIN);
}

static float half_diagonal(float x, float y, float z)
{
    return sqrtf(x * x + y * y + z * z);
}

static void pack_cell(const struct tile *t, size_t c, const struct gpunb_cell *cell, int twofloat)
{
    static const float none[CPU_CELL];
    struct gpunb_tile *tile = t->tile;
    struct gpunb_far_cell *to = &tile->cell[c];
    float *weight = &t->bounds->weight[t->at];
    place_axis(t, 0, c, cell->xh, twofloat ? cell->xl : none);
    place_axis(t, 1, c, cell->yh, twofloat ? cell->yl : none);
    place_axis(t, 2, c, cell->zh, twofloat ? cell->zl : none);
    memcpy(to->vx, cell->vx, sizeof to->vx);
    memcpy(to->vy, cell->vy, sizeof to->vy);
    memcpy(to->vz, cell->vz, sizeof to->vz);
    memcpy(to->m, cell->m, sizeof to->m);
    tile->radius[c] = half_diagonal(tile->half[0][c], tile->half[1][c], tile->half[2][c]);
    tile->weight[c] = sqrtf(fmaxf(range_of(cell->m).largest, 0.0f));
    *weight = fmaxf(*weight, tile->weight[c]);
}

/* Bounds of a tile in its chunk: cleared first; its cells add their terms; set_bounds enters the rest. */
static void clear_bounds(const struct tile *t)
{
    for (int k = 0; k < 3; k++) t->bounds->half[k][t->at] = 0.0f;
    t->bounds->weight[t->at] = 0.0f;
}

static void set_bounds(const struct tile *t)
{
    struct gpunb_tile_bounds *bounds = t->bounds;
    const size_t at = t->at;
    for (int k = 0; k < 3; k++) {
        gpunb_split(t->tile->centre[k], &bounds->high[k][at], &bounds->low[k][at]);
        bounds->v[k][at] = t->tile->v[k];
    }
    bounds->speed[at] = t->tile->speed;
    bounds->radius[at] = half_diagonal(bounds->half[0][at], bounds->half[1][at], bounds->half[2][at]);
}

/* Its centre and velocities, from those of the sources. */
static void bound_tile(struct gpunb_tile *tile, const struct gpunb_cell *cells, size_t n)
{
    float speed2 = 0.0f;
    for (int k = 0; k < 3; k++) {
        struct range x = {INFINITY, -INFINITY}, v = x;
        for (size_t c = 0; c < n; c++) {
            x = both(x, range_of(k == 0 ? cells[c].xh : k == 1 ? cells[c].yh : cells[c].zh));
            v = both(v, range_of(k == 0 ? cells[c].vx : k == 1 ? cells[c].vy : cells[c].vz));
        }
        tile->centre[k] = (double)middle(x);
        tile->v[k] = middle(v);
        const float half = fmaxf(tile->v[k] - v.least, v.largest - tile->v[k]);
        speed2 += half * half;
    }
    tile->speed = sqrtf(speed2);
}

/* End of the cells of tile t; 0: there is no tile between the first sources and the others. */
static size_t end_of_cells(const struct gpunb_cpu_tiles *tiles, size_t t)
{
    const size_t place = t * TILE_CELLS * CPU_CELL;
    if (place >= tiles->others) return tiles->n_cells;
    return place < tiles->n_first ? (tiles->n_first + CPU_CELL - 1) / CPU_CELL : 0;
}

static void pack_tile(const struct packing *job, size_t t)
{
    const struct gpunb_cpu_tiles *tiles = &job->cpu->tiles;
    const struct tile tile = {&tiles->tile[t], &tiles->bounds[t / CHUNK_TILES], t % CHUNK_TILES};
    const struct gpunb_cell *cells = &tiles->cell[t * TILE_CELLS];
    const size_t end = end_of_cells(tiles, t);
    if (end == 0) return;
    const size_t left = end - t * TILE_CELLS, n = left < TILE_CELLS ? left : TILE_CELLS;
    for (size_t c = 0; c < n; c++) {
        if (c + 1 < n) prefetch_cell(job, t * TILE_CELLS + c + 1);
        gather_cell(job, t * TILE_CELLS + c);
    }
    bound_tile(tile.tile, cells, n);
    clear_bounds(&tile);
    for (size_t c = 0; c < n; c++) pack_cell(&tile, c, &cells[c], job->cpu->twofloat);
    set_bounds(&tile);
}

static void pack_tiles(void *context, int part, int parts)
{
    const struct packing *job = context;
    int64_t first, end;
    nbc_range((int64_t)((job->cpu->tiles.n_cells + TILE_CELLS - 1) / TILE_CELLS), part, parts, &first, &end);
    for (int64_t t = first; t < end; t++) pack_tile(job, (size_t)t);
}

static int provide(struct gpunb_cpu_tiles *tiles, size_t n_j, size_t n_tiles)
{
    const size_t n_chunks = (n_tiles + CHUNK_TILES - 1) / CHUNK_TILES;
    tiles->bounds = gpunb_cpu_grow(&tiles->chunks, n_chunks, sizeof *tiles->bounds);
    tiles->tile = gpunb_cpu_grow(&tiles->tiles, n_tiles, sizeof *tiles->tile);
    tiles->cell = gpunb_cpu_grow(&tiles->cells, n_tiles * TILE_CELLS, sizeof *tiles->cell);
    tiles->number = gpunb_cpu_grow(&tiles->numbers, n_tiles * TILE_CELLS * CPU_CELL, sizeof *tiles->number);
    tiles->place = gpunb_cpu_grow(&tiles->places, n_j, sizeof *tiles->place);
    return tiles->bounds && tiles->tile && tiles->cell && tiles->number && tiles->place;
}

int gpunb_cpu_make_tiles(struct gpunb_cpu_state *cpu, const int32_t *row)
{
    struct gpunb_cpu_tiles *tiles = &cpu->tiles;
    struct packing job = {.cpu = cpu};
    if (tiles->made && !row) return 1;
    tiles->made = 0;
    if (!gpunb_cpu_order(cpu, row, &job.keys)) return 0;
    const size_t n_tiles = (tiles->n_cells + TILE_CELLS - 1) / TILE_CELLS;
    if (!provide(tiles, cpu->n_j, n_tiles)) return 0;
    nbc_team_run(nbc_parts((int64_t)n_tiles, TILES_OF_A_PART), pack_tiles, &job);
    tiles->made = !row;
    return 1;
}

struct gpunb_tile_job gpunb_cpu_tile_job(const struct gpunb_cpu_state *cpu, const struct gpunb_block *block,
                                         size_t cell, size_t n_cells)
{
    return (struct gpunb_tile_job){.tiles = cpu->tiles.tile + cell / TILE_CELLS,
                                   .bounds = cpu->tiles.bounds + cell / CPU_CHUNK,
                                   .cells = cpu->tiles.cell + cell,
                                   .number = cpu->tiles.number + cell * CPU_CELL,
                                   .n_cells = n_cells,
                                   .first = cell * CPU_CELL,
                                   .twofloat = cpu->twofloat,
                                   .weighted = block->mass_weighted,
                                   .want_pot = block->pot != NULL};
}

void gpunb_cpu_free_tiles(struct gpunb_cpu_tiles *tiles)
{
    nbc_free(tiles->tiles.data);
    nbc_free(tiles->chunks.data);
    nbc_free(tiles->cells.data);
    nbc_free(tiles->numbers.data);
    nbc_free(tiles->places.data);
    nbc_free(tiles->keys.data);
    nbc_free(tiles->counts.data);
}
