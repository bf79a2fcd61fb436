/* SIMD backends: the order of the sources in space, by keys along a curve. */
#include "gpunb/cpu/order.h"

#include "common/radix.h"
#include "common/team.h"

#include <math.h>
#include <stdlib.h>

enum {
    SAMPLE = 63,         /* sample of sources for the position and the size of the cluster */
    MANY_SOURCES = 65536 /* beyond, the curve is finer */
};

struct sort {
    struct gpunb_cpu_state *cpu;
    struct gpunb_curve curve;
    uint64_t *from, *to;
};

static int by_value(const void *a, const void *b)
{
    const float p = *(const float *)a, q = *(const float *)b;
    return (p > q) - (p < q);
}

static float median(float *values, size_t n)
{
    qsort(values, n, sizeof *values, by_value);
    return values[n / 2];
}

/* Medians of a sample, which sources far out do not move. */
static struct gpunb_curve fit_curve(const struct gpunb_cpu_state *cpu, int bits)
{
    const size_t n = cpu->n_j < SAMPLE ? cpu->n_j : SAMPLE;
    float x[3][SAMPLE], size[SAMPLE] = {0}, sorted[SAMPLE];
    struct gpunb_curve curve = {.bits = bits, .half_cubes = 0.499999f * (float)(1 << bits)};
    for (size_t s = 0; s < n; s++) {
        const size_t j = s * cpu->n_j / n, l = j % CPU_CELL;
        const struct gpunb_cell *cell = &cpu->cells[j / CPU_CELL];
        x[0][s] = cell->xh[l];
        x[1][s] = cell->yh[l];
        x[2][s] = cell->zh[l];
    }
    for (int k = 0; k < 3; k++) {
        memcpy(sorted, x[k], n * sizeof *sorted);
        curve.centre[k] = median(sorted, n);
        for (size_t s = 0; s < n; s++) size[s] += fabsf(x[k][s] - curve.centre[k]);
    }
    const float scale = median(size, n) / 3.0f;
    curve.per_scale = scale > 1e-30f ? 1.0f / scale : 1e30f;
    return curve;
}

static void make_keys(void *context, int part, int parts)
{
    const struct sort *sort = context;
    const struct gpunb_cpu_state *cpu = sort->cpu;
    int64_t first, end;
    nbc_range((int64_t)((cpu->n_j + CPU_CELL - 1) / CPU_CELL), part, parts, &first, &end);
    for (int64_t cell = first; cell < end; cell++) {
        const size_t j = (size_t)cell * CPU_CELL;
        uint32_t place[CPU_CELL];
        cpu->kernels->curve(&cpu->cells[cell], &sort->curve, place);
        for (size_t l = 0; l < CPU_CELL && j + l < cpu->n_j; l++)
            sort->from[j + l] = nbc_keyed32(place[l], (uint32_t)(j + l));
    }
}

/* Keys [n, ...) up to the end of a cell.   @return where that is */
static size_t pad(uint64_t *keys, size_t n)
{
    size_t end = n;
    for (; end % CPU_CELL > 0; end++) keys[end] = keys[n - 1] | GPUNB_KEY_PADDING;
    return end;
}

/* Sources with a row, then the others, each in the order that they have. */
static void part_keys(const struct sort *sort, const int32_t *row)
{
    struct gpunb_cpu_tiles *tiles = &sort->cpu->tiles;
    const size_t n_j = sort->cpu->n_j, chunk = (size_t)CPU_CHUNK * CPU_CELL;
    size_t n = 0, others = 0;
    for (size_t j = 0; j < n_j; j++) n += row[j] >= 0;
    tiles->n_first = n;
    tiles->others = (n + chunk - 1) / chunk * chunk;
    n = 0;
    for (size_t k = 0; k < n_j; k++) {
        const uint64_t key = sort->from[k];
        const int first = row[gpunb_key_number(key)] >= 0;
        sort->to[first ? n : tiles->others + others] = key;
        n += (size_t)first;
        others += (size_t)!first;
    }
    const size_t end = pad(sort->to, n);
    tiles->n_cells = (others > 0 ? pad(sort->to, tiles->others + others) : end) / CPU_CELL;
}

int gpunb_cpu_order(struct gpunb_cpu_state *cpu, const int32_t *row, const uint64_t **keys)
{
    struct gpunb_cpu_tiles *tiles = &cpu->tiles;
    const int parts = nbc_radix_parts(cpu->n_j), bits = cpu->n_j < MANY_SOURCES ? 7 : 10;
    const size_t room = cpu->n_j + (size_t)(CPU_CHUNK + 2) * CPU_CELL; /* two ends of cells, and one of a chunk */
    struct sort sort = {.cpu = cpu, .curve = fit_curve(cpu, bits)};
    sort.from = gpunb_cpu_grow(&tiles->keys, 2 * room, sizeof *sort.from);
    uint32_t(*count)[NBC_RADIX_DIGITS] = gpunb_cpu_grow(&tiles->counts, (size_t)parts, sizeof *count);
    if (!sort.from || !count) return 0;
    sort.to = sort.from + room;
    nbc_team_run(parts, make_keys, &sort);
    if (nbc_radix_sort32(cpu->n_j, 3 * bits, sort.from, sort.to, count, parts) == sort.to) {
        uint64_t *unsorted = sort.from;
        sort.from = sort.to;
        sort.to = unsorted;
    }
    tiles->n_first = tiles->others = 0;
    if (row)
        part_keys(&sort, row);
    else
        tiles->n_cells = pad(sort.from, cpu->n_j) / CPU_CELL;
    *keys = row ? sort.to : sort.from;
    return 1;
}
