/* Removal of escapers: the stars that leave, the state of the others, and a run that goes on as if nothing else had
 * happened. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/nbc.h"
#include "gpuirr/gpuirr.h"
#include "nbody6/analysis/adjust_row.h"
#include "nbody6/analysis/energy.h"
#include "nbody6/analysis/frame.h"
#include "nbody6/galaxy/external.h"
#include "nbody6/input/config.h"
#include "nbody6/input/units.h"
#include "nbody6/run/frame_make.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/body.h"
#include "nbody6/state/energy_ledger.h"
#include "nbody6/state/event.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/schedule.h"
#include "nbody6/state/sim.h"
#include "tests/support/cluster.h"

enum { STARS = 203, GONE = 3 };
/* Indices of those that leave: the first, the last and one in between, heavy enough that their pull matters. */
static const int GONE_INDEX[GONE] = {0, 57, STARS - 1};
static const double GONE_MASS = 0.2;

static int is_gone(int64_t i)
{
    return i == GONE_INDEX[0] || i == GONE_INDEX[1] || i == GONE_INDEX[2];
}

/* Far outside twice ten half-mass radii, on the way out at several times the speed of escape. */
static struct cluster with_runaways(void)
{
    struct cluster c = cluster_plummer(STARS, 9);
    const double x[GONE][3] = {{60, 0, 0}, {0, -50, 10}, {30, 40, -30}};
    for (int g = 0; g < GONE; g++) {
        int i = GONE_INDEX[g];
        c.mass[i] = GONE_MASS;
        for (int k = 0; k < 3; k++) {
            c.x[i][k] = x[g][k];
            c.v[i][k] = x[g][k] * 0.1;
        }
    }
    return c;
}

static nb6_t *start(const struct cluster *c, enum nb6_escape_kind escape, double dt_adjust, double r_nb,
                    struct cluster_record *record)
{
    struct nb6_config config;
    cluster_config(&config);
    cluster_config_ref(&config);
    config.escape = escape;
    config.integration.initial_fpoly2 = 1;
    config.integration.r_nb_init = r_nb;
    config.integration.fixed_nnb = r_nb > 0;
    config.run.dt_adjust = config.run.dt_output = dt_adjust;
    return cluster_start(&config, c, record);
}

static void pull(const struct nb6_frame *frame, const struct nb6_frame *all, int64_t i, double acc[3])
{
    memset(acc, 0, 3 * sizeof *acc);
    for (int g = 0; g < GONE; g++) {
        const double *y = all->x[GONE_INDEX[g]];
        double r2 = 0;
        for (int k = 0; k < 3; k++) r2 += pow(y[k] - frame->x[i][k], 2);
        for (int k = 0; k < 3; k++) acc[k] += GONE_MASS * (y[k] - frame->x[i][k]) / (r2 * sqrt(r2));
    }
}

/* The lists and records of the run with removal are those of the run without, less the escapers. */
static void compare_records(nb6_t *without, nb6_t *with)
{
    int64_t kept = 0, map[STARS];
    for (int64_t i = 0; i < STARS; i++) map[i] = is_gone(i) ? -1 : kept++;
    for (int64_t i = 0; i < STARS; i++) {
        if (is_gone(i)) continue;
        const struct nb6_star *is = &without->star[map[i]], *was = &with->star[i];
        assert_int_equal(is->name, i + 1);
        assert_int_equal(is->level_irr, was->level_irr);
        assert_int_equal(is->level_reg, was->level_reg);
        assert_true(is->t0_reg == was->t0_reg && is->r_nb == was->r_nb);
        assert_true(without->body[map[i]].t0 == with->body[i].t0);
        size_t n_is = 0, n_was = 0, next = 0;
        const int32_t *list_is = gpuirr_get_list(without->irr, (size_t)map[i], &n_is);
        const int32_t *list_was = gpuirr_get_list(with->irr, (size_t)i, &n_was);
        assert_int_equal(is->nnb, n_is);
        for (size_t k = 0; k < n_was; k++) {
            if (map[list_was[k]] < 0) continue;
            assert_true(next < n_is);
            assert_int_equal(list_is[next++], map[list_was[k]]);
        }
        assert_int_equal(next, n_is);
    }
}

