/** Bodies that begin anew between two blocks, on a device: those that a sudden change concerns (engine/edit.h), with
 *  new lists, forces, derivatives and steps at the time of the change, as nb6_start_bodies makes them. In this order:
 *  which they are; all bodies as sources (stages/regular.h), and these over them; GPUNB is asked for regular forces and
 *  lists, and again where a list is too long; irregular forces. Up to then all results are in scratch. Then what has
 *  left all bodies (stages/parcel.h); these bodies; their derivatives and levels.
 *
 *  They are single stars that no system resolves, and pairs on which nothing acts. Others, in whose forces the host
 *  takes part, lose pulls as all do, and end their regular steps with their next irregular ones. */
#ifndef NB6_STAGES_BEGIN_H
#define NB6_STAGES_BEGIN_H

#include "common/hd.h"
#include "gpunb/device/sums.h"
#include "nbody6/engine/edit.h"
#include "nbody6/engine/stages/edit.h"
#include "nbody6/engine/stages/force.h"
#include "nbody6/engine/stages/quiet.h"
#include "nbody6/engine/stages/regular.h"
#include "nbody6/engine/stages/state.h"
#include "nbody6/galaxy/device_field.h"
#include "nbody6/galaxy/linear_field.h"
#include "nbody6/state/body.h"
#include "nbody6/state/predict_fully.h"
#include "nbody6/state/pull.h"
#include "nbody6/step/disturbed.h"
#include "nbody6/step/first_rules.h"
#include "nbody6/step/pair_derivatives.h"
#include "nbody6/step/rules.h"

#include <math.h>
#include <stdint.h>

/** Needs of the bodies that begin anew, as they are found. */
struct nb6_dev_begin_count {
    int32_t n;          /**< bodies */
    int32_t n_again;    /**< lists that were too long in this round */
    int32_t longest;    /**< list */
    int32_t unsound;    /**< 1 + place of one whose force is not finite */
    uint64_t overflows; /**< lists that were too long */
};

/** A body on its way. */
struct nb6_dev_begun {
    struct nb6_body body;
    struct nb6_star star;
};

/** Pointers to memory of the device. */
struct nb6_dev_beginning {
    struct nb6_dev_edit edit;        /**< with places */
    const struct nb6_sudden *sudden; /**< [edit.n] */
    int32_t any_speed, spare;        /**< 0: no velocity changes */
    int64_t n;
    const int32_t *place;          /**< [n] bodies that begin anew, in any order */
    const int32_t *role;           /**< [dev->n] which of these a body is; NB6_DEV_GOES_ON: none; NB6_DEV_HURRIES: one
                                         of the others; else minus 2 and the number of a changed body that goes on */
    struct nb6_dev_begun *begun;   /**< [n] */
    struct gpunb_dev_asked *asked; /**< [n] */
    struct gpunb_dev_asked *again; /**< [n] */
    int32_t *asked_by;             /**< [n] of each that is asked for again, its number */
    struct nb6_dev_begin_count *count;
    struct nb6_first_rules rules;
};

enum { NB6_DEV_HURRIES = INT32_MIN, NB6_DEV_GOES_ON = -1 };

/* ---- which bodies */

/** When the regular step of body i ends; one that was hurried ends with the irregular one. */
NBC_HD nb6_time nb6_dev_end_of_regular_step(const struct nb6_dev *dev, int32_t i)
{
    const nb6_time reg = dev->star[i].t0_reg + nb6_step_ticks(dev->star[i].level_reg);
    const nb6_time irr = dev->body[i].t0 + nb6_step_ticks(dev->star[i].level_irr);
    return reg > irr ? reg : irr;
}

