#include "nbody6/analysis/energy.h"

#include "common/nbc.h"
#include "common/sum.h"
#include "nbody6/analysis/force_errors.h"
#include "nbody6/analysis/frame.h"
#include "nbody6/galaxy/external.h"
#include "nbody6/state/ledger.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Sums over bodies. Each is compensated, so that its error stays far below that of the integration for any number of
 * them: it has a second number, the low part. */
enum { KINETIC, POTENTIAL, TIDAL, MASS, SPIN, PLACE = SPIN + 3, MOTION = PLACE + 3, SUMS = MOTION + 3 };
_Static_assert(2 * SUMS <= NBC_SUMS, "sums and their low parts");

struct bodies {
    const struct nb6_frame *frame;
    const struct nb6_external *external;
};

static void add_to(double sum[NBC_SUMS], int which, double term)
{
    nbc_add_exactly(&sum[which], &sum[SUMS + which], term);
}

static void add_spin(double sum[NBC_SUMS], double m, const double x[3], const double v[3])
{
    for (int k = 0; k < 3; k++) {
        const int k1 = (k + 1) % 3, k2 = (k + 2) % 3;
        add_to(sum, SPIN + k, m * (x[k1] * v[k2] - x[k2] * v[k1]));
    }
}

static void add_body(const void *context, int64_t i, double sum[NBC_SUMS])
{
    const struct bodies *bodies = context;
    const struct nb6_frame *frame = bodies->frame;
    const double *x = frame->x[i], *v = frame->v[i], m = frame->mass[i];
    add_to(sum, KINETIC, 0.5 * m * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]));
    add_to(sum, POTENTIAL, 0.5 * m * frame->pot[i]);
    if (bodies->external->active) add_to(sum, TIDAL, m * nb6_external_potential(bodies->external, frame->t, x));
    add_to(sum, MASS, m);
    add_spin(sum, m, x, v);
    for (int k = 0; k < 3; k++) {
        add_to(sum, PLACE + k, m * x[k]);
        add_to(sum, MOTION + k, m * v[k]);
    }
}

/* The stars of a system turn about its centre of mass; so does a frozen pair, which is a member of another one and is
 * in the list as well. Both are of the time of the frame. */
static void add_relative_motions(const struct nb6_frame *frame, double sum[NBC_SUMS])
{
    for (int64_t k = 0; k < frame->n_pair; k++) {
        const struct nb6_frame_pair *pair = &frame->pair[k];
        const double mass = pair->mass[0] + pair->mass[1];
        if (mass > 0) add_spin(sum, pair->mass[0] * (pair->mass[1] / mass), pair->dx, pair->dv);
    }
    for (int64_t k = 0; k < frame->n_chain; k++) {
        const struct nb6_frame_chain *chain = &frame->chain[k];
        for (int m = 0; m < chain->n; m++) add_spin(sum, chain->mass[m], chain->dx[m], chain->dv[m]);
    }
}

void nb6_energy_of_frame(const struct nb6_frame *frame, const struct nb6_external *external, struct nb6_energy *energy)
{
    const struct bodies bodies = {frame, external};
    double sum[NBC_SUMS];
    nbc_sum(frame->n, add_body, &bodies, sum);
    add_relative_motions(frame, sum);
    for (int k = 0; k < SUMS; k++) sum[k] += sum[SUMS + k];
    memset(energy, 0, sizeof *energy);
    energy->kinetic = sum[KINETIC];
    energy->potential = sum[POTENTIAL];
    energy->tidal = sum[TIDAL] + frame->pair_tidal;
    energy->binding = frame->pair_binding;
    energy->potential += frame->pair_potential;
    energy->total = energy->kinetic + energy->potential + energy->tidal + energy->binding;
    energy->mass = sum[MASS];
    energy->virial_ratio = energy->potential < 0 ? energy->kinetic / -energy->potential : 0;
    for (int k = 0; k < 3; k++) {
        energy->angular_momentum[k] = sum[SPIN + k];
        energy->centre_x[k] = energy->mass > 0 ? sum[PLACE + k] / energy->mass : 0;
        energy->centre_v[k] = energy->mass > 0 ? sum[MOTION + k] / energy->mass : 0;
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

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Median and maximum of the errors of n bodies, which are sorted here. */
static void summarise(const struct nb6_frame *frame, int64_t n, double *error, double *median, double *max,
                      int64_t *worst)
{
    int64_t at = 0;
    for (int64_t k = 1; k < n; k++)
        if (error[k] > error[at]) at = k;
    *max = error[at];
    *worst = frame->name[nb6_sample_of(frame->n, n, at)];
    qsort(error, (size_t)n, sizeof *error, ascending);
    *median = error[n / 2];
}

int nb6_force_check(const struct nb6_frame *frame, const struct nb6_external *external, int64_t most,
                    struct nb6_force_check *check, struct nbc_error *err)
{
    const int64_t n = most > 0 && most < frame->n ? most : frame->n;
    double *acc_error = nbc_alloc((size_t)n, sizeof *acc_error);
    double *jerk_error = nbc_alloc((size_t)n, sizeof *jerk_error);
    int status = NBC_OK;
    if (acc_error && jerk_error) {
#pragma omp parallel for schedule(static)
        for (int64_t k = 0; k < n; k++) {
            const int64_t i = nb6_sample_of(frame->n, n, k);
            double acc[3], jerk[3];
            direct_force(frame, external, i, acc, jerk);
            acc_error[k] = nb6_relative_error(frame->acc[i], acc);
            jerk_error[k] = nb6_relative_error(frame->jerk[i], jerk);
        }
        summarise(frame, n, acc_error, &check->acc_median, &check->acc_max, &check->acc_worst);
        summarise(frame, n, jerk_error, &check->jerk_median, &check->jerk_max, &check->jerk_worst);
    } else {
        status = nbc_fail(err, NBC_NO_MEMORY, "no memory for the force check");
    }
    nbc_free(acc_error);
    nbc_free(jerk_error);
    return status;
}
