#include "nbody6/analysis/energy.h"

#include "common/nbc.h"
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

void nb6_energy_of_frame(const struct nb6_frame *frame, const struct nb6_external *external, struct nb6_energy *energy)
{
    struct sum kinetic = {0, 0}, potential = {0, 0}, tidal = {0, 0}, mass = {0, 0}, l[3] = {{0, 0}}, x[3] = {{0, 0}},
               v[3] = {{0, 0}};
    for (int64_t i = 0; i < frame->n; i++) {
        const double *xi = frame->x[i], *vi = frame->v[i];
        double m = frame->mass[i];
        add(&kinetic, 0.5 * m * (vi[0] * vi[0] + vi[1] * vi[1] + vi[2] * vi[2]));
        add(&potential, 0.5 * m * frame->pot[i]);
        if (external->active) add(&tidal, m * nb6_external_potential(external, frame->t, xi));
        add(&mass, m);
        for (int k = 0; k < 3; k++) {
            int k1 = (k + 1) % 3, k2 = (k + 2) % 3;
            add(&l[k], m * (xi[k1] * vi[k2] - xi[k2] * vi[k1]));
            add(&x[k], m * xi[k]);
            add(&v[k], m * vi[k]);
        }
    }
    memset(energy, 0, sizeof *energy);
    energy->kinetic = value(&kinetic);
    energy->potential = value(&potential);
    energy->tidal = value(&tidal) + frame->pair_tidal;
    energy->binding = frame->pair_binding;
    energy->potential += frame->pair_potential;
    energy->total = energy->kinetic + energy->potential + energy->tidal + energy->binding;
    energy->mass = value(&mass);
    energy->virial_ratio = energy->potential < 0 ? energy->kinetic / -energy->potential : 0;
    for (int k = 0; k < 3; k++) {
        energy->angular_momentum[k] = value(&l[k]);
        energy->centre_x[k] = energy->mass > 0 ? value(&x[k]) / energy->mass : 0;
        energy->centre_v[k] = energy->mass > 0 ? value(&v[k]) / energy->mass : 0;
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
