/* A Plummer sphere with softened forces holds its profile over 50 crossing times: 65536 bodies where the backend is a
 * GPU, 8192 on a processor (minutes on two cores). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "gpunb/gpunb.h"
#include "nbody6/analysis/energy.h"
#include "nbody6/analysis/frame.h"
#include "nbody6/analysis/structure.h"
#include "nbody6/collisionless/collisionless.h"
#include "nbody6/galaxy/external.h"
#include "nbody6/state/ledger.h"
#include "tests/support/cluster.h"

/* The crossing time is 2 sqrt(2) where M = 1 and E = -1/4: 50 of them are 141.4. */
enum { T_END = 142 };

static const double SOFTENING = 0.03, STEP = 0x1p-5;
static const double PLUMMER_RADIUS = 0.58904862; /* 3 pi/16 */

struct state {
    double energy, radius[NB6_LAGR_COUNT];
};

static struct nb6_collisionless *start(int64_t n)
{
    const struct nb6_collisionless_options options = {
        .softening = SOFTENING, .dt = STEP, .steps = NB6_COLLISIONLESS_SHARED};
    struct cluster c = cluster_plummer(n, 15);
    struct nb6_collisionless *s = NULL;
    struct nbc_error err = {0};
    if (nb6_collisionless_create(&s, n, NULL, c.mass, (const double(*)[3])c.x, (const double(*)[3])c.v, &options, &err))
        fail_msg("%s", err.text);
    cluster_free(&c);
    return s;
}

static struct state look(struct nb6_collisionless *s)
{
    const struct nb6_external none = {0};
    struct nb6_energy e;
    struct nb6_frame frame;
    struct nb6_structure structure;
    struct nbc_error err = {0};
    struct state state;
    if (nb6_collisionless_frame(s, NB6_FRAME_POTENTIAL, &frame, &err)) fail_msg("%s", err.text);
    nb6_energy_of_frame(&frame, &none, &e);
    if (nb6_structure_find(frame.n, frame.mass, (const double(*)[3])frame.x, (const double(*)[3])frame.v, &structure,
                           &err))
        fail_msg("%s", err.text);
    state.energy = e.total;
    memcpy(state.radius, structure.r_lagr, sizeof state.radius);
    nb6_frame_free(&frame);
    return state;
}

/* Standard deviation of ln r of the sphere that holds a share f of n bodies: that of their number,
 * sqrt(f (1 - f)/n)/f, over d ln M/d ln r = 3/(1 + r^2) of M = (1 + r^-2)^(-3/2). */
static double scatter(double f, int64_t n)
{
    const double r2 = 1 / (pow(f, -2.0 / 3) - 1);
    return sqrt((1 - f) / (f * (double)n)) * (1 + r2) / 3;
}

/* The share of the central density, and so of the force in the core, that softening takes: bodies act as Plummer
 * spheres of density 3 eps^2/(4 pi) (r^2 + eps^2)^(-5/2). Trapezoids in u = asinh(r/eps). */
static double softened_share(double softening)
{
    const double step = 0.001, ratio = softening / PLUMMER_RADIUS;
    double sum = 0;
    for (double u = step; u < 20; u += step) {
        const double r = sinh(u);
        sum += step * 3 * r * r * pow(cosh(u), -4) * pow(1 + ratio * ratio * r * r, -2.5);
    }
    return 1 - sum;
}

/* Half-mass relaxation time (Spitzer & Hart 1971, ApJ 164, 399), where encounters closer than the softening do not
 * count. */
static double relaxation_time(int64_t n)
{
    const double r_half = 1.3048 * PLUMMER_RADIUS;
    return 0.138 * (double)n * pow(r_half, 1.5) / log(r_half / SOFTENING);
}

/* Radii that hold 10 to 90 per cent of the mass are those of the start within the sum of
 * - scatter: 4 standard deviations of the difference of two samples, as orbits are at other phases;
 * - softening: the sphere was in equilibrium with forces that are not softened. With its force less by a share s a
 *   harmonic core expands by s/2; its oscillation on the way there goes to s;
 * - relaxation: a Plummer sphere of point masses collapses after 15.7 half-mass relaxation times (Cohn 1980, ApJ 242,
 *   765), and inner radii shrink by less than the share of that time until late. */
static void check_profile(const struct state *first, const struct state *last, int64_t n)
{
    const double common = softened_share(SOFTENING) + T_END / (15.7 * relaxation_time(n));
    int checked = 0;
    for (int k = 0; k < NB6_LAGR_COUNT; k++) {
        const double f = nb6_lagr_fractions[k], change = last->radius[k] / first->radius[k] - 1;
        const double tolerance = 4 * sqrt(2) * scatter(f, n) + common;
        if (f < 0.0999 || f > 0.9001) continue;
        print_message("r(%.1f) %.4f, changed by %+.3f; tolerance %.3f\n", f, last->radius[k], change, tolerance);
        assert_true(fabs(change) < tolerance);
        checked++;
    }
    assert_int_equal(checked, 9);
}

/* The energy error of shared steps does not grow but oscillates, by (STEP/t_dynamical)^2 times what is left in the mean
 * over bodies: below 1e-3 with 1/32 (test_collisionless.c), and the chance change of it by sums in float is less. */
static void sphere_holds_its_profile(void **state)
{
    (void)state;
    struct nbc_error err = {0};
    struct nb6_collisionless *s = start(8192);
    const int on_gpu = strncmp(gpunb_info(s->force)->name, "cuda", 4) == 0;
    if (on_gpu) {
        nb6_collisionless_free(s);
        s = start(65536);
    }
    print_message("%lld bodies%s\n", (long long)s->n, on_gpu ? "" : ": no GPU is there, so not 65536");
    const struct state first = look(s);
    struct state now = first;
    for (int t = 2; t <= T_END; t += 2) {
        if (nb6_collisionless_evolve(s, t, &err)) fail_msg("%s", err.text);
        now = look(s);
        if (fabs(now.energy / first.energy - 1) >= 1e-3)
            fail_msg("t = %d: energy %.8f of %.8f", t, now.energy, first.energy);
    }
    print_message("energy error %.2e\n", now.energy / first.energy - 1);
    check_profile(&first, &now, s->n);
    nb6_collisionless_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sphere_holds_its_profile)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
