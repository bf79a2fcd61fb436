#include "nbody6/model/model.h"

#include "common/nbc.h"
#include "nbody6/input/config.h"
#include "nbody6/input/units.h"
#include "nbody6/input/words/unit_names.h"
#include "nbody6/model/imf.h"
#include "nbody6/model/model_parts.h"
#include "nbody6/model/pieces.h"
#include "nbody6/model/random.h"

#include <math.h>

enum { NUMBERS = NB6_MASSES | NB6_PLACES | NB6_VELOCITIES };

/* --- made by random numbers -------------------------------------------------------------------------------------- */

/* Masses in Msun; 1 for equal masses, whose mean is an input. */
static int draw_masses(const struct nb6_config *config, struct nb6_model *model, struct nbc_error *err)
{
    struct nb6_imf imf;
    nb6_random_t *random = NULL;
    int status = nb6_imf_init(&config->model, &imf, err);
    if (!status) status = nb6_random_create(config->model.seed, NB6_RANDOM_MASS, &random, err);
    if (status) return status;
    double sum = 0.0;
    for (struct nb6_piece p = nb6_pieces(model, 0, NB6_MASSES); nb6_piece_next(&p);)
        for (int64_t i = 0; i < p.count; i++) {
            p.mass[i] = nb6_imf_mass(&imf, nb6_random_uniform(random));
            sum += p.mass[i];
        }
    nb6_random_free(random);
    model->zmbar_msun = config->model.imf == NB6_IMF_EQUAL ? config->zmbar_msun : sum / (double)model->n;
    return NBC_OK;
}

static int draw_places(const struct nb6_model_config *config, struct nb6_model *model, double *potential,
                       struct nbc_error *err)
{
    nb6_random_t *position = NULL, *velocity = NULL;
    int status = nb6_random_create(config->seed, NB6_RANDOM_POSITION, &position, err);
    if (!status) status = nb6_random_create(config->seed, NB6_RANDOM_VELOCITY, &velocity, err);
    if (!status) {
        nb6_model_sampler *sampler = config->kind == NB6_MODEL_KING      ? nb6_model_king
                                     : config->kind == NB6_MODEL_PLUMMER ? nb6_model_plummer
                                                                         : nb6_model_uniform;
        status = sampler(config, position, velocity, model, potential, err);
    }
    nb6_random_free(position);
    nb6_random_free(velocity);
    return status;
}

/* One model, in N-body units. */
static int place(const struct nb6_config *config, struct nb6_model *model, struct nbc_error *err)
{
    double potential = 0.0;
    int status = draw_places(&config->model, model, &potential, err);
    if (!status) status = nb6_model_scale(&config->model, potential, model, NULL, err);
    if (!status) nb6_model_embed(&config->tide, model);
    return status;
}

static int generate(const struct nb6_config *config, struct nb6_model *model, struct nbc_error *err)
{
    if (config->model.n < 2) {
        return nbc_fail(err, NBC_BAD_INPUT, "N = %lld: a cluster needs at least 2 stars", (long long)config->model.n);
    }
    double *second = nbc_alloc((size_t)config->binaries.n, sizeof *second);
    if (!second) return nbc_fail(err, NBC_NO_MEMORY, "no memory for the primordial binaries");
    int status = nb6_model_alloc(config->model.n, model, err), binaries = config->binaries.n > 0;
    if (!status)
        status = binaries ? nb6_binaries_draw_masses(config, model, second, err) : draw_masses(config, model, err);
    if (!status)
        status = config->model.kind == NB6_MODEL_TWO_PLUMMER ? nb6_model_two_plummer(config, model, err)
                                                             : place(config, model, err);
    model->rbar_pc = config->rbar_pc;
    if (!status && binaries) status = nb6_binaries_split(config, second, model, err);
    if (!status && config->triples.n > 0) status = nb6_triples_split(config, model, err);
    nbc_free(second);
    return status;
}

/* --- read from a file -------------------------------------------------------------------------------------------- */

static double total_mass(const struct nb6_model *model)
{
    double sum = 0.0;
    for (struct nb6_piece p = nb6_pieces(model, NB6_MASSES, 0); nb6_piece_next(&p);)
        for (int64_t i = 0; i < p.count; i++) sum += p.mass[i];
    return sum;
}

