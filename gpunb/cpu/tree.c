/* SIMD backends: sources for a tree. */
#include "gpunb/cpu/cpu.h"

void gpunb_cpu_read(const void *state, size_t first, size_t end, double *mass, double (*x)[3])
{
    const struct gpunb_cpu_state *cpu = state;
    for (size_t j = first; j < end; j++) {
        const struct gpunb_cell *cell = &cpu->cells[j / CPU_CELL];
        const size_t l = j % CPU_CELL;
        mass[j - first] = (double)cell->m[l];
        x[j - first][0] = (double)cell->xh[l];
        x[j - first][1] = (double)cell->yh[l];
        x[j - first][2] = (double)cell->zh[l];
        if (!cpu->twofloat) continue;
        x[j - first][0] += (double)cell->xl[l];
        x[j - first][1] += (double)cell->yl[l];
        x[j - first][2] += (double)cell->zl[l];
    }
}

void gpunb_cpu_round(const void *state, const double x[3], double rounded[3])
{
    const struct gpunb_cpu_state *cpu = state;
    for (int k = 0; k < 3; k++) {
        float high, low;
        gpunb_split(x[k], &high, &low);
        rounded[k] = (double)high;
        if (cpu->twofloat) rounded[k] += (double)low;
    }
}
