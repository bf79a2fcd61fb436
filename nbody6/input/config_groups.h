/** Groups of the input whose variables have no members in struct nb6_config, each read as a whole. Private to
 * libnbody6. */
#ifndef NB6_CONFIG_GROUPS_H
#define NB6_CONFIG_GROUPS_H

#include "common/nbc.h"

struct nb6_config;

/** &INSETUP: two Plummer models in orbit about each other. */
struct nb6_config_two {
    double n2;       /**< stars in the second one */
    double apo, ecc; /**< of the orbit: separation at the start, eccentricity */
    double scale;    /**< size of the second one in units of the first */
};
/** &INCOLLISIONLESS: softened forces. */
struct nb6_config_softened {
    double softening, dt, eta;
    double force_error, theta, order, leaf, group; /**< of a tree: as in struct gpunb_options */
    double walk;                                   /**< enum gpunb_walk */
    double reuse;                                  /**< longest steps of a tree */
};

/** @return NBC_OK; what nb6_config_number returns */
int nb6_config_get_two(const struct nb6_config *config, struct nb6_config_two *two, struct nbc_error *err);
int nb6_config_get_softened(const struct nb6_config *config, struct nb6_config_softened *softened,
                            struct nbc_error *err);

#endif
