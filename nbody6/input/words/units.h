/** UNITS of &INMODEL. Private to libnbody6. */
#ifndef NB6_WORDS_UNITS_H
#define NB6_WORDS_UNITS_H

#include "nbody6/input/config.h"

/** Parse the units of a data file: one of the words, or three units.   @return 1: it is one of those */
int nb6_input_find_units(const char *text, enum nb6_file_units *units, struct nb6_data_config *data);
/** Refuse any other text, with the nearest word.   @return NBC_OK; NBC_BAD_INPUT */
int nb6_input_check_units(const char *path, int line, const char *text, struct nbc_error *err);

#endif
