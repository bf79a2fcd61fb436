#include "nbody6/input/config_groups.h"

#include "nbody6/input/config.h"

int nb6_config_get_two(const struct nb6_config *config, struct nb6_config_two *two, struct nbc_error *err)
{
    int status = nb6_config_number(config, "INSETUP", "N2", &two->n2, err);
    if (!status) status = nb6_config_number(config, "INSETUP", "APO", &two->apo, err);
    if (!status) status = nb6_config_number(config, "INSETUP", "ECC", &two->ecc, err);
    return status ? status : nb6_config_number(config, "INSETUP", "SCALE", &two->scale, err);
}

int nb6_config_get_softened(const struct nb6_config *config, struct nb6_config_softened *softened,
                            struct nbc_error *err)
{
    int status = nb6_config_number(config, "INCOLLISIONLESS", "SOFTENING", &softened->softening, err);
    if (!status) status = nb6_config_number(config, "INCOLLISIONLESS", "DT", &softened->dt, err);
    return status ? status : nb6_config_number(config, "INCOLLISIONLESS", "ETA", &softened->eta, err);
}
