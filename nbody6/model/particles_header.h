/** The heading of a HDF5 file in the GADGET layout: the number of its particles, and their units. Written by
 *  GADGET-2 to 4, AREPO, GIZMO, SWIFT, and by nbody6. Private to libnbody6. */
#ifndef NB6_PARTICLES_HEADER_H
#define NB6_PARTICLES_HEADER_H

#include "nbody6/hdf5/hdf5_util.h"
#include "nbody6/input/words/unit_names.h"
#include "nbody6/model/model.h"

/** Value k of an attribute of /Header that has one for each kind of particles.   @return 1; 0: it is not there */
int nb6_particles_header_value(struct nb6_hdf5 *file, const char *name, int k, double *value);

/** Of one kind, in all files of a snapshot. */
struct nb6_particles_count {
    int files;
    int64_t total; /**< -1: not in the header */
};

/** How many the header counts in all; it must count as many here as there are.
 *  @param[in] type  K of PartTypeK   @return NBC_OK; NBC_BAD_INPUT: rows that are unlike it; the file's failure */
int nb6_particles_count(struct nb6_hdf5 *file, int type, int64_t n, struct nb6_particles_count *count,
                        struct nbc_error *err);

/** Units, the time of the snapshot, and facts for notes.
 *  @param[in,out] model  n; data   @param[out] units  kind NB6_UNIT_NONE: not stated
 *  @return NBC_OK; NBC_BAD_INPUT: a cosmological snapshot, or units that are none; the file's failure */
int nb6_particles_read_units(struct nb6_hdf5 *file, struct nb6_model *model, struct nb6_data_units *units,
                             struct nbc_error *err);

#endif
