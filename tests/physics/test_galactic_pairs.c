/* Pairs and chains in the field of a galaxy: against direct integration in the same rotating frame. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "nbody6/input/config.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/event.h"
#include "nbody6/state/members.h"
#include "nbody6/state/sim.h"
#include "regularization/ks.h"
#include "tests/support/cluster.h"
#include "tests/support/test_size.h"

/* ---- orbits */

/* Two masses on an orbit around a place, at eccentric anomaly 0 (pericentre) to pi (apocentre); turned about the axes
 * of x and z. */
struct orbit {
    double a, e, anomaly, tilt, turn;
};

static void rotate(const struct orbit *o, const double in[2], double out[3])
{
    const double y = in[1] * cos(o->tilt);
    out[0] = in[0] * cos(o->turn) - y * sin(o->turn);
    out[1] = in[0] * sin(o->turn) + y * cos(o->turn);
    out[2] = in[1] * sin(o->tilt);
}

static void place_orbit(const struct orbit *o, const double mass[2], const double x[3], const double v[3],
                        double x_out[2][3], double v_out[2][3])
{
    const double m = mass[0] + mass[1], b = sqrt(1 - o->e * o->e), c = cos(o->anomaly), s = sin(o->anomaly);
    const double rate = sqrt(m / o->a) / (1 - o->e * c);
    const double flat[2] = {o->a * (c - o->e), o->a * b * s}, speed[2] = {-rate * s, rate * b * c};
    double dx[3], dv[3];
    rotate(o, flat, dx);
    rotate(o, speed, dv);
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 3; k++) {
            const double share = (i ? mass[0] : -mass[1]) / m;
            x_out[i][k] = x[k] + share * dx[k];
            v_out[i][k] = v[k] + share * dv[k];
        }
}

static double period_of(double m, double a)
{
    return 2 * M_PI * sqrt(a * a * a / m);
}

static const double PLACE[3] = {0.7, -0.4, 0.5}, DRIFT[3] = {0.02, -0.03, 0.04};

/* Two stars alone. */
static struct cluster two_stars(const struct orbit *o)
{
    struct cluster c = cluster_alloc(2);
    c.mass[0] = 0.6;
    c.mass[1] = 0.4;
    place_orbit(o, c.mass, PLACE, DRIFT, c.x, c.v);
    return c;
}

/* ---- runs against the exact motion */

struct error {
    double x, v;     /* largest of a star seen from the centre of mass, in units of the size and of the orbital speed */
    double centre;   /* of the centre of mass, in units of the way that it went */
    double jacobi;   /* relative, of the stars as they are */
    double moved;    /* effect of the galaxy on the relative motions, in units of the size */
    double together; /* part of the looks at which all stars were one pair or chain that feels the galaxy */
};

/* Regularized from the start, and nothing left to accuracy of the block steps. */
static struct nb6_config accurate(const struct cluster *c, enum nb6_tide_kind kind, double t_x, double r_min)
{
    struct nb6_config config;
    cluster_config(&config);
    cluster_config_field(&config, kind, c->n, t_x);
    config.integration.eta_irr = config.integration.eta_reg = 1e-4;
    config.integration.dt_max = 0x1p-9;
    config.binaries.wanted = 1;
    config.binaries.n = c->n / 2;
    config.pair.adjust = 0;
    config.pair.r_min = r_min;
    config.pair.dt_min = 1e-3;
    config.pair.gamma_min = 1e-8;
    config.pair.slow_down = 0;
    return config;
}

static void mean(const struct cluster *c, double (*a)[3], double centre[3])
{
    double m = 0;
    memset(centre, 0, 3 * sizeof *centre);
    for (int64_t i = 0; i < c->n; i++) {
        m += c->mass[i];
        for (int k = 0; k < 3; k++) centre[k] += c->mass[i] * a[i][k];
    }
    for (int k = 0; k < 3; k++) centre[k] /= m;
}

/* Largest difference of two sets of vectors, each seen from its mean. */
static double largest(const struct cluster *c, double (*a)[3], double (*b)[3])
{
    double worst = 0, x[3], y[3];
    mean(c, a, x);
    mean(c, b, y);
    for (int64_t i = 0; i < c->n; i++)
        for (int k = 0; k < 3; k++) worst = fmax(worst, fabs((a[i][k] - x[k]) - (b[i][k] - y[k])));
    return worst;
}

