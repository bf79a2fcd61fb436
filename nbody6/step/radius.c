#include "nbody6/step/radius.h"

#include "nbody6/fewbody/kind.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/members.h"
#include "nbody6/state/pair_cost.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "nbody6/step/rules.h"

#include <math.h>

/* Limits of the wanted number around the wanted mean: a star in the halo keeps a few neighbours. */
static const double LOWEST_OF_MEAN = 0.25;

/* Longest lists that are accepted in any case: of stars, unless NNBMAX says less, and of centres of mass, with spheres
 * that follow the size of their system. */
enum { LEAST_LIMIT = 32, LIMIT_OF_SYSTEMS = 256 };

int nb6_all_are_neighbours(const struct nb6_sim *sim)
{
    return sim->book.nnb_opt >= (double)(sim->n - 1) && !sim->run.config.integration.fixed_nnb;
}

int64_t nb6_list_limit(const struct nb6_sim *sim, int64_t i)
{
    if (sim->run.config.integration.fixed_nnb || nb6_all_are_neighbours(sim)) return sim->n;
    const int64_t given = sim->run.config.integration.nnb_max;
    const int64_t limit = given > 0 ? given : (int64_t)(1.2 * NB6_HIGHEST_OF_MEAN * sim->book.nnb_opt);
    if (nb6_is_centre(sim, i)) return limit < LIMIT_OF_SYSTEMS ? LIMIT_OF_SYSTEMS : limit;
    return given > 0 || limit > LEAST_LIMIT ? limit : LEAST_LIMIT;
}

struct nb6_radius_rules nb6_radius_rules_of(const struct nb6_sim *sim)
{
    const double mean = sim->book.nnb_opt;
    return (struct nb6_radius_rules){
        .fixed = sim->run.config.integration.fixed_nnb,
        .all_are_neighbours = nb6_all_are_neighbours(sim),
        .lowest = LOWEST_OF_MEAN * mean,
        .mean = mean,
        .highest = fmin(NB6_HIGHEST_OF_MEAN * mean, 0.9 * (double)nb6_list_limit(sim, 0)),
        .alpha = sim->book.nb_alpha,
        .r_half = sim->book.r_half,
        .n = (double)sim->n,
    };
}

double nb6_radius_wanted(const struct nb6_sim *sim, double contrast)
{
    const struct nb6_radius_rules rules = nb6_radius_rules_of(sim);
    return nb6_neighbours_wanted(&rules, contrast);
}

/* In units of the size of a pair or chain. From bodies outside only the quadrupole of the tide acts on the members, and
 * the members act on them as one point mass. */
static const double SPHERE_OF_SYSTEMS = 25;

double nb6_system_radius(const struct nb6_sim *sim, nb6_slot slot)
{
    const double size =
        fmax(nb6_slot_reference_radius(sim, slot), nb6_kind_of(&sim->subsystems, slot)->room(sim, slot));
    return SPHERE_OF_SYSTEMS * size;
}

double nb6_radius_for_system(const struct nb6_sim *sim, int64_t i, double r_nb, int64_t nnb)
{
    if (!nb6_is_centre(sim, i) || sim->run.config.integration.fixed_nnb) return r_nb;
    const double wanted = nb6_system_radius(sim, nb6_slot_of(sim, i));
    return nb6_radius_with_system(r_nb, wanted, nb6_list_limit(sim, i), nnb);
}

/* More neighbours make irregular forces dearer, in proportion to their number, and regular steps longer: the number of
 * these falls with its power -0.17 to -0.25 (N from 4096 to 131072, 16 to 250 neighbours, docs/trials.md). The sum
 * of both is least where the irregular work is that power's part of the regular work; it changes by some 5 percent
 * within a factor of two in the number of neighbours. */
static const double IRREGULAR_SHARE = 0.2;

/* Fewer neighbours save nothing, and cost accuracy. */
static const double FEWEST_NEIGHBOURS = 16;

static void balance_work(struct nb6_sim *sim, double irr, double reg)
{
    double change = cbrt(IRREGULAR_SHARE * reg / irr), mean = sim->book.nnb_opt * fmax(fmin(change, 1.1), 1 / 1.1);
    double lowest = fmin(FEWEST_NEIGHBOURS, (double)(sim->n - 1)), highest = fmax(0.1 * (double)sim->n, lowest);
    sim->book.nnb_opt = fmax(fmin(mean, highest), lowest);
}

void nb6_radius_steer(struct nb6_sim *sim, const struct nb6_pair_cost *cost)
{
    struct nb6_bookkeeping *book = &sim->book;
    double pairs_irr = (double)(sim->run.counters.pairs_irr - book->pairs_irr_last);
    double pairs_reg = (double)(sim->run.counters.pairs_reg - book->pairs_reg_last);
    book->pairs_irr_last = sim->run.counters.pairs_irr;
    book->pairs_reg_last = sim->run.counters.pairs_reg;
    if (sim->run.config.integration.fixed_nnb || nb6_all_are_neighbours(sim)) return;
    const struct nb6_subsystems *p = &sim->subsystems;
    double sum = 0;
    for (int64_t m = 0; m < p->n_source; m++) sum += sim->star[p->source[m]].nnb;
    double change = book->nnb_opt * (double)p->n_source / fmax(sum, 1);
    book->nb_alpha *= fmax(fmin(change, 1.1), 1 / 1.1);
    book->nb_alpha = fmax(fmin(book->nb_alpha, 20), 0.05);
    if (sim->run.config.integration.nnb_opt == 0 && pairs_irr > 0 && pairs_reg > 0)
        balance_work(sim, pairs_irr * cost->irr, pairs_reg * cost->reg);
}
