#include "common/nbc.h"
#include "nbody6/input/config.h"
#include "nbody6/input/properties.h"
#include "nbody6/input/words/columns.h"
#include "nbody6/model/model.h"
#include "nbody6/model/model_parts.h"
#include "nbody6/model/pieces.h"
#include "nbody6/model/table_fields.h"
#include "nbody6/model/table_head.h"
#include "nbody6/model/table_lines.h"
#include "nbody6/model/table_row.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { ROWS_AT_FIRST = 1024 };

/* State of the reader. */
struct table {
    struct nb6_table_lines lines;
    struct nb6_columns chosen;
    struct nb6_table_head head;
    int64_t n, capacity, rows_unused;
    int64_t gone;              /* rows before those that are kept */
    int is_count;              /* 1: all go */
    struct nb6_model *to;      /* gets them piece by piece; NULL: all are kept */
    int64_t stated_n;          /* of a first line that says how many rows there are; 0: there is none */
    double stated_t;           /* and of what time */
    int64_t part_line;         /* of head.part */
    struct nb6_table_row *row; /* [capacity] */
    double *kept;              /* [capacity][head.kept.count], once the head is known: rows come after it */
    int64_t *line_of_row;
};

static int has_names(const struct table *t)
{
    return t->head.at[NB6_ID] >= 0;
}

/* By a quarter: the rows of large tables take little more memory than they need. */
static int grow(struct table *t, struct nbc_error *err)
{
    if (t->n - t->gone < t->capacity) return NBC_OK;
    const size_t old = (size_t)t->capacity, wanted = old + old / 4 + ROWS_AT_FIRST;
    struct nb6_table_row *row = nbc_realloc(t->row, old, wanted, sizeof *row);
    if (row) t->row = row;
    int64_t *line = nbc_realloc(t->line_of_row, old, wanted, sizeof *line);
    if (line) t->line_of_row = line;
    const size_t kept_bytes = (size_t)(t->head.kept.count + 1) * sizeof *t->kept; /* one more: none is room too */
    double *kept = nbc_realloc(t->kept, old, wanted, kept_bytes);
    if (kept) t->kept = kept;
    if (!row || !line || !kept)
        return nbc_fail(err, NBC_NO_MEMORY, "%s: no memory for more than %lld rows", t->lines.path, (long long)t->n);
    t->capacity = (int64_t)wanted;
    return NBC_OK;
}

static void add_clause(struct nbc_error *err, const char *clause, const char *path)
{
    const size_t used = strlen(err->text);
    snprintf(err->text + used, sizeof err->text - used, clause, path);
}

/* "1 1000000.0": KSTART and more, as the positional input of NBODY6 and older NBODY6++ begins. */
static int begins_input(const struct table *t, const char *line)
{
    const char *path_end = strrchr(t->lines.path, '.');
    if (*line == '&' || (path_end && strcmp(path_end, ".inp") == 0)) return 1;
    return *line >= '1' && *line <= '5' && strchr(" \t,", line[1]) && line[1];
}

/* A first row that is none may be that of an input, given in place of its table, or a head with other names. */
static int advise(const struct table *t, int status, struct nbc_error *err)
{
    const char *line = nb6_table_content(t->lines.text);
    if (status != NBC_BAD_INPUT || t->n > 0 || !err) return status;
    if (begins_input(t, line))
        add_clause(err, "; if this is an input file, and no table of stars, run it: `nbody6 %s`", t->lines.path);
    else if (!nb6_table_is_number(line))
        add_clause(err,
                   "; if this line names the columns, COLUMNS='...' in &INMODEL says which of them are mass x y z vx "
                   "vy vz%.0s",
                   t->lines.path);
    else if (t->stated_n > 0 && !strpbrk(line, " \t,;"))
        add_clause(err, "; with KZ(22) = 3 the layout of tree codes is read, which has such lines%.0s", t->lines.path);
    return status;
}

/* "1000", or "1000 0.0": how many stars follow, and their time.   @return 1: it is such a line */
static int is_count(struct table *t, const char *line)
{
    double value[2] = {0, 0};
    char why[NB6_WHY_ROOM];
    int count = 0;
    if (t->n > 0 || t->stated_n > 0) return 0;
    for (; !nb6_table_ends(*line); count++)
        if (count == 2 ||
            nb6_table_number(nb6_table_field(&line, (struct nb6_division){',', 0}), 1, &value[count], why))
            return 0;
    if (count == 0 || !(value[0] >= 1 && value[0] <= INT32_MAX) || value[0] != floor(value[0])) return 0;
    t->stated_n = (int64_t)value[0];
    t->stated_t = value[1];
    return 1;
}

