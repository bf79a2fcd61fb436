/** Where the stars of an input are. Private to libnbody6. */
#ifndef NB6_INPUT_DATA_FILE_H
#define NB6_INPUT_DATA_FILE_H

#include "nbody6/input/config.h"

#include <stdio.h>

/** Look for the data file of a model that is read: in the working directory, then beside the input file. If the input
 *  names no file, a file with the input's name beside it is tried first, as McLuster writes them: X.dat.10, X.fort.10,
 *  X.input.dat.10 or X.input.fort.10 for X.input; a note names the file that is taken.
 *  @param[in]     named  does the input name it (DATA)?
 *  @param[in,out] config data_path: becomes the name of the found file, or stays */
void nb6_input_find_data(const char *input_path, int named, FILE *notes, struct nb6_config *config);
/** The same for the file of COSTS. */
void nb6_input_find_costs(const char *input_path, struct nb6_config *config);

#endif
