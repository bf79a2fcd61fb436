/** From a text to the values of all variables, whichever of the formats it has. Private to libnbody6. */
#ifndef NB6_INPUT_GATHER_H
#define NB6_INPUT_GATHER_H

#include "nbody6/input/input_values.h"
#include "nbody6/input/namelist.h"
#include "nbody6/input/positional/table.h"

#include <stdio.h>

/** Where values came from: for messages about them. */
struct nb6_input_origin {
    struct nb6_namelist list; /**< release with nb6_namelist_free */
    enum nb6_code code;       /**< code that the file is written for; NBODY6++ for a namelist */
};

/** @param[in]  notes may be NULL
 *  @param[out] values release with nb6_input_values_free; neither is to be released on failure
 *  @return NBC_OK; NBC_BAD_INPUT; NBC_NO_MEMORY */
int nb6_input_gather(const char *name, const char *text, size_t size, FILE *notes, struct nb6_input_values *values,
                     struct nb6_input_origin *origin, struct nbc_error *err);

/** Put file and line in front of a message that begins with the name of a variable.   @return status */
int nb6_input_locate(const struct nb6_input_values *values, int status, struct nbc_error *err);

#endif
