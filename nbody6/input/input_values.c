#include "nbody6/input/input_values.h"

#include "common/nbc.h"
#include "nbody6/input/input_table.h"
#include "nbody6/input/namelist_value.h"

int nb6_input_values_create(struct nb6_input_values *values, const char *path, struct nbc_error *err)
{
    size_t elements = 0, variables = (size_t)nb6_input_variable_count;
    *values = (struct nb6_input_values){.path = path};
    for (size_t k = 0; k < variables; k++) elements += (size_t)nb6_input_variables[k].length;
    values->value = nbc_alloc(elements, sizeof *values->value);
    values->text = nbc_alloc(variables, sizeof *values->text);
    values->first = nbc_alloc(variables, sizeof *values->first);
    if (!values->value || !values->text || !values->first) {
        nb6_input_values_free(values);
        return nbc_fail(err, NBC_NO_MEMORY, "%s: no memory for the input", path);
    }
    for (size_t k = 1; k < variables; k++) values->first[k] = values->first[k - 1] + nb6_input_variables[k - 1].length;
    return NBC_OK;
}

void nb6_input_values_free(struct nb6_input_values *values)
{
    nbc_free(values->value);
    nbc_free(values->text);
    nbc_free(values->first);
    *values = (struct nb6_input_values){0};
}

struct nb6_value *nb6_input_get(const struct nb6_input_values *values, const char *group, const char *name)
{
    return values->value + values->first[nb6_input_find_variable(group, name)];
}

const char *nb6_input_text(const struct nb6_input_values *values, const char *group, const char *name)
{
    return values->text[nb6_input_find_variable(group, name)];
}

int nb6_input_kz(const struct nb6_input_values *values, int number)
{
    const struct nb6_value *kz = nb6_input_get(values, "ININPUT", "KZ") + number - 1;
    return kz->line ? (int)kz->integer : nb6_input_options_table[number - 1].initial;
}

int nb6_input_kz_line(const struct nb6_input_values *values, int number)
{
    return nb6_input_get(values, "ININPUT", "KZ")[number - 1].line;
}

const struct nb6_input_choice *nb6_input_kz_choice(const struct nb6_input_values *values, int number)
{
    const struct nb6_input_choice *foreign = values->choice[number - 1];
    return foreign ? foreign : nb6_input_find_choice(number, nb6_input_kz(values, number));
}
