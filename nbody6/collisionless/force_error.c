#include "nbody6/collisionless/force_error.h"

#include "common/team.h"
#include "nbody6/analysis/frame.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

/* Bodies that pass the sources together, as lanes of a vector: their sums are apart. */
enum { LANES = 8 };

struct job {
    const struct nb6_frame *frame;
    double softening2;
    int64_t n; /* of bodies */
    double error[NB6_FORCE_ERROR_BODIES];
    struct nbc_queue queue;
};

/* The k-th body of the sample. */
static int64_t body_of(const struct job *job, int64_t k)
{
    return k * job->frame->n / job->n;
}

static double error_of(const double a[3], const double exact[3])
{
    double d2 = 0, a2 = 0;
    for (int k = 0; k < 3; k++) {
        d2 += (a[k] - exact[k]) * (a[k] - exact[k]);
        a2 += exact[k] * exact[k];
    }
    return a2 > 0 ? sqrt(d2 / a2) : d2 > 0;
}

/* Accelerations at LANES positions due to all bodies. One at a body's own position adds 0. */
static void sum_all(const struct job *job, const double x[3][LANES], double acc[3][LANES])
{
    const struct nb6_frame *f = job->frame;
    for (int64_t j = 0; j < f->n; j++) {
        const double *at = f->x[j], mass = f->mass[j];
        for (int i = 0; i < LANES; i++) {
            const double dx = at[0] - x[0][i], dy = at[1] - x[1][i], dz = at[2] - x[2][i];
            const double r2 = dx * dx + dy * dy + dz * dz + job->softening2, w = mass / (r2 * sqrt(r2));
            acc[0][i] += w * dx;
            acc[1][i] += w * dy;
            acc[2][i] += w * dz;
        }
    }
}

/* The last lanes repeat the last body of the sample. */
static void compare(struct job *job, int64_t first)
{
    double x[3][LANES], acc[3][LANES] = {{0}};
    for (int i = 0; i < LANES; i++) {
        const int64_t k = first + i < job->n ? first + i : job->n - 1;
        for (int d = 0; d < 3; d++) x[d][i] = job->frame->x[body_of(job, k)][d];
    }
    sum_all(job, (const double(*)[LANES])x, acc);
    for (int i = 0; i < LANES && first + i < job->n; i++) {
        const double exact[3] = {acc[0][i], acc[1][i], acc[2][i]};
        job->error[first + i] = error_of(job->frame->acc[body_of(job, first + i)], exact);
    }
}

static void compare_part(void *context, int part, int parts)
{
    (void)part, (void)parts;
    struct job *job = context;
    for (int64_t k; (k = nbc_take(&job->queue) * LANES) < job->n;) compare(job, k);
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The least number that a share of the sorted errors does not exceed. */
static double share(const struct job *job, double percent)
{
    return job->error[(int64_t)ceil(percent / 100 * (double)job->n) - 1];
}

void nb6_force_error_find(const struct nb6_frame *frame, double softening, struct nb6_force_error *error)
{
    struct job job = {.frame = frame,
                      .softening2 = softening * softening,
                      .n = frame->n < NB6_FORCE_ERROR_BODIES ? frame->n : NB6_FORCE_ERROR_BODIES};
    nbc_team_run(nbc_parts((job.n + LANES - 1) / LANES, 1), compare_part, &job);
    qsort(job.error, (size_t)job.n, sizeof *job.error, by_value);
    *error = (struct nb6_force_error){.half = share(&job, 50), .most = share(&job, 99), .largest = share(&job, 100)};
}
