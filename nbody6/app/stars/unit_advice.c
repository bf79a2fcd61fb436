#include "nbody6/app/stars/unit_advice.h"

#include "nbody6/analysis/bulk.h"
#include "nbody6/input/config.h"
#include "nbody6/input/units.h"
#include "nbody6/input/words/unit_names.h"
#include "nbody6/model/model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Clusters as they are known. Half-mass radii: embedded ones have 0.1 pc, the largest globular clusters 30, nuclear
 * ones and ultra-compact dwarfs 100; mean masses: brown dwarfs alone, black holes alone. */
static const double SMALLEST_PC = 0.003, LARGEST_PC = 500, LIGHTEST_MSUN = 0.005, HEAVIEST_MSUN = 300;
/* Other units are likely if they make Q so, and half-mass radius and mean mass usual. */
static const double LEAST_Q = 0.25, MOST_Q = 1, LEAST_PC = 0.03, MOST_PC = 100, LEAST_MSUN = 0.05, MOST_MSUN = 50;
static const double UNIT_MASS_ERROR = 0.1; /* as of tables without units (model/data_convert.c) */
/* Beyond all satellites of a galaxy. */
static const double FARTHEST_KPC = 500;

/* Mass, length, velocity. */
struct triple {
    double unit[3];
};

/* The stars in the units that were used, and these. */
struct reading {
    const struct nb6_bulk *bulk;
    struct triple used;       /* in Msun, pc, km/s */
    double mean_msun, r_half; /* mean mass, half-mass radius in pc */
    double mass_file;         /* total mass as the file has it */
    int is_nbody;
};

struct likely {
    int is_there, is_nbody, changes;
    struct triple units;
    double q;
};

static const enum nb6_quantity QUANTITY[] = {NB6_MASS, NB6_X, NB6_VX};

/* ---- other units ---- */

/* Is this a better guess than the one before? */
static void try_units(const struct reading *r, const struct triple *units, int changes, struct likely *best)
{
    const double mass = units->unit[0] / r->used.unit[0], length = units->unit[1] / r->used.unit[1],
                 velocity = units->unit[2] / r->used.unit[2];
    const double q = r->bulk->virial_ratio * velocity * velocity * length / mass;
    const double r_half = r->r_half * length, mean = r->mean_msun * mass;
    if (!(q >= LEAST_Q && q <= MOST_Q && r_half >= LEAST_PC && r_half <= MOST_PC && mean >= LEAST_MSUN &&
          mean <= MOST_MSUN))
        return;
    if (best->is_there && changes > best->changes) return;
    if (best->is_there && changes == best->changes && fabs(log(q / 0.5)) >= fabs(log(best->q / 0.5))) return;
    *best = (struct likely){1, 0, changes, *units, q};
}

/* Usual units, and the used ones with one of them changed. */
static void try_physical(const struct reading *r, struct likely *best)
{
    static const char *const sets[][3] = {{"Msun", "pc", "km/s"},  {"1e10 Msun", "kpc", "km/s"}, {"Msun", "AU", "km/s"},
                                          {"Msun", "AU", "AU/yr"}, {"Msun", "kpc", "km/s"},      {"Msun", "pc", "m/s"},
                                          {"kg", "m", "m/s"},      {"g", "cm", "cm/s"}};
    static const char *const single[3][5] = {
        {"Msun", "1e10 Msun", "kg", "g", NULL}, {"pc", "kpc", "AU", "km", "m"}, {"km/s", "m/s", "cm/s", "AU/yr", NULL}};
    struct triple units;
    for (int k = 0; k < 3 && !r->is_nbody; k++)
        for (int j = 0; j < 5 && single[k][j]; j++) {
            units = r->used;
            units.unit[k] = nb6_unit_find(QUANTITY[k], single[k][j], strlen(single[k][j])).factor;
            try_units(r, &units, 1, best);
        }
    for (size_t s = 0; s < sizeof sets / sizeof sets[0]; s++) {
        for (int k = 0; k < 3; k++) units.unit[k] = nb6_unit_find(QUANTITY[k], sets[s][k], strlen(sets[s][k])).factor;
        try_units(r, &units, r->is_nbody ? 1 : 2, best);
    }
}

/* N-body units: masses that add up to 1, and Q with G = 1. */
static void try_nbody(const struct reading *r, struct likely *best)
{
    const double q = r->bulk->virial_ratio * r->used.unit[0] * NB6_G_PC_KMS2_MSUN /
                     (r->used.unit[1] * r->used.unit[2] * r->used.unit[2]);
    if (r->is_nbody || fabs(r->mass_file - 1) > UNIT_MASS_ERROR || !(q >= LEAST_Q && q <= MOST_Q)) return;
    *best = (struct likely){1, 1, 1, r->used, q};
}

