#include "gpuirr/cpu/compact.h"
#include "gpuirr/pair.h"

#include <math.h>
#include <string.h>

static void put_time(float *row, double t0)
{
    memcpy(row + 14, &t0, sizeof t0);
}

/* Smaller coordinates, which only a few bodies near the origin have, are stored as this to bound the exponents. */
static const double TINY = 0x1.8p-90;

/* The float that represents `value` in a row, and *rest, the 23 bits behind the point of m (compact.h). All on the
 * bits of the double, of which 29 do not fit a float. */
static float split(double value, uint32_t *rest)
{
    const uint64_t unit = (uint64_t)1 << 29, exponent = (uint64_t)0x7ff << 52;
    const double size = fabs(value) < TINY ? TINY : fabs(value);
    uint64_t bits, behind;
    double high;
    memcpy(&bits, &size, sizeof bits);
    behind = bits & (unit - 1);
    bits -= behind;
    *rest = (uint32_t)(behind >> 6);
    if ((bits & ~exponent) == 0) { /* a power of two: the floats below it are twice as dense */
        if (behind >= unit / 2) return NAN;
        *rest = (uint32_t)(behind >> 5);
    }
    bits -= unit;
    memcpy(&high, &bits, sizeof high);
    return size < 0x1p127 ? (float)copysign(high, value) : NAN;
}

/* (value - behind) / unit, rounded to a number from 0 to `most`. */
static uint32_t round_to(uint32_t value, uint32_t behind, uint32_t unit, uint32_t most)
{
    uint32_t n = value > behind ? (value - behind + unit / 2) / unit : 0;
    return n < most ? n : most;
}

/* The highest n_bits of the 23 bits of a coordinate, as they are stored. hidden: all 23 of what is stored there so far,
 * by which they are hidden; those behind the highest stay as they are. */
static uint32_t hide_tail(uint32_t rest, uint32_t hidden, int n_bits)
{
    const uint32_t unit = 1u << (23 - n_bits), most = (1u << n_bits) - 1, n = hidden & 0x7fffff;
    return round_to(rest, n % unit, unit, most) ^ n / unit;
}

/* tails from the 23 bits of each coordinate and the floats in the row. */
static uint32_t join_tails(const uint32_t rest[3], const float high[3])
{
    uint32_t bits[3], tails;
    memcpy(bits, high, sizeof bits);
    tails = hide_tail(rest[1], bits[1], 12);
    tails |= hide_tail(rest[0], bits[0], 11) << 12;
    return tails | hide_tail(rest[2], bits[2] ^ tails >> 9, 9) << 23;
}

/* -1 without memory: the rows are where they were. */
static int grow_rows(float **rows, size_t n_old, size_t n_max)
{
    float *grown = nbc_realloc(*rows, n_old, n_max, GPUIRR_ROW * sizeof **rows);
    if (grown) *rows = grown;
    return grown ? 0 : -1;
}

int gpuirr_compact_grow(void **memory, size_t n_old, size_t n_max)
{
    struct gpuirr_compact *store = *memory;
    if (grow_rows(&store->row, n_old, n_max) || grow_rows(&store->pred, n_old, n_max)) return -1;
    struct gpuirr_record *body = gpuirr_records_grow(store->body, n_old, n_max);
    if (!body) return -1;
    store->body = body;
    for (size_t i = n_old; i < n_max; i++) put_time(store->row + i * GPUIRR_ROW, NAN); /* not set yet */
    return 0;
}

void *gpuirr_compact_open(size_t n_max, struct nbc_error *err)
{
    (void)err;
    void *store = nbc_alloc(1, sizeof(struct gpuirr_compact));
    if (!store || !gpuirr_compact_grow(&store, 0, n_max)) return store;
    gpuirr_compact_close(store);
    return NULL;
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
    uint32_t rest[3], tails;
    for (int d = 0; d < 3; d++) {
        row[d] = split(state->x[d], &rest[d]);
        row[11 + d] = (float)(state->jerk[d] * (1.0 / 6.0));
        row[4 + d] = (float)state->v[d];
        row[8 + d] = (float)(0.5 * state->acc[d]);
    }
    tails = join_tails(rest, row);
    memcpy(&row[7], &tails, sizeof tails);
    double mass = fabs(state->mass);
    row[3] = (float)state->mass;
    if (mass > 0 && !(mass >= GPUIRR_MIN_MASS && mass <= GPUIRR_MAX_MASS)) row[0] = NAN;
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

double gpuirr_compact_list_exact(const struct gpuirr_compact *store, const struct gpuirr_task *task, double t,
                                 struct gpuirr_force *force)
{
    struct gpuirr_exact sum;
    gpuirr_exact_begin(&store->body[task->i], t, &sum);
    for (size_t k = 0; k < task->nnb; k++) gpuirr_exact_add(&store->body[task->nblist[k]], task->nblist[k], t, &sum);
    *force = (struct gpuirr_force){.nearest = sum.nearest, .coincident = sum.coincident};
    memcpy(force->acc, sum.acc, sizeof sum.acc);
    memcpy(force->jerk, sum.jerk, sizeof sum.jerk);
    return sum.noise;
}
