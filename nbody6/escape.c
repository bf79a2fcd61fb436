#include "adjust.h"
#include "hermite.h"
#include "step.h"

#include <math.h>
#include <string.h>

/* Stars leave beyond this many tidal radii (NBODY6); an isolated cluster counts ten half-mass radii as one. */
static const double ESCAPE_RADII = 2, ISOLATED_HALF_MASS_RADII = 10;

double nb6_escape_tidal_radius(const struct nb6_sim *sim, double mass)
{
    double r_tide = nb6_external_tidal_radius(&sim->external, mass);
    return r_tide > 0 ? r_tide : ISOLATED_HALF_MASS_RADII * sim->book.r_half;
}

/* Energy per unit mass in the frame of the density centre, with the potential of the field. */
static double energy_of(const struct nb6_sim *sim, const struct nb6_frame *frame, int64_t i, double *r2)
{
    double v2 = 0, x[3];
    *r2 = 0;
    for (int k = 0; k < 3; k++) {
        double dv = frame->v[i][k] - sim->book.v_density[k];
        x[k] = frame->x[i][k] - sim->book.r_density[k];
        *r2 += x[k] * x[k];
        v2 += dv * dv;
    }
    return 0.5 * v2 + frame->pot[i] + nb6_external_potential(&sim->external, x);
}

/* In a field, the energy at the Lagrangian points, -3/2 G M/r_t, is where a star can leave; an isolated one has to be
 * unbound. */
static int has_escaped(const struct nb6_sim *sim, double r_tide, double mass, double r2, double energy)
{
    if (!(r2 > ESCAPE_RADII * ESCAPE_RADII * r_tide * r_tide)) return 0;
    if (sim->external.active && sim->config.escape == NB6_ESCAPE_RADIUS) return 1;
    return energy > (sim->external.active ? -1.5 * mass / r_tide : 0);
}

/* Subtract what body e, predicted to the time of body i, adds to the force of i. */
static void take_force(struct nb6_sim *sim, int64_t i, const struct nb6_body *escaper, int is_neighbour)
{
    struct nb6_body *body = &sim->body[i];
    struct nb6_star *star = &sim->star[i];
    double x[3], v[3], r2 = 0, xv = 0;
    nb6_predict(escaper, nb6_time_to_double(body->t0 - escaper->t0), x, v);
    for (int k = 0; k < 3; k++) {
        x[k] -= body->x0[k];
        v[k] -= body->v0[k];
        r2 += x[k] * x[k];
        xv += x[k] * v[k];
    }
    if (!(r2 > 0)) return;
    double m = escaper->mass / (r2 * sqrt(r2)), alpha = 3 * xv / r2;
    double back = nb6_time_to_double(body->t0 - star->t0_reg);
    for (int k = 0; k < 3; k++) {
        double acc = m * x[k], jerk = m * (v[k] - alpha * x[k]);
        if (is_neighbour) {
            star->acc_irr[k] -= acc;
            star->jerk_irr[k] -= jerk;
        } else {
            star->acc_reg[k] -= acc - back * jerk;
            star->jerk_reg[k] -= jerk;
        }
        body->acc[k] -= acc;
        body->jerk[k] -= jerk;
    }
}

