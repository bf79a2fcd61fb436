/* Primordial binaries: systems that are one body to the model, and two stars to the run. */
#include "common/nbc.h"
#include "nbody6/input/config.h"
#include "nbody6/input/units.h"
#include "nbody6/model/imf.h"
#include "nbody6/model/model.h"
#include "nbody6/model/model_parts.h"
#include "nbody6/model/random.h"

#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846
static const double DAYS_PER_MYR = 365.25e6;

/* NBODY6 draws no outer orbit of a triple that is more eccentric: at its pericentre it would meet the inner one in
 * every period, and between them nothing would be perturbed that could be looked after. */
static const double OUTER_ECCENTRICITY = 0.9;

/* ---- masses */

/* The second star's share of a binary whose first star has been drawn; `mass` becomes that of both. */
static double draw_companion(const struct nb6_config *config, const struct nb6_imf *imf, nb6_random_t *random,
                             double *mass)
{
    const double first = *mass, u = nb6_random_uniform(random);
    double second;
    if (config->binaries.pairing == NB6_PAIRING_MASS_RATIO) {
        /* density 0.6 q^-0.4: u = q^0.6, from the least q on */
        const double least = nb6_pow(fmin(imf->lower[0] / first, 1.0), 0.6);
        second = first * fmin(nb6_pow(least + u * (1.0 - least), 1.0 / 0.6), 1.0);
        *mass = first + second;
        return second / *mass;
    }
    second = nb6_imf_mass(imf, u);
    *mass = first + second;
    if (config->binaries.pairing == NB6_PAIRING_CORRELATED) return 1.0 / (1.0 + nb6_pow(first / second, 0.4));
    return second / *mass;
}

int nb6_binaries_draw_masses(const struct nb6_config *config, struct nb6_model *systems, double *second,
                             struct nbc_error *err)
{
    const struct nb6_binary_config *b = &config->binaries;
    struct nb6_imf imf;
    nb6_random_t *random = NULL;
    int status = nb6_imf_init(&config->model, &imf, err);
    if (!status) status = nb6_random_create(config->model.seed, NB6_RANDOM_MASS, &random, err);
    if (status) return status;
    double sum = 0.0;
    for (int64_t i = 0; i < systems->n; i++) {
        double mass = nb6_imf_mass(&imf, nb6_random_uniform(random));
        if (i < b->n && nb6_imf_draws_companions(config->model.imf)) {
            second[i] = draw_companion(config, &imf, random, &mass);
        } else if (i < b->n) {
            if (b->ratio == 1.0) mass *= 2.0;
            second[i] = b->ratio == 1.0 ? 0.5 : 1.0 - b->ratio;
        }
        systems->mass[i] = mass;
        sum += mass;
    }
    nb6_random_free(random);
    double mean = sum / (double)(systems->n + b->n + config->triples.n);
    systems->zmbar_msun = config->model.imf == NB6_IMF_EQUAL ? config->zmbar_msun * mean : mean;
    return NBC_OK;
}

/* ---- orbits */

static double draw_eccentricity(const struct nb6_binary_config *b, nb6_random_t *random)
{
    double u = nb6_random_uniform(random);
    if (b->ecc < 0.0 || b->ecc == 40.0) return sqrt(u);
    if (b->ecc == 20.0) return u;
    if (b->ecc == 30.0) return 1.0 / (1.0 / 0.15 - u / 0.1765); /* density 0.1765/e^2 from 0.15 to nearly 1 */
    return b->ecc;
}

/* A deviate of unit variance (Marsaglia's polar method). */
static double draw_normal(nb6_random_t *random)
{
    double a, c, s;
    do {
        a = 2.0 * nb6_random_uniform(random) - 1.0;
        c = 2.0 * nb6_random_uniform(random) - 1.0;
        s = a * a + c * c;
    } while (s >= 1.0);
    return a * sqrt(-2.0 * nb6_log(s) / s);
}

