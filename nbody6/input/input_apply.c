#include "common/nbc.h"
#include "nbody6/input/config.h"
#include "nbody6/input/config_groups.h"
#include "nbody6/input/input_table.h"
#include "nbody6/input/input_values.h"
#include "nbody6/input/namelist.h"
#include "nbody6/input/namelist_value.h"
#include "nbody6/input/words/units.h"
#include "nbody6/input/words/words.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* One mass for all stars, unless there is a mass function (data.F: ALPHAS = 1 or BODY1 = BODYN). */
static void settle_masses(struct nb6_model_config *model)
{
    if (model->imf != NB6_IMF_POWER_LAW && model->imf != NB6_IMF_EQUAL) return;
    int equal = model->imf_alpha == 1 || model->mass_max_msun == model->mass_min_msun;
    model->imf = equal ? NB6_IMF_EQUAL : NB6_IMF_POWER_LAW;
}

static void read_model(struct nb6_config *config, enum nb6_file_units units)
{
    config->model.kind = NB6_MODEL_FILE;
    config->model.file_units = units;
    config->run.write_data_table = 0;
}

static void apply_data_option(struct nb6_config *config, int value)
{
    config->data.layout = value == 3 || value == 7   ? NB6_LAYOUT_TREE
                          : value == 4 || value == 8 ? NB6_LAYOUT_STARLAB
                                                     : NB6_LAYOUT_FOUND;
    config->data.new_masses = value == 9;
    if (value > 1) {
        read_model(config, value < 5 ? NB6_FILE_NBODY : value < 10 ? NB6_FILE_NBODY_SCALED : NB6_FILE_PHYSICAL);
        return;
    }
    if (config->model.kind == NB6_MODEL_FILE) config->model.kind = NB6_MODEL_PLUMMER;
    config->run.write_data_table = value == 1;
}

static void apply_escape_option(struct nb6_config *config, int value)
{
    config->escape = value == 0 ? NB6_ESCAPE_KEEP : value < 3 ? NB6_ESCAPE_RADIUS : NB6_ESCAPE_CUT_OFF;
    config->write_escapers = value >= 2;
}

/* Values below 0 are ours: the function of NBODY6 in place of the published one. */
static void apply_mass_option(struct nb6_config *config, int value)
{
    static const enum nb6_imf_kind kinds[] = {NB6_IMF_POWER_LAW,  NB6_IMF_MILLER_SCALO, NB6_IMF_KROUPA1993,
                                              NB6_IMF_EGGLETON,   NB6_IMF_KROUPA1993,   NB6_IMF_EGGLETON,
                                              NB6_IMF_KROUPA2001, NB6_IMF_KROUPA2001,   NB6_IMF_KROUPA2001};
    const int number = abs(value);
    config->model.imf = value < 0 ? NB6_IMF_EGGLETON_NBODY6 : kinds[number];
    config->binaries.pairing = number == 8                                 ? NB6_PAIRING_MASS_RATIO
                               : number == 4 || number == 5 || number == 7 ? NB6_PAIRING_CORRELATED
                                                                           : NB6_PAIRING_RANDOM;
    settle_masses(&config->model);
}

void nb6_input_apply_option(struct nb6_config *config, int number, int value)
{
    switch (number) {
    case 2:
        config->run.checkpoint_at_output = value > 0;
        config->run.energy_retries = value > 1 ? NB6_ENERGY_RETRIES : 0;
        break;
    case 3:
        config->run.snapshots = value > 0;
        break;
    case 5:
        if (config->model.kind != NB6_MODEL_FILE)
            config->model.kind = value == 0   ? NB6_MODEL_UNIFORM
                                 : value == 2 ? NB6_MODEL_TWO_PLUMMER
                                              : NB6_MODEL_PLUMMER;
        break;
    case 7:
        config->run.lagrangian_mass = value == 2 || value == 4 ? NB6_LAGR_INITIAL_MASS : NB6_LAGR_CURRENT_MASS;
        break;
    case 8:
        config->binaries.wanted = value > 0;
        break;
    case 14:
        config->tide.kind = (enum nb6_tide_kind)value;
        break;
    case 15:
        config->pair.systems = value > 0;
        break;
    case 16:
        config->pair.adjust = value > 0;
        break;
    case 19:
        config->stellar.evolve = value > 0;
        break;
    case 25:
        config->stellar.white_dwarf_kicks = value < 2 ? value : 2;
        break;
    case 26:
        config->pair.slow_down = value;
        break;
    case 27:
        config->stellar.collide = value < 0;
        break;
    case 30:
        config->pair.chains = value != 0;
        config->pair.hierarchies = value >= 0;
        break;
    case 20:
        apply_mass_option(config, value);
        break;
    case 22:
        apply_data_option(config, value);
        break;
    case 23:
        apply_escape_option(config, value);
        break;
    case 42:
        config->binaries.period = (enum nb6_binary_period)value;
        break;
    case 39:
        config->integration.mass_weighted_nb = value == 2 || value == 3;
        break;
    case 40:
        config->integration.initial_fpoly2 = value > 0;
        break;
    default:
        break; /* no other option has an effect */
    }
}

