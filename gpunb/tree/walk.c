#include "gpunb/tree/walk.h"

#include "gpunb/tree/scale.h"

#include <math.h>
#include <string.h>

static size_t padded(size_t n)
{
    return (n + TREE_LANES - 1) / TREE_LANES * TREE_LANES;
}

size_t tree_space_bytes(size_t most)
{
    const size_t room = padded(most);
    return (sizeof(struct tree_space) + 63) / 64 * 64 + room * (3 + TREE_SUMS) * sizeof(double) +
           room * TREE_SHARES * TREE_SUMS * sizeof(double) + room * 2 * sizeof(int32_t);
}

struct tree_space *tree_space_at(void *memory, size_t most)
{
    struct tree_space *space = memory;
    double *row = (double *)((char *)memory + (sizeof *space + 63) / 64 * 64);
    space->room = padded(most);
    for (int k = 0; k < 3; k++, row += space->room) space->x[k] = row;
    for (int k = 0; k < TREE_SUMS; k++, row += space->room) space->sum[k] = row;
    space->apart = row;
    space->place = (int32_t *)(row + TREE_SHARES * TREE_SUMS * space->room);
    space->own = space->place + space->room;
    memset(&space->counts, 0, sizeof space->counts);
    return space;
}

/* A group being walked for. */
struct walk {
    const struct tree_force *force;
    struct tree_space *space;
    struct gpunb_tree_targets targets;
    double centre[3], half[3], radius;
    double reach;      /* the farthest target from the centre */
    int has_expansion; /* about it */
    int has_far_cells; /* some that act on it as a whole */
    double scale;
    float most_spread2; /* of its size over the distance of a cell that acts on it as a whole, the square */
    double coarse2;     /* what has R^2 below it is too near for positions of single floats in the group */
    size_t n;
    int leaves_out_self;
};

/* ---- the group */

static void bound_group(struct walk *w, const int32_t *target)
{
    const double(*x)[3] = w->force->job->x;
    double low[3], high[3], r2 = 0;
    memcpy(low, x[target[0]], sizeof low);
    memcpy(high, low, sizeof high);
    for (size_t i = 1; i < w->n; i++)
        for (int k = 0; k < 3; k++) {
            low[k] = fmin(low[k], x[target[i]][k]);
            high[k] = fmax(high[k], x[target[i]][k]);
        }
    for (int k = 0; k < 3; k++) {
        w->centre[k] = 0.5 * low[k] + 0.5 * high[k];
        w->half[k] = fmax(w->centre[k] - low[k], high[k] - w->centre[k]);
        r2 += w->half[k] * w->half[k];
    }
    w->radius = sqrt(r2);
}

/* Whether some targets are so near to each other that their positions in the group do not tell their distances. */
static int is_torn(const struct walk *w, const int32_t *target)
{
    const double(*x)[3] = w->force->job->x;
    const double limit = TREE_RESOLVED * w->radius;
    if (w->force->job->softening > limit) return 0;
    for (size_t i = 1; i < w->n; i++) {
        double r2 = 0;
        for (int k = 0; k < 3; k++) {
            const double d = x[target[i]][k] - x[target[i - 1]][k];
            r2 += d * d;
        }
        if (r2 > 0 && r2 < limit * limit) return 1;
    }
    return 0;
}

static void place_targets(struct walk *w, const int32_t *target)
{
    struct tree_space *space = w->space;
    const struct gpunb_softened_job *job = w->force->job;
    for (size_t i = 0; i < space->room && i < padded(w->n); i++) {
        const int32_t t = target[i < w->n ? i : w->n - 1];
        for (int k = 0; k < 3; k++) space->x[k][i] = job->x[t][k] - w->centre[k];
        space->place[i] = w->leaves_out_self && job->self[t] >= 0 ? w->force->tree->place[job->self[t]] : -1;
    }
    for (int k = 0; k < TREE_SUMS; k++) memset(space->sum[k], 0, padded(w->n) * sizeof(double));
    w->targets = (struct gpunb_tree_targets){.n = padded(w->n),
                                             .room = space->room,
                                             .x = {space->x[0], space->x[1], space->x[2]},
                                             .softening2 = job->softening * job->softening,
                                             .want_pot = job->pot != NULL};
    for (int k = 0; k < TREE_SUMS; k++) w->targets.sum[k] = space->sum[k];
}

