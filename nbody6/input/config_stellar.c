#include "nbody6/input/config_stellar.h"

#include "nbody6/input/config.h"
#include "stellar/stellar.h"

#include <stdio.h>

/* A variable of &INSSE; below 0: not given. */
static double given(const struct nb6_config *config, const char *name)
{
    double number = -1;
    (void)nb6_config_number(config, "INSSE", name, &number, NULL); /* the table has all names that are asked for */
    return number;
}

static int set(const struct nb6_config *config, const char *name, struct stellar_options *options,
               struct nbc_error *err)
{
    const double number = given(config, name);
    char text[40];
    if (number == -1) return NBC_OK;
    snprintf(text, sizeof text, "%.17g", number);
    return stellar_options_set(options, name, text, err);
}

static int set_all(const struct nb6_config *config, struct stellar_options *options, struct nbc_error *err)
{
#define CHOICE_NAME(field, name, ...) name,
    static const char *const names[] = {STELLAR_CHOICE_LIST(CHOICE_NAME) STELLAR_NUMBER_LIST(CHOICE_NAME)};
#undef CHOICE_NAME
    int status = NBC_OK;
    for (size_t k = 0; k < sizeof names / sizeof names[0] && !status; k++) status = set(config, names[k], options, err);
    return status;
}

int nb6_config_stellar_options(const struct nb6_config *config, double velocity_kms, struct stellar_options *options,
                               struct nbc_error *err)
{
    const struct nb6_stellar_config *stellar = &config->stellar;
    const double neta = given(config, "NETA"), vvfac = given(config, "VVFAC"), vfac = given(config, "VFAC");
    const double factor = vvfac > 0 ? vvfac : vfac;
    int status = stellar_options_level("AABC"[stellar->level], options, err);
    if (!status) status = set_all(config, options, err);
    if (status) return status;
    if (neta >= 0 && given(config, "NWIND") < 0) options->nwind = neta;
    if (factor > 0) options->disp = factor * velocity_kms;
    if (stellar->white_dwarf_kicks < 1) options->wdsig1 = 0;
    if (stellar->white_dwarf_kicks < 2) options->wdsig2 = 0;
    options->nrand = (int64_t)config->model.seed;
    return NBC_OK;
}

/* Which masses a model that is made may have. */
static int check_masses(const struct nb6_model_config *m, double mean, struct nbc_error *err)
{
    if (m->kind == NB6_MODEL_FILE) return NBC_OK;
    const int is_equal = m->imf == NB6_IMF_EQUAL;
    const double largest = is_equal ? mean : m->mass_max_msun;
    if (largest <= STELLAR_MASS_MOST) return NBC_OK;
    return nbc_fail(err, NBC_BAD_INPUT,
                    "%s: stars that age (KZ(19) > 0) have at most %g Msun, not %g; give %g or less, or KZ(19)=0",
                    is_equal ? "ZMBAR" : "BODY1", STELLAR_MASS_MOST, largest, STELLAR_MASS_MOST);
}

int nb6_config_check_stellar(const struct nb6_config *config, struct nbc_error *err)
{
    const struct nb6_stellar_config *s = &config->stellar;
    struct stellar_options options;
    if (s->collide && !s->evolve)
        return nbc_fail(err, NBC_BAD_INPUT,
                        "KZ(27): stars collide by the radii of their age (KZ(27)=-1) where they age; set KZ(19)=3, or "
                        "KZ(27)=0");
    if (!s->evolve) return NBC_OK;
    if (!(s->z >= STELLAR_Z_LEAST && s->z <= STELLAR_Z_MOST))
        return nbc_fail(err, NBC_BAD_INPUT,
                        "ZMET: the tracks of stars (KZ(19) > 0) are for metallicities from %g to %g, not %g; give one "
                        "of these, or KZ(19)=0",
                        STELLAR_Z_LEAST, STELLAR_Z_MOST, s->z);
    if (s->epoch_0_myr > 0)
        return nbc_fail(err, NBC_BAD_INPUT,
                        "EPOCH0: stars that are there at t = 0 cannot be born at %g Myr; give 0, "
                        "or less",
                        s->epoch_0_myr);
    if (config->data.radii)
        return nbc_fail(err, NBC_BAD_INPUT,
                        "RADII: stars that age (KZ(19) > 0) have radii of their own; set RADII='keep', and KZ(27)=-1 "
                        "for collisions, or KZ(19)=0");
    if (config->pair.r_star > 0)
        return nbc_fail(err, NBC_BAD_INPUT,
                        "RSTAR: stars that age (KZ(19) > 0) have radii of their own; set RSTAR=0, and KZ(27)=-1 for "
                        "collisions, or KZ(19)=0");
    const int status = check_masses(&config->model, config->zmbar_msun, err);
    return status ? status : nb6_config_stellar_options(config, 1, &options, err);
}
