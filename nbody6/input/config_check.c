#include "common/nbc.h"
#include "gpuirr/gpuirr.h"
#include "gpunb/gpunb.h"
#include "nbody6/input/config.h"
#include "nbody6/input/config_groups.h"
#include "nbody6/input/config_softened.h"
#include "nbody6/input/config_stellar.h"
#include "nbody6/input/config_tide.h"
#include "nbody6/input/input_table.h"
#include "nbody6/input/words/columns.h"
#include "regularization/chain.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* Values of a configuration beyond the range of its input: -1 for a virial ratio that is kept, a longest step that is a
 * power of two. All others lie in the range in the table of the input. */
struct limit {
    size_t offset;
    const char *name;
    double min, max;
    int open; /* 1: min itself is not admissible */
};

static const struct limit own_limits[] = {
    {offsetof(struct nb6_config, integration.dt_max), "SMAX", 0, 1, 1},
    {offsetof(struct nb6_config, model.virial_ratio), "Q", -1e6, 1e6, 0},
    {offsetof(struct nb6_config, run.dt_adjust), "DTADJ", NB6_LEAST_INTERVAL, NB6_T_MAX, 0},
    {offsetof(struct nb6_config, run.dt_output), "DELTAT", NB6_LEAST_INTERVAL, NB6_T_MAX, 0},
};
enum { OWN_LIMITS = sizeof own_limits / sizeof own_limits[0] };

static struct limit limit_of(const struct nb6_input_variable *v)
{
    const size_t offset = nb6_input_offset(v);
    for (int k = 0; k < OWN_LIMITS; k++)
        if (own_limits[k].offset == offset) return own_limits[k];
    return (struct limit){offset, v->name, v->min, v->max, v->open};
}

/* Those in Myr have a range once the unit of time is known (nb6_config_check_intervals). */
static int is_in_myr(const struct nb6_config *config, size_t offset)
{
    return (offset == offsetof(struct nb6_config, run.dt_adjust) && config->run.dt_adjust_myr > 0) ||
           (offset == offsetof(struct nb6_config, run.dt_output) && config->run.dt_output_myr > 0);
}

static int check_limits(const struct nb6_config *config, struct nbc_error *err)
{
    for (int k = 0; k < nb6_input_variable_count; k++) {
        const enum nb6_input_target target = nb6_input_variables[k].target;
        if (target != NB6_TO_DOUBLE && target != NB6_TO_NUMBER) continue;
        const struct limit l = limit_of(&nb6_input_variables[k]);
        if (is_in_myr(config, l.offset)) continue;
        for (int i = 0; i < nb6_input_variables[k].length; i++) {
            double x;
            memcpy(&x, (const char *)config + l.offset + (size_t)i * sizeof x, sizeof x);
            if (x >= l.min && x <= l.max && !(l.open && x == l.min)) continue; /* not so for NaN */
            return nbc_fail(err, NBC_BAD_INPUT, "%s: %.12g is out of range; give a value %s %.12g and <= %.12g", l.name,
                            x, l.open ? ">" : ">=", l.min, l.max);
        }
    }
    return NBC_OK;
}

static int is_power_of_two(double x)
{
    int exponent;
    return frexp(x, &exponent) == 0.5;
}

