#include "nbody6/analysis/energy.h"

#include "common/nbc.h"
#include "common/team.h"
#include "nbody6/analysis/frame.h"
#include "nbody6/galaxy/external.h"
#include "nbody6/state/ledger.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Compensated (Neumaier) sum: the error of the sum stays far below that of the integration for any N. */
struct sum {
    double high, low;
};

static void add(struct sum *sum, double value)
{
    double total = sum->high + value;
    sum->low += fabs(sum->high) >= fabs(value) ? (sum->high - total) + value : (value - total) + sum->high;
    sum->high = total;
}

static double value(const struct sum *sum)
{
    return sum->high + sum->low;
}

struct sums {
    struct sum kinetic, potential, tidal, mass, l[3], x[3], v[3];
};

static void add_body(struct sums *s, const struct nb6_frame *frame, const struct nb6_external *external, int64_t i)
{
    const double *x = frame->x[i], *v = frame->v[i], m = frame->mass[i];
    add(&s->kinetic, 0.5 * m * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]));
    add(&s->potential, 0.5 * m * frame->pot[i]);
    if (external->active) add(&s->tidal, m * nb6_external_potential(external, frame->t, x));
    add(&s->mass, m);
    for (int k = 0; k < 3; k++) {
        const int k1 = (k + 1) % 3, k2 = (k + 2) % 3;
        add(&s->l[k], m * (x[k1] * v[k2] - x[k2] * v[k1]));
        add(&s->x[k], m * x[k]);
        add(&s->v[k], m * v[k]);
    }
}

/* Sums of pieces are added in order: what comes out depends on the number of bodies alone. */
enum { BODIES_OF_A_PIECE = 4096, MOST_PIECES = 64 };

struct summing {
    const struct nb6_frame *frame;
    const struct nb6_external *external;
    int64_t pieces;
    struct sums piece[MOST_PIECES];
};

static void sum_pieces(void *context, int part, int parts)
{
    struct summing *job = context;
    int64_t first, last, begin, end;
    nbc_share(job->pieces, part, parts, &first, &last);
    for (int64_t p = first; p < last; p++) {
        job->piece[p] = (struct sums){.mass = {0, 0}};
        nbc_share(job->frame->n, (int)p, (int)job->pieces, &begin, &end);
        for (int64_t i = begin; i < end; i++) add_body(&job->piece[p], job->frame, job->external, i);
    }
}

static void join(struct sum *sum, const struct sum *piece)
{
    add(sum, piece->high);
    sum->low += piece->low;
}

static struct sums sum_up(const struct nb6_frame *frame, const struct nb6_external *external)
{
    const int64_t whole = (frame->n + BODIES_OF_A_PIECE - 1) / BODIES_OF_A_PIECE;
    struct summing job = {frame, external, whole < MOST_PIECES ? whole : MOST_PIECES, {{.mass = {0, 0}}}};
    struct sums all = {.mass = {0, 0}};
    nbc_team_run(nbc_parts(job.pieces, 1), sum_pieces, &job);
    for (int64_t p = 0; p < job.pieces; p++) {
        const struct sums *piece = &job.piece[p];
        join(&all.kinetic, &piece->kinetic);
        join(&all.potential, &piece->potential);
        join(&all.tidal, &piece->tidal);
        join(&all.mass, &piece->mass);
        for (int k = 0; k < 3; k++) {
            join(&all.l[k], &piece->l[k]);
            join(&all.x[k], &piece->x[k]);
            join(&all.v[k], &piece->v[k]);
        }
    }
    return all;
}

