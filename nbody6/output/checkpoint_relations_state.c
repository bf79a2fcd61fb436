/* Configuration, units, field, times, counters and books of a checkpoint against each other. */
#include "common/nbc.h"
#include "nbody6/engine/engines.h"
#include "nbody6/galaxy/external.h"
#include "nbody6/input/config.h"
#include "nbody6/input/units.h"
#include "nbody6/output/checkpoint.h"
#include "nbody6/output/checkpoint_relations.h"
#include "nbody6/output/checkpoint_rules.h"
#include "nbody6/output/checkpoint_state.h"
#include "nbody6/run/change.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/run_record.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double MOST_STARS = 0x1p30;
static const int64_t MOST_BYTES = (int64_t)1 << 60;

static void unless(int holds, struct nb6_hdf5 *file, const char *field, double value, const char *must_be)
{
    nb6_rules_unless(holds, file, field, -1, value, must_be);
}

/* ---- data that follow from the input ---- */

static void judge_config(struct nb6_hdf5 *file, const struct nb6_config *config)
{
    struct nbc_error err = {0};
    char text[sizeof err.text];
    if (file->status || !nb6_config_check(config, &err)) return;
    snprintf(text, sizeof text, "its configuration is none that an input can say: %.*s", 3000, err.text);
    nb6_hdf5_fail(file, NBC_BAD_INPUT, text);
}

/* Stars at the start, by which the unit of mass is the mean mass. */
static double stars_at_start(const struct nb6_checkpoint_state *state)
{
    return nearbyint(state->run.units.mass_msun / state->run.config.zmbar_msun);
}

static void judge_units(struct nb6_hdf5 *file, const struct nb6_checkpoint_state *state)
{
    const double n = stars_at_start(state);
    unless(n >= 1 && n <= MOST_STARS, file, "units/mass_msun", state->run.units.mass_msun,
           "config/zmbar_msun times the number of stars at the start");
    if (file->status) return;
    const struct nb6_units *u = &state->run.units;
    const struct nb6_units made = nb6_units_from(state->run.config.rbar_pc, state->run.config.zmbar_msun, (int64_t)n);
    const struct {
        const char *field;
        double is, made;
    } unit[] = {{"units/length_pc", u->length_pc, made.length_pc},
                {"units/mass_msun", u->mass_msun, made.mass_msun},
                {"units/velocity_kms", u->velocity_kms, made.velocity_kms},
                {"units/time_myr", u->time_myr, made.time_myr}};
    for (size_t k = 0; k < sizeof unit / sizeof unit[0]; k++)
        unless(nb6_rules_are_near(unit[k].is, unit[k].made), file, unit[k].field, unit[k].is,
               "the value that follows from RBAR, ZMBAR and the number of stars at the start");
}

/* The field that the configuration makes; where it moves, all but its way. */
static void judge_external(struct nb6_hdf5 *file, const struct nb6_checkpoint_state *state)
{
    static const char MADE[] = "the value that follows from the configuration and the units";
    const struct nb6_external *e = &state->run.external;
    struct nb6_external made;
    struct nbc_error err = {0};
    if (file->status) return;
    unless(!nb6_external_make(&state->run.config, &state->run.units, &made, &err), file, "config_tide/kind",
           (double)state->run.config.tide.kind, "an external potential that its variables can make");
    if (file->status) return;
    unless(e->kind == made.kind, file, "external/kind", e->kind, "config_tide/kind");
    unless(e->active == made.active, file, "external/active", e->active, MADE);
    unless(nb6_rules_are_near(e->t_x, made.t_x), file, "external/t_x", e->t_x, MADE);
    unless(nb6_rules_are_near(e->t_z, made.t_z), file, "external/t_z", e->t_z, MADE);
    unless(nb6_rules_are_near(e->coriolis, made.coriolis), file, "external/coriolis", e->coriolis, MADE);
    for (int k = 0; k < NB6_EXTERNAL_PARAMETERS; k++)
        unless(nb6_rules_are_near(e->parameter[k], made.parameter[k]), file, "external/parameter", e->parameter[k],
               MADE);
}

/* ---- times ---- */

/* The next multiple of an interval: number `count`, no more than the interval ahead, nor behind, where it is due; or
 * the present itself. */
static void judge_next(struct nb6_hdf5 *file, const char *field, nb6_time next, int64_t count, double interval,
                       nb6_time now)
{
    char must_be[160];
    snprintf(must_be, sizeof must_be,
             "multiple %lld of the interval %.12g, and no further from the present than the interval", (long long)count,
             interval);
    const int is_multiple = next == nb6_time_multiple(count, interval) || next == now;
    const int is_near_now = next == INT64_MAX || fabs((double)(next - now)) <= interval * 0x1p40 + 1;
    unless(is_multiple && is_near_now, file, field, (double)next, must_be);
}

