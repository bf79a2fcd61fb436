#include "nbody6/run/adjust.h"

#include "common/nbc.h"
#include "gpuirr/gpuirr.h"
#include "gpunb/gpunb.h"
#include "nbody6/analysis/adjust_row.h"
#include "nbody6/analysis/columns.h"
#include "nbody6/analysis/energy.h"
#include "nbody6/analysis/frame.h"
#include "nbody6/analysis/structure.h"
#include "nbody6/analysis/tree_check.h"
#include "nbody6/engine/engine.h"
#include "nbody6/engine/engines.h"
#include "nbody6/fewbody/mergers.h"
#include "nbody6/fewbody/pairs/start.h"
#include "nbody6/input/config.h"
#include "nbody6/run/escape.h"
#include "nbody6/run/frame_make.h"
#include "nbody6/run/overflow.h"
#include "nbody6/state/body.h"
#include "nbody6/state/energy_ledger.h"
#include "nbody6/state/event.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/members.h"
#include "nbody6/state/nearest.h"
#include "nbody6/state/profile.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "nbody6/state/transaction.h"
#include "nbody6/state/view.h"
#include "nbody6/step/hermite.h"
#include "nbody6/step/radius.h"

#include <math.h>
#include <string.h>

/* Below this share of T + |U| the total energy is no scale to measure errors with. */
static const double SMALL_ENERGY = 1e-3;

/* The energy of the cluster as a set of bodies: the binding of hard pairs, which may be a thousand times as large,
 * would hide its errors. The energy of a single body is its binding energy alone. */
static double cluster_energy(const struct nb6_energy *e, int64_t bodies, double otherwise)
{
    const double sum = e->kinetic + e->potential, size = e->kinetic + fabs(e->potential);
    const double scale = fmax(e->kinetic, fabs(sum));
    return bodies < 2 ? otherwise : scale > SMALL_ENERGY * size ? scale : size;
}

void nb6_adjust_raise_scales(struct nb6_run_book *book, const struct nb6_energy *energy, int64_t bodies)
{
    const double size = energy->kinetic + fabs(energy->potential);
    const double scale = fabs(energy->total) > SMALL_ENERGY * size ? fabs(energy->total) : size;
    book->e_scale = fmax(book->e_scale, scale);
    book->e_cluster = fmax(book->e_cluster, cluster_energy(energy, bodies, scale));
}

static void first_energy(struct nb6_sim *sim, const struct nb6_energy *energy, int64_t bodies)
{
    struct nb6_run_book *book = &sim->run.book;
    double size = energy->kinetic + fabs(energy->potential);
    nb6_ledger_open(&book->ledger, energy->total);
    book->e_scale = fabs(energy->total) > SMALL_ENERGY * size ? fabs(energy->total) : size;
    if (!(book->e_scale > 0)) book->e_scale = 1;
    book->e_cluster = cluster_energy(energy, bodies, book->e_scale);
    if (!(book->e_cluster > 0)) book->e_cluster = book->e_scale;
    book->energy_known = 1;
}

static int structure(struct nb6_sim *sim, const struct nb6_frame *frame, struct nb6_adjust_row *row,
                     struct nbc_error *err)
{
    struct nb6_structure s;
    const double(*x)[3] = (const double(*)[3])frame->x;
    const struct nb6_nearest *nearest = nb6_nearest_is_of(sim->nearest, frame->n, x) ? sim->nearest : NULL;
    int status = nb6_structure_of(frame->n, frame->mass, x, (const double(*)[3])frame->v, nearest, &s, err);
    nb6_nearest_free(sim->nearest);
    sim->nearest = NULL;
    if (!status && sim->run.config.run.lagrangian_mass == NB6_LAGR_INITIAL_MASS)
        status = nb6_structure_lagrangian(frame->n, frame->mass, x, s.r_density, sim->run.book.mass_start, s.r_lagr,
                                          NULL, err);
    if (status) return status;
    memcpy(row->r_lagr, s.r_lagr, sizeof row->r_lagr);
    memcpy(row->r_density, s.r_density, sizeof row->r_density);
    memcpy(row->v_density, s.v_density, sizeof row->v_density);
    row->r_core = s.r_core;
    row->rho_core = s.rho_core;
    row->n_core = s.n_core;
    row->r_half = s.r_half;
    return NBC_OK;
}

