/** Questions of the host about all bodies of an image (state/survey.h), on a device. Sums are made by slices of all
 *  bodies, in any order; the slices are added in theirs. */
#ifndef NB6_STAGES_SURVEY_H
#define NB6_STAGES_SURVEY_H

#include "common/hd.h"
#include "nbody6/engine/stages/state.h"
#include "nbody6/fewbody/parts.h"
#include "nbody6/state/body.h"
#include "nbody6/state/pull.h"

#include <math.h>
#include <stdint.h>

/* ---- who holds a body */

/** Bodies that have one of two others in their lists are listed in any order: by place, or, with the second one, by the
 *  complement of it, which is negative. A body is not in its own list. */
enum { NB6_DEV_MOST_HOLDERS = 2 }; /**< entries for each body, at most */

NBC_HD int32_t nb6_dev_holder(int32_t k, int second)
{
    return second ? ~k : k;
}

/** Whether body k has another one in its list.   @param[in] other  its place; negative: it has none */
NBC_HD int nb6_dev_holds(const struct nb6_dev *dev, int32_t k, int32_t other)
{
    return other >= 0 && nb6_dev_is_in_list(nb6_dev_list(dev, k), dev->star[k].nnb, other);
}

/* ---- all bodies as they are now */

/** The bodies that host memory has otherwise than the image. Bodies that have come follow those of the image. */
struct nb6_dev_revision {
    nb6_time t;                  /**< of the question */
    int64_t n, n_come;           /**< bodies of the image that are otherwise; bodies that it does not have */
    const int32_t *place;        /**< [n] in any order */
    const int8_t *takes_part;    /**< [n] 0: not any more, or left out */
    const struct nb6_body *body; /**< [n + n_come] */
    int32_t *entry_of;           /**< [dev->n] of the n ones; -1: the body is as in the image */
};

NBC_HD void nb6_dev_note_revised(const struct nb6_dev_revision *revision, int64_t entry)
{
    revision->entry_of[revision->place[entry]] = (int32_t)entry;
}

/** A body as it is; NULL: it takes no part.   @param[in] j  below dev->n + n_come */
NBC_HD const struct nb6_body *nb6_dev_revised(const struct nb6_dev *dev, const struct nb6_dev_revision *revision,
                                              int64_t j)
{
    if (j >= dev->n) return &revision->body[revision->n + j - dev->n];
    const int32_t entry = revision->entry_of[j];
    if (entry < 0) return &dev->body[j];
    return revision->takes_part[entry] ? &revision->body[entry] : 0;
}

enum { NB6_DEV_SURVEY_SLICES = 256 };

/** The bodies of a slice: first, ..., end - 1. */
NBC_HD void nb6_dev_survey_slice(const struct nb6_dev *dev, const struct nb6_dev_revision *revision, int64_t slice,
                                 int64_t *first, int64_t *end)
{
    const int64_t n = dev->n + revision->n_come;
    *first = n * slice / NB6_DEV_SURVEY_SLICES;
    *end = n * (slice + 1) / NB6_DEV_SURVEY_SLICES;
}

/** Where a body is at time t. */
NBC_HD void nb6_dev_survey_predict(const struct nb6_body *body, nb6_time t, double x[3], double v[3])
{
    nb6_predict(body, nb6_time_to_double(t - body->t0), x, v);
}

/* ---- sums over them */

/** Sums of a slice for one question: velocities and their squares; or a potential. */
enum { NB6_DEV_SURVEY_SUMS = 4 };

NBC_HD void nb6_dev_survey_velocity(const struct nb6_body *body, nb6_time t, double sum[NB6_DEV_SURVEY_SUMS])
{
    double x[3], v[3];
    nb6_dev_survey_predict(body, t, x, v);
    for (int k = 0; k < 3; k++) {
        sum[k] += v[k];
        sum[3] += v[k] * v[k];
    }
}

/** A system whose attraction is asked for, apart from that of a point. */
struct nb6_dev_apart {
    int32_t is_asked, spare; /**< 0: velocities are */
    double x[3];
    struct nb6_parts parts;
};

NBC_HD void nb6_dev_survey_apart(const struct nb6_body *body, nb6_time t, const struct nb6_dev_apart *apart,
                                 double *sum)
{
    double x[3], v[3];
    nb6_dev_survey_predict(body, t, x, v);
    for (int k = 0; k < 3; k++) x[k] -= apart->x[k];
    *sum += body->mass * nb6_parts_potential_of_point(x, &apart->parts);
}

NBC_HD void nb6_dev_add_to_survey(const struct nb6_body *body, nb6_time t, const struct nb6_dev_apart *apart,
                                  double sum[NB6_DEV_SURVEY_SUMS])
{
    if (apart->is_asked)
        nb6_dev_survey_apart(body, t, apart, &sum[0]);
    else
        nb6_dev_survey_velocity(body, t, sum);
}

/* ---- forces on some of them, and their lists */

/** Targets that a block of threads has together, so that each body is predicted once for them. */
enum { NB6_DEV_SURVEY_TARGETS = 4 };

struct nb6_dev_survey_target {
    double x[3], v[3];
    double r_nb2, dt_reg; /**< as in gpunb_regf */
    int64_t self;         /**< place, or behind those of the image */
};

/** A target with the sums of a slice. */
struct nb6_dev_survey_force {
    double sum[6]; /**< acceleration, jerk */
};

/** A body is a neighbour (NA12 eq. 4), or its force is added.   @param[in] weighted  1: spheres follow its mass
 *  @return whether it is a neighbour */
NBC_HD int nb6_dev_survey_force_by(const struct nb6_dev_survey_target *target, double mass, const double x[3],
                                   const double v[3], int weighted, double sum[6])
{
    const double limit2 = weighted ? mass * target->r_nb2 : target->r_nb2;
    double acc[3], jerk[3], r2 = 0, p2 = 0;
    for (int k = 0; k < 3; k++) {
        const double r = x[k] - target->x[k], p = r + target->dt_reg * (v[k] - target->v[k]);
        r2 += r * r;
        p2 += p * p;
    }
    if (r2 < limit2 || p2 < limit2) return 1;
    if (!nb6_pull(mass, x, v, target->x, target->v, acc, jerk)) return 0;
    for (int k = 0; k < 3; k++) {
        sum[k] += acc[k];
        sum[3 + k] += jerk[k];
    }
    return 0;
}

#endif