/* Lines before the first row: comments, and a head without comment character.   @return 1: it is no row */
static int is_before_rows(struct table *t, const char *line)
{
    const int comment = nb6_table_is_comment(line), part = t->head.part;
    if (t->n > 0 || (!comment && nb6_table_is_number(line))) return comment || is_count(t, line);
    const int is_head = nb6_table_head_read(line, &t->chosen, &t->head);
    if (t->head.part != part) t->part_line = t->lines.number;
    return comment || is_head;
}

/* The rows that are kept go to the model. */
static void give_rows(struct table *t)
{
    const int64_t count = t->n - t->gone;
    struct nb6_model *m = t->to;
    for (int64_t i = 0; i < count; i++) {
        const double *value = t->row[i].value;
        m->mass[i] = value[NB6_MASS];
        memcpy(m->x[i], value + NB6_X, sizeof m->x[i]);
        memcpy(m->v[i], value + NB6_VX, sizeof m->v[i]);
        m->name[i] = t->row[i].id;
    }
    nb6_model_put(m, NB6_MODEL_MASS, t->gone, count, m->mass);
    nb6_model_put(m, NB6_MODEL_X, t->gone, count, m->x);
    nb6_model_put(m, NB6_MODEL_V, t->gone, count, m->v);
    if (has_names(t)) nb6_model_put(m, NB6_MODEL_NAME, t->gone, count, m->name);
    t->gone = t->n;
}

static int has_changed(const char *path, struct nbc_error *err)
{
    return nbc_fail(err, NBC_BAD_INPUT, "%s: it has changed while it was read", path);
}

/* A row has come. */
static int let_go(struct table *t, struct nbc_error *err)
{
    if (t->to && t->n > t->to->n) return has_changed(t->lines.path, err);
    if (t->is_count) t->gone = t->n;
    if (t->to && t->n - t->gone == t->to->store->piece) give_rows(t);
    return NBC_OK;
}

/* All rows up to n_wanted; those beyond are counted only. */
static int read_rows(struct table *t, int64_t n_wanted, struct nbc_error *err)
{
    int more = 1;
    for (;;) {
        int status = nb6_table_next(&t->lines, &more, err);
        if (status || !more) return status;
        const char *line = nb6_table_content(t->lines.text);
        if (is_before_rows(t, line)) continue;
        if (n_wanted > 0 && t->n == n_wanted) {
            t->rows_unused++;
            continue;
        }
        const int64_t at = t->n - t->gone;
        status = grow(t, err);
        if (!status)
            status = advise(t,
                            nb6_table_row_read(t->lines.path, t->lines.number, line, &t->head, &t->row[at],
                                               t->kept + at * (t->head.kept.count + 1), err),
                            err);
        if (status) return status;
        t->line_of_row[at] = t->lines.number;
        t->n++;
        status = let_go(t, err);
        if (status) return status;
    }
}

/* The quantities that a line names, or those that it does not. */
static void name_quantities(int bits, const struct nb6_columns *chosen, char text[NB6_ID * NB6_COLUMN_NAME_MAX])
{
    text[0] = '\0';
    for (int k = 0; k < NB6_ID; k++)
        if (bits >> k & 1) {
            strcat(text, text[0] ? " " : "");
            strcat(text, chosen->count >= NB6_ID && !chosen->number[0] ? chosen->name[k] : nb6_quantity_names[k]);
        }
}

/* A line names some of the columns; or those of a catalogue of the sky. */
static int refuse_part(const struct table *t, struct nbc_error *err)
{
    char there[NB6_ID * NB6_COLUMN_NAME_MAX], missing[NB6_ID * NB6_COLUMN_NAME_MAX];
    if (t->head.is_sky)
        return nbc_fail(
            err, NBC_BAD_INPUT,
            "%s: a catalogue of positions on the sky, as Gaia has them, and a run needs mass x y z vx vy vz in "
            "space: SkyCoord of astropy.coordinates turns ra, dec, distance (1000 pc/parallax in mas), "
            "pmra, pmdec and radial_velocity into x y z vx vy vz, from which the cluster's centre is to be "
            "subtracted; masses have to come from elsewhere, as Gaia measures none",
            t->lines.path);
    name_quantities(t->head.part, &t->chosen, there);
    name_quantities(~t->head.part & ((1 << NB6_ID) - 1), &t->chosen, missing);
    return nbc_fail(err, NBC_BAD_INPUT,
                    "%s:%lld: this line names the columns %s, but not %s; give %s a column of that name, or say "
                    "which columns hold mass x y z vx vy vz with COLUMNS='...' in &INMODEL",
                    t->lines.path, (long long)t->part_line, there, missing,
                    strchr(missing, ' ') ? "each of them" : "it");
}