/* Every body is in the schedule once, at the level of its record, and none is overdue. */
static void check_schedule(nb6_t *sim)
{
    int64_t count[NB6_TIME_BITS + 1] = {0};
    for (int64_t m = 0; m < sim->subsystems.n_source; m++) {
        int64_t i = sim->subsystems.source[m];
        const struct nb6_star *star = &sim->star[i];
        count[star->level_irr]++;
        assert_true(sim->body[i].t0 + nb6_step_ticks(star->level_irr) > sim->ti_now);
        assert_true(star->t0_reg + nb6_step_ticks(star->level_reg) > sim->ti_now);
    }
    for (int level = 0; level <= NB6_TIME_BITS; level++)
        assert_int_equal(nb6_schedule_count(sim->schedule, level), count[level]);
}

/* Forces differ by the escapers' pull. It is taken away as a linear function of time about each star's own last step,
 * s <= 1/8 ago: to s^2/2 x (12 v^2/r^2) = 1e-3 of itself, v/r = 0.1. */
static void compare_forces(nb6_t *without, nb6_t *with)
{
    const struct nb6_external no_field = {0};
    struct nb6_frame is, was;
    struct nbc_error err = {0};
    struct nb6_force_check check_is, check_was;
    assert_int_equal(nb6_frame_make(without, without->ti_reached, 0, &is, &err), NBC_OK);
    assert_int_equal(nb6_frame_make(with, with->ti_reached, 0, &was, &err), NBC_OK);
    int64_t at = 0;
    for (int64_t i = 0; i < STARS; i++) {
        if (is_gone(i)) continue;
        double acc[3], size2 = 0, error2 = 0;
        pull(&is, &was, at, acc);
        for (int k = 0; k < 3; k++) {
            assert_true(fabs(was.x[i][k] - is.x[at][k]) < 1e-14); /* they are where they were, and as fast */
            assert_true(fabs(was.v[i][k] - is.v[at][k]) < 1e-14);
            size2 += acc[k] * acc[k];
            error2 += pow(was.acc[i][k] - is.acc[at][k] - acc[k], 2);
        }
        if (!(error2 < 1e-6 * size2))
            fail_msg("star %d: %.3g of the escapers' pull stayed", (int)i + 1, sqrt(error2 / size2));
        at++;
    }
    /* and so they are as close to direct sums as before: the same stars have the same errors but for that 1e-3 of a
     * pull that is itself 1e-4 of the typical force */
    assert_int_equal(nb6_force_check(&is, &no_field, 0, &check_is, &err), NBC_OK);
    assert_int_equal(nb6_force_check(&was, &no_field, 0, &check_was, &err), NBC_OK);
    assert_true(check_is.acc_median < 1.1 * check_was.acc_median + 1e-7);
    assert_true(check_is.acc_max < 1.1 * check_was.acc_max + 1e-6);
    nb6_frame_free(&is);
    nb6_frame_free(&was);
}

static void check_events(const struct cluster_record *record, const struct cluster *c, double t)
{
    const struct nb6_event *all = &record->event[GONE];
    double own = 0;
    assert_int_equal(record->n_events, GONE + 1);
    for (int g = 0; g < GONE; g++) {
        const struct nb6_event *event = &record->event[g];
        assert_int_equal(event->kind, NB6_EVENT_ESCAPE);
        assert_int_equal(event->name, GONE_INDEX[g] + 1);
        assert_true(fabs(event->t - t) <= 0x1p-41 && event->mass == GONE_MASS && event->energy > 0);
        /* straight flight, bent by less than 0.01 t: 1.6 masses at 50 */
        for (int k = 0; k < 3; k++)
            assert_true(fabs(event->x[k] - c->x[GONE_INDEX[g]][k] - t * c->v[GONE_INDEX[g]][k]) < 0.3);
        own += event->mass * event->energy;
    }
    assert_int_equal(all->kind, NB6_EVENT_ENERGY_ESCAPED);
    assert_true(all->t == record->event[0].t && all->value[0] == 0 && all->value[1] == GONE);
    /* seen from the density centre, which moves by some 0.1: m v dv of 0.1 beside m v^2/2 of 2.5 each */
    assert_true(fabs(all->energy - own) < 0.1 * own);
}

