#include "nbody6/model/table_row.h"

#include "common/nbc.h"
#include "nbody6/input/words/columns.h"
#include "nbody6/model/table_fields.h"

#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

/* Where the reader is. */
struct place {
    const char *path;
    int64_t line;
    int column, quantity;
};

/* ---- fields ---- */

static int complain(const struct place *p, struct nbc_error *err, const char *what)
{
    return nbc_fail(err, NBC_BAD_INPUT, "%s:%lld: column %d (%s): %s", p->path, (long long)p->line, p->column + 1,
                    nb6_quantity_names[p->quantity], what);
}

static int read_number(const struct place *p, struct nb6_field f, double scale, double *value, struct nbc_error *err)
{
    char why[NB6_WHY_ROOM];
    const int status = nb6_table_number(f, scale, value, why);
    return status ? complain(p, err, why) : NBC_OK;
}

/* 0 unless it is a positive integer. */
static int64_t read_id(struct nb6_field f)
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
    for (; p.column < n && !nb6_table_ends(*line); p.column++) {
        const struct nb6_field field = nb6_table_field(&line, (struct nb6_division){',', 0});
        p.quantity = first + p.column;
        const int status = read_number(&p, field, 1, &value[p.column], err);
        if (status) return status;
    }
    if (p.column == n && nb6_table_ends(*line)) return NBC_OK;
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
        return nbc_fail(err, NBC_BAD_INPUT, "%s:%lld: %d column%s, but the head of the table names %d", p->path, line,
                        count, count == 1 ? "" : "s", head->columns);
    if (head->numbered && count < wanted)
        return nbc_fail(err, NBC_BAD_INPUT, "%s:%lld: %d column%s, but COLUMNS wants one of number %d", p->path, line,
                        count, count == 1 ? "" : "s", wanted);
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
static int read_kept(const struct place *p, struct nb6_field f, struct nb6_star_columns *columns, int k, double *value,
                     struct nbc_error *err)
{
    char why[NB6_WHY_ROOM];
    double number = NAN;
    const int is_missing = f.length == 0 || (f.length == 3 && strncasecmp(f.text, "nan", 3) == 0);
    const int status = is_missing ? NBC_OK : nb6_table_number(f, 0, &number, why); /* of any size */
    *value = status ? NAN : number * columns->factor[k];
    if (!status) return NBC_OK;
    columns->no_number[k] = 1;
    if (!columns->asked[k]) return NBC_OK;
    return nbc_fail(err, NBC_BAD_INPUT, "%s:%lld: column %d (%s): %s; only numbers are kept: remove it from KEEP",
                    p->path, (long long)p->line, p->column + 1, columns->column[k].name, why);
}

static int keep_field(const struct place *p, struct nb6_field f, struct nb6_star_columns *columns, double *kept,
                      struct nbc_error *err)
{
    for (int k = 0; k < columns->count; k++)
        if (columns->at[k] == p->column) return read_kept(p, f, columns, k, &kept[k], err);
    return NBC_OK;
}

/* A row that cannot be read for commas in the place of points has this message. */
static int explain_commas(const char *line, const struct place *p, int status, struct nbc_error *err)
{
    if (!nb6_table_has_decimal_commas(line)) return status;
    return nbc_fail(err, NBC_BAD_INPUT,
                    "%s:%lld: the numbers have commas for decimal points; write them with points, as 0.5", p->path,
                    (long long)p->line);
}

/* The empty field behind a separator that ends the line, where the head has one more column. */
static int ends_with_separator(const char *begin, const char *end, char separator)
{
    while (end > begin && strchr(" \t\r", end[-1])) end--;
    return end > begin && end[-1] == separator;
}

int nb6_table_row_read(const char *path, int64_t number, const char *line, struct nb6_table_head *head,
                       struct nb6_table_row *row, double *kept, struct nbc_error *err)
{
    const struct nb6_division by = nb6_table_division(line, head->columns);
    const char *begin = line;
    struct place p = {.path = path, .line = number};
    *row = (struct nb6_table_row){.id = 0};
    for (; !nb6_table_ends(*line) ||
           (by.strict && p.column == head->columns - 1 && ends_with_separator(begin, line, by.separator));
         p.column++) {
        const struct nb6_field field = nb6_table_field(&line, by);
        if (p.column == head->at[NB6_ID]) row->id = read_id(field);
        for (p.quantity = 0; p.quantity < NB6_ID && head->at[p.quantity] != p.column; p.quantity++) {
        }
        const int status = p.quantity == NB6_ID
                               ? keep_field(&p, field, &head->kept, kept, err)
                               : read_number(&p, field, head->scale[p.quantity], &row->value[p.quantity], err);
        if (status) return explain_commas(begin, &p, status, err);
    }
    const int status = check_count(&p, p.column, head, err);
    if (status) return explain_commas(begin, &p, status, err);
    p.column = head->at[NB6_MASS];
    p.quantity = NB6_MASS;
    return row->value[NB6_MASS] < 0.0 ? complain(&p, err, "is negative; a mass must be >= 0") : NBC_OK;
}