/* Set the member of the configuration for a variable with words as values. */
static int apply_word(const struct nb6_input_variable *v, const char *text, struct nb6_config *config)
{
    int number = 0, kind = (int)config->model.kind;
    const struct {
        const char *name;
        int *to;
    } targets[] = {{"MODEL", &kind},
                   {"PREC", &config->run.precision},
                   {"ENGINE", &config->run.engine},
                   {"DEVLOSS", &config->run.on_device_loss},
                   {"CHAIN", &config->pair.chain_method},
                   {"LEVEL", &config->stellar.level},
                   {"RADII", &config->data.radii}};
    if (!nb6_input_word_number(v->name, text, &number)) return 0;
    if (v->target == NB6_TO_NUMBER) memcpy((char *)config + nb6_input_offset(v), &(double){number}, sizeof(double));
    for (size_t k = 0; k < sizeof targets / sizeof targets[0]; k++)
        if (strcmp(targets[k].name, v->name) == 0) *targets[k].to = number;
    config->model.kind = (enum nb6_model_kind)kind;
    return 1;
}

static int apply_text(const struct nb6_input_values *values, const struct nb6_input_variable *v, int line,
                      const char *text, struct nb6_config *config, struct nbc_error *err)
{
    static const struct {
        size_t offset, size;
    } fields[] = {{offsetof(struct nb6_config, model.data_path), NB6_PATH_MAX},
                  {offsetof(struct nb6_config, data.columns), sizeof config->data.columns},
                  {offsetof(struct nb6_config, data.keep), sizeof config->data.keep},
                  {offsetof(struct nb6_config, data.stellar_path), NB6_PATH_MAX},
                  {offsetof(struct nb6_config, data.costs_path), NB6_PATH_MAX},
                  {offsetof(struct nb6_config, run.device), sizeof config->run.device},
                  {offsetof(struct nb6_config, run.irr_backend), sizeof config->run.irr_backend}};
    for (size_t k = 0; k < sizeof fields / sizeof fields[0]; k++) {
        if (fields[k].offset != v->offset) continue;
        if (text[0] == '\0')
            return nbc_fail(err, NBC_BAD_INPUT, "%s:%d: %s: the text is empty; give a name", values->path, line,
                            v->name);
        if (strlen(text) >= fields[k].size)
            return nbc_fail(err, NBC_BAD_INPUT, "%s:%d: %s: the text is longer than %zu characters", values->path, line,
                            v->name, fields[k].size - 1);
        strcpy((char *)config + v->offset, text);
    }
    return NBC_OK;
}

/* Largest power of two <= dt and <= 1. */
static double power_of_two_below(double dt)
{
    int exponent;
    frexp(dt, &exponent);
    return dt >= 1 ? 1 : ldexp(1, exponent - 1);
}

