#include "nbody6/run/mass_books.h"

#include "common/nbc.h"
#include "common/sum.h"
#include "common/team.h"
#include "nbody6/analysis/frame.h"
#include "nbody6/fewbody/vector_sums.h"
#include "nbody6/galaxy/external.h"
#include "nbody6/run/frame_make.h"
#include "nbody6/state/energy_ledger.h"
#include "nbody6/state/event.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/members.h"
#include "nbody6/state/sim.h"

#include <math.h>
#include <string.h>

/* Compensated, as the sums over all bodies (analysis/energy.c): `low` has the rounding errors of `sum`. */
struct total {
    double sum, low;
};

static void add(struct total *total, double term)
{
    nbc_add_exactly(&total->sum, &total->low, term);
}

struct changes {
    const struct nb6_frame *before, *after;
    const struct nb6_external *external;
    const struct nb6_vector_sums *sums;
    int64_t n, n_others;
    const int64_t *place;
    struct nb6_source_cell *others;   /* [n_others] bodies that did not change */
    struct nb6_source_cell *was, *is; /* [n] those that did */
    double *energy;                   /* [n] after less before */
};

static int64_t cells_of(int64_t n)
{
    return (n + NB6_LANES - 1) / NB6_LANES;
}

static void set_cell(struct nb6_source_cell *cell, int64_t at, const double x[3], double mass)
{
    struct nb6_source_cell *to = &cell[at / NB6_LANES];
    to->m[at % NB6_LANES] = mass;
    for (int k = 0; k < 3; k++) to->x[k][at % NB6_LANES] = x[k];
}

static void set_source(const struct nb6_frame *f, int64_t i, struct nb6_source_cell *cell, int64_t at)
{
    set_cell(cell, at, f->x[i], f->mass[i]);
}

/* m/r of all in these cells but a body at x itself. */
static double potential_of(const struct changes *c, int64_t n, const struct nb6_source_cell *cell, const double x[3])
{
    double lane[NB6_LANES] = {0}, sum = 0;
    c->sums->add_potentials(cells_of(n), cell, x, lane);
    for (int l = 0; l < NB6_LANES; l++) sum += lane[l];
    return sum;
}

/* Energy of the k-th body: with bodies that did not change, and half of that with those that did. */
static void add_energy_of(const struct changes *c, const struct nb6_frame *f, int64_t k, double by_others, double sign,
                          struct total *total)
{
    const int64_t i = c->place[k];
    const double *x = f->x[i], *v = f->v[i], m = sign * f->mass[i];
    const double by_changed = potential_of(c, c->n, f == c->before ? c->was : c->is, x);
    add(total, 0.5 * m * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]));
    add(total, -m * by_others);
    add(total, -0.5 * m * by_changed);
    if (c->external->active) add(total, m * nb6_external_potential(c->external, f->t, x));
}

static void find_energies(void *context, int part, int parts)
{
    struct changes *c = context;
    int64_t first, end;
    nbc_range(c->n, part, parts, &first, &end);
    for (int64_t k = first; k < end; k++) {
        const int64_t i = c->place[k];
        const int stays = memcmp(c->before->x[i], c->after->x[i], sizeof c->after->x[i]) == 0;
        struct total total = {0, 0};
        const double after = potential_of(c, c->n_others, c->others, c->after->x[i]);
        add_energy_of(c, c->after, k, after, 1, &total);
        add_energy_of(c, c->before, k, stays ? after : potential_of(c, c->n_others, c->others, c->before->x[i]), -1,
                      &total);
        c->energy[k] = total.sum + total.low;
    }
}

void nb6_star_sums_add_star(double m, const double x[3], const double v[3], struct nb6_star_sums *sums)
{
    nbc_add_exactly(&sums->mass[0], &sums->mass[1], m);
    for (int k = 0; k < 3; k++) {
        const int k1 = (k + 1) % 3, k2 = (k + 2) % 3;
        nbc_add_exactly(&sums->momentum[k][0], &sums->momentum[k][1], m * v[k]);
        nbc_add_exactly(&sums->angular_momentum[k][0], &sums->angular_momentum[k][1],
                        m * (x[k1] * v[k2] - x[k2] * v[k1]));
    }
}

/* Stars of a system from its centre of mass, which carries their sum. */
static void add_system(const struct nb6_frame *f, int64_t place, const struct nb6_frame_inside *in, double sign,
                       struct nb6_star_sums *sums)
{
    double x[3], v[3];
    for (int m = 0; m < in->n; m++) {
        for (int k = 0; k < 3; k++) {
            x[k] = f->x[place][k] + in->x[m][k];
            v[k] = f->v[place][k] + in->v[m][k];
        }
        nb6_star_sums_add_star(sign * in->mass[m], x, v, sums);
    }
}

void nb6_star_sums_add(const struct nb6_sim *sim, const struct nb6_frame *f, int64_t place, double sign,
                       struct nb6_star_sums *sums)
{
    struct nb6_frame_inside in;
    if (!nb6_is_centre(sim, sim->subsystems.source[place])) {
        nb6_star_sums_add_star(sign * f->mass[place], f->x[place], f->v[place], sums);
        return;
    }
    nb6_frame_look_inside(sim, f, place, &in);
    add_system(f, place, &in, sign, sums);
}

