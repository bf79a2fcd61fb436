#include "common/nbc.h"
#include "nbody6/input/config.h"
#include "nbody6/input/properties.h"
#include "nbody6/model/model.h"
#include "nbody6/model/model_parts.h"
#include "nbody6/model/table_lines.h"
#include "nbody6/model/table_row.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A line for each star: mass (Msun), type, initial mass (Msun), epoch (Myr), spin (1/yr) as NBODY6 reads fort.12 with
 * KZ(12) = 2, and with the core mass (Msun) as NBODY6++ reads datsev.21 with KZ(19) = 2 and 4; with 4 a line of five
 * numbers that belong to no star comes first. The mass is that of the star in the data file. */
enum { NUMBERS = 6, NUMBERS_OF_NBODY6 = 5 };

static const struct nb6_property columns[NUMBERS - 1] = {{"StellarType", "1", NULL},
                                                         {"InitialStellarMass", "Msun", NULL},
                                                         {"StellarEpoch", "Myr", NULL},
                                                         {"StellarSpin", "1/yr", NULL},
                                                         {"CoreMass", "Msun", NULL}};

/* Masses in both files differ by the digits of one of them. */
static const double MASS_ERROR = 1e-3;

struct reader {
    struct nb6_table_lines lines;
    int numbers; /* of a line */
    int64_t n;
    double (*value)[NUMBERS];
};

/* The numbers of a line, and how many.   @return NBC_OK; NBC_BAD_INPUT */
static int read_line(const struct reader *r, double value[NUMBERS], int *count, struct nbc_error *err)
{
    const char *at = nb6_table_content(r->lines.text);
    for (*count = 0; !nb6_table_is_comment(at); ++*count) {
        char text[64];
        char *end;
        const size_t length = strcspn(at, " \t\r,#!");
        snprintf(text, sizeof text, "%.*s", (int)(length < sizeof text ? length : 0), at);
        for (char *c = text; *c; c++)
            if (*c == 'd' || *c == 'D') *c = 'e';
        const double number = strtod(text, &end);
        if (*count == NUMBERS || end == text || *end != '\0' || !isfinite(number))
            return nbc_fail(err, NBC_BAD_INPUT,
                            "%s:%lld: column %d: %s; a line of stellar parameters is mass, type, initial mass, epoch, "
                            "spin, and perhaps the core mass; give another file with STELLAR, or remove it",
                            r->lines.path, (long long)r->lines.number, *count + 1,
                            *count == NUMBERS ? "more than six numbers" : "no number");
        value[*count] = number;
        at = nb6_table_content(at + length);
        if (*at == ',') at = nb6_table_content(at + 1);
    }
    return NBC_OK;
}

static int check_count(struct reader *r, int count, struct nbc_error *err)
{
    if (r->n == 1 && r->numbers == NUMBERS_OF_NBODY6 && count == NUMBERS) { /* the line before was of no star */
        r->n = 0;
        r->numbers = count;
    }
    if (r->n == 0 && r->numbers == 0) r->numbers = count;
    if (count == r->numbers && count >= NUMBERS_OF_NBODY6) return NBC_OK;
    return nbc_fail(err, NBC_BAD_INPUT,
                    "%s:%lld: %d numbers; a line of stellar parameters is mass, type, initial mass, epoch, spin, and "
                    "perhaps the core mass, alike for all stars",
                    r->lines.path, (long long)r->lines.number, count);
}

static int read_lines(struct reader *r, int64_t n, struct nbc_error *err)
{
    int more = 1;
    for (;;) {
        double value[NUMBERS] = {0};
        int count, status = nb6_table_next(&r->lines, &more, err);
        if (status || !more) return status;
        status = read_line(r, value, &count, err);
        if (!status && count == 0) continue;
        if (!status) status = check_count(r, count, err);
        if (status) return status;
        if (r->n == n)
            return nbc_fail(err, NBC_BAD_INPUT, "%s: more lines than the %lld stars of the data file; it is of others",
                            r->lines.path, (long long)n);
        memcpy(r->value[r->n++], value, sizeof value);
    }
}

/* The masses of both files have one ratio. */
static int check_masses(const struct reader *r, const struct nb6_model *model, struct nbc_error *err)
{
    double here = 0, there = 0;
    for (int64_t i = 0; i < model->n; i++) {
        here += model->mass[i];
        there += r->value[i][0];
    }
    for (int64_t i = 0; i < model->n; i++)
        if (!(fabs(r->value[i][0] * here - model->mass[i] * there) <= MASS_ERROR * model->mass[i] * there))
            return nbc_fail(err, NBC_BAD_INPUT,
                            "%s: the mass of star %lld, %.8g of %.8g Msun, is not that of the data file, %.8g of %.8g; "
                            "it is of other stars, or in another order",
                            r->lines.path, (long long)i + 1, r->value[i][0], there, model->mass[i], here);
    return NBC_OK;
}

