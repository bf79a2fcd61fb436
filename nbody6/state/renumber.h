/** New numbers of bodies after some have left, or before some come. */
#ifndef NB6_RENUMBER_H
#define NB6_RENUMBER_H

#include "common/nbc.h"
#include "nbody6/state/body.h"

#include <stdint.h>

struct nb6_sim;

/** Close the gaps that bodies leave: records move down, neighbour lists and the schedule follow, sim->n is the new
 *  number of stars. Slots keep their numbers; those of centres of mass that leave are free already. All is saved
 *  (nb6_save_all); members, perturbers and sources still have the old numbers (fewbody/rename.h).
 *  @param[in] n_gone  stars that leave
 *  @param[in] bodies, moved  [bodies] new numbers of the previous stars and centres of mass, ascending; -1: leaves
 *  @return NBC_OK; the status of GPUIRR: the caller rolls the transaction back then */
int nb6_bodies_renumber(struct nb6_sim *sim, int64_t n_gone, int64_t bodies, const nb6_index *moved,
                        struct nbc_error *err);
/** Centres of mass move to numbers behind those of n_new stars, which take no part yet, are all zero, and part of
 * sim->n; lists and the schedule follow. There is room (nb6_sim_reserve_stars), and all is saved; members, perturbers
 * and sources still have the old numbers.   @return as nb6_bodies_renumber */
int nb6_bodies_make_room(struct nb6_sim *sim, int64_t n_new, struct nbc_error *err);

#endif
