/* No field: the linear one with coefficients of zero. */
#include "common/nbc.h"
#include "nbody6/galaxy/linear.h"
#include "nbody6/galaxy/potential.h"

#include <stdio.h>

static int make_none(const struct nb6_config *config, const struct nb6_units *units, struct nb6_external *external,
                     struct nbc_error *err)
{
    (void)config;
    (void)units;
    (void)err;
    external->active = 0;
    return NBC_OK;
}

static void describe_none(const struct nb6_config *config, char text[NB6_EXTERNAL_TEXT])
{
    (void)config;
    snprintf(text, NB6_EXTERNAL_TEXT, "none");
}

const struct nb6_potential nb6_potential_none = {.make = make_none, .describe = describe_none, NB6_LINEAR_OPERATIONS};
