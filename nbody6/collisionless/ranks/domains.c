#include "nbody6/collisionless/ranks/domains.h"

#include "nbody6/collisionless/collisionless.h"
#include "nbody6/collisionless/ranks/bodies.h"
#include "nbody6/collisionless/ranks/sections.h"
#include "nbody6/collisionless/ranks/trees.h"
#include "nbody6/collisionless/system_memory.h"
#include "nbody6/state/level.h"
#include "nbody6/world/world.h"

/* ---- domains, at times when all bodies end a step */

enum { ENDS_OF_A_DIVISION = 8, FIRST_DIVISIONS = 2 };

/* Domains are cut anew at every eighth end of a longest step, and at the first two: those of the start do not know the
 * work. The time alone decides, so that runs that are resumed do as others. */
static int division_is_due(const struct nb6_collisionless *s)
{
    const int64_t ends = s->ti_now / nb6_step_ticks(s->max_level);
    return ends <= FIRST_DIVISIONS || ends % ENDS_OF_A_DIVISION == 0;
}

int nb6_rank_domains_open(struct nb6_rank_domains *d, struct nb6_collisionless *s, struct nbc_error *err)
{
    for (int64_t i = 0; i < s->n; i++) s->name[i] = s->first + i + 1;
    d->sections = nb6_sections_create(nb6_world_size(s->world));
    if (!d->sections) return nbc_fail(err, NBC_NO_MEMORY, "no memory for domains");
    return nb6_rank_trees_open(&s->trees, s->world, s->force, err);
}

void nb6_rank_domains_close(struct nb6_rank_domains *d, struct nb6_collisionless *s)
{
    nb6_rank_trees_close(s->trees);
    nb6_sections_free(d->sections);
    s->trees = NULL;
    d->sections = NULL;
}

int nb6_rank_domains_settle(struct nb6_rank_domains *d, struct nb6_collisionless *s, struct nbc_error *err)
{
    int status = NBC_OK;
    if (d->is_to_divide) status = nb6_rank_trees_divide(s->trees, s->n, (const double(*)[3])s->x0, d->sections, err);
    if (!status) d->is_to_divide = 0;
    if (!status && d->is_to_settle) status = nb6_rank_bodies_settle(s, s->world, d->sections, err);
    if (!status) d->is_to_settle = 0;
    return status;
}

/* New domains are for as much work for each body. */
int nb6_rank_domains_begin(struct nb6_rank_domains *d, struct nb6_collisionless *s, int has_sections,
                           const struct nb6_sections *then, struct nbc_error *err)
{
    int status = NBC_OK;
    if (has_sections) {
        if (then) nb6_sections_copy(d->sections, then);
        nb6_sections_broadcast(d->sections, s->world);
    } else
        status = nb6_sections_find(d->sections, s->world, s->n, (const double(*)[3])s->x0, NULL, NULL, err);
    d->is_to_settle = 1;
    return status ? status : nb6_rank_domains_settle(d, s, err);
}

void nb6_rank_domains_note(struct nb6_rank_domains *d, const struct nb6_collisionless *s)
{
    if (!nb6_step_ends(s->max_level, s->ti_now)) return;
    d->is_to_divide = division_is_due(s);
    d->is_to_settle = 1;
}

/* ---- bodies by their numbers, on rank 0 */

static void gather(const struct nb6_collisionless *s, int64_t n, size_t size, const void *mine, void *all)
{
    nb6_world_gather(s->world, n, size, mine, all);
}

/* Bodies of this rank by their numbers, whatever its domain has. */
static int64_t own_share(const struct nb6_collisionless *s, int64_t n)
{
    int64_t first, end;
    nb6_world_share(s->world, n, nb6_world_rank(s->world), &first, &end);
    return end - first;
}

int nb6_rank_domains_home(const struct nb6_collisionless *s, int64_t n, const struct nb6_collisionless *whole,
                          struct nbc_error *err)
{
    static const struct nb6_collisionless none;
    const struct nb6_collisionless *all = whole ? whole : &none;
    struct nb6_collisionless home = {.n = own_share(s, n)};
    int status = NBC_OK;
    if (!nb6_collisionless_allocate_state(&home))
        status = nbc_fail(err, NBC_NO_MEMORY, "no memory for a share of the bodies");
    status = nb6_world_agree(s->world, status, err);
    if (!status) status = nb6_rank_bodies_home(s, s->world, n, &home, err);
    if (!status) {
        gather(s, n, sizeof *home.x0, home.x0, all->x0);
        gather(s, n, sizeof *home.v, home.v, all->v);
        gather(s, n, sizeof *home.acc, home.acc, all->acc);
        gather(s, n, sizeof *home.level, home.level, all->level);
    }
    nb6_collisionless_release(&home);
    return status;
}

static int sum_potential(struct nb6_collisionless *s, double *pot, struct nbc_error *err)
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

int nb6_rank_domains_potential(struct nb6_collisionless *s, int64_t n, double *all, struct nbc_error *err)
{
    double *pot = nbc_alloc_unset((size_t)s->n, sizeof *pot),
           *home = nbc_alloc_unset((size_t)own_share(s, n), sizeof *home);
    int status =
        nb6_world_agree(s->world, pot && home ? NBC_OK : nbc_fail(err, NBC_NO_MEMORY, "no memory for potentials"), err);
    if (!status) status = nb6_world_agree(s->world, sum_potential(s, pot, err), err);
    if (!status) status = nb6_rank_bodies_home_numbers(s, s->world, n, pot, home, err);
    if (!status) gather(s, n, sizeof *home, home, all);
    nbc_free(home);
    nbc_free(pot);
    return status;
}
