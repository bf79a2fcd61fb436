/* Pairs, chains and hierarchies that leave a cluster: nothing of them stays behind, and their energy is booked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "nbody6/analysis/adjust_row.h"
#include "nbody6/input/config.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/energy_ledger.h"
#include "nbody6/state/event.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/members.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "tests/support/cluster.h"
#include "tests/support/cluster_check.h"

enum { FIELD_STARS = 60, MOST = 20 };

/* What leaves; MERGER stays, but for the star that is gone; BINARY stays, in a slot behind those that become free. */
enum {
    PAIR = 1,
    PERTURBED = 2,
    CHAIN = 4,
    TRIPLE = 8,
    QUADRUPLE = 16,
    STAR = 32,
    MERGER = 64,
    BINARY = 128,
    KINDS = 8
};
static const char *const NAMES[KINDS] = {"pair",      "perturbed pair", "chain",  "triple",
                                         "quadruple", "star",           "merger", "binary that stays"};

/* Stars of each kind, pairs as which they are declared, pairs, chains and hierarchies in them. */
static const int STARS_OF[KINDS] = {2, 3, 3, 3, 4, 1, 2, 2}, DECLARED[KINDS] = {1, 1, 1, 1, 2, 0, 1, 1};
static const int PAIRS_OF[KINDS] = {1, 1, 0, 2, 3, 0, 0, 0}, CHAINS_OF[KINDS] = {0, 0, 1, 0, 0, 0, 0, 0},
                 HIERARCHIES_OF[KINDS] = {0, 0, 0, 1, 1, 0, 0, 0};

/* Two masses on an orbit, at or before apocentre (inbound), around a centre. */
static void place_orbit(const double m[2], double a, double e, double anomaly, double tilt, const double x[3],
                        const double v[3], double x_out[2][3], double v_out[2][3])
{
    const double total = m[0] + m[1], b = sqrt(1 - e * e), rate = sqrt(total / a) / (1 - e * cos(anomaly));
    const double flat[2] = {a * (cos(anomaly) - e), a * b * sin(anomaly)};
    const double speed[2] = {-rate * sin(anomaly), rate * b * cos(anomaly)};
    for (int i = 0; i < 2; i++) {
        const double share = i ? m[0] / total : -m[1] / total;
        for (int k = 0; k < 3; k++) {
            x_out[i][k] = x[k] + share * (k == 0 ? flat[0] : flat[1] * (k == 1 ? cos(tilt) : sin(tilt)));
            v_out[i][k] = v[k] + share * (k == 0 ? speed[0] : speed[1] * (k == 1 ? cos(tilt) : sin(tilt)));
        }
    }
}

/* A pair, and what goes round it: at[0] and at[1] are declared, the others follow at `rest`. */
static void place_system(struct cluster *c, int64_t at, int kind, double m, const double x[3], const double v[3])
{
    const double one[2] = {m, m}, outer[2] = {2 * m, kind == 4 ? 2 * m : m};
    double y[2][3], w[2][3];
    for (int s = 0; s < STARS_OF[kind]; s++) c->mass[at + s] = m;
    switch (kind) {
    case 0: /* pair */
    case 7: /* binary that stays */
        place_orbit(one, 0.002, 0.4, 2, 0.3, x, v, &c->x[at], &c->v[at]);
        break;
    case 5: /* star */
        memcpy(c->x[at], x, sizeof c->x[at]);
        memcpy(c->v[at], v, sizeof c->v[at]);
        break;
    case 6: /* merger */
        place_orbit(one, 0.004, 0.999, M_PI, 0.3, x, v, &c->x[at], &c->v[at]);
        break;
    default: /* perturbed by a star that is not bound to it, chain, hierarchies */
        place_orbit(outer, kind == 1 ? 0.08 : kind == 2 ? 0.02 : 0.012, 0.2, kind == 2 ? -2.5 : M_PI, 0.9, x, v, y, w);
        place_orbit(one, kind == 2 ? 0.006 : 0.001, 0.4, 2, 0.5, y[0], w[0], &c->x[at], &c->v[at]);
        if (kind == 4) {
            place_orbit(one, 0.0008, 0.1, 1, 1.2, y[1], w[1], &c->x[at + 2], &c->v[at + 2]);
        } else {
            memcpy(c->x[at + 2], y[1], sizeof c->x[0]);
            memcpy(c->v[at + 2], w[1], sizeof c->v[0]);
        }
    }
}

/* Declared pairs come first: systems with one of them, the quadruple, then third stars and single ones. Then the field.
 */
