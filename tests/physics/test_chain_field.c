/* A chain among 50 field stars: as one of 53 bodies of a direct integration in extended precision, and as a chain that
 * sees the stars of that integration through its callback. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>

#include "common/nbc.h"
#include "tests/support/fewbody.h"
#define DIRECT_MAX 56
#define DIRECT_COLUMNS 7
#define DIRECT_REAL long double
#include "tests/support/direct.h"

enum { MEMBERS = 3, STARS = 50, ROWS_MAX = 4000 };

/* States of the field stars after each step. */
struct path {
    int rows;
    double t[ROWS_MAX];
    double state[ROWS_MAX][STARS][3][3]; /* x, v, acceleration */
    double mass[STARS];
};

static void keep(void *context, const struct direct *d)
{
    static long double x[DIRECT_MAX][3], acc[DIRECT_MAX][3];
    struct path *path = context;
    assert_true(path->rows < ROWS_MAX);
    memcpy(x, d->x, sizeof x);
    direct_force(d, x, acc);
    path->t[path->rows] = (double)d->t;
    for (int i = 0; i < STARS; i++)
        for (int k = 0; k < 3; k++) {
            path->state[path->rows][i][0][k] = (double)d->x[MEMBERS + i][k];
            path->state[path->rows][i][1][k] = (double)d->v[MEMBERS + i][k];
            path->state[path->rows][i][2][k] = (double)acc[MEMBERS + i][k];
        }
    path->rows++;
}

/* Quintic through positions, velocities and accelerations at both ends of a step. */
static double between(double h, double u, const double a[3], const double b[3])
{
    double v0 = h * a[1], v1 = h * b[1], a0 = 0.5 * h * h * a[2], a1 = 0.5 * h * h * b[2];
    double d = b[0] - a[0] - v0 - a0, e = v1 - v0 - 2 * a0, f = a1 - a0;
    double c3 = 10 * d - 4 * e + f, c4 = -15 * d + 7 * e - 2 * f, c5 = 6 * d - 3 * e + f;
    return a[0] + u * (v0 + u * (a0 + u * (c3 + u * (c4 + u * c5))));
}

static int field(void *context, double t, int n, const double mass[], const double cm[3], const double x[][3],
                 const double v[][3], double acc[][3])
{
    const struct path *path = context;
    int row = 0, last = path->rows - 2;
    (void)mass;
    (void)v;
    for (int step = 2048; step > 0; step /= 2)
        if (row + step <= last && path->t[row + step] <= t) row += step;
    double h = path->t[row + 1] - path->t[row], u = (t - path->t[row]) / h;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 3; k++) acc[i][k] = 0;
    for (int j = 0; j < STARS; j++) {
        double star[3];
        for (int k = 0; k < 3; k++) {
            const double a[3] = {path->state[row][j][0][k], path->state[row][j][1][k], path->state[row][j][2][k]};
            const double b[3] = {path->state[row + 1][j][0][k], path->state[row + 1][j][1][k],
                                 path->state[row + 1][j][2][k]};
            star[k] = between(h, u, a, b);
        }
        for (int i = 0; i < n; i++) {
            double d[3], r2 = 0;
            for (int k = 0; k < 3; k++) {
                d[k] = star[k] - cm[k] - x[i][k];
                r2 += d[k] * d[k];
            }
            for (int k = 0; k < 3; k++) acc[i][k] += path->mass[j] * d[k] / (r2 * sqrt(r2));
        }
    }
    return 0;
}

/* A triple of size 0.02 that interacts strongly, stars of the same mass in a sphere of radius 1 around it. */
static void make(struct direct *d, struct path *path)
{
    static const double x[3][3] = {{0.004, 0.001, 0}, {-0.004, -0.001, 0.0005}, {0.012, 0.016, -0.003}};
    static const double v[3][3] = {{-0.1, 1.1, 0.2}, {0.1, -1.1, -0.2}, {-1.2, -1.1, 0.1}};
    uint64_t random = 11;
    d->n = MEMBERS + STARS;
    for (int i = 0; i < d->n; i++) {
        double place[3], speed[3], r = 0.06 + 0.94 * cbrt(fewbody_uniform(&random));
        fewbody_direction(&random, place);
        fewbody_direction(&random, speed);
        d->mass[i] = 1.0 / 50;
        for (int k = 0; k < 3; k++) {
            d->x[i][k] = i < MEMBERS ? 0.3 + x[i][k] : 0.3 + r * place[k];
            d->v[i][k] = i < MEMBERS ? 0.1 + v[i][k] : 0.7 * speed[k];
        }
        if (i >= MEMBERS) path->mass[i - MEMBERS] = (double)d->mass[i];
    }
}