/* ---- the scale of the forces on a group */

/* The square of the least scale of a target over the sum of sizes, which is not below any |acc_last|: in a wide group
 * the one at its centre may be. */
static double scale_of(struct walk *w, const int32_t *target)
{
    double least2 = INFINITY, most2 = 0;
    for (size_t i = 0; i < w->n; i++) {
        const double *a = w->force->acc_last[target[i]], a2 = a[0] * a[0] + a[1] * a[1] + a[2] * a[2];
        least2 = fmin(least2, a2);
        most2 = fmax(most2, a2);
    }
    const double sizes = tree_sum_of_sizes(w->force->tree, w->centre, w->radius, w->targets.softening2);
    const double sum = fmax(sizes, sqrt(most2));
    if (!(sum > 0)) return INFINITY;
    w->most_spread2 = tree_most_spread2(&w->force->rule, (float)fmax(TREE_LEAST_SHARE, sqrt(least2) / sum));
    return fmax(TREE_LEAST_SHARE * TREE_LEAST_SHARE * sum, least2 / sum);
}

/* Square of the distance of a box, or a point, from the box of the group. */
static double distance2_of(const struct walk *w, const double low[3], const double high[3])
{
    double r2 = 0;
    for (int k = 0; k < 3; k++) {
        const double below = low[k] - w->centre[k], above = w->centre[k] - high[k];
        const double d = (below > above ? below : above) - w->half[k];
        r2 += d > 0 ? d * d : 0;
    }
    return r2;
}

/* ---- piles of terms, which are summed when they are full */

static void sum_terms(struct walk *w)
{
    struct tree_space *space = w->space;
    if (space->n_terms == 0) return;
    const double begin = nbc_wtime();
    const struct tree_piece piece = {.method = w->force->tree->use->method,
                                     .walk = w->force->tree->use->walk,
                                     .order = w->force->tree->use->sizes.order,
                                     .term = space->term,
                                     .n = space->n_terms,
                                     .apart = space->apart};
    tree_add_piece(&w->targets, &piece);
    space->counts.seconds[GPUNB_TREE_CELLS] += nbc_wtime() - begin;
    space->counts.listed_cells += space->n_terms;
    space->counts.cell_terms += space->n_terms * w->n;
    space->n_terms = 0;
}

/* Which body of the pile is at a place, by halves: walks find bodies in ascending places.   @return -1: none */
static int32_t find_place(const struct tree_pile *pile, int32_t place)
{
    size_t low = 0, high = pile->n;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (pile->place[middle] <= place)
            low = middle;
        else
            high = middle;
    }
    return pile->place[low] == place ? (int32_t)low : -1;
}

/* Whether a target is one of the bodies, and which. */
static int find_own(struct walk *w, const struct tree_pile *pile)
{
    int any = 0;
    for (size_t i = 0; i < w->targets.n; i++) {
        w->space->own[i] = w->space->place[i] < 0 ? -1 : find_place(pile, w->space->place[i]);
        any |= w->space->own[i] >= 0;
    }
    return any;
}

static void sum_bodies(struct walk *w, struct tree_pile *pile)
{
    struct tree_space *space = w->space;
    if (pile->n == 0) return;
    const double begin = nbc_wtime();
    const struct tree_piece piece = {.method = w->force->tree->use->method,
                                     .walk = w->force->tree->use->walk,
                                     .bodies = {.n = pile->n,
                                                .x = {pile->x[0], pile->x[1], pile->x[2]},
                                                .mass = pile->mass,
                                                .is_near = pile == &space->near,
                                                .own = w->leaves_out_self && find_own(w, pile) ? space->own : NULL},
                                     .n = pile->n,
                                     .apart = space->apart};
    tree_add_piece(&w->targets, &piece);
    space->counts.seconds[GPUNB_TREE_PAIRS] += nbc_wtime() - begin;
    space->counts.listed_bodies += pile->n;
    space->counts.pair_terms += pile->n * w->n;
    pile->n = 0;
}

