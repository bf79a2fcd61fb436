#include "nbody6/step/start.h"

#include "common/nbc.h"
#include "nbody6/fewbody/kinds.h"
#include "nbody6/fewbody/pairs/perturbers.h"
#include "nbody6/fewbody/pairs/start.h"
#include "nbody6/state/bodies.h"
#include "nbody6/state/body.h"
#include "nbody6/state/groups.h"
#include "nbody6/state/members.h"
#include "nbody6/state/nearest.h"
#include "nbody6/state/resolvers.h"
#include "nbody6/state/schedule.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "nbody6/step/corrector_lanes.h"
#include "nbody6/step/hermite.h"
#include "nbody6/step/radius.h"
#include "nbody6/step/rules.h"
#include "nbody6/step/start_bodies.h"

#include <math.h>
#include <string.h>

/* First capacity of a list, in wanted means; it grows where it is too small. */
static const double FIRST_CAPACITY = 4;

/* Below this many bodies a parallel region costs more than it saves. */
enum { PARALLEL_BODIES = 4096 };

/* The local density is taken from the distance of this neighbour. */
enum { DENSITY_NEIGHBOUR = NB6_NEAREST_KEPT };

/* By the distance of the k-th neighbour. */
static void set_radii(struct nb6_sim *sim, int k)
{
    const struct nb6_subsystems *p = &sim->subsystems;
#pragma omp parallel for schedule(static) if (p->n_source > PARALLEL_BODIES)
    for (int64_t m = 0; m < p->n_source; m++) {
        const double r = k > 0 ? sqrt(sim->nearest->r2[m][k - 1]) : 0;
        double size = k > 0 ? sim->book.r_half / r : 1;
        double contrast = 2.0 * k * size * size * size / (double)sim->n;
        sim->star[p->source[m]].r_nb = k > 0 ? r * cbrt(nb6_radius_wanted(sim, contrast) / k) : NB6_R_NB_ALL;
    }
}

/* Of all bodies that take part, now, in the order of sim->subsystems.source: sim->active.x. */
static void find_places(struct nb6_sim *sim)
{
    const struct nb6_subsystems *p = &sim->subsystems;
#pragma omp parallel for schedule(static) if (p->n_source > PARALLEL_BODIES)
    for (int64_t m = 0; m < p->n_source; m++) {
        const struct nb6_body *body = &sim->body[p->source[m]];
        double v[3];
        nb6_predict(body, nb6_time_to_double(sim->ti_now - body->t0), sim->active.x[m], v);
    }
}

/* Those of the stars at the start are known; if some are pairs, those of the bodies take their place. */
static int find_nearest(struct nb6_sim *sim, int64_t n, const double (*x)[3], struct nbc_error *err)
{
    if (nb6_nearest_is_of(sim->nearest, n, x)) return NBC_OK;
    nb6_nearest_free(sim->nearest);
    return nb6_nearest_find(n, x, &sim->nearest, err);
}

/* Radius that holds the wanted number of neighbours at the local density. The density contrast of a sphere that holds n
 * stars is that of the sphere of the sixth neighbour, for any n. */
static int first_radii(struct nb6_sim *sim, struct nbc_error *err)
{
    const struct nb6_subsystems *p = &sim->subsystems;
    double fixed = nb6_all_are_neighbours(sim) ? NB6_R_NB_ALL : sim->run.config.integration.r_nb_init;
    if (fixed > 0) {
        for (int64_t m = 0; m < p->n_source; m++) sim->star[p->source[m]].r_nb = fixed;
        return NBC_OK;
    }
    int64_t n = p->n_source;
    int k = (int)(n - 1 < DENSITY_NEIGHBOUR ? n - 1 : DENSITY_NEIGHBOUR);
    find_places(sim);
    const int status = find_nearest(sim, n, (const double(*)[3])sim->active.x, err);
    if (!status) set_radii(sim, k);
    return status;
}

/* All bodies that take part; for a GPU in an order in which those next to each other are near, if it is known: then a
 * call has targets near each other, and threads find the neighbours of the next body where those of the last one were.
 */
static int order_sources(const struct nb6_sim *sim, int32_t **order, struct nbc_error *err)
{
    const struct nb6_subsystems *p = &sim->subsystems;
    const int is_known = nb6_nearest_is_of(sim->nearest, p->n_source, (const double(*)[3])sim->active.x);
    *order = nbc_alloc_unset((size_t)p->n_source, sizeof **order);
    if (!*order) return nbc_fail(err, NBC_NO_MEMORY, "no memory for a list of %lld stars", (long long)p->n_source);
    for (int64_t m = 0; m < p->n_source; m++)
        (*order)[m] = p->source[nb6_sim_on_gpu(sim) && is_known ? sim->nearest->order[m] : m];
    return NBC_OK;
}

static int prepare(struct nb6_sim *sim, struct nbc_error *err)
{
    sim->active.lanes = nb6_corrector_lanes_best();
    int status = nb6_kinds_install(sim, err);
    if (status) return status;
    sim->book.eta_share = nb6_eta_share(nb6_massive_stars(sim));
    sim->book.undecided = 1;
    sim->nb_cap = (int64_t)(FIRST_CAPACITY * sim->book.nnb_opt) / 16 * 16 + 16;
    return NBC_OK;
}

int nb6_start_begin(struct nb6_sim *sim, int64_t n_pair, const int32_t (*pair)[2], struct nbc_error *err)
{
    int status = prepare(sim, err);
    if (!status) status = pair ? nb6_start_given_pairs(sim, n_pair, pair, err) : nb6_start_pairs(sim, err);
    if (!status) nb6_subsystems_set_sources(sim);
    return status;
}

int nb6_start_places(struct nb6_sim *sim, int32_t **order, struct nbc_error *err)
{
    *order = NULL;
    int status = first_radii(sim, err);
    if (!status) status = order_sources(sim, order, err);
    return status ? status : nb6_start_predictors(sim, sim->subsystems.n_source, *order, err);
}

/* Pairs that resolve one another begin one after the other. */
static int start_motions(struct nb6_sim *sim, struct nbc_error *err)
{
    struct nb6_subsystems *p = &sim->subsystems;
    for (nb6_slot slot = 0; slot < p->n_slot; slot++) p->changed[slot] = (nb6_stored_slot)slot;
    const int status = nb6_pairs_start(sim, p->n_slot, p->changed, err);
    nb6_groups_set_next(sim);
    return status;
}

int nb6_start_finish(struct nb6_sim *sim, const int32_t *order, struct nbc_error *err)
{
    const int status = nb6_start_forces(sim, sim->subsystems.n_source, order, err);
    nb6_note_all_slots(&sim->subsystems);
    nb6_groups_link(sim);
    return status ? status : start_motions(sim, err);
}

int nb6_start_resume(struct nb6_sim *sim, struct nbc_error *err)
{
    sim->active.lanes = nb6_corrector_lanes_best();
    int status = nb6_kinds_install(sim, err);
    if (status) return status;
    nb6_resolvers_find(&sim->subsystems, nb6_bodies(sim));
    nb6_subsystems_set_sources(sim);
    nb6_groups_find(sim);
    for (int64_t m = 0; m < sim->subsystems.n_source; m++) {
        nb6_index i = sim->subsystems.source[m];
        status = nb6_send_body(sim, i, err);
        if (status) return status;
        nb6_schedule_set(sim->schedule, i, sim->star[i].level_irr);
    }
    return NBC_OK;
}
