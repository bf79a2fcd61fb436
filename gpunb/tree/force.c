#include "gpunb/tree/force.h"

#include "common/team.h"
#include "gpunb/tree/walk.h"

#include <math.h>
#include <string.h>

/* Targets that are worth a thread. */
enum { TARGETS_OF_A_PART = 64 };

/* The force by angle that comes first where no last one is known: it sets the scale alone. */
static const float FIRST_THETA = 0.7f;

/* The aim for a term by order, in units of force_error: so many that 99 of 100 sums are within it, in discs and planes
 * too, whose errors agree in sign more often: those of masses at their centres most, which all lack a quadrupole
 * (docs/algorithms/tree.md). */
static const double term_aims[GPUNB_MOST_ORDER + 1] = {0, 0.25, 1.5, 1.2, 2.5, 2.5, 2.5, 2.5, 2.5};

/* With potentials, which are to have a tenth of the aim, a term has this part of its own: on a target that sees all as
 * one cell of order 2 the potential has a quarter of the error of the acceleration. */
static const double POTENTIAL_PART = 0.3;

/* Errors that expansions about regions leave of masses are largest at their edges, and in one direction: most targets
 * have a part of them (docs/trials.md has errors and times by this factor). */
static const double STEADY_PART = 2;

struct work {
    struct tree_force force;
    struct nbc_queue queue;
    char *spaces;
    size_t space_bytes;
    uint32_t *cost; /* of each target; NULL: not wanted */
};

/* A mass at a place, in double.   @return its part of the potential */
static double add_exactly(const struct gpunb_softened_job *job, int32_t target, const double x[3], double mass,
                          double acc[3])
{
    double d[3], r2 = job->softening * job->softening;
    for (int k = 0; k < 3; k++) {
        d[k] = x[k] - job->x[target][k];
        r2 += d[k] * d[k];
    }
    const double mr = mass / sqrt(r2);
    for (int k = 0; k < 3; k++) acc[k] += mr / r2 * d[k];
    return mr;
}

/* A sum that no float holds, once more in double, over all bodies; where cells have their bodies elsewhere, over their
 * masses. */
static void sum_exactly(const struct work *work, int32_t target)
{
    const struct gpunb_tree *tree = work->force.tree;
    const struct gpunb_softened_job *job = work->force.job;
    const int32_t self = job->self ? job->self[target] : -1;
    double acc[3] = {0}, pot = 0;
    for (size_t j = 0; j < tree->n; j++) {
        const double mr = add_exactly(job, target, tree->x[j], tree->mass[j], acc);
        if (self < 0 || tree->place[self] != (int32_t)j) pot += mr;
    }
    for (size_t c = 0; c < tree->cells.level[tree->cells.n_levels]; c++) {
        const struct tree_cell *cell = &tree->cells.cell[c];
        if (cell->n_child == TREE_PARTS_ELSEWHERE) pot += add_exactly(job, target, cell->centre, cell->mass, acc);
    }
    memcpy(job->acc[target], acc, sizeof acc);
    if (job->pot) job->pot[target] = -pot;
}

static void give_sums(const struct work *work, const struct tree_space *space, const struct tree_group *group)
{
    const struct gpunb_softened_job *job = work->force.job;
    const int32_t *target = work->force.groups->target + group->first;
    for (int32_t i = 0; i < group->count; i++) {
        double check = 0;
        for (int k = 0; k < TREE_SUMS; k++) check += 0 * space->sum[k][i];
        if (check != 0) {
            sum_exactly(work, target[i]);
            continue;
        }
        for (int k = 0; k < 3; k++) job->acc[target[i]][k] = space->sum[k][i];
        if (job->pot) job->pot[target[i]] = -space->sum[3][i];
    }
}

static struct tree_space *space_of(const struct work *work, int part)
{
    return (struct tree_space *)(void *)(work->spaces + (size_t)part * work->space_bytes);
}

/* The work of a list in pairs, shared by its targets: some of it is a group's. */
static void note_cost(const struct work *work, const struct gpunb_tree_counts *before,
                      const struct gpunb_tree_counts *now, const struct tree_group *group)
{
    const struct gpunb_tree_use *use = work->force.tree->use;
    const struct gpunb_tree_costs *costs = &use->costs;
    const int order = use->sizes.order - 1;
    const double all = (double)(now->tests - before->tests) * costs->test +
                       (double)(now->local_terms - before->local_terms) * costs->local[order] +
                       (double)(now->cell_terms - before->cell_terms) * costs->term[order] +
                       (double)(now->pair_terms - before->pair_terms) * costs->body;
    const double one = all / costs->pair / (double)group->count;
    for (int32_t i = 0; i < group->count; i++)
        work->cost[work->force.groups->target[group->first + i]] = (uint32_t)fmin(1 + one, UINT32_MAX);
}

static void walk_group(const struct work *work, struct tree_space *space, const struct tree_group *group)
{
    const struct gpunb_tree_counts before = space->counts;
    if (tree_walk(&work->force, space, group))
        give_sums(work, space, group);
    else
        for (int32_t i = 0; i < group->count; i++) {
            const struct tree_group one = {group->first + i, 1};
            tree_walk(&work->force, space, &one);
            give_sums(work, space, &one);
        }
    if (work->cost) note_cost(work, &before, &space->counts, group);
}

