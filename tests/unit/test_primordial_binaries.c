/* Axes, eccentricities and periods of the binaries that a model begins with (nbody6/model/model_binaries.c). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>

#include "common/nbc.h"
#include "nbody6/input/config.h"
#include "nbody6/input/units.h"
#include "nbody6/model/imf.h"
#include "nbody6/model/model.h"
#include "tests/support/cluster.h"

struct orbit {
    double a, e;
};

static struct orbit orbit_of(const struct nb6_model *model, int64_t i)
{
    double x[3], v[3], m = model->mass[i] + model->mass[i + 1], r2 = 0, v2 = 0, xv = 0;
    for (int k = 0; k < 3; k++) {
        x[k] = model->x[i][k] - model->x[i + 1][k];
        v[k] = model->v[i][k] - model->v[i + 1][k];
        r2 += x[k] * x[k];
        v2 += v[k] * v[k];
        xv += x[k] * v[k];
    }
    double r = sqrt(r2), a = 1 / (2 / r - v2 / m);
    return (struct orbit){a, sqrt(pow(1 - r / a, 2) + xv * xv / (m * a))};
}

static int ascending(const void *p, const void *q)
{
    double x = *(const double *)p, y = *(const double *)q;
    return (x > y) - (x < y);
}

/* Largest distance of the empirical from the expected distribution function; `cumulative` is destroyed. Of 2000 values
 * it exceeds 0.0436 by chance in one case of a thousand (Kolmogorov). */
static void assert_distributed(double *cumulative, int64_t n)
{
    double worst = 0;
    qsort(cumulative, (size_t)n, sizeof *cumulative, ascending);
    for (int64_t k = 0; k < n; k++) worst = fmax(worst, fabs(cumulative[k] - ((double)k + 0.5) / (double)n));
    assert_true(worst < 1.95 / sqrt((double)n));
}

enum { BINARIES = 2000 };

static void make_binaries(struct nb6_config *config, struct nb6_model *model)
{
    struct nbc_error err = {0};
    config->model.n = BINARIES + 100;
    config->binaries.n = BINARIES;
    if (nb6_model_make(config, model, &err)) fail_msg("%s", err.text);
    assert_int_equal(model->n, 2 * BINARIES + 100);
}

static void axes_and_eccentricities(void **state)
{
    (void)state;
    struct nb6_config config;
    struct nb6_model model;
    static double a[BINARIES], e[BINARIES];
    cluster_config_with_binaries(&config, 100, 10);
    config.binaries.semi_max = 1e-4;
    config.binaries.range = 100;
    make_binaries(&config, &model);
    for (int64_t i = 0; i < BINARIES; i++) {
        struct orbit o = orbit_of(&model, 2 * i);
        a[i] = log(1e-4 / o.a) / log(100);
        e[i] = o.e * o.e; /* thermal */
        assert_true(model.mass[2 * i] == model.mass[2 * i + 1]);
    }
    assert_true(fabs(model.mass[0] / model.mass[2 * BINARIES] - 1) < 1e-12); /* RATIO = 1: all stars are equal */
    assert_distributed(a, BINARIES);
    assert_distributed(e, BINARIES);
    nb6_model_free(&model);
    config.binaries.ecc = 0.7;
    config.binaries.range = 0;
    config.binaries.ratio = 0.8;
    make_binaries(&config, &model);
    for (int64_t i = 0; i < BINARIES; i++) {
        struct orbit o = orbit_of(&model, 2 * i);
        /* positions of order 1 are rounded to 1e-16, and 1e-4 apart */
        assert_true(fabs(o.a / 1e-4 - 1) < 1e-9 && fabs(o.e - 0.7) < 1e-9);
        assert_true(fabs(model.mass[2 * i] / (model.mass[2 * i] + model.mass[2 * i + 1]) - 0.8) < 1e-12);
    }
    nb6_model_free(&model);
}

/* log10 P in days of the laws of KZ(42) by their distribution functions. */
static double fraction_below(enum nb6_binary_period law, double y)
{
    switch (law) {
    case NB6_BINARY_LOG_PERIOD:
        return 0.01719 * y * y;
    case NB6_BINARY_PERIOD_100:
        return 1.75 * log(1 + y * y / 100);
    case NB6_BINARY_PERIOD_2_3:
        return 1.15 * log(1 + (y - 1) * (y - 1) / 45);
    case NB6_BINARY_KROUPA1995:
        return 1.25 * log(1 + (y - 1) * (y - 1) / 45);
    default: {
        double low = erf((1 - 4.8) / 2.3 / sqrt(2)), high = erf((10 - 4.8) / 2.3 / sqrt(2));
        return (erf((y - 4.8) / 2.3 / sqrt(2)) - low) / (high - low);
    }
    }
}

