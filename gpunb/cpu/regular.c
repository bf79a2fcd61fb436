/* SIMD backends: pairs of regular forces by tree (gpunb/tree/regular_walk.h). A group meets sources that follow each
 * other in the tree, in the kernels of blocks of few targets: so pairs are tested as in direct sums, and lists are the
 * same. */
#include "gpunb/cpu/regular.h"

#include "common/team.h"
#include "gpunb/cpu/target.h"

enum {
    ROWS = 10, /* of floats in a gpunb_cell */
    PLACES_OF_A_PART = 4096,
    MOST_TARGETS = 4, /* of one call of a kernel */
    PILE_CELLS = TREE_PILE / CPU_CELL + TREE_RANGES
};

/* Memory of a thread. */
struct regular_space {
    struct gpunb_cell cell[PILE_CELLS];
    int32_t number[PILE_CELLS * CPU_CELL]; /* of the source in each lane; -1: none */
    int32_t place[TREE_RANGES];            /* lane of the first source of a range */
    int32_t list[MOST_TARGETS][PILE_CELLS * CPU_CELL];
    struct gpunb_target *target; /* [group] */
    struct gpunb_sum *sum;
    size_t *found;
};

static size_t space_bytes(size_t most)
{
    return (sizeof(struct regular_space) +
            most * (sizeof(struct gpunb_target) + sizeof(struct gpunb_sum) + sizeof(size_t)) + 63) /
           64 * 64;
}

static struct regular_space *space_of(const struct gpunb_cpu_state *cpu, int thread)
{
    return (struct regular_space *)(void *)((char *)cpu->regular.spaces.data + (size_t)thread * cpu->regular.bytes);
}

/* ---- sources in the order of the tree */

static const float *row_of(const struct gpunb_cell *cell, int row)
{
    return cell->xh + row * CPU_CELL;
}

static void sort_part(void *context, int part, int parts)
{
    const struct gpunb_cpu_state *cpu = context;
    const struct gpunb_cpu_regular *regular = &cpu->regular;
    int64_t first, end;
    nbc_range((int64_t)cpu->n_j, part, parts, &first, &end);
    for (int64_t p = first; p < end; p++) {
        const size_t j = (size_t)regular->number[p];
        const float *from = row_of(&cpu->cells[j / CPU_CELL], 0) + j % CPU_CELL;
        for (int row = 0; row < ROWS; row++) regular->row[row][p] = from[row * CPU_CELL];
    }
}

static int begin(void *state, const int32_t *number, int threads, size_t most)
{
    struct gpunb_cpu_state *cpu = state;
    struct gpunb_cpu_regular *regular = &cpu->regular;
    const size_t room = cpu->n_j + CPU_CELL; /* whole vectors are read */
    float *rows = gpunb_cpu_grow(&regular->rows, room, ROWS * sizeof *rows);
    regular->bytes = space_bytes(most);
    if (!rows || !gpunb_cpu_grow(&regular->spaces, (size_t)threads, regular->bytes) ||
        !gpunb_cpu_grow_marks(cpu, threads))
        return NBC_NO_MEMORY;
    for (int row = 0; row < ROWS; row++) regular->row[row] = rows + (size_t)row * room;
    for (int t = 0; t < threads; t++) {
        struct regular_space *space = space_of(cpu, t);
        space->target = (struct gpunb_target *)(void *)(space + 1);
        space->sum = (struct gpunb_sum *)(void *)(space->target + most);
        space->found = (size_t *)(void *)(space->sum + most);
    }
    regular->number = number;
    nbc_team_run(nbc_parts((int64_t)cpu->n_j, PLACES_OF_A_PART), sort_part, cpu);
    return NBC_OK;
}

static void read_v(const void *state, size_t first, size_t end, double (*v)[3])
{
    const struct gpunb_cpu_state *cpu = state;
    for (size_t j = first; j < end; j++) {
        const struct gpunb_cell *cell = &cpu->cells[j / CPU_CELL];
        const size_t l = j % CPU_CELL;
        v[j - first][0] = (double)cell->vx[l];
        v[j - first][1] = (double)cell->vy[l];
        v[j - first][2] = (double)cell->vz[l];
    }
}

/* ---- a group of targets */

static void begin_targets(void *state, const struct gpunb_regular_targets *targets)
{
    const struct gpunb_cpu_state *cpu = state;
    struct regular_space *space = space_of(cpu, targets->thread);
    for (size_t i = 0; i < targets->n; i++) {
        gpunb_cpu_pack_target(cpu, targets->block, (size_t)targets->target[i], &space->target[i]);
        space->sum[i] = (struct gpunb_sum){.pot = 0};
        space->found[i] = 0;
    }
}