static double distance(const double a[3], const double b[3])
{
    return sqrt(pow(a[0] - b[0], 2) + pow(a[1] - b[1], 2) + pow(a[2] - b[2], 2));
}

/* How far apart the relative motions are from those without the galaxy. */
static double effect_of_galaxy(const struct cluster *begin, const struct cluster *in_field, double t, double h)
{
    struct cluster isolated = cluster_copy(begin);
    double worst = 0;
    cluster_integrate_exactly(&isolated, t, h);
    for (int64_t i = 1; i < begin->n; i++)
        for (int k = 0; k < 3; k++)
            worst = fmax(worst, fabs((isolated.x[i][k] - isolated.x[0][k]) - (in_field->x[i][k] - in_field->x[0][k])));
    cluster_free(&isolated);
    return worst;
}

/* Whether all stars are in one pair or chain, and the galaxy acts on their relative motion. */
static int is_one_system(const nb6_t *sim)
{
    int32_t star[CHAIN_MAX];
    for (int64_t slot = 0; slot < sim->subsystems.n_slot; slot++)
        if (sim->subsystems.system[slot].member[0] >= 0 && nb6_stars_of(sim, sim->n + slot, star) == sim->n)
            return sim->subsystems.system[slot].galactic;
    return 0;
}

/* Integrate to t, look at it 16 times, and compare at each.   @param[in] a  size of the system */
static struct error compare(nb6_t *sim, const struct cluster *begin, double t, double h, double a)
{
    enum { LOOKS = 16 };
    struct cluster exact = cluster_copy(begin);
    struct error error = {0};
    double x[3], y[3], start[3], mass = 0, reached = 0;
    mean(begin, begin->x, start);
    for (int64_t i = 0; i < begin->n; i++) mass += begin->mass[i];
    const long double jacobi = cluster_energy_in_field(begin, &sim->run.external);
    for (int look = 1; look <= LOOKS; look++) {
        cluster_evolve(sim, t * look / LOOKS);
        struct cluster now = cluster_now(sim);
        cluster_integrate_in_field(&exact, &sim->run.external, nb6_time_now(sim) - reached, h);
        reached = nb6_time_now(sim);
        mean(&now, now.x, x);
        mean(&exact, exact.x, y);
        error.x = fmax(error.x, largest(begin, now.x, exact.x) / a);
        error.v = fmax(error.v, largest(begin, now.v, exact.v) / sqrt(mass / a));
        error.centre = fmax(error.centre, distance(x, y) / fmax(distance(start, y), a));
        error.jacobi =
            fmax(error.jacobi, fabs((double)((cluster_energy_in_field(&now, &sim->run.external) - jacobi) / jacobi)));
        error.together += is_one_system(sim) / (double)LOOKS;
        cluster_free(&now);
    }
    error.moved = effect_of_galaxy(begin, &exact, reached, h) / a;
    cluster_free(&exact);
    return error;
}

static void tell(const char *what, double strength, const struct error *e)
{
    print_message("%s, tide %.0e: the galaxy moves stars by %.1e; errors: places %.1e, velocities %.1e, centre %.1e, "
                  "Jacobi %.1e\n",
                  what, strength, e->moved, e->x, e->v, e->centre, e->jacobi);
}

/* ---- pairs */

static struct error follow(const struct orbit *o, enum nb6_tide_kind kind, double strength, double eta_u)
{
    struct cluster c = two_stars(o);
    const double t_x = strength / (o->a * o->a * o->a), period = period_of(1, o->a);
    struct nb6_config config = accurate(&c, kind, t_x, 1.2 * o->a);
    config.pair.eta_u = eta_u;
    nb6_t *sim = cluster_start(&config, &c, NULL);
    assert_true(fabs(sim->run.external.t_x / t_x - 1) < 1e-12);
    struct error e = compare(sim, &c, 8 * period, period * pow(1 - o->e, 1.5) / 50, o->a);
    nb6_free(sim);
    cluster_free(&c);
    return e;
}
/* Steps of 2 pi/ETAU an orbit by a rule of fifth order leave up to 1.3e-6 in 8 periods with ETAU = 0.2 and 1/32 of it
 * with each half of ETAU (measured, both galaxies). The centre of mass makes 512 Hermite steps a unit of time and goes
 * with the field for 100 sizes of the pair where that is strongest. */
