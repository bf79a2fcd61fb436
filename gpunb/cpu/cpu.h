/** Shared by the SIMD backends: the packed sources, and the interface between threads and lists (cpu.c, cpu/block.c,
 *  cpu/mutual.c, cpu/tiles.c) and the kernels, of which there is one set for each instruction set (kernel_*.h).
 *
 *  Order of every sum, and therefore its bits: sources, by number for few targets and by place in space for many, are
 *  cut into chunks of CPU_CHUNK cells; a chunk is summed by one kernel call (float for 32 additions, or 64 where
 *  positions are floats, then double, lanes in a fixed order); chunks are added in order, then the forces between
 *  targets (cpu/mutual.c). The assignment to threads has no influence. */
#ifndef GPUNB_CPU_CPU_H
#define GPUNB_CPU_CPU_H

#include "gpunb/backend.h"
#include "gpunb/pair.h"
#include "gpunb/predictor.h"
#include "gpunb/tree/method.h"

#include <string.h>

/** Sources in a cell: the longest vector of floats. Shorter ones take a cell in parts. */
#define CPU_CELL 16
/** Cells in a chunk: 2048 sources, 80 KiB, which stay in the second-level cache while targets pass by. */
#define CPU_CHUNK 128

/** Targets that pass by a chunk of sources while it is in the cache. */
#define CPU_UNIT 64
/** Pairs that are worth a thread: some ten microseconds. */
#define CPU_PAIRS_OF_A_PART 15000

/** Sixteen sources. `h` and `l`: high and low part of a two-float position. Lanes past the end have no mass. */
struct gpunb_cell {
    float xh[CPU_CELL], yh[CPU_CELL], zh[CPU_CELL];
    float vx[CPU_CELL], vy[CPU_CELL], vz[CPU_CELL];
    float m[CPU_CELL];
    float xl[CPU_CELL], yl[CPU_CELL], zl[CPU_CELL];
};

/** Two-float position: high is `value` rounded to float, low the rest rounded to float. The rounding is done on the
 * bits of the double because gcc 12 drops (double)(float)value where it vectorises, and then low would be zero. */
static inline void gpunb_split(double value, float *high, float *low)
{
    uint64_t bits;
    double rounded;
    memcpy(&bits, &value, sizeof bits);
    bits = (bits + 0x10000000u) & ~(uint64_t)0x1fffffffu;
    memcpy(&rounded, &bits, sizeof rounded);
    *high = (float)rounded;
    *low = (float)(value - rounded);
}

/** Predictors of sixteen sources, in the order of their numbers: a row for each component of position, velocity,
 *  acceleration and jerk, and for the time. */
enum { JP_X = 0, JP_V = 3, JP_ACC = 6, JP_JERK = 9, JP_T0 = 12, JP_ROWS = 13 };
struct gpunb_jp_cell {
    double row[JP_ROWS][CPU_CELL];
    float m[CPU_CELL];
};

struct gpunb_target {
    double x[3]; /**< position: xh + xl; in float differences xh alone */
    float xh[3], xl[3], v[3], dt, h2;
    float h;       /**< root of h2 */
    int32_t self;  /**< -1: none */
    int32_t place; /**< of itself among the sources in tiles, -1: none */
};

/** Where the neighbours of one target go; `found` counts on when `cap` is reached. */
struct gpunb_sink {
    int32_t *list;
    size_t cap, found;
};

/** One chunk of sources on a few targets. */
struct gpunb_cpu_job {
    const struct gpunb_cell *cells; /**< first cell of the chunk */
    size_t n_cells;                 /**< 1 .. CPU_CHUNK */
    size_t j_first, n_j;            /**< index of the first source of the chunk; number of sources in all */
    int twofloat, weighted, want_pot;
    const struct gpunb_target *targets;
    struct gpunb_sink *sinks;
    struct gpunb_sum *sums; /**< overwritten: sums over this chunk */
};

/** Cells in a tile: 256 sources. */
#define TILE_CELLS 16

/** Sixteen sources once more: all that the far kernel reads. Positions from the centre of the cell, and from that of
 *  the tile. */
struct gpunb_far_cell {
    float in_cell[3][CPU_CELL], in_tile[3][CPU_CELL];
    float vx[CPU_CELL], vy[CPU_CELL], vz[CPU_CELL];
    float m[CPU_CELL];
};

