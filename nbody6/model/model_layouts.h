/** Data files that are no tables: the layouts that KZ(22) = 3, 4, 7, 8 ask for. Private to libnbody6. */
#ifndef NB6_MODEL_LAYOUTS_H
#define NB6_MODEL_LAYOUTS_H

#include "nbody6/model/model.h"
#include "nbody6/model/table_lines.h"

/** All stars of a TREE file: lines with the number of stars, 3 (dimensions), a time, then a line for each mass, each
 *  position, each velocity. Plain text or gzip; called in the C locale.
 *  @param[out] model  n, the arrays and data.format, on success only
 *  @return NBC_OK; NBC_BAD_INPUT (path, line, error); NBC_FILE; NBC_NO_MEMORY */
int nb6_layout_read_tree(struct nb6_table_lines *lines, struct nb6_model *model, struct nbc_error *err);

/** All stars of a Starlab file: particles in brackets `(Particle ... )Particle`, one within the other. Those that hold
 *  no others are the stars; positions and velocities (r, v in `(Dynamics`) are relative to the particle around, those
 *  of the outermost are left aside. A star's index `i` becomes its name, if these are positive and different.
 *  Arguments and return value as nb6_layout_read_tree. Source: McMillan & Hut 1996, ApJ 467, 348 (Starlab). */
int nb6_layout_read_starlab(struct nb6_table_lines *lines, struct nb6_model *model, struct nbc_error *err);

#endif
