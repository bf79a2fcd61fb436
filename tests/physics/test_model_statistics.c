/* The initial models are the ones of the literature: distributions of radius, speed and direction by
 * Kolmogorov-Smirnov tests, dispersions, Lagrangian radii, virial equilibrium.
 *
 * Samples are always the same, so a test that passes once passes always. Its bounds are such that a right model would
 * miss them with one seed in a thousand (Kolmogorov-Smirnov: 1.95/sqrt(n)) or less (5 standard errors). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/nbc.h"
#include "nbody6/analysis/structure.h"
#include "nbody6/input/config.h"
#include "nbody6/model/king.h"
#include "nbody6/model/model.h"
#include "nbody6/model/model_parts.h"
#include "nbody6/model/random.h"
#include "tests/support/test_size.h"

enum { N = 40000 };
static double sample[3][N];

static double length(const double a[3])
{
    return sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
}

static struct nb6_model draw(nb6_model_sampler *sampler, double w0, double *potential)
{
    const struct nb6_model_config config = {.king_w0 = w0};
    struct nb6_model model = {.n = 0};
    nb6_random_t *position = NULL, *velocity = NULL;
    assert_int_equal(nb6_model_alloc(N, &model, NULL), NBC_OK);
    assert_int_equal(nb6_random_create(2024, NB6_RANDOM_POSITION, &position, NULL), NBC_OK);
    assert_int_equal(nb6_random_create(2024, NB6_RANDOM_VELOCITY, &velocity, NULL), NBC_OK);
    assert_int_equal(sampler(&config, position, velocity, &model, potential, NULL), NBC_OK);
    nb6_random_free(position);
    nb6_random_free(velocity);
    return model;
}

static int compare(const void *a, const void *b)
{
    const double p = *(const double *)a, q = *(const double *)b;
    return (p > q) - (p < q);
}

static double correlation(const double *a, const double *b)
{
    double ab = 0.0;
    for (int i = 0; i < N; i++) ab += (a[i] - 0.5) * (b[i] - 0.5) * 12.0 / N;
    return ab;
}

static void assert_uniform(double *u, const char *what)
{
    double distance = 0.0;
    qsort(u, N, sizeof *u, compare);
    for (int i = 0; i < N; i++) distance = fmax(distance, fmax(fabs(u[i] - (double)i / N), fabs(u[i] - (i + 1.0) / N)));
    if (!(distance < 1.95 / sqrt((double)N))) fail_msg("%s: distance %g sqrt(n)", what, distance * sqrt((double)N));
}

/* sample[0]: fraction of the mass within r; [1]: of the stars at r that are slower; [2]: of the directions with a
 * smaller angle to the radius. All are uniform and independent. */
static void assert_distribution(const struct nb6_model *model)
{
    for (int i = 0; i < N; i++) {
        const double *x = model->x[i], *v = model->v[i];
        sample[2][i] = 0.5 * (1.0 + (x[0] * v[0] + x[1] * v[1] + x[2] * v[2]) / (length(x) * length(v)));
    }
    for (int a = 0; a < 3; a++) assert_true(fabs(correlation(sample[a], sample[(a + 1) % 3])) < 5.0 / sqrt((double)N));
    assert_uniform(sample[0], "radius");
    assert_uniform(sample[1], "speed");
    assert_uniform(sample[2], "angle between position and velocity");
    for (int d = 0; d < 3; d++) {
        for (int i = 0; i < N; i++) sample[0][i] = 0.5 * (1.0 + model->x[i][d] / length(model->x[i]));
        for (int i = 0; i < N; i++) sample[1][i] = 0.5 * (1.0 + model->v[i][d] / length(model->v[i]));
        assert_uniform(sample[0], "direction of the position");
        assert_uniform(sample[1], "direction of the velocity");
    }
}

static double plummer_mass(double r)
{
    return pow(1.0 + 1.0 / (r * r), -1.5);
}

/* Integral of q^2 (1 - q^2)^(7/2) from 0 to q, by q = sin t and Simpson's rule, which with 200 intervals is good to
 * 1e-9. */
static double plummer_speed_integral(double q)
{
    const int intervals = 200;
    const double end = asin(q), h = end / intervals;
    double sum = 0.0;
    for (int i = 0; i <= intervals; i++) {
        const double s = sin(i * h), c = cos(i * h), weight = i == 0 || i == intervals ? 1.0 : i % 2 ? 4.0 : 2.0;
        sum += weight * s * s * pow(c, 8.0);
    }
    return sum * h / 3.0;
}