static int add_columns(const struct reader *r, struct nb6_model *model, struct nbc_error *err)
{
    int status = NBC_OK;
    if (!model->properties) status = nb6_properties_create(model->n, model->name, &model->properties, err);
    for (int k = 1; k < r->numbers && !status; k++) {
        double *value;
        status = nb6_properties_add(model->properties, &columns[k - 1], &value, err);
        for (int64_t i = 0; i < model->n && !status; i++) value[i] = r->value[i][k];
    }
    return status;
}

static int refuse_old(const char *name, struct nbc_error *err)
{
    return nbc_fail(err, NBC_BAD_INPUT,
                    "%s: KZ(22) = 9 gives the stars other masses than those that these values belong to; remove %s, or "
                    "set KZ(22) = 6",
                    name, name);
}

int nb6_model_read_stellar(const struct nb6_config *config, struct nb6_model *model, struct nbc_error *err)
{
    if (!config->data.stellar_path[0]) return NBC_OK;
    if (config->data.new_masses) return refuse_old("STELLAR", err);
    struct reader *r = nbc_alloc(1, sizeof *r);
    if (!r) return nbc_fail(err, NBC_NO_MEMORY, "no memory to read %s", config->data.stellar_path);
    struct nbc_error why = {0};
    int status = nb6_table_open(config->data.stellar_path, &r->lines, &why);
    if (status) nbc_fail(err, status, "STELLAR: %s", why.text);
    r->value = nbc_alloc((size_t)model->n, sizeof *r->value);
    if (!status && !r->value) status = nbc_fail(err, NBC_NO_MEMORY, "no memory to read %s", r->lines.path);
    if (!status) status = read_lines(r, model->n, err);
    if (!status && r->n < model->n)
        status = nbc_fail(err, NBC_BAD_INPUT, "%s: %lld lines, but the data file has %lld stars", r->lines.path,
                          (long long)r->n, (long long)model->n);
    if (!status) status = check_masses(r, model, err);
    if (!status) status = add_columns(r, model, err);
    nb6_table_close(&r->lines);
    nbc_free(r->value);
    nbc_free(r);
    return status;
}

/* ---- units, and radii that act ---- */

static int check_radii(const struct nb6_config *config, const struct nb6_model *model, struct nbc_error *err)
{
    const char *path = config->model.data_path;
    const int k = nb6_properties_find(model->properties, NB6_STELLAR_RADIUS);
    if (k < 0)
        return nbc_fail(err, NBC_BAD_INPUT,
                        "RADII: %s has no column of radii; call it radius, with its unit, as in 'radius [Rsun]', or "
                        "remove RADII",
                        path);
    const char *unit = model->properties->column[k].unit;
    if (strcmp(unit, "Rsun") != 0 && strcmp(unit, "length") != 0)
        return nbc_fail(err, NBC_BAD_INPUT, "RADII: %s: '%s' is no unit of radii that is known; give them in Rsun",
                        path, unit);
    if (strcmp(unit, "length") == 0 && model->data.units == NB6_FILE_NBODY_SCALED)
        return nbc_fail(err, NBC_BAD_INPUT,
                        "RADII: %s is scaled, and its radii say no unit; give them in solar radii, as in 'radius "
                        "[Rsun]'",
                        path);
    for (int64_t i = 0; i < model->n; i++)
        if (!(model->properties->value[k][i] >= 0))
            return nbc_fail(err, NBC_BAD_INPUT, "RADII: %s: the radius of star %lld is not there, or negative", path,
                            (long long)i + 1);
    return NBC_OK;
}

/* Drop columns that belong to masses of the file that were replaced. Columns named by KEEP are kept. */
static int drop_old(const struct nb6_config *config, struct nb6_model *model, struct nbc_error *err)
{
    if (config->data.radii) return refuse_old("RADII", err);
    if (config->data.keep[0] || !model->properties) return NBC_OK;
    model->data.columns_unused += model->properties->count;
    nb6_properties_free(model->properties);
    model->properties = NULL;
    return NBC_OK;
}

int nb6_model_settle_properties(const struct nb6_config *config, struct nb6_model *model, struct nbc_error *err)
{
    if (config->data.new_masses) return drop_old(config, model, err);
    const int k = nb6_properties_find(model->properties, NB6_STELLAR_RADIUS);
    if (k >= 0 && !model->properties->column[k].unit[0])
        strcpy(model->properties->column[k].unit, model->data.units == NB6_FILE_PHYSICAL ? "Rsun" : "length");
    if (!config->data.radii) return NBC_OK;
    const int status = check_radii(config, model, err);
    if (!status) model->properties->radii_act = 1;
    return status;
}
