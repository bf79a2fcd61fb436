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
#include "tests/support/escape_scene.h"

/* Pairs, chains and hierarchies in one of each kind. */
static const int PAIRS_OF[ESCAPE_KINDS] = {1, 1, 0, 2, 3, 0, 0, 0}, CHAINS_OF[ESCAPE_KINDS] = {0, 0, 1, 0, 0, 0, 0, 0},
                 HIERARCHIES_OF[ESCAPE_KINDS] = {0, 0, 0, 1, 1, 0, 0, 0};

/* The present place of a star of the scene in a run. */
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
    for (int64_t slot = 0; slot < sim->subsystems.n_slot; slot++)
        if (sim->subsystems.system[slot].member[0] >= 0)
            n += chains ? sim->subsystems.system[slot].chain > 0 : nb6_is_hierarchy(sim, slot);
    return n;
}

/* The energy booked by the removal: the error of the total, computed from scratch, is the same before and after. All
 * bodies are at this time, so that only rounding is lost: of kinetic energies of 15 masses m at a speed of 5, with 1e2
 * terms, and of bindings of 1e-1, relative to a total of 0.25. */
static void check_books(nb6_t *without, nb6_t *with, const struct cluster_record *record, const struct scene *s,
                        int systems)
{
    const struct nb6_energy_ledger *ledger = &without->run.book.ledger;
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
        stars += escape_stars[k];
        if (escape_stars[k] > 1) binding += inner_energy(with, &all, k == 1 ? 2 : escape_stars[k], s->star[k]);
    }
    print_message("    not booked %.1e; binding that left %.6f, of the stars %.6f\n", not_booked, binding_booked,
                  binding);
    assert_true(fabs(not_booked) < 1e-12);
    /* A hierarchy's is that of both orbits, without the tide between them of (a/r)^2/4: 1e-3. */
    assert_true(fabs(binding_booked - binding) < (hierarchies ? 1e-3 : 1e-9) * fabs(binding) + 1e-12);
    assert_int_equal(without->run.counters.pairs_ended - with->run.counters.pairs_ended, pairs);
    assert_int_equal(without->run.counters.chains_ended - with->run.counters.chains_ended, chains);
    assert_int_equal(without->run.counters.hierarchies_ended - with->run.counters.hierarchies_ended, hierarchies);
    assert_int_equal(slots(with, 1) - slots(without, 1), chains);
    assert_int_equal(slots(with, 0) - slots(without, 0), hierarchies);
    assert_int_equal(without->run.counters.escapers, stars);
    cluster_free(&all);
}

/* Rounding of sums with 15 masses of 1/60 at a distance of 60 and a speed of 5. */
static void check_momentum(nb6_t *without, nb6_t *with)
{
    const struct nb6_energy is = cluster_energy_now(without), was = cluster_energy_now(with);
    const struct nb6_star_transfers *escaped = &without->run.book.transfers.escaped;
    assert_true(fabs(is.mass - was.mass - escaped->mass) < 1e-14);
    for (int k = 0; k < 3; k++) {
        const double momentum = is.mass * is.centre_v[k] - was.mass * was.centre_v[k];
        const double spin = is.angular_momentum[k] - was.angular_momentum[k];
        assert_true(fabs(momentum - escaped->momentum[k]) < 1e-13);
        assert_true(fabs(spin - escaped->angular_momentum[k]) < 1e-12);
    }
}

