#include "common/nbc.h"
#include "nbody6/input/config.h"
#include "nbody6/input/units.h"
#include "nbody6/input/words/columns.h"
#include "nbody6/input/words/unit_names.h"
#include "nbody6/model/model.h"
#include "nbody6/model/model_parts.h"
#include "nbody6/model/pieces.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Masses that add up to 1 within this are those of a table in N-body units, of which some digits were cut off. */
static const double UNIT_MASS_ERROR = 0.1;

/* ---- no units are stated ---- */

/* Total mass, half-mass radius, root mean square speed in the frame of the centre of mass. */
struct bulk {
    double mass, r_half, speed;
};

static int find_bulk(const struct nb6_model *model, struct bulk *bulk, struct nbc_error *err)
{
    double mean[3] = {0.0}, sum = 0.0;
    bulk->mass = 0.0;
    for (struct nb6_piece p = nb6_pieces(model, NB6_MASSES | NB6_VELOCITIES, 0); nb6_piece_next(&p);)
        for (int64_t i = 0; i < p.count; i++) {
            bulk->mass += p.mass[i];
            for (int d = 0; d < 3; d++) mean[d] += p.mass[i] * p.v[i][d];
        }
    for (int d = 0; d < 3; d++) mean[d] /= bulk->mass;
    for (struct nb6_piece p = nb6_pieces(model, NB6_MASSES | NB6_VELOCITIES, 0); nb6_piece_next(&p);)
        for (int64_t i = 0; i < p.count; i++)
            for (int d = 0; d < 3; d++) sum += p.mass[i] * (p.v[i][d] - mean[d]) * (p.v[i][d] - mean[d]);
    bulk->speed = sqrt(sum / bulk->mass);
    return nb6_model_half_mass_radius(model, &bulk->r_half, err);
}

/* T/|U| with U = -0.4 G M^2/r_h (Spitzer 1987, eq. 1-10). */
static double virial_ratio(const struct bulk *b, double g)
{
    return b->r_half > 0 ? 0.5 * b->speed * b->speed * b->r_half / (0.4 * g * b->mass) : INFINITY;
}

/* If no units are stated, a total mass of 1 means N-body units; with any other the units are unknown. */
static int judge(const struct nb6_config *config, const struct nb6_model *model, struct nbc_error *err)
{
    struct bulk b;
    const int status = find_bulk(model, &b, err), of_petar = strstr(model->data.format, "PeTar") != NULL;
    if (status || fabs(b.mass - 1.0) <= UNIT_MASS_ERROR) return status;
    return nbc_fail(
        err, NBC_BAD_INPUT,
        "%s: the masses add up to %.4g, where N-body units have 1, and neither the file nor the input says what they "
        "are "
        "in. It reads\n"
        "  as N-body units:   mass %.4g, half-mass radius %.4g, speed %.4g: virial ratio about %.2g\n"
        "  as Msun, pc, km/s: mass %.4g Msun, half-mass radius %.4g pc, speed %.4g km/s: virial ratio about %.2g "
        "(0.5: equilibrium)\n"
        "say which in &INMODEL: UNITS='astro' (Msun, pc, km/s), 'nbody' (N-body units, as they are), 'scaled' (brought "
        "to N-body units and to the virial ratio Q), or three units such as 'Msun AU km/s'%s",
        config->model.data_path, b.mass, b.mass, b.r_half, b.speed, virial_ratio(&b, 1), b.mass, b.r_half, b.speed,
        virial_ratio(&b, NB6_G_PC_KMS2_MSUN), of_petar ? "; PeTar with its option -u 1 writes 'Msun pc pc/Myr'" : "");
}

/* ---- units that are stated ---- */

/* Common kind of the units that the file states; *all: it states one for each of the seven quantities. */
static enum nb6_unit_kind kind_of(const struct nb6_data_units *units, int *all)
{
    enum nb6_unit_kind kind = NB6_UNIT_NONE;
    *all = 1;
    for (int k = 0; k < NB6_ID; k++) {
        if (units->unit[k].kind > kind) kind = units->unit[k].kind;
        *all &= units->unit[k].kind == units->unit[0].kind;
    }
    return kind;
}

static double asked_factor(const struct nb6_data_config *data, int quantity)
{
    const double factor = quantity == NB6_MASS ? data->msun : quantity < NB6_VX ? data->pc : data->kms;
    return factor > 0 ? factor : 1;
}

double nb6_data_scale(const struct nb6_config *config, enum nb6_quantity quantity)
{
    static const double ANY = 1e-60; /* leaves numbers whose squares and products are finite */
    if (config->model.file_units == NB6_FILE_NBODY_SCALED) return ANY;
    return config->model.file_units == NB6_FILE_PHYSICAL ? asked_factor(&config->data, (int)quantity) : 1;
}

/* The units that the stars were read in, for the user. */
static void note_units(const double factor[NB6_ID], struct nb6_data_facts *facts)
{
    static const enum nb6_quantity of[] = {NB6_MASS, NB6_X, NB6_VX};
    char text[3][NB6_UNIT_TEXT];
    int differ = 0;
    for (int d = 1; d < 3; d++) differ |= factor[NB6_X + d] != factor[NB6_X] || factor[NB6_VX + d] != factor[NB6_VX];
    for (int k = 0; k < 3; k++) {
        facts->unit[k] = factor[of[k]];
        nb6_unit_text(of[k], factor[of[k]], text[k]);
    }
    snprintf(facts->units_text, sizeof facts->units_text, "%s, %s, %s%s", text[0], text[1], text[2],
             differ ? " and others" : "");
}