static int check_steps(const struct nb6_integration_config *c, struct nbc_error *err)
{
    const struct {
        const char *name;
        double value;
    } steps[] = {{"SMAX", c->dt_max}, {"DTFIXI", c->dt_fixed_irr}, {"DTFIXR", c->dt_fixed_reg}};
    for (int k = 0; k < 3; k++) {
        if (steps[k].value == 0) continue;
        if (!is_power_of_two(steps[k].value) || steps[k].value < 0x1p-30)
            return nbc_fail(err, NBC_BAD_INPUT, "%s: %.12g is no power of two from 2^-30 to 1; give 1, 0.5, 0.25, ...",
                            steps[k].name, steps[k].value);
        if (steps[k].value > c->dt_max)
            return nbc_fail(err, NBC_BAD_INPUT,
                            "%s: the constant step %.12g is longer than the largest step SMAX=%.12g; lower it",
                            steps[k].name, steps[k].value, c->dt_max);
    }
    if (c->dt_fixed_irr > 0 && c->dt_fixed_reg > 0 && c->dt_fixed_reg < c->dt_fixed_irr)
        return nbc_fail(err, NBC_BAD_INPUT,
                        "DTFIXR: the regular step %.12g is shorter than the irregular step DTFIXI=%.12g",
                        c->dt_fixed_reg, c->dt_fixed_irr);
    if (c->nnb_opt < 0 || c->nnb_max < 0)
        return nbc_fail(err, NBC_BAD_INPUT, "%s: %lld is out of range; give a value >= 0 (0: automatic)",
                        c->nnb_opt < 0 ? "NNBOPT" : "NNBMAX", (long long)(c->nnb_opt < 0 ? c->nnb_opt : c->nnb_max));
    if (c->nnb_max > 0 && c->nnb_opt >= c->nnb_max)
        return nbc_fail(
            err, NBC_BAD_INPUT,
            "NNBMAX: the longest neighbour list, %lld, has to be longer than the wanted mean number NNBOPT=%lld; "
            "raise it, or give 0 (automatic)",
            (long long)c->nnb_max, (long long)c->nnb_opt);
    return NBC_OK;
}

/* Whether the backend has such trees in the precision of the run is checked where it is opened. */
static int check_force_error(const struct nb6_config *config, struct nbc_error *err)
{
    const double aim = config->integration.force_error;
    if (aim == 0) return NBC_OK;
    if (!(aim >= NB6_LEAST_FORCE_ERROR))
        return nbc_fail(err, NBC_BAD_INPUT,
                        "FORCE_ERROR: %g is less than sums of floats can have; give %g or more, or 0 for direct sums",
                        aim, NB6_LEAST_FORCE_ERROR);
    return NBC_OK;
}

static int check_model(const struct nb6_config *config, struct nbc_error *err)
{
    const struct nb6_model_config *m = &config->model;
    struct nb6_columns columns;
    int64_t n_max = INT32_MAX - 1;
    int64_t n_min = m->kind == NB6_MODEL_FILE ? 0 : 2;
    if (m->n < n_min || m->n == 1 || m->n > n_max)
        return nbc_fail(err, NBC_BAD_INPUT, "N: %lld stars are out of range; give a number from 2 to %lld",
                        (long long)m->n, (long long)n_max);
    if (m->kind == NB6_MODEL_FILE && m->data_path[0] == '\0')
        return nbc_fail(err, NBC_BAD_INPUT, "DATA: the model is read, but no data file is named; give its name");
    if (config->data.radii && config->pair.r_star > 0)
        return nbc_fail(err, NBC_BAD_INPUT,
                        "RSTAR: RADII='collide' takes the radii of the stars from the data file; remove RSTAR, or set "
                        "RADII='keep'");
    if (m->kind == NB6_MODEL_FILE) {
        const int status = nb6_columns_parse(config->data.columns, config->data.keep, &columns, err);
        if (status || !config->data.new_masses) return status;
    }
    if (m->mass_min_msun > m->mass_max_msun)
        return nbc_fail(err, NBC_BAD_INPUT,
                        "BODYN: the smallest mass %g is larger than the largest mass BODY1=%g; exchange them",
                        m->mass_min_msun, m->mass_max_msun);
    if (m->imf < NB6_IMF_EQUAL || m->imf > NB6_IMF_EGGLETON_NBODY6)
        return nbc_fail(err, NBC_BAD_INPUT, "KZ(20): %d is no mass function; see enum nb6_imf_kind", (int)m->imf);
    if (m->imf > NB6_IMF_POWER_LAW && m->mass_min_msun == m->mass_max_msun)
        return nbc_fail(
            err, NBC_BAD_INPUT,
            "BODY1: a mass function (KZ(20) > 0) needs BODY1 > BODYN, and both are %g; for equal masses set "
            "KZ(20)=0, ALPHAS=1",
            m->mass_max_msun);
    return NBC_OK;
}

