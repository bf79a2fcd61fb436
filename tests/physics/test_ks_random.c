/* 10^5 random pairs, bound and unbound, of any eccentricity, among fixed perturbers at random places, some of them
 * inside the pair: none fails, and the energy is kept. Fixed perturbers have a potential: with body 0 at w0 x and body
 * 1 at -w1 x, p = -grad U, U(x) = phi(w0 x)/w0 + phi(-w1 x)/w1, and h + U is a constant of the motion. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>

#include "common/nbc.h"
#include "regularization/ks.h"

enum { PAIRS = 100000, MOST = 4, STEPS = 25 };

static uint64_t random_state = 88172645463325252u;

/* Uniform in (0, 1): xorshift64. */
static double uniform(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return ((double)(random_state >> 11) + 0.5) * 0x1p-53;
}

static void direction(double length, double x[3])
{
    double z = 2 * uniform() - 1, angle = 6.283185307179586 * uniform(), s = sqrt(1 - z * z);
    x[0] = length * s * cos(angle);
    x[1] = length * s * sin(angle);
    x[2] = length * z;
}

struct scene {
    struct ks_pair pair;
    struct ks_field field;
    struct ks_path paths[MOST];
    double v2;
};

/* Separations over twelve orders of magnitude, speeds from nearly none to three times that of escape. */
static void make(struct scene *s)
{
    double mass[2] = {uniform(), uniform() < 0.1 ? 0 : pow(10, -4 * uniform())}, r = pow(10, -12 * uniform());
    double x[2][3] = {{0}}, v[2][3] = {{0}}, escape = sqrt(2 * (mass[0] + mass[1]) / r);
    direction(r, x[0]);
    direction(escape * (uniform() < 0.7 ? uniform() : 3 * uniform()), v[0]);
    if (uniform() < 0.05) /* radial */
        for (int i = 0; i < 3; i++) v[0][i] = x[0][i] / r * escape * (0.5 - uniform());
    struct nbc_error err = {0};
    struct ks_options options = {0.2, 0, 1};
    if (ks_init(&s->pair, &options, mass, (const double(*)[3])x, (const double(*)[3])v, 100 * uniform(), &err))
        fail_msg("%s", err.text);
    s->field = (struct ks_field){.pair = &s->pair, .n = (size_t)(uniform() * (MOST + 1)), .paths = s->paths};
    s->v2 = v[0][0] * v[0][0] + v[0][1] * v[0][1] + v[0][2] * v[0][2];
    for (size_t j = 0; j < s->field.n; j++) {
        s->paths[j] = (struct ks_path){.mass = pow(10, 2 - 4 * uniform()) * (mass[0] + mass[1])};
        direction(r * pow(10, -0.3 + 2.8 * uniform()), s->paths[j].x);
    }
}

static double potential(const struct scene *s, const double x[3])
{
    const struct ks_pair *p = &s->pair;
    double u = 0, w[2] = {p->mass[1] / p->m, -p->mass[0] / p->m};
    for (int b = 0; b < 2; b++) {
        if (w[b] == 0) { /* a test body: the limit w -> 0 is the uniform field at the centre of mass */
            for (size_t j = 0; j < s->field.n; j++) {
                const double *d = s->paths[j].x;
                double r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
                double along = d[0] * x[0] + d[1] * x[1] + d[2] * x[2];
                u -= (b ? -1 : 1) * s->paths[j].mass * along / (r2 * sqrt(r2));
            }
            continue;
        }
        for (size_t j = 0; j < s->field.n; j++) {
            double r2 = 0;
            for (int i = 0; i < 3; i++) r2 += (s->paths[j].x[i] - w[b] * x[i]) * (s->paths[j].x[i] - w[b] * x[i]);
            u -= s->paths[j].mass / sqrt(r2) / fabs(w[b]);
        }
    }
    return u;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void random_pairs(void **state)
{
    (void)state;
    static struct scene s;
    double *error = malloc(PAIRS * sizeof *error), x[3], v[3];
    assert_non_null(error);
    size_t n = 0, free_pairs = 0, wild = 0;
    for (int k = 0; k < PAIRS; k++) {
        struct nbc_error err = {0};
        make(&s);
        ks_relative(&s.pair, x, v);
        double begin = s.pair.h + potential(&s, x), largest = 0;
        int status = ks_start(&s.pair, s.field.n ? ks_perturb_paths : NULL, &s.field, &err);
        /* The scale of energies is that of what was met: v^2/2 at the begin, m/R, and |U| of the closest perturber. */
        double scale = 0.5 * s.v2 + s.pair.m / s.pair.now.r;
        for (int step = 0; step < STEPS && !status; step++) {
            status = ks_step(&s.pair, s.field.n ? ks_perturb_paths : NULL, &s.field, &err);
            if (status) break;
            largest = fmax(largest, s.pair.gamma);
        }
        if (status) fail_msg("pair %d: %s", k, err.text);
        ks_relative(&s.pair, x, v);
        double sum = 0;
        for (int i = 0; i < 3; i++) sum += fabs(x[i]) + fabs(v[i]);
        if (!isfinite(sum) || !(s.pair.dt > 0) || !isfinite(s.pair.h)) fail_msg("pair %d: not finite", k);
        double change = fabs(s.pair.h + potential(&s, x) - begin) / scale;
        if (s.field.n == 0) {
            free_pairs++;
            assert_true(s.pair.h == begin);
        } else if (largest > 1) {
            wild++; /* torn apart, or a perturber was met: not a pair any more */
        } else {
            error[n++] = change;
        }
    }
    qsort(error, n, sizeof *error, ascending);
    print_message("%d pairs: %zu free, %zu with gamma > 1 on the way, %zu others; energy error after %d steps: median "
                  "%.1e, 90%% %.1e, "
                  "99%% %.1e, 99.9%% %.1e, largest %.1e\n",
                  PAIRS, free_pairs, wild, n, STEPS, error[n / 2], error[n * 9 / 10], error[n * 99 / 100],
                  error[n * 999 / 1000], error[n - 1]);
    /* Sixth order in eta = 0.2 leaves 1e-7 of gamma (test_ks_order.c) for gamma up to 1; most have much less. */
    assert_true(n > PAIRS / 4);
    assert_true(error[n / 2] < 1e-11 && error[n * 999 / 1000] < 1e-7 && error[n - 1] < 1e-5);
    free(error);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_pairs)};
    return cmocka_run_group_tests_name("ks_random", tests, NULL, NULL);
}
