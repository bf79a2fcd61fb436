/** Changes by an input in a continued run, and its checkpoint. Private to run*.c. */
#ifndef NB6_RUN_CHANGES_H
#define NB6_RUN_CHANGES_H

#include "nbody6/app/run.h"
#include "nbody6/input/input.h"

#include <stdio.h>

/** Take over options->changes, if there is one.
 *  @param[in] t  time of the checkpoint   @param[in] notes  may be NULL   @param[in,out] config  of the checkpoint
 *  @return NBC_OK; as nb6_input_change */
int nb6_run_take_changes(const struct nb6_run_options *options, double t, FILE *notes, struct nb6_config *config,
                         struct nb6_changes *changes, struct nbc_error *err);

#endif
