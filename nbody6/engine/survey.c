#include "nbody6/engine/survey.h"

#include "device/supply.h"
#include "gpunb/device/regular.h"
#include "gpunb/gpunb.h"
#include "nbody6/state/ascending.h"
#include "nbody6/state/members.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/touched.h"

#include <stdlib.h>
#include <string.h>

static int ascending(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static void sort(int32_t *number, int64_t n)
{
    if (n > 0) qsort(number, (size_t)n, sizeof *number, ascending);
}

static int32_t place_of(const struct nb6_dev *dev, nb6_index i)
{
    return i < dev->bodies ? dev->place_of[i] : -1;
}

/* ---- who holds a body */

void nb6_dev_places_held(const struct nb6_dev *dev, const nb6_index of[2], int32_t place[2])
{
    for (int m = 0; m < 2; m++) place[m] = place_of(dev, of[m]);
    if (of[1] == of[0]) place[1] = -1;
}

static int make_room(struct nb6_held *held, nb6_index of, int64_t n)
{
    held->of = of;
    held->n = 0;
    return nbc_grow(&held->body, &held->room, n, sizeof *held->body);
}

/* Complements ascend where places descend. */
int nb6_dev_take_holders(const struct nb6_dev *dev, const nb6_index of[2], int64_t n, int32_t *entry,
                         struct nb6_held held[2], struct nbc_error *err)
{
    int64_t of_second = 0;
    sort(entry, n);
    while (of_second < n && entry[of_second] < 0) of_second++;
    if (!make_room(&held[0], of[0], n - of_second) || !make_room(&held[1], of[1], of_second))
        return nbc_fail(err, NBC_NO_MEMORY, "no memory for the bodies that have body %d or %d in their lists", of[0],
                        of[1]);
    for (int64_t k = of_second; k < n; k++) held[0].body[held[0].n++] = dev->body_of[entry[k]];
    for (int64_t k = of_second - 1; k >= 0; k--) held[1].body[held[1].n++] = dev->body_of[~entry[k]];
    return NBC_OK;
}

/* ---- all bodies as they are now */

static int is_left_out(const struct nb6_dev_question *question, nb6_index i)
{
    return nb6_list_find(question->left_out, (size_t)question->n_out, i) >= 0;
}

static int takes_part(const struct nb6_sim *sim, const struct nb6_dev_question *question, nb6_index i)
{
    return i < nb6_bodies(sim) && nb6_takes_part(sim, i) && !is_left_out(question, i);
}

/* Whether a body that is left out is no touched one, and has a place. */
static int is_out_alone(const struct nb6_sim *sim, const struct nb6_dev *dev, nb6_index i)
{
    const struct nb6_touched *touched = &sim->engine_image.touched;
    return place_of(dev, i) >= 0 && !(i < touched->marks && touched->mark[i]);
}

int nb6_dev_begin_question(const struct nb6_sim *sim, const struct nb6_dev *dev, struct nb6_dev_question *question,
                           struct nbc_error *err)
{
    const struct nb6_touched *touched = &sim->engine_image.touched;
    const int status = nb6_survey_knows(sim, err);
    question->n = question->n_come = 0;
    question->come = NULL;
    if (status) return status;
    for (int64_t k = 0; k < touched->n; k++) question->n += place_of(dev, touched->body[k]) >= 0;
    for (int64_t k = 0; k < question->n_out; k++) question->n += is_out_alone(sim, dev, question->left_out[k]);
    question->come = nbc_alloc_unset((size_t)touched->n, sizeof *question->come);
    if (!question->come) return nbc_fail(err, NBC_NO_MEMORY, "no memory for a question about all bodies");
    for (int64_t k = 0; k < touched->n; k++) {
        const nb6_index i = touched->body[k];
        if (place_of(dev, i) < 0 && takes_part(sim, question, i)) question->come[question->n_come++] = i;
    }
    sort(question->come, question->n_come);
    return NBC_OK;
}

void nb6_dev_end_question(struct nb6_dev_question *question)
{
    nbc_free(question->come);
    question->come = NULL;
}

size_t nb6_dev_lay_out_question(void *data, const struct nb6_dev *dev, const struct nb6_dev_question *question,
                                struct nb6_dev_survey *to)
{
    struct nbd_supply s = {.next = data};
    const size_t n = (size_t)question->n, targets = question->job ? question->job->n_i : 0;
    to->place = nbd_take(&s, n, sizeof *to->place);
    to->takes_part = nbd_take(&s, n, sizeof *to->takes_part);
    to->body = nbd_take(&s, n + (size_t)question->n_come, sizeof *to->body);
    to->target = nbd_take(&s, targets, sizeof *to->target);
    to->answer = s.bytes;
    to->nnb = nbd_take(&s, targets, sizeof *to->nnb);
    to->asked = s.bytes;
    to->sum = nbd_take(&s, question->job ? 0 : NB6_DEV_SURVEY_SLICES, sizeof *to->sum);
    to->force = nbd_take(&s, targets * NB6_DEV_SURVEY_SLICES, sizeof *to->force);
    to->list = nbd_take(&s, question->job ? targets * question->job->nb_cap : 0, sizeof *to->list);
    to->answer_end = s.bytes;
    to->scratch = (size_t)dev->n * sizeof *to->entry_of;
    to->entry_of = nbd_take(&s, (size_t)dev->n, sizeof *to->entry_of);
    return s.bytes;
}

static void fill_bodies(const struct nb6_sim *sim, const struct nb6_dev *dev, const struct nb6_dev_question *question,
                        const struct nb6_dev_survey *to)
{
    const struct nb6_touched *touched = &sim->engine_image.touched;
    int64_t n = 0;
    for (int64_t k = 0; k < touched->n; k++) {
        const nb6_index i = touched->body[k];
        if (place_of(dev, i) < 0) continue;
        to->place[n] = place_of(dev, i);
        to->takes_part[n] = (int8_t)takes_part(sim, question, i);
        to->body[n++] = sim->body[i];
    }
    for (int64_t k = 0; k < question->n_out; k++) {
        const nb6_index i = question->left_out[k];
        if (!is_out_alone(sim, dev, i)) continue;
        to->place[n] = place_of(dev, i);
        to->takes_part[n] = 0;
        to->body[n++] = sim->body[i];
    }
    for (int64_t k = 0; k < question->n_come; k++) to->body[n + k] = sim->body[question->come[k]];
}

/* Among the bodies of the image, or behind them. */
static int64_t number_of(const struct nb6_dev *dev, const struct nb6_dev_question *question, nb6_index i)
{
    const int32_t place = place_of(dev, i);
    return place >= 0 ? place : dev->n + nb6_list_find(question->come, (size_t)question->n_come, i);
}

void nb6_dev_fill_question(const struct nb6_sim *sim, const struct nb6_dev *dev,
                           const struct nb6_dev_question *question, const struct nb6_dev_survey *to)
{
    const struct gpunb_regf_job *job = question->job;
    fill_bodies(sim, dev, question, to);
    for (size_t k = 0; k < (job ? job->n_i : 0); k++) {
        struct nb6_dev_survey_target *target = &to->target[k];
        memcpy(target->x, job->x[k], sizeof target->x);
        memcpy(target->v, job->v[k], sizeof target->v);
        target->r_nb2 = job->r_nb2[k];
        target->dt_reg = job->dt_reg[k];
        target->self = number_of(dev, question, job->self[k]);
        to->nnb[k] = 0;
    }
}

struct nb6_dev_revision nb6_dev_revision_of(const struct nb6_dev_question *question,
                                            const struct nb6_dev_survey *survey)
{
    return (struct nb6_dev_revision){.t = question->t,
                                     .n = question->n,
                                     .n_come = question->n_come,
                                     .place = survey->place,
                                     .takes_part = survey->takes_part,
                                     .body = survey->body,
                                     .entry_of = survey->entry_of};
}

void nb6_dev_take_sums(const struct nb6_dev_survey *survey, double sum[NB6_DEV_SURVEY_SUMS])
{
    for (int k = 0; k < NB6_DEV_SURVEY_SUMS; k++) {
        sum[k] = 0;
        for (int slice = 0; slice < NB6_DEV_SURVEY_SLICES; slice++) sum[k] += survey->sum[slice][k];
    }
}

static void take_force(const struct nb6_dev *dev, const struct nb6_dev_question *question,
                       const struct nb6_dev_survey *survey, size_t k)
{
    const struct gpunb_regf_job *job = question->job;
    const struct nb6_dev_survey_force *force = survey->force + k * NB6_DEV_SURVEY_SLICES;
    const int32_t *list = survey->list + k * job->nb_cap, nnb = survey->nnb[k];
    int32_t *row = job->nblist + k * job->nb_cap;
    for (int d = 0; d < 3; d++) {
        job->acc[k][d] = job->jerk[k][d] = 0;
        for (int slice = 0; slice < NB6_DEV_SURVEY_SLICES; slice++) {
            job->acc[k][d] += force[slice].sum[d];
            job->jerk[k][d] += force[slice].sum[3 + d];
        }
    }
    job->nnb[k] = nnb;
    for (int32_t m = 0; m < nnb && (size_t)nnb <= job->nb_cap; m++)
        row[m] = list[m] < dev->n ? dev->body_of[list[m]] : question->come[list[m] - dev->n];
    if ((size_t)nnb <= job->nb_cap) sort(row, nnb);
}

void nb6_dev_take_forces(const struct nb6_dev *dev, const struct nb6_dev_question *question,
                         const struct nb6_dev_survey *survey)
{
    for (size_t k = 0; k < question->job->n_i; k++) take_force(dev, question, survey, k);
}

/* ---- the questions */

int nb6_dev_sum_velocities(const struct nb6_sim *sim, nb6_time t, nb6_dev_answer *answer, double sum[4],
                           struct nbc_error *err)
{
    struct nb6_dev_question question = {.t = t};
    const struct nb6_dev_apart velocities = {.is_asked = 0};
    memset(sum, 0, NB6_DEV_SURVEY_SUMS * sizeof *sum);
    return answer(sim, &question, &velocities, sum, err);
}

int nb6_dev_sum_apart(const struct nb6_sim *sim, nb6_time t, int64_t n_out, const nb6_index *left_out,
                      const double x[3], const struct nb6_parts *parts, nb6_dev_answer *answer, double *sum,
                      struct nbc_error *err)
{
    struct nb6_dev_question question = {.t = t, .n_out = n_out, .left_out = left_out};
    const struct nb6_dev_apart apart = {.is_asked = 1, .x = {x[0], x[1], x[2]}, .parts = *parts};
    double sums[NB6_DEV_SURVEY_SUMS] = {0};
    const int status = answer(sim, &question, &apart, sums, err);
    *sum = sums[0];
    return status;
}

int nb6_dev_survey_forces(const struct nb6_sim *sim, nb6_time t, const struct gpunb_regf_job *job,
                          nb6_dev_answer *answer, struct nbc_error *err)
{
    struct nb6_dev_question question = {.t = t, .job = job};
    return answer(sim, &question, NULL, NULL, err);
}
