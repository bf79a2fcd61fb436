#include "gpunb/tree/regular_walk.h"

#include "gpunb/tree/scale.h"

enum {
    WORTH_AN_EXPANSION = 96, /* pairs that cost as much as a cell on a region */
    DIVIDE = 8,              /* parts of a region have so many times fewer targets */
    STACK = 8 * TREE_LEVELS + 8
};

/* Boxes and spheres are compared with this margin: the test of pairs is made in float. */
static const double MARGIN = 1.00001;

/* The unit of an expansion is not below this part of the size of the cells around: a region may be a point. */
static const double LEAST_UNIT = 0.01;

static size_t of_space(void)
{
    return (sizeof(struct tree_regular_space) + 63) / 64 * 64;
}

size_t tree_regular_bytes(size_t most)
{
    return (of_space() + most * (sizeof(struct gpunb_sum) + sizeof(int32_t)) + 63) / 64 * 64;
}

struct tree_regular_space *tree_regular_space_at(void *memory, size_t most)
{
    struct tree_regular_space *space = memory;
    space->sum = (struct gpunb_sum *)(void *)((char *)memory + of_space());
    space->place = (int32_t *)(space->sum + most);
    space->n_movers = 0;
    memset(&space->counts, 0, sizeof space->counts);
    return space;
}

/* ---- runs of targets */

static int32_t targets_of(const struct tree_groups *groups, int32_t cell)
{
    const struct tree_cell *c = &groups->along->cell[cell];
    return groups->before[c->first + c->count] - groups->before[c->first];
}

static int has_parts(const struct tree_groups *groups, const struct tree_run *run)
{
    return run->cells > 1 || groups->along->cell[run->cell].n_child > 0;
}

/* The next part of a run, from its cell *at on: one cell, or some that follow each other with at most `most` targets.
 * @return 0: there is none */
static int next_part(const struct tree_groups *groups, const struct tree_run *run, int32_t most, int32_t *at,
                     struct tree_run *part)
{
    const struct tree_cell *whole = &groups->along->cell[run->cell];
    const int32_t first = run->cells > 1 ? run->cell : whole->child,
                  end = first + (run->cells > 1 ? run->cells : whole->n_child);
    part->count = 0;
    for (int32_t c = *at < first ? first : *at; c < end; c++) {
        const int32_t count = targets_of(groups, c);
        if (part->count > 0 && part->count + count > most) break;
        *at = c + 1;
        if (count == 0) continue;
        if (part->count == 0) {
            part->cell = c;
            part->first = groups->before[groups->along->cell[c].first];
        }
        part->cells = c + 1 - part->cell;
        part->count += count;
    }
    return part->count > 0;
}

static size_t list_run(const struct tree_groups *groups, const struct tree_run *run, int32_t most,
                       struct tree_run *list)
{
    struct tree_run part;
    int32_t at = 0;
    size_t n = 0;
    if (run->count <= most || !has_parts(groups, run)) {
        if (list) *list = *run;
        return 1;
    }
    while (next_part(groups, run, most, &at, &part)) n += list_run(groups, &part, most, list ? list + n : NULL);
    return n;
}

size_t tree_list_runs(const struct tree_groups *groups, int32_t most, struct tree_run *list)
{
    const struct tree_run all = {.cells = 1, .first = groups->before[0], .count = targets_of(groups, 0)};
    return list_run(groups, &all, most, list);
}

/* ---- a region: the targets of a run */

struct region {
    const struct tree_run *run;
    double centre[3], half[3], reach; /* box of the targets, and the farthest from its centre */
    double unit;                      /* of its expansion */
    double v[3], speed;               /* mean velocity; no target is faster relative to it */
    double sphere, step;              /* the largest radius and step of a target */
    double sum;                       /* of the sizes of all terms */
    float scale, most_spread2;        /* as in tree_accepts_region */
    int is_group;                     /* it is not divided any further */
    struct gpunb_tree_field *field;
};

