#include "nbody6/fewbody/pairs/search.h"

#include "common/nbc.h"
#include "nbody6/fewbody/chains/gather_search.h"
#include "nbody6/fewbody/contacts.h"
#include "nbody6/fewbody/criteria.h"
#include "nbody6/fewbody/decisions.h"
#include "nbody6/fewbody/encounter.h"
#include "nbody6/fewbody/ready.h"
#include "nbody6/galaxy/external.h"
#include "nbody6/state/bodies.h"
#include "nbody6/state/body.h"
#include "nbody6/state/members.h"
#include "nbody6/state/schedule.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "nbody6/state/view.h"
#include "regularization/hierarchy.h"

#include <math.h>

/* Two stars make a pair when all others together disturb their mutual attraction by less than this; pairs/end.c has the
 * criteria for its end. A pair that is hard, closer than RMIN at all times, stays together for long; a fast or wide one
 * is only passing, and a third star that comes near would pass one of its members within a step of the relative motion:
 * direct integration is the better way then. */
static const double GAMMA_FORM_HARD = 0.25, GAMMA_FORM_SOFT = 0.02;
/* Two stars that another pair disturbs, with which one of them may have collided as a pair before. */
static const double GAMMA_FORM_COLLISION = 0.05;
/* Two that are about to touch: each other's forces grow, and others have no time. */
static const double GAMMA_FORM_CONTACT = 0.25;

/* Before the first block two stars closer than this part of the close-encounter distance are a pair even if they
 * recede: first steps of single stars, which have no history, lose 3e-8 of m1 m2/r, and all of it below a tick. */
static const double CLOSE_AT_START = 0.1;

/* Two stars on their way to each other. */
struct candidate {
    nb6_index i, j;
    double x[3], v[3], r2; /* of j seen from i */
    int touches, overlap;  /* 1: they are about to; they do */
};

/* The nearest neighbour. */
static void find_nearest(const struct nb6_sim *sim, nb6_time t, struct candidate *c)
{
    size_t nnb = 0;
    const nb6_index *list = nb6_get_list(sim, c->i, &nnb);
    double x[3], v[3];
    nb6_get_predicted(sim, c->i, t, x, v);
    c->j = NB6_NOBODY;
    c->r2 = INFINITY;
    for (size_t k = 0; k < nnb; k++) {
        const double r2 = nb6_get_distance2(sim, list[k], t, x);
        if (!(r2 < c->r2)) continue;
        c->j = list[k];
        c->r2 = r2;
    }
}

/* The star that this one is about to touch, or, if there is none, the nearest neighbour, if it is not about to touch a
 * third star.
 * @return 0: there is no such star */
static int find_other(const struct nb6_sim *sim, nb6_time t, struct candidate *c)
{
    const int touching = nb6_stars_have_radii(sim);
    const struct nb6_contact contact =
        touching ? nb6_contact_of_star(sim, c->i, t) : (struct nb6_contact){.j = NB6_NOBODY, .time = INFINITY};
    double x[3], v[3];
    c->touches = contact.j >= 0;
    c->overlap = c->touches && !(contact.time > 0);
    find_nearest(sim, t, c);
    if (c->touches) c->j = contact.j;
    if (c->j < 0 || nb6_is_centre(sim, c->j) || !(c->r2 > 0)) return 0;
    if (touching) {
        const struct nb6_contact of_other = nb6_contact_of_star(sim, c->j, t);
        if (of_other.j >= 0 && of_other.j != c->i && of_other.time < contact.time) return 0;
    }
    nb6_get_predicted(sim, c->i, t, x, v);
    c->r2 = nb6_get_distance2(sim, c->j, t, x);
    nb6_get_predicted(sim, c->j, t, c->x, c->v);
    for (int d = 0; d < 3; d++) {
        c->x[d] -= x[d];
        c->v[d] -= v[d];
    }
    return 1;
}

static double near(const struct nb6_sim *sim, const struct candidate *c)
{
    return nb6_close_radius(sim, 2, nb6_get_body(sim, c->i)->mass + nb6_get_body(sim, c->j)->mass, c->i);
}

/* Are the two on an orbit that stays within a few times the close-encounter distance? */
static int is_confined(const struct nb6_sim *sim, const struct candidate *c, double m)
{
    const double reach = NB6_CONFINED * near(sim, c);
    struct hierarchy_orbit orbit;
    hierarchy_orbit_find(m, c->x, c->v, &orbit);
    return orbit.a > 0 && orbit.a * (1 + orbit.e) < reach;
}

static int is_near_and_approaching(const struct nb6_sim *sim, const struct candidate *c)
{
    const int first = sim->run.counters.blocks == 0;
    double m = nb6_get_body(sim, c->i)->mass + nb6_get_body(sim, c->j)->mass, r = sqrt(c->r2);
    double rv = c->x[0] * c->v[0] + c->x[1] * c->v[1] + c->x[2] * c->v[2];
    return m > 0 && (r < near(sim, c) || is_confined(sim, c, m)) &&
           (rv < NB6_RECEDING * sqrt(m * r) || (first && r < CLOSE_AT_START * near(sim, c)));
}

/* Perturbation of the relative motion by the other neighbours and the galaxy, relative to the mutual attraction; and
 * the strongest perturber. */
