#include "nbody6/output/log.h"

#include "common/nbc.h"
#include "nbody6/analysis/adjust_row.h"
#include "nbody6/analysis/columns.h"
#include "nbody6/analysis/structure.h"
#include "nbody6/output/textfile.h"
#include "nbody6/state/ledger.h"

#include <stdio.h>
#include <string.h>

/* Columns of an array are named after its elements. */
static void name_column(const struct nb6_column *column, size_t k, char name[64])
{
    if (strcmp(column->name, "r_lagr") == 0)
        snprintf(name, 64, "r_lagr_%g", nb6_lagr_fractions[k]);
    else if (strcmp(column->name, "stage") == 0)
        snprintf(name, 64, "stage_%s_s", nb6_stage_names[k]);
    else
        snprintf(name, 64, "%s", column->name);
}

/* Columns of runs without a tree, or with one. */
static int find_column(int k, int by_tree, char name[64], const char **unit, const char **description)
{
    const struct nb6_column *column;
    size_t left = (size_t)k;
    for (int c = 0; (column = nb6_column(c)); c++) {
        if (column->by_tree > by_tree) continue;
        if (left >= column->count) {
            left -= column->count;
            continue;
        }
        name_column(column, left, name);
        *unit = column->unit;
        *description = column->meaning;
        return 1;
    }
    return 0;
}

int nb6_log_column(int k, char name[64], const char **unit, const char **description)
{
    return find_column(k, 0, name, unit, description);
}

int nb6_log_begin(struct nb6_textfile *file, const char *run, const char *engine, int by_tree, struct nbc_error *err)
{
    struct nb6_line names = {0}, units = {0};
    char name[64];
    const char *unit, *description;
    for (int k = 0; find_column(k, by_tree, name, &unit, &description); k++) {
        nb6_line_add(&names, "%s%s", k ? "," : "", name);
        nb6_line_add(&units, "%s%s", k ? "," : "# units: ", unit);
    }
    nb6_line_add(&names, "\n");
    nb6_line_add(&units, "\n# run: %s\n# engine: %s\n", run, engine);
    int status = nb6_textfile_add(file, names.text, err);
    return status ? status : nb6_textfile_add(file, units.text, err);
}

int nb6_log_engine(struct nb6_textfile *file, const char *engine, double t, struct nbc_error *err)
{
    struct nb6_line line = {0};
    nb6_line_add(&line, "# engine: %s from t = %.12g\n", engine, t);
    return nb6_textfile_add(file, line.text, err);
}

int nb6_log_change(struct nb6_textfile *file, const char *name, const char *before, const char *after, double t,
                   struct nbc_error *err)
{
    struct nb6_line line = {0};
    nb6_line_add(&line, "# changed: %s %s -> %s from t = %.12g\n", name, before, after, t);
    return nb6_textfile_add(file, line.text, err);
}

int nb6_log_again(struct nb6_textfile *file, double t, double t_failed, struct nbc_error *err)
{
    struct nb6_line line = {0};
    nb6_line_add(&line, "# again: from t = %.12g, energy error up to t = %.12g\n", t, t_failed);
    return nb6_textfile_add(file, line.text, err);
}

static void add_value(struct nb6_line *line, enum nb6_column_kind kind, const char *value)
{
    double real;
    int64_t integer;
    uint64_t count;
    switch (kind) {
    case NB6_COLUMN_TIME:
    case NB6_COLUMN_REAL:
        memcpy(&real, value, sizeof real);
        nb6_line_add(line, kind == NB6_COLUMN_TIME ? "%.12g" : "%.15g", real);
        break;
    case NB6_COLUMN_INTEGER:
        memcpy(&integer, value, sizeof integer);
        nb6_line_add(line, "%lld", (long long)integer);
        break;
    case NB6_COLUMN_COUNT:
        memcpy(&count, value, sizeof count);
        nb6_line_add(line, "%llu", (unsigned long long)count);
        break;
    }
}

void nb6_log_row_text(const struct nb6_adjust_row *row, struct nb6_line *line)
{
    const struct nb6_column *column;
    *line = (struct nb6_line){0};
    for (int c = 0; (column = nb6_column(c)); c++)
        for (size_t k = 0; k < column->count && column->by_tree <= row->by_tree; k++) {
            if (line->used) nb6_line_add(line, ",");
            add_value(line, column->kind, (const char *)row + column->offset + k * sizeof(double));
        }
}

int nb6_log_row(struct nb6_textfile *file, const struct nb6_adjust_row *row, struct nbc_error *err)
{
    struct nb6_line line;
    nb6_log_row_text(row, &line);
    nb6_line_add(&line, "\n");
    return nb6_textfile_add(file, line.text, err);
}
