/* Chains in fields that depend on velocities: in a frame that turns, where the motion is known exactly from the one
 * that does not; in the linearised tide of a galaxy, against an extrapolation of the same equations in extended
 * precision; by both formulations, with and without slow-down. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "common/nbc.h"
#include "regularization/hierarchy.h"
#include "tests/support/fewbody.h"

/* a = (tide_x x + turn v_y, tide_y y - turn v_x, tide_z z); a frame that turns about z with w has turn = 2 w. */
struct frame {
    double tide[3], turn;
};

static struct frame turning(double w)
{
    return (struct frame){.tide = {w * w, w * w, 0}, .turn = 2 * w};
}

static struct frame galaxy(double w)
{
    return (struct frame){.tide = {3 * w * w, 0, -w * w}, .turn = 2 * w};
}

static int in_frame(void *context, double t, int n, const double mass[], const double cm[3], const double x[][3],
                    const double v[][3], double acc[][3])
{
    const struct frame *f = context;
    (void)t;
    (void)mass;
    (void)cm;
    assert_non_null(v);
    for (int i = 0; i < n; i++) {
        acc[i][0] = f->tide[0] * x[i][0] + f->turn * v[i][1];
        acc[i][1] = f->tide[1] * x[i][1] - f->turn * v[i][0];
        acc[i][2] = f->tide[2] * x[i][2];
    }
    return 0;
}

static struct chain_field field_of(struct frame *frame)
{
    return (struct chain_field){.acceleration = in_frame, .context = frame, .by_velocity = 1};
}

/* Energy that the tide gives to all members. */
static double tidal_energy(const struct frame *f, int n, const struct chain_body body[])
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 3; k++) sum += 0.5 * body[i].mass * f->tide[k] * body[i].x[k] * body[i].x[k];
    return sum;
}

/* The conserved quantity of a field that is constant in its frame. */
static double jacobi(const struct frame *f, const struct chain *c)
{
    struct chain_body body[CHAIN_MAX];
    chain_bodies(c, body);
    return chain_energy(c) - tidal_energy(f, c->n, body);
}

/* An inclined pair of semi-major axis 1 and e = 0.6, and with `n` = 3 a third body that passes it closely. Their centre
 * of mass is at rest at the origin. */
static void make(int n, struct chain_body body[])
{
    const double far = 1.6, speed = sqrt(1.5 * 0.4 / 1.6), x[3][3] = {{0}, {0.8 * far, 0, 0.6 * far}, {5, -1, 2}};
    const double v[3][3] = {{0}, {0, speed, 0}, {-0.7, 0.1, -0.2}}, mass[3] = {1, 0.5, 0.8};
    double total = 0, centre[2][3] = {{0}};
    for (int i = 0; i < n; i++) {
        total += mass[i];
        for (int k = 0; k < 3; k++) {
            centre[0][k] += mass[i] * x[i][k];
            centre[1][k] += mass[i] * v[i][k];
        }
    }
    for (int i = 0; i < n; i++) {
        body[i] = fewbody(i, mass[i], x[i], v[i]);
        for (int k = 0; k < 3; k++) {
            body[i].x[k] -= centre[0][k] / total;
            body[i].v[k] -= centre[1][k] / total;
        }
    }
}

/* Bodies as seen at time t from a frame that turns with w. */
static void turn(int n, struct chain_body body[], double w, double t)
{
    const double c = cos(w * t), s = sin(w * t);
    for (int i = 0; i < n; i++) {
        double *x = body[i].x, *v = body[i].v;
        const double x0[2] = {c * x[0] + s * x[1], c * x[1] - s * x[0]};
        const double v0[2] = {c * v[0] + s * v[1], c * v[1] - s * v[0]};
        memcpy(x, x0, sizeof x0);
        v[0] = v0[0] + w * x0[1];
        v[1] = v0[1] - w * x0[0];
    }
}