static void wide_pair(enum nb6_tide_kind kind, const char *name, double strength)
{
    const struct orbit o = {0.05, 0.6, 2, 0.8, 0.5};
    const struct error e = follow(&o, kind, strength, 0.2), half = follow(&o, kind, strength, 0.1);
    tell(name, strength, &e);
    tell("    half the steps", strength, &half);
    assert_true(e.together == 1 && half.together == 1);
    assert_true(e.moved > 0.1); /* or the test would show nothing */
    assert_true(e.x < 5e-6 && e.v < 5e-6 && e.jacobi < 5e-7);
    assert_true(half.x < e.x / 16 + 1e-11 && half.v < e.v / 16 + 1e-11);
    assert_true(e.centre < 1e-9 && half.centre < 1e-9);
}

static void wide_pairs(void **state)
{
    (void)state;
    for (double strength = 1e-4; strength < 0.02; strength *= test_size(10, 1000)) {
        wide_pair(NB6_TIDE_SOLAR, "pair, solar neighbourhood", strength);
        wide_pair(NB6_TIDE_POINT_MASS, "pair, point mass", strength);
    }
}

/* A tide of 2e-10, below GMIN: the galaxy moves the centre of mass alone, which is in the same place as that of two
 * stars would be, and the orbit stays what it was. */
static void tight_pair(void **state)
{
    (void)state;
    const struct orbit o = {0.002, 0.6, 2, 0.8, 0.5};
    struct cluster c = two_stars(&o), point = cluster_alloc(1);
    struct nb6_config config = accurate(&c, NB6_TIDE_SOLAR, 2e-10 / (o.a * o.a * o.a), 0.01);
    double x[3];
    nb6_t *sim = cluster_start(&config, &c, NULL);
    point.mass[0] = 1;
    mean(&c, c.x, point.x[0]);
    mean(&c, c.v, point.v[0]);
    const double h = sim->subsystems.ks[0].h;
    assert_int_equal(sim->subsystems.system[0].galactic, 0);
    cluster_evolve(sim, 4);
    cluster_integrate_in_field(&point, &sim->run.external, 4, 0x1p-6);
    struct cluster now = cluster_now(sim);
    mean(&now, now.x, x);
    print_message("tight pair: error of the centre %.1e, way %.1f\n", distance(x, point.x[0]), distance(x, PLACE));
    assert_true(sim->subsystems.system[0].galactic == 0 && sim->subsystems.ks[0].h == h &&
                sim->subsystems.ks[0].n_step == 0);
    assert_true(distance(x, PLACE) > 0.2);
    /* Steps of 2^-9 in a field that changes it with a frequency of order 1: h^4 = 1e-11. */
    assert_true(distance(x, point.x[0]) < 1e-10);
    nb6_free(sim);
    cluster_free(&c);
    cluster_free(&now);
    cluster_free(&point);
}

/* Elements after 200 periods, in the rotating frame. The Coriolis force c v turns the orbit by c/2n of a radian with
 * each radian of the orbital motion of frequency n, and elements go up and down by as much within an orbit. Slowed by
 * kappa the pair makes 1/kappa of its orbits, each of which does kappa times as much: the mean motion is the same, and
 * what goes up and down is kappa times as large. */