static void apply_number(const struct nb6_input_variable *v, const struct nb6_value *value, struct nb6_config *config)
{
    char *field = (char *)config + nb6_input_offset(v);
    switch (v->target) {
    case NB6_TO_DOUBLE:
    case NB6_TO_NUMBER:
        for (int i = 0; i < v->length; i++)
            if (value[i].line) {
                const double number = v->type == NB6_INTEGER ? (double)value[i].integer : value[i].real;
                memcpy(field + (size_t)i * sizeof(double), &number, sizeof(double));
            }
        break;
    case NB6_TO_INT64:
        memcpy(field, &value->integer, sizeof(int64_t));
        break;
    case NB6_TO_UINT64:
        memcpy(field, &value->integer, sizeof(uint64_t));
        break;
    case NB6_TO_INT:
        memcpy(field, &(int){(int)value->integer}, sizeof(int));
        break;
    case NB6_TO_TEXT:
    case NB6_TO_NONE:
        break;
    }
}

static int apply_variable(const struct nb6_input_values *values, int k, struct nb6_config *config,
                          struct nbc_error *err)
{
    const struct nb6_input_variable *v = &nb6_input_variables[k];
    const struct nb6_value *value = values->value + values->first[k];
    if (v->length == NB6_KZ_COUNT) {
        for (int i = 0; i < NB6_KZ_COUNT; i++)
            if (value[i].line) nb6_input_apply_option(config, i + 1, (int)value[i].integer);
    }
    int given = 0;
    for (int i = 0; i < v->length; i++) given |= value[i].line != 0;
    if (!given) return NBC_OK;
    if (strcmp(v->name, "UNITS") == 0) {
        nb6_input_find_units(values->text[k], &config->model.file_units, &config->data);
        config->data.units_asked = 1;
        return NBC_OK;
    }
    if (v->type == NB6_TEXT && apply_word(v, values->text[k], config)) return NBC_OK;
    if (v->type == NB6_TEXT) return apply_text(values, v, value->line, values->text[k], config, err);
    apply_number(v, value, config);
    return NBC_OK;
}

static void settle_smax(FILE *notes, struct nb6_config *config)
{
    double smax = config->integration.dt_max, dt_max = power_of_two_below(smax);
    config->integration.dt_max = dt_max;
    if (notes && dt_max != smax)
        fprintf(notes, "note: SMAX=%.12g is rounded down to a power of two <= 1: %.12g\n", smax, dt_max);
}

int nb6_input_apply(const struct nb6_input_values *values, FILE *notes, struct nb6_config *config,
                    struct nbc_error *err)
{
    for (int k = 0; k < nb6_input_variable_count; k++) {
        int status = apply_variable(values, k, config, err);
        if (status != NBC_OK) return status;
    }
    if (nb6_input_get(values, "ININPUT", "TCRIT")->line) config->run.t_crit_open = 0;
    settle_masses(&config->model);
    settle_smax(notes, config);
    return NBC_OK;
}

/* Notes if masses differ from those of other codes with the same input. */
static void note_masses(const struct nb6_input_values *values, FILE *notes, const struct nb6_config *config)
{
    const struct nb6_model_config *m = &config->model;
    if (!notes || m->kind == NB6_MODEL_FILE || m->imf == NB6_IMF_POWER_LAW || m->imf == NB6_IMF_EQUAL) return;
    const struct nb6_value *alphas = nb6_input_get(values, "INDATA", "ALPHAS");
    if (alphas->line && m->imf_alpha == 1 && m->imf != NB6_IMF_KROUPA2001)
        fprintf(
            notes,
            "note: ALPHAS=1 has no effect: KZ(20)=%d gives the masses. NBODY6++GPU would make them equal, as KZ(20)=0 "
            "does\n",
            nb6_input_kz(values, 20));
    if (m->imf == NB6_IMF_KROUPA1993 && m->mass_min_msun < 0.08)
        fprintf(notes, "note: BODYN=%g: this mass function (KZ(20)=%d) has no stars below 0.08 Msun\n",
                m->mass_min_msun, nb6_input_kz(values, 20));
}

/* Samples have DTADJ and DELTAT: those in Myr take their place. */
static void note_intervals(const struct nb6_input_values *values, FILE *notes, const struct nb6_config *config)
{
    const struct {
        const char *name, *other;
        double myr;
    } interval[] = {{"DTADJ_MYR", "DTADJ", config->run.dt_adjust_myr},
                    {"DTOUT_MYR", "DELTAT", config->run.dt_output_myr}};
    for (int k = 0; notes && k < 2; k++)
        if (interval[k].myr > 0 && nb6_input_get(values, "ININPUT", interval[k].other)->line)
            fprintf(notes, "note: %s has no effect: %s=%g is given\n", interval[k].other, interval[k].name,
                    interval[k].myr);
}

