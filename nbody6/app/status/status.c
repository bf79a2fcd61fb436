#include "nbody6/app/status/status.h"

#include "common/file.h"
#include "common/nbc.h"
#include "nbody6/app/collisionless/check.h"
#include "nbody6/app/collisionless/forces_note.h"
#include "nbody6/app/run_lock.h"
#include "nbody6/app/run_names.h"
#include "nbody6/app/shell_word.h"
#include "nbody6/app/status/status_find.h"
#include "nbody6/app/status/status_read.h"
#include "nbody6/input/config.h"
#include "nbody6/output/checkpoint.h"
#include "nbody6/state/body.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A checkpoint, if it exists. */
struct saved {
    int there, good;
    struct nb6_config config;
    struct nb6_run_state state;
    struct nbc_error why; /* there and not good */
};

struct facts {
    struct nb6_run_names names;
    enum nb6_lock_state lock;
    char holder[NB6_HOLDER_BYTES];
    struct saved last, previous, fault;
    struct nb6_last_row row;
    int64_t escapes; /* of stars that the row still counts */
};

static void look_at(const char *path, struct saved *saved)
{
    saved->there = nbc_file_exists(path);
    saved->good =
        saved->there && nb6_checkpoint_read_config(path, &saved->config, &saved->state, &saved->why) == NBC_OK;
}

/* A run that goes on writes these files while we read them: the lock is checked first. */
static int gather(const char *prefix, struct facts *facts, struct nbc_error *err)
{
    memset(facts, 0, sizeof *facts);
    int status = nb6_run_names_set(&facts->names, prefix, err);
    if (status) return status;
    facts->lock = nb6_run_lock_look(facts->names.lock, facts->holder);
    look_at(facts->names.checkpoint, &facts->last);
    look_at(facts->names.previous, &facts->previous);
    look_at(facts->names.fault, &facts->fault);
    facts->row = nb6_status_last_row(facts->names.log);
    if (facts->row.known) facts->escapes = nb6_status_escapes_at(facts->names.events, facts->row.t);
    return NBC_OK;
}

static int has_finished(const struct saved *last)
{
    const double end = last->config.run.t_crit;
    return last->good && last->state.t_ended > 0 && last->state.t_ended >= end - nb6_time_to_double(1);
}

/* A fault file stays when the run goes on: it is of the last session if nothing later was saved. */
static int has_fault(const struct facts *facts)
{
    const struct saved *fault = &facts->fault, *last = &facts->last;
    if (!fault->good) return 0;
    return !last->good || (strcmp(fault->state.id, last->state.id) == 0 && fault->state.t >= last->state.t);
}

/* A session that ends writes a checkpoint last, and then takes its lock away. */
static int was_killed(const struct facts *facts)
{
    return facts->lock == NB6_LOCK_LEFT ||
           (!has_fault(facts) && facts->last.good && facts->row.known && facts->row.t > facts->last.state.t);
}

/* Stars at the latest known time: a row counts those removed at its time, a state does not. */
static int64_t count_of(const struct facts *facts)
{
    const struct nb6_last_row *row = &facts->row;
    const struct saved *last = &facts->last;
    if (last->good && (!row->known || last->state.t >= row->t)) return last->state.n;
    return row->n - facts->escapes;
}

static void say_where(const struct facts *facts, double t)
{
    const struct nb6_last_row *row = &facts->row;
    printf(" at t = %.10g", t);
    if (facts->last.good) printf(" of %.10g", facts->last.config.run.t_crit);
    if (row->known && row->t > 0) printf(" (%.4g Myr)", t * (row->t_myr / row->t));
    if (row->known) printf(", N = %lld, dE/E = %.2g at t = %.10g", (long long)count_of(facts), row->de_cluster, row->t);
    putchar('\n');
}

static void say_running(const struct facts *facts)
{
    printf("running, %s,", facts->holder[0] ? facts->holder : "by another process");
    if (facts->row.known || facts->last.good)
        say_where(facts, facts->row.known ? facts->row.t : facts->last.state.t);
    else
        puts(" no row yet");
    char word[NB6_SHELL_WORD];
    printf("  to stop it with a checkpoint: touch %s\n", nb6_shell_word(facts->names.stop, word));
}

static int is_collisionless(const struct nb6_run_state *state)
{
    return strcmp(state->engine, "collisionless") == 0;
}

/* The program that wrote a checkpoint can continue it. */
static const char *program_of(const struct nb6_run_state *state)
{
    return is_collisionless(state) ? "nbody6-collisionless" : "nbody6";
}

