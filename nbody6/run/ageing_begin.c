#include "nbody6/run/ageing_begin.h"

#include "nbody6/input/config_stellar.h"
#include "nbody6/input/properties.h"
#include "nbody6/run/age_stars.h"
#include "nbody6/state/ageing.h"
#include "nbody6/state/body.h"
#include "nbody6/state/sim.h"
#include "stellar/stellar.h"

#include <math.h>

/* A mass that is at a limit of the fits but for rounding is there: masses went into N-body units and back. */
static const double ROUNDING = 1e-9;

/* ---- models ---- */

/* The model of a metallicity, which is made if it is new.   @return NBC_OK; NBC_BAD_INPUT; NBC_NO_MEMORY */
static int find_model(struct nb6_sim *sim, double z, int32_t *model, struct nbc_error *err)
{
    struct nb6_ageing *ageing = sim->ageing;
    struct stellar_options options;
    int k = 0;
    while (k < ageing->n_model && stellar_metallicity(ageing->model[k]) != z) k++;
    *model = k;
    if (k < ageing->n_model) return NBC_OK;
    if (k == NB6_METALLICITIES)
        return nbc_fail(err, NBC_BAD_INPUT,
                        "there are more than %d different metallicities among the stars: round them",
                        NB6_METALLICITIES);
    int status = nb6_config_stellar_options(&sim->run.config, sim->run.units.velocity_kms, &options, err);
    if (!status) status = stellar_create(z, &options, &ageing->model[k], err);
    if (!status) ageing->n_model++;
    return status;
}

/* ---- a star ---- */

/* Columns of stars in the data file; < 0: no such column. */
struct columns {
    const struct nb6_properties *properties;
    int type, mass_0, age, epoch_1, epoch, z;
};

static struct columns find_columns(const struct nb6_properties *p)
{
    return (struct columns){.properties = p,
                            .type = nb6_properties_find(p, "StellarType"),
                            .mass_0 = nb6_properties_find(p, "InitialStellarMass"),
                            .age = nb6_properties_find(p, "StellarAge"),
                            .epoch_1 = nb6_properties_find(p, "StellarEpoch"),
                            .epoch = nb6_properties_find(p, "BirthEpoch"),
                            .z = nb6_properties_find(p, "Metallicity")};
}

/* The value of a column for a star, or the one that takes its place. */
static double value_of(const struct columns *c, int column, int64_t name, int64_t near, double otherwise)
{
    const int64_t place = column >= 0 ? nb6_properties_place(c->properties, name, near) : -1;
    const double value = place >= 0 ? c->properties->value[column][place] : otherwise;
    return isfinite(value) ? value : otherwise;
}

static int refuse(int64_t name, const char *what, double value, const char *remedy, struct nbc_error *err)
{
    return nbc_fail(err, NBC_BAD_INPUT, "star %lld: stars that age (KZ(19) > 0) have no %s %g; %s", (long long)name,
                    what, value, remedy);
}

/* A star that is on its way: the file says since when, and with which mass it began. On the main sequence that is the
 * mass that it has: HPT, section 7.1. */
static int begin_evolved(struct nb6_sim *sim, const struct columns *c, int64_t i, int type, struct nbc_error *err)
{
    struct nb6_aged *aged = &sim->ageing->aged[i];
    const int64_t name = sim->star[i].name;
    const double epoch = value_of(c, c->epoch_1, name, i, value_of(c, c->epoch, name, i, 0));
    const double age = value_of(c, c->age, name, i, -epoch);
    struct nbc_error why = {0};
    if (age < 0) return refuse(name, "age", age, "give it in Myr, or the time of birth, 0 or less", err);
    aged->star = (struct stellar_star){.type = type,
                                       .name = name,
                                       .z = aged->star.z,
                                       .age_myr = age,
                                       .mass_track = type <= STELLAR_MS ? aged->mass
                                                                        : value_of(c, c->mass_0, name, i, aged->mass),
                                       .mass = aged->mass};
    const int status = stellar_evolve(sim->ageing->model[aged->model], &aged->star, 0, NULL, NULL, &why);
    if (!status) return NBC_OK;
    return nbc_fail(err, NBC_BAD_INPUT,
                    "star %lld, of type %d and %g Msun: %s; give its type, initial mass and epoch as they belong "
                    "together, or leave out its type (KEEP='none')",
                    (long long)name, type, aged->mass, why.text);
}

/* A star at zero age. */
static int begin_young(struct nb6_sim *sim, int64_t i, double birth_myr, struct nbc_error *err)
{
    struct nb6_aged *aged = &sim->ageing->aged[i];
    const double mass = fmin(fmax(aged->mass, STELLAR_MASS_LEAST), STELLAR_MASS_MOST);
    if (aged->mass > STELLAR_MASS_MOST * (1 + ROUNDING))
        return refuse(sim->star[i].name, "mass in Msun of", aged->mass, "at most 150; remove it, or set KZ(19)=0", err);
    return stellar_birth(sim->ageing->model[aged->model], sim->star[i].name, mass, birth_myr, &aged->star, err);
}

