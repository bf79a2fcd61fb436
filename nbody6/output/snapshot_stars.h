/** Columns of stars that age in snapshots, beside the columns that are kept with them. Private to libnbody6. */
#ifndef NB6_SNAPSHOT_STARS_H
#define NB6_SNAPSHOT_STARS_H

#include "common/nbc.h"

struct nb6_frame;
struct nb6_properties;
struct nb6_sim;

/** The columns of a snapshot at the time of a frame: types, initial masses, ages, metallicities, cores, radii,
 *  luminosities and temperatures now, and the columns kept with the stars that say nothing about these.
 *  @param[in]  frame  of all stars, in their order
 *  @param[out] properties  release with nb6_properties_free; NULL after a failure
 *  @return NBC_OK; NBC_BAD_INPUT: more columns than there can be; NBC_NO_MEMORY; as nb6_ageing_view */
int nb6_snapshot_stars(const struct nb6_sim *sim, const struct nb6_frame *frame, struct nb6_properties **properties,
                       struct nbc_error *err);

#endif
