/** Stars in HDF5 files that are not in the GADGET layout: of AMUSE, and snap.40 of NBODY6++GPU. Private to libnbody6.
 */
#ifndef NB6_FOREIGN_HDF5_H
#define NB6_FOREIGN_HDF5_H

#include "nbody6/hdf5/hdf5_util.h"
#include "nbody6/input/words/columns.h"
#include "nbody6/input/words/unit_names.h"
#include "nbody6/model/model.h"

enum { NB6_FOREIGN_NAME = 80 };

/** A vector dataset of n numbers, as doubles, into to[0], to[stride], ...; a failure is kept in the file. */
void nb6_foreign_column(struct nb6_hdf5 *file, hid_t group, const char *name, int64_t n, int stride, double *to);
/** Name number k of a group, from 0.   @return 0: there are no more, or it is longer than NB6_FOREIGN_NAME - 1 */
int nb6_foreign_name(struct nb6_hdf5 *file, hid_t group, int64_t k, char name[NB6_FOREIGN_NAME]);
/** Note a dataset that is not read, as far as there is room. */
void nb6_foreign_unread(struct nb6_data_facts *facts, const char *name);

/** A file of AMUSE (amuse.io.write_set_to_file, version 1 or 2): groups of numbered particle sets, the last of which is
 *  the latest; mass, x, y, z, vx, vy, vz in /attributes, each with the text of its unit. */
int nb6_amuse_is_one(struct nb6_hdf5 *file);
/** @param[in] columns  COLUMNS may name one of several sets
 *  @return NBC_OK; NBC_BAD_INPUT: no such set, attributes that are missing; NBC_NO_MEMORY; the file's failure */
int nb6_amuse_read(struct nb6_hdf5 *file, const struct nb6_columns *columns, struct nb6_model *model,
                   struct nb6_data_units *units, struct nbc_error *err);
/** The unit that a text of AMUSE means: numbers, * / **, brackets and base units, as in "(1.98892e+30 *
 *  system.get('S.I.').base('mass'))".   @return kind NB6_UNIT_UNKNOWN: it is none of this quantity */
struct nb6_unit nb6_amuse_unit(enum nb6_quantity quantity, const char *text);

/** Snapshots of NBODY6++GPU (KZ(46) = 1 or 3): groups Step#K with datasets "001 X1" to "006 V3", "023 M", "032 Name",
 * and those of binaries. */
int nb6_step_is_one(struct nb6_hdf5 *file);
/** The step with most stars, the last one of several: others hold active stars only. COLUMNS may name another one.
 *  Centres of mass among the stars are left out. Members of binaries get the relative places and velocities of the
 *  binary, of which numbers in single precision at the place of the star have lost digits. Masses that add up to 1.1 or
 *  less are in N-body units, others in Msun, pc, km/s.
 *  @return as nb6_amuse_read; NBC_BAD_INPUT also: binaries or hierarchies whose stars are not among the stars */
int nb6_step_read(struct nb6_hdf5 *file, const struct nb6_columns *columns, struct nb6_model *model,
                  struct nb6_data_units *units, struct nbc_error *err);

#endif
