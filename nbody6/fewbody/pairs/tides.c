/* Tides on the relative motion of a pair, or on a chain: of neighbours too weak to be perturbers, of all bodies beyond
 * the neighbour sphere, and of the galaxy. */
#include "nbody6/fewbody/pairs/tides.h"

#include "common/nbc.h"
#include "common/team.h"
#include "nbody6/fewbody/kind.h"
#include "nbody6/fewbody/tide_sum.h"
#include "nbody6/fewbody/vector_sums.h"
#include "nbody6/galaxy/external.h"
#include "nbody6/state/body.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/members.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "nbody6/state/view.h"

#include <math.h>

/* The tide of bodies beyond the sphere counts where it may change the energy of the pair by more than this part of the
 * cluster's: wide and soft pairs, and chains. It costs as much as a sum over all bodies. */
static const double FAR_ENERGY = 1e-10;

void nb6_tide_add(double m, const double x[3], const double v[3], struct nb6_tide *tide)
{
    nb6_add_tide(m, x, v, tide->field, tide->field_dot);
}

void nb6_tide_join(const struct nb6_tide *far, struct nb6_tide *tide)
{
    const double s = nb6_time_to_double(tide->t - far->t);
    for (int k = 0; k < 6; k++) {
        tide->field[k] += far->field[k] + s * far->field_dot[k];
        tide->field_dot[k] += far->field_dot[k];
    }
}

double nb6_pair_far_tide_limit(const struct nb6_sim *sim, nb6_slot slot)
{
    const double r = nb6_slot_reference_radius(sim, slot);
    return FAR_ENERGY * nb6_energy_scale(sim) / (nb6_get_body(sim, nb6_centre(sim, slot))->mass * r * r);
}

/* Whether it is worth the sum. */
static int is_felt(const struct nb6_sim *sim, nb6_slot slot)
{
    const struct nb6_star *star = nb6_get_star(sim, nb6_centre(sim, slot));
    return nb6_strongest_outside(sim->run.book.mass_start, (double)sim->subsystems.n_source, star->acc_reg, star->r_nb,
                                 star->nnb) > nb6_pair_far_tide_limit(sim, slot);
}

int nb6_pair_far_tide_is_old(const struct nb6_sim *sim, nb6_slot slot, nb6_time t)
{
    const nb6_time t0_reg = nb6_get_star(sim, nb6_centre(sim, slot))->t0_reg;
    return t0_reg == t || sim->subsystems.system[slot].far.t < t0_reg;
}

static int leaves_nobody(const struct nb6_sim *sim, size_t nnb)
{
    return nnb + 1 >= (size_t)sim->subsystems.n_source;
}

int nb6_pair_sums_far_tide(const struct nb6_sim *sim, nb6_slot slot, nb6_time t)
{
    const size_t nnb = (size_t)nb6_get_star(sim, nb6_centre(sim, slot))->nnb;
    return nb6_pair_far_tide_is_old(sim, slot, t) && !leaves_nobody(sim, nnb) && is_felt(sim, slot);
}

/* A sum that an engine has made where the bodies are; NULL: it has not. */
static const struct nb6_tide *summed_by_engine(const struct nb6_subsystems *p, nb6_slot slot)
{
    for (int64_t k = 0; k < p->n_far; k++)
        if (p->far[k].slot == slot) return &p->far[k].tide;
    return NULL;
}

int nb6_pair_begin_far_tide(const struct nb6_sim *sim, nb6_slot slot, nb6_time t, struct nb6_tide *tide)
{
    const struct nb6_tide *summed = summed_by_engine(&sim->subsystems, slot);
    *tide = summed ? *summed : (struct nb6_tide){.t = t};
    return !summed && !leaves_nobody(sim, (size_t)nb6_get_star(sim, nb6_centre(sim, slot))->nnb) && is_felt(sim, slot);
}

/* ---- sums over all bodies */

enum { LANES = NB6_LANES };

/* All bodies that take part, at one time. */
struct nb6_tide_sources {
    int64_t cells; /* room for so many */
    struct nb6_source_cell cell[];
};

static int64_t cells_of(const struct nb6_sim *sim)
{
    return (sim->subsystems.n_source + LANES - 1) / LANES;
}

static void finish_sums(const struct nb6_tide_sums *s, struct nb6_tide *tide)
{
    for (int a = 0, k = 0; a < 3; a++)
        for (int b = a; b < 3; b++, k++)
            for (int l = 0; l < LANES; l++) {
                tide->field[k] += s->field[k][l] - (a == b ? s->trace[l] : 0);
                tide->field_dot[k] += s->field_dot[k][l] - (a == b ? s->trace_dot[l] : 0);
            }
}

/* Bodies of the list of a system, and its centre of mass, in the order of sources. */
struct excluded {
    const struct nb6_subsystems *subsystems;
    const nb6_index *list;
    size_t n, at;
    nb6_index centre;
    int with_centre; /* it has not come yet */
};

