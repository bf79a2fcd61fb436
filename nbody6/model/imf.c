#include "nbody6/model/imf.h"

#include "common/nbc.h"
#include "nbody6/input/config.h"
#include "nbody6/model/random.h"

#include <math.h>

/* Below this |p ln(m2/m1)|, p = 1 - slope, a segment is taken as m^-1 with its first correction in p; the error of that
 * is the square of this number, and the cancellation just above is 1e-16 divided by it. */
static const double NEARLY_LOGARITHMIC = 1e-5;

/* Integral of (m/m1)^-slope dm/m1 from m1 to m2. */
static double segment_integral(double m1, double m2, double slope)
{
    const double p = 1.0 - slope, log_ratio = nb6_log(m2 / m1), e = p * log_ratio;
    if (fabs(e) < NEARLY_LOGARITHMIC) return log_ratio * (1.0 + 0.5 * e);
    return (nb6_exp(e) - 1.0) / p;
}

/* Mass below which the fraction u of a segment lies. */
static double segment_mass(double m1, double m2, double slope, double u)
{
    const double p = 1.0 - slope, log_ratio = nb6_log(m2 / m1), e = p * log_ratio;
    double m;
    if (fabs(e) < NEARLY_LOGARITHMIC) {
        m = m1 * nb6_exp(u * log_ratio * (1.0 + 0.5 * e * (1.0 - u)));
    } else {
        m = m1 * nb6_exp(nb6_log(1.0 + u * (nb6_exp(e) - 1.0)) / p);
    }
    return fmin(fmax(m, m1), m2);
}

static void set_kroupa_segments(double m_min, double m_max, struct nb6_imf *imf)
{
    static const double breaks[2] = {0.08, 0.5}, slopes[3] = {0.3, 1.3, 2.3};
    imf->n_segments = 0;
    imf->lower[0] = m_min;
    for (int k = 0; k < 3; k++) {
        const double end = k < 2 && breaks[k] < m_max ? breaks[k] : m_max;
        if (end < m_max && end <= imf->lower[imf->n_segments]) continue;
        imf->slope[imf->n_segments++] = slopes[k];
        imf->lower[imf->n_segments] = end;
        if (end == m_max) break;
    }
}

/* Numbers of stars of the segments, from the density at their lower ends, which is continuous. */
static void set_fractions(struct nb6_imf *imf)
{
    double density = 1.0;
    imf->fraction_below[0] = 0.0;
    for (int k = 0; k < imf->n_segments; k++) {
        const double m1 = imf->lower[k], m2 = imf->lower[k + 1], slope = imf->slope[k];
        imf->fraction_below[k + 1] = imf->fraction_below[k] + density * m1 * segment_integral(m1, m2, slope);
        density *= nb6_pow(m2 / m1, -slope);
    }
    const double all = imf->fraction_below[imf->n_segments];
    for (int k = 1; k < imf->n_segments; k++) imf->fraction_below[k] = all > 0.0 ? imf->fraction_below[k] / all : 1.0;
    imf->fraction_below[imf->n_segments] = 1.0;
}

/* The part of a generating function that lies between the limits. */
static int init_generator(const struct nb6_model_config *config, nb6_imf_generator *generator, struct nb6_imf *imf,
                          struct nbc_error *err)
{
    const double m_min = config->mass_min_msun, m_max = config->mass_max_msun;
    if (!(m_max > generator(1.0))) {
        return nbc_fail(err, NBC_BAD_INPUT, "BODY1: %g Msun: the mass function of %s has no stars below %g; raise it",
                        m_max, nb6_imf_name(config->imf), generator(1.0));
    }
    imf->generator = generator;
    imf->lower[0] = fmax(m_min, generator(1.0));
    imf->lower[1] = m_max;
    imf->w_least = nb6_imf_fraction_above(generator, m_min);
    imf->w_most = nb6_imf_fraction_above(generator, m_max);
    return NBC_OK;
}

int nb6_imf_init(const struct nb6_model_config *config, struct nb6_imf *imf, struct nbc_error *err)
{
    const double m_min = config->mass_min_msun, m_max = config->mass_max_msun;
    nb6_imf_generator *generator = nb6_imf_generator_of(config->imf);
    *imf = (struct nb6_imf){.n_segments = 1, .lower = {1.0, 1.0}, .fraction_below = {0.0, 1.0}};
    if (config->imf == NB6_IMF_EQUAL) return NBC_OK;
    if (!(m_min > 0.0) || !(m_max >= m_min) || !isfinite(m_max) || !isfinite(config->imf_alpha)) {
        return nbc_fail(err, NBC_BAD_INPUT,
                        "mass function of index ALPHAS = %g from BODYN = %g to BODY1 = %g Msun: "
                        "must be finite, 0 < BODYN <= BODY1",
                        config->imf_alpha, m_min, m_max);
    }
    if (generator) return init_generator(config, generator, imf, err);
    if (config->imf == NB6_IMF_KROUPA2001) {
        set_kroupa_segments(m_min, m_max, imf);
    } else {
        imf->lower[0] = m_min;
        imf->lower[1] = m_max;
        imf->slope[0] = config->imf_alpha;
    }
    set_fractions(imf);
    return NBC_OK;
}

double nb6_imf_mass(const struct nb6_imf *imf, double u)
{
    if (imf->generator) {
        const double m = imf->generator(imf->w_least - u * (imf->w_least - imf->w_most));
        return fmin(fmax(m, imf->lower[0]), imf->lower[1]);
    }
    int k = 0;
    while (k + 1 < imf->n_segments && u >= imf->fraction_below[k + 1]) k++;
    const double width = imf->fraction_below[k + 1] - imf->fraction_below[k];
    const double within = width > 0.0 ? (u - imf->fraction_below[k]) / width : 0.0;
    return segment_mass(imf->lower[k], imf->lower[k + 1], imf->slope[k], within);
}

const char *nb6_imf_name(enum nb6_imf_kind kind)
{
    switch (kind) {
    case NB6_IMF_EQUAL:
        return "equal masses";
    case NB6_IMF_POWER_LAW:
        return "power law";
    case NB6_IMF_KROUPA2001:
        return "Kroupa 2001";
    case NB6_IMF_MILLER_SCALO:
        return "Miller & Scalo 1979";
    case NB6_IMF_KROUPA1993:
        return "Kroupa, Tout & Gilmore 1993";
    case NB6_IMF_EGGLETON:
        return "Eggleton 2006";
    case NB6_IMF_EGGLETON_NBODY6:
        return "Eggleton as in NBODY6";
    }
    return "";
}

int nb6_imf_draws_companions(enum nb6_imf_kind kind)
{
    return kind != NB6_IMF_EQUAL && kind != NB6_IMF_POWER_LAW && kind != NB6_IMF_MILLER_SCALO;
}
