/** Notes on stars that were read from a file. */
#ifndef NB6_DATA_NOTE_H
#define NB6_DATA_NOTE_H

#include "common/nbc.h"

struct nb6_model;

enum { NB6_DATA_TEXT = 2048 };

/** How the file was understood, and the binaries, triples and larger systems in it.
 *  @param[in] model  read and settled: in N-body units   @return NBC_OK; NBC_NO_MEMORY */
int nb6_data_describe(const struct nb6_model *model, char text[NB6_DATA_TEXT], struct nbc_error *err);

#endif
