#include "nbody6/fewbody/chains/masses.h"

#include "common/nbc.h"
#include "nbody6/fewbody/chains/chains.h"
#include "nbody6/fewbody/new_masses.h"
#include "nbody6/state/body.h"
#include "nbody6/state/members.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "regularization/chain.h"
#include "regularization/hierarchy.h"

#include <string.h>

/* Bound pairs of the members, and of such pairs, before and after. */
struct tree {
    struct hierarchy h;
    int n;
    double mass[2][2 * CHAIN_MAX], x[2 * CHAIN_MAX][3], v[2 * CHAIN_MAX][3]; /* of each node; x, v: before */
};

static int find_pairs(int n, const struct chain_body member[], const double mass[], struct tree *tree)
{
    double x[CHAIN_MAX][3], v[CHAIN_MAX][3];
    tree->n = n;
    for (int m = 0; m < n; m++) {
        memcpy(x[m], member[m].x, sizeof x[m]);
        memcpy(v[m], member[m].v, sizeof v[m]);
        memcpy(tree->x[m], x[m], sizeof x[m]);
        memcpy(tree->v[m], v[m], sizeof v[m]);
        tree->mass[0][m] = member[m].mass;
        tree->mass[1][m] = mass[m];
    }
    const int status = hierarchy_find(n, tree->mass[0], (const double(*)[3])x, (const double(*)[3])v, &tree->h);
    for (int p = 0; p < tree->h.pairs && !status; p++) {
        const int a = tree->h.pair[p].first, b = tree->h.pair[p].second, c = n + p;
        for (int k = 0; k < 2; k++) tree->mass[k][c] = tree->mass[k][a] + tree->mass[k][b];
        const double share = tree->mass[0][a] / tree->mass[0][c];
        for (int d = 0; d < 3; d++) {
            tree->x[c][d] = share * tree->x[a][d] + (1 - share) * tree->x[b][d];
            tree->v[c][d] = share * tree->v[a][d] + (1 - share) * tree->v[b][d];
        }
    }
    return status;
}

/* The stars below a node, which has its centre of mass at x, v now. */
static void expand(const struct tree *tree, int node, const double x[3], const double v[3], struct chain_body member[])
{
    if (node < tree->n) {
        memcpy(member[node].x, x, sizeof member[node].x);
        memcpy(member[node].v, v, sizeof member[node].v);
        memset(member[node].x_low, 0, sizeof member[node].x_low);
        return;
    }
    const struct hierarchy_pair *pair = &tree->h.pair[node - tree->n];
    const double ratio = tree->mass[0][node] / tree->mass[1][node];
    for (int k = 0; k < 2; k++) {
        const int own = k ? pair->second : pair->first, other = k ? pair->first : pair->second;
        const double share = tree->mass[1][other] / tree->mass[1][node];
        double place[3], velocity[3];
        for (int d = 0; d < 3; d++) {
            place[d] = x[d] + share * ratio * (tree->x[own][d] - tree->x[other][d]);
            velocity[d] = v[d] + share / ratio * (tree->v[own][d] - tree->v[other][d]);
        }
        expand(tree, own, place, velocity, member);
    }
}

/* Each pair that is bound keeps a M and e; bodies that are bound to no other keep their places and velocities. */
static int lose_slowly(int n, struct chain_body member[], const double mass[], struct nbc_error *err)
{
    struct tree tree;
    const int status = find_pairs(n, member, mass, &tree);
    if (status) return nbc_fail(err, status, "a chain has no bound pairs that could be found");
    for (int r = 0; r < tree.h.roots; r++) {
        const int root = tree.h.root[r];
        if (tree.mass[0][root] != tree.mass[1][root]) expand(&tree, root, tree.x[root], tree.v[root], member);
    }
    return NBC_OK;
}

/* Wanted masses and velocities of the members.   @param[out] mass */
static int take_masses(const struct nb6_sim *sim, const struct nb6_chain *chain, const struct nb6_new_masses *masses,
                       struct chain_body member[], double mass[], struct nbc_error *err)
{
    const double *base = sim->body[nb6_centre(sim, chain->slot)].v0;
    for (int m = 0; m < chain->state.n; m++) {
        const int64_t k = nb6_new_masses_place(masses, chain->star[m]);
        mass[m] = k < 0 ? member[m].mass : masses->mass[k];
        if (!(mass[m] > 0))
            return nbc_fail(err, NBC_BAD_INPUT,
                            "star %lld is in a chain with others: it has to keep a mass above 0, or to be removed",
                            (long long)sim->star[chain->star[m]].name);
        for (int d = 0; d < 3 && k >= 0 && masses->v; d++) member[m].v[d] = masses->v[k][d] - base[d];
    }
    return NBC_OK;
}

/* The statistics of the chain go on. */
static void go_on(const struct chain *before, struct chain *state)
{
    state->steps = before->steps;
    state->rejected = before->rejected;
    state->evaluations = before->evaluations;
    state->switches = before->switches;
    state->unreached = before->unreached;
    state->worst_error = before->worst_error;
    memcpy(state->closest_r, before->closest_r, sizeof state->closest_r);
    memcpy(state->closest_t, before->closest_t, sizeof state->closest_t);
}

static int begin_motion(struct nb6_chain *chain, const struct chain_body member[], double shift[2][3],
                        struct nbc_error *err)
{
    struct chain *state = nbc_alloc(1, sizeof *state);
    if (!state) return nbc_fail(err, NBC_NO_MEMORY, "no memory for new masses in a chain");
    const int status = chain_init(state, &chain->state.options, chain->state.n, member, chain->state.t, err);
    if (!status) {
        go_on(&chain->state, state);
        chain_centre(state, shift[0], shift[1]);
        chain->state = *state;
        nb6_chain_refresh(chain);
    }
    nbc_free(state);
    return status;
}

int nb6_chain_set_masses(struct nb6_sim *sim, nb6_slot slot, const struct nb6_new_masses *masses, double shift[2][3],
                         struct nbc_error *err)
{
    struct nb6_chain *chain = nb6_chain_of(&sim->subsystems, slot);
    struct chain_body member[CHAIN_MAX];
    double mass[CHAIN_MAX], total = 0;
    chain_slow_end(&chain->state);
    chain_bodies(&chain->state, member);
    int status = take_masses(sim, chain, masses, member, mass, err);
    if (!status && masses->is_slow) status = lose_slowly(chain->state.n, member, mass, err);
    for (int m = 0; m < chain->state.n && !status; m++) {
        member[m].mass = sim->body[chain->star[m]].mass = mass[m];
        total += mass[m];
    }
    if (!status) status = begin_motion(chain, member, shift, err);
    if (!status) sim->body[nb6_centre(sim, slot)].mass = total;
    return status;
}
