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

enum { FIELD_STARS = 8 };
/* So light and small that no wave of their energy shows in that of the field; orbital velocity 10 in N-body units. */
static const double SEMI = 2e-7, MASS = 1e-5, T_END = 1.2e-5;

/* Two stars on an orbit of semi-major axis SEMI and eccentricity e, at apocentre, about (x, y, 0). */
static void put_pair(struct cluster *c, int64_t at, const double m[2], double x, double y, double vy, double e)
{
    const double sum = m[0] + m[1], r = SEMI * (1 + e), speed = sqrt(sum * (1 - e) / r);
    for (int i = 0; i < 2; i++) {
        const double part = i ? -m[0] / sum : m[1] / sum;
        c->mass[at + i] = m[i];
        c->x[at + i][0] = x + 0.8 * part * r;
        c->x[at + i][1] = y;
        c->x[at + i][2] = 0.6 * part * r;
        c->v[at + i][1] = vy + part * speed;
    }
}

/* What two runs and two integrations of the same stars say. */
struct passage {
    double worst;  /* largest error of a coordinate of a star that passes */
    double pull;   /* how far a pair moves it more than a point of mass would: what may be wrong */
    int64_t steps; /* of all bodies */
};

/* A star, or a second pair, that passes at a distance.   @param[in] second  members of what passes */
static struct passage pass(double eta, double distance, double speed, double e, int second)
{
    struct nb6_config config;
    struct cluster_record record;
    const int64_t few = 2 + second;
    struct cluster c = cluster_with_field(few, FIELD_STARS, 3);
    const double m = MASS, unequal[2] = {1.4 * m, 0.6 * m};
    cluster_config(&config);
    config.integration.eta_irr = config.integration.eta_reg = eta;
    config.binaries.wanted = 1;
    config.binaries.n = second == 2 ? 2 : 1;
    config.pair.adjust = 0;
    config.pair.r_min = 10 * SEMI;
    config.pair.dt_min = 1e-8;
    put_pair(&c, 0, unequal, 0, 0, 0, e);
    const double y = -0.5 * speed * T_END;
    if (second == 2)
        put_pair(&c, 2, (double[2]){m, m}, distance, y, speed, 0.3);
    else {
        c.mass[2] = m;
        c.x[2][0] = distance;
        c.x[2][1] = y;
        c.v[2][1] = speed;
    }
    struct cluster exact = cluster_copy(&c), points = cluster_copy(&c);
    points.mass[0] += points.mass[1];
    points.mass[1] = 0;
    memset(points.x[0], 0, sizeof points.x[0]);
    memset(points.v[0], 0, sizeof points.v[0]);
    nb6_t *sim = cluster_start(&config, &c, &record);
    const uint64_t before = sim->counters.steps_irr;
    cluster_evolve(sim, T_END);
    assert_int_equal(sim->pairs.count, config.binaries.n);
    struct cluster now = cluster_now(sim);
    struct passage is = {.steps = (int64_t)(sim->counters.steps_irr - before)};
    cluster_integrate_exactly(&exact, nb6_time_now(sim), 2e-9);
    cluster_integrate_exactly(&points, nb6_time_now(sim), 2e-9);
    for (int k = 0; k < 3; k++) {
        is.pull = fmax(is.pull, fabs(points.x[2][k] - exact.x[2][k]));
        for (int64_t i = 2; i < few; i++) is.worst = fmax(is.worst, fabs(now.x[i][k] - exact.x[i][k]));
    }
    nb6_free(sim);
    cluster_free(&c);
    cluster_free(&now);
    cluster_free(&exact);
    cluster_free(&points);
    cluster_record_free(&record);
    return is;
}

/* Within the distances where the mean takes over, and beyond; ETAI and ETAR so that all other errors stay small. What
 * is left of the pull is what the mean leaves out, and errors of the steps: a five hundredth of it at most, which is
 * five times what was found. */
static void errors_are_small(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        const double e = k < 3 ? 0.35 * k : 0.3, distance = (k < 3 ? 1 + e : 1.5) * 30 * SEMI;
        const int second = k < 3 ? 1 : 2;
        const struct passage is = pass(0.002, distance, 1.5, e, second);
        print_message("e = %.2f, %d stars at %.0f a: error %.1e of %.1e, %lld steps\n", e, second, distance / SEMI,
                      is.worst, is.pull, (long long)is.steps);
        assert_true(is.pull > 1e-13 && is.worst < is.pull / 500);
    }
}

/* A period is 1.3e-7 here. To resolve it, a star and a centre of mass take thirty steps each in every one of the
 * hundred of a passage, 6000 of the two. */
static void steps_are_long(void **state)
{
    (void)state;
    for (int second = 1; second <= 2; second++) {
        const struct passage is = pass(0.02, 80 * SEMI, 3, 0.3, second);
        print_message("%d stars at 80 a: %lld steps\n", second, (long long)is.steps);
        assert_true(is.steps < 1000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#ifndef __SANITIZE_ADDRESS__ /* too slow then */
        cmocka_unit_test(errors_are_small),
#endif
        cmocka_unit_test(steps_are_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