struct scene {
    struct cluster c;
    int64_t declared, gone; /* pairs declared; stars that will be gone */
    int64_t star[KINDS][4]; /* indices of the stars of each kind */
};

static struct scene make_scene(int systems)
{
    static const double way[KINDS][3] = {{0.8, 0.6, 0},        {-0.6, 0, 0.8}, {0, -0.8, 0.6}, {0.36, 0.48, -0.8},
                                         {-0.48, -0.6, -0.64}, {0, 1, 0},      {0, 0, 1},      {0, 0, -1}};
    struct scene s = {.gone = 0};
    int64_t own = 0, pair_at = 0, other_at = 0;
    for (int k = 0; k < KINDS; k++) {
        if (!(systems & 1 << k)) continue;
        own += STARS_OF[k];
        s.declared += DECLARED[k];
        s.gone += k < 6 ? STARS_OF[k] : k == 6;
    }
    other_at = 2 * s.declared;
    s.c = cluster_with_field(own, FIELD_STARS, 5);
    for (int k = 0; k < KINDS; k++) {
        if (!(systems & 1 << k)) continue;
        struct cluster few = cluster_alloc(STARS_OF[k]);
        double x[3], v[3];
        for (int d = 0; d < 3; d++) {
            x[d] = (k >= 6 ? 0.7 : 60) * way[k][d];
            v[d] = (k >= 6 ? 0 : 5) * way[k][d];
        }
        place_system(&few, 0, k, 1.0 / FIELD_STARS, x, v);
        for (int m = 0; m < STARS_OF[k]; m++) {
            const int64_t at = m < 2 * DECLARED[k] ? pair_at++ : other_at++;
            s.star[k][m] = at;
            s.c.mass[at] = few.mass[m];
            memcpy(s.c.x[at], few.x[m], sizeof few.x[m]);
            memcpy(s.c.v[at], few.v[m], sizeof few.v[m]);
        }
        cluster_free(&few);
    }
    return s;
}

static nb6_t *start(const struct scene *s, int in_tide, enum nb6_escape_kind escape, struct cluster_record *record)
{
    struct nb6_config config;
    cluster_config(&config);
    config.integration.eta_irr = config.integration.eta_reg = 0.01;
    config.run.dt_adjust = config.run.dt_output = 0.125;
    config.binaries.wanted = 1;
    config.binaries.n = s->declared;
    config.pair.adjust = 0;
    config.pair.r_min = 0.02;
    config.pair.dt_min = 1e-3;
    config.pair.slow_down = 0;
    config.pair.r_star = 1e-5;
    config.escape = escape;
    if (in_tide) cluster_config_field(&config, NB6_TIDE_POINT_MASS, s->c.n, 1.0 / 4096);
    return cluster_start(&config, &s->c, record);
}

/* Where a star of the scene stands in a run now. */
static int64_t find(const nb6_t *sim, int64_t star)
{
    int64_t i = 0;
    while (i < sim->n - 1 && sim->star[i].name != star + 1) i++;
    assert_int_equal(sim->star[i].name, star + 1);
    return i;
}

/* Energy of the stars of a system in the frame of their centre of mass, by direct sums. */
static double inner_energy(const nb6_t *sim, const struct cluster *now, int n, const int64_t star[])
{
    struct cluster few = cluster_alloc(n);
    double mass = 0, v[3] = {0, 0, 0};
    for (int m = 0; m < n; m++) {
        const int64_t i = find(sim, star[m]);
        few.mass[m] = now->mass[i];
        mass += few.mass[m];
        memcpy(few.x[m], now->x[i], sizeof few.x[m]);
        memcpy(few.v[m], now->v[i], sizeof few.v[m]);
        for (int k = 0; k < 3; k++) v[k] += few.mass[m] * few.v[m][k];
    }
    for (int m = 0; m < n; m++)
        for (int k = 0; k < 3; k++) few.v[m][k] -= v[k] / mass;
    const double energy = (double)cluster_energy(&few);
    cluster_free(&few);
    return energy;
}

static int64_t slots(const nb6_t *sim, int chains)
{
    int64_t n = 0;
    for (int64_t slot = 0; slot < sim->pairs.n_slot; slot++)
        if (sim->pairs.pair[slot].member[0] >= 0)
            n += chains ? sim->pairs.pair[slot].chain > 0 : nb6_is_hierarchy(sim, slot);
    return n;
}

/* The books of the removal: what the total is now, from scratch, less what it should be, is what it was before. All
 * bodies stand at this time, so that nothing but rounding is lost: of kinetic energies of 15 masses m at a speed of 5,
 * with 1e2 terms, and of bindings of 1e-1, relative to a total of 0.25. */