static void name_units(const struct likely *likely, char text[3 * NB6_UNIT_TEXT])
{
    char unit[3][NB6_UNIT_TEXT];
    for (int k = 0; k < 3; k++) nb6_unit_text(QUANTITY[k], likely->units.unit[k], unit[k]);
    snprintf(text, 3 * NB6_UNIT_TEXT, likely->is_nbody ? "nbody" : "%s %s %s", unit[0], unit[1], unit[2]);
}

/* The remedy, if the guess is right. */
static void add_remedy(const struct nb6_data_facts *data, const struct likely *likely, char text[NB6_UNIT_ADVICE])
{
    const size_t used = strlen(text);
    char units[3 * NB6_UNIT_TEXT];
    name_units(likely, units);
    if (!likely->is_there)
        snprintf(text + used, NB6_UNIT_ADVICE - used,
                 "; if this is not what the stars are, correct %s, or let UNITS='scaled' bring them to the virial "
                 "ratio Q",
                 data->units_from == NB6_UNITS_FILE ? "the units in the file" : "UNITS of &INMODEL");
    else if (data->units_from == NB6_UNITS_FILE)
        snprintf(text + used, NB6_UNIT_ADVICE - used,
                 "; in %s%s%s Q would be %.2g: if they are in these, correct the units in the file",
                 likely->is_nbody ? "N-body units" : "'", likely->is_nbody ? "" : units, likely->is_nbody ? "" : "'",
                 likely->q);
    else
        snprintf(text + used, NB6_UNIT_ADVICE - used,
                 "; with UNITS='%s' Q would be %.2g: give that in &INMODEL%s if they are in these units", units,
                 likely->q, data->units_from == NB6_UNITS_KZ ? " in place of KZ(22)" : "");
}

/* ---- the virial ratio ---- */

static struct reading read_stars(const struct nb6_data_facts *data, const struct nb6_bulk *bulk,
                                 const struct nb6_units *units)
{
    struct reading r = {.bulk = bulk,
                        .mean_msun = bulk->mass * units->mass_msun / (double)bulk->n,
                        .r_half = bulk->r_half * units->length_pc,
                        .is_nbody = data->units != NB6_FILE_PHYSICAL};
    memcpy(r.used.unit, data->unit, sizeof r.used.unit);
    r.mass_file = r.is_nbody ? bulk->mass : bulk->mass * units->mass_msun / data->unit[0];
    if (!r.is_nbody) return r;
    /* one N-body unit of mass is a Msun, and so on, with the velocity that makes G 1 */
    r.used = (struct triple){{1, 1, sqrt(NB6_G_PC_KMS2_MSUN)}};
    r.mean_msun = bulk->mass / (double)bulk->n;
    r.r_half = bulk->r_half;
    return r;
}

/* Is the virial ratio one that is warned of?   @param[out] likely  the units that explain it, if some do */
static int is_wrong(const struct reading *r, struct likely *likely)
{
    const double q = r->bulk->virial_ratio;
    likely->is_there = 0;
    if (q <= 0 || (q >= NB6_COLD_START && q <= NB6_HOT_START)) return 0;
    try_physical(r, likely);
    try_nbody(r, likely);
    return q > NB6_HOT_START || likely->is_there;
}

static void advise_q(const struct nb6_data_facts *data, const struct reading *r, const struct likely *likely,
                     nb6_unit_warning *warn, void *context)
{
    char text[NB6_UNIT_ADVICE];
    if (r->is_nbody)
        snprintf(text, sizeof text,
                 "virial ratio Q = %.3g (0.5: equilibrium), with the stars read in N-body units: total mass %.4g (1 is "
                 "usual), half-mass radius %.3g (0.8 is usual)",
                 r->bulk->virial_ratio, r->bulk->mass, r->bulk->r_half);
    else
        snprintf(text, sizeof text,
                 "virial ratio Q = %.3g (0.5: equilibrium), with the stars read in %s: mean mass %.3g Msun, "
                 "half-mass radius %.3g pc",
                 r->bulk->virial_ratio, data->units_text, r->mean_msun, r->r_half);
    add_remedy(data, likely, text);
    warn(context, text);
}

/* ---- sizes ---- */

static void advise_size(const struct nb6_config *config, const struct nb6_data_facts *data, double r_half,
                        double mean_msun, nb6_unit_warning *warn, void *context)
{
    char text[NB6_UNIT_ADVICE];
    const int is_physical = config->model.kind == NB6_MODEL_FILE && data->units == NB6_FILE_PHYSICAL;
    if (r_half < SMALLEST_PC || r_half > LARGEST_PC) {
        snprintf(text, sizeof text, "the half-mass radius is %.3g pc, and no star cluster is so %s: check %s", r_half,
                 r_half < SMALLEST_PC ? "small" : "large",
                 is_physical ? "the units of the stars" : "RBAR, which is in pc");
        warn(context, text);
    }
    if (mean_msun < LIGHTEST_MSUN || mean_msun > HEAVIEST_MSUN) {
        snprintf(text, sizeof text,
                 "the mean mass of the stars is %.3g Msun, and no star cluster has %s ones: check %s", mean_msun,
                 mean_msun < LIGHTEST_MSUN ? "so light" : "such heavy",
                 is_physical ? "the units of the stars" : "ZMBAR, which is the mean mass of a star in Msun");
        warn(context, text);
    }
}