/** Whether body i is to begin anew. */
NBC_HD int nb6_dev_is_disturbed(const struct nb6_dev *dev, const struct nb6_dev_beginning *b, int32_t i)
{
    const struct nb6_star *star = &dev->star[i];
    const int32_t *list = nb6_dev_list(dev, i);
    double x[3] = {0, 0, 0}, v[3], left = 0;
    if (b->any_speed) {
        nb6_predict_fully(&dev->body[i], star, b->edit.t, x, v);
        left = nb6_time_to_double(nb6_dev_end_of_regular_step(dev, i) - b->edit.t);
    }
    for (int32_t k = 0; k < b->edit.n; k++) {
        const struct nb6_sudden *by = &b->sudden[k];
        if (b->edit.changed[k].body == i && by->begins) return 1;
        if (by->is_felt && nb6_dev_is_in_list(list, star->nnb, b->edit.changed[k].body)) return 1;
        if (by->speed > 0 && nb6_will_pass(by->speed, left, by->x, x)) return 1;
    }
    return 0;
}

/** Whether it then begins anew. */
NBC_HD int nb6_dev_can_begin(const struct nb6_dev *dev, int32_t i)
{
    return dev->watch[i] == (i < dev->first_centre ? 0 : NB6_DEV_QUIET);
}

/** Add the velocity of body i at time t, and its square. */
NBC_HD void nb6_dev_add_velocity(const struct nb6_dev *dev, int64_t i, nb6_time t, double sum[4])
{
    double x[3], v[3];
    nb6_predict(&dev->body[i], nb6_time_to_double(t - dev->body[i].t0), x, v);
    for (int k = 0; k < 3; k++) {
        sum[k] += v[k];
        sum[3] += v[k] * v[k];
    }
}

/* ---- places, and what is asked of GPUNB */

/** The k-th changed body, which goes on, as a source of regular forces: all are there with the masses of before. */
NBC_HD void nb6_dev_change_source(const struct nb6_dev *dev, const struct nb6_dev_beginning *b, int32_t k)
{
    const int32_t i = b->edit.changed[k].body;
    double x[3], v[3];
    nb6_predict(&dev->body[i], nb6_time_to_double(b->edit.t - dev->body[i].t0), x, v);
    dev->sums.source[i] = gpunb_dev_source_at(x, v, (float)b->edit.changed[k].mass, dev->rules.weighted);
}

/** A regular force on the k-th body, and its list in the row for blocks. */
NBC_HD void nb6_dev_ask_first(const struct nb6_dev *dev, const struct nb6_dev_beginning *b, int64_t k,
                              struct gpunb_dev_asked *asked)
{
    const struct nb6_dev_begun *own = &b->begun[k];
    *asked = nb6_dev_asked_for(dev, b->place[k], own->star.r_nb);
    asked->dt_reg = nb6_longest_first_step(&b->rules, own->body.v0, own->star.r_nb);
}

/** The k-th body stands at the time of the change, as a source too. */
NBC_HD void nb6_dev_stand(const struct nb6_dev *dev, const struct nb6_dev_beginning *b, int64_t k)
{
    const int32_t i = b->place[k], changed = nb6_dev_changed_from(&b->edit, i);
    struct nb6_dev_begun *own = &b->begun[k];
    own->body = dev->body[i];
    own->star = dev->star[i];
    nb6_predict_fully(&dev->body[i], &dev->star[i], b->edit.t, own->body.x0, own->body.v0);
    own->body.t0 = own->star.t0_reg = b->edit.t;
    if (changed < b->edit.n && b->edit.changed[changed].body == i) {
        own->body.mass = b->edit.changed[changed].mass;
        for (int d = 0; d < 3 && b->sudden[changed].begins; d++) {
            own->body.x0[d] = b->sudden[changed].x[d];
            own->body.v0[d] = b->sudden[changed].v[d];
        }
    }
    own->star.r_nb = nb6_dev_radius_for_system(dev, i, own->star.r_nb, 0);
    dev->sums.source[i] = gpunb_dev_source_at(own->body.x0, own->body.v0, (float)own->body.mass, dev->rules.weighted);
    nb6_dev_ask_first(dev, b, k, &b->asked[k]);
}

/** Whether the list of the k-th body, as it was asked for, is no longer than it may be. If it is, its sphere shrinks.
 */