/* RBAR, given or such that the tidal radius in the point-mass galaxy is r_tide length units. */
static int set_length_unit(const struct nb6_config *config, double r_tide, double mass_msun, struct nb6_model *model,
                           struct nbc_error *err)
{
    const struct nb6_tide_config *tide = &config->tide;
    model->rbar_pc = config->rbar_pc;
    if (config->data.length_unit_open && model->data.rbar_pc > 0.0) model->rbar_pc = model->data.rbar_pc;
    if (tide->kind == NB6_TIDE_POINT_MASS && tide->rtide_unscaled > 0.0) {
        model->rbar_pc =
            nb6_units_tidal_radius_pc(mass_msun, tide->galaxy_mass_msun, tide->galaxy_distance_kpc) / r_tide;
        if (!(model->rbar_pc > 0.0) || !isfinite(model->rbar_pc)) {
            return nbc_fail(err, NBC_BAD_INPUT,
                            "RTIDE = %g, GMG = %g Msun, RG0 = %g kpc and a cluster of %g Msun give a length unit of "
                            "%g pc: must be > 0; check them, or set RTIDE = 0 and give RBAR",
                            tide->rtide_unscaled, tide->galaxy_mass_msun, tide->galaxy_distance_kpc, mass_msun,
                            model->rbar_pc);
        }
    }
    return NBC_OK;
}

/* Half-mass radius over virial radius of a Plummer model, 0.7686. */
static const double HALF_MASS_OVER_VIRIAL = 0.77;

/* The virial radius as it follows from the half-mass radius, to three digits: a length unit that makes E about -1/4,
 * whatever binaries there are. */
static int choose_length_unit(struct nb6_model *model, struct nbc_error *err)
{
    double r_half;
    const int status = nb6_model_half_mass_radius(model, &r_half, err);
    if (status || !(r_half > 0.0)) return status;
    const double r_virial = r_half / HALF_MASS_OVER_VIRIAL, digits = pow(10.0, floor(log10(r_virial)) - 2.0);
    model->rbar_pc = round(r_virial / digits) * digits;
    return NBC_OK;
}

/* From Msun, pc, km/s; the mean mass is that of the file. */
static int convert_physical(const struct nb6_config *config, struct nb6_model *model, struct nbc_error *err)
{
    const double mass = total_mass(model);
    int status = set_length_unit(config, config->tide.rtide_unscaled, mass, model, err);
    if (!status && config->data.length_unit_open && model->rbar_pc == config->rbar_pc)
        status = choose_length_unit(model, err);
    if (status) return status;
    if (!(model->rbar_pc > 0.0)) {
        return nbc_fail(err, NBC_BAD_INPUT, "RBAR = %g: data in pc need a length unit > 0", model->rbar_pc);
    }
    model->zmbar_msun = mass / (double)model->n;
    const struct nb6_units units = nb6_units_from(model->rbar_pc, model->zmbar_msun, model->n);
    for (struct nb6_piece p = nb6_pieces(model, NUMBERS, NUMBERS); nb6_piece_next(&p);)
        for (int64_t i = 0; i < p.count; i++) {
            p.mass[i] /= mass;
            for (int d = 0; d < 3; d++) {
                p.x[i][d] /= units.length_pc;
                p.v[i][d] /= units.velocity_kms;
            }
        }
    return NBC_OK;
}

/* From N-body units: the present ones or, if scaled, the new ones. */
static int convert_nbody(const struct nb6_config *config, struct nb6_model *model, struct nbc_error *err)
{
    int status = NBC_OK;
    double length_factor = 1.0;
    if (config->data.new_masses)
        status = draw_masses(config, model, err);
    else
        model->zmbar_msun =
            config->data.mass_unit_open && model->data.zmbar_msun > 0.0 ? model->data.zmbar_msun : config->zmbar_msun;
    if (!status && model->data.units == NB6_FILE_NBODY_SCALED)
        status = config->binaries.n > 0 ? nb6_binaries_scale(config, model, &length_factor, err)
                                        : nb6_model_scale(&config->model, 0.0, model, &length_factor, err);
    if (!status && model->data.units == NB6_FILE_NBODY_SCALED && config->binaries.n == 0)
        nb6_model_embed(&config->tide, model);
    if (status) return status;
    const double mass_msun = total_mass(model) * model->zmbar_msun * (double)model->n;
    return set_length_unit(config, config->tide.rtide_unscaled * length_factor, mass_msun, model, err);
}

