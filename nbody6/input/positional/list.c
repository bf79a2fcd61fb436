#include "nbody6/input/positional/list.h"

#include "common/nbc.h"
#include "nbody6/input/input_table.h"
#include "nbody6/input/namelist.h"
#include "nbody6/input/positional/positional.h"
#include "nbody6/input/positional/table.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Variables that translations add, and the bytes of all values that they write. */
enum { ADDED_MAX = 16, SPARE_BYTES = 4096, NUMBER_MAX = 64 };

static void count_table(size_t *variables, size_t *values)
{
    struct nb6_record_field field;
    *variables = ADDED_MAX;
    *values = ADDED_MAX;
    for (int k = 0; k < nb6_record_count; k++)
        for (int i = 0; nb6_record_field(&nb6_records[k], i, &field); i++) {
            ++*variables;
            *values += (size_t)field.count;
        }
}

int nb6_positional_create(struct nb6_positional *input, const char *path, const char *text, size_t size,
                          struct nbc_error *err)
{
    struct nb6_namelist *list = input->list;
    size_t variables, values;
    count_table(&variables, &values);
    list->path = nbc_alloc(strlen(path) + 1, 1);
    list->text = nbc_alloc(size + SPARE_BYTES, 1);
    list->group = nbc_alloc((size_t)nb6_input_group_count, sizeof *list->group);
    list->assignment = nbc_alloc(variables, sizeof *list->assignment);
    list->token = nbc_alloc(values, sizeof *list->token);
    if (!list->path || !list->text || !list->group || !list->assignment || !list->token) {
        nb6_namelist_free(list);
        return nbc_fail(err, NBC_NO_MEMORY, "%s: no memory for the input", path);
    }
    strcpy(list->path, path);
    memcpy(list->text, text, size);
    input->spare = list->text + size;
    input->spare_bytes = SPARE_BYTES;
    return NBC_OK;
}

static int group_number(struct nb6_namelist *list, const char *name, int line)
{
    for (size_t k = 0; k < list->groups; k++)
        if (strcmp(list->group[k].name, name) == 0) return (int)k;
    struct nb6_group *group = &list->group[list->groups];
    snprintf(group->name, sizeof group->name, "%s", name);
    group->line = line;
    return (int)list->groups++;
}

void nb6_positional_add(struct nb6_namelist *list, const struct nb6_record_field *field, const struct nb6_token *value,
                        int position, int positions)
{
    int count = field->count, line = 0;
    while (count > 0 && value[count - 1].length == 0) count--;
    if (count == 0) return;
    for (int i = count; i-- > 0;)
        if (value[i].length > 0) line = value[i].line;
    struct nb6_assignment *a = &list->assignment[list->assignments++];
    *a = (struct nb6_assignment){.group = group_number(list, field->group, line),
                                 .line = line,
                                 .first = list->tokens,
                                 .count = (size_t)count,
                                 .position = position,
                                 .positions = positions};
    snprintf(a->name, sizeof a->name, "%s", field->name);
    memcpy(list->token + list->tokens, value, (size_t)count * sizeof *value);
    list->tokens += (size_t)count;
}

static struct nb6_assignment *find(const struct nb6_namelist *list, const char *group, const char *name)
{
    for (size_t k = 0; k < list->assignments; k++) {
        struct nb6_assignment *a = &list->assignment[k];
        if (strcmp(a->name, name) == 0 && strcmp(list->group[a->group].name, group) == 0) return a;
    }
    return NULL;
}

int nb6_positional_read_number(const struct nb6_token *token, double *number)
{
    char text[NUMBER_MAX], *end;
    if (token->length >= NUMBER_MAX) return 0;
    snprintf(text, sizeof text, "%.*s", token->length, token->text);
    if (text[strspn(text, "+-.0123456789eEdDqQ")]) return 0; /* strtod knows more than Fortran */
    for (char *p = text; *p; p++)
        if (strchr("dDqQ", *p)) *p = 'e';
    *number = strtod(text, &end);
    return end > text && *end == '\0' && isfinite(*number);
}

int nb6_positional_read_int(const struct nb6_token *token, int *number)
{
    double x;
    if (!nb6_positional_read_number(token, &x) || !(x >= INT_MIN && x <= INT_MAX) || x != floor(x)) return 0;
    *number = (int)x;
    return 1;
}

int nb6_positional_number(const struct nb6_positional *input, const char *group, const char *name, double *number)
{
    const struct nb6_assignment *a = find(input->list, group, name);
    return a && nb6_positional_read_number(&input->list->token[a->first], number);
}

/* Write a value of this code's own into the token. One that does not fit would be left out, which cannot occur:
 * translations are few and short. */
static void write_token(struct nb6_positional *input, struct nb6_token *token, const char *text)
{
    size_t length = strlen(text);
    if (length > input->spare_bytes) return;
    memcpy(input->spare, text, length);
    token->text = input->spare;
    token->length = (int)length;
    input->spare += length;
    input->spare_bytes -= length;
}

void nb6_positional_set(struct nb6_positional *input, const char *group, const char *name, const char *from,
                        const char *text)
{
    struct nb6_assignment *a = find(input->list, group, name);
    if (a) {
        write_token(input, &input->list->token[a->first], text);
        return;
    }
    const struct nb6_assignment *source = from ? find(input->list, group, from) : NULL;
    struct nb6_record_field field = {.count = 1};
    struct nb6_token token = {.repeat = 1, .line = source ? source->line : input->list->assignment[0].line};
    snprintf(field.group, sizeof field.group, "%s", group);
    snprintf(field.name, sizeof field.name, "%s", name);
    write_token(input, &token, text);
    nb6_positional_add(input->list, &field, &token, 0, 0);
}

void nb6_positional_scale(struct nb6_positional *input, const char *group, const char *name, double factor)
{
    const struct nb6_assignment *a = find(input->list, group, name);
    for (size_t k = 0; a && k < a->count; k++) {
        struct nb6_token *token = &input->list->token[a->first + k];
        char text[32];
        double number;
        if (!nb6_positional_read_number(token, &number)) continue;
        snprintf(text, sizeof text, "%.17g", factor * number);
        write_token(input, token, text);
    }
}

void nb6_positional_set_option(struct nb6_positional *input, int number, int value)
{
    char text[16];
    const struct nb6_assignment *kz = find(input->list, "ININPUT", "KZ");
    if (!kz) return;
    snprintf(text, sizeof text, "%d", value);
    if (!kz->subscripts)
        write_token(input, &input->list->token[kz->first + (size_t)number - 1], text);
    else if (atoi(kz->subscripts) == number)
        write_token(input, &input->list->token[kz->first], text);
}

void nb6_positional_add_option(struct nb6_positional *input, int number, int value, int line)
{
    char text[16];
    struct nb6_record_field field = {.group = "ININPUT", .name = "KZ", .count = 1};
    struct nb6_token subscript = {.repeat = 1, .line = line}, token = subscript;
    snprintf(text, sizeof text, "%d)", number); /* as in a file: a parenthesis follows */
    write_token(input, &subscript, text);
    snprintf(text, sizeof text, "%d", value);
    write_token(input, &token, text);
    nb6_positional_add(input->list, &field, &token, 0, 0);
    struct nb6_assignment *made = &input->list->assignment[input->list->assignments - 1];
    made->subscripts = subscript.text;
    made->subscripts_length = subscript.length - 1;
}