static void leave(int systems, int in_tide)
{
    struct scene s = make_scene(systems);
    struct cluster_record record;
    const enum nb6_escape_kind kind = in_tide ? NB6_ESCAPE_RADIUS : NB6_ESCAPE_CUT_OFF;
    nb6_t *with = start_scene(&s, in_tide, NB6_ESCAPE_KEEP, NULL), *without = start_scene(&s, in_tide, kind, &record);
    print_message("%s:", in_tide ? "in a tide" : "isolated");
    for (int k = 0; k < ESCAPE_KINDS; k++)
        if (systems & 1 << k) print_message(" %s", escape_names[k]);
    print_message("\n");
    cluster_evolve(with, 0.125);
    cluster_evolve(without, 0.125);
    cluster_assert_consistent(without);
    assert_int_equal(without->n, s.c.n - s.gone);
    if (systems & PERTURBED) {
        const int64_t slot = with->star[find(with, s.star[1][0])].owner - 1;
        assert_true(nb6_subsystems_resolves(&with->subsystems, slot, (int32_t)find(with, s.star[1][2])));
    }
    check_books(without, with, &record, &s, systems);
    check_momentum(without, with);
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
        leave((1 << ESCAPE_KINDS) - 1, in_tide);
    }
}

/* The pair that was to merge becomes one ten times as wide as the binary that stays, with steps 33 times as
 * long. */
static struct scene wide_and_tight(void)
{
    struct scene s = make_scene(STAR | MERGER | BINARY);
    const int64_t *wide = s.star[6], *tight = s.star[7];
    for (int k = 0; k < 3; k++) {
        const double x = 0.5 * (s.c.x[wide[0]][k] + s.c.x[wide[1]][k]),
                     v = 0.5 * (s.c.v[wide[0]][k] + s.c.v[wide[1]][k]);
        for (int m = 0; m < 2; m++) {
            s.c.x[wide[m]][k] = x + 0.5 * 10.24 * (s.c.x[tight[m]][k] - s.c.x[tight[1 - m]][k]);
            s.c.v[wide[m]][k] = v + 0.5 / 3.2 * (s.c.v[tight[m]][k] - s.c.v[tight[1 - m]][k]);
        }
    }
    s.gone = 1;
    s.all_perturb = 1;
    return s;
}

/* Pairs that lose a perturber begin anew where it leaves, and find those of their group there: not behind, where a
 * tight pair is many steps ahead and has no prediction. */
static void a_perturber_leaves(void **state)
{
    (void)state;
    for (int in_tide = 0; in_tide < 2; in_tide++) {
        struct scene s = wide_and_tight();
        struct cluster_record record;
        const enum nb6_escape_kind kind = in_tide ? NB6_ESCAPE_RADIUS : NB6_ESCAPE_CUT_OFF;
        nb6_t *with = start_scene(&s, in_tide, NB6_ESCAPE_KEEP, NULL),
              *without = start_scene(&s, in_tide, kind, &record);
        print_message("%s: a wide pair and a tight one\n", in_tide ? "in a tide" : "isolated");
        cluster_evolve(with, 0.125);
        cluster_evolve(without, 0.125);
        cluster_assert_consistent(without);
        assert_int_equal(without->n, s.c.n - 1);
        double behind = 0;
        for (int k = 6; k < 8; k++) {
            const int64_t slot = with->star[find(with, s.star[k][0])].owner - 1,
                          kept = without->star[find(without, s.star[k][0])].owner - 1;
            assert_true(nb6_subsystems_resolves(&with->subsystems, slot, (int32_t)find(with, s.star[5][0])));
            assert_int_equal(with->subsystems.leader[slot], 0); /* both are in one group */
            behind = fmax(behind, 0.125 - with->subsystems.ks[slot].t);
            assert_true(without->subsystems.ks[kept].t == 0.125);
        }
        assert_true(behind > 1e-3); /* a third of the period of the tight pair, or nothing would be shown */
        check_books(without, with, &record, &s, STAR);
        cluster_evolve(without, 1);
        const double error = record.row[record.n_rows - 1].de_rel;
        print_message("    the wide pair would be behind by %.1e; dE/E at t = 1: %.1e\n", behind, error);
        assert_true(fabs(error) < 1e-6); /* ETAI = ETAR = 0.01 in a cluster of this size */
        nb6_free(with);
        nb6_free(without);
        cluster_record_free(&record);
        cluster_free(&s.c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_alone),
        cmocka_unit_test(several_at_once),
        cmocka_unit_test(a_perturber_leaves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
