/** First 512 bytes of a checkpoint (the HDF5 user block): schema, length and checksum of the whole file as text. They
 * are compared before HDF5 sees the file, because HDF5 itself may crash on a damaged one. */
#ifndef NB6_CHECKPOINT_SEAL_H
#define NB6_CHECKPOINT_SEAL_H

#include "nbody6/hdf5/hdf5_util.h"

enum { NB6_SEAL_BYTES = 512 };

/** CRC-64/XZ (ECMA-182 polynomial, reflected), continued from `crc` (0 at first): any damage within 64 adjacent bits is
 *  found, any other with probability 1 - 2^-64. */
uint64_t nb6_crc64(uint64_t crc, const void *data, size_t bytes);

/** Seal a file with a finished HDF5 part. Failures are kept in the file. */
void nb6_seal_write(struct nb6_hdf5 *file, int schema);

/** Check a file.   @return NBC_OK; NBC_FILE: the fault is in err, without a remedy */
int nb6_seal_check(const char *path, int schema, struct nbc_error *err);

#endif
