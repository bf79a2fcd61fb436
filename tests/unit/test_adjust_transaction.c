/* An adjust is committed as a whole or not at all: every call of a library and of the regularization, and every
 * allocation, fails in turn in adjusts at which single stars, pairs, chains, hierarchies and merged stars leave;
 * observers fail, and the energy is refused. After each failure the state is that before, and the run goes on to the
 * same bits as an undisturbed one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/nbc.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/event.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "tests/support/cluster.h"
#include "tests/support/cluster_check.h"
#include "tests/support/cluster_state.h"
#include "tests/support/escape_scene.h"
#include "tests/support/faults.h"
#include "tests/support/test_size.h"

/* The first adjust, the one at which all leave, and the end. */
static const double FIRST = 0, LEAVE = 0.125, END = 0.375;

/* ---- an observer that counts, stops before an adjust, and fails on demand */

struct observer {
    int64_t rows, checks, escapes, others;
    double stop_at;  /* < 0: nowhere */
    int64_t fail_at; /* after so many rows and events; < 0: never */
};

static int hear(struct observer *o, int64_t *count)
{
    (*count)++;
    return o->fail_at >= 0 && o->fail_at-- == 0 ? NBC_FILE : NBC_OK;
}

static int on_event(void *context, nb6_t *sim, const struct nb6_event *event, struct nbc_error *err)
{
    struct observer *o = context;
    (void)sim;
    (void)err;
    if (event->kind == NB6_EVENT_ENERGY_JUMP || event->kind == NB6_EVENT_FORCE_CHECK) return hear(o, &o->checks);
    return hear(o, event->kind == NB6_EVENT_ESCAPE ? &o->escapes : &o->others);
}

static int on_adjust(void *context, nb6_t *sim, const struct nb6_adjust_row *row, struct nbc_error *err)
{
    struct observer *o = context;
    (void)sim;
    (void)row;
    (void)err;
    return hear(o, &o->rows);
}

static int on_poll(void *context, nb6_t *sim, int *stop, struct nbc_error *err)
{
    const struct observer *o = context;
    (void)err;
    *stop = o->stop_at >= 0 && nb6_time_to_double(sim->ti_now) >= o->stop_at;
    return NBC_OK;
}

static int64_t heard(const struct observer *o)
{
    return o->rows + o->checks + o->escapes + o->others;
}

static void observe(nb6_t *sim, struct observer *o)
{
    *o = (struct observer){.stop_at = -1, .fail_at = -1};
    nb6_set_observer(sim,
                     &(struct nb6_observer){.context = o, .event = on_event, .adjust = on_adjust, .poll = on_poll});
}

/* ---- runs */

/* At time t, all blocks done, the adjust still due. */
static nb6_t *begin(const struct scene *s, int in_tide, double t, struct observer *o)
{
    nb6_t *sim = start_scene(s, in_tide, in_tide ? NB6_ESCAPE_RADIUS : NB6_ESCAPE_CUT_OFF, NULL);
    observe(sim, o);
    sim->run.config.run.force_check = 1;
    if (t == 0) { /* the event of existing pairs comes before the adjust */
        struct nbc_error err;
        fault_set(REFUSED, 0);
        assert_int_equal(nb6_evolve(sim, t, &err), NBC_DEVICE);
        assert_true(fault_clear() && o->others > 0);
    } else {
        cluster_evolve(sim, 0);
        o->stop_at = t;
        cluster_evolve(sim, t);
        assert_true(nb6_stopped(sim) && nb6_time_now(sim) == t);
        o->stop_at = -1;
    }
    return sim;
}

/* The calls of a run without a fault. */
struct undisturbed {
    uint64_t after; /* the adjust */
    nb6_t *end;
};

static struct undisturbed undisturbed(const struct scene *s, int in_tide, double t)
{
    struct observer o;
    struct undisturbed run = {.end = begin(s, in_tide, t, &o)};
    cluster_evolve(run.end, t);
    run.after = cluster_state(run.end);
    assert_int_equal(run.end->n, s->c.n - (t > 0 ? s->gone : 0));
    cluster_evolve(run.end, END);
    return run;
}

