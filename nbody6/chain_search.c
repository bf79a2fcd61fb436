/* When strong encounters of three and more bodies begin and end (NBODY6: IMPACT, CHMOD). */
#include "chains.h"
#include "hermite.h"
#include "step.h"

#include <math.h>

/* An intruder makes a chain of a hard pair when its tide at apocentre, over the pair's own attraction, exceeds this: for
 * equal masses at 3.7 semi-major axes of a circle. KS follows weaker perturbations at full accuracy. */
static const double GAMMA_JOIN = 0.02;
/* and when it is this near, in units of the radius that separates close from wide pairs (NBODY6: 3 RMIN). */
static const double COMPACT = 3;
/* A part leaves when its distance is so many times its own size and that of the rest, and it is unbound; a bound one, if
 * it goes farther than compact systems reach. Its perturbation of the rest is a quarter of GAMMA_JOIN then. */
static const double SEPARATE = 6;

/* Radius that makes a system compact, larger where stars are heavy. */
static double compact_radius(const struct nb6_sim *sim, int64_t slot)
{
    int32_t star[CHAIN_MAX];
    int n = nb6_stars_of(sim, sim->n + slot, star);
    return COMPACT * sim->book.r_min * fmax(1, sim->body[sim->n + slot].mass / (n * sim->mean_mass));
}

/* A system that has become wider than it may be is cut at its longest link, whatever its parts are: among the stars of a
 * dense core it would take in one after the other. */
int nb6_chain_must_change(const struct nb6_sim *sim, int64_t slot, struct chain_group *group)
{
    const struct chain *chain = &nb6_chain_of(&sim->pairs, slot)->state;
    const double compact = compact_radius(sim, slot);
    if (chain_escaper(chain, SEPARATE, compact, group) > 0) return 1;
    return chain_escaper(chain, 1, compact, group) > 0 && group->distance > compact;
}

/* What comes near a pair or chain. */
struct intruder {
    int32_t j;
    double r2, rv, tide;
};

/* The perturber with the largest tide. */
static struct intruder find_intruder(const struct nb6_sim *sim, int64_t slot, nb6_time t)
{
    const struct nb6_perturbers *pert = &sim->pairs.pert[slot];
    const struct nb6_body *centre = &sim->body[sim->n + slot];
    struct intruder found = {.j = -1};
    double x[3], v[3];
    nb6_predict(centre, nb6_time_to_double(t - centre->t0), x, v);
    for (int32_t k = 0; k < pert->n; k++) {
        const struct nb6_body *other = &sim->body[pert->body[k]];
        double y[3], w[3], r2 = 0, rv = 0;
        nb6_predict(other, nb6_time_to_double(t - other->t0), y, w);
        for (int d = 0; d < 3; d++) {
            r2 += (y[d] - x[d]) * (y[d] - x[d]);
            rv += (y[d] - x[d]) * (w[d] - v[d]);
        }
        double tide = other->mass / (r2 * sqrt(r2));
        if (tide > found.tide) found = (struct intruder){pert->body[k], r2, rv, tide};
    }
    return found;
}

/* Size that the tide works on: the apocentre of a hard pair, the extent of a chain; 0: none that could become a chain.
 */
static double size_of(const struct nb6_sim *sim, int64_t slot)
{
    const struct nb6_chain *chain = nb6_chain_of(&sim->pairs, slot);
    if (chain) return nb6_chain_size(chain);
    struct ks_elements e;
    ks_elements(&sim->pairs.ks[slot], &e);
    return nb6_pair_is_hard(sim, slot) ? e.a * (1 + e.e) : 0;
}

static int can_join(const struct nb6_sim *sim, int64_t slot, const struct intruder *intruder)
{
    int32_t star[CHAIN_MAX];
    if (intruder->j < 0 || !(intruder->rv < 0)) return 0;
    double compact = compact_radius(sim, slot), size = fmin(size_of(sim, slot), compact);
    double gamma = 2 * intruder->tide / sim->body[sim->n + slot].mass * size * size * size;
    if (!(gamma > GAMMA_JOIN) || !(intruder->r2 < compact * compact)) return 0;
    int64_t other = intruder->j - sim->n;
    if (other >= 0 && (sim->pairs.pair[other].ending || !(size_of(sim, other) > 0))) return 0;
    return nb6_stars_of(sim, sim->n + slot, star) + nb6_stars_of(sim, intruder->j, star) <= CHAIN_MAX;
}

static int taken(const struct nb6_chain_change *change, int64_t n, int32_t i)
{
    for (int64_t k = 0; k < n; k++)
        if (change[k].i == i || change[k].j == i) return 1;
    return 0;
}

static int mass_is_zero(const struct nb6_sim *sim, int32_t i)
{
    return i < sim->n && !(sim->body[i].mass > 0);
}

int nb6_chains_search(struct nb6_sim *sim, struct nb6_chain_change *change, int64_t *n, struct nbc_error *err)
{
    const struct nb6_active *active = &sim->active;
    int32_t *scratch = NULL;
    *n = 0;
    if (!nb6_chains_enabled(sim)) return NBC_OK;
    for (int64_t at = active->n_irr - 1; at >= 0 && active->irr[at] >= sim->n; at--) {
        int32_t i = active->irr[at];
        int64_t slot = i - sim->n;
        if (sim->pairs.pair[slot].ending || sim->pairs.pert[slot].n == 0) continue;
        struct intruder intruder = find_intruder(sim, slot, active->t);
        if (!can_join(sim, slot, &intruder) || mass_is_zero(sim, intruder.j)) continue;
        if (taken(change, *n, i) || taken(change, *n, intruder.j)) continue;
        if (!scratch) scratch = nbc_alloc((size_t)sim->pairs.n_source, sizeof *scratch);
        if (!scratch) return nbc_fail(err, NBC_NO_MEMORY, "no memory to look for chains");
        if (!nb6_pairs_are_ready(sim, i, intruder.j, active->t, scratch)) continue;
        int other_first = intruder.j >= sim->n && nb6_chain_of(&sim->pairs, intruder.j - sim->n) &&
                          !nb6_chain_of(&sim->pairs, slot);
        change[(*n)++] = (struct nb6_chain_change){
            .kind = NB6_CHAIN_JOIN, .i = other_first ? intruder.j : i, .j = other_first ? i : intruder.j};
    }
    nbc_free(scratch);
    return NBC_OK;
}