struct walk {
    const struct tree_regular_force *force;
    struct tree_regular_space *space;
    int32_t group; /* most targets of one */
    int thread;
};

static const int32_t *targets_in(const struct walk *w, const struct tree_run *run)
{
    return w->force->groups->target + run->first;
}

static void bound_places(const struct walk *w, struct region *region)
{
    const int32_t *target = targets_in(w, region->run);
    const double(*x)[3] = w->force->x;
    double low[3], high[3], reach2 = 0;
    memcpy(low, x[target[0]], sizeof low);
    memcpy(high, low, sizeof high);
    for (int32_t i = 1; i < region->run->count; i++)
        for (int k = 0; k < 3; k++) {
            low[k] = fmin(low[k], x[target[i]][k]);
            high[k] = fmax(high[k], x[target[i]][k]);
        }
    for (int k = 0; k < 3; k++) {
        region->centre[k] = 0.5 * low[k] + 0.5 * high[k];
        region->half[k] = fmax(region->centre[k] - low[k], high[k] - region->centre[k]);
    }
    for (int32_t i = 0; i < region->run->count; i++) {
        double r2 = 0;
        for (int k = 0; k < 3; k++) {
            const double d = x[target[i]][k] - region->centre[k];
            r2 += d * d;
        }
        reach2 = fmax(reach2, r2);
    }
    region->reach = sqrt(reach2);
}

static void bound_motion(const struct walk *w, struct region *region)
{
    const int32_t *target = targets_in(w, region->run);
    const struct gpunb_block *block = w->force->block;
    const int32_t n = region->run->count;
    double most2 = 0, r_nb2 = 0;
    for (int k = 0; k < 3; k++) {
        double sum = 0;
        for (int32_t i = 0; i < n; i++) sum += block->v[target[i]][k];
        region->v[k] = sum / n;
    }
    region->step = 0;
    for (int32_t i = 0; i < n; i++) {
        double v2 = 0;
        for (int k = 0; k < 3; k++) {
            const double d = block->v[target[i]][k] - region->v[k];
            v2 += d * d;
        }
        most2 = fmax(most2, v2);
        r_nb2 = fmax(r_nb2, block->r_nb2[target[i]]);
        region->step = fmax(region->step, block->dt_reg[target[i]]);
    }
    region->speed = sqrt(most2);
    region->sphere = sqrt(r_nb2);
}

/* The size of the smallest cell with parts around a point. */
static double size_around(const struct gpunb_tree *tree, const double x[3])
{
    const struct tree_node *cell = &tree->node[0];
    for (;;) {
        const struct tree_node *nearest = NULL;
        double least = INFINITY;
        for (int32_t c = cell->child; c < cell->child + cell->n_child; c++) {
            const double r = tree_distance(tree->node[c].centre, x);
            if (r < least) {
                least = r;
                nearest = &tree->node[c];
            }
        }
        if (!nearest || nearest->n_child == 0) return (double)cell->radius;
        cell = nearest;
    }
}

static double unit_of(const struct gpunb_tree *tree, const struct region *region)
{
    const double unit = fmax(region->reach, LEAST_UNIT * size_around(tree, region->centre));
    return unit > 0 ? unit : 1;
}

/* A group is small beside what lies around its region, whose sum of sizes it takes, in place of a walk for its own. A
 * group in a clump has large accelerations, and no sum is below these. */
static double sum_of_sizes(const struct walk *w, const struct region *region, const struct region *around)
{
    return region->is_group && around ? around->sum
                                      : tree_sum_of_sizes(w->force->tree, region->centre, region->reach, 0);
}