void nb6_energy_of_frame(const struct nb6_frame *frame, const struct nb6_external *external, struct nb6_energy *energy)
{
    const struct sums s = sum_up(frame, external);
    memset(energy, 0, sizeof *energy);
    energy->kinetic = value(&s.kinetic);
    energy->potential = value(&s.potential);
    energy->tidal = value(&s.tidal) + frame->pair_tidal;
    energy->binding = frame->pair_binding;
    energy->potential += frame->pair_potential;
    energy->total = energy->kinetic + energy->potential + energy->tidal + energy->binding;
    energy->mass = value(&s.mass);
    energy->virial_ratio = energy->potential < 0 ? energy->kinetic / -energy->potential : 0;
    for (int k = 0; k < 3; k++) {
        energy->angular_momentum[k] = value(&s.l[k]);
        energy->centre_x[k] = energy->mass > 0 ? value(&s.x[k]) / energy->mass : 0;
        energy->centre_v[k] = energy->mass > 0 ? value(&s.v[k]) / energy->mass : 0;
    }
}

static void direct_force(const struct nb6_frame *frame, const struct nb6_external *external, int64_t i, double acc[3],
                         double jerk[3])
{
    memset(acc, 0, 3 * sizeof *acc);
    memset(jerk, 0, 3 * sizeof *jerk);
    for (int64_t j = 0; j < frame->n; j++) {
        double x[3], v[3], r2 = 0, xv = 0;
        for (int k = 0; k < 3; k++) {
            x[k] = frame->x[j][k] - frame->x[i][k];
            v[k] = frame->v[j][k] - frame->v[i][k];
            r2 += x[k] * x[k];
            xv += x[k] * v[k];
        }
        if (!(r2 > 0)) continue;
        double m = frame->mass[j] / (r2 * sqrt(r2)), alpha = 3 * xv / r2;
        for (int k = 0; k < 3; k++) {
            acc[k] += m * x[k];
            jerk[k] += m * (v[k] - alpha * x[k]);
        }
    }
    if (!external->active) return;
    double ext_acc[3], ext_jerk[3];
    nb6_external_force(external, frame->t, frame->x[i], frame->v[i], acc, ext_acc, ext_jerk);
    for (int k = 0; k < 3; k++) {
        acc[k] += ext_acc[k];
        jerk[k] += ext_jerk[k];
    }
}

static double relative_error(const double is[3], const double should[3])
{
    double d2 = 0, s2 = 0;
    for (int k = 0; k < 3; k++) {
        d2 += (is[k] - should[k]) * (is[k] - should[k]);
        s2 += should[k] * should[k];
    }
    return s2 > 0 ? sqrt(d2 / s2) : sqrt(d2);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Median and maximum of errors, which are sorted here. */
static void summarise(const struct nb6_frame *frame, double *error, double *median, double *max, int64_t *worst)
{
    int64_t at = 0;
    for (int64_t i = 1; i < frame->n; i++)
        if (error[i] > error[at]) at = i;
    *max = error[at];
    *worst = frame->name[at];
    qsort(error, (size_t)frame->n, sizeof *error, ascending);
    *median = error[frame->n / 2];
}

int nb6_force_check(const struct nb6_frame *frame, const struct nb6_external *external, struct nb6_force_check *check,
                    struct nbc_error *err)
{
    double *acc_error = nbc_alloc((size_t)frame->n, sizeof *acc_error);
    double *jerk_error = nbc_alloc((size_t)frame->n, sizeof *jerk_error);
    int status = NBC_OK;
    if (acc_error && jerk_error) {
#pragma omp parallel for schedule(static)
        for (int64_t i = 0; i < frame->n; i++) {
            double acc[3], jerk[3];
            direct_force(frame, external, i, acc, jerk);
            acc_error[i] = relative_error(frame->acc[i], acc);
            jerk_error[i] = relative_error(frame->jerk[i], jerk);
        }
        summarise(frame, acc_error, &check->acc_median, &check->acc_max, &check->acc_worst);
        summarise(frame, jerk_error, &check->jerk_median, &check->jerk_max, &check->jerk_worst);
    } else {
        status = nbc_fail(err, NBC_NO_MEMORY, "no memory for the force check");
    }
    nbc_free(acc_error);
    nbc_free(jerk_error);
    return status;
}
