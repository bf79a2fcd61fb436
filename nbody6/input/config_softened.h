/** Requirements of a run with softened forces. Private to libnbody6. */
#ifndef NB6_CONFIG_SOFTENED_H
#define NB6_CONFIG_SOFTENED_H

#include "common/nbc.h"

struct nb6_config;

/** Refuse &INCOLLISIONLESS without softening or step, physics that its program does not have, and times between
 *  steps. Nothing is refused where there are no softened forces.
 *  @return NBC_OK; NBC_BAD_INPUT, with a message that begins with the name of the variable and says what to give */
int nb6_config_check_softened(const struct nb6_config *config, struct nbc_error *err);

#endif