static int check_masses(const struct nb6_config *config, const struct nb6_model *model, struct nbc_error *err)
{
    const char *path = config->model.data_path;
    if (model->n == 1) return nbc_fail(err, NBC_BAD_INPUT, "%s: one star only: at least 2 are needed", path);
    const double sum = total_mass(model);
    if (!(sum > 0.0) || !isfinite(sum))
        return nbc_fail(err, NBC_BAD_INPUT, "%s: the masses add up to %g: must be > 0 and finite", path, sum);
    if (2 * config->binaries.n <= model->n) return NBC_OK;
    return nbc_fail(err, NBC_BAD_INPUT, "NBIN0: %lld binaries need %lld stars, and %s has %lld; lower NBIN0",
                    (long long)config->binaries.n, (long long)(2 * config->binaries.n), path, (long long)model->n);
}

static int read_and_convert(const struct nb6_config *config, struct nb6_model *model, struct nbc_error *err)
{
    struct nb6_data_units units = {.unknown = ""};
    int status = nb6_model_read(config, model, &units, err);
    if (!status) status = check_masses(config, model, err);
    if (!status) status = nb6_model_read_stellar(config, model, err);
    if (!status) status = nb6_model_settle_units(config, &units, model, err);
    if (!status) status = nb6_model_settle_properties(config, model, err);
    if (status) return status;
    return model->data.units == NB6_FILE_PHYSICAL ? convert_physical(config, model, err)
                                                  : convert_nbody(config, model, err);
}

/* --- both -------------------------------------------------------------------------------------------------------- */

static int check_finite(const struct nb6_model *model, struct nbc_error *err)
{
    for (struct nb6_piece p = nb6_pieces(model, NB6_NAMES | NUMBERS, 0); nb6_piece_next(&p);)
        for (int64_t i = 0; i < p.count; i++) {
            const char *what = isfinite(p.mass[i]) ? NULL : "mass";
            for (int d = 0; d < 3; d++) {
                if (!isfinite(p.x[i][d])) what = "position";
                if (!isfinite(p.v[i][d])) what = "velocity";
            }
            if (what)
                return nbc_fail(err, NBC_BAD_INPUT,
                                "the %s of star %lld is out of range in N-body units: check the scale of the data",
                                what, (long long)p.name[i]);
        }
    return NBC_OK;
}

static int make(const struct nb6_config *config, const struct nb6_model_store *store, struct nb6_model *model,
                struct nbc_error *err)
{
    struct nb6_model made = {.store = store};
    int status =
        config->model.kind == NB6_MODEL_FILE ? read_and_convert(config, &made, err) : generate(config, &made, err);
    if (!status && store && (made.store != store || made.n != store->n))
        status = nbc_fail(err, NBC_BAD_INPUT, "%s: it has changed while it was read", config->model.data_path);
    if (!status) status = check_finite(&made, err);
    if (status) {
        nb6_model_free(&made);
        return status;
    }
    *model = made;
    return NBC_OK;
}

int nb6_model_make(const struct nb6_config *config, struct nb6_model *model, struct nbc_error *err)
{
    return make(config, NULL, model, err);
}

int nb6_model_make_in(const struct nb6_config *config, const struct nb6_model_store *store, struct nb6_model *model,
                      struct nbc_error *err)
{
    return make(config, store, model, err);
}

int nb6_model_size(const struct nb6_config *config, int64_t *n, struct nbc_error *err)
{
    const int pairs = config->binaries.n > 0 || config->triples.n > 0;
    *n = 0;
    if (pairs || config->data.stellar_path[0]) return NBC_OK;
    if (config->model.kind == NB6_MODEL_FILE) return nb6_model_size_of_file(config, n, err);
    if (config->model.n > 1) *n = config->model.n;
    return NBC_OK;
}

void nb6_model_settle(const struct nb6_model *model, struct nb6_config *config)
{
    config->model.n = model->n;
    config->rbar_pc = model->rbar_pc;
    config->zmbar_msun = model->zmbar_msun;
    const struct nb6_units units = nb6_units_from(config->rbar_pc, config->zmbar_msun, model->n);
    nb6_config_settle_end(config, units.time_myr);
    nb6_config_settle_intervals(config, units.time_myr);
}
