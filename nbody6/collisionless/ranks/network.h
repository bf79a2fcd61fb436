/** Forces of n bodies on themselves on ranks with a virtual network (world/threads.h): the messages of world/spread.h
 *  are sent, each of their bodies stands for many, and sums take their nominal time. */
#ifndef NB6_RANK_NETWORK_H
#define NB6_RANK_NETWORK_H

#include "common/nbc.h"
#include "nbody6/collisionless/ranks/model.h"

/** The prediction of nb6_rank_seconds, as it comes about.
 *  @param[in]  model    source_bytes is a multiple of 8
 *  @param[out] seconds  on the clock of the last rank
 *  @return NBC_OK; NBC_NO_MEMORY */
int nb6_rank_network_seconds(const struct nb6_rank_model *model, double n, int ranks, double room, double *seconds,
                             struct nbc_error *err);

#endif