static int check_run(const struct nb6_run_config *r, struct nbc_error *err)
{
    if (r->n_fix < 1)
        return nbc_fail(err, NBC_BAD_INPUT, "NFIX: %lld is out of range; give a value >= 1", (long long)r->n_fix);
    if (r->n_crit < 0)
        return nbc_fail(err, NBC_BAD_INPUT, "NCRIT: %lld is out of range; give a value >= 0", (long long)r->n_crit);
    if (!(r->t_crit > 0) && !(r->t_crit == 0 && r->t_crit_myr > 0))
        return nbc_fail(err, NBC_BAD_INPUT,
                        "TCRIT: %.12g is no end of a run; give one > 0, or TCRTP0 > 0, an end in Myr", r->t_crit);
    if (r->energy_retries < 0)
        return nbc_fail(err, NBC_BAD_INPUT, "KZ(2): %d tries after an energy error; give a number >= 0",
                        r->energy_retries);
    if (r->name[0] == '\0')
        return nbc_fail(err, NBC_BAD_INPUT, "the name of the output files is empty; give one with --out NAME");
    if (r->precision < GPUNB_PRECISION_DEFAULT || r->precision > GPUNB_DOUBLE)
        return nbc_fail(err, NBC_BAD_INPUT, "PREC: %d is no precision; see enum gpunb_precision", r->precision);
    if (r->engine < NB6_ENGINE_HOST || r->engine > NB6_ENGINE_AUTO)
        return nbc_fail(err, NBC_BAD_INPUT, "ENGINE: %d is no engine; see enum nb6_engine_choice", r->engine);
    if (r->on_device_loss < NB6_LOSS_STOP || r->on_device_loss > NB6_LOSS_HOST)
        return nbc_fail(err, NBC_BAD_INPUT, "DEVLOSS: %d is no choice; see enum nb6_loss_choice", r->on_device_loss);
    return NBC_OK;
}

/* A model that is made has a half-mass radius of 0.4 to 1.3. Of stars from a file nb6_set_bodies asks the same. */
static const double LARGEST_RMIN = 1;

static int check_pairs(const struct nb6_config *config, struct nbc_error *err)
{
    const struct nb6_pair_config *p = &config->pair;
    if (config->model.kind != NB6_MODEL_FILE && p->r_min > LARGEST_RMIN)
        return nbc_fail(err, NBC_BAD_INPUT,
                        "RMIN: %.12g is larger than the cluster, whose half-mass radius is about 0.8; give a distance "
                        "of close encounters, about 4/N, or 0: from the core density",
                        p->r_min);
    if (chain_method_name(p->chain_method)) return NBC_OK;
    return nbc_fail(err, NBC_BAD_INPUT, "CHAIN: there is no method %d; see enum chain_method", p->chain_method);
}

static int check_binaries(const struct nb6_config *config, struct nbc_error *err)
{
    const struct nb6_binary_config *b = &config->binaries;
    if (b->n > INT32_MAX / 2)
        return nbc_fail(err, NBC_BAD_INPUT, "NBIN0: %lld binaries are out of range; give a number from 0 to N",
                        (long long)b->n);
    if (b->n < 0 || (config->model.kind != NB6_MODEL_FILE && b->n > config->model.n))
        return nbc_fail(err, NBC_BAD_INPUT, "NBIN0: %lld binaries among N = %lld systems; give a number from 0 to N",
                        (long long)b->n, (long long)config->model.n);
    if (b->n == 0) return NBC_OK;
    if (!(b->ecc < 0 || (b->ecc >= 0 && b->ecc < 1) || b->ecc == 20 || b->ecc == 30 || b->ecc == 40))
        return nbc_fail(err, NBC_BAD_INPUT,
                        "ECC0: %g is no eccentricity; give -1 (thermal), 0 to below 1, 20 (uniform), 30 or 40", b->ecc);
    if (!(b->semi_max > 0) || !(b->range == 0 || b->range < 0 || b->range >= 1))
        return nbc_fail(err, NBC_BAD_INPUT,
                        "%s: %g is out of range; give a semi-major axis > 0 and RANGE = 0, >= 1 or < 0",
                        b->semi_max > 0 ? "RANGE" : "SEMI0", b->semi_max > 0 ? b->range : b->semi_max);
    if (b->ratio > 0 && b->ratio <= 1) return NBC_OK;
    return nbc_fail(err, NBC_BAD_INPUT, "RATIO: %g is out of range; give a value > 0 and <= 1", b->ratio);
}