/** Cells of sources that are near to each other in space, and bounds. */
struct gpunb_tile {
    double centre[3];
    _Alignas(64) float at[3][TILE_CELLS]; /**< centres of the boxes of the cells, from there */
    float half[3][TILE_CELLS];            /**< half the widths of the boxes */
    float radius[TILE_CELLS];             /**< half their diagonals */
    float weight[TILE_CELLS];             /**< root of the largest mass: spheres are as large with masses */
    float v[3], speed;                    /**< a velocity; all sources are no faster, relative to it */
    _Alignas(64) struct gpunb_far_cell cell[TILE_CELLS];
};

/** Tiles of a chunk, and as many bounds of tiles as the longest vector holds. */
#define CHUNK_TILES (CPU_CHUNK / TILE_CELLS)
#define CHUNK_BOUNDS 16

/** The bounds of the tiles of a chunk side by side, which a target tests first. Missing tiles fill the rows. */
struct gpunb_tile_bounds {
    _Alignas(64) float high[3][CHUNK_BOUNDS]; /**< centres, as two floats */
    float low[3][CHUNK_BOUNDS];
    float half[3][CHUNK_BOUNDS];                   /**< half the widths of the boxes about the sources */
    float radius[CHUNK_BOUNDS];                    /**< half their diagonals */
    float weight[CHUNK_BOUNDS];                    /**< the largest of their cells */
    float v[3][CHUNK_BOUNDS], speed[CHUNK_BOUNDS]; /**< as in the tiles */
};

/** One chunk of tiles on some targets. */
struct gpunb_tile_job {
    const struct gpunb_tile *tiles; /**< first tile of the chunk */
    const struct gpunb_tile_bounds *bounds;
    const struct gpunb_cell *cells; /**< its cells */
    const int32_t *number;          /**< of the sources in these; -1: padding */
    size_t n_cells;                 /**< 1 .. CPU_CHUNK */
    size_t skip;                    /**< cells of the first tile that are left out, if it has a target in it */
    size_t first;                   /**< place of its first source */
    int twofloat, weighted, want_pot;
    size_t count; /**< of targets, 1 .. CPU_UNIT */
    const struct gpunb_target *targets;
    struct gpunb_sink *sinks; /**< neighbours, in the order of places */
    struct gpunb_sum *sums;   /**< overwritten: sums over this chunk */
};

/** Additional data of sixteen targets that are sources as well, and the forces between targets. Lanes past the end
 *  have no sphere. */
#define MUTUAL_SUMS 8 /* acc and jerk, in units of mutual_unit, pot, and one that is not used */
struct gpunb_mutual_cell {
    _Alignas(64) double met[MUTUAL_SUMS][CPU_CELL]; /**< from targets that passed by */
    double passed[CPU_CELL][MUTUAL_SUMS];           /**< as targets that passed by */
    float dt[CPU_CELL], h2[CPU_CELL];
    float h, dt_most; /**< the largest sphere and step */
};

/** Some targets of one tile (i) and some of another (j), whose cells begin at `first_j` of it: n_i, n_j of them. Forces
 *  are added to what there is, neighbours to the lists. */
struct gpunb_mutual_job {
    const struct gpunb_tile *tile;          /**< of j */
    const struct gpunb_tile_bounds *bounds; /**< and, at place `at`, its bounds */
    size_t at, first_j, n_i, n_j;
    const struct gpunb_cell *cells_i, *cells_j;
    struct gpunb_mutual_cell *of_i, *of_j;
    const int32_t *number_i, *number_j;
    struct gpunb_sink *sinks_i, *sinks_j;
    int twofloat, weighted, want_pot;
};

/** A curve through 2^bits cubes in each direction, onto which all of space is mapped: an eighth of them is the box
 * about `centre` whose half width is the scale. */
struct gpunb_curve {
    float centre[3], per_scale, half_cubes;
    int bits;
};

/** Potential: n_i targets, all sources. x, y, z, m: [n_padded], a multiple of CPU_CELL; padding has no mass. */
struct gpunb_cpu_pot {
    const double *x, *y, *z, *m;
    size_t n_padded;
    size_t i_first, n_i;
    double *pot;
};

