#include "nbody6/input/config.h"
#include "nbody6/input/input_table.h"

#include <stddef.h>
#include <string.h>

/* Numbers are in the order of the table. Checkpoints hold them by name, so that rows may come and go. */
size_t nb6_input_offset(const struct nb6_input_variable *variable)
{
    if (variable->target != NB6_TO_NUMBER) return variable->offset;
    size_t place = 0;
    for (const struct nb6_input_variable *v = nb6_input_variables; v < variable; v++)
        place += v->target == NB6_TO_NUMBER;
    return offsetof(struct nb6_config, number) + place * sizeof(double);
}

double nb6_input_number(const struct nb6_config *config, const struct nb6_input_variable *variable)
{
    double number;
    memcpy(&number, (const char *)config + nb6_input_offset(variable), sizeof number);
    return number;
}

static int unknown(const char *what, const char *name, const char *near, struct nbc_error *err)
{
    return nbc_fail(err, NBC_BAD_ARGUMENT, "%s: the input has no such %s%s%s", name, what,
                    near ? "; did you mean " : "", near ? near : "");
}

int nb6_config_number(const struct nb6_config *config, const char *group, const char *name, double *number,
                      struct nbc_error *err)
{
    if (nb6_input_find_group(group) < 0) return unknown("group", group, nb6_input_near_group(group), err);
    const int k = nb6_input_find_variable(group, name);
    if (k < 0) return unknown("variable", name, nb6_input_near_variable(group, name), err);
    if (nb6_input_variables[k].target != NB6_TO_NUMBER)
        return nbc_fail(err, NBC_BAD_ARGUMENT, "%s: it is no number without a member: read that of struct nb6_config",
                        name);
    *number = nb6_input_number(config, &nb6_input_variables[k]);
    return NBC_OK;
}