static void set_scale(const struct walk *w, struct region *region, const struct region *around)
{
    const struct tree_regular_force *force = w->force;
    const int32_t *target = targets_in(w, region->run);
    double least2 = INFINITY, most2 = 0;
    region->most_spread2 = force->rule.region_theta2;
    region->scale = 0;
    if (!force->acc_last) return;
    for (int32_t i = 0; i < region->run->count; i++) {
        const double *a = force->acc_last[target[i]], a2 = a[0] * a[0] + a[1] * a[1] + a[2] * a[2];
        least2 = fmin(least2, a2);
        most2 = fmax(most2, a2);
    }
    const double sum = fmax(sum_of_sizes(w, region, around), sqrt(most2));
    const double scale2 = fmax(least2, TREE_LEAST_SHARE * TREE_LEAST_SHARE * sum * sum);
    region->sum = sum;
    region->scale = (float)(scale2 / sum / force->tree->cells.cell[0].mass);
    region->most_spread2 = tree_most_spread2(&force->rule, (float)(sqrt(scale2) / sum));
}

/* Whether no body of a cell can be a neighbour of a target, or at its place, now or at the end of its step. */
static int is_apart(const struct walk *w, const struct region *region, int32_t c)
{
    const struct tree_cell *cell = &w->force->tree->cells.cell[c];
    const struct tree_motion *motion = &w->force->motion[c];
    const int weighted = w->force->block->mass_weighted;
    double d2 = 0;
    for (int k = 0; k < 3; k++) {
        const double below = cell->low[k] - region->centre[k], above = region->centre[k] - cell->high[k];
        const double d = (below > above ? below : above) - region->half[k];
        d2 += d > 0 ? d * d : 0;
    }
    const double reach = region->step * (tree_distance(motion->v, region->v) + motion->speed + region->speed);
    const double sphere = weighted ? region->sphere * sqrt(motion->heaviest) : region->sphere;
    const double limit = (sphere + reach) * MARGIN;
    return d2 > limit * limit && d2 > GPUNB_ZERO_R2;
}

static int acts(const struct walk *w, const struct region *region, int32_t c)
{
    const struct tree_node *cell = &w->force->tree->node[c];
    double r2 = 0;
    for (int k = 0; k < 3; k++) r2 += (cell->centre[k] - region->centre[k]) * (cell->centre[k] - region->centre[k]);
    return tree_accepts_region(&w->force->rule, cell->mass, cell->radius, &cell->rest, cell->count, (float)r2,
                               (float)region->unit, region->most_spread2, region->scale) &&
           w->force->motion[c].heaviest <= w->force->heavy;
}

/* ---- terms */

static void sum_movers(struct walk *w, const struct region *region)
{
    struct tree_regular_space *space = w->space;
    if (space->n_movers == 0) return;
    const double begin = nbc_wtime();
    w->force->tree->use->method->add_moving(space->mover, space->n_movers, region->unit, region->field);
    space->counts.seconds[GPUNB_TREE_CELLS] += nbc_wtime() - begin;
    space->counts.local_terms += space->n_movers;
    space->n_movers = 0;
}

static void pile_mover(struct walk *w, const struct region *region, int32_t c)
{
    const struct tree_regular_force *force = w->force;
    const struct tree_cell *cell = &force->tree->cells.cell[c];
    const size_t size = force->tree->use->method->in_double ? sizeof(double) : sizeof(float);
    if (w->space->n_movers == TREE_TERMS) sum_movers(w, region);
    struct gpunb_tree_mover *mover = &w->space->mover[w->space->n_movers++];
    for (int k = 0; k < 3; k++) {
        mover->at[k] = cell->centre[k] - region->centre[k];
        mover->v[k] = force->motion[c].v[k] - region->v[k];
    }
    mover->mass = cell->mass;
    mover->radius = cell->radius;
    mover->speed = force->motion[c].speed;
    mover->moments = tree_moments_of(force->tree, (size_t)c);
    mover->rates = force->rate + (size_t)c * force->tree->moments * size;
}

static struct gpunb_regular_targets group_of(const struct walk *w, const struct region *region)
{
    return (struct gpunb_regular_targets){.block = w->force->block,
                                          .target = targets_in(w, region->run),
                                          .place = w->space->place,
                                          .n = (size_t)region->run->count,
                                          .thread = w->thread};
}