/* log10 of the period in days. */
static double draw_log_period(enum nb6_binary_period law, nb6_random_t *random)
{
    double u, x;
    switch (law) {
    case NB6_BINARY_LOG_PERIOD:
        return sqrt(nb6_random_uniform(random) * 2.0 / 0.03438);
    case NB6_BINARY_PERIOD_100:
        u = nb6_random_uniform(random);
        return sqrt(100.0 * (nb6_exp(2.0 * u / 3.5) - 1.0));
    case NB6_BINARY_PERIOD_2_3:
        u = nb6_random_uniform(random);
        return 1.0 + sqrt(45.0 * (nb6_exp(2.0 * u / 2.3) - 1.0));
    case NB6_BINARY_KROUPA1995:
        u = nb6_random_uniform(random);
        return 1.0 + sqrt(45.0 * (nb6_exp(2.0 * u / 2.5) - 1.0));
    default:
        do x = 4.8 + 2.3 * draw_normal(random);
        while (x < 1.0 || x > 10.0);
        return x;
    }
}

static double draw_semi_major_axis(const struct nb6_config *config, const struct nb6_units *units, double mass,
                                   nb6_random_t *random)
{
    const struct nb6_binary_config *b = &config->binaries;
    if (b->period != NB6_BINARY_SEMI_MAJOR_AXIS) {
        double days = nb6_exp(draw_log_period(b->period, random) * nb6_log(10.0));
        double turn = days / DAYS_PER_MYR / units->time_myr / (2.0 * PI);
        return nb6_cbrt(mass * turn * turn);
    }
    double u = nb6_random_uniform(random);
    if (b->range > 0.0) return b->semi_max * nb6_exp(-u * nb6_log(b->range));
    return b->range < 0.0 ? b->semi_max + u * (-b->range - b->semi_max) : b->semi_max;
}

/* ---- systems and stars */

/* Stars 2k and 2k + 1 for system k, all others after them; rx, rv: of the first seen from the second. */
static void split(const struct nb6_model *systems, int64_t n, const double *second, const double (*rx)[3],
                  const double (*rv)[3], struct nb6_model *stars)
{
    for (int64_t i = 0; i < systems->n; i++) {
        int64_t star = i < n ? 2 * i : i + n;
        stars->mass[star] = systems->mass[i];
        memcpy(stars->x[star], systems->x[i], sizeof stars->x[star]);
        memcpy(stars->v[star], systems->v[i], sizeof stars->v[star]);
        if (i >= n) continue;
        stars->mass[star + 1] = second[i] * systems->mass[i];
        stars->mass[star] = systems->mass[i] - stars->mass[star + 1];
        for (int k = 0; k < 3; k++) {
            stars->x[star + 1][k] = systems->x[i][k] - (1.0 - second[i]) * rx[i][k];
            stars->v[star + 1][k] = systems->v[i][k] - (1.0 - second[i]) * rv[i][k];
            stars->x[star][k] = systems->x[i][k] + second[i] * rx[i][k];
            stars->v[star][k] = systems->v[i][k] + second[i] * rv[i][k];
        }
    }
}

/* Room for the relative motion of n binaries. */
struct relative {
    double *second;
    double (*x)[3], (*v)[3];
};

static int relative_alloc(struct relative *r, int64_t n, struct nbc_error *err)
{
    r->second = nbc_alloc((size_t)n, sizeof *r->second);
    r->x = nbc_alloc((size_t)n, sizeof *r->x);
    r->v = nbc_alloc((size_t)n, sizeof *r->v);
    if (r->second && r->x && r->v) return NBC_OK;
    return nbc_fail(err, NBC_NO_MEMORY, "no memory for %lld primordial binaries", (long long)n);
}

static void relative_free(struct relative *r)
{
    nbc_free(r->second);
    nbc_free(r->x);
    nbc_free(r->v);
}

