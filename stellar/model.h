/* The model behind stellar.h. */
#ifndef STELLAR_MODEL_H
#define STELLAR_MODEL_H

#include "stellar/fits.h"
#include "stellar/stellar.h"

struct stellar_model {
    struct stellar_options options;
    struct stellar_fits fits;
};

/** NBC_OK, or NBC_BAD_ARGUMENT with the option and its limit. */
int stellar_options_check(const struct stellar_options *options, struct nbc_error *err);

#endif
