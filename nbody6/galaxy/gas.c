/* A cluster at rest in a Plummer sphere of gas, which may leave. */
#include "common/nbc.h"
#include "nbody6/galaxy/moving.h"
#include "nbody6/galaxy/potential.h"

#include <stdio.h>

static int make_gas(const struct nb6_config *config, const struct nb6_units *units, struct nb6_external *external,
                    struct nbc_error *err)
{
    (void)units; /* these variables are in N-body units */
    (void)err;
    nb6_moving_set_gas(&config->tide, external);
    return NBC_OK;
}

static void describe_gas(const struct nb6_config *config, char text[NB6_EXTERNAL_TEXT])
{
    const struct nb6_tide_config *tide = &config->tide;
    snprintf(text, NB6_EXTERNAL_TEXT, "gas of mass %g and scale length %g, %s", tide->gas_mass, tide->gas_length,
             tide->gas_rate > 0 ? "leaving" : "which stays");
}

const struct nb6_potential nb6_potential_gas = {.make = make_gas, .describe = describe_gas, NB6_MOVING_OPERATIONS};
