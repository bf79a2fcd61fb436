#include "nbody6/collisionless/force_error.h"

#include "common/team.h"
#include "nbody6/analysis/frame.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Bodies that pass the sources together, as lanes of a vector: their sums are apart. */
enum { LANES = 8 };

struct job {
    int64_t n; /* bodies */
    const double *mass;
    const double (*x)[3];
    double softening2;
    int64_t sample;
    const double (*at)[3]; /* [sample] */
    double (*acc)[3];      /* [sample] */
    struct nbc_queue queue;
};

static int64_t sample_of(int64_t n)
{
    return n < NB6_FORCE_ERROR_BODIES ? n : NB6_FORCE_ERROR_BODIES;
}

int64_t nb6_force_error_body(int64_t n, int64_t k)
{
    return k * n / sample_of(n);
}

double nb6_force_error_one(const double a[3], const double exact[3])
{
    double d2 = 0, a2 = 0;
    for (int k = 0; k < 3; k++) {
        d2 += (a[k] - exact[k]) * (a[k] - exact[k]);
        a2 += exact[k] * exact[k];
    }
    return a2 > 0 ? sqrt(d2 / a2) : d2 > 0;
}

/* Accelerations at LANES positions. */
static void sum_all(const struct job *job, const double x[3][LANES], double acc[3][LANES])
{
    for (int64_t j = 0; j < job->n; j++) {
        const double *at = job->x[j], mass = job->mass[j];
        for (int i = 0; i < LANES; i++) {
            const double dx = at[0] - x[0][i], dy = at[1] - x[1][i], dz = at[2] - x[2][i];
            const double r2 = dx * dx + dy * dy + dz * dz + job->softening2, w = mass / (r2 * sqrt(r2));
            acc[0][i] += w * dx;
            acc[1][i] += w * dy;
            acc[2][i] += w * dz;
        }
    }
}

/* The last lanes repeat the last place. */
static void sum_some(const struct job *job, int64_t first)
{
    double x[3][LANES], acc[3][LANES] = {{0}};
    for (int i = 0; i < LANES; i++) {
        const int64_t k = first + i < job->sample ? first + i : job->sample - 1;
        for (int d = 0; d < 3; d++) x[d][i] = job->at[k][d];
    }
    sum_all(job, (const double(*)[LANES])x, acc);
    for (int i = 0; i < LANES && first + i < job->sample; i++)
        for (int d = 0; d < 3; d++) job->acc[first + i][d] = acc[d][i];
}

static void sum_part(void *context, int part, int parts)
{
    (void)part, (void)parts;
    struct job *job = context;
    for (int64_t k; (k = nbc_take(&job->queue) * LANES) < job->sample;) sum_some(job, k);
}

void nb6_force_error_sum(int64_t n, const double *mass, const double (*x)[3], double softening, int64_t sample,
                         const double (*at)[3], double (*acc)[3])
{
    struct job job = {
        .n = n, .mass = mass, .x = x, .softening2 = softening * softening, .sample = sample, .at = at, .acc = acc};
    nbc_team_run(nbc_parts((sample + LANES - 1) / LANES, 1), sum_part, &job);
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The least number that a share of the sorted errors does not exceed. */
static double share(int64_t n, const double *error, double percent)
{
    return error[(int64_t)ceil(percent / 100 * (double)n) - 1];
}

void nb6_force_error_sort(int64_t n, double *error, struct nb6_force_error *found)
{
    qsort(error, (size_t)n, sizeof *error, by_value);
    *found = (struct nb6_force_error){
        .half = share(n, error, 50), .most = share(n, error, 99), .largest = share(n, error, 100)};
}

void nb6_force_error_find(const struct nb6_frame *f, double softening, struct nb6_force_error *found)
{
    double x[NB6_FORCE_ERROR_BODIES][3], exact[NB6_FORCE_ERROR_BODIES][3], error[NB6_FORCE_ERROR_BODIES];
    const int64_t sample = sample_of(f->n);
    for (int64_t k = 0; k < sample; k++) memcpy(x[k], f->x[nb6_force_error_body(f->n, k)], sizeof x[k]);
    nb6_force_error_sum(f->n, f->mass, (const double(*)[3])f->x, softening, sample, (const double(*)[3])x, exact);
    for (int64_t k = 0; k < sample; k++)
        error[k] = nb6_force_error_one(f->acc[nb6_force_error_body(f->n, k)], exact[k]);
    nb6_force_error_sort(sample, error, found);
}