/* The total after removal is what the books expect, up to the error of the run so far and rounding. */
static void check_energy(nb6_t *without, const struct cluster_record *record, double tolerance)
{
    const struct nb6_run_book *book = &without->run.book;
    const struct nb6_adjust_row *last = &record->row[record->n_rows - 1];
    struct nb6_energy now = cluster_energy_now(without);
    const double error_before = last->energy.total - last->e_expected;
    const double escaped = -book->ledger.booked[NB6_CHANNEL_ESCAPED];
    print_message("energy not booked: %.2e\n", now.total - nb6_ledger_expected(&book->ledger) - error_before);
    assert_true(fabs(now.total - nb6_ledger_expected(&book->ledger) - error_before) < tolerance);
    /* each carries its kinetic energy, and little else: m v^2/2 = 0.2 x 25/2 */
    assert_true(fabs(escaped - GONE * GONE_MASS * 0.5 * 30) < 0.25 * escaped);
    assert_int_equal(without->run.counters.escapers, GONE);
}

static void removal(double dt_adjust, double r_nb, double not_booked)
{
    struct cluster c = with_runaways();
    struct cluster_record record, record_with;
    nb6_t *without = start(&c, NB6_ESCAPE_CUT_OFF, dt_adjust, r_nb, &record);
    nb6_t *with = start(&c, NB6_ESCAPE_KEEP, dt_adjust, r_nb, &record_with);
    cluster_evolve(without, 0);
    assert_int_equal(nb6_count(without), STARS); /* none leaves at the start */
    cluster_evolve(without, dt_adjust);
    cluster_evolve(with, dt_adjust);
    assert_int_equal(nb6_count(with), STARS);
    assert_int_equal(nb6_count(without), STARS - GONE);
    check_events(&record, &c, dt_adjust);
    compare_records(without, with);
    compare_forces(without, with);
    check_schedule(without);
    check_energy(without, &record, not_booked);
    /* On it goes, its books closed. Clusters of this kind have errors of 1e-7 to 1e-6 here (ETAI = ETAR = 0.02), and
     * the pull of a lost star left in the forces would be 100 times the bound. */
    cluster_evolve(without, 10 * dt_adjust);
    check_schedule(without);
    assert_int_equal(nb6_count(without), STARS - GONE);
    assert_true(fabs(record.row[record.n_rows - 1].de_rel) < 1e-5);
    nb6_free(without);
    nb6_free(with);
    cluster_record_free(&record);
    cluster_record_free(&record_with);
    cluster_free(&c);
}

/* Adjust times that are block times of all, and such that are not; the escapers in no list, and in all of them. */
static void at_a_block_time(void **state)
{
    (void)state;
    removal(0.25, 0, 1e-11);
}

static void between_block_times(void **state)
{
    (void)state;
    removal(0.3, 0, 1e-11);
}

static void of_neighbours(void **state)
{
    (void)state;
    removal(0.3, 1e6, 1e-11);
}

/* A checkpoint after a removal holds all that is needed: the same bits with and without it. */
static void checkpoint_after(void **state)
{
    (void)state;
    struct cluster c = with_runaways();
    nb6_t *sim = start(&c, NB6_ESCAPE_CUT_OFF, 0.3, 0, NULL);
    cluster_evolve(sim, 0.3);
    nb6_t *again = cluster_through_checkpoint(sim);
    cluster_evolve(sim, 0.8);
    cluster_evolve(again, 0.8);
    assert_int_equal(sim->n, again->n);
    assert_memory_equal(sim->body, again->body, (size_t)sim->n * sizeof *sim->body);
    assert_memory_equal(sim->star, again->star, (size_t)sim->n * sizeof *sim->star);
    nb6_free(sim);
    nb6_free(again);
    cluster_free(&c);
}

