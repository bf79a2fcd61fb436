/** The interpreted setup, as `nbody6 --check` shows it: N-body and physical values side by side. */
#ifndef NB6_SETUP_H
#define NB6_SETUP_H

#include "nbody6/input/config.h"

#include <stdio.h>

/** Print a description of a run with this configuration. A data file is read and checked; models of up to 20000 stars
 *  are made, so that masses and units are those of the run; for larger ones the mean of the mass function is used.
 *  @return NBC_OK; the status of nb6_model_make */
int nb6_setup_print(FILE *out, const struct nb6_config *config, struct nbc_error *err);

#endif