int nb6_input_settle(const struct nb6_input_values *values, FILE *notes, struct nb6_config *config,
                     struct nbc_error *err)
{
    struct nb6_config_two two;
    const int status = nb6_config_get_two(config, &two, err);
    if (status) return status;
    int model_named = nb6_input_get(values, "INMODEL", "MODEL")->line != 0;
    int data_named = nb6_input_get(values, "INMODEL", "DATA")->line != 0;
    if (data_named && !model_named && !nb6_input_kz_line(values, 22)) read_model(config, config->model.file_units);
    int is_read = config->model.kind == NB6_MODEL_FILE;
    if (is_read && !nb6_input_kz_line(values, 22) && !nb6_input_get(values, "INMODEL", "UNITS")->line)
        config->model.file_units = NB6_FILE_UNSTATED;
    config->data.length_unit_open = is_read && !nb6_input_get(values, "ININPUT", "RBAR")->line;
    config->data.mass_unit_open = is_read && !nb6_input_get(values, "ININPUT", "ZMBAR")->line;
    if (is_read && !nb6_input_get(values, "ININPUT", "N")->line) config->model.n = 0;
    if (config->model.kind == NB6_MODEL_TWO_PLUMMER) config->model.n += (int64_t)two.n2;
    if (config->data.layout != NB6_LAYOUT_FOUND && config->model.n > 0) {
        config->model.n = 0;
        if (notes) fprintf(notes, "note: N has no effect: the data file says how many stars it has\n");
    }
    if (!config->binaries.wanted && config->binaries.n > 0) {
        config->binaries.n = 0;
        if (notes) fprintf(notes, "note: NBIN0 has no effect: there are primordial binaries only with KZ(8) > 0\n");
    }
    if (!config->binaries.wanted || nb6_input_kz(values, 18) < 2) config->triples.n = 0; /* which is noted */
    if (notes && config->triples.n > 0 && !(config->binaries.ecc >= 0 && config->binaries.ecc < 1))
        fprintf(notes,
                "note: NHI0=%lld: drawn eccentricities of the outer orbits are multiplied by 0.9; NBODY6 cuts "
                "them off there\n",
                (long long)config->triples.n);
    note_masses(values, notes, config);
    note_intervals(values, notes, config);
    if (notes && config->stellar.evolve && config->stellar.level == 0)
        fprintf(notes, "note: LEVEL is not given: stars age by LEVEL='A'\n");
    if (notes && config->escape == NB6_ESCAPE_CUT_OFF && config->tide.kind == NB6_TIDE_NONE)
        fprintf(notes, "note: KZ(23)=%d without a galaxy (KZ(14)=0) is as 2: unbound stars beyond 20 half-mass radii\n",
                nb6_input_kz(values, 23));
    if (config->run.t_crit == 0 && config->run.t_crit_myr > 0) {
        config->run.t_crit = NB6_T_MAX;
        if (notes) fprintf(notes, "note: TCRIT=0: TCRTP0=%g Myr alone is the end\n", config->run.t_crit_myr);
    }
    int64_t n = config->model.n;
    if (n > 0 && config->integration.nnb_opt >= n) {
        if (notes)
            fprintf(notes, "note: NNBOPT=%lld is not less than N: all stars are neighbours of each other\n",
                    (long long)config->integration.nnb_opt);
        config->integration.nnb_opt = n - 1;
    }
    if (notes && is_read && config->model.file_units != NB6_FILE_NBODY_SCALED &&
        nb6_input_get(values, "INSCALE", "Q")->line && config->model.virial_ratio != 0.5)
        fprintf(notes, "note: Q has no effect: the data file's velocities stay as they are; KZ(22) = 6 scales them\n");
    if (config->tide.rtide_unscaled > 0 && (config->tide.kind != NB6_TIDE_POINT_MASS || !is_read)) {
        config->tide.rtide_unscaled = 0;
        if (notes) fprintf(notes, "note: RTIDE has no effect: it belongs to KZ(14) = 2 with a data file\n");
    }
    return NBC_OK;
}
