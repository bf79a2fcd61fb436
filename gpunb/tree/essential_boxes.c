/* Where the targets of a part are, and when a cell may act as a whole on them. */
#include "common/team.h"
#include "gpunb/handle.h"
#include "gpunb/tree/essential_parts.h"
#include "gpunb/tree/scale.h"

#include <math.h>
#include <string.h>

/* The sum of sizes at a group takes other parts as their top cells. With all cells it is more or less by this factor
 * for most groups, and by 2.4 for the worst (tests/conformance/test_gpunb_essential.c); the scale goes by one over it.
 */
static const double ESSENTIAL_MARGIN = 2;

/* A box of a plan is larger by this many times the root mean square of how far its targets will move: 2.6 times that of
 * one coordinate, so that of bodies with Maxwell's velocities, which move by a tenth of the size of their box, one of
 * 2000 leaves it. The square of the force on a target may become half of the least in its box. */
static const double PLAN_MARGIN = 1.5, PLAN_LEAST2 = 0.5;

/* ---- boxes */

/* The sum of sizes of all terms: of the own tree, `sum`, and of the top cells of others. */
static double sum_of_sizes(const struct gpunb_essential *e, const double centre[3], double radius, double sum)
{
    const double softening2 = e->job.softening * e->job.softening;
    for (int p = 0; p < e->parts; p++) {
        const struct essential_cell *top = essential_top_of(e, p);
        double r2 = 0;
        if (p == e->own || !(top->mass > 0)) continue;
        for (int k = 0; k < 3; k++) r2 += (top->centre[k] - centre[k]) * (top->centre[k] - centre[k]);
        sum += tree_size_of_cell(top->mass, top->radius * top->radius, r2, radius * radius, softening2);
    }
    return sum;
}

static double square_of(const double a[3])
{
    return a[0] * a[0] + a[1] * a[1] + a[2] * a[2];
}

/* As a walk has it (walk.c), of a sum that is known to a factor. */
static double scale_of(const struct essential_measure *m, double sizes)
{
    const double sum = fmax(sizes, sqrt(m->most2));
    if (!(sum > 0)) return INFINITY;
    return fmax(TREE_LEAST_SHARE * TREE_LEAST_SHARE * sum, m->least2 / sum) / ESSENTIAL_MARGIN;
}

/* @return the radius about the centre */
static double middle_of(const struct essential_measure *m, double centre[3])
{
    double r2 = 0;
    for (int k = 0; k < 3; k++) {
        centre[k] = 0.5 * m->low[k] + 0.5 * m->high[k];
        const double half = fmax(centre[k] - m->low[k], m->high[k] - centre[k]);
        r2 += half * half;
    }
    return sqrt(r2);
}

/* By the host, of the own tree. */
static struct essential_measure measure_group(const struct gpunb_essential *e, const struct tree_group *group)
{
    const int32_t *target = e->groups.target + group->first;
    struct essential_measure m = {.least2 = INFINITY};
    double centre[3];
    memcpy(m.low, e->job.x[target[0]], sizeof m.low);
    memcpy(m.high, m.low, sizeof m.high);
    for (int32_t i = 0; i < group->count; i++) {
        for (int k = 0; k < 3; k++) {
            m.low[k] = fmin(m.low[k], e->job.x[target[i]][k]);
            m.high[k] = fmax(m.high[k], e->job.x[target[i]][k]);
        }
        if (e->rule.aim2 == 0) continue; /* by angle */
        const double a2 = square_of(e->job.acc_last[target[i]]);
        m.least2 = fmin(m.least2, a2);
        m.most2 = fmax(m.most2, a2);
    }
    const double radius = middle_of(&m, centre);
    if (e->rule.aim2 > 0) m.sum = tree_sum_of_sizes(e->local, centre, radius, e->job.softening * e->job.softening);
    return m;
}

static struct gpunb_essential_box box_of(const struct gpunb_essential *e, int64_t g)
{
    const struct essential_measure m = e->measure ? e->measure[g] : measure_group(e, &e->groups.group[g]);
    struct gpunb_essential_box box;
    double centre[3];
    memcpy(box.low, m.low, sizeof box.low);
    memcpy(box.high, m.high, sizeof box.high);
    box.radius = middle_of(&m, centre);
    box.scale = e->rule.aim2 == 0 ? 0 : scale_of(&m, sum_of_sizes(e, centre, box.radius, m.sum));
    return box;
}

