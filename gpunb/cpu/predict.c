/* SIMD backends: predictors of the sources, and cells of predicted sources. */
#include "common/team.h"
#include "gpunb/cpu/cpu.h"

enum { CELLS_OF_A_PART = 128 }; /* 2048 sources, predicted by a thread in some ten microseconds */

void gpunb_cpu_set_jp(void *state, size_t j, const struct gpunb_jp *jp)
{
    struct gpunb_cpu_state *cpu = state;
    struct gpunb_jp_cell *cell = &cpu->jp[j / CPU_CELL];
    const size_t lane = j % CPU_CELL;
    for (int k = 0; k < 3; k++) {
        cell->row[JP_X + k][lane] = jp->x[k];
        cell->row[JP_V + k][lane] = jp->v[k];
        cell->row[JP_ACC + k][lane] = jp->acc[k];
        cell->row[JP_JERK + k][lane] = jp->jerk[k];
    }
    cell->row[JP_T0][lane] = jp->t0;
    cell->m[lane] = (float)jp->mass;
}

static struct gpunb_jp get(const struct gpunb_cpu_state *cpu, size_t j)
{
    const struct gpunb_jp_cell *cell = &cpu->jp[j / CPU_CELL];
    const size_t lane = j % CPU_CELL;
    struct gpunb_jp jp = {.mass = (double)cell->m[lane], .t0 = cell->row[JP_T0][lane]};
    for (int k = 0; k < 3; k++) {
        jp.x[k] = cell->row[JP_X + k][lane];
        jp.v[k] = cell->row[JP_V + k][lane];
        jp.acc[k] = cell->row[JP_ACC + k][lane];
        jp.jerk[k] = cell->row[JP_JERK + k][lane];
    }
    return jp;
}

/* Whether the sources of a cell of places are those of one cell of numbers. Numbers ascend. */
static int is_whole(const struct gpunb_order *order, size_t first)
{
    if (first + CPU_CELL > order->n) return 0;
    const size_t number = gpunb_number_at(order, first);
    return number % CPU_CELL == 0 && gpunb_number_at(order, first + CPU_CELL - 1) == number + CPU_CELL - 1;
}

/* Predictors of a cell of places. Past the end the last source is repeated without mass, as gpunb_cpu_send does. */
static void gather(const struct gpunb_cpu_state *cpu, const struct gpunb_order *order, size_t first,
                   struct gpunb_jp_cell *cell)
{
    for (size_t lane = 0; lane < CPU_CELL; lane++) {
        const size_t place = first + lane < order->n ? first + lane : order->n - 1;
        const size_t j = gpunb_number_at(order, place), l = j % CPU_CELL;
        const struct gpunb_jp_cell *from = &cpu->jp[j / CPU_CELL];
        for (int r = 0; r < JP_ROWS; r++) cell->row[r][lane] = from->row[r][l];
        cell->m[lane] = first + lane < order->n ? from->m[l] : 0.0f;
    }
}

/* Whether all predictions of a cell are valid. */
static int predict_cell(struct gpunb_cpu_state *cpu, const struct gpunb_order *order, size_t c, double t)
{
    const size_t first = c * CPU_CELL;
    if (is_whole(order, first))
        return cpu->kernels->predict(&cpu->jp[gpunb_number_at(order, first) / CPU_CELL], t, &cpu->cells[c]);
    _Alignas(64) struct gpunb_jp_cell gathered;
    gather(cpu, order, first, &gathered);
    return cpu->kernels->predict(&gathered, t, &cpu->cells[c]);
}

static int refuse_predictor(const struct gpunb_cpu_state *cpu, const struct gpunb_order *order, double t,
                            struct nbc_error *err)
{
    for (size_t place = 0; place < order->n; place++) {
        const size_t j = gpunb_number_at(order, place);
        const struct gpunb_jp jp = get(cpu, j);
        double x[3], v[3];
        gpunb_jp_at(&jp, t, x, v);
        if (!gpunb_state_is_sound(x, v)) return gpunb_refuse_prediction(err, j, &jp, t);
    }
    return nbc_fail(err, NBC_INTERNAL, "gpunb_predict: a vector is not finite, but no source");
}

struct prediction {
    struct gpunb_cpu_state *cpu;
    const struct gpunb_order *order;
    size_t n_cells;
    double t;
    int refused;
};

static void predict_cells(void *context, int part, int parts)
{
    struct prediction *job = context;
    int64_t first, end;
    int refused = 0;
    nbc_range((int64_t)job->n_cells, part, parts, &first, &end);
    for (int64_t c = first; c < end; c++) refused |= !predict_cell(job->cpu, job->order, (size_t)c, job->t);
    if (refused) __atomic_store_n(&job->refused, 1, __ATOMIC_RELAXED);
}

int gpunb_cpu_predict(void *state, const struct gpunb_order *order, double t, struct nbc_error *err)
{
    struct gpunb_cpu_state *cpu = state;
    const size_t n_cells = (order->n + CPU_CELL - 1) / CPU_CELL;
    struct prediction job = {.cpu = cpu, .order = order, .n_cells = n_cells, .t = t};
    cpu->n_j = order->n;
    cpu->tiles.made = 0;
    nbc_team_run(nbc_parts((int64_t)n_cells, CELLS_OF_A_PART), predict_cells, &job);
    return job.refused ? refuse_predictor(cpu, order, t, err) : NBC_OK;
}
