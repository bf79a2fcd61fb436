/** Targets of the fuzzers: the readers of files that people write. Each returns 0, or a text that names the broken
 *  promise of the reader; the sanitizers find the rest. */
#ifndef FUZZ_TARGETS_H
#define FUZZ_TARGETS_H

#include <stddef.h>
#include <stdint.h>

/** An input file, a namelist or positional, and what --to-namelist makes of it. The first byte chooses --dynamics-only;
 *  the rest is the text. */
const char *fuzz_namelist(const uint8_t *data, size_t size);
/** The same as changes of a run that goes on. */
const char *fuzz_changes(const uint8_t *data, size_t size);
/** A data file of 7 columns. The first byte chooses KZ(22) = 2, 6 or 10 and whether N is given. */
const char *fuzz_dat10(const uint8_t *data, size_t size);

/** The first byte chooses whether N is given; the rest is a file of stellar parameters (STELLAR) of three stars. */
const char *fuzz_stellar(const uint8_t *data, size_t size);

#endif
