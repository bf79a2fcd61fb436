#include "nbody6/input/positional/restart.h"

#include "common/nbc.h"
#include "nbody6/input/input_table.h"
#include "nbody6/input/namelist.h"
#include "nbody6/input/positional/list.h"

#include <stdio.h>
#include <string.h>

static int bad_value(const struct nb6_positional *input, const char *name, const struct nb6_token *token,
                     const char *advice, struct nbc_error *err)
{
    return nbc_fail(err, NBC_BAD_INPUT, "%s:%d: %s: %s %s", input->list->path, token->line, name,
                    nb6_namelist_show(token->text, (size_t)token->length).text, advice);
}

/* KZ(J) in the last two places, with the meaning it has in NBODY6. */
static int take_option(struct nb6_positional *input, const struct nb6_token *number, const struct nb6_token *value,
                       struct nbc_error *err)
{
    int j = 0, k = 0;
    if (number->length > 0 && (!nb6_positional_read_int(number, &j) || j > NB6_KZ_COUNT))
        return bad_value(input, "J", number, "is no number of an option; give 1 to 50, or 0: no option changes", err);
    if (j < 1) return NBC_OK;
    if (value->length > 0 && !nb6_positional_read_int(value, &k))
        return bad_value(input, "KZ(J)", value, "is no value of an option; an integer is needed", err);
    input->kz[j - 1] = k;
    nb6_positional_add_option(input, j, k, number->line);
    return NBC_OK;
}

/* TADJ, TNEXT: NBODY6 does the next adjust, or output, then. */
static int refuse_time(const struct nb6_positional *input, const char *name, const struct nb6_token *token,
                       struct nbc_error *err)
{
    double t = 0;
    if (token->length == 0 || (nb6_positional_read_number(token, &t) && t <= 0)) return NBC_OK;
    return bad_value(input, name, token,
                     "cannot be chosen: adjusts and outputs are at multiples of DTADJ and DELTAT here; give 0", err);
}

int nb6_positional_take_restart(struct nb6_positional *input, const struct nb6_record *record,
                                const struct nb6_list_record *values, struct nbc_error *err)
{
    struct nb6_record_field field;
    int wanted = 0;
    while (nb6_record_field(record, wanted, &field)) wanted++;
    for (int i = 0; nb6_record_field(record, i, &field); i++) {
        const struct nb6_token *token = &values->value[i];
        int status = NBC_OK;
        double x;
        if (strcmp(field.name, "TADJ") == 0 || strcmp(field.name, "TNEXT") == 0)
            status = refuse_time(input, field.name, token, err);
        else if (strcmp(field.name, "J") == 0)
            status = take_option(input, token, token + 1, err);
        else if (field.group[0] && !(nb6_positional_read_number(token, &x) && x <= 0))
            nb6_positional_add(input->list, &field, token, i + 1, wanted);
        if (status != NBC_OK) return status;
    }
    return NBC_OK;
}