static void neighbours_and_steps(const struct nb6_sim *sim, struct nb6_adjust_row *row)
{
    double nnb = 0, r_nb = 0;
    int lowest = NB6_TIME_BITS, highest = 0;
    const struct nb6_subsystems *p = &sim->subsystems;
    for (int64_t m = 0; m < p->n_source; m++) {
        const struct nb6_star *star = nb6_get_star(sim, p->source[m]);
        nnb += star->nnb;
        r_nb += star->r_nb;
        if (star->level_irr < lowest) lowest = star->level_irr;
        if (star->level_irr > highest) highest = star->level_irr;
    }
    row->nnb_mean = nnb / (double)p->n_source;
    row->r_nb_mean = r_nb / (double)p->n_source;
    row->nnb_opt = sim->book.nnb_opt;
    row->dt_irr_min = nb6_step_length(lowest);
    row->dt_irr_max = nb6_step_length(highest);
}

static void timings(const struct nb6_sim *sim, struct nb6_adjust_row *row)
{
    struct gpunb_stats reg;
    struct gpuirr_stats irr;
    gpunb_get_stats(sim->reg, &reg);
    gpuirr_get_stats(sim->irr, &irr);
    memcpy(row->stage_s, sim->stage_s, sizeof row->stage_s);
    row->wall_s = sim->run.book.wall_used_s + (nbc_wtime() - sim->run.wall_start_s);
    row->ns_per_pair_reg = reg.interactions ? 1e9 * reg.seconds_regf / (double)reg.interactions : 0;
    row->ns_per_pair_irr =
        irr.interactions ? 1e9 * (irr.seconds_pred + irr.seconds_firr) / (double)irr.interactions : 0;
    row->chain_s = sim->chain_s;
    row->gpuirr_s = irr.seconds_pred + irr.seconds_firr;
    row->gpunb_s = reg.seconds_regf;
}

/* The booked energies including mergers in the frame: a chain there may be ahead of its last committed block. A cluster
 * that a galaxy has torn apart may get ten thousand times its own energy in a passage of the pericentre, and give it
 * back: its error need not be small beside the energy that is left. Differences are taken from 0, so that an empty
 * channel reads 0 and not -0. */
static int read_books(const struct nb6_sim *sim, const struct nb6_frame *frame, struct nb6_adjust_row *row,
                      struct nbc_error *err)
{
    const struct nb6_run_book *book = &sim->run.book;
    struct nb6_energy_ledger ledger = book->ledger;
    int status = nb6_ledger_book(&ledger, NB6_CHANNEL_MERGED, -nb6_mergers_ahead(sim, &frame->motion), err);
    if (!status) status = nb6_ledger_book(&ledger, NB6_CHANNEL_GALAXY, frame->galaxy_work, err);
    const double *booked = ledger.booked, total = row->energy.total;
    const double interval_error = nb6_ledger_interval_error(&ledger, total);
    row->e_expected = nb6_ledger_expected(&ledger);
    row->e_escaped = 0 - (booked[NB6_CHANNEL_ESCAPED] + booked[NB6_CHANNEL_ESCAPED_BINDING]);
    row->e_escaped_binding = 0 - booked[NB6_CHANNEL_ESCAPED_BINDING];
    row->e_merged = 0 - booked[NB6_CHANNEL_MERGED];
    row->e_galaxy = booked[NB6_CHANNEL_GALAXY];
    row->e_changed = booked[NB6_CHANNEL_CHANGED];
    row->e_stars = booked[NB6_CHANNEL_STARS];
    row->transfers = book->transfers;
    row->e_pairs = booked[NB6_CHANNEL_PAIRS];
    row->e_chains = booked[NB6_CHANNEL_CHAINS];
    row->e_hierarchies = booked[NB6_CHANNEL_HIERARCHIES];
    row->e_integration = nb6_ledger_integration(&ledger, total);
    row->e_pair_changes = nb6_ledger_known_error(&ledger) / book->e_scale;
    row->de_rel = (total - row->e_expected) / book->e_scale;
    row->de_rel_interval = interval_error / book->e_scale;
    row->de_cluster = (total - row->e_expected) / book->e_cluster;
    row->de_cluster_interval = interval_error / fmax(book->e_cluster, ledger.work);
    return status;
}