/* @param[in] t  when it comes: 0, or now for a star that a program adds */
static int begin_star(struct nb6_sim *sim, const struct columns *c, int64_t i, nb6_time t, struct nbc_error *err)
{
    struct nb6_aged *aged = &sim->ageing->aged[i];
    const struct nb6_stellar_config *config = &sim->run.config.stellar;
    const int64_t name = sim->star[i].name;
    const double type = value_of(c, c->type, name, i, STELLAR_MS), z = value_of(c, c->z, name, i, config->z);
    const double birth = t > 0 ? nb6_time_to_myr(sim, t) : value_of(c, c->epoch, name, i, config->epoch_0_myr);
    *aged = (struct nb6_aged){.mass = sim->body[i].mass * sim->run.units.mass_msun, .due = NB6_NEVER_DUE};
    if (type != floor(type) || type < -1 || type >= STELLAR_TYPES)
        return refuse(name, "type", type, "there are -1 to 15; correct it, or leave out types (KEEP='none')", err);
    if (!(z >= STELLAR_Z_LEAST && z <= STELLAR_Z_MOST))
        return refuse(name, "metallicity", z, "it is from 0.0001 to 0.03; correct it, or set KZ(19)=0", err);
    int status = find_model(sim, z, &aged->model, err);
    aged->star = (struct stellar_star){.name = name, .z = z, .mass = aged->mass};
    aged->ages =
        type == STELLAR_NONE || type > STELLAR_MS ? aged->mass > 0 : aged->mass >= STELLAR_MASS_LEAST * (1 - ROUNDING);
    if (status || !aged->ages) return status;
    const int has_age = value_of(c, c->age, name, i, value_of(c, c->epoch_1, name, i, 0)) != 0;
    if (type > STELLAR_MS) return begin_evolved(sim, c, i, (int)type, err);
    if (type >= 0 && has_age) return begin_evolved(sim, c, i, aged->mass < STELLAR_MASS_LOW ? 0 : 1, err);
    if (birth > nb6_time_to_myr(sim, t)) return refuse(name, "epoch", birth, "give a time of birth of 0 or less", err);
    return begin_young(sim, i, birth, err);
}

/* That of the star, where stars collide. */
static int set_radius(struct nb6_sim *sim, int64_t i, nb6_time t, struct nbc_error *err)
{
    const struct nb6_aged *aged = &sim->ageing->aged[i];
    struct stellar_view view;
    if (!sim->run.config.stellar.collide) return NBC_OK;
    const int status =
        nb6_ageing_view(sim->ageing, aged, fmax(nb6_time_to_myr(sim, t), aged->star.time_myr), &view, err);
    if (!status) sim->star[i].radius = nb6_ageing_radius(sim, &view);
    return status;
}

/* Stars that were born before have become older since. */
static int schedule(struct nb6_sim *sim, int64_t i, nb6_time t, struct nbc_error *err)
{
    struct nb6_aged *aged = &sim->ageing->aged[i];
    int status = set_radius(sim, i, t, err);
    if (status || !aged->ages) return status;
    if (aged->star.time_myr < nb6_time_to_myr(sim, t)) {
        aged->due = t;
        return NBC_OK;
    }
    return nb6_age_schedule(sim, aged, t, err);
}

int nb6_ageing_begin(struct nb6_sim *sim, struct nbc_error *err)
{
    if (!sim->run.config.stellar.evolve) return NBC_OK;
    const struct columns columns = find_columns(sim->run.properties);
    int status = nb6_ageing_create(sim, err);
    for (int64_t i = 0; i < sim->n && !status; i++) {
        status = begin_star(sim, &columns, i, 0, err);
        if (!status) status = schedule(sim, i, 0, err);
    }
    return status;
}

int nb6_ageing_resume(struct nb6_sim *sim, struct nbc_error *err)
{
    struct nb6_ageing *ageing = sim->ageing;
    const double now = nb6_time_to_myr(sim, sim->ti_reached);
    struct nbc_error why = {0};
    int status = NBC_OK;
    for (int64_t i = 0; ageing && i < sim->n && !status; i++) {
        struct nb6_aged *aged = &ageing->aged[i];
        struct stellar_view view;
        status = find_model(sim, aged->star.z, &aged->model, &why);
        if (!status) status = nb6_ageing_view(ageing, aged, fmax(now, aged->star.time_myr), &view, &why);
        if (!status) continue;
        return nbc_fail(err, status == NBC_NO_MEMORY ? status : NBC_FILE, "star %lld of the checkpoint: %s",
                        (long long)sim->star[i].name, why.text);
    }
    return NBC_OK;
}

int nb6_ageing_inherit(const struct nb6_sim *from, struct nb6_sim *to, struct nbc_error *err)
{
    if (!from->ageing) return NBC_OK;
    const struct columns nothing = find_columns(NULL);
    int status = nb6_ageing_create(to, err);
    for (int64_t i = 0, was = 0; i < to->n && !status; i++) {
        int64_t k = was;
        while (k < from->n && from->star[k].name != to->star[i].name) k++;
        if (k < from->n) {
            was = k + 1; /* stars that stay keep their order */
            to->ageing->aged[i] = from->ageing->aged[k];
            status = find_model(to, to->ageing->aged[i].star.z, &to->ageing->aged[i].model, err);
        } else {
            status = begin_star(to, &nothing, i, to->ti_now, err);
            if (!status) status = schedule(to, i, to->ti_now, err);
        }
    }
    return status;
}