static int check_triples(const struct nb6_config *config, struct nbc_error *err)
{
    const struct nb6_triple_config *t = &config->triples;
    if (t->n < 0 || t->n > config->binaries.n)
        return nbc_fail(err, NBC_BAD_INPUT,
                        "NHI0: %lld triples among NBIN0 = %lld binaries; give a number from 0 to NBIN0",
                        (long long)t->n, (long long)config->binaries.n);
    if (t->n == 0) return NBC_OK;
    if (config->model.kind == NB6_MODEL_FILE)
        return nbc_fail(err, NBC_BAD_INPUT,
                        "NHI0: triples are made with a model, not of the stars of a data file; give NHI0=0");
    if (!(t->ecc < 1))
        return nbc_fail(err, NBC_BAD_INPUT,
                        "NHI0: ECC0 = %g of &INHIPOP is no eccentricity; give -1 (thermal), or 0 to "
                        "below 1",
                        t->ecc);
    if (!(t->semi_max > 0) || !(t->range == 0 || t->range >= 1) || !(t->ratio > 0 && t->ratio <= 1))
        return nbc_fail(err, NBC_BAD_INPUT,
                        "NHI0: SEMI0 = %g, RANGE = %g, RATIO = %g of &INHIPOP: give SEMI0 > 0, RANGE = 0 or >= 1, and "
                        "0 < RATIO <= 1",
                        t->semi_max, t->range, t->ratio);
    return NBC_OK;
}

/* The name nearest to a wrong one. */
struct nearest {
    const char *name;
    int distance; /* -1: there is none yet */
};

static void look_at(struct nearest *near, const char *wrong, const char *name)
{
    const int distance = nb6_input_distance(wrong, name);
    if (distance >= 0 && (near->distance < 0 || distance < near->distance)) *near = (struct nearest){name, distance};
}

static int unknown_backend(const char *variable, const char *name, const char *known, const struct nearest *near,
                           struct nbc_error *err)
{
    return nbc_fail(err, NBC_BAD_INPUT, "%s: '%.40s' is no backend; %s%s%sgive one of %s", variable, name,
                    near->distance < 0 ? "" : "did you mean '", near->distance < 0 ? "" : near->name,
                    near->distance < 0 ? "" : "'? If not, ", known);
}

/* "cuda:0,2" is "cuda" with a list of devices, which the library checks. */
static int names_backend(const char *wanted, const char *name)
{
    size_t length = strlen(name);
    return strncmp(wanted, name, length) == 0 && (wanted[length] == '\0' || wanted[length] == ':');
}

static int check_backends(const struct nb6_run_config *r, struct nbc_error *err)
{
    char known[512];
    size_t n = (size_t)snprintf(known, sizeof known, "auto, cpu");
    int found = strcmp(r->device, "auto") == 0 || strcmp(r->device, "cpu") == 0;
    const char *name;
    struct nearest near = {NULL, -1};
    for (int k = 0; (name = gpunb_backend_name(k)) && n < sizeof known; k++) {
        found |= names_backend(r->device, name);
        look_at(&near, r->device, name);
        n += (size_t)snprintf(known + n, sizeof known - n, ", %s", name);
    }
    if (!found) return unknown_backend("DEVICE", r->device, known, &near, err);
    near = (struct nearest){NULL, -1};
    n = (size_t)snprintf(known, sizeof known, "auto");
    found = strcmp(r->irr_backend, "auto") == 0;
    for (int k = 0; (name = gpuirr_backend_name(k)) && n < sizeof known; k++) {
        found |= strcmp(r->irr_backend, name) == 0;
        look_at(&near, r->irr_backend, name);
        n += (size_t)snprintf(known + n, sizeof known - n, ", %s", name);
    }
    return found ? NBC_OK : unknown_backend("IRR", r->irr_backend, known, &near, err);
}

/* Of collisionless runs, which have no lists: bodies, forces, and the part of a run that takes most beside them
 * (docs/algorithms/softened.md, memory). */
static const double BYTES_OF_A_BODY = 189 + 230 + 190;

