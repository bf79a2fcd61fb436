#include "common/nbc.h"
#include "nbody6/input/input_values.h"
#include "nbody6/input/namelist.h"
#include "nbody6/input/namelist_value.h"

#include <string.h>
#include <strings.h>

static const struct nb6_value *get(const struct nb6_input_values *values, const char *group, const char *name)
{
    return nb6_input_get(values, group, name);
}

/* Where the stars come from: KZ(22), MODEL and DATA have to agree. */
static int check_model(const struct nb6_input_values *values, struct nbc_error *err)
{
    int model_line = get(values, "INMODEL", "MODEL")->line, data_line = get(values, "INMODEL", "DATA")->line;
    int kz_line = nb6_input_kz_line(values, 22), kz = nb6_input_kz(values, 22);
    const char *model = nb6_input_text(values, "INMODEL", "MODEL");
    int is_file = model_line && strcasecmp(model, "file") == 0;
    if (model_line && !is_file && kz_line && kz > 1)
        return nbc_fail(
            err, NBC_BAD_INPUT,
            "%s:%d: MODEL: a model is made by MODEL='%s', and read by KZ(22)=%d (line %d); set KZ(22)=0, or "
            "MODEL='file'",
            values->path, model_line, nb6_namelist_show(model, strlen(model)).text, kz, kz_line);
    if (is_file && kz_line && kz < 2)
        return nbc_fail(
            err, NBC_BAD_INPUT,
            "%s:%d: MODEL: with MODEL='file', KZ(22) has to say what the columns hold: 2, 6 or 10; it is %d (line "
            "%d)",
            values->path, model_line, kz, kz_line);
    if (data_line && ((model_line && !is_file) || (!model_line && kz_line && kz < 2)))
        return nbc_fail(
            err, NBC_BAD_INPUT,
            "%s:%d: DATA: a data file is named, but the model is made, not read; set KZ(22)=2, 6 or 10, or remove "
            "DATA",
            values->path, data_line);
    if (get(values, "INMODEL", "W0")->line && !(model_line && strcasecmp(model, "king") == 0))
        return nbc_fail(err, NBC_BAD_INPUT, "%s:%d: W0: belongs to the King model; add MODEL='king', or remove W0",
                        values->path, get(values, "INMODEL", "W0")->line);
    return NBC_OK;
}

/* UNITS, COLUMNS and others set how a data file is read; UNITS and KZ(22) must agree. */
static int check_data(const struct nb6_input_values *values, struct nbc_error *err)
{
    static const struct {
        const char *word;
        int kz;
    } same[] = {{"nbody", 2}, {"scaled", 6}};
    const char *model = nb6_input_text(values, "INMODEL", "MODEL"), *units = nb6_input_text(values, "INMODEL", "UNITS");
    int kz = nb6_input_kz(values, 22), kz_line = nb6_input_kz_line(values, 22), meant = 10;
    const int as = kz < 5 ? 2 : kz < 10 ? 6 : 10; /* others of KZ(22) are in units as these are */
    int is_read = get(values, "INMODEL", "DATA")->line || kz > 1 ||
                  (get(values, "INMODEL", "MODEL")->line && strcasecmp(model, "file") == 0);
    static const char *const of_data[] = {"UNITS", "COLUMNS", "KEEP", "STELLAR", "RADII"};
    for (size_t k = 0; k < sizeof of_data / sizeof of_data[0]; k++) {
        const char *name = of_data[k];
        if (get(values, "INMODEL", name)->line && !is_read)
            return nbc_fail(err, NBC_BAD_INPUT,
                            "%s:%d: %s: belongs to a data file, and none is read; add DATA='...' in "
                            "&INMODEL, or remove %s",
                            values->path, get(values, "INMODEL", name)->line, name, name);
    }
    for (int k = 0; k < 2; k++)
        if (strcasecmp(units, same[k].word) == 0) meant = same[k].kz;
    if (!get(values, "INMODEL", "UNITS")->line || !kz_line || kz < 2 || as == meant) return NBC_OK;
    return nbc_fail(err, NBC_BAD_INPUT,
                    "%s:%d: UNITS: '%s' is what KZ(22)=%d says, but KZ(22) is %d (line %d); remove "
                    "one of the two",
                    values->path, get(values, "INMODEL", "UNITS")->line, nb6_namelist_show(units, strlen(units)).text,
                    meant, kz, kz_line);
}

static int check_masses(const struct nb6_input_values *values, struct nbc_error *err)
{
    const struct nb6_value *alphas = get(values, "INDATA", "ALPHAS"), *body1 = get(values, "INDATA", "BODY1"),
                           *bodyn = get(values, "INDATA", "BODYN");
    const int kz = nb6_input_kz(values, 22), is_read = kz > 1 || get(values, "INMODEL", "DATA")->line;
    if ((is_read && kz != 9) || nb6_input_kz(values, 20) != 0 || alphas->line || !body1->line || !bodyn->line ||
        body1->real == bodyn->real)
        return NBC_OK;
    return nbc_fail(
        err, NBC_BAD_INPUT,
        "%s:%d: BODY1: the masses go from BODYN=%g to BODY1=%g, but the index ALPHAS of their power law is not "
        "given; add ALPHAS (2.35: Salpeter), or KZ(20)=6 for the Kroupa mass function",
        values->path, body1->line, bodyn->real, body1->real);
}

/* KZ(19) and LEVEL; and what a star has in Msun has to be known. */
static int check_stars(const struct nb6_input_values *values, struct nbc_error *err)
{
    const int line = get(values, "ININPUT", "LEVEL")->line, kz = nb6_input_kz(values, 19);
    const char *level = nb6_input_text(values, "ININPUT", "LEVEL");
    if (kz > 0 && line && strcmp(level, "0") == 0)
        return nbc_fail(err, NBC_BAD_INPUT,
                        "%s:%d: LEVEL: '0' says that stars do not age, KZ(19)=%d (line %d) that they do; give "
                        "LEVEL='A', 'B' or 'C', or KZ(19)=0",
                        values->path, line, kz, nb6_input_kz_line(values, 19));
    const struct nb6_value *alphas = get(values, "INDATA", "ALPHAS"), *body1 = get(values, "INDATA", "BODY1"),
                           *bodyn = get(values, "INDATA", "BODYN");
    const int data = nb6_input_kz(values, 22), is_read = data > 1 || get(values, "INMODEL", "DATA")->line;
    const int has_range = alphas->line && alphas->real != 1 && body1->real != bodyn->real;
    if (kz <= 0 || is_read || nb6_input_kz(values, 20) != 0 || has_range || get(values, "ININPUT", "ZMBAR")->line)
        return NBC_OK;
    return nbc_fail(
        err, NBC_BAD_INPUT,
        "%s:%d: KZ(19): stars age by their masses in Msun, and equal stars have that of ZMBAR, which is not "
        "given; give ZMBAR, or a mass function (KZ(20)=6), or KZ(19)=0",
        values->path, nb6_input_kz_line(values, 19));
}

int nb6_input_check_contradictions(const struct nb6_input_values *values, struct nbc_error *err)
{
    int status = check_model(values, err);
    if (status == NBC_OK) status = check_data(values, err);
    if (status == NBC_OK) status = check_masses(values, err);
    return status == NBC_OK ? check_stars(values, err) : status;
}