NBC_HD int nb6_dev_accepts_first(const struct nb6_dev *dev, const struct nb6_dev_beginning *b, int64_t k,
                                 const struct gpunb_dev_asked *asked)
{
    const int64_t limit = nb6_dev_list_limit(dev, b->place[k]);
    struct nb6_star *star = &b->begun[k].star;
    star->nnb = asked->count;
    if (asked->count <= limit) return 1;
    star->r_nb = nb6_smaller_radius(star->r_nb, limit, asked->count);
    return 0;
}

/* ---- forces */

/** A body as it is at the time of the change, before it is written. */
NBC_HD void nb6_dev_stands_at(const struct nb6_dev *dev, const struct nb6_dev_beginning *b, int32_t j, double x[3],
                              double v[3], double *mass)
{
    const int32_t role = b->role[j];
    const struct nb6_body *body = role >= 0 ? &b->begun[role].body : &dev->body[j];
    if (role >= 0) {
        nb6_copy3(x, body->x0);
        nb6_copy3(v, body->v0);
    } else
        nb6_predict(body, nb6_time_to_double(b->edit.t - body->t0), x, v);
    *mass = role < NB6_DEV_GOES_ON && role != NB6_DEV_HURRIES ? b->edit.changed[NB6_DEV_GOES_ON - 1 - role].mass
                                                              : body->mass;
}

/** Irregular force on the k-th body, by every 32nd neighbour. */
NBC_HD void nb6_dev_first_force_lane(const struct nb6_dev *dev, const struct nb6_dev_beginning *b, int64_t k, int lane,
                                     struct gpunb_dev_sum *sum)
{
    const struct nb6_dev_begun *own = &b->begun[k];
    const int32_t *list = nb6_dev_staged_list(dev, b->place[k]);
    gpunb_dev_clear(sum);
    for (int32_t m = lane; m < own->star.nnb; m += NB6_DEV_LANES) {
        double x[3], v[3], mass;
        nb6_dev_stands_at(dev, b, list[m], x, v, &mass);
        for (int d = 0; d < 3; d++) {
            x[d] -= own->body.x0[d];
            v[d] -= own->body.v0[d];
        }
        nb6_dev_add_in_double(x, v, mass, sum);
    }
}

/** Forces on the k-th body, from its two sums and the field.   @return 0: they are not finite */
NBC_HD int nb6_dev_set_first_force(const struct nb6_dev *dev, const struct nb6_dev_beginning *b, int64_t k,
                                   const struct gpunb_dev_sum *irr)
{
    const struct gpunb_dev_sum *reg = &b->asked[k].sum;
    struct nb6_dev_begun *own = &b->begun[k];
    struct nb6_orbit_point now;
    const double t = nb6_time_to_double(b->edit.t);
    double inner[3], ext_acc[3] = {0, 0, 0}, ext_jerk[3] = {0, 0, 0}, sum = 0;
    for (int d = 0; d < 3; d++) inner[d] = irr->acc[d] + reg->acc[d];
    nb6_device_field_at(&dev->rules.field, t, &now);
    if (dev->rules.field.active)
        nb6_device_field_force(&dev->rules.field, t, &now, own->body.x0, own->body.v0, inner, ext_acc, ext_jerk);
    for (int d = 0; d < 3; d++) {
        own->star.acc_reg[d] = reg->acc[d];
        own->star.jerk_reg[d] = reg->jerk[d];
        own->star.acc_irr[d] = irr->acc[d] + ext_acc[d];
        own->star.jerk_irr[d] = irr->jerk[d] + ext_jerk[d];
        own->body.acc[d] = own->star.acc_irr[d] + own->star.acc_reg[d];
        own->body.jerk[d] = own->star.jerk_irr[d] + own->star.jerk_reg[d];
        own->star.snap_irr[d] = own->star.crackle_irr[d] = own->star.snap_reg[d] = own->star.crackle_reg[d] = 0;
        sum += own->body.acc[d] + own->body.jerk[d];
    }
    return sum - sum == 0;
}

/* ---- from here on the image changes, and nothing fails */