/* Coriolis and centrifugal force together are nothing but another frame. */
static void turning_frame(void **state)
{
    const double w = 0.15, t_end = 14;
    struct frame frame = turning(w);
    const struct chain_field field = field_of(&frame);
    for (int n = 2; n <= 3; n++) {
        for (int rough = 0; rough < 2; rough++) {
            struct chain_body at_rest[3], turned[3], should[3], is[3];
            make(n, at_rest);
            memcpy(turned, at_rest, sizeof turned);
            turn(n, turned, w, 0);
            struct chain a = fewbody_start(*state, rough ? 1e-8 : 1e-14, n, at_rest);
            struct chain b = fewbody_start(*state, rough ? 1e-8 : 1e-14, n, turned);
            const double before = jacobi(&frame, &b);
            fewbody_advance(&a, t_end, NULL, NULL);
            fewbody_advance(&b, t_end, &field, NULL);
            chain_bodies(&a, should);
            chain_bodies(&b, is);
            turn(n, should, w, t_end);
            double error = fewbody_distance(n, is, should), j = jacobi(&frame, &b) / before - 1;
            double booked = (chain_energy(&b) - chain_energy_booked(&b)) / before;
            double work = (double)b.evaluations / (double)a.evaluations;
            print_message("%s: %d bodies, tolerance %g: %.1e from the frame at rest, Jacobi energy %.1e, not booked "
                          "%.1e, work %.2f\n",
                          (char *)*state, n, b.options.tolerance, error, j, booked, work);
            /* Some 30 steps of the tolerance; the third body's passage multiplies earlier errors by some 10. An
             * integration with odd powers of the step in its error would need more than twice the work. */
            assert_true(error < (rough ? 1e-5 : 1e-11));
            assert_true(fabs(j) < (rough ? 1e-6 : 1e-12) && fabs(booked) < (rough ? 1e-6 : 1e-12));
            assert_true(work < 1.5);
        }
    }
}

/* ---- the same equations, extrapolated in extended precision */

enum { COLUMNS = 8, VARIABLES = 18 };

static void derivative(const struct frame *f, int n, const struct chain_body body[], const long double *y,
                       long double *d)
{
    for (int i = 0; i < n; i++) {
        const long double *x = y + 6 * i, *v = x + 3;
        memcpy(d + 6 * i, v, 3 * sizeof *v);
        d[6 * i + 3] = f->tide[0] * x[0] + f->turn * v[1];
        d[6 * i + 4] = f->tide[1] * x[1] - f->turn * v[0];
        d[6 * i + 5] = f->tide[2] * x[2];
        for (int j = 0; j < n; j++) {
            long double r[3], r2 = 0;
            if (j == i) continue;
            for (int k = 0; k < 3; k++) {
                r[k] = y[6 * j + k] - x[k];
                r2 += r[k] * r[k];
            }
            for (int k = 0; k < 3; k++) d[6 * i + 3 + k] += body[j].mass * r[k] / (r2 * sqrtl(r2));
        }
    }
}

/* Gragg's midpoint rule in 2, 4, 6, ... parts, extrapolated: 16th order. */
static void reference_step(const struct frame *f, int n, const struct chain_body body[], long double h, long double *y)
{
    long double row[COLUMNS][VARIABLES], before[VARIABLES], now[VARIABLES], d[VARIABLES];
    const int size = 6 * n;
    for (int column = 0; column < COLUMNS; column++) {
        const int parts = 2 * (column + 1);
        derivative(f, n, body, y, d);
        for (int i = 0; i < size; i++) {
            before[i] = y[i];
            now[i] = y[i] + h / parts * d[i];
        }
        for (int part = 1; part < parts; part++) {
            derivative(f, n, body, now, d);
            for (int i = 0; i < size; i++) {
                long double next = before[i] + 2 * h / parts * d[i];
                before[i] = now[i];
                now[i] = next;
            }
        }
        for (int i = 0; i < size; i++) {
            long double lower = row[0][i], value = row[0][i] = now[i];
            for (int j = 1; j <= column; j++) {
                long double ratio = (long double)(column + 1) / (column + 1 - j);
                value += (value - lower) / (ratio * ratio - 1);
                lower = row[j][i];
                row[j][i] = value;
            }
        }
    }
    memcpy(y, row[COLUMNS - 1], (size_t)size * sizeof *y);
}

