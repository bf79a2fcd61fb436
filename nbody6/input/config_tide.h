/** Requirements of an external field. Private to libnbody6. */
#ifndef NB6_CONFIG_TIDE_H
#define NB6_CONFIG_TIDE_H

#include "common/nbc.h"

struct nb6_tide_config;

/** @return NBC_OK; NBC_BAD_INPUT, with a message that begins with the name of the variable and says what to give */
int nb6_config_check_tide(const struct nb6_tide_config *tide, struct nbc_error *err);
/** About a point mass alone, with VG(3) = 0, RG(1) and RG(2) are the apocentre and the eccentricity, as in NBODY6. */
int nb6_config_orbit_is_planar(const struct nb6_tide_config *tide);

#endif