double nb6_config_memory(const struct nb6_config *config, int64_t n)
{
    if (nb6_config_is_collisionless(config)) return (double)n * BYTES_OF_A_BODY;
    /* Records of the driver and of the libraries, and two lists of the mean length. */
    return (double)n * (1100 + 2 * sizeof(int32_t) * nb6_radius_initial_mean(config, n, 0));
}

static int check_memory(const struct nb6_config *config, struct nbc_error *err)
{
    double need = nb6_config_memory(config, config->model.n), have = (double)nbc_memory_bytes();
    if (have == 0 || need <= have) return NBC_OK;
    return nbc_fail(err, NBC_BAD_INPUT,
                    "N: %lld stars need about %.3g GB of memory, and this machine has %.3g GB; reduce N%s",
                    (long long)config->model.n, need * 1e-9, have * 1e-9,
                    nb6_config_is_collisionless(config) ? "" : " (or NNBOPT)");
}

/* Of two Plummer models. */
static int check_two(const struct nb6_config *config, struct nbc_error *err)
{
    struct nb6_config_two two;
    if (config->model.kind != NB6_MODEL_TWO_PLUMMER) return NBC_OK;
    const int status = nb6_config_get_two(config, &two, err);
    if (status) return status;
    const double n2 = two.n2, apo = two.apo, ecc = two.ecc, scale = two.scale;
    if (!(n2 >= 2) || n2 != floor(n2) || (double)config->model.n - n2 < 2)
        return nbc_fail(err, NBC_BAD_INPUT,
                        "N2: %g stars in the second of two Plummer models (KZ(5)=2) and %g in the "
                        "first: give 2 or more to each, by N2 of &INSETUP and N",
                        n2, (double)config->model.n - n2);
    if (!(apo > 0))
        return nbc_fail(err, NBC_BAD_INPUT,
                        "APO: the two Plummer models of KZ(5)=2 are at one place; give "
                        "their separation, APO > 0, in &INSETUP");
    if (!(ecc >= 0 && ecc < 1) || !(scale > 0))
        return nbc_fail(err, NBC_BAD_INPUT, "%s: give 0 <= ECC < 1 and SCALE > 0 in &INSETUP",
                        scale > 0 ? "ECC" : "SCALE");
    if (config->binaries.n > 0)
        return nbc_fail(err, NBC_BAD_INPUT,
                        "NBIN0: there are no primordial binaries in two Plummer models (KZ(5)=2) yet; "
                        "set KZ(8)=0, or KZ(5)=1");
    if (config->tide.gas_mass > 0)
        return nbc_fail(err, NBC_BAD_INPUT,
                        "MP: two Plummer models (KZ(5)=2) cannot be set up in gas; set MP=0, or KZ(5)=1");
    return NBC_OK;
}

int nb6_config_check_collisional(const struct nb6_config *config, struct nbc_error *err)
{
    if (!nb6_config_is_collisionless(config)) return NBC_OK;
    return nbc_fail(err, NBC_BAD_INPUT,
                    "%s%sSOFTENING: nbody6 has no softened forces; run nbody6-collisionless with this input, or leave "
                    "&INCOLLISIONLESS out",
                    config->run.input_path, config->run.input_path[0] ? ": " : "");
}

int nb6_config_check(const struct nb6_config *config, struct nbc_error *err)
{
    int status = check_limits(config, err);
    if (status == NBC_OK) status = check_steps(&config->integration, err);
    if (status == NBC_OK) status = check_force_error(config, err);
    if (status == NBC_OK) status = check_model(config, err);
    if (status == NBC_OK) status = check_two(config, err);
    if (status == NBC_OK) status = check_pairs(config, err);
    if (status == NBC_OK) status = check_binaries(config, err);
    if (status == NBC_OK) status = check_triples(config, err);
    if (status == NBC_OK) status = check_run(&config->run, err);
    if (status == NBC_OK) status = nb6_config_check_softened(config, err);
    if (status == NBC_OK) status = nb6_config_check_stellar(config, err);
    if (status == NBC_OK) status = nb6_config_check_tide(&config->tide, err);
    if (status == NBC_OK) status = check_backends(&config->run, err);
    if (status == NBC_OK) status = check_memory(config, err);
    return status;
}
