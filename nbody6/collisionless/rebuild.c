#include "nbody6/collisionless/rebuild.h"

#include "gpunb/backend.h"
#include "gpunb/tree_kept.h"
#include "nbody6/collisionless/collisionless.h"
#include "nbody6/state/level.h"

/* Pairs that may fail before a build is due, of those that were accepted: with as many lists have 1.4 times the bodies
 * and 1.1 times the cells (docs/algorithms/tree.md), and a force costs more than a build saves. */
static const double FAILED_PART = 0.1;

/* On ranks a build takes some such part more than its cells, for boxes, lists and messages: with 1000 to 24000 bodies
 * of two colliding galaxies on a rank 1.5 to 1.8 times, by clocks of threads, without messages. */
static const double LISTS_PART = 1;

static int is_full(const struct nb6_collisionless *s, nb6_time ti_next)
{
    return nb6_step_ends(s->max_level, ti_next);
}

/* Longest steps before a time, whole ones. */
static int64_t longest_steps(const struct nb6_collisionless *s, nb6_time t)
{
    return t / nb6_step_ticks(s->max_level);
}

int nb6_rebuild_is_due(const struct nb6_collisionless *s, nb6_time ti_next)
{
    if (s->rebuild.state != NB6_TREE_STANDS) return 1;
    return is_full(s, ti_next) && longest_steps(s, ti_next) - longest_steps(s, s->rebuild.ti_build) >= s->reuse;
}

/* A build on all bodies serves as many forces on them; one within a longest step is for few of them. */
void nb6_rebuild_begin(const struct nb6_collisionless *s, nb6_time ti_next, int64_t n_due, int parts,
                       struct nb6_rebuild_force *f)
{
    *f = (struct nb6_rebuild_force){.kept = GPUNB_TREE_NOT_KEPT};
    if (s->reuse == 1) return;
    const int due = nb6_rebuild_is_due(s, ti_next), all = is_full(s, ti_next);
    const double builds = !due ? 0 : all ? 1.0 / s->reuse : 1;
    const size_t each = ((size_t)n_due + (size_t)parts - 1) / (size_t)parts, n = (size_t)(s->trees ? s->n_all : s->n);
    if (!gpunb_tree_kept_is_worth(s->force, each, n, builds))
        f->kept = GPUNB_TREE_UNUSED;
    else
        f->kept = due ? GPUNB_TREE_BUILT : GPUNB_TREE_RENEWED;
    f->is_judged = all && f->kept != GPUNB_TREE_UNUSED;
}

/* ---- afterwards */

/* Compares the cells that groups had to open with those of the first force on all bodies. */
static void judge(struct nb6_rebuild *r, const struct gpunb_tree_counts *before, const struct gpunb_tree_counts *now)
{
    const uint64_t accepted = now->listed_cells - before->listed_cells + now->local_terms - before->local_terms,
                   opened = now->tests - before->tests - accepted;
    if (r->accepted == 0) {
        r->accepted = accepted;
        r->opened = opened;
    }
    r->failed = opened > r->opened ? opened - r->opened : 0;
    if ((double)r->failed > FAILED_PART * (double)r->accepted) r->state = NB6_TREE_IS_WORN;
}

static void note_build(struct nb6_collisionless *s, nb6_time ti_next)
{
    struct nb6_rebuild *r = &s->rebuild;
    struct gpunb_options used = {0};
    gpunb_tree_settings(s->force, &used);
    r->builds++;
    r->early += r->state == NB6_TREE_IS_WORN;
    r->state = NB6_TREE_STANDS;
    r->leaf = used.leaf;
    r->ti_build = ti_next;
    r->accepted = r->opened = r->failed = 0;
    s->build_block = s->n_blocks;
}

void nb6_rebuild_end(struct nb6_collisionless *s, nb6_time ti_next, const struct nb6_rebuild_force *f,
                     const struct gpunb_tree_counts *now)
{
    if (f->kept == GPUNB_TREE_BUILT) note_build(s, ti_next);
    s->rebuild.renewals += f->kept == GPUNB_TREE_RENEWED;
    if (f->is_judged && now) judge(&s->rebuild, &f->before, now);
}

/* Where a build costs b, and the lists e_i more than at first after i longest steps, a build after k of them costs
 *     (b + e_1 + ... + e_(k - 1))/k
 * for each: less than one that serves a further step as soon as k e_k is more than b + e_1 + ... + e_(k - 1). With
 * e_(k + 1) = e_k (k + 1)/k, for the step that comes. Blocks within a step have as many lists as their work says. */
void nb6_rebuild_judge_work(struct nb6_collisionless *s, nb6_time ti_next, uint64_t of_force, uint64_t of_step)
{
    struct nb6_rebuild *r = &s->rebuild;
    const double k = (double)(longest_steps(s, ti_next) - longest_steps(s, r->ti_build)), n = (double)s->n_all,
                 build = (1 + LISTS_PART) * (gpunb_tree_kept_pairs(s->force, 0, (size_t)n, 1) -
                                             gpunb_tree_kept_pairs(s->force, 0, (size_t)n, 0));
    if (r->accepted == 0) r->accepted = of_force;
    r->failed = of_force > r->accepted ? of_force - r->accepted : 0;
    r->opened += r->failed;
    if (k < 1 || of_force == 0) return;
    const double next = (double)r->failed * (k + 1) / k, more = (k + 1) * next - (double)r->opened;
    if (more * (double)of_step / (double)of_force > build) r->state = NB6_TREE_IS_WORN;
}

void nb6_rebuild_compare_anew(struct nb6_collisionless *s)
{
    s->rebuild.accepted = s->rebuild.opened = s->rebuild.failed = 0;
}

double nb6_rebuild_failed(const struct nb6_collisionless *s)
{
    const struct nb6_rebuild *r = &s->rebuild;
    return r->accepted > 0 ? (double)r->failed / (double)r->accepted : 0;
}
