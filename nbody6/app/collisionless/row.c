#include "nbody6/app/collisionless/row.h"

#include "common/nbc.h"
#include "gpunb/gpunb.h"
#include "nbody6/analysis/adjust_row.h"
#include "nbody6/analysis/columns.h"
#include "nbody6/analysis/energy.h"
#include "nbody6/analysis/frame.h"
#include "nbody6/analysis/structure.h"
#include "nbody6/collisionless/collisionless.h"
#include "nbody6/collisionless/force_error.h"
#include "nbody6/collisionless/ranks/ranks.h"
#include "nbody6/run/adjust.h"
#include "nbody6/state/energy_ledger.h"
#include "nbody6/state/run_record.h"

#include <math.h>
#include <string.h>

static void first_energy(struct nb6_run_book *book, const struct nb6_energy *energy, int64_t bodies)
{
    nb6_ledger_open(&book->ledger, energy->total);
    nb6_adjust_raise_scales(book, energy, bodies);
    if (!(book->e_scale > 0)) book->e_scale = 1; /* a body at rest */
    if (!(book->e_cluster > 0)) book->e_cluster = book->e_scale;
    book->energy_known = 1;
}

/* Nothing is ever booked: all that changes is the error of the integration. */
static void energies(const struct nb6_run_book *book, struct nb6_adjust_row *row)
{
    const double total = row->energy.total, interval = nb6_ledger_interval_error(&book->ledger, total);
    row->e_expected = nb6_ledger_expected(&book->ledger);
    row->e_integration = nb6_ledger_integration(&book->ledger, total);
    row->de_rel = (total - row->e_expected) / book->e_scale;
    row->de_rel_interval = interval / book->e_scale;
    row->de_cluster = (total - row->e_expected) / book->e_cluster;
    row->de_cluster_interval = interval / book->e_cluster;
}

static void take_structure(const struct nb6_structure *s, struct nb6_adjust_row *row)
{
    memcpy(row->r_lagr, s->r_lagr, sizeof row->r_lagr);
    memcpy(row->r_density, s->r_density, sizeof row->r_density);
    memcpy(row->v_density, s->v_density, sizeof row->v_density);
    row->r_core = s->r_core;
    row->rho_core = s->rho_core;
    row->n_core = s->n_core;
    row->r_half = s->r_half;
}

/* Bodies of several ranks are surveyed where they are. */
static int look(const struct nb6_run_record *run, const struct nb6_collisionless *system, const struct nb6_frame *frame,
                struct nb6_rank_survey *survey, struct nbc_error *err)
{
    if (frame->rows.get) return nb6_ranks_survey(system->ranks, survey, err);
    nb6_energy_of_frame(frame, &run->external, &survey->energy);
    survey->shortest = survey->longest = frame->dt_irr[0];
    for (int64_t i = 1; i < frame->n; i++) {
        survey->shortest = fmin(survey->shortest, frame->dt_irr[i]);
        survey->longest = fmax(survey->longest, frame->dt_irr[i]);
    }
    if (!isfinite(survey->energy.total)) return NBC_OK; /* told before anything else */
    return nb6_structure_find(frame->n, frame->mass, (const double(*)[3])frame->x, (const double(*)[3])frame->v,
                              &survey->structure, err);
}

static void steps_and_times(const struct nb6_run_record *run, const struct nb6_collisionless *system,
                            const struct nb6_rank_survey *survey, struct nb6_adjust_row *row)
{
    struct gpunb_stats force;
    gpunb_get_stats(system->force, &force);
    row->dt_irr_min = survey->shortest;
    row->dt_irr_max = survey->longest;
    row->counters = run->counters;
    row->wall_s = run->book.wall_used_s + (nbc_wtime() - run->wall_start_s);
    row->gpunb_s = force.seconds_regf;
    row->ns_per_pair_reg = force.interactions ? 1e9 * force.seconds_regf / (double)force.interactions : 0;
}

int nb6_collisionless_row_kind(const struct nb6_collisionless *system)
{
    return !nb6_collisionless_has_tree(system) ? 0 : system->reuse > 1 ? NB6_COLUMNS_KEPT_TREE : NB6_COLUMNS_TREE;
}

/* error: of ranks. */
static void force_errors(const struct nb6_collisionless *system, const struct nb6_frame *frame,
                         struct nb6_force_error error, struct nb6_adjust_row *row)
{
    row->by_tree = nb6_collisionless_row_kind(system);
    if (!row->by_tree) return;
    if (!frame->rows.get) nb6_force_error_find(frame, system->softening, &error);
    row->force_err_50 = error.half;
    row->force_err_99 = error.most;
    row->force_err_max = error.largest;
    row->tree_builds = system->rebuild.builds;
    row->tree_early = system->rebuild.early;
    row->tree_renewals = system->rebuild.renewals;
    row->tree_failed = nb6_rebuild_failed(system);
}

int nb6_collisionless_row(struct nb6_run_record *run, const struct nb6_collisionless *system,
                          const struct nb6_frame *frame, struct nb6_adjust_row *row, struct nbc_error *err)
{
    struct nb6_rank_survey survey = {0};
    memset(row, 0, sizeof *row);
    row->t = frame->t;
    row->n = frame->n;
    const int status = look(run, system, frame, &survey, err);
    if (status) return status;
    row->energy = survey.energy;
    if (!isfinite(row->energy.total))
        return nbc_fail(err, NBC_NON_FINITE, "the total energy at t = %.12g is not finite (kinetic %g, potential %g)",
                        row->t, row->energy.kinetic, row->energy.potential);
    if (!run->book.energy_known) first_energy(&run->book, &row->energy, frame->n);
    energies(&run->book, row);
    steps_and_times(run, system, &survey, row);
    force_errors(system, frame, survey.force_error, row);
    take_structure(&survey.structure, row);
    nb6_columns_compute(run, frame, row);
    return NBC_OK;
}
