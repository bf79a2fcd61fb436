/** Questions about all bodies of the emulated engine (stages/survey.h). */
#ifndef NB6_EMULATED_SURVEY_H
#define NB6_EMULATED_SURVEY_H

#include "common/nbc.h"
#include "nbody6/engine/stages/state.h"
#include "nbody6/engine/survey.h"
#include "nbody6/state/survey.h"

struct nb6_dev_apart;
struct nb6_sim;

/** As the function of state/survey.h.   @return NBC_OK; NBC_NO_MEMORY */
int nb6_emulated_find_holders(const struct nb6_dev *dev, const nb6_index of[2], struct nb6_held held[2],
                              struct nbc_error *err);
/** The answer to a question: forces of its job, or sums.
 *  @param[in] apart  what the sums are of   @param[out] sum  NULL for forces   @return as before */
int nb6_emulated_survey(const struct nb6_sim *sim, const struct nb6_dev *dev, struct nb6_dev_question *question,
                        const struct nb6_dev_apart *apart, double sum[NB6_DEV_SURVEY_SUMS], struct nbc_error *err);

#endif