static void judge_times(struct nb6_hdf5 *file, const struct nb6_checkpoint_state *state)
{
    const struct nb6_run_book *book = &state->run.book;
    unless(state->ti_now <= state->ti_reached, file, "state/ti_now", (double)state->ti_now,
           "no later than state/ti_reached");
    unless(state->ti_origin <= state->ti_now, file, "state/ti_origin", (double)state->ti_origin,
           "no later than state/ti_now");
    unless(book->ti_ended <= state->ti_reached, file, "bookkeeping/ti_ended", (double)book->ti_ended,
           "no later than state/ti_reached");
    if (file->status) return;
    judge_next(file, "bookkeeping/ti_next_adjust", book->ti_next_adjust, book->adjust_count,
               state->run.config.run.dt_adjust, state->ti_reached);
    judge_next(file, "bookkeeping/ti_next_output", book->ti_next_output, book->output_count,
               state->run.config.run.dt_output, state->ti_reached);
}

/* ---- counters and books ---- */

static void judge_counters(struct nb6_hdf5 *file, const struct nb6_checkpoint_state *state)
{
    const struct nb6_counters *c = &state->run.counters;
    const struct nb6_bookkeeping *book = &state->book;
    unless(c->blocks_reg <= c->blocks, file, "counters/blocks_reg", (double)c->blocks_reg,
           "no more than counters/blocks");
    unless(book->pairs_irr_last <= c->pairs_irr, file, "bookkeeping/pairs_irr_last", (double)book->pairs_irr_last,
           "no more than counters/pairs_irr");
    unless(book->pairs_reg_last <= c->pairs_reg, file, "bookkeeping/pairs_reg_last", (double)book->pairs_reg_last,
           "no more than counters/pairs_reg");
    unless((uint64_t)book->host_until <= c->blocks + NB6_BLOCKS_OF_HOST, file, "bookkeeping/host_until",
           (double)book->host_until, "no more than a look of the host beyond counters/blocks");
}

/* Errors are divided by them. Of a star that is left alone they are 0. */
static const double LEAST_SCALE = 1e-150;

static void judge_scales(struct nb6_hdf5 *file, const struct nb6_checkpoint_state *state)
{
    const struct nb6_run_book *book = &state->run.book;
    if (!book->energy_known || state->n <= 1) return;
    unless(book->e_scale >= LEAST_SCALE, file, "bookkeeping/e_scale", book->e_scale, "a number >= 1e-150");
    unless(book->e_cluster >= LEAST_SCALE, file, "bookkeeping/e_cluster", book->e_cluster, "a number >= 1e-150");
}

/* Books of collisional runs: neighbours, encounters. */
static void judge_neighbours(struct nb6_hdf5 *file, const struct nb6_checkpoint_state *state)
{
    const struct nb6_bookkeeping *book = &state->book;
    const int64_t then = (int64_t)stars_at_start(state), most = then > state->n ? then : state->n;
    const int64_t asked = state->run.config.integration.nnb_opt;
    const double room = 4 * fmax((double)asked, (double)most) + 64;
    unless(state->n >= 1, file, "state/n", (double)state->n, "1 or more");
    unless(state->mean_mass > 0, file, "state/mean_mass", state->mean_mass, "a number > 0");
    unless(state->run.book.mass_start > 0, file, "bookkeeping/mass_start", state->run.book.mass_start, "a number > 0");
    unless(book->eta_share >= 0.05, file, "bookkeeping/eta_share", book->eta_share, "a number from 0.05 to 1");
    unless(book->nb_alpha >= 0.01 && book->nb_alpha <= 100, file, "bookkeeping/nb_alpha", book->nb_alpha,
           "a number from 0.01 to 100");
    unless(book->nnb_opt > 0, file, "bookkeeping/nnb_opt", book->nnb_opt, "a number > 0");
    unless(state->nb_cap >= 16 && (double)state->nb_cap <= room, file, "state/nb_cap", (double)state->nb_cap,
           "a number from 16 to what lists of so many stars may need");
}

void nb6_relations_state(struct nb6_hdf5 *file, const struct nb6_checkpoint_state *state,
                         const struct nb6_config *settled, int is_collisionless)
{
    judge_config(file, settled);
    judge_units(file, state);
    judge_external(file, state);
    judge_times(file, state);
    judge_counters(file, state);
    judge_scales(file, state);
    if (!is_collisionless && !file->status) judge_neighbours(file, state);
}

/* ---- data of the command ---- */

static void judge_bytes(struct nb6_hdf5 *file, const char *field, int64_t bytes)
{
    unless(bytes >= 0 && bytes <= MOST_BYTES, file, field, (double)bytes, "the length of a file, from 0 to 2^60");
}

void nb6_relations_heading(struct nb6_hdf5 *file, const struct nb6_run_state *run)
{
    const size_t length = strlen(run->id);
    judge_bytes(file, "nbody6/log_bytes", run->log_bytes);
    judge_bytes(file, "nbody6/events_bytes", run->events_bytes);
    judge_bytes(file, "nbody6/escapers_bytes", run->escapers_bytes);
    unless(length == 0 || (length == NB6_RUN_ID_BYTES - 1 && strspn(run->id, "0123456789abcdef") == length), file,
           "nbody6/run", (double)length, "16 hexadecimal digits, or none");
}
