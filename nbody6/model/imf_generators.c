/* Mass functions that papers give as generating functions; imf.h has the sources. */
#include "nbody6/model/imf.h"

#include "nbody6/input/config.h"
#include "nbody6/model/random.h"

/* w is exact where few stars are left above a mass, 1 - w where few are below. */
static double power(double x, double exponent)
{
    return x > 0.0 ? nb6_pow(x, exponent) : 0.0;
}

static double miller_scalo(double w)
{
    return 0.19 * (1.0 - w) / (nb6_pow(w, 0.75) + 0.032 * nb6_pow(w, 0.25));
}

static double kroupa_tout_gilmore(double w)
{
    const double x = 1.0 - w;
    return 0.08 + (0.19 * power(x, 1.55) + 0.05 * power(x, 0.6)) / nb6_pow(w, 0.58);
}

static double eggleton(double w)
{
    return 0.3 * power((1.0 - w) / w, 0.55);
}

static double eggleton_of_nbody6(double w)
{
    return 0.3 * (1.0 - w) / nb6_pow(w, 0.55);
}

nb6_imf_generator *nb6_imf_generator_of(enum nb6_imf_kind kind)
{
    switch (kind) {
    case NB6_IMF_MILLER_SCALO:
        return miller_scalo;
    case NB6_IMF_KROUPA1993:
        return kroupa_tout_gilmore;
    case NB6_IMF_EGGLETON:
        return eggleton;
    case NB6_IMF_EGGLETON_NBODY6:
        return eggleton_of_nbody6;
    default:
        return NULL;
    }
}

/* Bisection of ln w, from e^-700 on: no mass that an input may have lies above that, and it ends when no number is left
 * between the two ends. */
double nb6_imf_fraction_above(nb6_imf_generator *generator, double mass)
{
    double low = -700.0, high = 0.0, middle;
    if (!(mass > generator(1.0))) return 1.0;
    while ((middle = low + 0.5 * (high - low)) > low && middle < high) {
        if (generator(nb6_exp(middle)) > mass)
            low = middle;
        else
            high = middle;
    }
    return nb6_exp(high);
}
