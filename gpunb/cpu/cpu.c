/* SIMD backends: packing of the sources, potential. Predicted sources are in cpu/predict.c, forces in cpu/block.c. */
#include "gpunb/cpu/cpu.h"

#include "common/team.h"
#include "gpunb/cpu/tiles.h"

enum { CELLS_OF_A_PART = 256 }; /* 4096 sources, packed by a thread in some ten microseconds */

void gpunb_cpu_free(void *state)
{
    struct gpunb_cpu_state *cpu = state;
    if (!cpu) return;
    nbc_free(cpu->cells);
    nbc_free(cpu->targets.data);
    nbc_free(cpu->partial.data);
    nbc_free(cpu->sinks.data);
    nbc_free(cpu->lists.data);
    nbc_free(cpu->marks.data);
    nbc_free(cpu->rows.data);
    nbc_free(cpu->mutual.data);
    nbc_free(cpu->progress.data);
    nbc_free(cpu->regular.rows.data);
    nbc_free(cpu->regular.spaces.data);
    gpunb_cpu_free_tiles(&cpu->tiles);
    nbc_free(cpu->jp);
    nbc_free(cpu);
}

static size_t cells_for(size_t n)
{
    return (n + CPU_CELL - 1) / CPU_CELL;
}

int gpunb_cpu_create(void **state, const struct gpunb_setup *setup, struct nbc_error *err)
{
    size_t n_j_max = setup->n_j_max;
    struct gpunb_cpu_state *cpu = nbc_alloc(1, sizeof *cpu);
    if (cpu) cpu->cells = gpunb_cpu_cells(NULL, 0, cells_for(n_j_max), sizeof *cpu->cells);
    if (!cpu || !cpu->cells) {
        gpunb_cpu_free(cpu);
        return nbc_fail(err, NBC_NO_MEMORY, "gpunb_create: backend %s: no memory for %zu sources", setup->backend->name,
                        n_j_max);
    }
    cpu->kernels = setup->backend->method;
    cpu->twofloat = setup->precision == GPUNB_TWOFLOAT;
    cpu->n_cells = cells_for(n_j_max);
    *state = cpu;
    return NBC_OK;
}

int gpunb_cpu_reserve(void *state, size_t n_j_max, struct nbc_error *err)
{
    struct gpunb_cpu_state *cpu = state;
    struct gpunb_cell *cells = gpunb_cpu_cells(cpu->cells, cpu->n_cells, cells_for(n_j_max), sizeof *cells);
    if (!cells) return nbc_fail(err, NBC_NO_MEMORY, "gpunb_reserve: no memory for %zu sources", n_j_max);
    cpu->cells = cells;
    cpu->n_cells = cells_for(n_j_max);
    return NBC_OK;
}

int gpunb_cpu_predictors(void *state, size_t n_j_max, struct nbc_error *err)
{
    struct gpunb_cpu_state *cpu = state;
    struct gpunb_jp_cell *jp = gpunb_cpu_cells(cpu->jp, cpu->n_jp_cells, cells_for(n_j_max), sizeof *jp);
    if (!jp) return nbc_fail(err, NBC_NO_MEMORY, "gpunb: no memory for the predictors of %zu sources", n_j_max);
    cpu->jp = jp;
    cpu->n_jp_cells = cells_for(n_j_max);
    return NBC_OK;
}

struct packing {
    struct gpunb_cpu_state *cpu;
    const double *mass;
    const double (*x)[3], (*v)[3];
};

/* Velocities of sources [first, first + CPU_CELL), zero if none were sent. */
static const double (*velocities(const struct packing *job, int64_t first))[3]
{
    static const double rest[CPU_CELL][3];
    return job->v ? job->v + first : rest;
}

static void pack_cells(void *context, int part, int parts)
{
    const struct packing *job = context;
    int64_t first, end;
    nbc_range((int64_t)(job->cpu->n_j / CPU_CELL), part, parts, &first, &end);
    for (int64_t c = first; c < end; c++)
        job->cpu->kernels->pack(job->mass + c * CPU_CELL, job->x + c * CPU_CELL, velocities(job, c * CPU_CELL),
                                &job->cpu->cells[c]);
}

