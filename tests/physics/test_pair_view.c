/* Bodies that pass a hard pair from afar feel the mean over its orbit: against direct integration, which knows of no
 * means, and by the steps that it takes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "nbody6/input/config.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/event.h"
#include "nbody6/state/sim.h"
#include "tests/support/cluster.h"
#include "tests/support/test_size.h"

enum { FIELD_STARS = 8 };
/* So light and small that no wave of their energy shows in that of the field; orbital velocity 10 in N-body units. */
static const double SEMI = 2e-7, MASS = 1e-5, T_END = 1.2e-5;
/* Of exact integrations, a thirtieth of a period: half as long changes no error below by more than a part of a
 * thousand.
 */
static const double STEP = 4e-9;

/* Eccentric anomaly. */
static double anomaly_of(double mean_anomaly, double e)
{
    double anomaly = mean_anomaly;
    for (int k = 0; k < 50; k++) anomaly -= (anomaly - e * sin(anomaly) - mean_anomaly) / (1 - e * cos(anomaly));
    return anomaly;
}

/* Two stars on an orbit of semi-major axis SEMI and eccentricity e about (x, y, 0), so many periods after apocentre. */
static void put_pair(struct cluster *c, int64_t at, const double m[2], double x, double y, double vy, double e,
                     double periods)
{
    const double to_apocentre[3] = {0.8, 0, 0.6}, across[3] = {0, 1, 0};
    const double sum = m[0] + m[1], frequency = sqrt(sum / (SEMI * SEMI * SEMI)), minor = sqrt(1 - e * e);
    const double anomaly = anomaly_of(M_PI * (1 + 2 * periods), e), speed = frequency / (1 - e * cos(anomaly));
    for (int i = 0; i < 2; i++) {
        const double part = SEMI * (i ? -m[0] / sum : m[1] / sum);
        c->mass[at + i] = m[i];
        for (int k = 0; k < 3; k++) {
            c->x[at + i][k] = -part * ((cos(anomaly) - e) * to_apocentre[k] + minor * sin(anomaly) * across[k]);
            c->v[at + i][k] = part * speed * (sin(anomaly) * to_apocentre[k] - minor * cos(anomaly) * across[k]);
        }
        c->x[at + i][0] += x;
        c->x[at + i][1] += y;
        c->v[at + i][1] += vy;
    }
}

/* Results of two runs and two integrations of the same stars. */
struct passage {
    double worst;  /* largest error of a coordinate of a star that passes */
    double pull;   /* displacement by a pair beyond that by a point mass: the scale of errors */
    int64_t steps; /* of all bodies */
};

/* A star, or a second pair, that passes a first one. */
struct encounter {
    double apocentres; /* distance, of those of the first pair */
    double speed, e;
    int second;  /* members of what passes */
    int phases;  /* of the first pair, over which what is exact is averaged */
    double part; /* of the pull, that may be wrong */
};

static const double UNEQUAL[2] = {1.4e-5, 0.6e-5};

/* The stars when the first pair is so many periods after apocentre. */
static struct cluster stars_of(const struct encounter *of, double periods)
{
    struct cluster c = cluster_with_field(2 + of->second, FIELD_STARS, 3);
    const double distance = of->apocentres * (1 + of->e) * SEMI, y = -0.5 * of->speed * T_END;
    put_pair(&c, 0, UNEQUAL, 0, 0, 0, of->e, periods);
    if (of->second == 2) {
        put_pair(&c, 2, (double[2]){MASS, MASS}, distance, y, of->speed, 0.3, 0);
        return c;
    }
    c.mass[2] = MASS;
    c.x[2][0] = distance;
    c.x[2][1] = y;
    c.v[2][1] = of->speed;
    return c;
}

/* Final positions of the passing stars, averaged over phases of the first pair: the mean over an orbit cannot include
 * the effect of the phase at the beginning, where the encounter starts at once. */
static void integrate_exactly(const struct encounter *of, double t, double x[2][3])
{
    memset(x, 0, 2 * sizeof x[0]);
    for (int p = 0; p < of->phases; p++) {
        struct cluster c = stars_of(of, (double)p / of->phases);
        cluster_integrate_exactly(&c, t, STEP);
        for (int i = 0; i < of->second; i++)
            for (int k = 0; k < 3; k++) x[i][k] += c.x[2 + i][k] / of->phases;
        cluster_free(&c);
    }
}