static void periods(void **state)
{
    (void)state;
    static double u[BINARIES];
    for (int law = NB6_BINARY_LOG_PERIOD; law <= NB6_BINARY_DUQUENNOY_MAYOR1991; law++) {
        struct nb6_config config;
        struct nb6_model model;
        cluster_config_with_binaries(&config, 100, 10);
        config.binaries.period = (enum nb6_binary_period)law;
        config.binaries.ecc = 0;
        make_binaries(&config, &model);
        struct nb6_units units = nb6_units_from(model.rbar_pc, model.zmbar_msun, model.n);
        for (int64_t i = 0; i < BINARIES; i++) {
            struct orbit o = orbit_of(&model, 2 * i);
            double m = model.mass[2 * i] + model.mass[2 * i + 1];
            double days = 2 * M_PI * sqrt(o.a * o.a * o.a / m) * units.time_myr * 365.25e6;
            u[i] = fraction_below((enum nb6_binary_period)law, log10(days));
        }
        assert_distributed(u, BINARIES);
        nb6_model_free(&model);
    }
}

/* Masses of Kroupa 2001 between 0.1 and 10 Msun, of systems with companions chosen by KZ(20) = 6, 7, 8. The same seed
 * gives the same draws, so that correlated pairs are those of random pairs with another mass ratio. */
static void mass_ratios(void **state)
{
    (void)state;
    struct nb6_model model[3];
    static double u[BINARIES];
    for (int pairing = 0; pairing < 3; pairing++) {
        struct nb6_config config;
        cluster_config_with_binaries(&config, 100, 10);
        config.model.imf = NB6_IMF_KROUPA2001;
        config.model.mass_min_msun = 0.1;
        config.model.mass_max_msun = 10;
        config.binaries.pairing = (enum nb6_binary_pairing)pairing;
        make_binaries(&config, &model[pairing]);
    }
    for (int64_t i = 0; i < BINARIES; i++) {
        const double *random = model[NB6_PAIRING_RANDOM].mass + 2 * i,
                     *other = model[NB6_PAIRING_CORRELATED].mass + 2 * i;
        assert_true(fabs((random[0] + random[1]) / (other[0] + other[1]) - 1) < 1e-12);
        assert_true(fabs(other[0] / other[1] / pow(random[0] / random[1], 0.4) - 1) < 1e-12);
        const double *drawn = model[NB6_PAIRING_MASS_RATIO].mass + 2 * i, q = drawn[1] / drawn[0];
        const double msun = model[NB6_PAIRING_MASS_RATIO].zmbar_msun * (double)model[NB6_PAIRING_MASS_RATIO].n;
        const double least = 0.1 / (drawn[0] * msun); /* of this primary */
        assert_true(q <= 1 && drawn[1] * msun > 0.1 * (1 - 1e-12));
        u[i] = (pow(q, 0.6) - pow(least, 0.6)) / (1 - pow(least, 0.6));
    }
    assert_distributed(u, BINARIES);
    for (int k = 0; k < 3; k++) nb6_model_free(&model[k]);
}

/* The companions of KZ(20) = 2 are drawn from its mass function; those of KZ(20) = 1 share one mass (RATIO). */
static void companions_of_other_mass_functions(void **state)
{
    (void)state;
    struct nb6_config config;
    struct nb6_model model;
    static double u[BINARIES];
    cluster_config_with_binaries(&config, 100, 10);
    config.model.imf = NB6_IMF_KROUPA1993;
    config.model.mass_min_msun = 0.1;
    config.model.mass_max_msun = 10;
    make_binaries(&config, &model);
    nb6_imf_generator *generator = nb6_imf_generator_of(NB6_IMF_KROUPA1993);
    const double most = nb6_imf_fraction_above(generator, 0.1), least = nb6_imf_fraction_above(generator, 10);
    for (int64_t i = 0; i < BINARIES; i++) {
        const double msun = model.mass[2 * i + 1] * model.zmbar_msun * (double)model.n;
        u[i] = (most - nb6_imf_fraction_above(generator, msun)) / (most - least);
    }
    assert_distributed(u, BINARIES);
    nb6_model_free(&model);
    config.model.imf = NB6_IMF_MILLER_SCALO;
    config.binaries.ratio = 0.75;
    make_binaries(&config, &model);
    for (int64_t i = 0; i < BINARIES; i++) assert_true(fabs(model.mass[2 * i] / model.mass[2 * i + 1] - 3) < 1e-12);
    nb6_model_free(&model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(axes_and_eccentricities),
        cmocka_unit_test(periods),
        cmocka_unit_test(mass_ratios),
        cmocka_unit_test(companions_of_other_mass_functions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