/* Sixteen sources from a place on, of which some count: the others repeat the last one, without mass. */
static void copy_cell(const struct gpunb_cpu_regular *regular, size_t place, size_t count, struct gpunb_cell *cell)
{
    for (int row = 0; row < ROWS; row++) {
        float *to = cell->xh + row * CPU_CELL;
        memcpy(to, regular->row[row] + place, CPU_CELL * sizeof *to);
        for (size_t l = count; l < CPU_CELL; l++) to[l] = to[count - 1];
    }
    for (size_t l = count; l < CPU_CELL; l++) cell->m[l] = 0;
}

/* @return cells */
static size_t copy_pile(const struct gpunb_cpu_regular *regular, const struct gpunb_regular_pile *pile,
                        struct regular_space *space)
{
    size_t n = 0;
    for (size_t r = 0; r < pile->n; r++) {
        const size_t first = (size_t)pile->range[r].first, end = first + (size_t)pile->range[r].count;
        space->place[r] = (int32_t)(n * CPU_CELL);
        for (size_t p = first; p < end; p += CPU_CELL, n++) {
            const size_t count = end - p < CPU_CELL ? end - p : CPU_CELL;
            int32_t *number = space->number + n * CPU_CELL;
            copy_cell(regular, p, count, &space->cell[n]);
            for (size_t l = 0; l < CPU_CELL; l++) number[l] = l < count ? regular->number[p + l] : -1;
        }
    }
    return n;
}

/* The lane of the pile in which a source is, by halves.   @return -1: it is not there */
static int32_t lane_of(const struct gpunb_regular_pile *pile, const struct regular_space *space, int32_t place)
{
    size_t low = 0, high = pile->n;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (pile->range[middle].first <= place)
            low = middle;
        else
            high = middle;
    }
    const int32_t beyond = place - pile->range[low].first;
    return beyond >= 0 && beyond < pile->range[low].count ? space->place[low] + beyond : -1;
}

/* Neighbours by lane go to the row of their target by number. */
static void take_list(const struct gpunb_block *block, size_t target, const struct regular_space *space,
                      const struct gpunb_sink *sink, size_t *found)
{
    int32_t *row = block->nblist + target * block->list_stride;
    for (size_t k = 0; k < sink->found; k++) {
        const int32_t number = space->number[sink->list[k]];
        if (number < 0) continue;
        if (*found < block->nb_cap) row[*found] = number;
        ++*found;
    }
}

static void add_pairs(void *state, const struct gpunb_regular_targets *targets, const struct gpunb_regular_pile *pile)
{
    const struct gpunb_cpu_state *cpu = state;
    struct regular_space *space = space_of(cpu, targets->thread);
    const size_t n_cells = copy_pile(&cpu->regular, pile, space), wide = (size_t)cpu->kernels->block;
    struct gpunb_cpu_job job = {.cells = space->cell,
                                .n_cells = n_cells,
                                .n_j = n_cells * CPU_CELL,
                                .twofloat = cpu->twofloat,
                                .weighted = targets->block->mass_weighted,
                                .want_pot = targets->block->pot != NULL};
    for (size_t i = 0; i < targets->n; i++)
        space->target[i].self = targets->place[i] < 0 ? -1 : lane_of(pile, space, targets->place[i]);
    for (size_t i = 0, n; i < targets->n; i += n) {
        struct gpunb_sink sink[MOST_TARGETS];
        struct gpunb_sum sum[MOST_TARGETS];
        n = targets->n - i >= wide ? wide : 1;
        for (size_t k = 0; k < n; k++)
            sink[k] = (struct gpunb_sink){.list = space->list[k], .cap = PILE_CELLS * CPU_CELL};
        job.targets = space->target + i;
        job.sinks = sink;
        job.sums = sum;
        (n == wide ? cpu->kernels->regf_block : cpu->kernels->regf_one)(&job);
        for (size_t k = 0; k < n; k++) {
            gpunb_cpu_add(&space->sum[i + k], &sum[k]);
            take_list(targets->block, (size_t)targets->target[i + k], space, &sink[k], &space->found[i + k]);
        }
    }
}

static void end_targets(void *state, const struct gpunb_regular_targets *targets, const struct gpunb_sum *sum)
{
    const struct gpunb_cpu_state *cpu = state;
    const struct regular_space *space = space_of(cpu, targets->thread);
    for (size_t i = 0; i < targets->n; i++) {
        const size_t number = (size_t)targets->target[i];
        struct gpunb_target *target = &space->target[i];
        gpunb_cpu_add(&space->sum[i], &sum[i]);
        target->self = targets->block->self ? targets->block->self[number] : -1;
        gpunb_cpu_finish_target(cpu, targets->block, number, target, &space->sum[i], space->found[i], targets->thread);
    }
}

const struct gpunb_regular_method gpunb_cpu_regular = {
    .read_v = read_v,
    .begin = begin,
    .begin_targets = begin_targets,
    .add_pairs = add_pairs,
    .end_targets = end_targets,
};