/* Bodies at t_end; the difference between two numbers of steps is their error. */
static void reference(const struct frame *f, int n, const struct chain_body begin[], double t_end,
                      struct chain_body end[])
{
    struct chain_body twice[2][3];
    for (int pass = 0; pass < 2; pass++) {
        const int steps = pass ? 1600 : 1000;
        long double y[VARIABLES];
        for (int i = 0; i < n; i++)
            for (int k = 0; k < 3; k++) {
                y[6 * i + k] = begin[i].x[k];
                y[6 * i + 3 + k] = begin[i].v[k];
            }
        for (int step = 0; step < steps; step++) reference_step(f, n, begin, (long double)t_end / steps, y);
        for (int i = 0; i < n; i++)
            for (int k = 0; k < 3; k++) twice[pass][i].x[k] = (double)y[6 * i + k];
    }
    /* A hundredth of what is asked of the chain. */
    assert_true(fewbody_distance(n, twice[0], twice[1]) < 1e-13);
    memcpy(end, twice[1], sizeof twice[1]);
}

static void tide_of_a_galaxy(void **state)
{
    const double w = 0.15, t_end = 14;
    struct frame frame = galaxy(w);
    const struct chain_field field = field_of(&frame);
    for (int n = 2; n <= 3; n++) {
        struct chain_body begin[3], should[3], alone[3], is[3];
        make(n, begin);
        reference(&frame, n, begin, t_end, should);
        struct chain c = fewbody_start(*state, 1e-14, n, begin), without = c;
        const double before = jacobi(&frame, &c);
        fewbody_advance(&c, t_end, &field, NULL);
        fewbody_advance(&without, t_end, NULL, NULL);
        chain_bodies(&c, is);
        chain_bodies(&without, alone);
        double error = fewbody_distance(n, is, should), effect = fewbody_distance(n, alone, should);
        double j = jacobi(&frame, &c) / before - 1, booked = (chain_energy(&c) - chain_energy_booked(&c)) / before;
        print_message("%s: %d bodies in the tide: %.1e from the reference, %.1e without it, Jacobi energy %.1e, not "
                      "booked %.1e\n",
                      (char *)*state, n, error, effect, j, booked);
        /* As in a turning frame. */
        assert_true(effect > 0.1);
        assert_true(error < 1e-11);
        assert_true(fabs(j) < 1e-12 && fabs(booked) < 1e-12);
    }
}

/* ---- slow-down */

/* A pair of semi-major axis 0.01 and e = 0.5, its apsides along x, and a body that circles it at a distance of 3. */
static struct chain start_tight(const char *method, double slow)
{
    const double speed = sqrt(2 / 0.01 * 0.5 / 1.5) / 2, outer = 1;
    struct chain_body body[3] = {fewbody(1, 1, (double[3]){0.0075 - 1, 0, 0}, (double[3]){0, speed, -outer / 3}),
                                 fewbody(2, 1, (double[3]){-0.0075 - 1, 0, 0}, (double[3]){0, -speed, -outer / 3}),
                                 fewbody(3, 1, (double[3]){2, 0, 0}, (double[3]){0, 0, 2 * outer / 3})};
    struct chain_options options;
    struct nbc_error err = {0};
    struct chain c;
    chain_options_init(&options);
    options.slow = slow;
    if (chain_method_find(method, &options.method, &err) || chain_init(&c, &options, 3, body, 0, &err))
        fail_msg("%s", err.text);
    return c;
}

static double largest_kappa(const struct chain *c)
{
    double largest = 1;
    for (int k = 0; k + 1 < c->n; k++) largest = fmax(largest, c->kappa[k]);
    return largest;
}