static void sum_pairs(struct walk *w, const struct region *region)
{
    struct tree_regular_space *space = w->space;
    struct gpunb_regular_pile *pile = &space->pile;
    if (pile->n == 0) return;
    const double begin = nbc_wtime();
    const struct gpunb_regular_targets targets = group_of(w, region);
    w->force->tree->use->method->regular->add_pairs(w->force->state, &targets, pile);
    space->counts.seconds[GPUNB_TREE_PAIRS] += nbc_wtime() - begin;
    space->counts.listed_bodies += pile->bodies;
    space->counts.pair_terms += pile->bodies * targets.n;
    pile->n = pile->bodies = 0;
}

static void pile_bodies(struct walk *w, const struct region *region, int32_t c)
{
    const struct tree_cell *cell = &w->force->tree->cells.cell[c];
    struct gpunb_regular_pile *pile = &w->space->pile;
    for (int32_t first = cell->first, end = cell->first + cell->count; first < end;) {
        const int32_t room = (int32_t)(TREE_PILE - pile->bodies);
        const size_t last = pile->n - 1;
        if (room == 0) {
            sum_pairs(w, region);
            continue;
        }
        const int32_t count = end - first < room ? end - first : room;
        if (pile->n > 0 && pile->range[last].first + pile->range[last].count == first) {
            pile->range[last].count += count;
        } else {
            if (pile->n == TREE_RANGES) sum_pairs(w, region);
            pile->range[pile->n].first = first;
            pile->range[pile->n++].count = count;
        }
        pile->bodies += (size_t)count;
        first += count;
    }
}

/* ---- the walk */

/* A cell, or its parts: it acts on the region, is summed by its bodies, or is left to the parts of the region, onto
 * whose list it goes.   @return 0: that has no room */
static int visit_cell(struct walk *w, const struct region *region, int32_t top, int32_t *list, int32_t *n, int32_t room)
{
    const struct gpunb_tree *tree = w->force->tree;
    int32_t stack[STACK];
    int depth = 1;
    stack[0] = top;
    while (depth > 0) {
        const int32_t c = stack[--depth];
        const struct tree_node *cell = &tree->node[c];
        w->space->counts.tests++;
        const int is_empty = !(cell->mass > 0), accepted = (is_empty || acts(w, region, c)) && is_apart(w, region, c);
        if (accepted && is_empty) continue;
        if (accepted && (!region->is_group || (int64_t)cell->count * region->run->count > WORTH_AN_EXPANSION)) {
            pile_mover(w, region, c);
        } else if (region->is_group && (accepted || cell->n_child == 0)) {
            pile_bodies(w, region, c);
        } else if (cell->n_child == 0 || (!region->is_group && (double)cell->radius < region->reach)) {
            if (*n == room) return 0;
            list[(*n)++] = c;
        } else {
            for (int p = cell->n_child - 1; p >= 0; p--) stack[depth++] = cell->child + p;
        }
    }
    return 1;
}

static void end_group(struct walk *w, const struct region *region)
{
    const struct tree_regular_force *force = w->force;
    const struct gpunb_regular_targets targets = group_of(w, region);
    for (size_t i = 0; i < targets.n; i++) {
        double y[3], u[3];
        struct gpunb_sum *sum = &w->space->sum[i];
        for (int k = 0; k < 3; k++) {
            y[k] = force->x[targets.target[i]][k] - region->centre[k];
            u[k] = force->block->v[targets.target[i]][k] - region->v[k];
        }
        memset(sum, 0, sizeof *sum);
        tree_add_field(region->field, region->unit, y, u, sum);
    }
    force->tree->use->method->regular->end_targets(force->state, &targets, w->space->sum);
    w->space->counts.groups++;
    w->space->counts.targets += targets.n;
}

static void begin_group(struct walk *w, const struct region *region)
{
    const struct tree_regular_force *force = w->force;
    const struct gpunb_regular_targets targets = group_of(w, region);
    for (size_t i = 0; i < targets.n; i++) {
        const int32_t self = force->block->self ? force->block->self[targets.target[i]] : -1;
        w->space->place[i] = self < 0 ? -1 : force->tree->place[self];
    }
    w->space->pile.n = w->space->pile.bodies = 0;
    force->tree->use->method->regular->begin_targets(force->state, &targets);
}

