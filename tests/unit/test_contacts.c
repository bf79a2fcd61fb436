/* Stars that meet a member of a pair, of a chain or of a frozen pair from outside become one with it, on both engines,
 * at the time and with the star that a direct integration finds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "nbody6/analysis/adjust_row.h"
#include "nbody6/input/config.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/event.h"
#include "nbody6/state/sim.h"
#include "tests/support/cluster.h"
#include "tests/support/cluster_check.h"

enum { FIELD_STARS = 8, MOST = 5 };
static const double MASS = 0.05, MEETING = 0.03, END = 0.0625, R_MIN = 0.02;

/* An encounter, of bodies with masses in units of MASS. */
struct encounter {
    const char *what;
    int systems;            /* 1: with chains and hierarchies */
    double a, e;            /* orbit of stars 1 and 2 */
    double outer;           /* radius of a circle of star 3 about them; 0: it is none of them */
    double other;           /* separation of the last star and a companion of like mass, on a circle; 0: it is alone */
    double light;           /* mass of the last star */
    int target;             /* the star that the last one hits: 0, 1 or 2 */
    double radius, closest; /* of all stars; pericentre of the two over the sum of their radii */
    double speed;           /* at infinity */
};

static void put(struct cluster *c, int64_t i, double mass, const double x[3], const double v[3])
{
    c->mass[i] = mass * MASS;
    memcpy(c->x[i], x, sizeof c->x[i]);
    memcpy(c->v[i], v, sizeof c->v[i]);
}

/* Stars i and j of like masses at the apocentre of an orbit in the plane of x and y, or of x and z. */
static void put_pair(struct cluster *c, int64_t i, int64_t j, double mass, double a, double e, int axis)
{
    const double r = a * (1 + e), speed = sqrt(2 * mass * MASS * (1 - e) / r);
    double x[3] = {r / 2, 0, 0}, v[3] = {0, 0, 0};
    v[axis] = speed / 2;
    put(c, i, mass, x, v);
    x[0] = -x[0];
    v[axis] = -v[axis];
    put(c, j, mass, x, v);
}

/* Star i, and those behind it, at the pericentre of a hyperbola about the target. */
static void aim(struct cluster *c, const struct encounter *s, int64_t i, int64_t n)
{
    const double q = s->closest * 2 * s->radius, m = c->mass[i] + c->mass[s->target];
    const double speed = sqrt(s->speed * s->speed + 2 * m / q);
    double x[3], v[3];
    for (int k = 0; k < 3; k++) {
        x[k] = c->x[s->target][k] + (k == 1 ? q : 0) - c->x[i][k];
        v[k] = c->v[s->target][k] + (k == 2 ? 0.8 * speed : k == 0 ? 0.6 * speed : 0) - c->v[i][k];
    }
    for (int64_t b = i; b < n; b++)
        for (int k = 0; k < 3; k++) {
            c->x[b][k] += x[k];
            c->v[b][k] += v[k];
        }
}

/* By a time from the meeting, with steps that follow the distance of the two colliding stars. */
static void go_back(struct cluster *c, double t, double step)
{
    const double near = 3e-4, middle = 3e-3;
    cluster_integrate_exactly(c, -near, 3e-6);
    cluster_integrate_exactly(c, -(middle - near), 2e-5);
    cluster_integrate_exactly(c, -(t - middle), step);
}

/* As it was before they meet at the time MEETING.   @param[out] met_by  the star that comes
 */
