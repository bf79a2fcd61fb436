/** A new run as the command makes it: a model from a configuration, a simulation from the model, and the run's id.
 *  Private to libnbody6. */
#ifndef NB6_NEW_SIM_H
#define NB6_NEW_SIM_H

#include "common/nbc.h"

struct nb6_config;
struct nb6_model;
struct nb6_model_store;
struct nb6_sim;

/** The stars that a configuration describes, and the configuration that goes with them.
 *  @param[out] settled  number of stars and units are those of the model; the end is in N-body units alone
 *  @param[out] model    release with nb6_model_free; untouched on failure
 *  @return as nb6_model_make */
int nb6_new_model(const struct nb6_config *config, struct nb6_config *settled, struct nb6_model *model,
                  struct nbc_error *err);
/** The same of stars that are not in memory as a whole (nb6_model_make_in of model/pieces.h). */
int nb6_new_model_in(const struct nb6_config *config, const struct nb6_model_store *store, struct nb6_config *settled,
                     struct nb6_model *model, struct nbc_error *err);
/** A simulation of a model at t = 0.
 *  @param[out] sim  with the id of the run; release with nb6_free, also after a failure
 *  @return as nb6_create and nb6_set_bodies */
int nb6_new_sim(const struct nb6_config *settled, const struct nb6_model *model, struct nb6_sim **sim,
                struct nbc_error *err);

#endif
