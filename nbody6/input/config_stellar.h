/** Stars that age, as a configuration asks for them: choices for stellar/stellar.h, and what such a run needs. Private
 *  to libnbody6. */
#ifndef NB6_CONFIG_STELLAR_H
#define NB6_CONFIG_STELLAR_H

#include "common/nbc.h"

struct nb6_config;
struct stellar_options;

/** Choices of &INSSE over those of LEVEL; KZ(25) says which white dwarfs have kicks, NRAND the seed.
 *  @param[in] velocity_kms  unit of velocity, in which VVFAC is
 *  @return NBC_OK; NBC_BAD_INPUT: a value that the stellar library has not, named */
int nb6_config_stellar_options(const struct nb6_config *config, double velocity_kms, struct stellar_options *options,
                               struct nbc_error *err);
/** Refuse metallicities, masses and collisions that are not there for stars that age. Nothing is refused where they do
 *  not.   @return NBC_OK; NBC_BAD_INPUT, with a message that begins with the name of the variable */
int nb6_config_check_stellar(const struct nb6_config *config, struct nbc_error *err);

#endif