/** The k-th body is in the image, with its list. */
NBC_HD void nb6_dev_take_begun(const struct nb6_dev *dev, const struct nb6_dev_beginning *b, int64_t k)
{
    const int32_t i = b->place[k];
    dev->body[i] = b->begun[k].body;
    dev->star[i] = b->begun[k].star;
    dev->row_now[i] = (int8_t)!dev->row_now[i];
}

/** The k-th changed body, which goes on, has its mass. */
NBC_HD void nb6_dev_take_mass(const struct nb6_dev *dev, const struct nb6_dev_beginning *b, int32_t k)
{
    const int32_t i = b->edit.changed[k].body;
    if (b->role[i] >= 0) return;
    dev->body[i].mass = b->edit.changed[k].mass;
    dev->predictor[i] = nb6_predictor_at(&dev->body[i], dev->level[i], b->edit.t);
}

/** Body i, if it hurries: the regular step under way ends with the irregular one. */
NBC_HD void nb6_dev_hurry(const struct nb6_dev *dev, const struct nb6_dev_beginning *b, int32_t i)
{
    if (b->role[i] == NB6_DEV_HURRIES) dev->star[i].level_reg = dev->star[i].level_irr;
}

/** Second and third derivatives of the irregular force. */
struct nb6_dev_derivatives {
    double snap[3], crackle[3];
};

NBC_HD void nb6_dev_add_derivatives(struct nb6_dev_derivatives *to, const struct nb6_dev_derivatives *other)
{
    for (int d = 0; d < 3; d++) {
        to->snap[d] += other->snap[d];
        to->crackle[d] += other->crackle[d];
    }
}

/** Those of the k-th body, by every 32nd neighbour. */
NBC_HD void nb6_dev_first_derivatives_lane(const struct nb6_dev *dev, const struct nb6_dev_beginning *b, int64_t k,
                                           int lane, struct nb6_dev_derivatives *sum)
{
    const int32_t i = b->place[k], *list = nb6_dev_list(dev, i);
    for (int d = 0; d < 3; d++) sum->snap[d] = sum->crackle[d] = 0;
    for (int32_t m = lane; m < dev->star[i].nnb; m += NB6_DEV_LANES) {
        const struct nb6_body other = nb6_body_at(&dev->body[list[m]], b->edit.t);
        nb6_add_pair_derivatives(&dev->body[i], &other, sum->snap, sum->crackle);
    }
}

/** The field is part of the irregular force (step/derivatives.c). */
NBC_HD void nb6_dev_add_field_derivatives(const struct nb6_dev *dev, int32_t i, struct nb6_dev_derivatives *sum)
{
    const struct nb6_body *body = &dev->body[i];
    double inner[3], snap[3], crackle[3];
    for (int d = 0; d < 3; d++) inner[d] = sum->snap[d];
    nb6_linear_field_force(&dev->rules.field, body->acc, body->jerk, inner, snap, crackle);
    for (int d = 0; d < 3; d++) {
        sum->snap[d] += snap[d];
        sum->crackle[d] += crackle[d];
    }
}

/** First steps of the k-th body. A pair is tested for perturbers when the first one ends. */
NBC_HD void nb6_dev_set_first_steps(const struct nb6_dev *dev, const struct nb6_dev_beginning *b, int64_t k,
                                    struct nb6_dev_derivatives *sum)
{
    const int32_t i = b->place[k];
    struct nb6_star *star = &dev->star[i];
    if (dev->rules.field.active) nb6_dev_add_field_derivatives(dev, i, sum);
    for (int d = 0; d < 3; d++) {
        star->snap_irr[d] = sum->snap[d];
        star->crackle_irr[d] = sum->crackle[d];
    }
    nb6_first_levels(&b->rules, &dev->body[i], INFINITY, star);
    dev->level[i] = star->level_irr;
    dev->predictor[i] = nb6_predictor_at(&dev->body[i], dev->level[i], b->edit.t);
    if (i >= dev->first_centre) nb6_dev_quiet_goes_on(dev, i, 0);
}

#endif