/* From after the adjust to the end, with the same bits. */
static void goes_on(nb6_t *sim, const struct undisturbed *run)
{
    assert_int_equal(cluster_state(sim), run->after);
    cluster_check_sources(sim);
    cluster_assert_consistent(sim);
    cluster_evolve(sim, END);
    assert_int_equal(cluster_state(sim), cluster_state(run->end));
    cluster_assert_same(sim, run->end);
}

/* The adjust, after every fault of a kind was tried in it.   @return faults */
static int64_t adjust_with_faults(nb6_t *sim, double t, enum fault kind, const struct observer *o)
{
    const uint64_t before = cluster_state(sim);
    const int64_t told = heard(o), reached = sim->ti_reached;
    for (long k = 0;; k++) {
        struct nbc_error err = {0};
        fault_set(kind, k);
        const int status = nb6_evolve(sim, t, &err);
        const int happened = fault_clear();
        if (!status) {
            assert_true(!happened);
            return k;
        }
        if (!happened) fail_msg("without a fault: status %d, %s", status, err.text);
        if (cluster_state(sim) != before) print_message("fault %d, call %ld: %s\n", (int)kind, k, err.text);
        assert_int_equal(cluster_state(sim), before);
        cluster_check_sources(sim);
        assert_true(sim->ti_reached == reached);
        assert_true(err.text[0] != '\0' ||
                    kind != NO_ALLOCATION); /* others have the words of a library that did not fail */
        assert_int_equal(heard(o), told);
    }
}

/* Whether the binary that stays has the star that leaves among its perturbers: it will begin anew. */
static int64_t stays_and_loses(const nb6_t *sim, const struct scene *s)
{
    int64_t n = 0;
    for (int64_t slot = 0; slot < sim->subsystems.n_slot; slot++)
        n += sim->star[sim->subsystems.system[slot].member[0]].name == s->star[7][0] + 1 &&
             nb6_subsystems_resolves(&sim->subsystems, slot, (int32_t)s->star[5][0]);
    return n;
}

static void every_fault_of(int systems, int all_perturb, int in_tide, double t, int64_t failures[FAULT_KINDS])
{
    struct scene s = make_scene(systems);
    s.all_perturb = all_perturb;
    const struct undisturbed run = undisturbed(&s, in_tide, t);
    for (int kind = 1; kind < FAULT_KINDS; kind++) {
        struct observer o;
        if (kind == NOT_A_NUMBER || !fault_can_happen((enum fault)kind)) continue; /* an adjust asks for no force */
        nb6_t *sim = begin(&s, in_tide, t, &o);
        assert_true(!all_perturb || stays_and_loses(sim, &s));
        failures[kind] += adjust_with_faults(sim, t, (enum fault)kind, &o);
        assert_int_equal(o.escapes, t > 0 ? s.gone - ((systems & MERGER) != 0) : 0);
        goes_on(sim, &run);
        nb6_free(sim);
    }
    nb6_free(run.end);
    cluster_free(&s.c);
}

static void every_fault(void **state)
{
    static const int several[] = {PAIR | BINARY, TRIPLE | QUADRUPLE | STAR, CHAIN | TRIPLE | MERGER,
                                  (1 << ESCAPE_KINDS) - 1};
    int64_t failures[FAULT_KINDS] = {0};
    (void)state;
    for (int in_tide = test_size(0, 1); in_tide < 2; in_tide++) {
        for (int k = 0; k < 7; k++) every_fault_of(1 << k, 0, in_tide, LEAVE, failures);
        for (size_t k = 0; k < sizeof several / sizeof several[0]; k++)
            every_fault_of(several[k], 0, in_tide, LEAVE, failures);
        every_fault_of(PAIR | STAR | BINARY, 1, in_tide, LEAVE, failures);
        every_fault_of((1 << ESCAPE_KINDS) - 1, 0, in_tide, FIRST, failures); /* no escapers; first energies */
    }
    print_message("faults:");
    for (int kind = 1; kind < FAULT_KINDS; kind++) print_message(" %lld", (long long)failures[kind]);
    print_message("\n");
    /* or less is tested than meant: some 13 calls in each of 26 adjusts, the predictors of some 70 bodies, memory for
     * each part */
    for (int kind = REFUSED; kind <= FAILED_AFTERWARDS; kind++) assert_true(failures[kind] > test_size(300, 120));
    assert_true(failures[NOT_SENT] > test_size(1000, 400));
    assert_true(failures[NO_ALLOCATION] > 500 || !fault_can_happen(NO_ALLOCATION));
}

