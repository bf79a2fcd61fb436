#include "bench/support/bodies.h"

#include "common/nbc.h"

#include <math.h>
#include <string.h>

double bench_uniform(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return ((double)(*state >> 11) + 0.5) * 0x1p-53;
}

void bench_on_sphere(uint64_t *state, double r, double x[3])
{
    const double c = 2 * bench_uniform(state) - 1, s = sqrt(1 - c * c), phi = 6.283185307179586 * bench_uniform(state);
    x[0] = r * s * cos(phi);
    x[1] = r * s * sin(phi);
    x[2] = r * c;
}

static void in_sphere(uint64_t *state, double x[3])
{
    double r2 = 2;
    while (r2 > 1) {
        r2 = 0;
        for (int k = 0; k < 3; k++) {
            x[k] = 2 * bench_uniform(state) - 1;
            r2 += x[k] * x[k];
        }
    }
}

static void in_plummer(uint64_t *state, double x[3])
{
    const double pi = 3.141592653589793;
    double r, r2 = 0;
    do r = 3 * pi / 16 / sqrt(pow(bench_uniform(state), -2.0 / 3) - 1);
    while (r > 15);
    in_sphere(state, x);
    for (int k = 0; k < 3; k++) r2 += x[k] * x[k];
    for (int k = 0; k < 3; k++) x[k] *= r / sqrt(r2);
}

int bench_bodies_make(struct bench_bodies *b, enum bench_set set, size_t n)
{
    uint64_t state = BENCH_SEED;
    *b = (struct bench_bodies){.n = n,
                               .mass = nbc_alloc(n, sizeof *b->mass),
                               .x = nbc_alloc(n, sizeof *b->x),
                               .v = nbc_alloc(n, sizeof *b->v),
                               .acc = nbc_alloc(n, sizeof *b->acc),
                               .self = nbc_alloc(n, sizeof *b->self)};
    if (!b->mass || !b->x || !b->v || !b->acc || !b->self) {
        bench_bodies_free(b);
        return 0;
    }
    for (size_t i = 0; i < n; i++) {
        if (set == BENCH_SPHERE)
            in_sphere(&state, b->x[i]);
        else if (set == BENCH_PLUMMER)
            in_plummer(&state, b->x[i]);
        else
            for (int k = 0; k < 3; k++) b->x[i][k] = bench_uniform(&state);
        b->mass[i] = 1 / (double)n;
        b->self[i] = (int32_t)i;
    }
    return 1;
}

void bench_bodies_free(struct bench_bodies *b)
{
    nbc_free(b->mass);
    nbc_free(b->x);
    nbc_free(b->v);
    nbc_free(b->acc);
    nbc_free(b->self);
    memset(b, 0, sizeof *b);
}