static struct cluster make(const struct encounter *s, int64_t *met_by)
{
    const int64_t intruder = s->outer > 0 ? 3 : 2;
    const int n = (int)intruder + (s->other > 0 ? 2 : 1);
    struct cluster c = cluster_with_field(n, FIELD_STARS, 3);
    put_pair(&c, 0, 1, 1, s->a, s->e, 1);
    if (s->outer > 0) {
        const double speed = sqrt(3 * MASS / s->outer);
        put(&c, 2, 1, (double[3]){0, 0.6 * s->outer, 0.8 * s->outer}, (double[3]){speed, 0, 0});
    }
    if (s->other > 0)
        put_pair(&c, intruder, intruder + 1, s->light, s->other, 0, 2);
    else
        put(&c, intruder, s->light, (double[3]){0, 0, 0}, (double[3]){0, 0, 0});
    aim(&c, s, intruder, n);
    for (int64_t i = 0; i < n; i++) {
        c.x[i][0] += 0.3;
        c.x[i][1] -= 0.2;
    }
    go_back(&c, MEETING, s->a < 0.005 ? 2e-5 : 1e-4);
    *met_by = intruder;
    return c;
}

static nb6_t *start(const struct cluster *c, const struct encounter *s, enum nb6_engine_choice engine,
                    struct cluster_record *record)
{
    struct nb6_config config;
    cluster_config(&config);
    config.integration.eta_irr = config.integration.eta_reg = 1e-3;
    config.pair.adjust = 0;
    config.pair.r_min = R_MIN;
    config.pair.dt_min = 4e-4;
    config.pair.gamma_min = 1e-8;
    config.binaries.wanted = 1;
    config.binaries.n = 1;
    config.pair.eta_u = 0.05;
    config.pair.slow_down = 0; /* the phase of each pair is known */
    config.pair.r_star = s->radius;
    config.pair.systems = s->systems;
    config.run.dt_adjust = config.run.dt_output = END;
    config.run.engine = engine;
    return cluster_start(&config, c, record);
}

/* The only merger. */
static struct nb6_event run(const struct cluster *c, const struct encounter *s, enum nb6_engine_choice engine)
{
    struct cluster_record record;
    struct nb6_event merger = {.t = -1};
    nb6_t *sim = start(c, s, engine, &record);
    cluster_evolve(sim, END);
    cluster_assert_consistent(sim);
    for (int64_t k = 0; k < record.n_events; k++)
        if (record.event[k].kind == NB6_EVENT_MERGER) merger = record.event[k];
    const struct nb6_adjust_row *last = &record.row[record.n_rows - 1];
    print_message("%s: %d mergers, stars %lld and %lld at t = %.5f, r = %.2e, energy %.2e; dE/E %.1e, %d chains\n",
                  s->what, (int)sim->run.counters.mergers, (long long)merger.name, (long long)merger.value[0], merger.t,
                  merger.value[2], merger.energy, last->de_rel, (int)sim->run.counters.chains_formed);
    assert_int_equal(sim->run.counters.mergers, 1);
    /* Energy that is not booked would be 1e-5 for a star of 1e-4 masses, 1e-2 for others. Three stars with a third one
     * single at first lose more, whichever star comes. */
    assert_true(fabs(last->de_rel) < (s->outer > 0 ? 2e-7 : 1e-8));
    nb6_free(sim);
    cluster_record_free(&record);
    return merger;
}

static void check(const struct encounter *s)
{
    int64_t met_by;
    struct cluster c = make(s, &met_by);
    const struct nb6_event host = run(&c, s, NB6_ENGINE_HOST), emulated = run(&c, s, NB6_ENGINE_EMULATED);
    const int64_t first = s->target + 1, second = met_by + 1;
    const int64_t name[2] = {host.name, (int64_t)host.value[0]};
    assert_true((name[0] == first && name[1] == second) || (name[0] == second && name[1] == first));
    assert_true(emulated.name == host.name && emulated.value[0] == host.value[0]);
    /* Pairs merge in a block of their centre of mass, some of its steps, 1e-4 at most, after the contact. */
    assert_true(fabs(host.t - MEETING) < 1e-3 && fabs(emulated.t - MEETING) < 1e-3);
    /* At the meeting, an orbit that the others disturb. */
    assert_true(fabs(host.value[2] / (s->closest * 2 * s->radius) - 1) < 0.1);
    /* Forces of distant bodies are sums in float on the emulated engine. */
    assert_true(fabs(host.energy - emulated.energy) < 1e-5 * fabs(host.energy) + 1e-10);
    cluster_free(&c);
}