/* Two stars are close at the start, for a strong tide, and one of them comes closer. */
static void put_close(struct direct *d)
{
    static const double close[2][3] = {{0.05, -0.02, 0.01}, {-0.04, 0.03, 0.03}};
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 3; k++) {
            d->x[MEMBERS + i][k] = 0.3 + close[i][k];
            d->v[MEMBERS + i][k] = i == 0 ? -0.8 * close[i][k] + 0.1 : 0.2 * (k - 1);
        }
}

static void compare(const char *method, const struct chain_body begin[], const struct chain_body should[], double t_end,
                    struct path *path)
{
    struct chain_body is[MEMBERS], alone[MEMBERS];
    struct chain c = fewbody_start(method, 1e-14, MEMBERS, begin), without = c;
    const struct chain_field stars = {.acceleration = field, .context = path};
    fewbody_advance(&c, t_end, &stars, NULL);
    fewbody_advance(&without, t_end, NULL, NULL);
    chain_bodies(&c, is);
    chain_bodies(&without, alone);
    double error = fewbody_distance(MEMBERS, is, should), effect = fewbody_distance(MEMBERS, alone, should);
    double booked = chain_energy_booked(&c), start = chain_energy_booked(&without);
    print_message("%s: %.1e from the direct integration, %.1e without the stars; internal energy changed by %.3f of "
                  "itself, %.1e of it not booked\n",
                  method, error, effect, booked / start - 1, (chain_energy(&c) - booked) / start);
    /* The stars matter, and are right to what the interpolation of their paths leaves: 2e-6 with steps of 1e-3, 2e-9
     * with 2e-4, 2e-11 with those used. */
    assert_true(effect > 1e-2);
    assert_true(error < 1e-9);
    assert_true(fabs(chain_energy(&c) - booked) < 1e-10 * fabs(start));
    assert_true(fabs(booked / start - 1) > 0.1);
}

static void against_direct_integration(void **state)
{
    const double t_end = 0.06;
    struct path *path = calloc(1, sizeof *path);
    struct direct *d = calloc(1, sizeof *d);
    (void)state;
    assert_true(path && d);
    d->tolerance = 1e-15;
    d->rounding = 1e-16;
    d->step = 1e-4;
    d->longest = 1e-4L;
    d->after_step = keep;
    d->context = path;
    make(d, path);
    put_close(d);
    struct chain_body begin[MEMBERS], should[MEMBERS];
    for (int i = 0; i < MEMBERS; i++) {
        double x[3], v[3];
        for (int k = 0; k < 3; k++) {
            x[k] = (double)d->x[i][k];
            v[k] = (double)d->v[i][k];
        }
        begin[i] = fewbody(i, (double)d->mass[i], x, v);
    }
    keep(path, d);
    const long double energy = direct_energy(d);
    direct_integrate(d, t_end);
    /* The reference is at least as good as its energy, which is that of 53 bodies. */
    print_message("direct: %ld steps, energy error %.1e\n", d->steps, (double)(direct_energy(d) / energy - 1));
    assert_true(fabsl(direct_energy(d) / energy - 1) < 1e-12L);
    for (int i = 0; i < MEMBERS; i++)
        for (int k = 0; k < 3; k++) should[i].x[k] = (double)d->x[i][k];
    compare("chain", begin, should, t_end, path);
    compare("ar", begin, should, t_end, path);
    free(path);
    free(d);
}

/* An error status of a field stops the advance, and the system is as before the step. */
static int refuses(void *context, double t, int n, const double mass[], const double cm[3], const double x[][3],
                   const double v[][3], double acc[][3])
{
    (void)n;
    (void)mass;
    (void)v;
    (void)cm;
    (void)x;
    (void)acc;
    return t > *(double *)context ? NBC_NON_FINITE : 0;
}

static void field_fails(void **state)
{
    double limit = 0.5;
    const double x[3][3] = {{1, 0, 0}, {-1, 0, 0}, {0, 3, 0}}, v[3][3] = {{0, 0.5, 0}, {0, -0.5, 0}, {0.1, 0, 0}};
    struct chain_body begin[3];
    for (int i = 0; i < 3; i++) begin[i] = fewbody(i, 1, x[i], v[i]);
    struct chain c = fewbody_start(*state, 1e-14, 3, begin);
    const struct chain_field bad = {.acceleration = refuses, .context = &limit};
    struct chain_event event;
    struct nbc_error err = {0};
    assert_int_equal(chain_advance(&c, 2, &bad, &event, &err), NBC_NON_FINITE);
    assert_non_null(strstr(err.text, "field"));
    assert_true(c.t <= 0.5);
    fewbody_advance(&c, 2, NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(against_direct_integration),
                                       cmocka_unit_test_prestate(field_fails, "chain"),
                                       cmocka_unit_test_prestate(field_fails, "ar")};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