/* Direction of the apsides of bodies 1 and 2 in the plane of x and y, by velocities in a frame that turns with w. */
static double apsides(const struct chain *c, double w)
{
    struct chain_body b[3];
    chain_bodies(c, b);
    double x = b[0].x[0] - b[1].x[0], y = b[0].x[1] - b[1].x[1], z = b[0].x[2] - b[1].x[2];
    double u = b[0].v[0] - b[1].v[0] - w * y, v = b[0].v[1] - b[1].v[1] + w * x, s = b[0].v[2] - b[1].v[2];
    double r = sqrt(x * x + y * y + z * z), xv = x * u + y * v + z * s, v2 = u * u + v * v + s * s, m = 2;
    return atan2((v2 - m / r) * y - xv * v, (v2 - m / r) * x - xv * u);
}

/* A pair keeps the direction of its apsides, whatever the frame: seen from one that turns they turn backwards, at the
 * same rate whether the pair is slowed down or not. By slowed velocities they would turn kappa times slower. */
static void slowed_pair(void **state)
{
    const double w = 0.02, t_end = 20;
    struct frame frame = turning(w);
    const struct chain_field field = field_of(&frame);
    struct chain fast = start_tight(*state, 0), c = start_tight(*state, 1e-3);
    const double begin = apsides(&c, w), before = jacobi(&frame, &c);
    double kappa = 1;
    for (int k = 1; k <= 20; k++) {
        fewbody_advance(&c, k * t_end / 20, &field, NULL);
        kappa = fmax(kappa, largest_kappa(&c));
    }
    fewbody_advance(&fast, t_end / 20, &field, NULL);
    chain_slow_end(&c);
    double turned = remainder(apsides(&c, w) - begin, 2 * 3.14159265358979324), j = jacobi(&frame, &c) / before - 1;
    double booked = (chain_energy(&c) - chain_energy_booked(&c)) / before;
    print_message("%s: kappa %g: apsides turned by %.6f, should be %.6f; Jacobi energy %.1e, not booked %.1e, %ld "
                  "forces, without slow-down %ld\n",
                  (char *)*state, kappa, turned, -w * t_end, j, booked, (long)c.evaluations,
                  (long)(20 * fast.evaluations));
    assert_true(kappa >= 8);
    /* Amplitude of a slowed orbit: the largest perturbation times kappa, which is 1e-3 at most, over e. */
    assert_true(fabs(turned + w * t_end) < 2e-3);
    /* chain_slow_end gives the pair the energy that it should have, to the second order of its change. */
    assert_true(fabs(booked) < 1e-9);
    assert_true(fabs(j) < 1e-6);
    assert_true(c.evaluations < 5 * fast.evaluations);
}

/* A Coriolis force alone does no work: the booked energy stays, slowed or not. */
static void no_work(void **state)
{
    struct frame frame = {.turn = 0.04};
    const struct chain_field field = field_of(&frame);
    for (int slow = 0; slow < 2; slow++) {
        struct chain c = start_tight(*state, slow ? 1e-3 : 0);
        const double begin = chain_energy_booked(&c);
        fewbody_advance(&c, slow ? 20 : 0.5, &field, NULL);
        double booked = chain_energy_booked(&c) / begin - 1;
        chain_slow_end(&c);
        double energy = chain_energy(&c) / begin - 1;
        print_message("%s: slow-down %d: work of a Coriolis force %.1e, energy error %.1e\n", (char *)*state, slow,
                      booked, energy);
        /* Several hundred steps of 1e-14. */
        assert_true(fabs(booked) < 1e-11);
        assert_true(fabs(energy) < 1e-9);
    }
}

#define BOTH(test) cmocka_unit_test_prestate(test, "chain"), cmocka_unit_test_prestate(test, "ar")

int main(void)
{
    const struct CMUnitTest tests[] = {BOTH(turning_frame), BOTH(tide_of_a_galaxy), BOTH(slowed_pair), BOTH(no_work)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
