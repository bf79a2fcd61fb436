/** Snapshots of PeTar (Wang et al. 2020, MNRAS 497, 536), text or binary: a header of the number of the file, the
 * number of stars and the time, perhaps with place and velocity of the cluster's centre in the galaxy; then of each
 * star mass, place, velocity, and columns that depend on how PeTar was configured, which are not read. Private to
 * libnbody6. */
#ifndef NB6_PETAR_H
#define NB6_PETAR_H

#include "common/nbc.h"
#include "nbody6/model/model.h"

/** How a file is one. */
enum nb6_petar { NB6_PETAR_NONE, NB6_PETAR_TEXT, NB6_PETAR_BINARY };

/** A text begins with a line of 3 or 9 numbers, the first two of them integers, before rows of at least 17; a binary
 *  file with two integers of 8 bytes and a double, before records of one size. Called in the C locale. */
enum nb6_petar nb6_petar_kind(const char *path);

/** All stars. PeTar states no units: by its option -u they are N-body units or Msun, pc, pc/Myr.
 *  @param[in] scale  [NB6_ID] as nb6_data_scale has it: limits of numbers
 *  @return NBC_OK; NBC_BAD_INPUT (path, line or star, error); NBC_FILE; NBC_NO_MEMORY */
int nb6_petar_read(const char *path, enum nb6_petar kind, const double *scale, struct nb6_model *model,
                   struct nbc_error *err);

#endif