/* Past the end the last source is repeated without mass, so that lanes of padding have finite results. */
static void pack_rest(const struct packing *job)
{
    const size_t n_j = job->cpu->n_j, first = n_j / CPU_CELL * CPU_CELL;
    double mass[CPU_CELL], x[CPU_CELL][3], v[CPU_CELL][3] = {0};
    for (size_t l = 0; l < CPU_CELL; l++) {
        const size_t j = first + l < n_j ? first + l : n_j - 1;
        mass[l] = first + l < n_j ? job->mass[j] : 0.0;
        memcpy(x[l], job->x[j], sizeof x[l]);
        if (job->v) memcpy(v[l], job->v[j], sizeof v[l]);
    }
    job->cpu->kernels->pack(mass, (const double(*)[3])x, (const double(*)[3])v, &job->cpu->cells[n_j / CPU_CELL]);
}

int gpunb_cpu_send(void *state, size_t n_j, const double *mass, const double (*x)[3], const double (*v)[3],
                   struct nbc_error *err)
{
    (void)err;
    struct gpunb_cpu_state *cpu = state;
    struct packing job = {.cpu = cpu, .mass = mass, .x = x, .v = v};
    cpu->n_j = n_j;
    cpu->tiles.made = 0;
    nbc_team_run(nbc_parts((int64_t)(n_j / CPU_CELL), CELLS_OF_A_PART), pack_cells, &job);
    if (n_j % CPU_CELL > 0) pack_rest(&job);
    return NBC_OK;
}

void gpunb_cpu_exact(const struct gpunb_cpu_state *cpu, const struct gpunb_block *block, size_t i,
                     const struct gpunb_target *target)
{
    struct gpunb_sum sum = {0};
    size_t found = 0;
    int32_t *row = block->nblist + i * block->list_stride;
    double x[3], v[3];
    for (int k = 0; k < 3; k++) {
        x[k] = (double)target->xh[k] + (double)target->xl[k];
        v[k] = (double)target->v[k];
    }
    for (size_t j = 0; j < cpu->n_j; j++) {
        if (target->self == (int32_t)j) continue;
        const struct gpunb_cell *c = &cpu->cells[j / CPU_CELL];
        size_t l = j % CPU_CELL;
        double mass = (double)c->m[l];
        double dx[3] = {(double)c->xh[l] + (double)c->xl[l] - x[0], (double)c->yh[l] + (double)c->yl[l] - x[1],
                        (double)c->zh[l] + (double)c->zl[l] - x[2]};
        double dv[3] = {(double)c->vx[l] - v[0], (double)c->vy[l] - v[1], (double)c->vz[l] - v[2]};
        double limit2 = block->mass_weighted ? mass * block->r_nb2[i] : block->r_nb2[i];
        if (gpunb_pair_is_neighbour(dx, dv, block->dt_reg[i], limit2)) {
            if (found < block->nb_cap) row[found] = (int32_t)j;
            found++;
        } else {
            gpunb_pair_add(dx, dv, mass, &sum);
        }
    }
    block->nnb[i] = (int32_t)found;
    memcpy(block->acc[i], sum.acc, sizeof sum.acc);
    memcpy(block->jerk[i], sum.jerk, sizeof sum.jerk);
    if (block->pot) block->pot[i] = -sum.pot;
}

enum { POT_UNIT = 32, POT_SERIAL = 40000 };

int gpunb_cpu_potential(void *state, const struct gpunb_pot_job *job, struct nbc_error *err)
{
    const struct gpunb_cpu_state *cpu = state;
    size_t n_padded = (job->n + CPU_CELL - 1) / CPU_CELL * CPU_CELL;
    double *copy = nbc_alloc(n_padded, 4 * sizeof *copy);
    if (!copy) return nbc_fail(err, NBC_NO_MEMORY, "gpunb_potential: no memory for a copy of %zu bodies", job->n);
    double *x = copy, *y = x + n_padded, *z = y + n_padded, *m = z + n_padded;
    for (size_t j = 0; j < n_padded; j++) {
        size_t source = j < job->n ? j : job->n - 1;
        x[j] = job->x[source][0];
        y[j] = job->x[source][1];
        z[j] = job->x[source][2];
        m[j] = j < job->n ? job->mass[source] : 0.0;
    }
    size_t units = (job->n_i + POT_UNIT - 1) / POT_UNIT;
#pragma omp parallel for schedule(dynamic) if (job->n_i * job->n > POT_SERIAL)
    for (size_t u = 0; u < units; u++) {
        size_t first = u * POT_UNIT, left = job->n_i - first;
        cpu->kernels->potential(&(struct gpunb_cpu_pot){.x = x,
                                                        .y = y,
                                                        .z = z,
                                                        .m = m,
                                                        .n_padded = n_padded,
                                                        .i_first = job->i_first + first,
                                                        .n_i = left < POT_UNIT ? left : POT_UNIT,
                                                        .pot = job->pot + first});
    }
    nbc_free(copy);
    return NBC_OK;
}
