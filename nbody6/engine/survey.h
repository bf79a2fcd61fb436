/** Code that engines with an image share when the host asks about all bodies (state/survey.h). */
#ifndef NB6_ENGINE_SURVEY_H
#define NB6_ENGINE_SURVEY_H

#include "common/nbc.h"
#include "nbody6/engine/stages/state.h"
#include "nbody6/engine/stages/survey.h"
#include "nbody6/state/survey.h"

#include <stdint.h>

struct gpunb_regf_job;
struct nb6_sim;

/* ---- who holds a body */

/** Places of two bodies; -1: the body is none of the image, or is the first one again. */
void nb6_dev_places_held(const struct nb6_dev *dev, const nb6_index of[2], int32_t place[2]);
/** The answer from entries as stages/survey.h has them.
 *  @param[in,out] entry [n] sorted   @return NBC_OK; NBC_NO_MEMORY */
int nb6_dev_take_holders(const struct nb6_dev *dev, const nb6_index of[2], int64_t n, int32_t *entry,
                         struct nb6_held held[2], struct nbc_error *err);

/* ---- all bodies as they are now */

/** A question about sums over all bodies. */
struct nb6_dev_question {
    nb6_time t;
    int64_t n_out;
    const nb6_index *left_out;        /**< [n_out] ascending: bodies that it is not about */
    const struct gpunb_regf_job *job; /**< forces that are wanted; NULL: other sums */
    int64_t n, n_come;                /**< as in the revision */
    nb6_index *come;                  /**< [n_come] ascending: bodies behind those of the image */
};

/** Arrays of a question, in one piece of memory. */
struct nb6_dev_survey {
    int32_t *place;                       /**< of the revision, */
    int8_t *takes_part;                   /**< also this, */
    struct nb6_body *body;                /**< and these */
    struct nb6_dev_survey_target *target; /**< [job->n_i] */
    int32_t *nnb;                         /**< [job->n_i] neighbours found; 0 before that */
    double (*sum)[NB6_DEV_SURVEY_SUMS];   /**< [NB6_DEV_SURVEY_SLICES] */
    struct nb6_dev_survey_force *force;   /**< [job->n_i][NB6_DEV_SURVEY_SLICES] */
    int32_t *list;                        /**< [job->n_i][job->nb_cap] neighbours, in any order, if they fit */
    int32_t *entry_of;                    /**< of the revision, for the device alone */
    size_t asked, answer, answer_end,
        scratch; /**< bytes before the end of `nnb`, before it, before `entry_of`; of it */
};

/** How an engine answers.   @param[in] apart  what sums are of; NULL: forces
 *  @param[out] sum  NULL for forces   @return NBC_OK; NBC_NO_MEMORY; NBC_DEVICE */
typedef int nb6_dev_answer(const struct nb6_sim *sim, struct nb6_dev_question *question,
                           const struct nb6_dev_apart *apart, double sum[NB6_DEV_SURVEY_SUMS], struct nbc_error *err);
/** The functions of state/survey.h by such an answer. */
int nb6_dev_sum_velocities(const struct nb6_sim *sim, nb6_time t, nb6_dev_answer *answer, double sum[4],
                           struct nbc_error *err);
int nb6_dev_sum_apart(const struct nb6_sim *sim, nb6_time t, int64_t n_out, const nb6_index *left_out,
                      const double x[3], const struct nb6_parts *parts, nb6_dev_answer *answer, double *sum,
                      struct nbc_error *err);
int nb6_dev_survey_forces(const struct nb6_sim *sim, nb6_time t, const struct gpunb_regf_job *job,
                          nb6_dev_answer *answer, struct nbc_error *err);

/** Find out what is otherwise than in the image.   @param[in,out] question  t, left_out, job
 *  @return NBC_OK; NBC_NO_MEMORY: nothing is allocated then */
int nb6_dev_begin_question(const struct nb6_sim *sim, const struct nb6_dev *dev, struct nb6_dev_question *question,
                           struct nbc_error *err);
void nb6_dev_end_question(struct nb6_dev_question *question);
/** Divide a piece of memory; NULL: only count.   @return bytes of all */
size_t nb6_dev_lay_out_question(void *data, const struct nb6_dev *dev, const struct nb6_dev_question *question,
                                struct nb6_dev_survey *survey);
/** Fill what the device reads. */
void nb6_dev_fill_question(const struct nb6_sim *sim, const struct nb6_dev *dev,
                           const struct nb6_dev_question *question, const struct nb6_dev_survey *survey);
struct nb6_dev_revision nb6_dev_revision_of(const struct nb6_dev_question *question,
                                            const struct nb6_dev_survey *survey);
/** The answer. */
void nb6_dev_take_sums(const struct nb6_dev_survey *survey, double sum[NB6_DEV_SURVEY_SUMS]);
void nb6_dev_take_forces(const struct nb6_dev *dev, const struct nb6_dev_question *question,
                         const struct nb6_dev_survey *survey);

#endif
