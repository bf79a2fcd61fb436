#include "nbody6/input/namelist_value.h"

#include "common/nbc.h"
#include "nbody6/input/namelist.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* namelist_read.f90: iostat of Fortran, 0 is success */
enum { NB6_NAMELIST_NO_MEMORY = -1000 };

int nb6_namelist_read_integers(size_t length, const char *text, int n, int64_t *values);

int nb6_namelist_read_reals(size_t length, const char *text, int n, double *values);

int nb6_namelist_read_string(size_t length, const char *text, int n, char *s);

enum { RECORD_MAX = 1 << 16 };

/* Elements that the values go to: first, first + stride, ... room of them; 1-based. */
struct section {
    int first, stride, room;
    int closed; /* the upper end was written */
};

struct reader {
    const struct nb6_namelist *list;
    const struct nb6_assignment *assignment;
    enum nb6_value_type type;
    int length;
    struct section section;
    struct nbc_error *err;
};

/* "KZ(14)" of an array, "ETAI" of a scalar. */
static void element_name(const struct reader *r, int element, char name[NB6_NAMELIST_NAME_MAX + 16])
{
    if (r->length == 1)
        snprintf(name, NB6_NAMELIST_NAME_MAX + 16, "%s", r->assignment->name);
    else
        snprintf(name, NB6_NAMELIST_NAME_MAX + 16, "%s(%d)", r->assignment->name, element);
}

static int bad_subscripts(const struct reader *r, const char *why)
{
    return nbc_fail(r->err, NBC_BAD_INPUT, "%s:%d: %s(%s): %s", r->list->path, r->assignment->line, r->assignment->name,
                    nb6_namelist_show(r->assignment->subscripts, (size_t)r->assignment->subscripts_length).text, why);
}

/* One of the three numbers of first:last:stride. */
static int take_subscript(const char **at, const char *end, long *number)
{
    char digits[16];
    size_t n = 0;
    while (*at < end && isspace((unsigned char)**at)) ++*at;
    if (*at < end && (**at == '-' || **at == '+')) digits[n++] = *(*at)++;
    size_t sign = n;
    while (*at < end && isdigit((unsigned char)**at)) {
        if (n == sizeof digits - 1) return -1;
        digits[n++] = *(*at)++;
    }
    digits[n] = '\0';
    while (*at < end && isspace((unsigned char)**at)) ++*at;
    if (n == sign) return sign ? -1 : 0;
    *number = strtol(digits, NULL, 10);
    return 1;
}

static int read_section(struct reader *r)
{
    const struct nb6_assignment *a = r->assignment;
    r->section = (struct section){.first = 1, .stride = 1, .room = r->length};
    if (!a->subscripts) return NBC_OK;
    char why[NB6_NAMELIST_NAME_MAX + 64];
    if (r->length == 1) return bad_subscripts(r, "this variable is no array; write the name alone");
    long number[3] = {1, r->length, 1};
    int given[3] = {0, 0, 0}, parts = 0;
    const char *at = a->subscripts, *end = at + a->subscripts_length;
    for (;; at++, parts++) {
        given[parts] = take_subscript(&at, end, &number[parts]);
        if (given[parts] < 0 || at == end || *at != ':' || parts == 2) break;
    }
    if (at != end || given[parts] < 0 || (parts == 0 && !given[0]) || (parts == 2 && !given[2]))
        return bad_subscripts(r, "write a subscript as (5) or (1:10)");
    snprintf(why, sizeof why, "the subscripts of %s run from 1 to %d", a->name, r->length);
    if (number[0] < 1 || number[0] > r->length || number[1] < 1 || number[1] > r->length) return bad_subscripts(r, why);
    if (number[2] < 1 || number[1] < number[0]) return bad_subscripts(r, "subscripts have to ascend");
    r->section.first = (int)number[0];
    r->section.stride = (int)number[2];
    r->section.room = (int)((number[1] - number[0]) / number[2]) + 1;
    r->section.closed = given[1];
    return NBC_OK;
}

static const char *skip_digits(const char *p, const char *end)
{
    while (p < end && isdigit((unsigned char)*p)) p++;
    return p;
}

static int is_integer(const char *p, const char *end)
{
    if (p < end && (*p == '+' || *p == '-')) p++;
    return p < end && skip_digits(p, end) == end;
}

/* A Fortran real: 1, 1., .5, 1e3, 1.5D-3, 1+3 */
static int is_real(const char *p, const char *end)
{
    if (p < end && (*p == '+' || *p == '-')) p++;
    const char *q = skip_digits(p, end);
    ptrdiff_t digits = q - p;
    if (q < end && *q == '.') {
        p = q + 1;
        q = skip_digits(p, end);
        digits += q - p;
    }
    if (digits == 0) return 0;
    if (q == end) return 1;
    if (strchr("eEdDqQ", *q))
        q++;
    else if (*q != '+' && *q != '-')
        return 0;
    return is_integer(q, end);
}

