#include "nbody6/fewbody/chains/company.h"

#include "nbody6/fewbody/decisions.h"
#include "nbody6/fewbody/hierarchies/search.h"
#include "nbody6/fewbody/kind.h"
#include "nbody6/fewbody/nodes.h"
#include "nbody6/state/body.h"
#include "nbody6/state/members.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "nbody6/state/view.h"

#include <math.h>
#include <string.h>

/* Bodies that become one chain. */
struct company {
    const struct nb6_sim *sim;
    int n;
    nb6_index body[CHAIN_MAX];
    double x[3], v[3]; /* where the first of them is, from which all are seen */
    struct nb6_nodes nodes;
    double size, compact; /* of the first two together; beyond which parts leave the chain */
};

static int is_in(const struct company *c, int32_t k)
{
    for (int b = 0; b < c->n; b++)
        if (c->body[b] == k) return 1;
    return 0;
}

/* Whether a body moves around a member, or around a pair of them that is smaller than its distance, on an orbit that is
 * smaller than the chain. */
static int is_bound(const struct company *c, int32_t k)
{
    const double mass = nb6_get_body(c->sim, k)->mass;
    double x[3], v[3];
    nb6_get_predicted(c->sim, k, c->sim->active.t, x, v);
    for (int m = 0; m < c->nodes.count; m++) {
        const struct nb6_node *node = &c->nodes.node[m];
        double r2 = 0, v2 = 0;
        for (int d = 0; d < 3; d++) {
            const double dx = (x[d] - c->x[d]) - node->x[d], dv = (v[d] - c->v[d]) - node->v[d];
            r2 += dx * dx;
            v2 += dv * dv;
        }
        if (!(r2 > node->apocentre * node->apocentre) || !(r2 < c->compact * c->compact)) continue;
        const double inverse_a = 2 / sqrt(r2) - v2 / (mass + node->mass);
        if (inverse_a * c->size > 1) return 1;
    }
    return 0;
}

static int belongs(const struct company *c, int32_t k)
{
    return !is_in(c, k) && nb6_get_body(c->sim, k)->mass > 0 && is_bound(c, k);
}

/* Neighbours of the first body, and perturbers of all: these include every body within the size of a chain.
 * @return -1: none */
static int32_t find_next(const struct company *c)
{
    size_t nnb = 0;
    const nb6_index *list = nb6_get_list(c->sim, c->body[0], &nnb);
    for (size_t k = 0; k < nnb; k++)
        if (belongs(c, list[k])) return list[k];
    for (int b = 0; b < c->n; b++) {
        if (!nb6_is_centre(c->sim, c->body[b])) continue;
        const struct nb6_perturbers *pert = &c->sim->subsystems.pert[nb6_slot_of(c->sim, c->body[b])];
        for (int32_t k = 0; k < pert->n; k++)
            if (belongs(c, pert->body[k])) return pert->body[k];
    }
    return -1;
}

static int can_come(const struct company *c, const struct nb6_decisions *decisions, int32_t k)
{
    const struct nb6_subsystems *p = &c->sim->subsystems;
    const nb6_time t = c->sim->active.t;
    if (nb6_is_decided(decisions, k)) return 0;
    if (nb6_is_centre(c->sim, k)) { /* of a pair that is soft the stars come, as they would if it had ended */
        const nb6_slot slot = nb6_slot_of(c->sim, k);
        if (nb6_is_ending(p, slot) || (nb6_kind_of(p, slot)->is_pair && !nb6_kind_of(p, slot)->can_freeze)) return 0;
    }
    for (int b = 0; b < c->n; b++)
        if (nb6_hierarchy_can_form(c->sim, c->body[b], k, t) || nb6_hierarchy_can_form(c->sim, k, c->body[b], t))
            return 0;
    return 1;
}

int nb6_chain_find_company(const struct nb6_sim *sim, const struct nb6_decisions *decisions, int32_t seeker,
                           double compact, struct nb6_chain_change *change)
{
    struct company c = {
        .sim = sim, .n = 2, .body = {seeker, change->i == seeker ? change->j : change->i}, .compact = compact};
    nb6_get_predicted(sim, seeker, sim->active.t, c.x, c.v);
    for (;;) {
        if (nb6_nodes_find(sim, c.n, c.body, sim->active.t, c.x, c.v, &c.nodes)) return 0;
        if (c.n == 2) c.size = nb6_nodes_size(&c.nodes);
        const int32_t next = find_next(&c);
        if (next < 0) break;
        if (c.n == CHAIN_MAX || !can_come(&c, decisions, next)) return 0;
        c.body[c.n++] = next;
    }
    change->n_more = c.n - 2;
    memcpy(change->more, c.body + 2, (size_t)change->n_more * sizeof *change->more);
    return 1;
}