static void walk_part(void *context, int part, int parts)
{
    (void)parts;
    struct work *work = context;
    struct tree_space *space = space_of(work, part);
    const struct tree_groups *groups = work->force.groups;
    for (int64_t g; (g = nbc_take(&work->queue)) < (int64_t)groups->n;) walk_group(work, space, &groups->group[g]);
}

static void run_walks(struct work *work, int parts, size_t most, struct gpunb_tree_counts *counts)
{
    work->queue.next = 0;
    for (int p = 0; p < parts; p++) tree_space_at(work->spaces + (size_t)p * work->space_bytes, most);
    if (parts > 1)
        nbc_team_run(parts, walk_part, work);
    else
        walk_part(work, 0, 1);
    for (int p = 0; p < parts; p++) gpunb_tree_add_counts(counts, &space_of(work, p)->counts);
}

/* Expansions about regions have errors as the sixth power of the angle, those about cells as power order + 1. */
static float region_theta2(double theta, int order)
{
    const double power = fmax(1, (order + 1.0) / TREE_MOST_LOCAL);
    return (float)pow(theta * theta, power);
}

double gpunb_tree_term_aim(int order)
{
    return term_aims[order];
}

struct tree_rule gpunb_tree_rule(const struct gpunb_tree_use *use, const struct gpunb_softened_job *job)
{
    const double aim = gpunb_tree_term_aim(use->sizes.order) * use->force_error * (job->pot ? POTENTIAL_PART : 1);
    return (struct tree_rule){.aim2 = (float)(aim * aim),
                              .steady = (float)(STEADY_PART * aim),
                              .theta2 = (float)(use->theta * use->theta),
                              .region_theta2 = region_theta2(use->theta, use->sizes.order),
                              .softening2 = (float)(job->softening * job->softening),
                              .order = use->sizes.order};
}

struct tree_rule gpunb_tree_first_rule(const struct gpunb_tree_use *use, const struct gpunb_softened_job *job)
{
    struct tree_rule rule = gpunb_tree_rule(use, job);
    rule.aim2 = 0;
    rule.theta2 = FIRST_THETA * FIRST_THETA;
    rule.region_theta2 = region_theta2(FIRST_THETA, use->sizes.order);
    return rule;
}

int tree_force_of_groups(const struct gpunb_tree *tree, const struct tree_groups *groups,
                         const struct gpunb_softened_job *job, int is_first, uint32_t *cost,
                         struct tree_scratch *scratch, struct gpunb_tree_counts *counts, struct nbc_error *err)
{
    const struct gpunb_tree_use *use = tree->use;
    const int one_by_one = use->walk == GPUNB_WALK_ONE_BY_ONE_I || use->walk == GPUNB_WALK_ONE_BY_ONE_J;
    const int parts = one_by_one ? 1 : nbc_parts((int64_t)job->n_i, TARGETS_OF_A_PART), most = tree_most_of_group(use);
    struct work work = {.space_bytes = (tree_space_bytes((size_t)most) + 63) / 64 * 64, .cost = cost};
    struct gpunb_softened_job first = *job;
    first.pot = NULL;
    work.spaces = tree_room(&scratch->spaces, (size_t)parts, work.space_bytes);
    if (!work.spaces) return nbc_fail(err, NBC_NO_MEMORY, "no memory for the groups of %zu targets", job->n_i);
    work.force = (struct tree_force){.tree = tree,
                                     .groups = groups,
                                     .job = is_first ? &first : job,
                                     .acc_last = is_first ? NULL : job->acc_last,
                                     .rule = is_first ? gpunb_tree_first_rule(use, job) : gpunb_tree_rule(use, job)};
    run_walks(&work, parts, (size_t)most, counts);
    counts->first_forces += (uint64_t)is_first;
    counts->forces += !is_first;
    return NBC_OK;
}

int tree_force(const struct gpunb_tree *tree, const struct gpunb_softened_job *job, struct tree_scratch *scratch,
               struct gpunb_tree_counts *counts, struct nbc_error *err)
{
    const struct tree_groups *groups = &scratch->groups;
    struct gpunb_softened_job next = *job;
    int status = tree_make_groups(&scratch->groups, tree, job, tree_most_of_group(tree->use), counts->seconds);
    if (status) return nbc_fail(err, NBC_NO_MEMORY, "no memory for the groups of %zu targets", job->n_i);
    if (tree_force_has_first(tree->use, job)) {
        status = tree_force_of_groups(tree, groups, job, 1, NULL, scratch, counts, err);
        next.acc_last = (const double(*)[3])job->acc;
    }
    return status ? status : tree_force_of_groups(tree, groups, &next, 0, NULL, scratch, counts, err);
}

void tree_free_scratch(struct tree_scratch *scratch)
{
    tree_free_groups(&scratch->groups);
    nbc_free(scratch->spaces.data);
    nbc_free(scratch->targets.data);
    nbc_free(scratch->masses.data);
    nbc_free(scratch->positions.data);
}