/* ---- the galaxy ---- */

static void advise_length(const char *name, double kpc, nb6_unit_warning *warn, void *context)
{
    char text[NB6_UNIT_ADVICE];
    if (!(kpc > FARTHEST_KPC)) return;
    snprintf(text, sizeof text,
             "%s = %.6g kpc is beyond any galaxy; the variable is in kpc: give %.6g if it was meant in pc", name, kpc,
             kpc / 1000);
    warn(context, text);
}

static double length_of(const double a[3])
{
    return sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
}

static void advise_galaxy(const struct nb6_tide_config *tide, nb6_unit_warning *warn, void *context)
{
    const int is_orbit = tide->kind == NB6_TIDE_GALAXY || tide->kind == NB6_TIDE_MILKY_WAY;
    const struct {
        const char *name;
        double value;
        int is_used;
    } kpc[] = {{"RG0", tide->galaxy_distance_kpc, tide->kind == NB6_TIDE_POINT_MASS},
               {"RG", length_of(tide->position_kpc), is_orbit},
               {"A", tide->disk_length_kpc, tide->kind == NB6_TIDE_GALAXY && tide->disk_mass_msun > 0},
               {"B", tide->disk_height_kpc, tide->kind == NB6_TIDE_GALAXY && tide->disk_mass_msun > 0},
               {"RCIRC", tide->halo_radius_kpc, tide->kind == NB6_TIDE_GALAXY && tide->halo_velocity_kms > 0},
               {"AR", tide->bulge_length_kpc, tide->kind == NB6_TIDE_GALAXY && tide->bulge_mass_msun > 0}};
    for (size_t k = 0; k < sizeof kpc / sizeof kpc[0]; k++)
        if (kpc[k].is_used) advise_length(kpc[k].name, kpc[k].value, warn, context);
}

static int has_gas(const struct nb6_tide_config *tide)
{
    return (tide->kind == NB6_TIDE_GALAXY || tide->kind == NB6_TIDE_GAS) && tide->gas_mass > 0;
}

int nb6_units_q_is_set(const struct nb6_config *config)
{
    const struct nb6_model_config *model = &config->model;
    return model->virial_ratio >= 0 && (model->kind != NB6_MODEL_FILE || model->file_units == NB6_FILE_NBODY_SCALED);
}

/* Of stars whose virial ratio says whether their units are right. Those of our own snapshots are, and tidal tails make
 * their ratio large. */
static int has_own_q(const struct nb6_config *config, const struct nb6_data_facts *data, const struct nb6_bulk *bulk)
{
    return config->model.kind == NB6_MODEL_FILE && bulk->n >= NB6_BULK_FEW && !nb6_units_q_is_set(config) &&
           !has_gas(&config->tide) && !data->is_own;
}

int nb6_units_are_suspect(const struct nb6_config *config, const struct nb6_data_facts *data,
                          const struct nb6_bulk *bulk, const struct nb6_units *units)
{
    struct likely likely;
    if (!has_own_q(config, data, bulk)) return 0;
    const struct reading r = read_stars(data, bulk, units);
    return is_wrong(&r, &likely);
}

void nb6_units_advise(const struct nb6_config *config, const struct nb6_data_facts *data, const struct nb6_bulk *bulk,
                      const struct nb6_units *units, nb6_unit_warning *warn, void *context)
{
    advise_galaxy(&config->tide, warn, context);
    if (has_own_q(config, data, bulk)) {
        const struct reading r = read_stars(data, bulk, units);
        struct likely likely;
        if (is_wrong(&r, &likely)) {
            advise_q(data, &r, &likely, warn, context); /* it has the sizes too */
            return;
        }
    }
    /* physical sizes of N-body stars mean nothing without RBAR and ZMBAR */
    const int no_size = config->model.kind == NB6_MODEL_FILE && data->units != NB6_FILE_PHYSICAL &&
                        (config->data.length_unit_open || config->data.mass_unit_open);
    const int is_system = bulk->mass_most > 0.5 * bulk->mass; /* a star with planets, a black hole with stars */
    if (bulk->n < NB6_BULK_FEW || no_size || is_system || nb6_config_is_collisionless(config)) return;
    advise_size(config, data, bulk->r_half * units->length_pc, bulk->mass * units->mass_msun / (double)bulk->n, warn,
                context);
}