static void sum_far_cells(struct walk *w)
{
    struct tree_space *space = w->space;
    if (space->n_far_cells == 0) return;
    const double begin = nbc_wtime();
    w->force->tree->use->method->add_locals(space->far_cell, space->n_far_cells, w->force->rule.order, w->reach,
                                            w->targets.softening2, space->local);
    space->counts.seconds[GPUNB_TREE_CELLS] += nbc_wtime() - begin;
    space->counts.local_terms += space->n_far_cells;
    space->n_far_cells = 0;
}

static void pile_far_cell(struct walk *w, size_t c)
{
    const struct tree_cell *cell = &w->force->tree->cells.cell[c];
    struct tree_space *space = w->space;
    w->has_far_cells = 1;
    if (space->n_far_cells == TREE_TERMS) sum_far_cells(w);
    struct gpunb_tree_term *term = &space->far_cell[space->n_far_cells++];
    for (int k = 0; k < 3; k++) term->at[k] = cell->centre[k] - w->centre[k];
    term->mass = cell->mass;
    term->radius = cell->radius;
    term->numbers = tree_moments_of(w->force->tree, c);
}

static void pile_cell(struct walk *w, size_t c)
{
    const struct tree_cell *cell = &w->force->tree->cells.cell[c];
    struct tree_space *space = w->space;
    if (space->n_terms == TREE_TERMS) sum_terms(w);
    struct gpunb_tree_term *term = &space->term[space->n_terms++];
    for (int k = 0; k < 3; k++) term->at[k] = cell->centre[k] - w->centre[k];
    term->mass = cell->mass;
    term->radius = cell->radius;
    term->numbers = tree_coefficients_of(w->force->tree, c);
}

static void pile_bodies(struct walk *w, size_t c)
{
    const struct gpunb_tree *tree = w->force->tree;
    const struct tree_cell *cell = &tree->cells.cell[c];
    const double r2 = distance2_of(w, cell->low, cell->high);
    struct tree_pile *pile = r2 + w->targets.softening2 >= w->coarse2 ? &w->space->far : &w->space->near;
    for (int32_t j = cell->first; j < cell->first + cell->count; j++) {
        if (pile->n == TREE_BODIES) sum_bodies(w, pile);
        for (int k = 0; k < 3; k++) pile->x[k][pile->n] = tree->x[j][k] - w->centre[k];
        pile->mass[pile->n] = tree->mass[j];
        pile->place[pile->n++] = j;
    }
}

/* ---- the walk */

/* Whether a cell acts as a whole. Without the term of the target itself only those do that it is not in. */
static int is_accepted(const struct walk *w, const struct tree_node *cell, size_t c, float scale)
{
    const struct tree_cell *whole = &w->force->tree->cells.cell[c];
    const double r2 = distance2_of(w, cell->centre, cell->centre);
    if (r2 + w->targets.softening2 < w->coarse2) return 0;
    if (!tree_accepts(&w->force->rule, cell->mass, cell->radius, &cell->rest, cell->count, (float)r2, scale)) return 0;
    return !w->leaves_out_self || distance2_of(w, whole->low, whole->high) > 0;
}

/* Whether a cell acts on the group as a whole. */
static int acts_on_group(const struct walk *w, const struct tree_node *cell, size_t c, float scale)
{
    const struct tree_cell *whole = &w->force->tree->cells.cell[c];
    double r2 = 0;
    if (!w->has_expansion) return 0;
    for (int k = 0; k < 3; k++) r2 += (cell->centre[k] - w->centre[k]) * (cell->centre[k] - w->centre[k]);
    if (!tree_accepts_region(&w->force->rule, cell->mass, cell->radius, &cell->rest, cell->count, (float)r2,
                             (float)w->reach, w->most_spread2, scale))
        return 0;
    return !w->leaves_out_self || distance2_of(w, whole->low, whole->high) > 0;
}

