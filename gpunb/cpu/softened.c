/* SIMD backends: softened forces. Targets are shared among threads, by targets if there are many, else also by
 * sources; the order of sums is that of gpunb/cpu/cpu.h. */
#include "common/team.h"
#include "gpunb/cpu/cpu.h"
#include "gpunb/cpu/tiles.h"
#include "gpunb/sizes.h"

#include <math.h>

enum {
    PIECES_PER_THREAD = 4,   /* pieces of work for each thread, so that they end at about the same time */
    WORTH_TILES = 256,       /* targets from which tiles pay */
    FEWEST_SOURCES = 2048,   /* for tiles: of fewer most are near a target */
    UNIT_STEP = 4,           /* targets that share loads */
    TARGETS_OF_A_PART = 256, /* packed or merged in some microseconds */
    MAX_PARTIALS = 1 << 17   /* sums kept when the sources are shared among threads: 4 MiB */
};

/* How a call is cut: `units` of `unit` targets, by `groups` of chunks of sources. */
struct plan {
    const struct gpunb_cpu_state *cpu;
    const struct gpunb_softened_job *job;
    struct gpunb_softened_target *targets;
    int in_tiles;
    size_t n_cells, n_chunks, unit, units, groups;
    int threads;
    double (*partial)[SOFTENED_SUMS]; /* [n_chunks][n_i], if groups > 1 */
    struct nbc_queue queue;
};

static void pack_targets(void *context, int part, int parts)
{
    const struct plan *plan = context;
    const struct gpunb_softened_job *job = plan->job;
    int64_t first, end;
    nbc_range((int64_t)job->n_i, part, parts, &first, &end);
    for (int64_t i = first; i < end; i++) {
        struct gpunb_softened_target *t = &plan->targets[i];
        const int32_t self = job->self ? job->self[i] : -1;
        for (int k = 0; k < 3; k++) {
            gpunb_split(job->x[i][k], &t->xh[k], &t->xl[k]);
            if (!plan->cpu->twofloat) t->xl[k] = 0.0f;
            t->x[k] = (double)t->xh[k] + (double)t->xl[k];
        }
        t->place = self >= 0 && plan->in_tiles ? plan->cpu->tiles.place[self] : self;
    }
}

/* Targets [first, first + count) against chunk c. */
static void sweep(const struct plan *plan, size_t first, size_t count, size_t c, double (*sums)[SOFTENED_SUMS])
{
    const struct gpunb_cpu_state *cpu = plan->cpu;
    const size_t cell = c * CPU_CHUNK;
    const struct gpunb_softened_chunk chunk = {
        .tiles = plan->in_tiles ? cpu->tiles.tile + cell / TILE_CELLS : NULL,
        .bounds = plan->in_tiles ? cpu->tiles.bounds + c : NULL,
        .cells = (plan->in_tiles ? cpu->tiles.cell : cpu->cells) + cell,
        .n_cells = gpunb_min_size(CPU_CHUNK, plan->n_cells - cell),
        .first = cell * CPU_CELL,
        .softening2 = (float)(plan->job->softening * plan->job->softening),
        .twofloat = cpu->twofloat,
        .want_pot = plan->job->pot != NULL,
        .count = count,
        .targets = plan->targets + first,
        .sums = sums,
    };
    cpu->kernels->softened(&chunk);
}

/* Target i again in double: for sums that do not fit a float. */
static void exact(const struct plan *plan, size_t i, double sum[SOFTENED_SUMS])
{
    const struct gpunb_cpu_state *cpu = plan->cpu;
    const struct gpunb_softened_job *job = plan->job;
    const int32_t self = job->self ? job->self[i] : -1;
    memset(sum, 0, SOFTENED_SUMS * sizeof *sum);
    for (size_t j = 0; j < cpu->n_j; j++) {
        const struct gpunb_cell *cell = &cpu->cells[j / CPU_CELL];
        const float *high[] = {cell->xh, cell->yh, cell->zh}, *low[] = {cell->xl, cell->yl, cell->zl};
        const size_t l = j % CPU_CELL;
        double d[3], r2 = job->softening * job->softening;
        for (int k = 0; k < 3; k++) {
            d[k] = (double)high[k][l] + (cpu->twofloat ? (double)low[k][l] : 0.0) - plan->targets[i].x[k];
            r2 += d[k] * d[k];
        }
        const double mr = (double)cell->m[l] / sqrt(r2);
        for (int k = 0; k < 3; k++) sum[k] += mr / r2 * d[k];
        if (self != (int32_t)j) sum[3] += mr;
    }
}

static void finish(const struct plan *plan, size_t i, double sum[SOFTENED_SUMS])
{
    if (!isfinite(sum[0] + sum[1] + sum[2] + sum[3])) exact(plan, i, sum);
    memcpy(plan->job->acc[i], sum, sizeof plan->job->acc[i]);
    if (plan->job->pot) plan->job->pot[i] = -sum[3];
}