static void plummer_distribution(void **state)
{
    (void)state;
    double potential;
    struct nb6_model model = draw(nb6_model_plummer, 0.0, &potential);
    /* int_0^{pi/2} sin^2 cos^8 dt = 7 pi/512 */
    assert_true(fabs(plummer_speed_integral(1.0) - 7.0 * 3.14159265358979323846 / 512.0) < 1e-9);
    for (int i = 0; i < N; i++) {
        const double r = length(model.x[i]), escape = sqrt(2.0 / sqrt(1.0 + r * r));
        assert_true(r <= 10.0);
        sample[0][i] = plummer_mass(r) / plummer_mass(10.0);
        sample[1][i] = plummer_speed_integral(length(model.v[i]) / escape) / plummer_speed_integral(1.0);
    }
    assert_distribution(&model);
    nb6_model_free(&model);
}

/* One-dimensional dispersion sigma^2 = (1 + r^2)^(-1/2)/6 (Plummer 1911; G = M = a = 1), in ten shells of equal mass.
 */
static void plummer_dispersion(void **state)
{
    (void)state;
    double potential, v2[10] = {0.0}, v4[10] = {0.0}, expected[10] = {0.0};
    int count[10] = {0};
    struct nb6_model model = draw(nb6_model_plummer, 0.0, &potential);
    for (int i = 0; i < N; i++) {
        const double r = length(model.x[i]), speed = length(model.v[i]);
        const int shell = (int)fmin(9.0, 10.0 * plummer_mass(r) / plummer_mass(10.0));
        count[shell]++;
        v2[shell] += speed * speed;
        v4[shell] += pow(speed, 4.0);
        expected[shell] += 0.5 / sqrt(1.0 + r * r);
    }
    for (int k = 0; k < 10; k++) {
        const double mean = v2[k] / count[k], error = sqrt((v4[k] / count[k] - mean * mean) / count[k]);
        assert_true(fabs(mean - expected[k] / count[k]) < 5.0 * error);
    }
    nb6_model_free(&model);
}

static double plummer_radius(double mass)
{
    return 1.0 / sqrt(pow(mass, -2.0 / 3.0) - 1.0);
}

/* int M dM/r over the part within 10, by the mid-point rule in M: 1e-7 with 10^6 points. */
static double plummer_potential_by_sum(void)
{
    const int points = 1000000;
    const double all = plummer_mass(10.0);
    double sum = 0.0;
    for (int i = 0; i < points; i++) {
        const double m = (i + 0.5) / points;
        sum -= m / plummer_radius(m * all) / points;
    }
    return sum;
}

static struct nb6_model make(enum nb6_model_kind kind, int64_t n, double w0)
{
    struct nb6_config config;
    struct nb6_model model;
    struct nbc_error err = {0};
    memset(&config, 0, sizeof config);
    config.model.kind = kind;
    config.model.n = n;
    config.model.seed = 2024;
    config.model.king_w0 = w0;
    config.model.virial_ratio = 0.5;
    config.zmbar_msun = config.rbar_pc = 1.0;
    if (nb6_model_make(&config, &model, &err)) fail_msg("%s", err.text);
    return model;
}

/* 5 standard errors of the radius that holds the fraction f: those of the fraction, and those of the potential that
 * sets the unit of length. sum over pairs: dU/U = 2 sqrt(var(phi)/n)/<phi>, about 0.8/sqrt(n) for a Plummer model. */
static void assert_lagrangian(const struct nb6_model *model, double (*radius)(double), double unit, double f)
{
    const double origin[3] = {0.0, 0.0, 0.0}, n = (double)model->n, df = sqrt(f * (1.0 - f) / n);
    double r_lagr[NB6_LAGR_COUNT];
    assert_int_equal(
        nb6_structure_lagrangian(model->n, model->mass, (const double(*)[3])model->x, origin, 1.0, r_lagr, NULL, NULL),
        NBC_OK);
    for (int k = 0; k < NB6_LAGR_COUNT; k++) {
        if (nb6_lagr_fractions[k] != f) continue;
        const double relative = 0.5 * (radius(f + df) - radius(f - df)) / radius(f);
        const double expected = unit * radius(f), error = expected * hypot(relative, 0.8 / sqrt(n));
        if (!(fabs(r_lagr[k] - expected) < 5.0 * error)) {
            fail_msg("f = %g: %g, not %g +- %g", f, r_lagr[k], expected, error);
        }
        return;
    }
    fail();
}

