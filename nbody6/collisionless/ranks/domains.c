#include "nbody6/collisionless/ranks/domains.h"

#include "nbody6/collisionless/collisionless.h"
#include "nbody6/collisionless/ranks/bodies.h"
#include "nbody6/collisionless/ranks/moves.h"
#include "nbody6/collisionless/ranks/places.h"
#include "nbody6/collisionless/ranks/plan.h"
#include "nbody6/collisionless/ranks/sections.h"
#include "nbody6/collisionless/ranks/trees.h"
#include "nbody6/collisionless/rebuild.h"
#include "nbody6/state/level.h"
#include "nbody6/world/world.h"

/* ---- domains, at times when all bodies end a step */

enum { ENDS_OF_A_DIVISION = 4, FIRST_DIVISIONS = 3 };

/* Domains are cut anew at every fourth end of a longest step, and at the first three: those of the start do not know
 * the work, and those that follow are corrected by halves. With a tree that serves several steps, they are before as
 * many of its builds as have about four. What a checkpoint has decides, so that runs that are resumed do as others. */
static int division_is_due(const struct nb6_collisionless *s)
{
    const int64_t ends = s->ti_now / nb6_step_ticks(s->max_level);
    const int64_t builds = (int64_t)s->rebuild.builds,
                  each = s->reuse < ENDS_OF_A_DIVISION ? ENDS_OF_A_DIVISION / s->reuse : 1;
    if (builds > 0) return builds <= FIRST_DIVISIONS || builds % each == 0;
    return ends <= FIRST_DIVISIONS || ends % ENDS_OF_A_DIVISION == 0;
}

/* With a tree that serves several steps bodies stay up to its next build. */
static int move_is_due(const struct nb6_collisionless *s)
{
    return s->reuse == 1 || nb6_rebuild_is_due(s, s->ti_now + nb6_step_ticks(s->max_level));
}

int nb6_rank_domains_open(struct nb6_rank_domains *d, struct nb6_collisionless *s, struct nbc_error *err)
{
    for (int64_t i = 0; i < s->n; i++) s->name[i] = s->first + i + 1;
    d->sections = nb6_sections_create(nb6_world_size(s->world));
    s->work = nbc_alloc((size_t)s->n, sizeof *s->work);
    if (!d->sections || !s->work) return nbc_fail(err, NBC_NO_MEMORY, "no memory for domains");
    const int stands = s->reuse > 1 && s->rebuild.state == NB6_TREE_STANDS;
    int status = stands ? nb6_rank_places_open(&d->then, s->n, err) : NBC_OK;
    if (!status) status = nb6_moves_open(&s->moves, s->world, err);
    return status ? status : nb6_rank_trees_open(&s->trees, s->world, s->force, s->reuse > 1, err);
}

void nb6_rank_domains_close(struct nb6_rank_domains *d, struct nb6_collisionless *s)
{
    nb6_rank_trees_close(s->trees);
    nb6_sections_free(d->sections);
    nb6_rank_places_free(&d->then);
    nb6_moves_close(s->moves);
    s->trees = NULL;
    s->moves = NULL;
    d->sections = NULL;
}

/* The tree that stood is one of other bodies then. */
static int settle(struct nb6_rank_domains *d, struct nb6_collisionless *s, struct nbc_error *err)
{
    const int status = nb6_rank_bodies_settle(s, d->sections, err);
    if (status) return status;
    nb6_rank_trees_forget_order(s->trees);
    if (s->rebuild.state == NB6_TREE_STANDS) s->rebuild.state = NB6_TREE_IS_MISSING;
    return NBC_OK;
}

/* The largest work of a rank over the mean, in the domains that end. */
static void find_load(struct nb6_rank_domains *d, const struct nb6_collisionless *s)
{
    int64_t sum = 0, least;
    for (int64_t i = 0; i < s->n; i++) sum += (int64_t)s->work[i];
    least = -sum;
    nb6_world_sum(s->world, &sum, 1);
    nb6_world_minimum(s->world, &least, 1);
    d->load = sum > 0 ? -(double)least / (double)sum * nb6_world_size(s->world) : 0;
}

/* The first domains have as many bodies each: their work counts in full. */
static int are_first(const struct nb6_collisionless *s)
{
    const int64_t ends = s->ti_now / nb6_step_ticks(s->max_level);
    return s->rebuild.builds > 0 ? s->rebuild.builds == 1 : ends == 1;
}

static int divide(struct nb6_rank_domains *d, const struct nb6_collisionless *s, const uint64_t *work,
                  struct nbc_error *err)
{
    const struct nb6_sections_job job = {.n = s->n,
                                         .x = (const double(*)[3])s->x0,
                                         .order = work ? nb6_rank_trees_order(s->trees) : NULL,
                                         .work = work,
                                         .is_damped = work && !are_first(s)};
    return nb6_sections_find(d->sections, s->world, &job, err);
}

int nb6_rank_domains_settle(struct nb6_rank_domains *d, struct nb6_collisionless *s, struct nbc_error *err)
{
    int status = NBC_OK;
    if (d->is_to_divide) find_load(d, s);
    if (d->is_to_divide) status = divide(d, s, s->work, err);
    if (!status) d->is_to_divide = 0;
    if (!status && d->is_to_settle) status = settle(d, s, err);
    if (!status) d->is_to_settle = 0;
    return status;
}

/* New domains are for as much work for each body. */
int nb6_rank_domains_begin(struct nb6_rank_domains *d, struct nb6_collisionless *s,
                           const struct nb6_collisionless *whole, struct nbc_error *err)
{
    int status = NBC_OK;
    if (d->has_sections) {
        if (whole) nb6_sections_copy(d->sections, whole->sections);
        nb6_sections_broadcast(d->sections, s->world);
    } else
        status = divide(d, s, NULL, err);
    if (status) return status;
    if (d->then.rank) {
        status = nb6_rank_plan_resume(s, &d->then, err);
        nb6_rank_places_free(&d->then);
        return status;
    }
    d->is_to_settle = 1;
    return nb6_rank_domains_settle(d, s, err);
}

void nb6_rank_domains_note(struct nb6_rank_domains *d, const struct nb6_collisionless *s)
{
    if (!nb6_step_ends(s->max_level, s->ti_now) || !move_is_due(s)) return;
    d->is_to_divide = division_is_due(s);
    d->is_to_settle = 1;
}

/* ---- potentials */

int nb6_rank_domains_potential(struct nb6_collisionless *s, double *pot, struct nbc_error *err)
{
    const double(*x)[3] = (const double(*)[3])s->x0;
    const struct nb6_rank_trees_job job = {.n = s->n,
                                           .name = s->name,
                                           .mass = s->mass,
                                           .x = x,
                                           .targets = {.n_i = (size_t)s->n,
                                                       .x = x,
                                                       .self = s->due,
                                                       .softening = s->softening,
                                                       .acc_last = (const double(*)[3])s->acc,
                                                       .acc = s->acc_due,
                                                       .pot = pot,
                                                       .build = s->n_blocks}};
    for (int64_t i = 0; i < s->n; i++) s->due[i] = (int32_t)i;
    return nb6_rank_trees_sum(s->trees, &job, err);
}