/* A checkpoint of the state after a failure is one of the state before. */
static void checkpoint_after_a_fault(void **state)
{
    (void)state;
    struct observer o;
    struct scene s = make_scene((1 << ESCAPE_KINDS) - 1);
    const struct undisturbed run = undisturbed(&s, 0, LEAVE);
    nb6_t *sim = begin(&s, 0, LEAVE, &o), *before = cluster_through_checkpoint(sim);
    struct nbc_error err = {0};
    fault_set(REFUSED, 40); /* amid the lists that are renamed */
    assert_int_equal(nb6_evolve(sim, LEAVE, &err), NBC_DEVICE);
    assert_true(fault_clear());
    nb6_t *after = cluster_through_checkpoint(sim);
    assert_int_equal(cluster_state(after), cluster_state(before));
    cluster_assert_same(after, before);
    cluster_evolve(after, LEAVE);
    goes_on(after, &run);
    nb6_free(sim);
    nb6_free(before);
    nb6_free(after);
    nb6_free(run.end);
    cluster_free(&s.c);
}

/* Observers are notified after the commit: if one fails, the adjust stays committed, and is not reported again. */
static void observers_fail(void **state)
{
    (void)state;
    struct scene s = make_scene(PAIR | CHAIN | STAR | MERGER);
    const struct undisturbed run = undisturbed(&s, 0, LEAVE);
    for (int64_t k = 0;; k++) {
        struct nbc_error err = {0};
        struct observer o;
        nb6_t *sim = begin(&s, 0, LEAVE, &o);
        const int64_t told = heard(&o);
        o.fail_at = k;
        const int status = nb6_evolve(sim, LEAVE, &err);
        assert_int_equal(sim->n, run.end->n);
        if (!status) {
            assert_int_equal(
                heard(&o) - told,
                k); /* a check of forces, a row, six stars, a pair, a chain, and the energy that they take along */
            assert_int_equal(k, 11);
            nb6_free(sim);
            break;
        }
        assert_int_equal(status, NBC_FILE);
        assert_int_equal(heard(&o) - told, k + 1);
        cluster_evolve(sim, LEAVE); /* the output, which is still due */
        assert_int_equal(heard(&o) - told, k + 1);
        goes_on(sim, &run);
        nb6_free(sim);
    }
    nb6_free(run.end);
    cluster_free(&s.c);
}

/* The row says why, and the adjust is still to be done. */
static void energy_not_accepted(void **state)
{
    (void)state;
    struct observer o;
    struct scene s = make_scene(PAIR | CHAIN | STAR | MERGER);
    const struct undisturbed run = undisturbed(&s, 0, LEAVE);
    nb6_t *sim = begin(&s, 0, LEAVE, &o);
    const uint64_t before = cluster_state(sim);
    const struct observer was = o;
    const double accepted = sim->run.config.run.energy_tol;
    struct nbc_error err = {0};
    sim->run.config.run.energy_tol = 1e-20;
    assert_int_equal(nb6_evolve(sim, LEAVE, &err), NBC_ENERGY);
    assert_int_equal(cluster_state(sim), before);
    assert_int_equal(o.rows, was.rows + 1);
    assert_int_equal(o.checks, was.checks + 2);
    assert_int_equal(o.escapes, was.escapes);
    sim->run.config.run.energy_tol = accepted;
    cluster_evolve(sim, LEAVE);
    goes_on(sim, &run);
    nb6_free(sim);
    nb6_free(run.end);
    cluster_free(&s.c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_fault),
        cmocka_unit_test(checkpoint_after_a_fault),
        cmocka_unit_test(observers_fail),
        cmocka_unit_test(energy_not_accepted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
