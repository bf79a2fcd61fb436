/** Changes of bodies between two blocks, on a device (engine/edit.h). */
#ifndef NB6_STAGES_EDIT_H
#define NB6_STAGES_EDIT_H

#include "common/hd.h"
#include "nbody6/engine/edit.h"
#include "nbody6/engine/stages/predictor.h"
#include "nbody6/engine/stages/state.h"
#include "nbody6/state/body.h"
#include "nbody6/state/predict_fully.h"
#include "nbody6/state/pull.h"

#include <math.h>
#include <stdint.h>

/** Slices of all bodies whose potentials are summed apart, in any order; then these in theirs. */
enum { NB6_DEV_POTENTIAL_SLICES = 64 };

/** A mass where it is at one time. */
struct nb6_dev_mass {
    double x[3], m;
};

NBC_HD struct nb6_dev_mass nb6_dev_mass_at(const struct nb6_dev *dev, int64_t i, nb6_time t)
{
    struct nb6_dev_mass at;
    double v[3];
    nb6_predict_fully(&dev->body[i], &dev->star[i], t, at.x, v);
    at.m = dev->body[i].mass;
    return at;
}

/** m/r of a mass at a place, where it has none itself. */
NBC_HD double nb6_dev_potential_term(const struct nb6_dev_mass *by, const double x[3])
{
    double r2 = 0;
    for (int k = 0; k < 3; k++) r2 += (by->x[k] - x[k]) * (by->x[k] - x[k]);
    return r2 > 0 ? by->m / sqrt(r2) : 0;
}

/** The bodies of a slice: first, ..., end - 1. */
NBC_HD void nb6_dev_potential_slice(const struct nb6_dev *dev, int64_t slice, int64_t *first, int64_t *end)
{
    *first = dev->n * slice / NB6_DEV_POTENTIAL_SLICES;
    *end = dev->n * (slice + 1) / NB6_DEV_POTENTIAL_SLICES;
}

/** An edit, with places in `changed`. */
struct nb6_dev_edit {
    nb6_time t;
    int32_t n;
    const struct nb6_changed *changed; /**< [n] */
    int64_t n_pulled;
    const struct nb6_pulled *pulled; /**< [n_pulled] with places */
};

/** The first of the changed bodies that is not before body i. */
NBC_HD int32_t nb6_dev_changed_from(const struct nb6_dev_edit *edit, int32_t i)
{
    int32_t low = 0, high = edit->n;
    while (low < high) {
        const int32_t middle = (low + high) / 2;
        if (edit->changed[middle].body < i)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/** The force that a changed body has lost, of one that has it in its list. */
NBC_HD void nb6_dev_pull_of_neighbour(const struct nb6_changed *by, const double x[3], const double v[3],
                                      struct nb6_pulls *pulls)
{
    nb6_pull_to_irregular(by->lost, by->x, by->v, x, v, pulls);
}

/** All changed bodies in the list of body i, ascending: the shorter of both is gone through, the longer searched. */
NBC_HD void nb6_dev_pulls_of_list(const struct nb6_dev *dev, const struct nb6_dev_edit *edit, int32_t i,
                                  const double x[3], const double v[3], struct nb6_pulls *pulls)
{
    const int32_t *list = nb6_dev_list(dev, i), nnb = dev->star[i].nnb;
    if (edit->n < nnb) {
        for (int32_t k = 0; k < edit->n; k++)
            if (nb6_dev_is_in_list(list, nnb, edit->changed[k].body))
                nb6_dev_pull_of_neighbour(&edit->changed[k], x, v, pulls);
        return;
    }
    for (int32_t m = 0; m < nnb; m++) {
        const int32_t k = nb6_dev_changed_from(edit, list[m]);
        if (k < edit->n && edit->changed[k].body == list[m]) nb6_dev_pull_of_neighbour(&edit->changed[k], x, v, pulls);
    }
}

/** Takes from the irregular polynomial of body i all else that leaves it, if anything does. */
NBC_HD void nb6_dev_pull_of_systems(const struct nb6_dev_edit *edit, int32_t i, struct nb6_pulls *pulls)
{
    int64_t low = 0, high = edit->n_pulled;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (edit->pulled[middle].body < i)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == edit->n_pulled || edit->pulled[low].body != i) return;
    for (int k = 0; k < 3; k++) {
        pulls->acc_irr[k] += edit->pulled[low].acc[k];
        pulls->jerk_irr[k] += edit->pulled[low].jerk[k];
    }
}

/** The loss of the changed bodies leaves the polynomials of body i, which stays where it is at that time, and is, if
 *  it is one of them, of its new mass. */
NBC_HD void nb6_dev_edit_body(const struct nb6_dev *dev, const struct nb6_dev_edit *edit, int32_t i)
{
    struct nb6_body *body = &dev->body[i];
    struct nb6_pulls pulls = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    const int32_t own = nb6_dev_changed_from(edit, i);
    double x[3], v[3], acc[3], jerk[3];
    nb6_predict(body, nb6_time_to_double(edit->t - body->t0), x, v);
    for (int32_t s = 0; s < edit->n; s++) {
        const struct nb6_changed *by = &edit->changed[s];
        if (by->body == i || !nb6_pull(by->lost, by->x, by->v, x, v, acc, jerk)) continue;
        for (int k = 0; k < 3; k++) {
            pulls.acc_reg[k] += acc[k];
            pulls.jerk_reg[k] += jerk[k];
        }
    }
    nb6_dev_pulls_of_list(dev, edit, i, x, v, &pulls);
    nb6_dev_pull_of_systems(edit, i, &pulls);
    nb6_pulls_leave(&pulls, edit->t, body, &dev->star[i]);
    if (own < edit->n && edit->changed[own].body == i) body->mass = edit->changed[own].mass;
    dev->predictor[i] = nb6_predictor_at(body, dev->level[i], dev->control->ti_now);
    if (i == 0) dev->control->stores_all = 1;
}

#endif
