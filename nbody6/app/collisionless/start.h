/** The bodies of a new run of nbody6-collisionless: a model, and the system that it becomes. With direct sums on
 * several ranks the model is made, or read, piece by piece, and no process has all of it, but for the models that
 *  nb6_model_size names. */
#ifndef NB6_COLLISIONLESS_START_H
#define NB6_COLLISIONLESS_START_H

#include "common/nbc.h"
#include "nbody6/model/model.h"
#include "nbody6/model/pieces.h"
#include "nbody6/state/body_rows.h"

struct nb6_collisionless;
struct nb6_config;
struct nb6_run_record;
struct nb6_world;

/** A model, and where its bodies are. */
struct nb6_start {
    struct nb6_model model;
    struct nb6_model_store store;     /**< of a model in pieces: bodies that are */
    const struct nb6_body_sink *sink; /**< on their way to the ranks, or, with NULL, */
    struct nb6_body_rows rows;        /**< there */
    const struct nb6_config *config;  /**< as it was asked for, */
    struct nb6_config *settled;       /**< with number and units of the model */
};

/** A model in memory, with its units and properties, as in a run.   @param[out] model  untouched on failure
 *  @return as nb6_new_model; NBC_BAD_INPUT: nbody6-collisionless cannot run it */
int nb6_start_model(const struct nb6_config *config, struct nb6_config *settled, struct nb6_model *model,
                    struct nbc_error *err);
/** The model, the system, and what the record of the run has of them: configuration, units, properties, books, id.
 *  @param[out] start  to be freed with nb6_start_free, before the system, also after a failure
 *  @param[out] system  set on success only   @return as nb6_start_model and nb6_collisionless_create */
int nb6_start_make(struct nb6_start *start, const struct nb6_config *config, struct nb6_world *world,
                   struct nb6_run_record *run, struct nb6_collisionless **system, struct nbc_error *err);
void nb6_start_free(struct nb6_start *start);

#endif
