#include "stellar/collapse.h"

#include <math.h>

/* Mass that collapses at first, and the fraction of the rest that falls back */
struct stages {
    double proto, fallback;
};

static double ramp(double x, double x0, double x1)
{
    return fmax(0, fmin(1, (x - x0) / (x1 - x0)));
}

/* NSFLAG 0: HPT eq. 92 */
static struct stages hurley(double mc_co)
{
    return (struct stages){1.17 + 0.09 * mc_co, 0};
}

/* NSFLAG 1: Belczynski, Kalogera & Bulik 2002, ApJ 572, 407 */
static struct stages belczynski2002(double mc_co)
{
    const double iron = mc_co < 2.5 ? 0.161767 * mc_co + 1.067055 : 0.314154 * mc_co + 0.686088;
    return (struct stages){iron, ramp(mc_co, 5, 7.6)};
}

/* NSFLAG 2: Belczynski et al. 2008, ApJS 174, 223 */
static struct stages belczynski2008(double mc_co)
{
    double iron = 1.5;
    if (mc_co >= 6.75)
        iron = 0.37 * mc_co - 0.07;
    else if (mc_co >= 6.31)
        iron = 0.69 * mc_co - 2.26;
    else if (mc_co >= 4.82)
        iron = 2.11;
    return (struct stages){iron, ramp(mc_co, 5, 7.6)};
}

/* Fraction that falls back: a mass of it, but not more than there is */
static double as_fraction(double mass, double of)
{
    return of > 0 ? fmin(1, mass / of) : 0;
}

/* NSFLAG 3: Fryer et al. 2012, ApJ 749, 91, eqs. 15 and 16 */
static struct stages rapid(double mass, double mc_co)
{
    const double proto = 1, rest = mass - proto, a = 0.25 - 1.275 / rest;
    double fallback = 1;
    if (mc_co < 2.5)
        fallback = as_fraction(0.2, rest);
    else if (mc_co < 6)
        fallback = as_fraction(0.286 * mc_co - 0.514, rest);
    else if (mc_co >= 7 && mc_co < 11)
        fallback = a * mc_co + 1 - 11 * a;
    return (struct stages){proto, fallback};
}

/* NSFLAG 4: Fryer et al. 2012, eqs. 18 and 19 */
static struct stages delayed(double mass, double mc_co)
{
    const double proto = mc_co < 3.5 ? 1.2 : mc_co < 6 ? 1.3 : mc_co < 11 ? 1.4 : 1.6;
    const double rest = mass - proto, a = 0.133 - 0.093 / rest;
    double fallback = 1;
    if (mc_co < 2.5)
        fallback = as_fraction(0.2, rest);
    else if (mc_co < 3.5)
        fallback = as_fraction(0.5 * mc_co - 1.05, rest);
    else if (mc_co < 11)
        fallback = a * mc_co + 1 - 11 * a;
    return (struct stages){proto, fallback};
}

static struct stages stages_of(int nsflag, double mass, double mc_co)
{
    switch (nsflag) {
    case 0:
        return hurley(mc_co);
    case 1:
        return belczynski2002(mc_co);
    case 2:
        return belczynski2008(mc_co);
    case 3:
        return rapid(mass, mc_co);
    default:
        return delayed(mass, mc_co);
    }
}

/* Gravitational mass of a neutron star of a baryonic mass: Lattimer & Yahil 1989, Fryer et al. 2012, eq. 13 */
static double bound_neutron_star(double baryonic)
{
    return (sqrt(1 + 0.3 * baryonic) - 1) / 0.15;
}

/* Helium cores that pulse by pair instability before they collapse, and what they keep. PSFLAG 1: Belczynski et al.
 * 2016, A&A 594, A97. PSFLAG 2 and 3: moderate and weak pulses of Leung, Nomoto & Blinnikov 2019, ApJ 887, 72, in the
 * fits of Belczynski et al. 2020, A&A 636, A104. */
static double least_pulsing(int psflag)
{
    return psflag == 1 ? 45 : 40;
}

static double pulsed_mass(int psflag, double mc_he)
{
    if (psflag == 1) return 45;
    if (mc_he < 60) return psflag == 2 ? 0.65 * mc_he + 12.2 : 0.83 * mc_he + 6.0;
    if (mc_he < 62.5) return psflag == 2 ? 51.2 : 55.6;
    return (psflag == 2 ? 938.0 : 938.1) - 14.3 * mc_he;
}

/* Neutron star or black hole of a baryonic mass. Fryer et al. 2012, eqs. 13 and 14, from NSFLAG 2 on */
static void settle(const struct stellar_options *o, double baryonic, struct stellar_collapse *left)
{
    const double most = o->nsflag == 0 ? o->mxns0 : o->mxns1;
    left->mass = o->nsflag >= 2 ? bound_neutron_star(baryonic) : baryonic;
    left->type = left->mass <= most ? STELLAR_NS : STELLAR_BH;
    if (left->type == STELLAR_BH && o->nsflag >= 2) left->mass = 0.9 * baryonic;
}

void stellar_collapse_make(const struct stellar_model *model, const struct stellar_progenitor *star,
                           struct stellar_collapse *left)
{
    const struct stellar_options *o = &model->options;
    *left = (struct stellar_collapse){STELLAR_NONE, STELLAR_SUPERNOVA, 0, 0, star->mc_co};
    if (star->mc_bagb < 1.6) { /* HPT, section 6: a degenerate core of carbon and oxygen */
        left->kind = STELLAR_DISRUPTION;
        return;
    }
    if (o->psflag && star->mc_he > 65 && star->mc_he <= 135) {
        left->kind = STELLAR_PAIR_INSTABILITY;
        return;
    }
    if (o->psflag && star->mc_he >= least_pulsing(o->psflag) && star->mc_he <= 65) {
        left->fallback = 1;
        settle(o, fmin(star->mass, pulsed_mass(o->psflag, star->mc_he)), left);
        return;
    }
    if (o->ecflag && star->mc_bagb < 2.25) { /* Belczynski et al. 2008 */
        left->kind = STELLAR_ELECTRON_CAPTURE;
        left->type = STELLAR_NS;
        left->mass = fmin(1.26, star->mass);
        return;
    }
    const struct stages s = stages_of(o->nsflag, star->mass, star->mc_co);
    left->fallback = s.fallback;
    settle(o, fmin(star->mass, s.proto + s.fallback * fmax(0, star->mass - s.proto)), left);
}
