#include "nbody6/model/petar.h"

#include "common/file.h"
#include "common/nbc.h"
#include "nbody6/input/words/columns.h"
#include "nbody6/model/model.h"
#include "nbody6/model/model_parts.h"
#include "nbody6/model/table_fields.h"
#include "nbody6/model/table_lines.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Mass, place and velocity come first in a row or record. The least that follows them: binary state, search radius, id,
 * and the mass, status, radii, acceleration and potentials that every configuration writes. */
enum { VALUES = NB6_ID, LEAST_COLUMNS = 17, LEAST_RECORD = 8 * LEAST_COLUMNS, MOST_RECORD = 4096 };
enum { SHORT_HEADER = 3, LONG_HEADER = 9 };

static const char UNREAD[] = "binary states, radii, forces and what else stands behind the velocities";
static const char UNREAD_CENTRE[] =
    "the centre in the header, binary states, radii, forces and what else stands behind "
    "the velocities";

/* Two integers, time, and perhaps the centre. */
struct header {
    double value[LONG_HEADER];
    int count;
    int64_t n;
};

static void note(const struct header *header, const char *how, struct nb6_model *model)
{
    model->data.t = header->value[2];
    snprintf(model->data.format, sizeof model->data.format, "snapshot of PeTar (%s)", how);
    snprintf(model->data.unread, sizeof model->data.unread, "%s",
             header->count == LONG_HEADER ? UNREAD_CENTRE : UNREAD);
}

static int check_header(struct header *h)
{
    if (!(h->value[0] >= 0 && h->value[0] == floor(h->value[0])) || h->value[1] != floor(h->value[1]) ||
        !(h->value[1] >= 1 && h->value[1] < INT32_MAX))
        return 0;
    for (int k = 2; k < h->count; k++)
        if (!isfinite(h->value[k])) return 0;
    h->n = (int64_t)h->value[1];
    return 1;
}

/* ---- text ---- */

/* Numbers of a line, the first `most` of which are kept.   @return how many it has; -1: something else is in it */
static int count_numbers(const char *line, int most, double *value)
{
    const struct nb6_division by = {',', 0};
    char why[NB6_WHY_ROOM];
    int count = 0;
    for (line = nb6_table_content(line); !nb6_table_ends(*line); count++) {
        double x;
        if (nb6_table_number(nb6_table_field(&line, by), 0, &x, why)) return -1;
        if (count < most) value[count] = x;
    }
    return *line ? -1 : count;
}

static int take_header(const char *line, struct header *header)
{
    header->count = count_numbers(line, LONG_HEADER, header->value);
    return (header->count == SHORT_HEADER || header->count == LONG_HEADER) && check_header(header);
}

static int is_text(const char *path)
{
    struct nb6_table_lines *lines = nbc_alloc(1, sizeof *lines);
    struct header header;
    double row[1];
    int more = 0, is_one = 0;
    if (!lines) return 0;
    if (nb6_table_open(path, lines, NULL) == NBC_OK && nb6_table_next(lines, &more, NULL) == NBC_OK && more &&
        take_header(lines->text, &header) && nb6_table_next(lines, &more, NULL) == NBC_OK && more)
        is_one = count_numbers(lines->text, 0, row) >= LEAST_COLUMNS;
    nb6_table_close(lines);
    nbc_free(lines);
    return is_one;
}

static int put(struct nb6_model *model, int64_t i, const double value[VALUES], const double *scale,
               struct nbc_error *err, const char *path)
{
    for (int k = 0; k < VALUES; k++)
        if (!isfinite(value[k]) || fabs(value[k]) * scale[k] > NB6_DATA_LARGEST || (k == NB6_MASS && value[k] < 0))
            return nbc_fail(err, NBC_BAD_INPUT, "%s: %s of star %lld is %g: it is %s", path, nb6_quantity_names[k],
                            (long long)i + 1, value[k],
                            !isfinite(value[k])             ? "not finite"
                            : value[k] < 0 && k == NB6_MASS ? "negative"
                                                            : "too large");
    model->mass[i] = value[NB6_MASS];
    memcpy(model->x[i], value + NB6_X, sizeof model->x[i]);
    memcpy(model->v[i], value + NB6_VX, sizeof model->v[i]);
    return NBC_OK;
}

static int read_rows(struct nb6_table_lines *lines, const struct header *header, const double *scale,
                     struct nb6_model *model, struct nbc_error *err)
{
    double value[VALUES];
    int64_t i = 0;
    for (int more = 1;;) {
        int status = nb6_table_next(lines, &more, err);
        if (status) return status;
        if (!more) break;
        if (nb6_table_ends(*nb6_table_content(lines->text))) continue;
        if (i == header->n || count_numbers(lines->text, VALUES, value) < LEAST_COLUMNS)
            return nbc_fail(
                err, NBC_BAD_INPUT,
                "%s:%lld: %s, in a snapshot of PeTar by its first line (number of the file, N = %lld, time)",
                lines->path, (long long)lines->number,
                i == header->n ? "one row too many" : "no row of 17 numbers or more", (long long)header->n);
        status = put(model, i++, value, scale, err, lines->path);
        if (status) return status;
    }
    if (i == header->n) return NBC_OK;
    return nbc_fail(err, NBC_BAD_INPUT, "%s: a snapshot of PeTar with N = %lld in its first line, but with %lld rows",
                    lines->path, (long long)header->n, (long long)i);
}

