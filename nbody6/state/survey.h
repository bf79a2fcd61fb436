/** Questions about all bodies that take part, which are asked where systems form, end and change. Host memory has the
 *  answers, by loops over all bodies. An engine whose image was equal to host memory when the change began finds them
 *  where the image is (engine/survey.h), for the bodies as they are now: what was touched since is known (touched.h).
 *
 *  Who holds a body does not depend on who answers. Sums agree but for rounding: so whether an engine answers has to
 *  follow from contents of a checkpoint (engine/engines.c). Sums of an engine do not depend on when it got the image:
 *  each body has its place in them, touched or not. */
#ifndef NB6_SURVEY_H
#define NB6_SURVEY_H

#include "common/nbc.h"
#include "nbody6/state/body.h"

#include <stdint.h>

struct gpunb_regf_job;
struct nb6_parts;
struct nb6_sim;

/** Bodies of an image that have one in their list, ascending. Zero-initialise. */
struct nb6_held {
    nb6_index of; /**< that one */
    int64_t n, room;
    nb6_index *body; /**< [n] */
};

/** Answers of an engine about its image. All return NBC_OK, NBC_NO_MEMORY or NBC_DEVICE. */
struct nb6_survey {
    /** @param[in,out] held  of each of two bodies those of the image with it in the list, touched or not; if both are
     *  one body, of the first alone */
    int (*find_holders)(const struct nb6_sim *sim, const nb6_index of[2], struct nb6_held held[2],
                        struct nbc_error *err);
    /** Components and squares of the velocities of all bodies at time t. */
    int (*sum_velocities)(const struct nb6_sim *sim, nb6_time t, double sum[4], struct nbc_error *err);
    /** Potential of all bodies at time t on unit mass at x that is divided into parts, less that on a point.
     *  @param[in] left_out [n_out] ascending: all bodies but these */
    int (*sum_apart)(const struct nb6_sim *sim, nb6_time t, int64_t n_out, const nb6_index *left_out, const double x[3],
                     const struct nb6_parts *parts, double *sum, struct nbc_error *err);
    /** Regular forces at time t and lists, as by gpunb_regf, but for NBC_NB_OVERFLOW, which the counts tell. */
    int (*make_forces)(const struct nb6_sim *sim, nb6_time t, const struct gpunb_regf_job *job, struct nbc_error *err);
};

/** The engine that is asked now, and what it said. Zero-initialise. */
struct nb6_survey_now {
    const struct nb6_survey *by; /**< NULL: host memory answers */
    int64_t n_held, room;        /**< bodies whose holders it has told, */
    struct nb6_held *held;       /**< [room] these, and others with memory for later ones */
    struct nb6_held now;         /**< the last answer */
};

/** From now on this engine answers, whose image is equal to host memory; NULL: none does. */
void nb6_survey_begin(struct nb6_sim *sim, const struct nb6_survey *by);
void nb6_survey_end(struct nb6_sim *sim);
void nb6_survey_free(struct nb6_survey_now *survey);
/** Whether it is known which bodies were touched since.   @return NBC_OK; NBC_NO_MEMORY: there was none to note it */
int nb6_survey_knows(const struct nb6_sim *sim, struct nbc_error *err);

/** All bodies with of[which] in their list, ascending, from host memory also those that take no part; they stay up to
 *  the next question. An engine is asked for both at once, and once for a change.
 *  @return NBC_OK; NBC_NO_MEMORY; NBC_DEVICE */
int nb6_survey_holders(struct nb6_sim *sim, const nb6_index of[2], int which, int64_t *n, const nb6_index **body,
                       struct nbc_error *err);

#endif