/* Without chains, hard pairs have to be broken up; a light star's tide breaks none. */
static void member_of_a_hard_pair(void **state)
{
    (void)state;
    check(&(struct encounter){"hard pair, light star", 0, 0.006, 0.3, 0, 0, 1e-4, 0, 2e-4, 0.5, 1});
    check(&(struct encounter){"hard pair, very light star", 0, 0.006, 0.3, 0, 0, 1e-6, 1, 2e-4, 0.7, 2});
    check(&(struct encounter){"hard pair, fast star", 0, 0.006, 0.1, 0, 0, 0.01, 1, 2e-4, 0.7, 4});
    check(&(struct encounter){"hard pair, chain", 1, 0.006, 0.3, 0, 0, 1e-4, 0, 2e-4, 0.5, 1});
}

static void member_of_a_soft_pair(void **state)
{
    (void)state;
    check(&(struct encounter){"soft pair, light star", 0, 0.04, 0.3, 0, 0, 1e-4, 0, 5e-4, 0.5, 1});
    check(&(struct encounter){"soft pair, very light star", 0, 0.04, 0.3, 0, 0, 1e-6, 1, 2e-3, 0.5, 2});
    check(&(struct encounter){"soft pair, like star", 1, 0.04, 0.3, 0, 0, 1, 1, 5e-4, 0.5, 0.5});
}

static void members_of_two_pairs(void **state)
{
    (void)state;
    check(&(struct encounter){"two pairs, no chains", 0, 0.03, 0.2, 0, 0.02, 0.5, 0, 2e-4, 0.5, 1});
    check(&(struct encounter){"soft and hard pair", 1, 0.04, 0.2, 0, 0.006, 0.5, 1, 2e-4, 0.5, 1});
    check(&(struct encounter){"two hard pairs", 1, 0.006, 0.2, 0, 0.006, 0.5, 1, 2e-4, 0.5, 1});
}

static void member_of_a_chain(void **state)
{
    (void)state;
    check(&(struct encounter){"three in a chain", 1, 0.006, 0.1, 0.015, 0, 1e-5, 2, 1e-4, 0.5, 1});
}

/* A frozen pair moves on its Kepler orbit, and which of the two a star hits is not known exactly: this star is as large
 * as the orbit. */
static void member_of_a_frozen_pair(void **state)
{
    (void)state;
    const struct encounter s = {"frozen pair", 1, 0.001, 0.1, 0.012, 0, 1e-4, 0, 2e-5, 0.5, 1};
    int64_t met_by;
    struct cluster c = make(&s, &met_by);
    for (int engine = 0; engine < 2; engine++) {
        struct cluster_record record;
        nb6_t *sim = start(&c, &s, engine ? NB6_ENGINE_EMULATED : NB6_ENGINE_HOST, &record);
        int broken = 0;
        double frozen = -1;
        cluster_evolve(sim, MEETING);
        for (int64_t k = 0; k < record.n_events; k++) {
            const struct nb6_event *e = &record.event[k];
            if (e->kind == NB6_EVENT_PAIR_FORMED && e->pair.reason == NB6_PAIR_HIERARCHY) frozen = e->t;
            broken |= e->kind == NB6_EVENT_PAIR_ENDED && e->pair.reason == NB6_PAIR_COLLISION && frozen >= 0;
        }
        print_message("frozen at %.4f, broken up %d, chains %d\n", frozen, broken,
                      (int)sim->run.counters.chains_formed);
        assert_true(frozen >= 0 && frozen < 0.8 * MEETING);
        assert_true(broken);
        cluster_assert_consistent(sim);
        nb6_free(sim);
        cluster_record_free(&record);
    }
    cluster_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(member_of_a_hard_pair),   cmocka_unit_test(member_of_a_soft_pair),
        cmocka_unit_test(members_of_two_pairs),    cmocka_unit_test(member_of_a_chain),
        cmocka_unit_test(member_of_a_frozen_pair),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
