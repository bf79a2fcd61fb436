/** What a row of the log shows of bodies that are divided among ranks (ranks.h). */
#ifndef NB6_RANK_SURVEY_H
#define NB6_RANK_SURVEY_H

#include "common/nbc.h"
#include "nbody6/collisionless/ranks.h"

/** All ranks call it together; rank 0 gets the sums.
 *  @param[in] share  its arrays are of one time   @param[in] pot  [share->n] at that time
 *  @return as nb6_rank_structure */
int nb6_rank_survey(const struct nb6_collisionless *share, const double *pot, struct nb6_rank_survey *survey,
                    struct nbc_error *err);

#endif