static double perturbation(const struct nb6_sim *sim, nb6_time t, const struct candidate *c, nb6_index *strongest)
{
    size_t nnb = 0;
    const nb6_index *list = nb6_get_list(sim, c->i, &nnb);
    double x[3], v[3], p[3] = {0, 0, 0}, largest = 0;
    *strongest = NB6_NOBODY;
    nb6_get_predicted(sim, c->i, t, x, v);
    for (size_t k = 0; k < nnb; k++) {
        if (list[k] == c->j) continue;
        double y[3], w[3], di2 = 0, dj2 = 0, dj[3];
        nb6_get_predicted(sim, list[k], t, y, w);
        for (int d = 0; d < 3; d++) {
            y[d] -= x[d];
            dj[d] = y[d] - c->x[d];
            di2 += y[d] * y[d];
            dj2 += dj[d] * dj[d];
        }
        if (!(di2 > 0 && dj2 > 0)) return INFINITY;
        double m = nb6_get_body(sim, list[k])->mass, wi = m / (di2 * sqrt(di2)), wj = m / (dj2 * sqrt(dj2));
        for (int d = 0; d < 3; d++) p[d] += wi * y[d] - wj * dj[d];
        if (!(wi > largest)) continue;
        largest = wi;
        *strongest = list[k];
    }
    double m = nb6_get_body(sim, c->i)->mass + nb6_get_body(sim, c->j)->mass;
    const double galaxy =
        nb6_external_strongest(&sim->run.external, nb6_time_to_double(t), nb6_get_body(sim, c->i)->x0);
    return (sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]) + galaxy * sqrt(c->r2)) * c->r2 / m;
}

static int is_dominated(const struct nb6_sim *sim, nb6_time t, const struct candidate *c)
{
    if (c->overlap) return 1; /* they merge at once */
    double m = nb6_get_body(sim, c->i)->mass + nb6_get_body(sim, c->j)->mass, h = -m / sqrt(c->r2);
    for (int d = 0; d < 3; d++) h += 0.5 * c->v[d] * c->v[d];
    nb6_index strongest;
    double gamma = perturbation(sim, t, c, &strongest);
    if (c->touches) return gamma < GAMMA_FORM_CONTACT;
    if (!nb6_orbit_is_hard(sim, m, h, near(sim, c))) return gamma < GAMMA_FORM_SOFT;
    return gamma < (nb6_is_centre(sim, strongest) ? GAMMA_FORM_COLLISION : GAMMA_FORM_HARD);
}

double nb6_pair_perturbation(const struct nb6_sim *sim, nb6_time t, nb6_index i, nb6_index j)
{
    struct candidate c = {.i = i, .j = j};
    double y[3], w[3];
    nb6_index strongest;
    nb6_get_predicted(sim, i, t, y, w);
    nb6_get_predicted(sim, j, t, c.x, c.v);
    for (int d = 0; d < 3; d++) {
        c.x[d] -= y[d];
        c.v[d] -= w[d];
        c.r2 += c.x[d] * c.x[d];
    }
    return perturbation(sim, t, &c, &strongest);
}

/* Stars that gather, once all of them are synchronised. */
static int gather_stars(struct nb6_sim *sim, const struct nb6_chain_change *gather, struct nb6_decisions *d,
                        struct nbc_error *err)
{
    const nb6_time t = sim->active.t;
    int ready;
    if (nb6_is_decided(d, gather->i) || nb6_is_decided(d, gather->j)) return NBC_OK;
    for (int32_t k = 0; k < gather->n_more; k++)
        if (nb6_is_decided(d, gather->more[k])) return NBC_OK;
    int status = nb6_subsystems_are_ready(sim, gather->i, gather->j, t, &ready, err);
    for (int32_t k = 0; k < gather->n_more && !status; k++) {
        int too;
        status = nb6_subsystems_are_ready(sim, gather->i, gather->more[k], t, &too, err);
        ready = ready && !status && too;
    }
    if (!status && ready) d->chain[d->n_chain++] = *gather;
    return status;
}

/* A chain of all stars that gather with the two, or, without such stars, the two alone. In the middle of others,
 * however close, the perturbation of the two by all together is small: so stars that gather are searched first. */
static int form(struct nb6_sim *sim, const struct candidate *c, struct nb6_decisions *d, struct nbc_error *err)
{
    const nb6_time t = sim->active.t;
    struct nb6_chain_change gather;
    int ready;
    if (!c->touches && nb6_gather_find(sim, t, c->i, c->j, &gather)) return gather_stars(sim, &gather, d, err);
    if (!is_dominated(sim, t, c) || nb6_is_decided(d, c->i) || nb6_is_decided(d, c->j)) return NBC_OK;
    const int status = nb6_subsystems_are_ready(sim, c->i, c->j, t, &ready, err);
    if (status || !ready) return status;
    d->form[d->n_form][0] = c->i < c->j ? c->i : c->j;
    d->form[d->n_form++][1] = c->i < c->j ? c->j : c->i;
    return NBC_OK;
}

int nb6_subsystems_search(struct nb6_sim *sim, struct nb6_decisions *d, struct nbc_error *err)
{
    const struct nb6_active *active = &sim->active;
    int status = NBC_OK;
    const struct nb6_encounter_rules rules = nb6_encounter_rules_of(sim);
    if (!rules.enabled) return NBC_OK;
    for (nb6_slot slot = 0; slot < active->n_irr && !status; slot++) {
        struct candidate c = {.i = active->irr[slot]};
        if (nb6_is_centre(sim, c.i)) break;
        const int own = nb6_schedule_level(sim->schedule, c.i); /* a byte; records of large blocks are in no cache */
        if (own > rules.level) continue;
        const double mass = nb6_get_body(sim, c.i)->mass;
        if (!nb6_encounter_is_looked_at(&rules, own, nb6_get_star(sim, c.i)->acc_irr, mass)) continue;
        if (!find_other(sim, active->t, &c)) continue;
        if (c.touches || is_near_and_approaching(sim, &c)) status = form(sim, &c, d, err);
    }
    return status;
}