static int is_not_finite(const char *p, const char *end)
{
    if (p < end && (*p == '+' || *p == '-')) p++;
    return end - p >= 3 && (strncasecmp(p, "nan", 3) == 0 || strncasecmp(p, "inf", 3) == 0);
}

static int check_number(const struct reader *r, const struct nb6_token *token, int element)
{
    const char *p = token->text, *end = p + token->length;
    if (r->type == NB6_INTEGER ? is_integer(p, end) : is_real(p, end)) return NBC_OK;
    char name[NB6_NAMELIST_NAME_MAX + 16];
    element_name(r, element, name);
    struct nb6_shown shown = nb6_namelist_show(p, (size_t)token->length);
    const char *why = "a number is needed";
    if (is_not_finite(p, end))
        why = "a finite number is needed";
    else if (r->type == NB6_INTEGER)
        why = is_real(p, end) ? "an integer is needed; write it without point and exponent" : "an integer is needed";
    return nbc_fail(r->err, NBC_BAD_INPUT, "%s:%d: %s: %s is not a valid value; %s", r->list->path, token->line, name,
                    shown.text, why);
}

/* How many tokens count (null values at the end do not), and that they fit. */
static int check_count(const struct reader *r, size_t *count)
{
    const struct nb6_token *token = r->list->token + r->assignment->first;
    int64_t values = 0, last = 0;
    *count = 0;
    for (size_t k = 0; k < r->assignment->count; k++) {
        values += token[k].repeat;
        if (token[k].length == 0) continue;
        last = values;
        *count = k + 1;
    }
    const struct section *s = &r->section;
    const struct nb6_assignment *a = r->assignment;
    if (last > s->room && r->length == 1)
        return nbc_fail(r->err, NBC_BAD_INPUT, "%s:%d: %s: %lld values for one number; is a name or an '=' missing?",
                        r->list->path, a->line, a->name, (long long)last);
    if (last > s->room)
        return nbc_fail(r->err, NBC_BAD_INPUT, "%s:%d: %s: %lld values are given for %d elements; remove %lld",
                        r->list->path, a->line, a->name, (long long)last, s->room, (long long)(last - s->room));
    if (s->closed && last > 0 && values < s->room)
        return nbc_fail(r->err, NBC_BAD_INPUT,
                        "%s:%d: %s(%s): %lld values are given for %d elements; add %lld or correct the subscripts",
                        r->list->path, a->line, a->name,
                        nb6_namelist_show(a->subscripts, (size_t)a->subscripts_length).text, (long long)values, s->room,
                        (long long)(s->room - values));
    return NBC_OK;
}

/* Which elements will be set, and in which line. */
static int check_numbers(const struct reader *r, size_t count, int line[NB6_NAMELIST_ELEMENTS])
{
    const struct nb6_token *token = r->list->token + r->assignment->first;
    int element = r->section.first;
    for (size_t k = 0; k < count; k++) {
        if (token[k].length > 0) {
            int status = check_number(r, &token[k], element);
            if (status != NBC_OK) return status;
        }
        for (int m = 0; m < token[k].repeat; m++, element += r->section.stride)
            if (token[k].length > 0) line[element - 1] = token[k].line;
    }
    return NBC_OK;
}

/* The assignment as the Fortran runtime shall see it: one group, one record, a variable V. */
static int make_record(const struct reader *r, size_t count, char **made, size_t *length)
{
    const struct nb6_token *token = r->list->token + r->assignment->first;
    size_t room = 64;
    for (size_t k = 0; k < count; k++) room += (size_t)token[k].length + 16;
    if (room > RECORD_MAX) return 0;
    char *record = *made = nbc_alloc(room, 1);
    if (!record) return 1;
    const struct section *s = &r->section;
    size_t n =
        (size_t)snprintf(record, room, "&G V(%d:%d:%d)=", s->first, s->first + (s->room - 1) * s->stride, s->stride);
    for (size_t k = 0; k < count; k++) {
        if (token[k].repeat > 1) n += (size_t)snprintf(record + n, room - n, "%d*", token[k].repeat);
        n += (size_t)snprintf(record + n, room - n, "%.*s,", token[k].length, token[k].text);
    }
    n += (size_t)snprintf(record + n, room - n, " /");
    *length = n;
    return 1;
}

static int not_read(const struct reader *r, int element)
{
    char name[NB6_NAMELIST_NAME_MAX + 16];
    element_name(r, element, name);
    return nbc_fail(r->err, NBC_BAD_INPUT,
                    "%s:%d: %s: the value cannot be represented: it is too large; give a smaller number", r->list->path,
                    r->assignment->line, name);
}

static int no_memory(const struct reader *r)
{
    return nbc_fail(r->err, NBC_NO_MEMORY, "%s:%d: %s: no memory to read the value", r->list->path, r->assignment->line,
                    r->assignment->name);
}

