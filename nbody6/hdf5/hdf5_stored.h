/** Objects that may be read of a HDF5 file from any source: numbers in usual types, all of them in this file. Checked
 *  before data are read or memory is allocated. Failures are kept in the file, as in hdf5_util.h. */
#ifndef NB6_HDF5_STORED_H
#define NB6_HDF5_STORED_H

#include "nbody6/hdf5/hdf5_util.h"

/** Is there an object of this name in the group itself?   @param[in] name without '/'
 *  @return 1; 0: no, or the file has failed before; 0 and a failure: a link into another file,
 *  or damage */
int nb6_hdf5_has(struct nb6_hdf5 *file, hid_t group, const char *name);

/** Has the object such an attribute?   @return 1; 0: no, or the file has failed before; 0 and a failure: it is damaged
 */
int nb6_hdf5_has_attribute(struct nb6_hdf5 *file, hid_t object, const char *name);

/** Is it an integer of 1 to 8 bytes, or a float of 4 or 8, as processors have them?   @param[in] type of the file */
int nb6_hdf5_is_number(hid_t type);

/** Fails for datasets of anything else, and for those whose values are not all in this file: virtual ones, external
 *  storage, storage that was never allocated or lies past the end, filters that HDF5 would have to load. */
void nb6_hdf5_check_stored(struct nb6_hdf5 *file, hid_t dataset, const char *name);

#endif
