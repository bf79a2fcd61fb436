#include "common/nbc.h"
#include "nbody6/input/config.h"
#include "nbody6/model/model.h"
#include "nbody6/model/model_parts.h"
#include "nbody6/model/table_head.h"

#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

enum { LINE_MAX_BYTES = 8192, NUMBER_MAX = 64, COLUMNS = 7, ROWS_AT_FIRST = 1024 };

static const char *const COLUMN_NAMES[COLUMNS] = {"mass", "x", "y", "z", "vx", "vy", "vz"};

/* Where the reader is, and what it has. */
struct table {
    const char *path;
    FILE *file;
    int64_t line_number;
    char line[LINE_MAX_BYTES];
    int64_t n, capacity;
    double (*row)[COLUMNS];
    int64_t *line_of_row;
    int64_t rows_unused;
    struct nb6_table_head head;
};

static int complain(const struct table *t, int column, struct nbc_error *err, const char *what)
{
    return nbc_fail(err, NBC_BAD_INPUT, "%s:%lld: column %d (%s): %s", t->path, (long long)t->line_number, column + 1,
                    COLUMN_NAMES[column], what);
}

/* Copy a token for a message: printable, not longer than is good to read. */
static void quote(char out[40], const char *token, size_t length)
{
    const size_t shown = length < 24 ? length : 24;
    size_t at = 0;
    out[at++] = '\'';
    for (size_t i = 0; i < shown; i++) out[at++] = isprint((unsigned char)token[i]) ? token[i] : '?';
    if (shown < length) {
        memcpy(out + at, "...", 3);
        at += 3;
    }
    out[at++] = '\'';
    out[at] = '\0';
}

static int bad_number(const struct table *t, int column, const char *token, size_t length, const char *why,
                      struct nbc_error *err)
{
    char quoted[40], what[160];
    quote(quoted, token, length);
    snprintf(what, sizeof what, "%s %s", quoted, why);
    return complain(t, column, err, what);
}

/* Masses, places and velocities beyond this lie outside the sphere that holds all stars (NB6_R_NB_ALL of
 * step/radius.h), or overflow in products. */
static const double LARGEST = 1e15;

/* A decimal number as C or Fortran writes it: 1, -1.5, 2.5E-3, 2.5D-3. Correctly rounded. */
static int read_number(const struct table *t, int column, const char *token, size_t length, double *value,
                       struct nbc_error *err)
{
    char text[NUMBER_MAX + 1], *end;
    const size_t sign = length > 0 && (token[0] == '-' || token[0] == '+') ? 1 : 0;
    if (strncasecmp(token + sign, "nan", 3) == 0 || strncasecmp(token + sign, "inf", 3) == 0) {
        return bad_number(t, column, token, length, "is not a finite number", err);
    }
    if (length > NUMBER_MAX) return bad_number(t, column, token, length, "is too long for a number", err);
    for (size_t i = 0; i < length; i++) {
        const char c = token[i];
        if (c == '\0' || !strchr("0123456789+-.eEdD", c)) {
            return bad_number(t, column, token, length, "is not a number", err);
        }
        text[i] = c == 'd' || c == 'D' ? 'e' : c;
    }
    text[length] = '\0';
    *value = strtod(text, &end);
    if (end == text || *end != '\0') return bad_number(t, column, token, length, "is not a number", err);
    if (!isfinite(*value)) return bad_number(t, column, token, length, "is too large for a double", err);
    if (fabs(*value) > LARGEST) return bad_number(t, column, token, length, "is larger than 1e15", err);
    return NBC_OK;
}

static int is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

static int ends_line(char c)
{
    return c == '\0' || c == '#' || c == '!';
}

/* Columns beyond the seventh are left alone if the head of the table names them. */
static int check_others(const struct table *t, const char *at, struct nbc_error *err)
{
    int count = COLUMNS;
    while (!ends_line(*at)) {
        while (!is_blank(*at) && !ends_line(*at) && *at != ',') at++;
        while (is_blank(*at) || *at == ',') at++;
        count++;
    }
    if (t->head.columns == count) return NBC_OK;
    if (t->head.columns > COLUMNS)
        return nbc_fail(err, NBC_BAD_INPUT, "%s:%lld: %d columns, but the head of the table names %d", t->path,
                        (long long)t->line_number, count, t->head.columns);
    return nbc_fail(
        err, NBC_BAD_INPUT,
        "%s:%lld: more than 7 columns; a row is m x y z vx vy vz: remove the others, or name all of them in "
        "a first line \"# mass x y z vx vy vz ...\"",
        t->path, (long long)t->line_number);
}