/* The place of the next one among the sources; behind all of them: there is none any more. */
static int64_t next_excluded(struct excluded *e)
{
    while (e->at < e->n || e->with_centre) {
        const int is_centre = e->with_centre && (e->at == e->n || e->centre < e->list[e->at]);
        const int64_t place = nb6_source_place(e->subsystems, is_centre ? e->centre : e->list[e->at]);
        if (is_centre)
            e->with_centre = 0;
        else
            e->at++;
        if (place >= 0) return place;
    }
    return INT64_MAX;
}

/* A body without mass, somewhere else than the system at x. */
static void take_out(struct nb6_source_cell *cell, int lane, const double x[3])
{
    cell->m[lane] = 0;
    for (int k = 0; k < 3; k++) cell->x[k][lane] = x[k] + (1 + fabs(x[k]));
}

/* Of all bodies but the centre of mass of a slot and those of its list: of whole runs of cells, and of cells with one
 * that is excluded, or with lanes behind the last body. */
static void sum_far_tide(const struct nb6_sim *sim, const struct nb6_far_sum *sum)
{
    const struct nb6_subsystems *p = &sim->subsystems;
    const struct nb6_source_cell *cell = p->tide_sources->cell;
    const nb6_index i = nb6_centre(sim, sum->slot);
    const int64_t whole = p->n_source / LANES;
    struct excluded excluded = {.subsystems = p, .centre = i, .with_centre = 1};
    struct nb6_tide_sums sums = {0};
    double x[3], v[3];
    excluded.list = nb6_get_list(sim, i, &excluded.n);
    nb6_get_predicted(sim, i, sum->tide->t, x, v);
    int64_t next = next_excluded(&excluded);
    for (int64_t k = 0; k < cells_of(sim); k++) {
        const int64_t end = next / LANES < whole ? next / LANES : whole;
        if (end > k) p->sums->add_tides(end - k, cell + k, x, v, &sums);
        if (end > k) k = end;
        if (k == cells_of(sim)) break;
        struct nb6_source_cell part = cell[k];
        for (; next < (k + 1) * LANES; next = next_excluded(&excluded)) take_out(&part, (int)(next - k * LANES), x);
        for (int l = LANES - 1; k * LANES + l >= p->n_source; l--) take_out(&part, l, x);
        p->sums->add_tides(1, &part, x, v, &sums);
    }
    finish_sums(&sums, sum->tide);
}

static void predict_cell(const struct nb6_sim *sim, int64_t first, nb6_time t, struct nb6_source_cell *cell)
{
    const struct nb6_subsystems *p = &sim->subsystems;
    for (int l = 0; l < LANES && first + l < p->n_source; l++) {
        double x[3], v[3];
        nb6_get_predicted(sim, p->source[first + l], t, x, v);
        cell->m[l] = nb6_get_body(sim, p->source[first + l])->mass;
        for (int k = 0; k < 3; k++) {
            cell->x[k][l] = x[k];
            cell->v[k][l] = v[k];
        }
    }
}

struct far_job {
    const struct nb6_sim *sim;
    int64_t n;
    const struct nb6_far_sum *sum;
};

static void predict_part(void *context, int part, int parts)
{
    const struct far_job *job = context;
    int64_t first, end;
    nbc_range(cells_of(job->sim), part, parts, &first, &end);
    for (int64_t k = first; k < end; k++)
        predict_cell(job->sim, k * LANES, job->sum->tide->t, &job->sim->subsystems.tide_sources->cell[k]);
}

static void sum_part(void *context, int part, int parts)
{
    const struct far_job *job = context;
    int64_t first, end;
    nbc_range(job->n, part, parts, &first, &end);
    for (int64_t k = first; k < end; k++) sum_far_tide(job->sim, &job->sum[k]);
}

/* Some microseconds. */
enum { CELLS_PREDICTED_BY_A_PART = 128, CELLS_SUMMED_BY_A_PART = 256 };

int nb6_far_tides(struct nb6_sim *sim, int64_t n, const struct nb6_far_sum *sum, struct nbc_error *err)
{
    struct nb6_subsystems *p = &sim->subsystems;
    struct far_job job = {.sim = sim, .n = n, .sum = sum};
    const int64_t cells = cells_of(sim);
    if (n == 0) return NBC_OK;
    if (!p->tide_sources || p->tide_sources->cells < cells) {
        nbc_free(p->tide_sources);
        p->tide_sources = nbc_alloc(1, sizeof *p->tide_sources + (size_t)cells * sizeof p->tide_sources->cell[0]);
        if (!p->tide_sources) return nbc_fail(err, NBC_NO_MEMORY, "no memory for the tides on pairs");
        p->tide_sources->cells = cells;
    }
    nbc_team_run(nbc_parts(cells, CELLS_PREDICTED_BY_A_PART), predict_part, &job);
    nbc_team_run(nbc_parts(n, 1 + CELLS_SUMMED_BY_A_PART / cells), sum_part, &job);
    return NBC_OK;
}

double nb6_pair_galactic_tide(const struct nb6_sim *sim, nb6_slot slot)
{
    const double r = nb6_slot_reference_radius(sim, slot);
    const struct nb6_body *centre = nb6_get_body(sim, nb6_centre(sim, slot));
    return nb6_external_strongest(&sim->run.external, nb6_time_to_double(centre->t0), centre->x0) * r * r * r /
           centre->mass;
}