/* Each variable is read twice, with two different initial values: it was set where both results agree. The elements
 * that were set must be those that the text assigns. */
static int convert_integers(const struct reader *r, const char *record, size_t length, const int *line,
                            struct nb6_value *value)
{
    int64_t a[NB6_NAMELIST_ELEMENTS], b[NB6_NAMELIST_ELEMENTS];
    for (int i = 0; i < r->length; i++) {
        a[i] = -1;
        b[i] = -2;
    }
    int failed = nb6_namelist_read_integers(length, record, r->length, a);
    if (!failed) failed = nb6_namelist_read_integers(length, record, r->length, b);
    if (failed == NB6_NAMELIST_NO_MEMORY) return no_memory(r);
    for (int i = 0; i < r->length; i++)
        if ((line[i] != 0) != (a[i] == b[i])) return not_read(r, i + 1);
    if (failed) return not_read(r, r->section.first);
    for (int i = 0; i < r->length; i++)
        if (line[i]) value[i] = (struct nb6_value){.line = line[i], .integer = a[i], .real = (double)a[i]};
    return NBC_OK;
}

static int convert_reals(const struct reader *r, const char *record, size_t length, const int *line,
                         struct nb6_value *value)
{
    double a[NB6_NAMELIST_ELEMENTS], b[NB6_NAMELIST_ELEMENTS];
    for (int i = 0; i < r->length; i++) {
        a[i] = -1;
        b[i] = -2;
    }
    int failed = nb6_namelist_read_reals(length, record, r->length, a);
    if (!failed) failed = nb6_namelist_read_reals(length, record, r->length, b);
    if (failed == NB6_NAMELIST_NO_MEMORY) return no_memory(r);
    for (int i = 0; i < r->length; i++)
        if ((line[i] != 0) != (a[i] == b[i]) || !isfinite(a[i])) return not_read(r, i + 1);
    if (failed) return not_read(r, r->section.first);
    for (int i = 0; i < r->length; i++)
        if (line[i]) value[i] = (struct nb6_value){.line = line[i], .real = a[i]};
    return NBC_OK;
}

static int read_numbers(const struct reader *r, struct nb6_value *value)
{
    size_t count, length;
    int line[NB6_NAMELIST_ELEMENTS] = {0};
    int status = check_count(r, &count);
    if (status != NBC_OK || count == 0) return status;
    status = check_numbers(r, count, line);
    if (status != NBC_OK) return status;
    char *record = NULL;
    if (!make_record(r, count, &record, &length))
        return nbc_fail(r->err, NBC_BAD_INPUT, "%s:%d: %s: the list of values is too long; shorten it", r->list->path,
                        r->assignment->line, r->assignment->name);
    if (!record) return no_memory(r);
    status = r->type == NB6_INTEGER ? convert_integers(r, record, length, line, value)
                                    : convert_reals(r, record, length, line, value);
    nbc_free(record);
    return status;
}

static int read_text(const struct reader *r, struct nb6_value *value, char *text)
{
    size_t count;
    int status = check_count(r, &count);
    if (status != NBC_OK || count == 0) return status;
    const struct nb6_token *token = r->list->token + r->assignment->first + count - 1;
    int quoted = token->text[0] == '\'' || token->text[0] == '"';
    char record[NB6_PATH_MAX + 32];
    if (token->length >= NB6_PATH_MAX)
        return nbc_fail(r->err, NBC_BAD_INPUT, "%s:%d: %s: the text is longer than %d characters; shorten it",
                        r->list->path, token->line, r->assignment->name, NB6_PATH_MAX - 1);

    int length = snprintf(record, sizeof record, quoted ? "&G V=%.*s /" : "&G V='%.*s' /", token->length, token->text);

    const int failed = nb6_namelist_read_string((size_t)length, record, NB6_PATH_MAX - 1, text);
    if (failed == NB6_NAMELIST_NO_MEMORY) return no_memory(r);
    if (failed)
        return nbc_fail(r->err, NBC_BAD_INPUT, "%s:%d: %s: %s is no valid text; write it in quotes: '...'",
                        r->list->path, token->line, r->assignment->name,
                        nb6_namelist_show(token->text, (size_t)token->length).text);

    int end = NB6_PATH_MAX - 1;

    while (end > 0 && text[end - 1] == ' ') end--;

    text[end] = '\0';

    value[0].line = token->line;

    return NBC_OK;
}

int nb6_namelist_values(const struct nb6_namelist *list, const struct nb6_assignment *assignment,
                        enum nb6_value_type type, int length, struct nb6_value *value, char *text,
                        struct nbc_error *err)
{
    struct reader r = {.list = list, .assignment = assignment, .type = type, .length = length, .err = err};
    int status = read_section(&r);
    if (status != NBC_OK || assignment->count == 0) return status;
    return type == NB6_TEXT ? read_text(&r, value, text) : read_numbers(&r, value);
}