/* Two stars stay, whatever happens. */
static void two_stay(void **state)
{
    (void)state;
    const double row[5][7] = {{1, 0, 0, 0, 0, 0.1, 0},
                              {1, 1, 0, 0, 0, -0.1, 0},
                              {1e-3, 90, 0, 0, 9, 0, 0},
                              {1e-3, 0, 90, 0, 0, 9, 0},
                              {1e-3, 0, 0, 90, 0, 0, 9}};
    struct cluster c = cluster_from_rows(5, row);
    nb6_t *sim = start(&c, NB6_ESCAPE_CUT_OFF, 0.25, 0, NULL);
    cluster_evolve(sim, 0.5);
    assert_int_equal(nb6_count(sim), 2);
    cluster_evolve(sim, 1);
    check_schedule(sim);
    nb6_free(sim);
    cluster_free(&c);
    /* three that fly apart */
    const double apart[3][7] = {{1, 500, 0, 0, 9, 0, 0}, {1, 0, 500, 0, 0, 9, 0}, {1, 0, 0, 500, 0, 0, 9}};
    c = cluster_from_rows(3, apart);
    sim = start(&c, NB6_ESCAPE_CUT_OFF, 0.25, 0, NULL);
    cluster_evolve(sim, 2);
    assert_true(nb6_count(sim) >= 2);
    nb6_free(sim);
    cluster_free(&c);
}

/* A point-mass galaxy. One star rests at 2.5 tidal radii along x, where Jacobi's integral is less than at the
 * Lagrangian points, one at 1.5 along y: the first leaves in any case, the second beyond one tidal radius. */
static void in_a_field(void **state)
{
    (void)state;
    const enum nb6_escape_kind kinds[] = {NB6_ESCAPE_KEEP, NB6_ESCAPE_RADIUS, NB6_ESCAPE_CUT_OFF};
    const int64_t left[] = {100, 99, 98};
    for (int m = 0; m < 3; m++) {
        struct nb6_config config;
        struct cluster c = cluster_plummer(100, 1);
        struct cluster_record record;
        cluster_config(&config);
        config.tide =
            (struct nb6_tide_config){.kind = NB6_TIDE_POINT_MASS, .galaxy_mass_msun = 1e11, .galaxy_distance_kpc = 8.5};
        config.escape = kinds[m];
        config.run.dt_adjust = config.run.dt_output = 0.0625;
        struct nb6_units units = nb6_units_from(config.rbar_pc, config.zmbar_msun, 100);
        struct nb6_external field;
        assert_int_equal(nb6_external_make(&config, &units, &field, NULL), NBC_OK);
        double r_tide = nb6_external_tidal_radius(&field, 1);
        for (int i = 3; i < 5; i++)
            for (int k = 0; k < 3; k++) {
                c.x[i][k] = k == i - 3 ? (k == 0 ? 2.5 : 1.5) * r_tide : 0;
                c.v[i][k] = 0;
            }
        nb6_t *sim = cluster_start(&config, &c, &record);
        cluster_evolve(sim, 0.0625);
        assert_true(fabs(record.row[0].r_tide / r_tide - 1) < 1e-12);
        assert_int_equal(nb6_count(sim), left[m]);
        assert_int_equal(record.n_events, 100 - left[m] + (left[m] < 100)); /* one has the energy of all */
        nb6_free(sim);
        cluster_record_free(&record);
        cluster_free(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(at_a_block_time), cmocka_unit_test(between_block_times),
        cmocka_unit_test(of_neighbours),   cmocka_unit_test(checkpoint_after),
        cmocka_unit_test(two_stay),        cmocka_unit_test(in_a_field),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