/* Names that COLUMNS wants and no line has.   @param[in] failed  1: the first row cannot be read */
static int check_head(const struct table *t, int failed, struct nbc_error *err)
{
    const struct nb6_table_head *head = &t->head;
    const int by_name = t->chosen.count >= NB6_ID && !t->chosen.number[0];
    if (t->chosen.count == 1)
        return nbc_fail(err, NBC_BAD_INPUT,
                        "%s: COLUMNS names one column, as the group of a HDF5 file, but this is a "
                        "table; give seven, for mass x y z vx vy vz",
                        t->lines.path);
    if (!head->columns && !head->numbered && (by_name || failed) && (head->is_sky || head->part))
        return refuse_part(t, err);
    if (by_name && !head->columns)
        return nbc_fail(err, NBC_BAD_INPUT,
                        "%s: no line before the first row has all the columns that COLUMNS names: %s, %s, ...; give "
                        "the names as they stand there, or the numbers of the columns",
                        t->lines.path, t->chosen.name[0], t->chosen.name[1]);
    if (head->twice[0])
        return nbc_fail(err, NBC_BAD_INPUT,
                        "%s: more than one column may be %s; say which with COLUMNS='...' in &INMODEL, for mass x y z "
                        "vx vy vz: names as they stand there, or numbers",
                        t->lines.path, head->twice);
    if (head->kept_twice[0])
        return nbc_fail(err, NBC_BAD_INPUT,
                        "%s: KEEP: the column %s is one too many: there are more than %d, or another is kept under its "
                        "name",
                        t->lines.path, head->kept_twice, NB6_PROPERTIES_MAX);
    for (int k = 0; k < t->chosen.keep.count; k++)
        if (!head->keep_found[k])
            return nbc_fail(err, NBC_BAD_INPUT,
                            "%s: KEEP: no line before the first row names a column %s beside mass x y z vx vy vz",
                            t->lines.path, t->chosen.keep.name[k]);
    return NBC_OK;
}

/* The values of all rows, which are gone afterwards.
 * @param[out] name  [n] names that the table has, to be freed; NULL: it has none */
static int take_rows(struct table *t, struct nb6_model *model, int64_t **name, struct nbc_error *err)
{
    *name = NULL;
    if (has_names(t)) {
        *name = nbc_alloc((size_t)t->n, sizeof **name);
        if (!*name) return nbc_fail(err, NBC_NO_MEMORY, "%s: no memory for the names of the stars", t->lines.path);
    }
    for (int64_t i = 0; i < t->n; i++) {
        const double *value = t->row[i].value;
        model->mass[i] = value[NB6_MASS];
        memcpy(model->x[i], value + NB6_X, sizeof model->x[i]);
        memcpy(model->v[i], value + NB6_VX, sizeof model->v[i]);
        if (*name) (*name)[i] = t->row[i].id;
    }
    nbc_free(t->row);
    t->row = NULL;
    return NBC_OK;
}

/* Columns of numbers, which stay with the stars. */
static int kept_columns(const struct table *t)
{
    const struct nb6_star_columns *kept = &t->head.kept;
    int wanted = 0;
    for (int k = 0; k < kept->count; k++) wanted += !kept->no_number[k];
    return wanted;
}

static int keep_properties(const struct table *t, struct nb6_model *model, struct nbc_error *err)
{
    const struct nb6_star_columns *kept = &t->head.kept;
    const int wanted = kept_columns(t);
    if (!wanted) return NBC_OK;
    int status = nb6_properties_create(t->n, model->name, &model->properties, err);
    for (int k = 0; k < kept->count && !status; k++) {
        double *value;
        if (kept->no_number[k]) continue;
        status = nb6_properties_add(model->properties, &kept->column[k], &value, err);
        for (int64_t i = 0; i < t->n && !status; i++) value[i] = t->kept[i * (kept->count + 1) + k];
    }
    model->data.columns_unused -= wanted;
    return status;
}

static void note_facts(const struct table *t, struct nb6_data_facts *facts)
{
    const struct nb6_table_head *head = &t->head;
    facts->rows_unused = t->rows_unused;
    facts->t = t->stated_t;
    facts->columns_unused = head->columns > 0 ? head->columns - NB6_ID - has_names(t) : 0;
    snprintf(facts->format, sizeof facts->format, head->columns ? "table with named columns" : "table");
}