void nb6_star_sums_end(const struct nb6_star_sums *sums, struct nb6_star_transfers *came,
                       struct nb6_star_transfers *channel)
{
    came->mass = sums->mass[0] + sums->mass[1];
    for (int k = 0; k < 3; k++) {
        came->momentum[k] = sums->momentum[k][0] + sums->momentum[k][1];
        came->angular_momentum[k] = sums->angular_momentum[k][0] + sums->angular_momentum[k][1];
    }
    if (!channel) return;
    channel->mass += came->mass;
    for (int k = 0; k < 3; k++) {
        channel->momentum[k] += came->momentum[k];
        channel->angular_momentum[k] += came->angular_momentum[k];
    }
}

int nb6_star_sums_book(const struct nb6_star_sums *sums, struct nb6_event *event, struct nb6_run_book *book,
                       struct nbc_error *err)
{
    struct nb6_star_transfers came;
    struct nb6_star_transfers *channel =
        event->channel == NB6_CHANNEL_CHANGED ? &book->transfers.changed : &book->transfers.stars;
    nb6_star_sums_end(sums, &came, book->energy_known ? channel : NULL);
    event->mass = came.mass;
    memcpy(event->v, came.momentum, sizeof event->v);
    memcpy(event->x, came.angular_momentum, sizeof event->x);
    return book->energy_known ? nb6_ledger_book(&book->ledger, event->channel, event->energy, err) : NBC_OK;
}

/* Those that did not change are where they were. */
static void fill(struct changes *c)
{
    int64_t k = 0;
    for (int64_t i = 0; i < c->after->n; i++) {
        if (k == c->n || c->place[k] != i) {
            set_source(c->after, i, c->others, c->n_others++);
            continue;
        }
        set_source(c->before, i, c->was, k);
        set_source(c->after, i, c->is, k++);
    }
}

static int allocate(struct changes *c)
{
    const size_t cells = (size_t)cells_of(c->n);
    c->others = nbc_alloc(c->after ? (size_t)cells_of(c->after->n - c->n) : 0, sizeof *c->others);
    c->was = nbc_alloc(cells, sizeof *c->was);
    c->is = nbc_alloc(cells, sizeof *c->is);
    c->energy = nbc_alloc((size_t)c->n, sizeof *c->energy);
    return c->others && c->was && c->is && c->energy;
}

static void release(struct changes *c)
{
    nbc_free(c->others);
    nbc_free(c->was);
    nbc_free(c->is);
    nbc_free(c->energy);
}

int nb6_energy_of_change(const struct nb6_sim *sim, const struct nb6_frame *before, const struct nb6_frame *after,
                         int64_t n, const int64_t *place, double *energy, struct nbc_error *err)
{
    struct changes c = {.before = before,
                        .after = after,
                        .external = &sim->run.external,
                        .sums = nb6_vector_sums_best(),
                        .n = n,
                        .place = place};
    const int status = allocate(&c) ? NBC_OK : nbc_fail(err, NBC_NO_MEMORY, "no memory for the energy of a change");
    if (!status) {
        struct total total = {0, 0};
        fill(&c);
        nbc_team_run(nbc_parts(n, 1), find_energies, &c);
        for (int64_t k = 0; k < n; k++) add(&total, c.energy[k]);
        add(&total, after->pair_binding - before->pair_binding);
        add(&total, after->pair_potential - before->pair_potential);
        add(&total, after->pair_tidal - before->pair_tidal);
        *energy = total.sum + total.low;
    }
    release(&c);
    return status;
}

struct among {
    struct changes cells;
    const double (*x)[3], *was_mass, *is_mass;
};

static void find_among(void *context, int part, int parts)
{
    struct among *a = context;
    const struct changes *c = &a->cells;
    int64_t first, end;
    nbc_range(c->n, part, parts, &first, &end);
    for (int64_t k = first; k < end; k++)
        c->energy[k] = 0.5 * (a->was_mass[k] * potential_of(c, c->n, c->was, a->x[k]) -
                              a->is_mass[k] * potential_of(c, c->n, c->is, a->x[k]));
}

int nb6_energy_among(int64_t n, const double (*x)[3], const double *was, const double *is, double *energy,
                     struct nbc_error *err)
{
    struct among a = {{.sums = nb6_vector_sums_best(), .n = n}, x, was, is};
    const int status =
        allocate(&a.cells) ? NBC_OK : nbc_fail(err, NBC_NO_MEMORY, "no memory for the energy of a change");
    if (!status) {
        struct total total = {0, 0};
        for (int64_t k = 0; k < n; k++) {
            set_cell(a.cells.was, k, x[k], was[k]);
            set_cell(a.cells.is, k, x[k], is[k]);
        }
        nbc_team_run(nbc_parts(n, 1), find_among, &a);
        for (int64_t k = 0; k < n; k++) add(&total, a.cells.energy[k]);
        *energy = total.sum + total.low;
    }
    release(&a.cells);
    return status;
}