static void check_books(nb6_t *without, nb6_t *with, const struct cluster_record *record, const struct scene *s,
                        int systems)
{
    const struct nb6_energy_ledger *ledger = &without->book.ledger;
    const double binding_booked = -ledger->booked[NB6_CHANNEL_ESCAPED_BINDING];
    const struct nb6_adjust_row *last = &record->row[record->n_rows - 1];
    const double before = last->energy.total - last->e_expected, now = cluster_energy_now(without).total;
    const double not_booked = now - nb6_ledger_expected(ledger) - before;
    struct cluster all = cluster_now(with);
    double binding = 0;
    int64_t pairs = 0, chains = 0, hierarchies = 0, stars = 0;
    for (int k = 0; k < 6; k++) {
        if (!(systems & 1 << k)) continue;
        pairs += PAIRS_OF[k];
        chains += CHAINS_OF[k];
        hierarchies += HIERARCHIES_OF[k];
        stars += STARS_OF[k];
        if (STARS_OF[k] > 1) binding += inner_energy(with, &all, k == 1 ? 2 : STARS_OF[k], s->star[k]);
    }
    print_message("    not booked %.1e; binding that left %.6f, of the stars %.6f\n", not_booked, binding_booked,
                  binding);
    assert_true(fabs(not_booked) < 1e-12);
    /* A hierarchy's is that of both orbits, without the tide between them of (a/r)^2/4: 1e-3. */
    assert_true(fabs(binding_booked - binding) < (hierarchies ? 1e-3 : 1e-9) * fabs(binding) + 1e-12);
    assert_int_equal(without->counters.pairs_ended - with->counters.pairs_ended, pairs);
    assert_int_equal(without->counters.chains_ended - with->counters.chains_ended, chains);
    assert_int_equal(without->counters.hierarchies_ended - with->counters.hierarchies_ended, hierarchies);
    assert_int_equal(slots(with, 1) - slots(without, 1), chains);
    assert_int_equal(slots(with, 0) - slots(without, 0), hierarchies);
    assert_int_equal(without->counters.escapers, stars);
    cluster_free(&all);
}

static void leave(int systems, int in_tide)
{
    struct scene s = make_scene(systems);
    struct cluster_record record;
    const enum nb6_escape_kind kind = in_tide ? NB6_ESCAPE_RADIUS : NB6_ESCAPE_CUT_OFF;
    nb6_t *with = start(&s, in_tide, NB6_ESCAPE_KEEP, NULL), *without = start(&s, in_tide, kind, &record);
    print_message("%s:", in_tide ? "in a tide" : "isolated");
    for (int k = 0; k < KINDS; k++)
        if (systems & 1 << k) print_message(" %s", NAMES[k]);
    print_message("\n");
    cluster_evolve(with, 0.125);
    cluster_evolve(without, 0.125);
    cluster_assert_consistent(without);
    assert_int_equal(without->n, s.c.n - s.gone);
    if (systems & PERTURBED) {
        const int64_t slot = with->star[find(with, s.star[1][0])].owner - 1;
        assert_true(nb6_pairs_resolves(&with->pairs, slot, (int32_t)find(with, s.star[1][2])));
    }
    check_books(without, with, &record, &s, systems);
    nb6_t *again = cluster_through_checkpoint(without);
    for (int k = 2; k <= 8; k++) {
        cluster_evolve(without, 0.125 * k);
        cluster_assert_consistent(without);
    }
    cluster_evolve(again, 1);
    cluster_assert_same(without, again);
    print_message("    dE/E at t = 1: %.1e\n", record.row[record.n_rows - 1].de_rel);
    nb6_free(with);
    nb6_free(without);
    nb6_free(again);
    cluster_record_free(&record);
    cluster_free(&s.c);
}

static void each_alone(void **state)
{
    (void)state;
    for (int in_tide = 0; in_tide < 2; in_tide++)
        for (int k = 0; k < 7; k++) leave(1 << k, in_tide);
}

static void several_at_once(void **state)
{
    (void)state;
    for (int in_tide = 0; in_tide < 2; in_tide++) {
        leave(PAIR | BINARY, in_tide);
        leave(PAIR | CHAIN | BINARY, in_tide);
        leave(TRIPLE | QUADRUPLE | STAR, in_tide);
        leave(CHAIN | TRIPLE | MERGER, in_tide);
        leave((1 << KINDS) - 1, in_tide);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_alone),
        cmocka_unit_test(several_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