static int describe_adjust(struct nb6_sim *sim, const struct nb6_frame *frame, struct nb6_adjust_row *row,
                           struct nbc_error *err)
{
    memset(row, 0, sizeof *row);
    row->t = frame->t;
    row->n = sim->n;
    row->n_pair = frame->n_pair;
    row->n_chain = frame->n_chain;
    for (nb6_slot slot = 0; slot < sim->subsystems.n_slot; slot++)
        row->n_hierarchy += nb6_slot_is_used(&sim->subsystems, slot) && nb6_is_hierarchy(sim, slot);
    for (int64_t k = 0; k < frame->n_pair; k++) row->n_pair_perturbed += frame->pair[k].perturbers > 0;
    row->r_min = sim->book.r_min;
    row->dt_min = sim->book.dt_min;
    row->e_close = sim->book.e_close;
    nb6_energy_of_frame(frame, &sim->run.external, &row->energy);
    row->e_pot_error = sim->potential.error;
    if (!isfinite(row->energy.total))
        return nbc_fail(err, NBC_NON_FINITE, "the total energy at t = %.12g is not finite (kinetic %g, potential %g)",
                        row->t, row->energy.kinetic, row->energy.potential);
    if (!sim->run.book.energy_known) first_energy(sim, &row->energy, frame->n);
    int status = read_books(sim, frame, row, err);
    if (status) return status;
    row->r_tide = nb6_escape_tidal_radius(sim, row->energy.mass);
    row->counters = sim->run.counters;
    neighbours_and_steps(sim, row);
    timings(sim, row);
    status = structure(sim, frame, row, err);
    if (!status) nb6_columns_compute(&sim->run, frame, row);
    return status;
}

/* Events for the observer, raised when the adjust is committed. */
struct report {
    struct nb6_adjust_row row;
    struct nb6_event check[3]; /* of the energy, of the forces, of those by tree */
    int n_check;
};

/* Targets that are compared with direct sums where forces are made by a tree: all would take longer than the run. */
enum { CHECKED = 1024 };

/* The regular forces that a tree of the bodies at the present time makes. */
static int check_tree(const struct nb6_sim *sim, const struct nb6_frame *frame, struct report *report,
                      struct nbc_error *err)
{
    const struct nb6_config *config = &sim->run.config;
    const struct gpunb_options options = {.backend = gpunb_info(sim->reg)->name,
                                          .mass_weighted = config->integration.mass_weighted_nb,
                                          .precision = (enum gpunb_precision)config->run.precision,
                                          .force_error = config->integration.force_error};
    struct nb6_tree_check check;
    const double unit = config->integration.mass_weighted_nb ? sim->mean_mass : 1;
    const int status = nb6_tree_check(frame, &options, unit, CHECKED, &check, err);
    if (status) return status;
    report->check[report->n_check++] =
        (struct nb6_event){.kind = NB6_EVENT_TREE_CHECK,
                           .t = frame->t,
                           .targets = check.targets,
                           .lists = check.lists,
                           .value = {check.acc_median, check.acc_99, check.jerk_median, check.jerk_99}};
    return NBC_OK;
}

static int check_forces(const struct nb6_sim *sim, const struct nb6_frame *frame, struct report *report,
                        struct nbc_error *err)
{
    const int by_tree = nb6_least_by_tree(sim->reg, sim->subsystems.n_source) > 0;
    struct nb6_force_check check;
    int status = nb6_force_check(frame, &sim->run.external, by_tree ? CHECKED : 0, &check, err);
    if (!status && by_tree) status = check_tree(sim, frame, report, err);
    if (status) return status;
    report->check[report->n_check++] =
        (struct nb6_event){.kind = NB6_EVENT_FORCE_CHECK,
                           .t = frame->t,
                           .name = check.acc_worst,
                           .value = {check.acc_median, check.acc_max, check.jerk_median, check.jerk_max}};
    return NBC_OK;
}

