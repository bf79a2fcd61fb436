/** Nominal costs of forces by tree, from the file that COSTS of &INCOLLISIONLESS names. */
#ifndef NB6_COSTS_FILE_H
#define NB6_COSTS_FILE_H

#include "common/nbc.h"

#include <stddef.h>

/** @param[in]  path  what bench/tune_tree --write has made
 *  @param[out] text  [size] as struct gpunb_options takes it; "" after a failure
 *  @return NBC_OK; NBC_BAD_INPUT: one message with file and line; NBC_FILE: it cannot be read */
int nb6_costs_file_read(const char *path, char *text, size_t size, struct nbc_error *err);
/** Refuse costs of another backend than this one, of a file that was read before.   @return NBC_OK; NBC_BAD_INPUT */
int nb6_costs_check_backend(const char *path, const char *backend, struct nbc_error *err);
#endif