static int contains(const int32_t *list, size_t nnb, int32_t value)
{
    size_t low = 0, high = nnb;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (list[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low < nnb && list[low] == value;
}

/* Forces of the stars that stay; moved[i] is the new index of star i, -1 for an escaper. */
static void take_forces(struct nb6_sim *sim, const int32_t *moved, const int32_t *gone, int64_t n_gone)
{
#pragma omp parallel for schedule(static) if (sim->n > 1000)
    for (int64_t i = 0; i < sim->n; i++) {
        if (moved[i] < 0) continue;
        size_t nnb = 0;
        const int32_t *list = gpuirr_get_list(sim->irr, (size_t)i, &nnb);
        for (int64_t g = 0; g < n_gone; g++) take_force(sim, i, &sim->body[gone[g]], contains(list, nnb, gone[g]));
    }
}

/* Close the gaps: records move down, lists are renamed. Ascending order keeps every list unread until its turn. */
static int compact(struct nb6_sim *sim, const int32_t *moved, int32_t *list, struct nbc_error *err)
{
    int64_t n = sim->n, kept = 0;
    for (int64_t i = 0; i < n; i++) {
        nb6_schedule_remove(sim->schedule, (int32_t)i);
        if (moved[i] < 0) continue;
        size_t nnb = 0, length = 0;
        const int32_t *old = gpuirr_get_list(sim->irr, (size_t)i, &nnb);
        for (size_t k = 0; k < nnb; k++)
            if (moved[old[k]] >= 0) list[length++] = moved[old[k]];
        int status = gpuirr_set_list(sim->irr, (size_t)kept, length, list);
        if (status) return nbc_fail(err, status, "%s", gpuirr_last_error(sim->irr));
        sim->body[kept] = sim->body[i];
        sim->star[kept] = sim->star[i];
        sim->star[kept].nnb = (int32_t)length;
        kept++;
    }
    for (int64_t i = kept; i < n; i++) gpuirr_set_list(sim->irr, (size_t)i, 0, NULL);
    sim->n = kept;
    for (int64_t i = 0; i < kept; i++) {
        nb6_schedule_set(sim->schedule, (int32_t)i, sim->star[i].level_irr);
        int status = nb6_send_body(sim, i);
        if (status) return nbc_fail(err, status, "%s", gpuirr_last_error(sim->irr));
    }
    return NBC_OK;
}

/* Energy that leaves with the escapers: their kinetic and external energy, and their potential energy with those that
 * stay and, once, among themselves. */
static double energy_of_escapers(const struct nb6_sim *sim, const struct nb6_frame *frame, const int32_t *gone,
                                 int64_t n_gone)
{
    double energy = 0;
    for (int64_t g = 0; g < n_gone; g++) {
        int64_t i = gone[g];
        const double *v = frame->v[i], *x = frame->x[i];
        double per_mass =
            0.5 * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) + frame->pot[i] + nb6_external_potential(&sim->external, x);
        for (int64_t h = 0; h < g; h++) {
            const double *y = frame->x[gone[h]];
            double r =
                sqrt((x[0] - y[0]) * (x[0] - y[0]) + (x[1] - y[1]) * (x[1] - y[1]) + (x[2] - y[2]) * (x[2] - y[2]));
            if (r > 0) per_mass += frame->mass[gone[h]] / r;
        }
        energy += frame->mass[i] * per_mass;
    }
    return energy;
}

static int say(struct nb6_sim *sim, const struct nb6_frame *frame, int64_t i, double energy, struct nbc_error *err)
{
    const struct nb6_observer *observer = &sim->observer;
    struct nb6_event event = {
        .kind = NB6_EVENT_ESCAPE, .t = frame->t, .name = frame->name[i], .mass = frame->mass[i], .energy = energy};
    for (int k = 0; k < 3; k++) {
        event.x[k] = frame->x[i][k] - sim->book.r_density[k];
        event.v[k] = frame->v[i][k] - sim->book.v_density[k];
    }
    return observer->event ? observer->event(observer->context, sim, &event, err) : NBC_OK;
}

/* Fills moved [n] and gone; a cluster keeps at least two stars. */
static int find(struct nb6_sim *sim, const struct nb6_frame *frame, int32_t *moved, int32_t *gone, int64_t *n_gone,
                struct nbc_error *err)
{
    double mass = 0;
    for (int64_t i = 0; i < frame->n; i++) mass += frame->mass[i];
    double r_tide = nb6_escape_tidal_radius(sim, mass);
    int32_t kept = 0;
    *n_gone = 0;
    for (int64_t i = 0; i < frame->n; i++) {
        double r2, energy = energy_of(sim, frame, i, &r2);
        if (!has_escaped(sim, r_tide, mass, r2, energy) || frame->n - *n_gone <= 2) {
            moved[i] = kept++;
            continue;
        }
        moved[i] = -1;
        gone[(*n_gone)++] = (int32_t)i;
        int status = say(sim, frame, i, energy, err);
        if (status) return status;
    }
    return NBC_OK;
}

int nb6_escape_remove(struct nb6_sim *sim, const struct nb6_frame *frame, struct nbc_error *err)
{
    if (sim->config.escape == NB6_ESCAPE_KEEP || frame->t <= 0) return NBC_OK;
    size_t n = (size_t)sim->n;
    int32_t *moved = nbc_alloc(n, sizeof *moved), *gone = nbc_alloc(n, sizeof *gone),
            *list = nbc_alloc(n, sizeof *list);
    int64_t n_gone = 0;
    int status = moved && gone && list ? NBC_OK : nbc_fail(err, NBC_NO_MEMORY, "no memory to remove escapers");
    if (!status) status = find(sim, frame, moved, gone, &n_gone, err);
    if (!status && n_gone > 0) {
        double energy = energy_of_escapers(sim, frame, gone, n_gone);
        sim->book.e_escaped += energy;
        sim->book.e_expected -= energy;
        sim->book.e_last -= energy;
        sim->counters.escapers += (uint64_t)n_gone;
        take_forces(sim, moved, gone, n_gone);
        status = compact(sim, moved, list, err);
    }
    nbc_free(moved);
    nbc_free(gone);
    nbc_free(list);
    return status;
}