/* The expansion of a region begins with that of the one around it. */
static void begin_field(struct region *region, const struct region *around)
{
    double u[3], v[3];
    if (!around) {
        memset(region->field, 0, sizeof *region->field);
        return;
    }
    for (int k = 0; k < 3; k++) {
        u[k] = (region->centre[k] - around->centre[k]) / around->unit;
        v[k] = region->v[k] - around->v[k];
    }
    tree_shift_field(around->field, u, v, region->unit / around->unit, region->field);
}

static void walk_region(struct walk *w, const struct tree_run *run, const struct region *around, int level,
                        const int32_t *list, int32_t n);

static void walk_parts(struct walk *w, const struct tree_run *run, const struct region *around, int level,
                       const int32_t *list, int32_t n)
{
    const struct tree_groups *groups = w->force->groups;
    const int32_t eighth = run->count / DIVIDE, most = eighth > w->group ? eighth : w->group;
    struct tree_run part;
    for (int32_t at = 0; next_part(groups, run, most, &at, &part);) walk_region(w, &part, around, level, list, n);
}

/* Bodies in one point, and others of a leaf that has more targets than a group. */
static void walk_pieces(struct walk *w, const struct tree_run *run, const struct region *around, int level,
                        const int32_t *list, int32_t n)
{
    for (int32_t done = 0; done < run->count; done += w->group) {
        struct tree_run piece = *run;
        piece.first += done;
        piece.count = run->count - done < w->group ? run->count - done : w->group;
        walk_region(w, &piece, around, level, list, n);
    }
}

/* Cells of the list that act on a region go to its expansion. If levels or lists have no more room, the parts of the
 * region have those of the region around it. */
static void walk_region(struct walk *w, const struct tree_run *run, const struct region *around, int level,
                        const int32_t *list, int32_t n)
{
    struct tree_regular_space *space = w->space;
    struct region region = {.run = run, .is_group = run->count <= w->group};
    int32_t *own = space->list + (list + n - space->list), n_own = 0; /* behind the list that it is given */
    const int32_t room = (int32_t)(space->list + TREE_LIST_ROOM - own);
    int fits = 1;
    if (!region.is_group && !has_parts(w->force->groups, run)) {
        walk_pieces(w, run, around, level, list, n);
        return;
    }
    if (!region.is_group && level == TREE_REGIONS - 1) {
        walk_parts(w, run, around, level, list, n);
        return;
    }
    bound_places(w, &region);
    bound_motion(w, &region);
    set_scale(w, &region, around);
    region.unit = unit_of(w->force->tree, &region);
    region.field = &space->field[level];
    begin_field(&region, around);
    if (region.is_group) begin_group(w, &region);
    for (int32_t k = 0; k < n && fits; k++) fits = visit_cell(w, &region, list[k], own, &n_own, room);
    sum_movers(w, &region);
    if (region.is_group) {
        sum_pairs(w, &region);
        end_group(w, &region);
    } else if (fits) {
        walk_parts(w, run, &region, level + 1, own, n_own);
    } else {
        walk_parts(w, run, around, level, list, n);
    }
}

void tree_walk_run(const struct tree_regular_force *force, struct tree_regular_space *space, const struct tree_run *run,
                   int thread)
{
    struct walk w = {.force = force, .space = space, .group = force->tree->use->sizes.group, .thread = thread};
    const double begin = nbc_wtime();
    const double before = space->counts.seconds[GPUNB_TREE_CELLS] + space->counts.seconds[GPUNB_TREE_PAIRS];
    space->list[0] = 0;
    walk_region(&w, run, NULL, 0, space->list, 1);
    space->counts.seconds[GPUNB_TREE_LISTS] +=
        nbc_wtime() - begin -
        (space->counts.seconds[GPUNB_TREE_CELLS] + space->counts.seconds[GPUNB_TREE_PAIRS] - before);
}