static int measure_adjust(struct nb6_sim *sim, const struct nb6_frame *frame, struct report *report,
                          struct nbc_error *err)
{
    const struct nb6_adjust_row *row = &report->row;
    const double tolerance = sim->run.config.run.energy_tol;
    int status = describe_adjust(sim, frame, &report->row, err);
    if (status) return status;
    if (fabs(row->de_cluster_interval) > tolerance)
        report->check[report->n_check++] = (struct nb6_event){
            .kind = NB6_EVENT_ENERGY_JUMP, .t = row->t, .value = {row->de_cluster_interval, tolerance}};
    return sim->run.config.run.force_check ? check_forces(sim, frame, report, err) : NBC_OK;
}

static int accept_energy(const struct nb6_sim *sim, const struct nb6_adjust_row *row, struct nbc_error *err)
{
    const double tolerance = sim->run.config.run.energy_tol;
    double part[NB6_ERROR_PARTS];
    if (!(fabs(row->de_cluster_interval) > 5 * tolerance)) return NBC_OK;
    nb6_ledger_interval_parts(&sim->run.book.ledger,
                              row->energy.total - row->e_expected + nb6_ledger_expected(&sim->run.book.ledger), part);
    return nbc_fail(err, NBC_ENERGY,
                    "the relative energy error of the interval up to t = %.12g is %.3g, above 5 QE = %.3g; "
                    "%s; a larger QE accepts it",
                    row->t, row->de_cluster_interval, 5 * tolerance, nb6_error_advice(part));
}

static int tell(struct nb6_sim *sim, const struct report *report, struct nbc_error *err)
{
    const struct nb6_observer *observer = &sim->observer;
    int status = NBC_OK;
    for (int k = 0; k < report->n_check && !status; k++) status = nb6_event_raise(sim, &report->check[k], err);
    if (status || !observer->adjust) return status;
    return observer->adjust(observer->context, sim, &report->row, err);
}

static void keep(struct nb6_sim *sim, const struct nb6_adjust_row *row)
{
    struct nb6_bookkeeping *book = &sim->book;
    nb6_ledger_end_interval(&sim->run.book.ledger, row->energy.total - row->e_expected);
    book->r_half = row->r_half;
    memcpy(book->r_density, row->r_density, sizeof book->r_density);
    memcpy(book->v_density, row->v_density, sizeof book->v_density);
    book->eta_share = nb6_eta_share(nb6_massive_stars(sim));
    nb6_subsystems_adjust(sim, row->rho_core, row->r_half, &row->energy);
}

/* All that can fail, within a transaction.   @return NBC_ENERGY: the report is complete, and nothing else was done */
static int adjust(struct nb6_sim *sim, nb6_time t, nb6_time ti_next, struct report *report, struct nbc_error *err)
{
    struct nb6_frame frame;
    int status = nb6_frame_make(sim, t, NB6_FRAME_POTENTIAL | NB6_FRAME_BODIES, &frame, err);
    if (status) return status;
    status = measure_adjust(sim, &frame, report, err);
    if (!status) status = accept_energy(sim, &report->row, err);
    if (!status && ti_next) {
        sim->run.book.ti_next_adjust = ti_next;
        sim->run.book.adjust_count++;
        sim->book.energy_tries = 0;
        keep(sim, &report->row);
        const struct nb6_pair_cost cost = nb6_engines_cost(sim);
        nb6_radius_steer(sim, &cost);
        status = nb6_overflow_look(sim, &frame, err);
        if (!status) status = nb6_escape_remove(sim, &frame, err);
    }
    nb6_frame_free(&frame);
    return status;
}

/* The row is raised also if its energy error is refused, so that the user sees why the run ends. */
int nb6_adjust(struct nb6_sim *sim, nb6_time t, nb6_time ti_next, struct nbc_error *err)
{
    const double start = nbc_wtime();
    struct report report = {.n_check = 0};
    int status = nb6_transaction_begin(sim, err);
    if (status) return status;
    status = nb6_engines_failed(sim, adjust(sim, t, ti_next, &report, err));
    if (status)
        nb6_transaction_rollback(sim);
    else
        nb6_transaction_commit(sim);
    const int told = !status || status == NBC_ENERGY ? tell(sim, &report, err) : NBC_OK;
    if (told) status = told;
    if (!status) status = nb6_transaction_notify(sim, err);
    nb6_profile_stage(sim, NB6_STAGE_ADJUST, nbc_wtime() - start);
    return status;
}
