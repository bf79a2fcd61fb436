#include "nbody6/model/table_row.h"

#include "common/nbc.h"
#include "nbody6/input/words/columns.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { NUMBER_MAX = 64 };

/* Where the reader is. */
struct place {
    const char *path;
    int64_t line;
    int column, quantity;
};

struct field {
    const char *text;
    size_t length;
};

/* ---- messages ---- */

static int complain(const struct place *p, struct nbc_error *err, const char *what)
{
    return nbc_fail(err, NBC_BAD_INPUT, "%s:%lld: column %d (%s): %s", p->path, (long long)p->line, p->column + 1,
                    nb6_quantity_names[p->quantity], what);
}

/* A field for a message: printable, not longer than is good to read. */
static void quote(char out[40], struct field field)
{
    const size_t shown = field.length < 24 ? field.length : 24;
    size_t at = 0;
    out[at++] = '\'';
    for (size_t i = 0; i < shown; i++) out[at++] = isprint((unsigned char)field.text[i]) ? field.text[i] : '?';
    if (shown < field.length) {
        memcpy(out + at, "...", 3);
        at += 3;
    }
    out[at++] = '\'';
    out[at] = '\0';
}

static int bad_number(const struct place *p, struct field field, const char *why, struct nbc_error *err)
{
    char quoted[40], what[160];
    quote(quoted, field);
    snprintf(what, sizeof what, "%s %s", quoted, why);
    return complain(p, err, what);
}

/* ---- fields ---- */

static int is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

static int ends_line(char c)
{
    return c == '\0' || c == '#' || c == '!';
}

const char *nb6_table_content(const char *line)
{
    while (is_blank(*line)) line++;
    return line;
}

int nb6_table_is_comment(const char *line)
{
    return ends_line(*line);
}

int nb6_table_is_number(const char *line)
{
    while (*line == '+' || *line == '-' || *line == '.' || *line == '"') line++;
    return isdigit((unsigned char)*line) != 0;
}

/* Are the fields of this line separated by commas alone? Then they may hold blanks, or nothing. */
static int has_commas(const char *line, int columns)
{
    int commas = 0;
    for (; *line; line++) commas += *line == ',';
    return columns > 1 && commas >= columns - 1;
}

/* The field at *at, which moves to the next one or to the end of the line. */
static struct field next_field(const char **at, int commas)
{
    const char *begin = *at, *end;
    if (commas && *begin == '"') {
        end = strchr(++begin, '"');
        if (!end) end = begin + strlen(begin);
        for (*at = end + (*end == '"'); is_blank(**at); ++*at) {
        }
    } else {
        for (end = begin; !ends_line(*end) && *end != ',' && (commas || !is_blank(*end)); end++) {
        }
        *at = nb6_table_content(end);
        while (end > begin && is_blank(end[-1])) end--;
    }
    if (**at == ',') ++*at;
    *at = nb6_table_content(*at);
    return (struct field){begin, (size_t)(end - begin)};
}

/* ---- numbers ---- */

/* A decimal number as C or Fortran writes it: 1, -1.5, 2.5E-3, 2.5D-3. Correctly rounded. */
static int read_number(const struct place *p, struct field f, double *value, struct nbc_error *err)
{
    char text[NUMBER_MAX + 1], *end;
    if (f.length == 0) return complain(p, err, "nothing before a comma; give a number");
    const size_t sign = f.text[0] == '-' || f.text[0] == '+' ? 1 : 0;
    if (strncasecmp(f.text + sign, "nan", 3) == 0 || strncasecmp(f.text + sign, "inf", 3) == 0)
        return bad_number(p, f, "is not a finite number", err);
    if (f.length > NUMBER_MAX) return bad_number(p, f, "is too long for a number", err);
    for (size_t i = 0; i < f.length; i++) {
        const char c = f.text[i];
        if (!strchr("0123456789+-.eEdD", c)) return bad_number(p, f, "is not a number", err);
        text[i] = c == 'd' || c == 'D' ? 'e' : c;
    }
    text[f.length] = '\0';
    *value = strtod(text, &end);
    if (end == text || *end != '\0') return bad_number(p, f, "is not a number", err);
    if (!isfinite(*value)) return bad_number(p, f, "is too large for a double", err);
    if (fabs(*value) > NB6_DATA_LARGEST) return bad_number(p, f, "is larger than 1e15", err);
    return NBC_OK;
}

/* 0 unless it is a positive integer. */
static int64_t read_id(struct field f)
{
    int64_t id = 0;
    if (f.length == 0 || f.length > 18) return 0;
    for (size_t i = 0; i < f.length; i++) {
        if (!isdigit((unsigned char)f.text[i])) return 0;
        id = 10 * id + (f.text[i] - '0');
    }
    return id;
}