static void say_finished(const struct facts *facts)
{
    char word[NB6_SHELL_WORD];
    printf("finished");
    say_where(facts, facts->last.state.t);
    printf("  to go further: %s --resume %s --tcrit T\n", program_of(&facts->last.state),
           nb6_shell_word(facts->names.checkpoint, word));
}

/* The files to continue from, after a run that did not reach its end. */
static void say_how(const struct facts *facts)
{
    const struct nb6_run_names *names = &facts->names;
    char word[NB6_SHELL_WORD];
    if (facts->last.good)
        printf("  to continue from t = %.10g: %s --resume %s\n", facts->last.state.t, program_of(&facts->last.state),
               nb6_shell_word(names->checkpoint, word));
    else if (facts->previous.good)
        printf("  to continue from t = %.10g: %s --resume %s\n", facts->previous.state.t,
               program_of(&facts->previous.state), nb6_shell_word(names->previous, word));
    else
        printf("  there is no checkpoint to continue from: nbody6 --overwrite with its input begins anew\n");
}

static void say_stopped(const struct facts *facts)
{
    const struct nb6_config *config = &facts->last.config;
    printf("stopped");
    say_where(facts, facts->last.state.t);
    if (count_of(facts) <= config->run.n_crit)
        printf("  N has fallen to NCRIT = %lld: an input with a smaller one continues it\n",
               (long long)config->run.n_crit);
    say_how(facts);
}

/* The error above 5 QE is in the last row of the log. */
static void say_fault(const struct facts *facts)
{
    const double error = facts->row.de_cluster_interval, limit = 5 * facts->fault.config.run.energy_tol;
    char word[NB6_SHELL_WORD];
    if (facts->row.known && fabs(error) > limit)
        printf("  the energy error of the interval up to t = %.10g, %.2g, is above 5 QE = %.2g; %s. "
               "Changes stand in an input CHANGES.inp: nbody6 --resume %s CHANGES.inp\n",
               facts->row.t, error, limit, nb6_error_advice(facts->row.part),
               nb6_shell_word(facts->names.checkpoint, word));
    else
        printf("  the message is on the standard error of the run\n");
    printf("  the state before it: %s\n", facts->names.fault);
}

static void say_failed(const struct facts *facts)
{
    const double t = has_fault(facts)   ? facts->fault.state.t
                     : facts->row.known ? facts->row.t
                     : facts->last.good ? facts->last.state.t
                                        : 0;
    printf("failed");
    say_where(facts, t);
    if (was_killed(facts))
        printf("  %s ended without a word: killed, a crash, or a power failure\n",
               facts->holder[0] ? facts->holder : "its process");
    if (facts->last.there && !facts->last.good) printf("  %s\n", facts->last.why.text);
    if (has_fault(facts)) say_fault(facts);
    say_how(facts);
}

/* The forces of the checkpoint, which a run that goes on has. */
static void say_forces(const struct saved *saved)
{
    struct nb6_collisionless_options options;
    char text[NB6_FORCES_TEXT];
    if (!saved->good || !is_collisionless(&saved->state)) return;
    if (nb6_collisionless_options_of(&saved->config, &options, NULL)) return;
    nb6_forces_describe(&options.force, options.reuse, text);
    printf("  forces: %s\n", text);
}

static void say(const struct facts *facts)
{
    const int64_t jumps = nb6_status_energy_jumps(facts->names.events);
    printf("%s: ", facts->names.prefix);
    if (facts->lock == NB6_LOCK_HELD)
        say_running(facts);
    else if (has_finished(&facts->last))
        say_finished(facts);
    else if (facts->last.good && !was_killed(facts) && !has_fault(facts))
        say_stopped(facts);
    else
        say_failed(facts);
    say_forces(facts->last.good ? &facts->last : &facts->previous);
    if (jumps)
        printf("  %lld interval%s with an energy error above QE: event energy_jump in %s\n", (long long)jumps,
               jumps == 1 ? "" : "s", facts->names.events);
}

int nb6_status_print(const char *where, struct nbc_error *err)
{
    struct nb6_found_runs found;
    struct facts *facts = nbc_alloc(1, sizeof *facts); /* too large for a stack */
    if (!facts) return nbc_fail(err, NBC_NO_MEMORY, "not enough memory to look at the runs");
    int status = nb6_status_find(where, &found, err);
    for (size_t k = 0; !status && k < found.count; k++) {
        status = gather(found.prefix[k], facts, err);
        if (!status) say(facts);
    }
    if (found.prefix) nbc_free(found.prefix);
    nbc_free(facts);
    return status;
}