/** A cell that acts on the series of targets (gpunb/tree/harmonic.h): from its centre to theirs, its moments. */
struct gpunb_multipole {
    double at[3];
    const double *moment;
};

/** A target of a softened force. In float differences xl is zero. */
struct gpunb_softened_target {
    double x[3]; /**< position: xh + xl */
    float xh[3], xl[3];
    int32_t place; /**< of the source that it is, if its potential leaves that out; -1: none */
};

/** Sums of a softened force: acceleration, sum of m_j / sqrt(r^2 + softening^2). */
#define SOFTENED_SUMS 4

/** One chunk of sources on some targets: softened forces. */
struct gpunb_softened_chunk {
    const struct gpunb_tile *tiles; /**< first tile of the chunk; NULL: sources are in the order of their numbers */
    const struct gpunb_tile_bounds *bounds; /**< of tiles */
    const struct gpunb_cell *cells;
    size_t n_cells; /**< 1 .. CPU_CHUNK */
    size_t first;   /**< place of the first source */
    float softening2;
    int twofloat, want_pot;
    size_t count; /**< of targets, 1 .. CPU_UNIT */
    const struct gpunb_softened_target *targets;
    double (*sums)[SOFTENED_SUMS]; /**< [count] overwritten: sums over this chunk */
};

/** The kernels of one instruction set. */
struct gpunb_cpu_kernels {
    int block;          /**< targets of one call of `regf_block`; `regf_one` takes one */
    size_t worth_tiles; /**< targets from which tiles pay */
    void (*regf_block)(const struct gpunb_cpu_job *job);
    void (*regf_one)(const struct gpunb_cpu_job *job);
    void (*regf_tiles)(const struct gpunb_tile_job *job);
    void (*regf_mutual)(const struct gpunb_mutual_job *job);
    /** n neighbours as the tiles have found them, to ascending numbers; a row has room for `cap`.
     *  @param[in,out] marks, words  a bit for each source, and for each word of these; 0 before and after */
    void (*put_in_order)(int32_t *row, size_t n, size_t cap, uint64_t *marks, uint64_t *words);
    double (*mutual_unit)(int twofloat); /**< of acc and jerk in the sums of regf_mutual */
    /** Places of sixteen sources along the curve, 3 `bits` long. */
    void (*curve)(const struct gpunb_cell *cell, const struct gpunb_curve *curve, uint32_t *place);
    void (*potential)(const struct gpunb_cpu_pot *job);
    /** n >= 1 cells on a series, [HARMONICS], added to. */
    void (*add_series)(const struct gpunb_multipole *cell, size_t n, double *series);
    void (*softened)(const struct gpunb_softened_chunk *job);
    /** Sixteen sources, as gpunb_send has them. */
    void (*pack)(const double *mass, const double (*x)[3], const double (*v)[3], struct gpunb_cell *to);
    /** Sixteen sources at time t.   @return whether all are what gpunb_send would take */
    int (*predict)(const struct gpunb_jp_cell *from, double t, struct gpunb_cell *to);
};

/** Memory that only grows. */
struct gpunb_cpu_scratch {
    void *data;
    size_t bytes;
};

/** The present sources once more, in the order of places in space. */
struct gpunb_cpu_tiles {
    int made;                         /**< of the sources that there are now, all alike */
    size_t n_cells;                   /**< with what is between the first sources and the others */
    size_t n_first, others;           /**< sources that come first; place of the first of the others */
    struct gpunb_tile *tile;          /**< [n_tiles] */
    struct gpunb_tile_bounds *bounds; /**< [chunks] */
    struct gpunb_cell *cell;          /**< [n_tiles * TILE_CELLS] */
    int32_t *number;                  /**< of the source at each place, -1: padding */
    int32_t *place;                   /**< [n_j] of each source */
    struct gpunb_cpu_scratch tiles, chunks, cells, numbers, places, keys, counts;
};

/** Sources in the order of a tree, and memory of threads (cpu/regular.c). */
struct gpunb_cpu_regular {
    const int32_t *number; /**< of the source at each place */
    float *row[10];        /**< rows of struct gpunb_cell, [n_j] */
    size_t bytes;          /**< of the space of a thread */
    struct gpunb_cpu_scratch rows, spaces;
};