static double cut_plummer_radius(double f)
{
    return plummer_radius(f * plummer_mass(10.0));
}

/* In N-body units, U = -1/2, the unit of length is 2 |U|. The whole Plummer sphere has U = -3 pi/32 and a half-mass
 * radius of 0.7686; without what is beyond 10 scale lengths U = -0.302443 and r_h = 0.778781 (adaptive quadrature). */
static void plummer_lagrangian(void **state)
{
    (void)state;
    const double f[] = {0.01, 0.05, 0.1, 0.3, 0.5, 0.7, 0.9, 0.95, 0.99};
    double potential;
    struct nb6_model raw = draw(nb6_model_plummer, 0.0, &potential);
    nb6_model_free(&raw);
    assert_true(fabs(potential / plummer_potential_by_sum() - 1.0) < 1e-6); /* see there */
    struct nb6_model model = make(NB6_MODEL_PLUMMER, N, 0.0);
    for (int k = 0; k < 9; k++) assert_lagrangian(&model, cut_plummer_radius, -2.0 * potential, f[k]);
    nb6_model_free(&model);
    assert_true(fabs(-2.0 * potential * cut_plummer_radius(0.5) - 0.778781) < 0.5e-6);
}

/* W and the mass within x by Runge-Kutta steps in x: not the integration that king.c makes. */
enum { TABLE_MAX = 40000 };
static struct {
    int count;
    double x[TABLE_MAX], w[TABLE_MAX], mass[TABLE_MAX];
} table;

static void table_slopes(double w0, double x, double w, double mass, double *dw, double *dm)
{
    *dw = -mass / (x * x);
    *dm = 9.0 * nb6_king_density(w) / nb6_king_density(w0) * x * x;
}

static void make_table(double w0)
{
    double x = 1e-3, w = w0 - 1.5 * x * x, m = 3.0 * x * x * x;
    table.count = 0;
    while (w > 0.0) {
        double dw[4], dm[4];
        const double h = 1e-3 * fmax(x, 0.1);
        assert_true(table.count < TABLE_MAX);
        table.x[table.count] = x;
        table.w[table.count] = w;
        table.mass[table.count++] = m;
        table_slopes(w0, x, w, m, &dw[0], &dm[0]);
        table_slopes(w0, x + h / 2.0, w + h / 2.0 * dw[0], m + h / 2.0 * dm[0], &dw[1], &dm[1]);
        table_slopes(w0, x + h / 2.0, w + h / 2.0 * dw[1], m + h / 2.0 * dm[1], &dw[2], &dm[2]);
        table_slopes(w0, x + h, w + h * dw[2], m + h * dm[2], &dw[3], &dm[3]);
        x += h;
        w += h / 6.0 * (dw[0] + 2.0 * dw[1] + 2.0 * dw[2] + dw[3]);
        m += h / 6.0 * (dm[0] + 2.0 * dm[1] + 2.0 * dm[2] + dm[3]);
    }
}

/* Linear in the table with steps of 1e-3 of x: good to 1e-6. */
static double look_up(const double *column, double at_centre, double x)
{
    int lo = 0, hi = table.count - 1;
    if (x <= table.x[0]) return at_centre + (column[0] - at_centre) * x / table.x[0];
    if (x >= table.x[hi]) return column[hi];
    while (hi - lo > 1) {
        const int mid = (lo + hi) / 2;
        *(table.x[mid] <= x ? &lo : &hi) = mid;
    }
    return column[lo] + (column[hi] - column[lo]) * (x - table.x[lo]) / (table.x[hi] - table.x[lo]);
}

/* Integral of u^2 (exp(W - u^2/2) - 1) from 0 to v, in closed form. */
static double king_speed_integral(double w, double v)
{
    const double maxwell = sqrt(0.5 * 3.14159265358979323846) * erf(v / sqrt(2.0)) - v * exp(-0.5 * v * v);
    return exp(w) * maxwell - v * v * v / 3.0;
}

/* Radii and speeds; density and dispersion profiles follow from these. */
static void king_distribution(void **state)
{
    (void)state;
    const double w0[] = {3.0, 6.0, 9.0};
    for (int k = 0; k < 3; k++) {
        double potential;
        struct nb6_model model = draw(nb6_model_king, w0[k], &potential);
        make_table(w0[k]);
        const double mass = table.mass[table.count - 1], edge = table.x[table.count - 1] * (1.0 + 1e-3);
        for (int i = 0; i < N; i++) {
            const double r = length(model.x[i]), w = look_up(table.w, w0[k], r);
            const double v = length(model.v[i]) * sqrt(mass); /* in units of sigma */
            assert_true(r <= edge);
            assert_true(0.5 * v * v <= w + 1e-5 * w0[k]); /* bound; the table is good to 1e-6 */
            sample[0][i] = look_up(table.mass, 0.0, r) / mass;
            sample[1][i] = king_speed_integral(w, v) / king_speed_integral(w, sqrt(2.0 * w));
        }
        assert_distribution(&model);
        nb6_model_free(&model);
    }
}