static void add(double total[SOFTENED_SUMS], const double part[SOFTENED_SUMS])
{
    for (int q = 0; q < SOFTENED_SUMS; q++) total[q] += part[q];
}

static void whole_pieces(void *context, int part, int parts)
{
    struct plan *plan = context;
    (void)part, (void)parts;
    for (int64_t u; (u = nbc_take(&plan->queue)) < (int64_t)plan->units;) {
        double total[CPU_UNIT][SOFTENED_SUMS] = {0}, sums[CPU_UNIT][SOFTENED_SUMS];
        const size_t first = (size_t)u * plan->unit, count = gpunb_min_size(plan->unit, plan->job->n_i - first);
        for (size_t c = 0; c < plan->n_chunks; c++) {
            sweep(plan, first, count, c, sums);
            for (size_t k = 0; k < count; k++) add(total[k], sums[k]);
        }
        for (size_t k = 0; k < count; k++) finish(plan, first + k, total[k]);
    }
}

static void split_pieces(void *context, int part, int parts)
{
    struct plan *plan = context;
    (void)part, (void)parts;
    for (int64_t p; (p = nbc_take(&plan->queue)) < (int64_t)(plan->units * plan->groups);) {
        const size_t u = (size_t)p / plan->groups, g = (size_t)p % plan->groups, n_i = plan->job->n_i;
        const size_t first = u * plan->unit, count = gpunb_min_size(plan->unit, n_i - first);
        const size_t begin = g * plan->n_chunks / plan->groups, end = (g + 1) * plan->n_chunks / plan->groups;
        for (size_t c = begin; c < end; c++) sweep(plan, first, count, c, plan->partial + c * n_i + first);
    }
}

/* The same order of addition as in whole_pieces, hence the same bits. */
static void merge_targets(void *context, int part, int parts)
{
    const struct plan *plan = context;
    int64_t first, end;
    nbc_range((int64_t)plan->job->n_i, part, parts, &first, &end);
    for (int64_t i = first; i < end; i++) {
        double total[SOFTENED_SUMS] = {0};
        for (size_t c = 0; c < plan->n_chunks; c++) add(total, plan->partial[c * plan->job->n_i + (size_t)i]);
        finish(plan, (size_t)i, total);
    }
}

static void choose_cut(struct plan *plan)
{
    const size_t n_i = plan->job->n_i;
    const double pairs = (double)n_i * (double)plan->cpu->n_j;
    plan->threads = nbc_parts((int64_t)fmin(pairs, 1e15), CPU_PAIRS_OF_A_PART);
    const size_t pieces = (size_t)plan->threads * PIECES_PER_THREAD;
    plan->unit = gpunb_ceil_div(gpunb_ceil_div(n_i, pieces), UNIT_STEP) * UNIT_STEP;
    if (plan->threads == 1 || plan->unit > CPU_UNIT) plan->unit = CPU_UNIT;
    plan->units = gpunb_ceil_div(n_i, plan->unit);
    plan->groups = 1;
    if (plan->threads > 1 && plan->units < pieces && n_i * plan->n_chunks <= MAX_PARTIALS)
        plan->groups = gpunb_min_size(plan->n_chunks, gpunb_ceil_div(pieces, plan->units));
}

static int allocate(struct plan *plan, struct gpunb_cpu_state *cpu)
{
    const size_t n_i = plan->job->n_i;
    plan->targets = gpunb_cpu_grow(&cpu->targets, n_i, sizeof *plan->targets);
    if (!plan->targets || (plan->in_tiles && !gpunb_cpu_make_tiles(cpu, NULL))) return 0;
    if (plan->groups <= 1) return 1;
    plan->partial = gpunb_cpu_grow(&cpu->partial, n_i * plan->n_chunks, sizeof *plan->partial);
    return plan->partial != NULL;
}

int gpunb_cpu_softened(void *state, const struct gpunb_softened_job *job, struct nbc_error *err)
{
    struct gpunb_cpu_state *cpu = state;
    struct plan plan = {.cpu = cpu, .job = job, .in_tiles = job->n_i >= WORTH_TILES && cpu->n_j >= FEWEST_SOURCES};
    plan.n_cells = gpunb_ceil_div(cpu->n_j, CPU_CELL);
    plan.n_chunks = gpunb_ceil_div(plan.n_cells, CPU_CHUNK);
    choose_cut(&plan);
    if (!allocate(&plan, cpu))
        return nbc_fail(err, NBC_NO_MEMORY, "gpunb_softened: no memory for %zu targets", job->n_i);
    nbc_team_run(nbc_parts((int64_t)job->n_i, TARGETS_OF_A_PART), pack_targets, &plan);
    if (plan.groups == 1) {
        nbc_team_run(plan.threads, whole_pieces, &plan);
        return NBC_OK;
    }
    nbc_team_run(plan.threads, split_pieces, &plan);
    nbc_team_run(nbc_parts((int64_t)job->n_i, TARGETS_OF_A_PART), merge_targets, &plan);
    return NBC_OK;
}