static int draw_orbits(const struct nb6_config *config, const struct nb6_model *systems, struct relative *r,
                       struct nbc_error *err)
{
    const struct nb6_binary_config *b = &config->binaries;
    const struct nb6_units units =
        nb6_units_from(config->rbar_pc, systems->zmbar_msun, systems->n + b->n + config->triples.n);
    nb6_random_t *random = NULL;
    int status = nb6_random_create(config->model.seed, NB6_RANDOM_BINARY, &random, err);
    for (int64_t i = 0; i < b->n && !status; i++) {
        double e = draw_eccentricity(b, random);
        if (i < config->triples.n && !(b->ecc >= 0 && b->ecc < 1)) e *= OUTER_ECCENTRICITY;
        double a = draw_semi_major_axis(config, &units, systems->mass[i], random);
        nb6_draw_orbit(systems->mass[i], a, e, random, r->x[i], r->v[i]);
    }
    nb6_random_free(random);
    return status;
}

int nb6_binaries_split(const struct nb6_config *config, const double *second, struct nb6_model *model,
                       struct nbc_error *err)
{
    int64_t n = config->binaries.n;
    struct nb6_model stars = {.n = 0};
    struct relative r = {0};
    int status = relative_alloc(&r, n, err);
    if (!status) status = nb6_model_alloc(model->n + n, &stars, err);
    if (!status) status = draw_orbits(config, model, &r, err);
    if (!status) {
        split(model, n, second, (const double(*)[3])r.x, (const double(*)[3])r.v, &stars);
        stars.zmbar_msun = model->zmbar_msun;
        stars.rbar_pc = model->rbar_pc;
        nb6_model_free(model);
        *model = stars;
    } else {
        nb6_model_free(&stars);
    }
    relative_free(&r);
    return status;
}

/* The reverse of split. */
static void join(const struct nb6_model *stars, int64_t n, struct relative *r, struct nb6_model *systems)
{
    for (int64_t i = 0; i < systems->n; i++) {
        int64_t star = i < n ? 2 * i : i + n;
        systems->mass[i] = stars->mass[star];
        memcpy(systems->x[i], stars->x[star], sizeof systems->x[i]);
        memcpy(systems->v[i], stars->v[star], sizeof systems->v[i]);
        if (i >= n) continue;
        systems->mass[i] += stars->mass[star + 1];
        r->second[i] = systems->mass[i] > 0.0 ? stars->mass[star + 1] / systems->mass[i] : 0.5;
        for (int k = 0; k < 3; k++) {
            r->x[i][k] = stars->x[star][k] - stars->x[star + 1][k];
            r->v[i][k] = stars->v[star][k] - stars->v[star + 1][k];
            systems->x[i][k] -= r->second[i] * r->x[i][k];
            systems->v[i][k] -= r->second[i] * r->v[i][k];
        }
    }
}

static double total_mass(const struct nb6_model *model)
{
    double sum = 0.0;
    for (int64_t i = 0; i < model->n; i++) sum += model->mass[i];
    return sum;
}

int nb6_binaries_scale(const struct nb6_config *config, struct nb6_model *model, double *length_factor,
                       struct nbc_error *err)
{
    int64_t n = config->binaries.n;
    struct nb6_model systems = {.n = 0};
    struct relative r = {0};
    int status = relative_alloc(&r, n, err);
    if (!status) status = nb6_model_alloc(model->n - n, &systems, err);
    if (!status) {
        double mass = total_mass(model);
        join(model, n, &r, &systems);
        status = nb6_model_scale(&config->model, 0.0, &systems, length_factor, err);
        if (!status) nb6_model_embed(&config->tide, &systems);
        double speed = sqrt(1.0 / mass / *length_factor); /* masses now add up to 1: orbits keep their shape */
        for (int64_t i = 0; i < n; i++)
            for (int k = 0; k < 3; k++) {
                r.x[i][k] *= *length_factor;
                r.v[i][k] *= speed;
            }
    }
    if (!status) split(&systems, n, r.second, (const double(*)[3])r.x, (const double(*)[3])r.v, model);
    nb6_model_free(&systems);
    relative_free(&r);
    return status;
}