/* To Msun, pc, km/s; the file's own units count. */
enum { NUMBERS = NB6_MASSES | NB6_PLACES | NB6_VELOCITIES };
static void multiply(const struct nb6_data_config *data, const struct nb6_data_units *units, int by_file,
                     struct nb6_model *model)
{
    double factor[NB6_ID];
    for (int k = 0; k < NB6_ID; k++) factor[k] = by_file ? units->unit[k].factor : asked_factor(data, k);
    note_units(factor, &model->data);
    for (struct nb6_piece p = nb6_pieces(model, NUMBERS, NUMBERS); nb6_piece_next(&p);)
        for (int64_t i = 0; i < p.count; i++) {
            p.mass[i] *= factor[NB6_MASS];
            for (int d = 0; d < 3; d++) {
                p.x[i][d] *= factor[NB6_X + d];
                p.v[i][d] *= factor[NB6_VX + d];
            }
        }
}

/* The file states too few units, and the input none. */
static int refuse_unclear(const struct nb6_config *config, const struct nb6_data_units *units, struct nbc_error *err)
{
    const char *path = config->model.data_path;
    if (units->unknown[0])
        return nbc_fail(err, NBC_BAD_INPUT,
                        "%s: the unit of the column '%s' is not known; known are %s; or say what the table is in with "
                        "UNITS of &INMODEL",
                        path, units->unknown, nb6_units_known);
    return nbc_fail(err, NBC_BAD_INPUT,
                    "%s: units are given for some of the columns mass x y z vx vy vz, and not alike for all; complete "
                    "them, or say what the table is in with UNITS of &INMODEL",
                    path);
}

/* UNITS and the file contradict each other. */
static int check_asked(const struct nb6_config *config, const struct nb6_data_units *units, enum nb6_unit_kind kind,
                       struct nbc_error *err)
{
    const enum nb6_file_units asked = config->model.file_units;
    const char *path = config->model.data_path;
    if (asked == NB6_FILE_NBODY && kind == NB6_UNIT_PHYSICAL)
        return nbc_fail(err, NBC_BAD_INPUT,
                        "%s: the file says that it is in physical units, Msun, pc and km/s or others, but the input "
                        "takes it in N-body units; set UNITS='astro' in &INMODEL%s",
                        path, config->data.units_asked ? "" : " or KZ(22) = 10 (-1 in an input of NBODY6)");
    if (asked == NB6_FILE_PHYSICAL && kind == NB6_UNIT_NBODY)
        return nbc_fail(err, NBC_BAD_INPUT,
                        "%s: the file says that it is in N-body units, but the input takes it in Msun, pc, km/s; set "
                        "UNITS='nbody' in &INMODEL%s",
                        path, config->data.units_asked ? "" : " or KZ(22) = 2");
    for (int k = 0; k < NB6_ID && asked == NB6_FILE_PHYSICAL && config->data.msun > 0; k++)
        if (units->unit[k].kind == NB6_UNIT_PHYSICAL &&
            fabs(units->unit[k].factor / asked_factor(&config->data, k) - 1) > 1e-6)
            return nbc_fail(
                err, NBC_BAD_INPUT,
                "%s: the file and UNITS of &INMODEL give different units for %s; remove UNITS, or correct it", path,
                nb6_quantity_names[k]);
    return NBC_OK;
}

static enum nb6_units_from source_of(const struct nb6_config *config, int by_file)
{
    if (by_file) return NB6_UNITS_FILE;
    if (config->model.file_units == NB6_FILE_UNSTATED) return NB6_UNITS_ASSUMED;
    return config->data.units_asked ? NB6_UNITS_INPUT : NB6_UNITS_KZ;
}

int nb6_model_settle_units(const struct nb6_config *config, const struct nb6_data_units *units, struct nb6_model *model,
                           struct nbc_error *err)
{
    int all;
    const enum nb6_unit_kind kind = kind_of(units, &all);
    enum nb6_file_units asked = config->model.file_units;
    int status = all ? check_asked(config, units, kind, err) : NBC_OK;
    if (status) return status;
    if (asked == NB6_FILE_UNSTATED) {
        if (!all || kind == NB6_UNIT_UNKNOWN) return refuse_unclear(config, units, err);
        if (kind == NB6_UNIT_NONE) status = judge(config, model, err);
        asked = kind == NB6_UNIT_PHYSICAL ? NB6_FILE_PHYSICAL : NB6_FILE_NBODY;
    }
    model->data.units = asked;
    model->data.units_from = source_of(config, kind != NB6_UNIT_NONE && kind != NB6_UNIT_UNKNOWN && all);
    strcpy(model->data.units_text, "N-body units");
    if (asked == NB6_FILE_NBODY_SCALED) strcpy(model->data.units_text, "any units");
    if (asked == NB6_FILE_PHYSICAL || (asked == NB6_FILE_NBODY_SCALED && kind == NB6_UNIT_PHYSICAL && all))
        multiply(&config->data, units, kind == NB6_UNIT_PHYSICAL && all, model);
    return status;
}