/* King's models are in equilibrium: T = |U|/2 for the velocities as drawn and the smooth potential energy, within 5
 * standard errors of the mean of v^2/2. */
static void king_is_in_equilibrium(void **state)
{
    (void)state;
    const double w0[] = {0.5, 1.0, 3.0, 6.0, 9.0, 12.0};
    for (int k = 0; k < 6; k++) {
        double potential, sum = 0.0, sum2 = 0.0;
        struct nb6_model model = draw(nb6_model_king, w0[k], &potential);
        for (int i = 0; i < N; i++) {
            const double kinetic = 0.5 * pow(length(model.v[i]), 2.0);
            sum += kinetic / N;
            sum2 += kinetic * kinetic / N;
        }
        assert_true(fabs(sum + 0.5 * potential) < 5.0 * sqrt((sum2 - sum * sum) / N));
        nb6_model_free(&model);
    }
}

static nb6_king_t *king;
static double king_radius(double f)
{
    return nb6_king_radius(king, f);
}

static void king_lagrangian(void **state)
{
    (void)state;
    const double w0[] = {3.0, 6.0}, f[] = {0.01, 0.1, 0.5, 0.9, 0.99};
    for (int k = test_seeds(1, 0); k < 2; k++) {
        assert_int_equal(nb6_king_solve(w0[k], &king, NULL), NBC_OK);
        struct nb6_model model = make(NB6_MODEL_KING, N, w0[k]);
        for (int a = 0; a < 5; a++) {
            assert_lagrangian(&model, king_radius, -2.0 * nb6_king_potential_energy(king), f[a]);
        }
        nb6_model_free(&model);
        nb6_king_free(king);
    }
}

static void uniform_distribution(void **state)
{
    (void)state;
    double potential;
    struct nb6_model model = draw(nb6_model_uniform, 0.0, &potential);
    for (int i = 0; i < N; i++) {
        sample[0][i] = pow(length(model.x[i]), 3.0);
        sample[1][i] = pow(length(model.v[i]), 3.0);
    }
    assert_distribution(&model);
    nb6_model_free(&model);
    assert_true(potential == -0.6); /* 3/5 G M^2/R */
}

static double uniform_radius(double f)
{
    return cbrt(f);
}

/* Above the limit for the sum over pairs the smooth potential sets the scale: sizes agree with it and with those of the
 * models above; the kinetic energy is 1/4 in both. 1 - 1/n is the pairs of a star with itself. */
static void large_models(void **state)
{
    (void)state;
    const int64_t n = NB6_EXACT_POTENTIAL_MAX + 1;
    assert_int_equal(nb6_king_solve(6.0, &king, NULL), NBC_OK);
    const double unit[3] = {1.2, -2.0 * plummer_potential_by_sum(), -2.0 * nb6_king_potential_energy(king)};
    double (*const radius[3])(double) = {uniform_radius, cut_plummer_radius, king_radius};
    for (int kind = NB6_MODEL_UNIFORM; kind <= NB6_MODEL_KING; kind++) {
        struct nb6_model model = make((enum nb6_model_kind)kind, n, 6.0);
        double kinetic = 0.0;
        for (int64_t i = 0; i < n; i++) kinetic += 0.5 * model.mass[i] * pow(length(model.v[i]), 2.0);
        assert_true(fabs(kinetic - 0.25) < 1e-12); /* roundings */
        assert_lagrangian(&model, radius[kind], unit[kind] * (1.0 - 1.0 / (double)n), 0.5);
        nb6_model_free(&model);
    }
    nb6_king_free(king);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plummer_distribution),   cmocka_unit_test(plummer_dispersion),
        cmocka_unit_test(plummer_lagrangian),     cmocka_unit_test(king_distribution),
        cmocka_unit_test(king_is_in_equilibrium), cmocka_unit_test(king_lagrangian),
        cmocka_unit_test(uniform_distribution),   cmocka_unit_test(large_models),
    };
    return cmocka_run_group_tests_name("model statistics", tests, NULL, NULL);
}