static int read_text(const char *path, const double *scale, struct nb6_model *model, struct nbc_error *err)
{
    struct nb6_table_lines *lines = nbc_alloc(1, sizeof *lines);
    struct header header = {.n = 0};
    int more;
    if (!lines) return nbc_fail(err, NBC_NO_MEMORY, "%s: no memory to read it", path);
    int status = nb6_table_open(path, lines, err);
    if (!status) status = nb6_table_next(lines, &more, err);
    if (!status && !take_header(lines->text, &header))
        status = nbc_fail(err, NBC_BAD_INPUT, "%s: it has changed while it was read", path);
    if (!status) status = nb6_model_alloc(header.n, model, err);
    if (!status) status = read_rows(lines, &header, scale, model, err);
    if (!status) note(&header, "text", model);
    nb6_table_close(lines);
    nbc_free(lines);
    return status;
}

/* ---- binary ---- */

/* The header by its length: 24 or 72 bytes, and the size of records that then fits.   @return 1: it is possible */
static int take_binary_header(FILE *file, int count, int64_t bytes, struct header *header, int64_t *record)
{
    int64_t integer[2];
    const int64_t length = 8 * count;
    header->count = count;
    rewind(file);
    if (fread(integer, sizeof integer[0], 2, file) != 2 ||
        fread(header->value + 2, sizeof(double), (size_t)count - 2, file) != (size_t)count - 2)
        return 0;
    for (int k = 0; k < 2; k++) header->value[k] = (double)integer[k];
    if (!check_header(header) || (bytes - length) % header->n != 0) return 0;
    *record = (bytes - length) / header->n;
    return *record >= LEAST_RECORD && *record <= MOST_RECORD;
}

static int read_records(FILE *file, const char *path, const struct header *header, int64_t record, const double *scale,
                        struct nb6_model *model, struct nbc_error *err)
{
    char bytes[MOST_RECORD];
    double value[VALUES];
    int status = NBC_OK;
    if (fseeko(file, 8 * header->count, SEEK_SET))
        return nbc_fail(err, nbc_file_status(errno), "%s: cannot seek", path);
    for (int64_t i = 0; i < header->n && !status; i++) {
        if (fread(bytes, (size_t)record, 1, file) != 1)
            return nbc_fail(err, NBC_BAD_INPUT, "%s: it ends at star %lld of %lld", path, (long long)i + 1,
                            (long long)header->n);
        memcpy(value, bytes, sizeof value);
        status = put(model, i, value, scale, err, path);
    }
    return status;
}

/* With the centre in the header if it is not possible without: then a mass would be the third velocity of the centre,
 * and the others those of the wrong columns. */
static int read_binary(FILE *file, const char *path, int64_t bytes, const double *scale, struct nb6_model *model,
                       struct nbc_error *err)
{
    static const int counts[] = {SHORT_HEADER, LONG_HEADER};
    struct nbc_error first = {0};
    int status = NBC_BAD_INPUT, tried = 0;
    for (int k = 0; k < 2 && status == NBC_BAD_INPUT; k++) {
        struct header header;
        struct nb6_model made = {.n = 0};
        struct nbc_error why = {0};
        int64_t record;
        if (!take_binary_header(file, counts[k], bytes, &header, &record)) continue;
        status = nb6_model_alloc(header.n, &made, &why);
        if (!status) status = read_records(file, path, &header, record, scale, &made, &why);
        if (!tried++) first = why;
        if (status) {
            nb6_model_free(&made);
            continue;
        }
        *model = made;
        note(&header, "binary", model);
    }
    return status ? nbc_fail(err, status, "%s; the file is binary, as a snapshot of PeTar", first.text) : NBC_OK;
}

/* Zero bytes are in no text: an integer of 8 bytes has some. */
static int is_binary(FILE *file, int64_t bytes)
{
    struct header header;
    int64_t record;
    char begin[8];
    if (fread(begin, 1, sizeof begin, file) != sizeof begin || !memchr(begin, '\0', sizeof begin)) return 0;
    return take_binary_header(file, SHORT_HEADER, bytes, &header, &record) ||
           take_binary_header(file, LONG_HEADER, bytes, &header, &record);
}

/* @return NULL: no regular file, or it cannot be opened */
static FILE *open_regular(const char *path, int64_t *bytes)
{
    struct stat status;
    if (stat(path, &status) || !S_ISREG(status.st_mode)) return NULL;
    *bytes = status.st_size;
    return fopen(path, "rb");
}

/* ---- both ---- */

enum nb6_petar nb6_petar_kind(const char *path)
{
    int64_t bytes;
    FILE *file = open_regular(path, &bytes);
    if (!file) return NB6_PETAR_NONE;
    const int binary = is_binary(file, bytes);
    fclose(file);
    return binary ? NB6_PETAR_BINARY : is_text(path) ? NB6_PETAR_TEXT : NB6_PETAR_NONE;
}

int nb6_petar_read(const char *path, enum nb6_petar kind, const double *scale, struct nb6_model *model,
                   struct nbc_error *err)
{
    int64_t bytes;
    if (kind == NB6_PETAR_TEXT) return read_text(path, scale, model, err);
    FILE *file = open_regular(path, &bytes);
    if (!file) return nbc_fail(err, NBC_BAD_INPUT, "%s: %s", path, strerror(errno));
    const int status = read_binary(file, path, bytes, scale, model, err);
    fclose(file);
    return status;
}
