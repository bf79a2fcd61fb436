#include "nbody6/output/snapshot_stars.h"

#include "nbody6/analysis/frame.h"
#include "nbody6/input/properties.h"
#include "nbody6/state/ageing.h"
#include "nbody6/state/sim.h"
#include "stellar/stellar.h"

#include <math.h>
#include <string.h>

/* A file with these columns begins a run (run/ageing_begin.c). */
enum { TYPE, MASS_0, AGE, Z, CORE, RADIUS, LUMINOSITY, TEMPERATURE, COLUMNS };

static const struct nb6_property columns[COLUMNS] = {
    [TYPE] = {"StellarType", "1", "type of the star, with the numbers of Hurley, Pols & Tout 2000"},
    [MASS_0] = {"InitialStellarMass", "Msun", "mass by which the star is on its track"},
    [AGE] = {"StellarAge", "Myr", "age on its track: since zero age, helium ignition, or since it is a remnant"},
    [Z] = {"Metallicity", "1", "mass fraction of heavy elements at birth"},
    [CORE] = {"CoreMass", "Msun", "mass of the core; of a remnant all of it"},
    [RADIUS] = {"StellarRadius", "Rsun", "radius of the star"},
    [LUMINOSITY] = {"StellarLuminosity", "Lsun", "luminosity"},
    [TEMPERATURE] = {"EffectiveTemperature", "K", "effective temperature"}};

/* Columns of a data file that these take the place of, or that would say what is not true any more. */
static int is_replaced(const char *name)
{
    static const char *const stale[] = {"StellarEpoch", "BirthEpoch", "StellarSpin"};
    for (int k = 0; k < COLUMNS; k++)
        if (strcmp(name, columns[k].name) == 0) return 1;
    for (size_t k = 0; k < sizeof stale / sizeof stale[0]; k++)
        if (strcmp(name, stale[k]) == 0) return 1;
    return 0;
}

static int copy_kept(const struct nb6_sim *sim, struct nb6_properties *to, struct nbc_error *err)
{
    const struct nb6_properties *from = sim->run.properties;
    int status = NBC_OK;
    for (int k = 0; from && k < from->count && !status; k++) {
        double *value;
        if (is_replaced(from->column[k].name)) continue;
        status = nb6_properties_add(to, &from->column[k], &value, err);
        for (int64_t i = 0; i < to->n && !status; i++) {
            const int64_t place = nb6_properties_place(from, to->name[i], i);
            if (place >= 0) value[i] = from->value[k][place];
        }
    }
    return status;
}

static int set_star(const struct nb6_sim *sim, int64_t i, double t_myr, double *const *value, struct nbc_error *err)
{
    const struct nb6_aged *aged = &sim->ageing->aged[i];
    struct stellar_view view;
    const int status = nb6_ageing_view(sim->ageing, aged, t_myr, &view, err);
    if (status) return status;
    value[TYPE][i] = aged->ages ? view.type : aged->mass > 0 ? STELLAR_MS_LOW : STELLAR_NONE;
    value[MASS_0][i] = aged->ages ? aged->star.mass_track : aged->mass;
    value[AGE][i] = aged->star.age_myr + (aged->ages ? t_myr - aged->star.time_myr : t_myr);
    value[Z][i] = aged->star.z;
    value[CORE][i] = view.core_mass;
    value[RADIUS][i] = view.radius;
    value[LUMINOSITY][i] = view.luminosity;
    value[TEMPERATURE][i] = view.temperature_k;
    return NBC_OK;
}

static int add_stars(const struct nb6_sim *sim, const struct nb6_frame *frame, struct nb6_properties *to,
                     struct nbc_error *err)
{
    const double t_myr = frame->t * sim->run.units.time_myr;
    double *value[COLUMNS];
    int64_t failed = to->n;
    int status = NBC_OK;
    for (int k = 0; k < COLUMNS && !status; k++) status = nb6_properties_add(to, &columns[k], &value[k], err);
    if (status) return status;
#pragma omp parallel for schedule(dynamic, 64) if (to->n > 1024)
    for (int64_t i = 0; i < to->n; i++)
        if (set_star(sim, i, t_myr, value, NULL))
#pragma omp critical(snapshot_stars)
            if (i < failed) failed = i;
    return failed < to->n ? set_star(sim, failed, t_myr, value, err) : NBC_OK;
}

int nb6_snapshot_stars(const struct nb6_sim *sim, const struct nb6_frame *frame, struct nb6_properties **properties,
                       struct nbc_error *err)
{
    int status = nb6_properties_create(frame->n, frame->name, properties, err);
    if (!status) status = copy_kept(sim, *properties, err);
    if (!status) status = add_stars(sim, frame, *properties, err);
    if (!status) return NBC_OK;
    nb6_properties_free(*properties);
    *properties = NULL;
    return status;
}
