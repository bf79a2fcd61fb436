/** Direct integration of few bodies in the arithmetic of choice, to compare with: Gragg-Bulirsch-Stoer steps of high
 *  order in physical time, nothing regularized, nothing clever. Include after
 *      #define DIRECT_REAL quad     (or long double)
 *  DIRECT_MAX bodies at most. */
#include <math.h>
#include <string.h>

/* 113 bits where the compiler has them; on arm64 long double has. */
#ifndef DIRECT_QUAD
#define DIRECT_QUAD
#ifdef __SIZEOF_FLOAT128__
__extension__ typedef __float128 quad;
#else
typedef long double quad;
#endif
#endif

#ifndef DIRECT_MAX
#define DIRECT_MAX 8
#endif

/* The table multiplies what rounding takes by 2 with each column, 1e4 at 14. */
#ifndef DIRECT_COLUMNS
#define DIRECT_COLUMNS 14
#endif

struct direct {
    int n;
    DIRECT_REAL t, step;
    DIRECT_REAL mass[DIRECT_MAX], x[DIRECT_MAX][3], v[DIRECT_MAX][3];
    double tolerance;    /* of the way made in a step */
    double rounding;     /* of positions: the last bit times what the table makes of it */
    DIRECT_REAL longest; /* step, 0: any */
    long steps;
    /* Called after each step, may be NULL. */
    void (*after_step)(void *context, const struct direct *d);
    void *context;
};

static inline DIRECT_REAL direct_sqrt(DIRECT_REAL x)
{
    DIRECT_REAL y = sqrt((double)x);
    if (y == 0) return 0;
    for (int k = 0; k < 3; k++) y = (y + x / y) / 2;
    return y;
}

static void direct_force(const struct direct *d, DIRECT_REAL x[][3], DIRECT_REAL acc[][3])
{
    memset(acc, 0, (size_t)d->n * sizeof *acc);
    for (int i = 0; i < d->n; i++)
        for (int j = i + 1; j < d->n; j++) {
            DIRECT_REAL r[3], r2 = 0, f;
            for (int c = 0; c < 3; c++) {
                r[c] = x[j][c] - x[i][c];
                r2 += r[c] * r[c];
            }
            f = 1 / (r2 * direct_sqrt(r2));
            for (int c = 0; c < 3; c++) {
                acc[i][c] += d->mass[j] * f * r[c];
                acc[j][c] -= d->mass[i] * f * r[c];
            }
        }
}

static DIRECT_REAL direct_energy(const struct direct *d)
{
    DIRECT_REAL e = 0;
    for (int i = 0; i < d->n; i++) {
        for (int c = 0; c < 3; c++) e += d->mass[i] * d->v[i][c] * d->v[i][c] / 2;
        for (int j = 0; j < i; j++) {
            DIRECT_REAL r2 = 0;
            for (int c = 0; c < 3; c++) r2 += (d->x[i][c] - d->x[j][c]) * (d->x[i][c] - d->x[j][c]);
            e -= d->mass[i] * d->mass[j] / direct_sqrt(r2);
        }
    }
    return e;
}

/* Positions after n kicks and drifts (position Verlet): even in the step. */
static void direct_march(const struct direct *d, DIRECT_REAL h, int n, DIRECT_REAL out[2][DIRECT_MAX][3])
{
    static _Thread_local DIRECT_REAL acc[DIRECT_MAX][3];
    const DIRECT_REAL part = h / n;
    memcpy(out[0], d->x, sizeof d->x);
    memcpy(out[1], d->v, sizeof d->v);
    for (int k = 0; k < n; k++) {
        for (int i = 0; i < d->n; i++)
            for (int c = 0; c < 3; c++) out[0][i][c] += (k > 0 ? part : part / 2) * out[1][i][c];
        direct_force(d, out[0], acc);
        for (int i = 0; i < d->n; i++)
            for (int c = 0; c < 3; c++) out[1][i][c] += part * acc[i][c];
    }
    for (int i = 0; i < d->n; i++)
        for (int c = 0; c < 3; c++) out[0][i][c] += part / 2 * out[1][i][c];
}

/* One attempt of a step.   @return relative error of the last column; the result is in row[DIRECT_COLUMNS - 1] */
static double direct_try(const struct direct *d, DIRECT_REAL h, DIRECT_REAL row[][2][DIRECT_MAX][3])
{
    static _Thread_local DIRECT_REAL fresh[2][DIRECT_MAX][3];
    double worst = 0;
    for (int column = 0; column < DIRECT_COLUMNS; column++) {
        direct_march(d, h, 2 * (column + 1), fresh);
        for (int s = 0; s < 2; s++)
            for (int i = 0; i < d->n; i++)
                for (int c = 0; c < 3; c++) {
                    DIRECT_REAL lower = row[0][s][i][c], value = fresh[s][i][c];
                    row[0][s][i][c] = value;
                    for (int j = 1; j <= column; j++) {
                        DIRECT_REAL ratio = (DIRECT_REAL)(column + 1) / (column + 1 - j);
                        DIRECT_REAL next = value + (value - lower) / (ratio * ratio - 1);
                        lower = row[j][s][i][c];
                        row[j][s][i][c] = value = next;
                    }
                }
    }
    for (int i = 0; i < d->n; i++) {
        /* Relative to the way made in the step, and to what rounding leaves of a large position times the weights of
         * the table. */
        double moved = 0, error = 0, size = 0;
        for (int c = 0; c < 3; c++) {
            double e = (double)(row[DIRECT_COLUMNS - 1][0][i][c] - row[DIRECT_COLUMNS - 2][0][i][c]);
            double m = (double)(row[DIRECT_COLUMNS - 1][0][i][c] - d->x[i][c]);
            error += e * e;
            moved += m * m;
            size += (double)(d->x[i][c] * d->x[i][c]);
        }
        if (!(error <= HUGE_VAL)) return HUGE_VAL;
        worst = fmax(worst, sqrt(error) / (sqrt(moved) + d->rounding / d->tolerance * sqrt(size) + 1e-300));
    }
    return worst;
}

static void direct_integrate(struct direct *d, DIRECT_REAL t_end)
{
    static _Thread_local DIRECT_REAL row[DIRECT_COLUMNS][2][DIRECT_MAX][3];
    if (d->step == 0) d->step = 1e-3;
    while (d->t < t_end) {
        DIRECT_REAL left = t_end - d->t, h = d->step < left ? d->step : left;
        double error = direct_try(d, h, row) / d->tolerance, factor;
        factor = fmin(3.0, fmax(0.1, 0.9 * pow(fmax(error, 1e-30), -1.0 / (2 * DIRECT_COLUMNS - 1))));
        if (error <= 1) {
            memcpy(d->x, row[DIRECT_COLUMNS - 1][0], sizeof d->x);
            memcpy(d->v, row[DIRECT_COLUMNS - 1][1], sizeof d->v);
            d->t = h < left ? d->t + h : t_end;
            d->steps++;
            if (d->after_step) d->after_step(d->context, d);
            if (h < d->step && factor > 1) continue;
        }
        d->step = h * factor;
        if (d->longest > 0 && d->step > d->longest) d->step = d->longest;
    }
}
