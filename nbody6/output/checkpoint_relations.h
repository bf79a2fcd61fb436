/** Relations between the fields of a checkpoint: the second part of the judgement, after each field has
 *  kept its own rule (checkpoint_rules.h). So the functions here may follow indices. A failure stays in the file and
 *  names the first field that does not fit. Private to checkpoint*.c. */
#ifndef NB6_CHECKPOINT_RELATIONS_H
#define NB6_CHECKPOINT_RELATIONS_H

#include "nbody6/hdf5/hdf5_util.h"

#include <stdint.h>

struct nb6_checkpoint_state;
struct nb6_config;
struct nb6_run_state;
struct nb6_sim;

/** Everything of fixed size: configuration, units, field, times, counters and books.
 *  @param[in] settled           the configuration given to the run, with the requested backends
 *  @param[in] is_collisionless  1: of nbody6-collisionless, which has fewer books */
void nb6_relations_state(struct nb6_hdf5 *file, const struct nb6_checkpoint_state *state,
                         const struct nb6_config *settled, int is_collisionless);
/** Fields of the command. */
void nb6_relations_heading(struct nb6_hdf5 *file, const struct nb6_run_state *run);
/** Bodies of a collisionless run: their number and names.   @param[in] name  [n]; NULL: they are not here */
void nb6_relations_collisionless(struct nb6_hdf5 *file, int64_t n, const int64_t *name);
/** Slots, members, owners and chains against each other. */
void nb6_relations_members(struct nb6_hdf5 *file, const struct nb6_sim *sim);
/** Bodies that take part, with their times, levels, forces, names and masses, after nb6_relations_members. */
void nb6_relations_bodies(struct nb6_hdf5 *file, const struct nb6_sim *sim);
/** Neighbour lists, one after the other, and perturbers: ascending, of bodies that take part, without the owner. */
void nb6_relations_lists(struct nb6_hdf5 *file, const struct nb6_sim *sim, const int32_t *nblist);
/** Relative motions: those of their members, at their time, as the regularization makes them. */
void nb6_relations_motions(struct nb6_hdf5 *file, const struct nb6_sim *sim);

#endif