/* The columns of one line that has at least one. */
static int read_row(const struct table *t, const char *at, double row[COLUMNS], struct nbc_error *err)
{
    int column = 0;
    while (!ends_line(*at)) {
        if (column == COLUMNS) {
            const int status = check_others(t, at, err);
            if (status) return status;
            break;
        }
        if (*at == ',') return complain(t, column, err, "nothing before a comma; give a number");
        const char *end = at;
        while (!is_blank(*end) && !ends_line(*end) && *end != ',') end++;
        const int status = read_number(t, column, at, (size_t)(end - at), &row[column], err);
        if (status) return status;
        column++;
        for (at = end; is_blank(*at); at++) {
        }
        if (*at == ',') at++;
        while (is_blank(*at)) at++;
    }
    if (column < COLUMNS) {
        return nbc_fail(err, NBC_BAD_INPUT, "%s:%lld: %d column%s, but a row is m x y z vx vy vz: %s is missing",
                        t->path, (long long)t->line_number, column, column == 1 ? "" : "s", COLUMN_NAMES[column]);
    }
    if (row[0] < 0.0) return complain(t, 0, err, "is negative; a mass must be >= 0");
    return NBC_OK;
}

/* The next line in t->line, without its end. *more = 0 at the end of the file. */
static int next_line(struct table *t, int *more, struct nbc_error *err)
{
    size_t length = 0;
    int c;
    while ((c = getc_unlocked(t->file)) != EOF && c != '\n') {
        if (length == LINE_MAX_BYTES - 1 || c == '\0') {
            return nbc_fail(err, NBC_BAD_INPUT, "%s:%lld: %s: not a table of numbers in text form", t->path,
                            (long long)t->line_number + 1, c ? "a line of more than 8191 bytes" : "a zero byte");
        }
        t->line[length++] = (char)c;
    }
    if (c == EOF && ferror(t->file)) return nbc_fail(err, NBC_FILE, "%s: read error: %s", t->path, strerror(errno));
    t->line[length] = '\0';
    t->line_number++;
    *more = c != EOF || length > 0;
    return NBC_OK;
}

static int grow(struct table *t, struct nbc_error *err)
{
    if (t->n < t->capacity) return NBC_OK;
    const size_t old = (size_t)t->capacity, wanted = old ? 2 * old : ROWS_AT_FIRST;
    double(*row)[COLUMNS] = nbc_realloc(t->row, old, wanted, sizeof *row);
    if (row) t->row = row;
    int64_t *line = nbc_realloc(t->line_of_row, old, wanted, sizeof *line);
    if (line) t->line_of_row = line;
    if (!row || !line) {
        return nbc_fail(err, NBC_NO_MEMORY, "%s: no memory for more than %lld rows", t->path, (long long)t->n);
    }
    t->capacity = (int64_t)wanted;
    return NBC_OK;
}

/* A first row that is none may be that of an input, given in place of its table. */
static int advise(const struct table *t, int status, struct nbc_error *err)
{
    if (status != NBC_BAD_INPUT || t->n > 0 || !err) return status;
    size_t used = strlen(err->text);
    snprintf(err->text + used, sizeof err->text - used,
             "; if this is an input file, and no table of stars, run it: "
             "`nbody6 %s`",
             t->path);
    return status;
}

/* All rows up to n_wanted; those beyond are counted only. */
static int read_rows(struct table *t, int64_t n_wanted, struct nbc_error *err)
{
    static const char byte_order_mark[] = "\xef\xbb\xbf";
    int more = 1;
    for (;;) {
        int status = next_line(t, &more, err);
        if (status) return status;
        if (!more) return NBC_OK;
        const char *at = t->line;
        if (t->line_number == 1 && strncmp(at, byte_order_mark, 3) == 0) at += 3;
        while (is_blank(*at)) at++;
        if (ends_line(*at)) {
            if (t->n == 0 && t->head.columns == 0) nb6_table_head_read(at, &t->head);
            continue;
        }
        if (n_wanted > 0 && t->n == n_wanted) {
            t->rows_unused++;
            continue;
        }
        status = grow(t, err);
        if (!status) status = advise(t, read_row(t, at, t->row[t->n], err), err);
        if (status) return status;
        t->line_of_row[t->n++] = t->line_number;
    }
}

struct place {
    double x[3];
    int64_t line;
};

static int compare_places(const void *a, const void *b)
{
    const struct place *p = a, *q = b;
    for (int d = 0; d < 3; d++) {
        if (p->x[d] != q->x[d]) return p->x[d] < q->x[d] ? -1 : 1;
    }
    return (p->line > q->line) - (p->line < q->line);
}

