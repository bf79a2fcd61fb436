/* KS pairs perturbed by a third body, against Newton's equations in 80-bit arithmetic. The third body moves relative to
 * the pair's centre of mass as it does in the reference, so that all differences are those of the pair's integration.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>

#include "common/nbc.h"
#include "tests/support/three_body.h"

struct setting {
    const char *name;
    double m_out, a_out, e_out, inclination, anomaly, e_in;
    int orbits;
    double h_end; /* sign of the energy at the end */
    double eta;
    int samples; /* of the reference in an inner period */
};

struct found {
    double x, energy, exchanged, steps_per_orbit;
};

/* Largest difference in position and energy at whole inner periods, and the largest energy exchanged. */
static struct found compare(const struct setting *s, double eta)
{
    const double period = 6.283185307179586, mass[3] = {0.6, 0.4, s->m_out};
    struct three_body begin;
    struct three_path path;
    three_body_hierarchy(&begin, mass, 1, s->e_in, s->a_out, s->e_out, s->inclination, s->anomaly);
    if (three_path_make(&path, &begin, period / s->samples, (size_t)(s->orbits * s->samples)))
        fail_msg("%s: no reference", s->name);

    struct ks_pair pair;
    struct nbc_error err = {0};
    double x[2][3], v[2][3];
    for (int b = 0; b < 2; b++)
        for (int i = 0; i < 3; i++) {
            x[b][i] = (double)begin.x[b][i];
            v[b][i] = (double)begin.v[b][i];
        }
    int status =
        ks_init(&pair, &(struct ks_options){eta, 0, 1}, mass, (const double(*)[3])x, (const double(*)[3])v, 0, &err);
    path.pair = &pair;
    if (!status) status = ks_start(&pair, three_path_perturb, &path, &err);
    struct found worst = {0};
    double h0 = pair.h;
    for (int n = 1; n <= s->orbits && !status; n++) {
        double t = n * s->samples * path.dt, xp[3], vp[3], xr[3], vr[3], d2 = 0;
        status = ks_advance(&pair, t, three_path_perturb, &path, &err);
        struct ks_pair end = pair; /* the sequence of steps itself is not disturbed */
        if (!status) status = ks_finish(&end, t, three_path_perturb, &path, &err);
        if (status) break;
        const struct three_body *truth = &path.states[n * s->samples];
        ks_relative(&end, xp, vp);
        three_body_inner(truth, xr, vr);
        for (int i = 0; i < 3; i++) d2 += (xp[i] - xr[i]) * (xp[i] - xr[i]);
        double h = (double)three_body_binding(truth);
        worst.x = fmax(worst.x, sqrt(d2));
        worst.energy = fmax(worst.energy, fabs(end.h - h));
        worst.exchanged = fmax(worst.exchanged, fabs(h - h0));
        if (n == s->orbits && !(h * s->h_end > 0)) fail_msg("%s: the reference ends with h = %g", s->name, h);
    }
    if (status) fail_msg("%s: %s", s->name, err.text);
    worst.steps_per_orbit = (double)pair.n_step / s->orbits;
    three_path_free(&path);
    return worst;
}

static const struct setting hierarchies[] = {
    {"a_out = 5, e_out = 0", 0.5, 5, 0, 0.7, 0.5, 0.3, 100, -1, 0.1, 200},
    {"a_out = 5, e_out = 0.6, retrograde", 0.1, 5, 0.6, 3.0, 3.14, 0.1, 100, -1, 0.08,
     200}, /* a direct one is unstable */
    {"a_out = 10, e_out = 0", 0.5, 10, 0, 0.7, 0.5, 0.3, 100, -1, 0.1, 200},
    {"a_out = 10, e_out = 0.6", 0.5, 10, 0.6, 0.7, 0.5, 0.3, 100, -1, 0.1, 200},
    {"a_out = 30, e_out = 0", 0.5, 30, 0, 0.7, 0.5, 0.9, 100, -1, 0.1, 200},
    {"a_out = 30, e_out = 0.6", 0.5, 30, 0.6, 0.7, 0.5, 0.3, 100, -1, 0.1, 200},
};
static const struct setting encounters[] = {
    {"fly-by at 3a", 0.5, -5, 1.6, 0.7, -2.5, 0.3, 20, -1, 0.1, 200},
    {"fast fly-by at 3a", 1, -0.5, 7, 1.9, -3.5, 0.7, 10, -1, 0.1, 200},
    {"ionisation", 1, -0.2, 3, 0.4, -5, 0.3, 10, 1, 0.04, 1600},
};

/* 1e-8 a and 1e-6 of the energy exchanged are what is asked for. */
static void check(const struct setting *s)
{
    struct found f = compare(s, s->eta);
    print_message("%-36s eta %g: %5.1f steps/orbit, position %.1e a, energy %.1e, %.1e of what was exchanged\n",
                  s->name, s->eta, f.steps_per_orbit, f.x, f.energy, f.energy / f.exchanged);
    if (!(f.x < 1e-8)) fail_msg("%s: position differs by %.2e a", s->name, f.x);
    if (!(f.energy < 1e-6 * f.exchanged))
        fail_msg("%s: energy differs by %.2e of %.2e", s->name, f.energy, f.exchanged);
}

static void hierarchical_triples(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof hierarchies / sizeof hierarchies[0]; k++) check(&hierarchies[k]);
}

static void passing_bodies(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof encounters / sizeof encounters[0]; k++) check(&encounters[k]);
}

/* With the usual eta = 0.2 the same motion is good to 2^6 times as much. */
static void usual_accuracy(void **state)
{
    (void)state;
    for (size_t k = 2; k < sizeof hierarchies / sizeof hierarchies[0]; k++) {
        struct found f = compare(&hierarchies[k], 0.2);
        print_message("%-36s eta 0.2: %5.1f steps/orbit, position %.1e a\n", hierarchies[k].name, f.steps_per_orbit,
                      f.x);
        if (!(f.x < 64 * 1e-8)) fail_msg("%s: position differs by %.2e a", hierarchies[k].name, f.x);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hierarchical_triples),
        cmocka_unit_test(passing_bodies),
        cmocka_unit_test(usual_accuracy),
    };
    return cmocka_run_group_tests_name("ks_triple", tests, NULL, NULL);
}
