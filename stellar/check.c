#include "stellar/check.h"

#include "stellar/track.h"

#include <math.h>

static int all_finite(const double x[], int n)
{
    for (int k = 0; k < n; k++)
        if (!isfinite(x[k])) return 0;
    return 1;
}

int stellar_check_mass(double mass, double least, struct nbc_error *err)
{
    if (!isfinite(mass)) return nbc_fail(err, NBC_NON_FINITE, "a mass is NaN or infinite");
    if (mass < least)
        return nbc_fail(err, NBC_BAD_ARGUMENT, "mass %g Msun: the least that a star may have is %g", mass, least);
    if (mass > STELLAR_MASS_MOST)
        return nbc_fail(err, NBC_BAD_ARGUMENT, "mass %g Msun: the most that a star may have is %g", mass,
                        STELLAR_MASS_MOST);
    return NBC_OK;
}

int stellar_check_time(const struct stellar_star *star, double time_myr, struct nbc_error *err)
{
    if (!isfinite(time_myr)) return nbc_fail(err, NBC_NON_FINITE, "a time is NaN or infinite");
    if (time_myr < star->time_myr)
        return nbc_fail(err, NBC_BAD_ARGUMENT, "time %.17g Myr: the star has reached %.17g", time_myr, star->time_myr);
    if (time_myr - star->time_myr > STELLAR_AGE_MOST_MYR)
        return nbc_fail(err, NBC_BAD_ARGUMENT, "time %g Myr: a star goes on by at most %g at once", time_myr,
                        STELLAR_AGE_MOST_MYR);
    return NBC_OK;
}

/* Masses of a star that lives */
static int check_masses(const struct stellar_star *s, struct nbc_error *err)
{
    const double least = 1e-3, least_helium = 0.3, slack = 1 + 1e-9;
    int status = stellar_check_mass(s->mass, least, err);
    if (!status) status = stellar_check_mass(s->mass_track, least, err);
    if (status) return status;
    if (s->type >= STELLAR_HE_MS && s->type <= STELLAR_HE_GB && s->mass_track < least_helium)
        return nbc_fail(err, NBC_BAD_ARGUMENT, "mass %g Msun: helium does not burn below %g", s->mass_track,
                        least_helium);
    if (s->core_mass < 0 || s->core_mass > s->mass * slack)
        return nbc_fail(err, NBC_BAD_ARGUMENT, "core of %g Msun: it is from 0 to the mass, %g", s->core_mass, s->mass);
    if (s->co_core_mass < 0 || s->co_core_mass > s->mass * slack)
        return nbc_fail(err, NBC_BAD_ARGUMENT, "core of carbon and oxygen of %g Msun: it is from 0 to the mass, %g",
                        s->co_core_mass, s->mass);
    return NBC_OK;
}

/* The age of a star is within its phase, but for rounding. */
static int check_age(const struct stellar_model *model, const struct stellar_star *s, struct nbc_error *err)
{
    struct stellar_track track = {.kind = STELLAR_TRACK_NONE};
    double begin, end;
    stellar_track_make(model, s->type, s->mass_track, &track);
    if (!stellar_phase(&track, s->type, &begin, &end)) {
        begin = 0;
        end = HUGE_VAL;
    }
    const double slack = 1e-6 * (fabs(begin) + 1);
    if (s->age_myr < begin - slack || s->age_myr > end + slack)
        return nbc_fail(err, NBC_BAD_ARGUMENT, "age %g Myr: %s of a star of %g Msun is from %g to %g", s->age_myr,
                        stellar_type_text(s->type), s->mass_track, begin, end);
    return NBC_OK;
}

int stellar_check_star(const struct stellar_model *model, const struct stellar_star *star, struct nbc_error *err)
{
    const struct stellar_star *s = star;
    const double values[] = {s->z,         s->time_myr,     s->age_myr, s->mass_track, s->mass,
                             s->core_mass, s->co_core_mass, s->spin,    s->step_myr};
    if (!all_finite(values, sizeof values / sizeof values[0]))
        return nbc_fail(err, NBC_NON_FINITE, "a star has a value that is NaN or infinite");
    if (s->type < 0 || s->type >= STELLAR_TYPES)
        return nbc_fail(err, NBC_BAD_ARGUMENT, "type %d: there are 0 to %d", (int)s->type, STELLAR_TYPES - 1);
    if (s->z != model->fits.z)
        return nbc_fail(err, NBC_BAD_ARGUMENT, "metallicity %g: that of the model is %g", s->z, model->fits.z);
    if (s->age_myr < 0) return nbc_fail(err, NBC_BAD_ARGUMENT, "age %g Myr: it is at least 0", s->age_myr);
    if (s->step_myr < 0 || s->n_event < 0)
        return nbc_fail(err, NBC_BAD_ARGUMENT, "the step and the number of events of a star are at least 0");
    if (s->type == STELLAR_NONE) return NBC_OK;
    const int status = check_masses(s, err);
    return status ? status : check_age(model, s, err);
}

int stellar_check_view(const struct stellar_view *view, struct nbc_error *err)
{
    const double values[] = {view->mass,          view->luminosity, view->radius,
                             view->temperature_k, view->core_mass,  view->wind};
    if (!all_finite(values, sizeof values / sizeof values[0]) || isnan(view->ask_again_myr))
        return nbc_fail(err, NBC_BAD_ARGUMENT, "a state that no star can have: its luminosity or radius has no value");
    return NBC_OK;
}
