#include "compact.h"

#include <math.h>
#include <string.h>

/* Masses for which m/r^3 fits a float at all distances that the kernels take (MIN_R2, MAX_R2 in kernel.h). */
static const double MIN_MASS = 1e-18, MAX_MASS = 1e9;

static void put_time(float *row, double t0)
{
    memcpy(row + 14, &t0, sizeof t0);
}

/* `value` rounded to float; *tail: what is left of it, as compact.h says. The rounding is done on the bits of the
 * double because gcc 12 drops (double)(float)value where it vectorises, and then nothing would be left. */
static float split(double value, int32_t *tail)
{
    uint64_t bits, power;
    double rounded, unit;
    memcpy(&bits, &value, sizeof bits);
    bits = (bits + 0x10000000u) & ~(uint64_t)0x1fffffffu;
    memcpy(&rounded, &bits, sizeof rounded);
    power = bits & 0x7ff0000000000000u;
    memcpy(&unit, &power, sizeof unit);
    double units = unit > 0 ? (value - rounded) / unit * 0x1p33 : 0;
    *tail = (int32_t)(units < -512 ? -512 : units > 511 ? 511 : rint(units));
    return (float)rounded;
}

void *gpuirr_compact_open(size_t n_max)
{
    struct gpuirr_compact *store = nbc_alloc(1, sizeof *store);
    if (!store) return NULL;
    store->row = nbc_alloc(n_max, GPUIRR_ROW * sizeof *store->row);
    store->pred = nbc_alloc(n_max, GPUIRR_ROW * sizeof *store->pred);
    store->body = gpuirr_records_open(n_max);
    if (!store->row || !store->pred || !store->body) {
        gpuirr_compact_close(store);
        return NULL;
    }
    for (size_t i = 0; i < n_max; i++) put_time(store->row + i * GPUIRR_ROW, NAN); /* not set yet */
    return store;
}

void gpuirr_compact_close(void *memory)
{
    struct gpuirr_compact *store = memory;
    if (!store) return;
    nbc_free(store->row);
    nbc_free(store->pred);
    nbc_free(store->body);
    nbc_free(store);
}

void gpuirr_compact_set_jp(void *memory, size_t i, const struct gpuirr_state *state)
{
    struct gpuirr_compact *store = memory;
    float *row = store->row + i * GPUIRR_ROW;
    int32_t tails = 0;
    for (int d = 0; d < 3; d++) {
        int32_t tail;
        row[d] = split(state->x[d], &tail);
        tails |= (tail & 0x3ff) << (10 * d);
        row[11 + d] = (float)(state->jerk[d] * (1.0 / 6.0));
        row[4 + d] = (float)state->v[d];
        row[8 + d] = (float)(0.5 * state->acc[d]);
    }
    memcpy(&row[7], &tails, sizeof tails);
    double mass = fabs(state->mass);
    row[3] = (float)state->mass;
    if (mass > 0 && !(mass >= MIN_MASS && mass <= MAX_MASS)) row[0] = NAN;
    put_time(row, state->t0);
    store->body[i].s = *state;
}

void gpuirr_compact_add_exact(const struct gpuirr_compact *store, int32_t i, const int32_t *nb, unsigned bits, double t,
                              int *begun, struct gpuirr_exact *sum)
{
    if (!*begun) gpuirr_exact_begin(&store->body[i], t, sum);
    *begun = 1;
    for (; bits; bits &= bits - 1) {
        int32_t j = nb[__builtin_ctz(bits)];
        gpuirr_exact_add(&store->body[j], j, t, sum);
    }
}

void gpuirr_compact_list_exact(const struct gpuirr_compact *store, const struct gpuirr_task *task, double t,
                               struct gpuirr_force *force)
{
    struct gpuirr_exact sum;
    gpuirr_exact_begin(&store->body[task->i], t, &sum);
    for (size_t k = 0; k < task->nnb; k++) gpuirr_exact_add(&store->body[task->nblist[k]], task->nblist[k], t, &sum);
    *force = (struct gpuirr_force){.nearest = sum.nearest, .coincident = sum.coincident};
    memcpy(force->acc, sum.acc, sizeof sum.acc);
    memcpy(force->jerk, sum.jerk, sizeof sum.jerk);
}
