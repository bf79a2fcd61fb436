#include "nbody6/input/config.h"
#include "nbody6/input/input_table.h"

#include <math.h>
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

double nb6_config_number(const struct nb6_config *config, const char *group, const char *name)
{
    const int k = nb6_input_find_variable(group, name);
    double number = NAN;
    if (k >= 0 && nb6_input_variables[k].target == NB6_TO_NUMBER)
        memcpy(&number, (const char *)config + nb6_input_offset(&nb6_input_variables[k]), sizeof number);
    return number;
}
