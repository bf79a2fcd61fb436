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
    const struct {
        const char *name;
        double *to;
    } variables[] = {{"SOFTENING", &softened->softening},
                     {"DT", &softened->dt},
                     {"ETA", &softened->eta},
                     {"FORCE_ERROR", &softened->force_error},
                     {"THETA", &softened->theta},
                     {"ORDER", &softened->order},
                     {"LEAF", &softened->leaf},
                     {"GROUP", &softened->group},
                     {"WALK", &softened->walk},
                     {"REUSE", &softened->reuse}};
    int status = NBC_OK;
    for (size_t k = 0; k < sizeof variables / sizeof variables[0] && !status; k++)
        status = nb6_config_number(config, "INCOLLISIONLESS", variables[k].name, variables[k].to, err);
    return status;
}
