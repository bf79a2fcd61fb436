/** The values of all bodies in a row of the log, of bodies that are divided among ranks. All ranks call the functions
 *  together, and get the same numbers. */
#ifndef NB6_RANK_SURVEY_H
#define NB6_RANK_SURVEY_H

#include "common/nbc.h"
#include "nbody6/analysis/structure.h"
#include "nbody6/collisionless/force_error.h"
#include "nbody6/state/ledger.h"

struct nb6_collisionless;
struct nb6_spread;

struct nb6_rank_survey {
    struct nb6_energy energy;
    struct nb6_structure structure;
    double shortest, longest;           /**< steps */
    struct nb6_force_error force_error; /**< of trees */
};

/** @param[in] share   an equal share (nb6_world_share), whose arrays are of one time
 *  @param[in] spread  of all bodies, without a sum under way   @param[in] pot  [share->n] at that time
 *  @return as nb6_rank_structure */
int nb6_rank_survey(const struct nb6_collisionless *share, struct nb6_spread *spread, const double *pot,
                    struct nb6_rank_survey *survey, struct nbc_error *err);
/** The same of bodies that have domains, and errors of their forces: equal shares of them by number are there for a
 *  while. */
int nb6_rank_survey_domain(const struct nb6_collisionless *share, const double *pot, struct nb6_rank_survey *survey,
                           struct nbc_error *err);

#endif
