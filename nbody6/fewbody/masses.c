#include "nbody6/fewbody/masses.h"

#include "common/nbc.h"
#include "nbody6/fewbody/chains/masses.h"
#include "nbody6/fewbody/hierarchies/hierarchies.h"
#include "nbody6/fewbody/mergers.h"
#include "nbody6/fewbody/new_masses.h"
#include "nbody6/state/body.h"
#include "nbody6/state/members.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "regularization/ks.h"

#include <math.h>
#include <string.h>

/* One of the two members of a pair, before and after, from the centre of mass of the pair before. */
struct member {
    double mass[2], x[3], v[3];
};

/* A star is where it was, with a velocity of its own if it gets one. `base`: the velocity of the origin. */
static void set_star(struct nb6_sim *sim, nb6_index star, const struct nb6_new_masses *masses, const double base[3],
                     double *mass, double v[3])
{
    const int64_t k = nb6_new_masses_place(masses, star);
    if (k < 0) return;
    *mass = sim->body[star].mass = masses->mass[k];
    for (int d = 0; d < 3 && masses->v; d++) v[d] = masses->v[k][d] - base[d];
}

/* The motion begins anew with other masses; statistics of the pair go on. */
static int begin_motion(struct nb6_sim *sim, nb6_slot slot, const double mass[2], const double x[3], const double v[3],
                        struct nbc_error *err)
{
    struct ks_pair *ks = &sim->subsystems.ks[slot], made;
    double places[2][3] = {{0}}, velocities[2][3] = {{0}};
    memcpy(places[0], x, sizeof places[0]);
    memcpy(velocities[0], v, sizeof velocities[0]);
    const int status =
        ks_init(&made, &ks->options, mass, (const double(*)[3])places, (const double(*)[3])velocities, ks->t, err);
    if (status) return status;
    made.n_step = ks->n_step;
    made.n_eval = ks->n_eval;
    made.n_orbit = ks->n_orbit;
    *ks = made;
    return NBC_OK;
}

static int refuse_no_mass(const struct nb6_sim *sim, nb6_slot slot, struct nbc_error *err)
{
    return nbc_fail(err, NBC_BAD_INPUT,
                    "stars %lld and %lld are a pair: one of them has to keep a mass above 0, or to be removed",
                    (long long)nb6_subsystems_name(sim, slot, 0), (long long)nb6_subsystems_name(sim, slot, 1));
}

/* The centre of mass of both, and the first seen from the second, with new masses.   @param[out] centre, relative
 * position and velocity */
static void see(const struct member m[2], double centre[2][3], double relative[2][3])
{
    const double total = m[0].mass[1] + m[1].mass[1];
    for (int d = 0; d < 3; d++) {
        centre[0][d] = (m[0].mass[1] / total) * m[0].x[d] + (m[1].mass[1] / total) * m[1].x[d];
        centre[1][d] = (m[0].mass[1] / total) * m[0].v[d] + (m[1].mass[1] / total) * m[1].v[d];
        relative[0][d] = m[0].x[d] - m[1].x[d];
        relative[1][d] = m[0].v[d] - m[1].v[d];
    }
}

/* a M and e stay, and so do the angular momentum for unit mass and the phase. */
static void expand(const struct member m[2], double relative[2][3])
{
    const double ratio = (m[0].mass[0] + m[1].mass[0]) / (m[0].mass[1] + m[1].mass[1]);
    for (int d = 0; d < 3; d++) {
        relative[0][d] *= ratio;
        relative[1][d] /= ratio;
    }
}

static int set_pair(struct nb6_sim *sim, nb6_slot slot, const struct nb6_new_masses *masses, const double base[3],
                    double shift[2][3], struct nbc_error *err);

/* A member of the pair in a slot.   @param[in] x, v  where it was from the centre of mass, which moves with `base` */
static int set_member(struct nb6_sim *sim, nb6_slot slot, int which, const struct nb6_new_masses *masses,
                      const double base[3], const double x[3], const double v[3], struct member *m,
                      struct nbc_error *err)
{
    const nb6_slot inner = nb6_inner_slot(sim, slot, which);
    const nb6_index body = sim->subsystems.system[slot].member[which];
    double shift[2][3] = {{0}}, own_base[3];
    int status = NBC_OK;
    memcpy(m->x, x, sizeof m->x);
    memcpy(m->v, v, sizeof m->v);
    m->mass[0] = m->mass[1] = sim->subsystems.ks[slot].mass[which];
    if (inner < 0) {
        set_star(sim, body, masses, base, &m->mass[1], m->v);
        return NBC_OK;
    }
    for (int d = 0; d < 3; d++) own_base[d] = base[d] + v[d];
    status = set_pair(sim, inner, masses, own_base, shift, err);
    m->mass[1] = sim->body[body].mass = sim->subsystems.ks[inner].m;
    for (int d = 0; d < 3; d++) {
        m->x[d] += shift[0][d];
        m->v[d] += shift[1][d];
    }
    return status;
}

