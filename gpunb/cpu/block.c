/* SIMD backends: a block of targets is shared among threads, by targets if there are many, else also by sources. */
#include "common/team.h"
#include "gpunb/cpu/cpu.h"
#include "gpunb/cpu/mutual.h"
#include "gpunb/cpu/target.h"
#include "gpunb/cpu/tiles.h"
#include "gpunb/sizes.h"

#include <math.h>

enum {
    PIECES_PER_THREAD = 4, /* pieces of work for each thread, so that they end at about the same time */
    FEWEST_SOURCES = 2048, /* for tiles: of fewer most are near a target */
    MAX_PARTIALS = 1 << 16 /* sums kept when the sources are shared among threads: 3.5 MiB */
};

/* How one call is cut into pieces: `units` of `unit` targets, by `groups` of chunks of sources. */
struct plan {
    const struct gpunb_cpu_state *cpu;
    const struct gpunb_block *block;
    struct gpunb_target *targets;
    size_t n_cells, n_chunks;
    int in_tiles; /* sources are taken in the order of their places in space */
    size_t unit, units, groups;
    int threads;
    /* Used if groups > 1: */
    struct gpunb_sum *partial; /* [n_i][n_chunks] */
    struct gpunb_sink *sinks;  /* [n_i][groups] */
    int32_t *lists;            /* [n_i][groups][list_cap] */
    size_t list_cap;
    struct nbc_queue queue; /* of pieces */
};

static void pack_target(const struct plan *plan, size_t i)
{
    struct gpunb_target *target = &plan->targets[i];
    gpunb_cpu_pack_target(plan->cpu, plan->block, i, target);
    if (plan->in_tiles && target->self >= 0) target->place = plan->cpu->tiles.place[target->self];
}

/* Targets [first, first + count) against chunk c of the tiles. */
static void sweep_tiles(const struct plan *plan, size_t first, size_t count, size_t c, struct gpunb_sum *sums,
                        struct gpunb_sink *sinks)
{
    const size_t cell = c * CPU_CHUNK;
    struct gpunb_tile_job job =
        gpunb_cpu_tile_job(plan->cpu, plan->block, cell, gpunb_min_size(CPU_CHUNK, plan->n_cells - cell));
    job.count = count;
    job.targets = plan->targets + first;
    job.sinks = sinks;
    job.sums = sums;
    plan->cpu->kernels->regf_tiles(&job);
}

/* Targets [first, first + count) against chunk c. */
static void sweep(const struct plan *plan, size_t first, size_t count, size_t c, struct gpunb_sum *sums,
                  struct gpunb_sink *sinks)
{
    if (plan->in_tiles) {
        sweep_tiles(plan, first, count, c, sums, sinks);
        return;
    }
    const struct gpunb_cpu_kernels *kernels = plan->cpu->kernels;
    size_t cell = c * CPU_CHUNK, wide = (size_t)kernels->block;
    struct gpunb_cpu_job job = {
        .cells = plan->cpu->cells + cell,
        .n_cells = gpunb_min_size(CPU_CHUNK, plan->n_cells - cell),
        .j_first = cell * CPU_CELL,
        .n_j = plan->cpu->n_j,
        .twofloat = plan->cpu->twofloat,
        .weighted = plan->block->mass_weighted,
        .want_pot = plan->block->pot != NULL,
    };
    for (size_t k = 0; k < count;) {
        size_t step = count - k >= wide ? wide : 1;
        job.targets = plan->targets + first + k;
        job.sinks = sinks + k;
        job.sums = sums + k;
        if (step == wide)
            kernels->regf_block(&job);
        else
            kernels->regf_one(&job);
        k += step;
    }
}

static void finish(const struct plan *plan, size_t i, const struct gpunb_sum *total, size_t found, int part)
{
    gpunb_cpu_finish_target(plan->cpu, plan->block, i, &plan->targets[i], total, found, plan->in_tiles ? part : -1);
}

/* All sources on one unit of targets; lists are written in place. */
static void whole_piece(const struct plan *plan, size_t u, int thread)
{
    const struct gpunb_block *block = plan->block;
    struct gpunb_sum total[CPU_UNIT] = {0}, part[CPU_UNIT];
    struct gpunb_sink sinks[CPU_UNIT];
    size_t first = u * plan->unit, count = gpunb_min_size(plan->unit, block->n_i - first);
    for (size_t k = 0; k < count; k++) {
        pack_target(plan, first + k);
        sinks[k] = (struct gpunb_sink){.list = block->nblist + (first + k) * block->list_stride, .cap = block->nb_cap};
    }
    for (size_t c = 0; c < plan->n_chunks; c++) {
        sweep(plan, first, count, c, part, sinks);
        for (size_t k = 0; k < count; k++) gpunb_cpu_add(&total[k], &part[k]);
    }
    for (size_t k = 0; k < count; k++) finish(plan, first + k, &total[k], sinks[k].found, thread);
}

/* One group of chunks on one unit of targets; everything goes to memory of its own. */
static void split_piece(const struct plan *plan, size_t piece)
{
    struct gpunb_sum part[CPU_UNIT];
    struct gpunb_sink sinks[CPU_UNIT];
    size_t u = piece / plan->groups, g = piece % plan->groups;
    size_t first = u * plan->unit, count = gpunb_min_size(plan->unit, plan->block->n_i - first);
    size_t begin = g * plan->n_chunks / plan->groups, end = (g + 1) * plan->n_chunks / plan->groups;
    for (size_t k = 0; k < count; k++) {
        size_t slot = (first + k) * plan->groups + g;
        sinks[k] = (struct gpunb_sink){.list = plan->lists + slot * plan->list_cap, .cap = plan->list_cap};
    }
    for (size_t c = begin; c < end; c++) {
        sweep(plan, first, count, c, part, sinks);
        for (size_t k = 0; k < count; k++) plan->partial[(first + k) * plan->n_chunks + c] = part[k];
    }
    for (size_t k = 0; k < count; k++) plan->sinks[(first + k) * plan->groups + g] = sinks[k];
}

