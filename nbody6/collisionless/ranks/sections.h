/** Domains of ranks by multisection (Makino 2004, PASJ 56, 521; Ishiyama, Fukushige & Makino 2009, PASJ 61, 1319):
 * space is cut along one axis, each slab along another one, each column along the third, so that each domain has the
 * same work, and all are about as long as wide.
 *
 *  Deviates: the number of ranks need not be a product of three numbers. Where P ranks are cut k times, slab j gets the
 *  ranks from P j/k to P (j + 1)/k, and as much of the work as it has ranks. The axis along which bodies are spread
 * most comes first; how often it is cut follows from their spreads. Domains are half open: what is at a cut is above
 * it. */
#ifndef NB6_SECTIONS_H
#define NB6_SECTIONS_H

#include "common/nbc.h"

#include <stdint.h>

struct nb6_world;

/** Ranks below number r are on one side of cut r, those from r on on the other, within the domain that it cuts. */
struct nb6_sections {
    int ranks;
    int32_t axis[3];              /**< of each level of cuts */
    int8_t *level;                /**< [ranks] of each cut, 0 to 2, from number 1 on */
    double *cut;                  /**< [ranks] coordinate along its axis */
    int32_t root, *lower, *upper; /**< [ranks] cuts to look at next; 0: none */
};

/** A body that stands for some of them. */
struct nb6_sample {
    double x[3], weight;
};

/** @return NULL without memory; to be freed with nb6_sections_free */
struct nb6_sections *nb6_sections_create(int ranks);
/** Accepts NULL. */
void nb6_sections_free(struct nb6_sections *sections);
/** Those of as many ranks. */
void nb6_sections_copy(struct nb6_sections *to, const struct nb6_sections *from);
/** Cuts of samples, which come into another order. Equal ones in any order have the same cuts, by axes and numbers of
 *  slabs that are there: those stay as long as they fit. */
void nb6_sections_divide(struct nb6_sections *sections, struct nb6_sample *sample, int64_t n);
/** After axis, level and cut have changed.   @return whether they are those of a multisection */
int nb6_sections_link(struct nb6_sections *sections);
/** The rank in whose domain a position is. */
int nb6_sections_rank_of(const struct nb6_sections *sections, const double x[3]);

/** Bodies of this rank. */
struct nb6_sections_job {
    int64_t n;
    const double (*x)[3]; /**< [n] */
    const int32_t *order; /**< [n] along which samples are taken; NULL: as they are */
    const uint64_t *work; /**< [n]; NULL, or none at all: alike */
    int is_damped;        /**< 1: the root of the work of each rank counts, shared by its bodies as the work is */
};
/** Sections of the bodies of all ranks, the same on all of them, for which samples are collected on rank 0. Axes and
 *  numbers of slabs stay as long as they fit.
 *
 *  Where domains move, so does the work of their bodies, and more work may go than was measured: twice as much as in
 *  two colliding galaxies, and ranks take turns to have too much. With half of the correction they do not. Bodies that
 *  have moved since take their part with them, so that domains follow them at once.
 *  @param[in,out] sections  changed on success only   @return NBC_OK; NBC_NO_MEMORY, on all ranks */
int nb6_sections_find(struct nb6_sections *sections, struct nb6_world *world, const struct nb6_sections_job *job,
                      struct nbc_error *err);
/** All ranks get the sections of rank 0. */
void nb6_sections_broadcast(struct nb6_sections *sections, struct nb6_world *world);

#endif