/* The pair in a slot, and those in it.   @param[in] base  velocity of its centre of mass   @param[out] shift  of that
 */
static int set_pair(struct nb6_sim *sim, nb6_slot slot, const struct nb6_new_masses *masses, const double base[3],
                    double shift[2][3], struct nbc_error *err)
{
    static const double nowhere[3];
    const struct ks_pair *ks = &sim->subsystems.ks[slot];
    struct member m[2];
    double x[3], v[3], places[2][3], velocities[2][3], relative[2][3];
    int status = NBC_OK;
    ks_relative(ks, x, v);
    ks_components(ks, nowhere, nowhere, x, v, places, velocities);
    for (int k = 0; k < 2 && !status; k++)
        status = set_member(sim, slot, k, masses, base, places[k], velocities[k], &m[k], err);
    if (status) return status;
    if (!(m[0].mass[1] + m[1].mass[1] > 0)) return refuse_no_mass(sim, slot, err);
    see(m, shift, relative);
    if (masses->is_slow) {
        memcpy(relative[0], x, sizeof x);
        memcpy(relative[1], v, sizeof v);
        expand(m, relative);
        memset(shift, 0, 2 * sizeof *shift);
    }
    const double mass[2] = {m[0].mass[1], m[1].mass[1]};
    status = begin_motion(sim, slot, mass, relative[0], relative[1], err);
    if (!status && !nb6_pair_has_met(sim, slot)) nb6_pair_note_approach(sim, slot); /* those become one all the same */
    return status;
}

/* Energy that the pairs inside the pair in a slot gained by being points (hierarchies.h). */
static double energy_of_freezing(const struct nb6_sim *sim, nb6_slot slot)
{
    const nb6_index *member = sim->subsystems.system[slot].member;
    const struct nb6_body *centre = &sim->body[nb6_centre(sim, slot)];
    const int64_t perturbers[2] = {slot, slot};
    double xr[3], vr[3], x[2][3], v[2][3];
    ks_relative(&sim->subsystems.ks[slot], xr, vr);
    ks_components(&sim->subsystems.ks[slot], centre->x0, centre->v0, xr, vr, x, v);
    return nb6_tidal_energy(sim, member[0], member[1], x[0], x[1], perturbers);
}

/* The outer motion gets this energy. */
static int add_energy(struct nb6_sim *sim, nb6_slot slot, double energy, struct nbc_error *err)
{
    const struct ks_pair *ks = &sim->subsystems.ks[slot];
    const double mass[2] = {ks->mass[0], ks->mass[1]};
    double x[3], v[3];
    ks_relative(ks, x, v);
    nb6_add_kinetic(mass[0] * mass[1] / ks->m, energy, v);
    return begin_motion(sim, slot, mass, x, v, err);
}

/* Stars go on from the orbits that slowed pairs should have. */
static void end_slowdown(struct nb6_sim *sim, nb6_slot slot)
{
    ks_set_slowdown(&sim->subsystems.ks[slot], 1);
    for (int m = 0; m < 2; m++)
        if (nb6_inner_slot(sim, slot, m) >= 0) end_slowdown(sim, nb6_inner_slot(sim, slot, m));
}

/* The members of a hierarchy move as they would with the tide between them, while their masses change. */
static int set_pair_of_body(struct nb6_sim *sim, nb6_slot slot, const struct nb6_new_masses *masses, double shift[2][3],
                            struct nbc_error *err)
{
    const int freezes = nb6_is_hierarchy(sim, slot);
    struct nb6_body *centre = &sim->body[nb6_centre(sim, slot)];
    end_slowdown(sim, slot);
    int status = freezes ? add_energy(sim, slot, -energy_of_freezing(sim, slot), err) : NBC_OK;
    if (!status) status = set_pair(sim, slot, masses, centre->v0, shift, err);
    if (status) return status;
    for (int d = 0; d < 3; d++) {
        centre->x0[d] += shift[0][d];
        centre->v0[d] += shift[1][d];
    }
    centre->mass = sim->subsystems.ks[slot].m;
    return freezes ? add_energy(sim, slot, energy_of_freezing(sim, slot), err) : NBC_OK;
}

int nb6_body_set_masses(struct nb6_sim *sim, nb6_index i, const struct nb6_new_masses *masses, struct nbc_error *err)
{
    static const double at_rest[3];
    struct nb6_body *body = &sim->body[i];
    double shift[2][3];
    if (!nb6_is_centre(sim, i)) {
        set_star(sim, i, masses, at_rest, &body->mass, body->v0);
        return NBC_OK;
    }
    const nb6_slot slot = nb6_slot_of(sim, i);
    sim->subsystems.system[slot].t_check = nb6_time_to_double(sim->ti_now);
    if (!nb6_goes_on_demand(&sim->subsystems, slot)) return set_pair_of_body(sim, slot, masses, shift, err);
    int status = nb6_chain_set_masses(sim, slot, masses, shift, err);
    for (int d = 0; d < 3 && !status; d++) {
        body->x0[d] += shift[0][d];
        body->v0[d] += shift[1][d];
    }
    return status;
}