static int to_model(struct table *t, struct nb6_model *model, struct nbc_error *err)
{
    struct nb6_model made = {.n = 0};
    int64_t *name;
    int status = nb6_model_alloc(t->n, &made, err);
    if (status) return status;
    note_facts(t, &made.data);
    status = take_rows(t, &made, &name, err);
    if (!status) status = nb6_model_refuse_coincident(t->lines.path, t->line_of_row, &made, err);
    if (!status && name) status = nb6_model_set_names(name, t->chosen.count > NB6_ID, t->lines.path, &made, err);
    nbc_free(name);
    if (!status) status = keep_properties(t, &made, err);
    if (status)
        nb6_model_free(&made);
    else
        *model = made;
    return status;
}

/* Read the rows. If the head does not fit them, its message is better than that of the first row. */
static int read_table(struct table *t, const struct nb6_model_config *config, struct nbc_error *err)
{
    int status = nb6_table_open(config->data_path, &t->lines, err);
    if (status) return status;
    status = read_rows(t, config->n, err);
    if (!status || (status == NBC_BAD_INPUT && t->n == 0)) {
        const int head = check_head(t, status != NBC_OK, err);
        if (head) return head;
    }
    if (status) return status;
    if (t->n == 0)
        return nbc_fail(err, NBC_BAD_INPUT, "%s: no data in it: a row for each star is needed, m x y z vx vy vz",
                        config->data_path);
    const int64_t rows = t->n + t->rows_unused;
    if (t->stated_n > 0 && rows != t->stated_n)
        return nbc_fail(err, NBC_BAD_INPUT,
                        "%s: its first line says %lld star%s, but %lld row%s; %s, or correct the line",
                        config->data_path, (long long)t->stated_n, t->stated_n == 1 ? "" : "s", (long long)rows,
                        rows == 1 ? " follows" : "s follow",
                        rows < t->stated_n ? "add the missing rows" : "remove those that are too many");
    if (t->n < config->n)
        return nbc_fail(err, NBC_BAD_INPUT, "%s: %lld rows, but N = %lld: set N = %lld or add the missing rows",
                        config->data_path, (long long)t->n, (long long)config->n, (long long)t->n);
    return NBC_OK;
}

static struct table *table_create(const struct nb6_config *config, const struct nb6_columns *chosen,
                                  struct nbc_error *err)
{
    struct table *t = nbc_alloc(1, sizeof *t);
    if (!t) {
        nbc_fail(err, NBC_NO_MEMORY, "%s: no memory to read it", config->model.data_path);
        return NULL;
    }
    t->chosen = *chosen;
    nb6_table_head_init(chosen, &t->head);
    for (int k = 0; k < NB6_ID; k++) t->head.scale[k] = nb6_data_scale(config, (enum nb6_quantity)k);
    return t;
}

static void table_free(struct table *t)
{
    nb6_table_close(&t->lines);
    nbc_free(t->row);
    nbc_free(t->kept);
    nbc_free(t->line_of_row);
    nbc_free(t);
}

/* Rows go to the store of the model as they come. */
static int read_in_pieces(struct table *t, const struct nb6_config *config, struct nb6_model *model,
                          struct nbc_error *err)
{
    const char *path = config->model.data_path;
    struct nb6_model made = {.store = model->store};
    int status = nb6_model_alloc(model->store->n, &made, err);
    if (status) return status;
    t->to = &made;
    status = read_table(t, &config->model, err);
    if (!status) give_rows(t);
    if (!status && t->n + t->rows_unused != made.n) status = has_changed(path, err);
    if (!status) note_facts(t, &made.data);
    if (!status) status = nb6_model_refuse_coincident(path, NULL, &made, err);
    if (!status && has_names(t)) status = nb6_model_set_names(NULL, t->chosen.count > NB6_ID, path, &made, err);
    if (status)
        nb6_model_free(&made);
    else
        *model = made;
    return status;
}

int nb6_table_read(const struct nb6_config *config, const struct nb6_columns *chosen, struct nb6_model *model,
                   struct nb6_data_units *units, struct nbc_error *err)
{
    struct table *t = table_create(config, chosen, err);
    if (!t) return NBC_NO_MEMORY;
    int status = model->store ? read_in_pieces(t, config, model, err) : read_table(t, &config->model, err);
    if (!status && !model->store) status = to_model(t, model, err);
    if (!status) *units = t->head.units;
    table_free(t);
    return status;
}

/* A pipe cannot be read twice. */
int nb6_table_size(const struct nb6_config *config, const struct nb6_columns *chosen, int64_t *n, struct nbc_error *err)
{
    struct stat file;
    if (stat(config->model.data_path, &file) == 0 && !S_ISREG(file.st_mode)) return NBC_OK;
    struct table *t = table_create(config, chosen, err);
    if (!t) return NBC_NO_MEMORY;
    t->is_count = 1;
    const int status = read_table(t, &config->model, err);
    if (!status && !kept_columns(t) && !t->rows_unused) *n = t->n;
    table_free(t);
    return status;
}