/* The same of the first one, with a point of mass in place of the pair. */
static void integrate_points(const struct encounter *of, double t, double x[3])
{
    struct cluster c = stars_of(of, 0);
    c.mass[0] += c.mass[1];
    c.mass[1] = 0;
    memset(c.x[0], 0, sizeof c.x[0]);
    memset(c.v[0], 0, sizeof c.v[0]);
    cluster_integrate_exactly(&c, t, STEP);
    memcpy(x, c.x[2], sizeof c.x[2]);
    cluster_free(&c);
}

/* A run of the stars to T_END.   @param[out] steps  of all bodies */
static nb6_t *run(double eta, const struct encounter *of, int64_t *steps)
{
    struct nb6_config config;
    struct cluster c = stars_of(of, 0);
    cluster_config(&config);
    config.integration.eta_irr = config.integration.eta_reg = eta;
    config.binaries.wanted = 1;
    config.binaries.n = of->second == 2 ? 2 : 1;
    config.pair.adjust = 0;
    config.pair.r_min = 10 * SEMI;
    config.pair.dt_min = 1e-8;
    nb6_t *sim = cluster_start(&config, &c, NULL);
    const uint64_t before = sim->run.counters.steps_irr;
    cluster_evolve(sim, T_END);
    assert_int_equal(sim->subsystems.count, config.binaries.n);
    *steps = (int64_t)(sim->run.counters.steps_irr - before);
    cluster_free(&c);
    return sim;
}

static struct passage pass(double eta, const struct encounter *of)
{
    struct passage is = {0};
    double exact[2][3], points[3];
    nb6_t *sim = run(eta, of, &is.steps);
    struct cluster now = cluster_now(sim);
    integrate_exactly(of, nb6_time_now(sim), exact);
    integrate_points(of, nb6_time_now(sim), points);
    for (int k = 0; k < 3; k++) {
        is.pull = fmax(is.pull, fabs(points[k] - exact[0][k]));
        for (int i = 0; i < of->second; i++) is.worst = fmax(is.worst, fabs(now.x[2 + i][k] - exact[i][k]));
    }
    nb6_free(sim);
    cluster_free(&now);
    return is;
}

/* Beyond the distances where the mean takes over, 15 to 22 apocentres here, and through them; ETAI and ETAR so that all
 * other errors stay small. The remaining error of the force comes from the terms that the mean leaves out, and from the
 * orbit of a remote pair, which is that of the beginning: bounds are two to four times the measured errors. Through
 * those distances, and with two pairs, the exact result is that of one phase each. */
static void errors_are_small(void **state)
{
    const struct encounter all[] = {
        {30, 1.5, 0, 1, 1, 1.0 / 1500},   {30, 1.5, 0.35, 1, 8, 1.0 / 10000}, {34.6, 1.5, 0.3, 2, 1, 1.0 / 500},
        {19, 1.5, 0.7, 1, 1, 1.0 / 2000}, {21.5, 1.5, 0.3, 2, 1, 1.0 / 500},  {19, 1.5, 0.35, 1, 1, 1.0 / 2000},
        {30, 1.5, 0.7, 1, 8, 1.0 / 1500},
    };
    (void)state;
    for (size_t k = 0; k < (size_t)test_seeds(5, sizeof all / sizeof *all); k++) {
        const struct encounter *of = &all[k];
        const struct passage is = pass(0.002, of);
        print_message("e = %.2f, %d stars at %.0f apocentres: error %.1e of %.1e, a %.0fth, %lld steps\n", of->e,
                      of->second, of->apocentres, is.worst, is.pull, is.pull / is.worst, (long long)is.steps);
        assert_true(is.pull > 1e-13 && is.worst < of->part * is.pull);
    }
}

/* A period is 1.3e-7 here. To resolve it, a star and a centre of mass take thirty steps each in every one of the
 * hundred of a passage, 6000 of the two. */
static void steps_are_long(void **state)
{
    (void)state;
    for (int second = 1; second <= 2; second++) {
        const struct encounter of = {80 / 1.3, 3, 0.3, second, 1, 0};
        int64_t steps;
        nb6_free(run(0.02, &of, &steps));
        print_message("%d stars at 80 a: %lld steps\n", second, (long long)steps);
        assert_true(steps < 1000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_are_small),
        cmocka_unit_test(steps_are_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