static void visit_cells(struct walk *w)
{
    const int is_fmm = w->force->tree->use->walk == GPUNB_WALK_FMM;
    const struct tree_node *nodes = w->force->tree->node;
    const float scale = (float)(w->scale / w->force->tree->cells.cell[0].mass);
    const int32_t worth = tree_worth_a_term(w->force->rule.order);
    int32_t stack[8 * TREE_MOST_LEVELS + 8];
    int depth = 1;
    stack[0] = 0;
    while (depth > 0) {
        const int32_t c = stack[--depth];
        const struct tree_node *cell = &nodes[c];
        if (!(cell->mass > 0)) continue;
        w->space->counts.tests++;
        if (acts_on_group(w, cell, (size_t)c, scale)) {
            pile_far_cell(w, (size_t)c);
            continue;
        }
        const int accepted =
            cell->n_child == TREE_PARTS_ELSEWHERE || (!is_fmm && is_accepted(w, cell, (size_t)c, scale));
        if (accepted && cell->count > worth)
            pile_cell(w, (size_t)c);
        else if (accepted || cell->n_child == 0)
            pile_bodies(w, (size_t)c);
        else
            for (int p = cell->n_child - 1; p >= 0; p--) stack[depth++] = cell->child + p;
    }
}

static double coarse2_of(const struct walk *w)
{
    const struct gpunb_tree_use *use = w->force->tree->use;
    const double nearest = use->method->in_double ? 0 : w->radius * TREE_NEAREST / use->aim;
    return nearest * nearest;
}

static void begin_expansion(struct walk *w, const int32_t *target)
{
    const enum gpunb_walk walk = w->force->tree->use->walk;
    w->has_expansion = 0;
    w->reach = 0;
    for (size_t i = 0; i < w->n; i++) {
        double r2 = 0;
        for (int k = 0; k < 3; k++) {
            const double d = w->force->job->x[target[i]][k] - w->centre[k];
            r2 += d * d;
        }
        w->reach = fmax(w->reach, r2);
    }
    w->reach = sqrt(w->reach);
    if (!(w->reach > 0) || (walk != GPUNB_WALK_FMM && (walk != GPUNB_WALK_HYBRID || w->n < TREE_WORTH_AN_EXPANSION)))
        return;
    w->has_expansion = 1;
    memset(w->space->local, 0, sizeof w->space->local);
}

static void end_walk(struct walk *w)
{
    sum_terms(w);
    sum_far_cells(w);
    if (w->has_far_cells) w->force->tree->use->method->add_field(&w->targets, w->reach, w->space->local);
    sum_bodies(w, &w->space->far);
    sum_bodies(w, &w->space->near);
    w->space->counts.groups++;
    w->space->counts.targets += w->n;
}

int tree_walk(const struct tree_force *force, struct tree_space *space, const struct tree_group *group)
{
    const int32_t *target = force->groups->target + group->first;
    struct walk w = {.force = force, .space = space, .n = (size_t)group->count};
    const struct gpunb_tree_counts before = space->counts;
    const double begin = nbc_wtime();
    w.leaves_out_self = force->job->pot && force->job->self;
    space->n_terms = space->n_far_cells = space->far.n = space->near.n = 0;
    bound_group(&w, target);
    if (is_torn(&w, target)) return 0;
    place_targets(&w, target);
    w.coarse2 = coarse2_of(&w);
    begin_expansion(&w, target);
    w.most_spread2 = force->rule.region_theta2;
    if (force->acc_last) w.scale = scale_of(&w, target);
    visit_cells(&w);
    end_walk(&w);
    space->counts.seconds[GPUNB_TREE_LISTS] += nbc_wtime() - begin;
    for (int stage = GPUNB_TREE_CELLS; stage <= GPUNB_TREE_PAIRS; stage++)
        space->counts.seconds[GPUNB_TREE_LISTS] -= space->counts.seconds[stage] - before.seconds[stage];
    return 1;
}