static void slowed_pair(void **state)
{
    (void)state;
    TEST_SKIP_SANITIZED();
    for (double strength = 1e-7; strength < 2e-6; strength *= 10) {
        const struct orbit o = {0.01, 0.6, 2, 0.8, 0.5};
        struct cluster c = two_stars(&o), exact = two_stars(&o);
        const double t_x = strength / (o.a * o.a * o.a), period = period_of(1, o.a);
        struct nb6_config config = accurate(&c, NB6_TIDE_SOLAR, t_x, 1.2 * o.a);
        config.pair.slow_down = 1;
        nb6_t *sim = cluster_start(&config, &c, NULL);
        cluster_evolve(sim, 200 * period);
        cluster_integrate_in_field(&exact, &sim->run.external, nb6_time_now(sim), period / 150);
        struct cluster now = cluster_now(sim);
        const struct cluster_orbit is = cluster_orbit_of(&now, o.a), should = cluster_orbit_of(&exact, o.a),
                                   was = cluster_orbit_of(&c, o.a);
        const double kappa = sim->subsystems.ks[0].kappa,
                     swing = kappa * sim->run.external.coriolis * period / (2 * M_PI);
        const double change = cluster_orbits_apart(&was, &should), error = cluster_orbits_apart(&is, &should);
        print_message("slowed by %.1f, tide %.0e: elements changed by %.3f, error %.4f, bound %.4f; of the axis %.1e\n",
                      kappa, strength, change, error, swing, fabs(is.a / should.a - 1));
        assert_true(kappa > 2 && sim->subsystems.system[0].galactic);
        assert_true(change > 10 * swing);
        assert_true(error < swing);
        /* The tide alone does work: kappa times 3 t_x a^3/m within an orbit. */
        assert_true(fabs(is.a / should.a - 1) < 3 * kappa * strength);
        nb6_free(sim);
        cluster_free(&c);
        cluster_free(&now);
        cluster_free(&exact);
    }
}

/* ---- chains */

/* Three or four stars: a pair, and at some of its size a star or another pair, on their way to each other. */
static struct cluster few_stars(int n, double a)
{
    struct cluster c = cluster_alloc(n);
    const struct orbit outer = {a, 0.2, -2.5, 0.3, 1};
    const struct orbit inner[2] = {{0.3 * a, 0.3, 1, 1.1, 0.2}, {0.2 * a, 0.5, 2, 0.4, 2}};
    const double part[2][2] = {{0.35, 0.25}, {0.25, 0.15}}, mass[2] = {0.6, 0.4};
    double x[2][3], v[2][3];
    place_orbit(&outer, mass, PLACE, DRIFT, x, v);
    for (int p = 0; 2 * p + 1 < n; p++) {
        memcpy(&c.mass[2 * p], part[p], sizeof part[p]);
        place_orbit(&inner[p], part[p], x[p], v[p], &c.x[2 * p], &c.v[2 * p]);
    }
    if (n == 3) {
        c.mass[2] = mass[1];
        memcpy(c.x[2], x[1], sizeof c.x[2]);
        memcpy(c.v[2], v[1], sizeof c.v[2]);
    }
    return c;
}

/* Three outer periods, in tides at the semi-major axis that leave the apocentre below 0.02, where a system would be too
 * wide for a chain. Steps of a chain leave 1e-14 each, which encounters make 1e-11 to 5e-10 of (measured); another
 * factor of 20 is allowed. */
static void chain(int n, double strength, enum chain_method method)
{
    const double a = 0.05;
    struct cluster c = few_stars(n, a);
    struct nb6_config config = accurate(&c, NB6_TIDE_SOLAR, strength / (a * a * a), 4 * a);
    char what[64];
    config.pair.chain_method = method;
    nb6_t *sim = cluster_start(&config, &c, NULL);
    const struct error e = compare(sim, &c, 3 * period_of(1, a), period_of(0.4, 0.2 * a) / 200, a);
    snprintf(what, sizeof what, "chain of %d, method %s", n, chain_method_name(method));
    tell(what, strength, &e);
    assert_int_equal(sim->run.counters.chains_formed, 1);
    assert_true(e.together == 1);
    assert_true(e.moved > 0.1);
    assert_true(e.x < 1e-8 && e.v < 1e-8 && e.jacobi < 1e-9);
    assert_true(e.centre < 1e-9);
    nb6_free(sim);
    cluster_free(&c);
}

static void chains(void **state)
{
    (void)state;
    for (int n = 3; n <= 4; n++)
        for (int method = 0; method < CHAIN_METHODS; method++)
            for (double strength = 1e-4; strength < 1e-3; strength *= test_size(5, 50))
                chain(n, strength, (enum chain_method)method);
}

int main(void)
{
    omp_set_num_threads(1); /* several test programs run at once, and the number of threads changes no result */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wide_pairs),
        cmocka_unit_test(tight_pair),
        cmocka_unit_test(slowed_pair),
        cmocka_unit_test(chains),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
