/** An input as a commented namelist. Private to libnbody6. */
#ifndef NB6_INPUT_PRINT_H
#define NB6_INPUT_PRINT_H

#include "nbody6/input/config.h"
#include "nbody6/input/input_values.h"

#include <stdio.h>

/** Write every variable that was set, by groups, with unit and meaning; the data file by the name it was found under.
 */
void nb6_input_print(FILE *out, const struct nb6_input_values *values, const struct nb6_config *config);

#endif
