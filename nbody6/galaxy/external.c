#include "nbody6/galaxy/external.h"

#include "common/nbc.h"
#include "nbody6/galaxy/field_family.h"
#include "nbody6/galaxy/potential.h"
#include "nbody6/input/config.h"
#include "nbody6/input/units.h"

#include <math.h>
#include <stddef.h>

#define MISSING(number, meaning)
#define POTENTIAL(number, name, family, meaning) extern const struct nb6_potential nb6_potential_##name;
#include "nbody6/input/potentials.def"
#undef POTENTIAL

/* By their numbers in KZ(14), which a field keeps as its kind. */
static const struct nb6_potential *const potentials[] = {
#define POTENTIAL(number, name, family, meaning) [number] = &nb6_potential_##name,
#include "nbody6/input/potentials.def"
};

int nb6_external_is_known(int kind)
{
    return kind >= 0 && (size_t)kind < sizeof potentials / sizeof potentials[0] && potentials[kind];
}

int nb6_external_make(const struct nb6_config *config, const struct nb6_units *units, struct nb6_external *external,
                      struct nbc_error *err)
{
    const int kind = (int)config->tide.kind;
    if (!nb6_external_is_known(kind))
        return nbc_fail(err, NBC_BAD_INPUT, "KZ(14): there is no external potential of number %d", kind);
    *external = (struct nb6_external){.active = 1, .kind = kind};
    return potentials[kind]->make(config, units, external, err);
}

int nb6_external_is_for_devices(int kind)
{
    return nb6_external_is_known(kind) && nb6_field_family(kind) != NB6_FIELD_OTHER;
}

int nb6_external_acts_on_members(const struct nb6_external *external)
{
    return external->active && nb6_field_family(external->kind) != NB6_FIELD_LINEAR;
}

int nb6_external_does_work(const struct nb6_external *external)
{
    const struct nb6_potential *potential = potentials[external->kind];
    return external->active && potential->does_work && potential->does_work(external);
}

void nb6_external_describe(const struct nb6_config *config, char text[NB6_EXTERNAL_TEXT])
{
    potentials[config->tide.kind]->describe(config, text);
}

int nb6_external_extend_to(struct nb6_external *external, double t, struct nbc_error *err)
{
    return potentials[external->kind]->extend_to ? potentials[external->kind]->extend_to(external, t, err) : NBC_OK;
}

double nb6_external_known_until(const struct nb6_external *external)
{
    return potentials[external->kind]->known_until ? potentials[external->kind]->known_until(external) : INFINITY;
}

double nb6_external_longest_step(const struct nb6_external *external, double t)
{
    return potentials[external->kind]->longest_step ? potentials[external->kind]->longest_step(external, t) : INFINITY;
}

double nb6_external_jump(const struct nb6_external *external)
{
    return potentials[external->kind]->jump ? potentials[external->kind]->jump(external) : INFINITY;
}

double nb6_external_work(const struct nb6_external *external, const struct nb6_moment *from,
                         const struct nb6_moment *to)
{
    return potentials[external->kind]->work ? potentials[external->kind]->work(external, from, to) : 0;
}

void nb6_external_force(const struct nb6_external *external, double t, const double x[3], const double v[3],
                        const double acc[3], double ext_acc[3], double ext_jerk[3])
{
    potentials[external->kind]->force(external, t, x, v, acc, ext_acc, ext_jerk);
}

double nb6_external_noise(const struct nb6_external *external, double t, const double x[3], const double v[3])
{
    return external->active ? potentials[external->kind]->noise(external, t, x, v) : 0;
}

void nb6_external_relative(const struct nb6_external *external, double t, const double centre[2][3], const double x[3],
                           const double v[3], const double xdot[3], const double acc[3], double ext_acc[3],
                           double ext_jerk[3])
{
    potentials[external->kind]->relative(external, t, centre, x, v, xdot, acc, ext_acc, ext_jerk);
}

void nb6_external_higher(const struct nb6_external *external, double t, const double x[3], const double v[3],
                         const double acc[3], const double jerk[3], const double inner[3], double snap[3],
                         double crackle[3])
{
    potentials[external->kind]->higher(external, t, x, v, acc, jerk, inner, snap, crackle);
}

double nb6_external_potential(const struct nb6_external *external, double t, const double x[3])
{
    return potentials[external->kind]->potential(external, t, x);
}

double nb6_external_relative_potential(const struct nb6_external *external, double t, const double centre[3],
                                       const double x[3])
{
    return potentials[external->kind]->relative_potential(external, t, centre, x);
}

void nb6_external_rate(const struct nb6_external *external, double t, const double centre[2][3], const double x[3],
                       const double xdot[3], const double acc[3], const double jerk[3], double rate[2])
{
    rate[0] = rate[1] = 0;
    if (potentials[external->kind]->rate)
        potentials[external->kind]->rate(external, t, centre, x, xdot, acc, jerk, rate);
}

int nb6_external_scale(const struct nb6_external *external, double t, const double centre[2][3],
                       struct nb6_external_scale *scale)
{
    if (!potentials[external->kind]->scale) return 0;
    potentials[external->kind]->scale(external, t, centre, scale);
    return 1;
}

int nb6_external_expand(const struct nb6_external *external, double t, const double x[3],
                        struct nb6_external_series *series)
{
    const struct nb6_potential *potential = potentials[external->kind];
    return external->active && potential->expand && potential->expand(external, t, x, series);
}

double nb6_external_near_time(const struct nb6_external *external, double t, const double centre[2][3])
{
    const struct nb6_potential *potential = potentials[external->kind];
    return external->active && potential->near_time ? potential->near_time(external, t, centre) : 0;
}

int nb6_external_near(const struct nb6_external *external, const struct nb6_external_series *series, double t,
                      const double centre[2][3], int n, const double mass[], const double (*x)[3],
                      const double (*xdot)[3], double acc[][3], double jerk[][3], double power[2])
{
    return potentials[external->kind]->near(external, series, t, centre, n, mass, x, xdot, acc, jerk, power);
}

double nb6_external_strongest(const struct nb6_external *external, double t, const double x[3])
{
    return potentials[external->kind]->strongest(external, t, x);
}

double nb6_external_tidal_radius(const struct nb6_external *external, double mass)
{
    return external->active && external->t_x > 0 ? cbrt(mass / external->t_x) : 0;
}