int nb6_table_numbers(const char *path, int64_t number, const char *line, int first, int n, double value[],
                      struct nbc_error *err)
{
    struct place p = {.path = path, .line = number};
    line = nb6_table_content(line);
    for (; p.column < n && !ends_line(*line); p.column++) {
        const struct field field = next_field(&line, 0);
        p.quantity = first + p.column;
        const int status = read_number(&p, field, &value[p.column], err);
        if (status) return status;
    }
    if (p.column == n && ends_line(*line)) return NBC_OK;
    return nbc_fail(err, NBC_BAD_INPUT, "%s:%lld: %s than the %d number%s of a line %s%s", path, (long long)number,
                    p.column < n ? "fewer" : "more", n, n == 1 ? "" : "s", nb6_quantity_names[first],
                    n == 3 ? ", and so on" : "");
}

/* ---- the row ---- */

static int check_count(const struct place *p, int count, const struct nb6_table_head *head, struct nbc_error *err)
{
    const long long line = (long long)p->line;
    int wanted = 0, missing = 0;
    for (int k = 0; k < NB6_QUANTITIES; k++)
        if (head->at[k] >= wanted) wanted = head->at[k] + 1;
    while (missing < NB6_ID && head->at[missing] < count) missing++;
    if (head->columns && count != head->columns)
        return nbc_fail(err, NBC_BAD_INPUT, "%s:%lld: %d columns, but the head of the table names %d", p->path, line,
                        count, head->columns);
    if (head->numbered && count < wanted)
        return nbc_fail(err, NBC_BAD_INPUT, "%s:%lld: %d columns, but COLUMNS wants one of number %d", p->path, line,
                        count, wanted);
    if (count < wanted)
        return nbc_fail(err, NBC_BAD_INPUT, "%s:%lld: %d column%s, but a row is m x y z vx vy vz: %s is missing",
                        p->path, line, count, count == 1 ? "" : "s", nb6_quantity_names[missing]);
    if (head->columns || head->numbered || count == wanted) return NBC_OK;
    return nbc_fail(
        err, NBC_BAD_INPUT,
        "%s:%lld: more than 7 columns; a row is m x y z vx vy vz: name all columns in a first line \"# mass "
        "x y z vx vy vz ...\", or give the numbers of these seven with COLUMNS='1 2 3 4 5 6 7' in &INMODEL",
        p->path, line);
}

/* A number, or none: then the column is not kept, or refused if KEEP wants it. */
static int read_kept(const struct place *p, struct field f, struct nb6_star_columns *columns, int k, double *value,
                     struct nbc_error *err)
{
    char text[NUMBER_MAX], *end;
    *value = NAN;
    if (f.length == 0) return NBC_OK;
    const int fits = f.length < sizeof text;
    snprintf(text, sizeof text, "%.*s", (int)(fits ? f.length : 0), f.text);
    for (char *c = text; *c; c++)
        if (*c == 'd' || *c == 'D') *c = 'e';
    const double number = strtod(text, &end);
    if (fits && *end == '\0' && end != text) {
        if (isfinite(number)) *value = number * columns->factor[k];
        return NBC_OK;
    }
    columns->no_number[k] = 1;
    if (!columns->asked[k]) return NBC_OK;
    char quoted[40];
    quote(quoted, f);
    return nbc_fail(err, NBC_BAD_INPUT,
                    "%s:%lld: column %d (%s): %s is not a number; only numbers are kept: remove it from KEEP", p->path,
                    (long long)p->line, p->column + 1, columns->column[k].name, quoted);
}

static int keep_field(const struct place *p, struct field f, struct nb6_star_columns *columns, double *kept,
                      struct nbc_error *err)
{
    for (int k = 0; k < columns->count; k++)
        if (columns->at[k] == p->column) return read_kept(p, f, columns, k, &kept[k], err);
    return NBC_OK;
}

int nb6_table_row_read(const char *path, int64_t number, const char *line, struct nb6_table_head *head,
                       struct nb6_table_row *row, double *kept, struct nbc_error *err)
{
    const int commas = has_commas(line, head->columns);
    struct place p = {.path = path, .line = number};
    *row = (struct nb6_table_row){.id = 0};
    for (; !ends_line(*line); p.column++) {
        const struct field field = next_field(&line, commas);
        if (p.column == head->at[NB6_ID]) row->id = read_id(field);
        for (p.quantity = 0; p.quantity < NB6_ID && head->at[p.quantity] != p.column; p.quantity++) {
        }
        const int status = p.quantity == NB6_ID ? keep_field(&p, field, &head->kept, kept, err)
                                                : read_number(&p, field, &row->value[p.quantity], err);
        if (status) return status;
    }
    const int status = check_count(&p, p.column, head, err);
    if (status) return status;
    p.column = head->at[NB6_MASS];
    p.quantity = NB6_MASS;
    return row->value[NB6_MASS] < 0.0 ? complain(&p, err, "is negative; a mass must be >= 0") : NBC_OK;
}
