/* Slow-down against the same motion without: a cycle of Kozai and Lidov, and the precession of the apsides. The outer
 * body moves on a Kepler ellipse about the pair. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "common/nbc.h"
#include "regularization/kepler.h"
#include "regularization/ks.h"

static const double PI = 3.14159265358979323846;

struct outer {
    const struct ks_pair *pair;
    double mass, total, x[3], v[3]; /* at time 0 */
};

static int perturb(void *context, double t, double t_lo, const double x[3], const double xdot[3],
                   struct ks_perturbation *out)
{
    const struct outer *o = context;
    double dx[1][3], dv[1][3];
    memcpy(dx[0], o->x, sizeof dx[0]);
    memcpy(dv[0], o->v, sizeof dv[0]);
    int status = kepler_advance(o->total, t + t_lo, dx[0], dv[0]);
    if (!status) ks_tide(o->pair, 1, &o->mass, (const double(*)[3])dx, (const double(*)[3])dv, x, xdot, out);
    return status;
}

/* Pair with a = 1, m = 1 in the x-y plane, its pericentre at angle 0.8; a body of mass 1 at its apocentre, inclined. */
static void begin(struct ks_pair *pair, struct outer *outer, double e, double a_out, double e_out, double inclination,
                  const struct ks_options *options, double kappa)
{
    struct nbc_error err = {0};
    double mass[2] = {0.6, 0.4}, r = 1 - e, s = sqrt((1 + e) / (1 - e));
    double x[2][3] = {{r * cos(0.8), r * sin(0.8), 0}, {0}}, v[2][3] = {{-s * sin(0.8), s * cos(0.8), 0}, {0}};
    double r_out = a_out * (1 + e_out), speed = sqrt(2 / a_out * (1 - e_out) / (1 + e_out));
    *outer = (struct outer){pair, 1, 2, {r_out * cos(inclination), 0, r_out * sin(inclination)}, {0, speed, 0}};
    int status = ks_init(pair, options, mass, (const double(*)[3])x, (const double(*)[3])v, 0, &err);
    ks_set_slowdown(pair, kappa);
    if (!status) status = ks_start(pair, perturb, outer, &err);
    if (status) fail_msg("%s", err.text);
}

struct cycle {
    double period, e_max, kappa, a;
    long steps;
};

/* From one rise of the eccentricity through 0.5 to the next, seen at apocentres. */
static struct cycle kozai(const struct ks_options *options, double kappa)
{
    struct ks_pair pair;
    struct outer outer;
    struct nbc_error err = {0};
    struct cycle cycle = {0};
    begin(&pair, &outer, 0.1, 30, 0.2, 1.25, options, kappa);
    double rise[2], e_last = 1, t_last = 0;
    int64_t orbit = -1;
    for (int rises = 0, low = 1; rises < 2;) {
        if (ks_step(&pair, perturb, &outer, &err)) fail_msg("%s", err.text);
        if (pair.n_orbit == orbit) continue;
        orbit = pair.n_orbit;
        struct ks_elements el;
        ks_elements(&pair, &el);
        cycle.e_max = fmax(cycle.e_max, el.e);
        cycle.kappa = fmax(cycle.kappa, pair.kappa);
        if (el.e < 0.3) low = 1;
        if (low && e_last < 0.5 && el.e >= 0.5) {
            rise[rises++] = t_last + (pair.t - t_last) * (0.5 - e_last) / (el.e - e_last);
            low = 0;
        }
        e_last = el.e;
        t_last = pair.t;
        if (pair.n_step > 10000000) fail_msg("no cycle: e = %g", el.e);
    }
    cycle.period = rise[1] - rise[0];
    cycle.a = -0.5 * pair.m / pair.h;
    cycle.steps = (long)pair.n_step;
    return cycle;
}

/* The limit: 1 percent. Slow-down averages over kappa orbits at a time, which leaves (kappa period/outer period)^2. */
static void kozai_lidov_cycle(void **state)
{
    (void)state;
    const struct ks_options plain = {0.2, 0, 1}, automatic = {0.2, 1e-2, 100};
    struct cycle ref = kozai(&plain, 1);
    const struct cycle slowed[2] = {kozai(&automatic, 1), kozai(&plain, 5)};
    print_message("kappa 1: period %.6g, largest e %.5f, %ld steps\n", ref.period, ref.e_max, ref.steps);
    for (int k = 0; k < 2; k++) {
        const struct cycle *c = &slowed[k];
        print_message("kappa up to %.2f: period %.6g, largest e %.5f, %ld steps, a changed by %.1e\n", c->kappa,
                      c->period, c->e_max, c->steps, c->a - 1);
        assert_true(c->kappa > 1.5 && 3 * c->steps < 2 * ref.steps);
        assert_true(fabs(c->period / ref.period - 1) < 0.01);
        assert_true(fabs(c->e_max / ref.e_max - 1) < 0.01 && fabs((1 - c->e_max) / (1 - ref.e_max) - 1) < 0.01);
    }
}

/* Angle by which the pericentre turns in about two outer revolutions times ten. */
static double precession(const struct ks_options *options, double kappa, double *kappa_end)
{
    struct ks_pair pair;
    struct outer outer;
    struct nbc_error err = {0};
    begin(&pair, &outer, 0.4, 40, 0.2, 0, options, kappa);
    double end = 20 * 2 * PI * sqrt(64000.0 / 2), x[3], v[3];
    if (ks_finish(&pair, end, perturb, &outer, &err)) fail_msg("%s", err.text);
    ks_relative(&pair, x, v);
    *kappa_end = pair.kappa;
    /* Laplace's vector v x l - x/r in the plane */
    double l = x[0] * v[1] - x[1] * v[0], r = hypot(x[0], x[1]);
    return atan2(-v[0] * l - x[1] / r, v[1] * l - x[0] / r) - 0.8;
}

static void precession_rate(void **state)
{
    (void)state;
    const struct ks_options plain = {0.2, 0, 1}, automatic = {0.2, 1e-2, 100};
    double kappa, ref = precession(&plain, 1, &kappa), slow = precession(&automatic, 1, &kappa);
    print_message("pericentre turned by %.6f without, %.6f with slow-down (kappa %.2f)\n", ref, slow, kappa);
    assert_true(kappa > 1.5);
    assert_true(ref > 0.05 && ref < 3); /* the angle has not gone round */
    assert_true(fabs(slow / ref - 1) < 0.01);
    slow = precession(&plain, 5, &kappa);
    print_message("pericentre turned by %.6f with kappa 5\n", slow);
    assert_true(fabs(slow / ref - 1) < 0.01);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(kozai_lidov_cycle), cmocka_unit_test(precession_rate)};
    return cmocka_run_group_tests_name("ks_slowdown", tests, NULL, NULL);
}
