/* Potentials and softened forces of an emulated device. */
#include "common/team.h"
#include "device/emulated/emulated.h"
#include "gpunb/backend.h"
#include "gpunb/device/emulated.h"
#include "gpunb/device/softened_sources.h"

#include <string.h>

enum { TARGETS_OF_A_PART = 16 };

/* ---- potentials */

struct bodies_job {
    const struct device_body *bodies;
    const int32_t *index;
    struct device_body *sorted;
    int n;
};

/* Places past the end repeat the last body without its mass. */
static void sort_bodies(const void *job)
{
    const struct bodies_job *a = job;
    const int places = (a->n + DEVICE_POT_TILE - 1) / DEVICE_POT_TILE * DEVICE_POT_TILE;
    for (int place = 0; place < places; place++) {
        a->sorted[place] = a->bodies[a->index[place < a->n ? place : a->n - 1]];
        if (place >= a->n) a->sorted[place].m = 0.0;
    }
}

/* The tiles themselves are for matrix units, which are not emulated: sums are over the sorted bodies. */
int gpunb_emulated_pot_tiles(const struct device_body *bodies, int n, const int32_t *index,
                             struct device_pot_tile *tiles, struct device_body *sorted, struct nbd_stream *stream)
{
    const struct bodies_job job = {bodies, index, sorted, n};
    (void)tiles;
    return nbd_emulated_launch(stream, sort_bodies, &job, sizeof job);
}

struct potential_job {
    struct device_potential a;
    int splits;
    double *pot;
};

static double sum_of(const struct device_potential *a, const struct device_body *own, int begin, int end)
{
    double sum = 0.0;
    for (int k = begin * DEVICE_POT_TILE; k < end * DEVICE_POT_TILE; k++) {
        double r2 = 0.0;
        for (int c = 0; c < 3; c++) r2 += (a->sorted[k].x[c] - own->x[c]) * (a->sorted[k].x[c] - own->x[c]);
        if (r2 > GPUNB_ZERO_R2) sum += a->sorted[k].m / sqrt(r2);
    }
    return sum;
}

static void sum_potentials(void *context, int part, int parts)
{
    const struct potential_job *job = context;
    const struct device_potential *a = &job->a;
    int64_t first, end;
    nbc_range(a->n_i, part, parts, &first, &end);
    for (int64_t place = first; place < end; place++) {
        const int32_t i = a->order[place];
        double sum = 0.0;
        for (int64_t s = 0; s < job->splits; s++) {
            double *partial = &a->partial[s * a->n_i + place];
            *partial = sum_of(a, &a->bodies[i], (int)(a->n_tiles * s / job->splits),
                              (int)(a->n_tiles * (s + 1) / job->splits));
            sum += *partial;
        }
        job->pot[i - a->i_first] = -sum;
    }
}

static void make_potentials(const void *job)
{
    struct potential_job own = *(const struct potential_job *)job;
    nbc_team_run(nbc_parts(own.a.n_i, TARGETS_OF_A_PART), sum_potentials, &own);
}

int gpunb_emulated_potential(const struct device_potential *potential, int splits, double *pot,
                             struct nbd_stream *stream)
{
    const struct potential_job job = {*potential, splits, pot};
    return nbd_emulated_launch(stream, make_potentials, &job, sizeof job);
}

/* ---- softened forces: pairs in double, of positions of two floats, or of one */

struct softened_job {
    struct device_softened a;
    struct device_body *source; /* [a.sources.n] as the sums use them */
};

static void round_sources(const struct softened_job *job)
{
    const struct softened_sources *s = &job->a.sources;
    for (int j = 0; j < s->n; j++) {
        const double *x = softened_position(s, (size_t)j);
        for (int k = 0; k < 3; k++) job->source[j].x[k] = softened_rounded(x[k], job->a.rounded);
        job->source[j].m = (double)softened_mass(s, (size_t)j);
    }
}

static void sum_target(const struct softened_job *job, int i)
{
    const struct device_softened *a = &job->a;
    const int self = a->self ? a->self[i] - a->self_first : -1;
    double x[3], acc[3] = {0}, pot = 0.0;
    for (int k = 0; k < 3; k++) x[k] = softened_rounded(a->x[i][k], a->rounded);
    for (int j = 0; j < a->sources.n; j++) {
        const struct device_body *s = &job->source[j];
        double d[3], r2 = a->softening * a->softening;
        for (int k = 0; k < 3; k++) {
            d[k] = s->x[k] - x[k];
            r2 += d[k] * d[k];
        }
        const double rinv = 1.0 / sqrt(r2), mr = s->m * rinv, w = mr * (rinv * rinv);
        for (int k = 0; k < 3; k++) acc[k] += w * d[k];
        if (j != self) pot += mr;
    }
    memcpy(a->acc[i], acc, sizeof acc);
    if (a->pot) a->pot[i] = -pot;
}

static void sum_targets(void *context, int part, int parts)
{
    const struct softened_job *own = context;
    int64_t first, end;
    nbc_range(own->a.n_i, part, parts, &first, &end);
    for (int64_t i = first; i < end; i++) sum_target(own, (int)i);
}

static void make_softened(const void *job)
{
    struct softened_job own = *(const struct softened_job *)job;
    round_sources(&own);
    nbc_team_run(nbc_parts(own.a.n_i, TARGETS_OF_A_PART), sum_targets, &own);
}

int gpunb_emulated_softened_bytes(size_t n_i, size_t n_j, size_t *bytes)
{
    *bytes = n_i == 0 ? 0 : n_j * sizeof(struct device_body);
    return 0;
}

int gpunb_emulated_softened_sum(const struct device_softened *job, void *work, struct nbd_stream *stream)
{
    const struct softened_job own = {*job, work};
    return job->n_i == 0 ? 0 : nbd_emulated_launch(stream, make_softened, &own, sizeof own);
}