static int refuse_coincident(const struct table *t, struct nbc_error *err)
{
    struct place *place = nbc_alloc((size_t)t->n, sizeof *place);
    if (!place) return nbc_fail(err, NBC_NO_MEMORY, "%s: no memory to check %lld rows", t->path, (long long)t->n);
    for (int64_t i = 0; i < t->n; i++) {
        for (int d = 0; d < 3; d++) place[i].x[d] = t->row[i][1 + d];
        place[i].line = t->line_of_row[i];
    }
    qsort(place, (size_t)t->n, sizeof *place, compare_places);
    int status = NBC_OK;
    for (int64_t i = 1; i < t->n && !status; i++) {
        const double *p = place[i - 1].x, *q = place[i].x;
        if (p[0] == q[0] && p[1] == q[1] && p[2] == q[2]) {
            status = nbc_fail(err, NBC_BAD_INPUT,
                              "%s:%lld: this star is at the same place (%.17g, %.17g, %.17g) as that of line %lld: "
                              "give them different positions, or make them one star",
                              t->path, (long long)place[i].line, q[0], q[1], q[2], (long long)place[i - 1].line);
        }
    }
    nbc_free(place);
    return status;
}

/* What is wrong with the table as a whole. */
static int check_table(const struct table *t, const struct nb6_model_config *config, struct nbc_error *err)
{
    const int64_t n_wanted = config->n;
    if (t->head.physical && config->file_units != NB6_FILE_PHYSICAL) {
        return nbc_fail(err, NBC_BAD_INPUT,
                        "%s: the head of the table says Msun, pc and km/s, but the input takes it in N-body units; set "
                        "KZ(22) = 10 (-1 in an input of NBODY6)",
                        t->path);
    }
    if (t->n == 0) {
        return nbc_fail(err, NBC_BAD_INPUT, "%s: no data in it: a row for each star is needed, m x y z vx vy vz",
                        t->path);
    }
    if (t->n < n_wanted) {
        return nbc_fail(err, NBC_BAD_INPUT, "%s: %lld rows, but N = %lld: set N = %lld or add the missing rows",
                        t->path, (long long)t->n, (long long)n_wanted, (long long)t->n);
    }
    if (t->n == 1) return nbc_fail(err, NBC_BAD_INPUT, "%s: one star only: at least 2 are needed", t->path);
    double sum = 0.0;
    for (int64_t i = 0; i < t->n; i++) sum += t->row[i][0];
    if (!(sum > 0.0) || !isfinite(sum)) {
        return nbc_fail(err, NBC_BAD_INPUT, "%s: the masses (column 1) add up to %g: must be > 0 and finite", t->path,
                        sum);
    }
    return refuse_coincident(t, err);
}

static int open_table(struct table *t, struct nbc_error *err)
{
    struct stat info;
    const char *remedy = "check the path; it counts from the current folder";
    if (stat(t->path, &info) == 0 && S_ISDIR(info.st_mode)) {
        return nbc_fail(err, NBC_BAD_INPUT, "data file %s: is a folder; %s", t->path, remedy);
    }
    t->file = fopen(t->path, "rb");
    if (!t->file) {
        return nbc_fail(err, NBC_BAD_INPUT, "data file %s: %s; %s", t->path, strerror(errno), remedy);
    }
    return NBC_OK;
}

static int to_model(const struct table *t, struct nb6_model *model, struct nbc_error *err)
{
    const int status = nb6_model_alloc(t->n, model, err);
    if (status) return status;
    for (int64_t i = 0; i < t->n; i++) {
        model->mass[i] = t->row[i][0];
        for (int d = 0; d < 3; d++) {
            model->x[i][d] = t->row[i][1 + d];
            model->v[i][d] = t->row[i][4 + d];
        }
    }
    model->rows_unused = t->rows_unused;
    model->columns_unused = t->head.columns > COLUMNS ? t->head.columns - COLUMNS : 0;
    return NBC_OK;
}

/* strtod follows the locale of the program: a comma for a point in many. */
static int read_in_c_locale(struct table *t, int64_t n_wanted, struct nbc_error *err)
{
    const locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!c_locale) return nbc_fail(err, NBC_NO_MEMORY, "%s: no memory to read it", t->path);
    const locale_t before = uselocale(c_locale);
    const int status = read_rows(t, n_wanted, err);
    uselocale(before);
    freelocale(c_locale);
    return status;
}

int nb6_model_read(const struct nb6_model_config *config, struct nb6_model *model, struct nbc_error *err)
{
    struct table *t = nbc_alloc(1, sizeof *t);
    if (!t) return nbc_fail(err, NBC_NO_MEMORY, "%s: no memory to read it", config->data_path);
    t->path = config->data_path;
    int status = open_table(t, err);
    if (!status) status = read_in_c_locale(t, config->n, err);
    if (!status) status = check_table(t, config, err);
    if (!status) status = to_model(t, model, err);
    if (t->file) fclose(t->file);
    nbc_free(t->row);
    nbc_free(t->line_of_row);
    nbc_free(t);
    return status;
}