/* The same order of addition as in whole_piece, hence the same bits. */
static void merge_target(const struct plan *plan, size_t i, int part)
{
    const struct gpunb_block *block = plan->block;
    struct gpunb_sum total = {0};
    size_t found = 0;
    for (size_t c = 0; c < plan->n_chunks; c++) gpunb_cpu_add(&total, &plan->partial[i * plan->n_chunks + c]);
    for (size_t g = 0; g < plan->groups; g++) found += plan->sinks[i * plan->groups + g].found;
    if (found <= block->nb_cap) {
        int32_t *row = block->nblist + i * block->list_stride;
        for (size_t g = 0; g < plan->groups; g++) {
            const struct gpunb_sink *sink = &plan->sinks[i * plan->groups + g];
            memcpy(row, sink->list, sink->found * sizeof *row);
            row += sink->found;
        }
    }
    finish(plan, i, &total, found, part);
}

static void choose_cut(struct plan *plan)
{
    size_t n_i = plan->block->n_i, wide = (size_t)plan->cpu->kernels->block;
    double pairs = (double)n_i * (double)plan->cpu->n_j;
    plan->threads = nbc_parts((int64_t)fmin(pairs, 1e15), CPU_PAIRS_OF_A_PART);
    size_t pieces = (size_t)plan->threads * PIECES_PER_THREAD;
    plan->unit = gpunb_ceil_div(gpunb_ceil_div(n_i, pieces), wide) * wide;
    if (plan->threads == 1 || plan->unit > CPU_UNIT) plan->unit = CPU_UNIT;
    plan->units = gpunb_ceil_div(n_i, plan->unit);
    plan->groups = 1;
    if (plan->threads > 1 && plan->units < pieces && n_i * plan->n_chunks <= MAX_PARTIALS)
        plan->groups = gpunb_min_size(plan->n_chunks, gpunb_ceil_div(pieces, plan->units));
}

static int allocate(struct plan *plan, struct gpunb_cpu_state *cpu)
{
    const size_t n_i = plan->block->n_i, chunk_sources = (size_t)CPU_CHUNK * CPU_CELL;
    plan->targets = gpunb_cpu_grow(&cpu->targets, n_i, sizeof *plan->targets);
    if (plan->in_tiles && (!gpunb_cpu_grow_marks(cpu, plan->threads) || !gpunb_cpu_make_tiles(cpu, NULL))) return 0;
    if (!plan->targets || plan->groups <= 1) return plan->targets != NULL;
    plan->list_cap = gpunb_min_size(plan->block->nb_cap, gpunb_ceil_div(plan->n_chunks, plan->groups) * chunk_sources);
    plan->partial = gpunb_cpu_grow(&cpu->partial, n_i * plan->n_chunks, sizeof *plan->partial);
    plan->sinks = gpunb_cpu_grow(&cpu->sinks, n_i * plan->groups, sizeof *plan->sinks);
    plan->lists = gpunb_cpu_grow(&cpu->lists, n_i * plan->groups, plan->list_cap * sizeof *plan->lists);
    return plan->partial && plan->sinks && plan->lists;
}

static void whole_pieces(void *context, int part, int parts)
{
    struct plan *plan = context;
    (void)parts;
    for (int64_t u; (u = nbc_take(&plan->queue)) < (int64_t)plan->units;) whole_piece(plan, (size_t)u, part);
}

static void split_pieces(void *context, int part, int parts)
{
    struct plan *plan = context;
    (void)part, (void)parts;
    for (int64_t p; (p = nbc_take(&plan->queue)) < (int64_t)(plan->units * plan->groups);) split_piece(plan, (size_t)p);
}

static void merge_targets(void *context, int part, int parts)
{
    const struct plan *plan = context;
    int64_t first, end;
    nbc_range((int64_t)plan->block->n_i, part, parts, &first, &end);
    for (int64_t i = first; i < end; i++) merge_target(plan, (size_t)i, part);
}

int gpunb_cpu_regf(void *state, const struct gpunb_block *block, struct nbc_error *err)
{
    int done = 0;
    const int status = gpunb_cpu_regf_mutual(state, block, &done, err);
    if (status || done) return status;
    struct plan plan = {.cpu = state, .block = block};
    plan.n_cells = gpunb_ceil_div(plan.cpu->n_j, CPU_CELL);
    plan.n_chunks = gpunb_ceil_div(plan.n_cells, CPU_CHUNK);
    plan.in_tiles = block->n_i >= plan.cpu->kernels->worth_tiles && plan.cpu->n_j >= FEWEST_SOURCES;
    choose_cut(&plan);
    if (!allocate(&plan, state))
        return nbc_fail(err, NBC_NO_MEMORY, "gpunb_regf: no memory for a block of %zu targets", block->n_i);
    if (plan.groups == 1) {
        nbc_team_run(plan.threads, whole_pieces, &plan);
    } else {
        for (size_t i = 0; i < block->n_i; i++) pack_target(&plan, i);
        nbc_team_run(plan.threads, split_pieces, &plan);
        nbc_team_run(plan.threads, merge_targets, &plan);
    }
    return NBC_OK;
}