struct gpunb_cpu_state {
    const struct gpunb_cpu_kernels *kernels;
    int twofloat;
    struct gpunb_cpu_tiles tiles;
    size_t n_j, n_cells, n_jp_cells; /* sources; cells that there is memory for */
    struct gpunb_cell *cells;
    struct gpunb_jp_cell *jp;                                       /* NULL until there are predictors */
    struct gpunb_cpu_scratch targets, partial, sinks, lists, marks; /* of a block */
    struct gpunb_cpu_scratch rows, mutual, progress;                /* of mutual forces */
    struct gpunb_cpu_regular regular;
};

/** `count` objects that stay with the state and are not cleared; earlier contents may be lost.
 *  @return NULL without memory */
void *gpunb_cpu_grow(struct gpunb_cpu_scratch *scratch, size_t count, size_t size);

int gpunb_cpu_create(void **state, const struct gpunb_setup *setup, struct nbc_error *err);
void gpunb_cpu_free(void *state);
int gpunb_cpu_send(void *state, size_t n_j, const double *mass, const double (*x)[3], const double (*v)[3],
                   struct nbc_error *err);
int gpunb_cpu_reserve(void *state, size_t n_j_max, struct nbc_error *err);
int gpunb_cpu_predictors(void *state, size_t n_j_max, struct nbc_error *err);
void gpunb_cpu_set_jp(void *state, size_t j, const struct gpunb_jp *jp);
int gpunb_cpu_predict(void *state, const struct gpunb_order *order, double t, struct nbc_error *err);
int gpunb_cpu_regf(void *state, const struct gpunb_block *block, struct nbc_error *err);
int gpunb_cpu_potential(void *state, const struct gpunb_pot_job *job, struct nbc_error *err);
int gpunb_cpu_potential_by_tree(const struct gpunb_backend *backend, const struct gpunb_pot_job *job, double aim);
int gpunb_cpu_softened(void *state, const struct gpunb_softened_job *job, struct nbc_error *err);

/** Memory for so many cells of a size, of which the first n_old are those of `old`. Each thread first touches its
 *  range of nbc_range.   @return NULL without memory; `old` stays then */
void *gpunb_cpu_cells(void *old, size_t n_old, size_t n, size_t size);

/** Sources in double, for a tree. */
void gpunb_cpu_read(const void *state, size_t first, size_t end, double *mass, double (*x)[3]);

/** A position as that of a source is kept. */
void gpunb_cpu_round(const void *state, const double x[3], double rounded[3]);

/** How a SIMD backend makes a tree: sizes at which lists are short and vectors full; float sums have some 1e-7, of
 * which a tenth of the least aim is left. */
#define GPUNB_CPU_TREE(terms, bodies, locals, field, moving)                                                           \
    {                                                                                                                  \
        .least_error = 1e-6, .read = gpunb_cpu_read, .round = gpunb_cpu_round, .add_terms = (terms),                   \
        .add_bodies = (bodies), .add_locals = (locals), .add_field = (field), .regular = &gpunb_cpu_regular,           \
        .add_moving = (moving),                                                                                        \
    }

/** The part of a descriptor that all SIMD backends share; `kernels`, `tree_method` and `why` are those of the file. */
#define GPUNB_CPU_OPS(kernels, tree_method, why)                                                                       \
    .precisions = 1u << GPUNB_FLOAT | 1u << GPUNB_TWOFLOAT, .precision = GPUNB_TWOFLOAT, .method = &(kernels),         \
    .why_unavailable = (why), .create = gpunb_cpu_create, .free = gpunb_cpu_free, .send = gpunb_cpu_send,              \
    .reserve = gpunb_cpu_reserve, .predictors = gpunb_cpu_predictors, .set_jp = gpunb_cpu_set_jp,                      \
    .predict = gpunb_cpu_predict, .regf = gpunb_cpu_regf, .potential = gpunb_cpu_potential,                            \
    .potential_by_tree = gpunb_cpu_potential_by_tree, .softened = gpunb_cpu_softened, .tree = &(tree_method)

/** Target i of the block, packed as `target`, again in double: for sums that do not fit a float. */
void gpunb_cpu_exact(const struct gpunb_cpu_state *cpu, const struct gpunb_block *block, size_t i,
                     const struct gpunb_target *target);

#endif
