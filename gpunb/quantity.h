/** Checks of the numbers given to a call against their ranges. */
#ifndef GPUNB_QUANTITY_H
#define GPUNB_QUANTITY_H

#include "common/nbc.h"

#include <stddef.h>

/** `rows` rows of `width` numbers, each of which must be within [low, high]. */
struct gpunb_quantity {
    const char *what, *name; /**< a row, and the number in it: "source", "mass" */
    const double *values;
    size_t rows;
    int width;
    double low, high;
};

/** Check every value.
 *  @return NBC_OK; NBC_NON_FINITE, NBC_BAD_ARGUMENT: `err` names the first value that is refused */
int gpunb_check(struct nbc_error *err, const char *call, const struct gpunb_quantity *list, int count);

#endif
