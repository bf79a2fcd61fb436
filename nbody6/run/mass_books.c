#include "nbody6/run/mass_books.h"

#include "common/nbc.h"
#include "common/sum.h"
#include "common/team.h"
#include "nbody6/analysis/frame.h"
#include "nbody6/galaxy/external.h"
#include "nbody6/run/frame_make.h"
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
    int64_t n;
    const int64_t *place;
    const int8_t *is_changed; /* [bodies of a frame] */
    double *energy;           /* [n] after less before, with all others and those before it */
};

static double over_distance(const double x[3], const double y[3])
{
    double r2 = 0;
    for (int k = 0; k < 3; k++) r2 += (x[k] - y[k]) * (x[k] - y[k]);
    return r2 > 0 ? 1 / sqrt(r2) : 0;
}

/* The potential that a body has by those that did not change. */
static double potential_of_others(const struct changes *c, const struct nb6_frame *f, int64_t i)
{
    double potential = 0;
    for (int64_t j = 0; j < f->n; j++)
        if (!c->is_changed[j]) potential += f->mass[j] * over_distance(f->x[i], f->x[j]);
    return potential;
}

/* Energy of the k-th body: with bodies that did not change, which have this potential, and those that did before it. */
static void add_energy_of(const struct changes *c, const struct nb6_frame *f, int64_t k, double potential, double sign,
                          struct total *total)
{
    const int64_t i = c->place[k];
    const double *x = f->x[i], *v = f->v[i], m = sign * f->mass[i];
    for (int64_t l = 0; l < k; l++) potential += f->mass[c->place[l]] * over_distance(x, f->x[c->place[l]]);
    add(total, 0.5 * m * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]));
    add(total, -m * potential);
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
        const double after = potential_of_others(c, c->after, i);
        add_energy_of(c, c->after, k, after, 1, &total);
        add_energy_of(c, c->before, k, stays ? after : potential_of_others(c, c->before, i), -1, &total);
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

int nb6_energy_of_change(const struct nb6_sim *sim, const struct nb6_frame *before, const struct nb6_frame *after,
                         int64_t n, const int64_t *place, double *energy, struct nbc_error *err)
{
    int8_t *is_changed = nbc_alloc((size_t)before->n, sizeof *is_changed);
    double *each = nbc_alloc((size_t)n, sizeof *each);
    int status = is_changed && each ? NBC_OK : nbc_fail(err, NBC_NO_MEMORY, "no memory for the energy of a change");
    if (!status) {
        struct changes c = {before, after, &sim->run.external, n, place, is_changed, each};
        struct total total = {0, 0};
        for (int64_t k = 0; k < n; k++) is_changed[place[k]] = 1;
        nbc_team_run(nbc_parts(n, 1), find_energies, &c);
        for (int64_t k = 0; k < n; k++) add(&total, each[k]);
        add(&total, after->pair_binding - before->pair_binding);
        add(&total, after->pair_potential - before->pair_potential);
        add(&total, after->pair_tidal - before->pair_tidal);
        *energy = total.sum + total.low;
    }
    nbc_free(is_changed);
    nbc_free(each);
    return status;
}
