#include "nbody6/input/config.h"

#include "regularization/chain.h"

#include "nbody6/input/input_values.h"

#include <stdlib.h>
#include <string.h>

static void set_initial(struct nb6_config *config, const struct nb6_input_variable *v)
{
    char *field = (char *)config + v->offset;
    double number = strtod(v->initial, NULL);
    switch (v->target) {
    case NB6_TO_DOUBLE:
        memcpy(field, &number, sizeof number);
        break;
    case NB6_TO_INT64:
        memcpy(field, &(int64_t){(int64_t)number}, sizeof(int64_t));
        break;
    case NB6_TO_UINT64:
        memcpy(field, &(uint64_t){(uint64_t)number}, sizeof(uint64_t));
        break;
    case NB6_TO_INT:
        memcpy(field, &(int){(int)number}, sizeof(int));
        break;
    case NB6_TO_TEXT: /* 'text': without the quotes */
        memcpy(field, v->initial + 1, strlen(v->initial) - 2);
        break;
    case NB6_TO_NONE:
        break;
    }
}

void nb6_config_init(struct nb6_config *config)
{
    memset(config, 0, sizeof *config);
    strcpy(config->run.name, "nbody6");
    config->model.kind = NB6_MODEL_PLUMMER;
    config->pair.chain_method = CHAIN_METHOD_AUTO;
    for (int k = 0; k < nb6_input_variable_count; k++) set_initial(config, &nb6_input_variables[k]);
    for (int k = 0; k < NB6_KZ_COUNT; k++)
        nb6_input_apply_option(config, nb6_input_options_table[k].number, nb6_input_options_table[k].initial);
}
