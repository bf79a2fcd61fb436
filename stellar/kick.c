/* Kicks and spins at birth. */
#include "stellar/collapse.h"

#include <math.h>

static void maxwellian(double dispersion, struct stellar_random *random, double kick[3])
{
    for (int k = 0; k < 3; k++) kick[k] = dispersion * stellar_random_normal(random);
}

/* Factor of a kick if BHFLAG is 2 or more, by KMECH: Banerjee et al. 2020, A&A 639, A41 */
static double mechanism(const struct stellar_options *o, const struct stellar_collapse *left)
{
    const double m_ns = 1.4, convection = 5, collapse = 0.1, m_neutrino = 7;
    const double ejected = 1 - left->fallback, scaled = m_ns / left->mass * ejected;
    switch (o->kmech) {
    case 1:
        return ejected;
    case 2:
        return left->mc_co > 3.5 ? convection * scaled : scaled;
    case 3:
        return left->mc_co > 3.0 ? collapse * scaled : scaled;
    default:
        return fmin(m_neutrino, left->mass) / left->mass;
    }
}

static double kick_factor(const struct stellar_options *o, const struct stellar_collapse *left)
{
    if (left->kind == STELLAR_ELECTRON_CAPTURE) return 1;
    if (left->type == STELLAR_BH && o->bhflag == 0) return 0;
    return o->bhflag >= 2 ? mechanism(o, left) : 1;
}

void stellar_kick_collapse(const struct stellar_options *options, const struct stellar_collapse *left,
                           struct stellar_random *random, double kick[3])
{
    maxwellian(left->kind == STELLAR_ELECTRON_CAPTURE ? options->ecsig : options->disp, random, kick);
    const double factor = left->type == STELLAR_NONE ? 0 : kick_factor(options, left);
    for (int k = 0; k < 3; k++) kick[k] *= factor;
}

void stellar_kick_white_dwarf(const struct stellar_options *options, int type, struct stellar_random *random,
                              double kick[3])
{
    maxwellian(type == STELLAR_ONE_WD ? options->wdsig2 : options->wdsig1, random, kick);
    const double size = sqrt(kick[0] * kick[0] + kick[1] * kick[1] + kick[2] * kick[2]);
    if (size <= options->wdkmax) return;
    for (int k = 0; k < 3; k++) kick[k] *= options->wdkmax / size;
}

/* Rows of metallicity: z from which on they hold, the four constants of a fit, the core mass of its breaks.
 * Belczynski et al. 2020, A&A 636, A104 */
static double spin_geneva(double z, double mc_co)
{
    static const double ROW[4][5] = {{0.010, 2.258, 16.0, 24.2, 0.13},
                                     {0.004, 3.578, 31.0, 37.8, 0.25},
                                     {0.0012, 2.434, 18.0, 27.7, 0.0},
                                     {0.0, 3.666, 32.0, 38.8, 0.25}};
    int k = 0;
    while (z < ROW[k][0]) k++;
    if (mc_co <= ROW[k][2]) return 0.85;
    return mc_co < ROW[k][3] ? ROW[k][1] - 0.088 * mc_co : ROW[k][4];
}

static double spin_mesa(double z, double mc_co)
{
    if (z >= 0.010) return fmax(0, 0.115 - 0.0016 * mc_co);
    if (z >= 0.004) return fmax(0, 0.105 - 0.0006 * mc_co);
    if (z >= 0.0012) return mc_co <= 12.09 ? 0.050 + 0.0076 * mc_co : fmax(0, 0.165 - 0.0019 * mc_co);
    return fmax(0, 0.125 - 0.0010 * mc_co);
}

/* A draw from 0 to 1; others are drawn anew, some tens of times at most. */
static double spin_normal(struct stellar_random *random)
{
    const double mean = 0.5, dispersion = 0.2;
    for (int tries = 0; tries < 64; tries++) {
        const double spin = mean + dispersion * stellar_random_normal(random);
        if (spin >= 0 && spin <= 1) return spin;
    }
    return mean;
}

static double spin_maxwellian(struct stellar_random *random)
{
    const double dispersion = 0.2;
    double v[3];
    maxwellian(dispersion, random, v);
    return fmin(1, sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]));
}

/* Spins that BHFLAG brings with it from 3 on, as BHSPINFL counts them, which has no number for the last one */
enum { SPIN_GENEVA = 4, SPIN_MESA = 5, SPIN_FULLER = 6 };

/* BHSPINFL, unless that is 0 and BHFLAG brings spins */
static int spins_of(const struct stellar_options *o)
{
    static const int BROUGHT[] = {0, 0, 0, SPIN_GENEVA, SPIN_MESA, SPIN_FULLER};
    return o->bhspinfl ? o->bhspinfl : BROUGHT[o->bhflag];
}

double stellar_birth_spin(const struct stellar_model *model, const struct stellar_collapse *left,
                          struct stellar_random *random)
{
    if (left->type != STELLAR_BH) return 0;
    switch (spins_of(&model->options)) {
    case 1:
        return stellar_random_uniform(random);
    case 2:
        return spin_normal(random);
    case 3:
        return spin_maxwellian(random);
    case SPIN_GENEVA:
        return spin_geneva(model->fits.z, left->mc_co);
    case SPIN_MESA:
        return spin_mesa(model->fits.z, left->mc_co);
    case SPIN_FULLER: /* Fuller & Ma 2019, ApJ 881, L1 */
        return 0.01;
    default:
        return 0;
    }
}