static struct gpunb_essential_box join(const struct gpunb_essential_box *a, const struct gpunb_essential_box *b)
{
    struct gpunb_essential_box both;
    for (int k = 0; k < 3; k++) {
        both.low[k] = fmin(a->low[k], b->low[k]);
        both.high[k] = fmax(a->high[k], b->high[k]);
    }
    both.scale = fmin(a->scale, b->scale);
    both.radius = fmax(a->radius, b->radius);
    return both;
}

/* The targets in a box as a plan knows them, and its margin.   @param[in] first, end  groups */
static void promise(struct gpunb_essential *e, int64_t b, int64_t first, int64_t end)
{
    struct gpunb_essential_box *box = &e->box[b];
    double least2 = INFINITY, drift2 = 0, n = 0;
    for (int64_t g = first; g < end; g++)
        for (int32_t i = 0; i < e->groups.group[g].count; i++) {
            const int32_t target = e->groups.target[e->groups.group[g].first + i];
            e->box_of[target] = (int32_t)b;
            drift2 += e->drift[target] * e->drift[target];
            n++;
            if (e->rule.aim2 > 0) least2 = fmin(least2, square_of(e->job.acc_last[target]));
        }
    e->least2[b] = e->rule.aim2 > 0 ? PLAN_LEAST2 * least2 : 0;
    box->scale *= PLAN_LEAST2;
    for (int k = 0; k < 3; k++) {
        box->low[k] -= PLAN_MARGIN * sqrt(drift2 / n);
        box->high[k] += PLAN_MARGIN * sqrt(drift2 / n);
    }
}

/* Groups that follow each other along the curve share a box. */
static void make_part(void *context, int part, int parts)
{
    struct gpunb_essential *e = context;
    int64_t first_box, end_box;
    nbc_range((int64_t)e->boxes, part, parts, &first_box, &end_box);
    for (int64_t b = first_box; b < end_box; b++) {
        int64_t first, end;
        nbc_range((int64_t)e->n_groups, (int)b, (int)e->boxes, &first, &end);
        e->box[b] = box_of(e, first);
        for (int64_t g = first + 1; g < end; g++) {
            const struct gpunb_essential_box more = box_of(e, g);
            e->box[b] = join(&e->box[b], &more);
        }
        if (e->stage == ESSENTIAL_PLAN) promise(e, b, first, end);
    }
}

void essential_make_boxes(struct gpunb_essential *e)
{
    if (e->boxes > 0) nbc_team_run(nbc_parts((int64_t)e->boxes, 4), make_part, e);
}

void gpunb_essential_reach(const struct gpunb_essential *e, struct gpunb_essential_reach *reach)
{
    memset(reach, 0, sizeof *reach);
    reach->boxes = (int64_t)e->boxes;
    if (e->boxes == 0) return;
    reach->box = e->box[0];
    for (size_t b = 1; b < e->boxes; b++) reach->box = join(&reach->box, &e->box[b]);
}

/* ---- what has become of the targets of a plan */

enum { TARGETS_OF_A_PART = 4096 };

struct leaving {
    const struct gpunb_essential *e;
    int64_t n, left;
    const int32_t *target;
    const double (*x)[3], (*acc_last)[3];
};

static int is_out(const struct leaving *l, int64_t i)
{
    const struct gpunb_essential *e = l->e;
    const int32_t own = l->target[i], b = e->box_of[own];
    const struct gpunb_essential_box *box = &e->box[b];
    for (int k = 0; k < 3; k++)
        if (!(l->x[own][k] >= box->low[k] && l->x[own][k] <= box->high[k])) return 1;
    return square_of(l->acc_last[own]) < e->least2[b];
}

static void count_part(void *context, int part, int parts)
{
    struct leaving *l = context;
    int64_t first, end, left = 0;
    nbc_range(l->n, part, parts, &first, &end);
    for (int64_t i = first; i < end; i++) left += is_out(l, i);
    __atomic_fetch_add(&l->left, left, __ATOMIC_RELAXED);
}

int64_t gpunb_essential_count_left(const struct gpunb_essential *e, int64_t n, const int32_t *target,
                                   const double (*x)[3], const double (*acc_last)[3])
{
    struct leaving l = {e, n, 0, target, x, acc_last};
    if (n > 0) nbc_team_run(nbc_parts(n, TARGETS_OF_A_PART), count_part, &l);
    return l.left;
}

/* ---- acceptance */

struct essential_test essential_test_of(const struct gpunb_essential *e)
{
    const struct gpunb_tree_use *use = e->handle->tree;
    return (struct essential_test){.rule = e->rule,
                                   .mass = e->mass,
                                   .softening2 = e->job.softening * e->job.softening,
                                   .nearest = use->method->in_double ? 0 : TREE_NEAREST / use->aim};
}
