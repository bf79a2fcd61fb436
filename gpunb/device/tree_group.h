/** The targets of a team: where they are, what they are to each other, and the scale of the forces on them. */
#ifndef GPUNB_DEVICE_TREE_GROUP_H
#define GPUNB_DEVICE_TREE_GROUP_H

#ifndef TREE_TEAM
#define TREE_TEAM 128 /* a block of threads */
#endif
#include "gpunb/device/tree_steps.h"
#include "gpunb/tree/lanes.h"

enum {
    TREE_STACK = 20 * TREE_TEAM,
    TREE_PILE = 2 * TREE_TEAM,           /* bodies that are summed together; */
    TREE_NEAR_PILE = TREE_TEAM,          /* and near ones */
    TREE_TERM_FLOATS = 8 * TREE_TEAM,    /* of coefficients of cells that are summed together */
    TREE_TERM_PILE = TREE_TEAM,          /* and the most of these cells */
    TREE_TERM_ROOM = 2 * TREE_TERM_PILE, /* those that may wait */
    TREE_WALK_SUMS = 4,
    TREE_LOCAL_PILE = 8 * TREE_TEAM, /* cells that are summed together for the expansion of a region, */
    TREE_LOCAL_WAIT = 9 * TREE_TEAM, /* and those that may wait */
    TREE_LOCAL_FLOATS = 32,          /* of the moments of a cell that are in memory at a time, */
    TREE_LOCAL_ROW = 36              /* and their distance: lanes that read theirs four by four do not collide */
};

/* A run of targets is two groups if they are farther apart than this part of their box's diagonal. */
#define TREE_WIDE 0.85

/* A list so many times as long as usual ones is left for smaller groups; those of a sample end at so many bodies. */
enum { TREE_TIMES_AS_LONG = 3, TREE_SAMPLED_MOST = 1 << 20 };

/** Memory of a team: of a group, or of a region. */
struct tree_walk_memory {
    union {
        struct {
            NBC_ALIGNED(16) float far[TREE_PILE][4];       /* x - centre, m */
            NBC_ALIGNED(16) float near[TREE_NEAR_PILE][4]; /* the same; */
            NBC_ALIGNED(16) float low[TREE_NEAR_PILE][4];  /* what x - centre was rounded by; the place */
            NBC_ALIGNED(16) float head[TREE_TERM_PILE][4]; /* centre of the cell - centre, mass */
            NBC_ALIGNED(16) float coefficient[TREE_TERM_FLOATS];
            NBC_ALIGNED(16) float target_low[TREE_TEAM][4]; /* as low, of the target of each lane */
            double sum[TREE_TEAM][TREE_WALK_SUMS];          /* of each lane */
            float radius[TREE_TERM_PILE];
            float local[TREE_MOST_LOCALS]; /* the expansion of the region */
        };
        struct {
            NBC_ALIGNED(16) float moment[TREE_TEAM][TREE_LOCAL_ROW]; /* of the cell of each lane; */
            int32_t cell[TREE_LOCAL_WAIT];                           /* those that act on the region as a whole */
            double local_sum[TREE_MOST_LOCALS];                      /* their expansion about its centre */
            float of_warp[TREE_WARPS][TREE_MOST_LOCALS];             /* what warps have summed */
        };
    };
    int32_t stack[TREE_STACK];
    int32_t term[TREE_TERM_ROOM];
    int32_t first[TREE_TEAM], before[TREE_TEAM]; /* bodies of cells on the way to a pile */
};

/** A group being walked for; all lanes have the same. */
struct tree_group_walk {
    const struct device_tree_walk *job;
    struct tree_walk_memory *memory;
    const struct device_tree_region *region; /* NULL: none that is of use */
    double centre[3];
    float half[3], radius; /* half: of the size of their box */
    float coarse2, softening2;
    float scale;       /* scale^2/sum of the group, for a mass of 1 */
    float part;        /* the least scale over the sum of the sizes of all terms */
    int32_t low, high; /* own places of its targets; low > high: they do not matter */
    int n, row, bits;  /* targets; lanes before the next one of the same target: 2^bits */
    int share, piles;  /* of the list; piles that were met */
    int n_far, n_near, n_terms;
    unsigned tests, listed_cells, listed_bodies;
    unsigned limit; /* of the list, in bodies */
};

/** A lane takes a cell as one of these. */
enum tree_kind { TREE_NOTHING, TREE_LOCAL, TREE_TERM, TREE_FAR, TREE_NEAR, TREE_OPEN };
struct tree_slot {
    int32_t cell, kind, first, count, child, n_child;
};

TREE_FN int tree_leaves_out(const struct device_tree_walk *job)
{
    return job->pot && job->self;
}

TREE_FN int32_t tree_target_at(const struct device_tree_walk *job, int32_t place)
{
    return job->order[place];
}

TREE_FN double tree_target_x(const struct device_tree_walk *job, int32_t target, int k)
{
    return softened_rounded(job->x[target][k], job->rounded);
}

/* ---- boxes */

TREE_FN void tree_bound_group(struct tree_group_walk *w, int32_t first, int count)
{
    const struct device_tree_walk *job = w->job;
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, r2 = 0;
    TREE_EACH_ROLLED(i, count)
    {
        const int32_t t = tree_target_at(job, first + i);
        for (int k = 0; k < 3; k++) {
            const double x = tree_target_x(job, t, k);
            low[k] = fmin(low[k], x);
            high[k] = fmax(high[k], x);
        }
    }
    for (int k = 0; k < 3; k++) {
        low[k] = tree_lanes_min(low[k]);
        high[k] = tree_lanes_max(high[k]);
        w->centre[k] = 0.5 * low[k] + 0.5 * high[k];
        const double half = fmax(w->centre[k] - low[k], high[k] - w->centre[k]);
        w->half[k] = (float)half;
        r2 += half * half;
    }
    const double radius = sqrt(r2), coarse = radius * job->nearest;
    w->radius = (float)radius;
    w->coarse2 = (float)(coarse * coarse);
    w->softening2 = job->rule.softening2;
}

/* Where a run of targets becomes two groups: between those that are far apart, or in its middle if some are so near to
 * each other, and feel it, that positions in so wide a group do not tell their distance.   @return 0: nowhere */
TREE_FN int tree_cut_group(const struct tree_group_walk *w, int32_t first, int count)
{
    const struct device_tree_walk *job = w->job;
    const double wide = TREE_WIDE * 2 * (double)w->radius, resolved = TREE_RESOLVED * (double)w->radius;
    double most = 0, place = 0;
    int32_t torn[TREE_OWN] = {0};
    if (count == 1 || w->radius == 0) return 0;
    TREE_EACH_ROLLED(i, count - 1)
    {
        const int32_t a = tree_target_at(job, first + i), b = tree_target_at(job, first + i + 1);
        double r2 = 0;
        for (int k = 0; k < 3; k++) {
            const double d = tree_target_x(job, b, k) - tree_target_x(job, a, k);
            r2 += d * d;
        }
        torn[0] |= r2 > 0 && r2 < resolved * resolved && job->softening <= resolved;
        if (r2 > most) {
            most = r2;
            place = i + 1;
        }
    }
    const double largest = tree_lanes_max(most);
    if (largest > wide * wide) return (int)tree_lanes_min(most == largest ? place : (double)count);
    return tree_lanes_any(torn) ? count / 2 : 0;
}

/* The places that hold the sources that targets are, of the whole group. */
TREE_FN void tree_find_places(struct tree_group_walk *w, int32_t first, int count)
{
    const struct device_tree_walk *job = w->job;
    double low = INFINITY, high = -1;
    w->low = 0;
    w->high = -1;
    if (!tree_leaves_out(job)) return;
    TREE_EACH_ROLLED(i, count)
    {
        const int32_t self = job->self[tree_target_at(job, first + i)];
        if (self < 0) continue;
        low = fmin(low, (double)job->tree.place[self]);
        high = fmax(high, (double)job->tree.place[self]);
    }
    high = tree_lanes_max(high);
    low = tree_lanes_min(low);
    if (high < 0) return;
    w->high = (int32_t)high;
    w->low = (int32_t)low;
}

TREE_FN int tree_has_own(const struct tree_group_walk *w, int32_t first, int32_t count)
{
    return first <= w->high && first + count > w->low;
}

/* Square of the distance of a point from the box of the group. */
TREE_FN float tree_distance2(const struct tree_group_walk *w, const double x[3])
{
    float r2 = 0;
    for (int k = 0; k < 3; k++) {
        const float d = fabsf((float)(x[k] - w->centre[k])) - w->half[k];
        r2 += d > 0 ? d * d : 0;
    }
    return r2;
}

/* ---- the stack of cells */

/* Cells that lanes may take at a time, so that their parts have room; 0: one, whose parts have none. */
TREE_FN int tree_most_at_a_time(int depth)
{
    const int room = (TREE_STACK - depth) / (TREE_PARTS - 1), most = depth < TREE_TEAM ? depth : TREE_TEAM;
    return room < most ? room : most;
}

/* Each lane takes a cell from the stack.   @return how many */
TREE_FN int tree_pop(const struct tree_group_walk *w, int n, int *depth, struct tree_slot slot[TREE_OWN])
{
    tree_sync();
    TREE_UNROLL
    for (int l = 0; l < TREE_OWN; l++) {
        slot[l].kind = TREE_NOTHING;
        slot[l].n_child = 0;
        if (TREE_LANE_OF(l) < n) slot[l].cell = w->memory->stack[*depth - 1 - TREE_LANE_OF(l)];
    }
    *depth -= n;
    tree_sync();
    return n;
}

/* Counts of the finds of all lanes: of those before each, and in all. */
struct tree_found {
    int32_t parts[TREE_OWN], locals[TREE_OWN], terms[TREE_OWN], far[TREE_OWN], near[TREE_OWN];
    int32_t all_parts, all_locals, all_terms, all_far, all_near;
};

/* Parts of the cells that are opened, at most eight a lane; cells that act as a whole; bodies of others. */
TREE_FN void tree_count_found(const struct tree_slot slot[TREE_OWN], struct tree_found *found)
{
    uint32_t few[TREE_OWN], all_few;
    uint64_t many[TREE_OWN], all_many;
    TREE_UNROLL
    for (int l = 0; l < TREE_OWN; l++) {
        const int kind = slot[l].kind;
        few[l] = kind == TREE_OPEN    ? (uint32_t)slot[l].n_child
                 : kind == TREE_LOCAL ? 1u << 12
                 : kind == TREE_TERM  ? 1u << 22
                                      : 0;
        many[l] = kind == TREE_FAR ? (uint64_t)slot[l].count : kind == TREE_NEAR ? (uint64_t)slot[l].count << 32 : 0;
    }
    tree_lanes_before_both(few, many, &all_few, &all_many);
    TREE_UNROLL
    for (int l = 0; l < TREE_OWN; l++) {
        found->parts[l] = (int32_t)(few[l] & 0xfff);
        found->locals[l] = (int32_t)(few[l] >> 12 & 0x3ff);
        found->terms[l] = (int32_t)(few[l] >> 22);
        found->far[l] = (int32_t)(many[l] & 0xffffffffu);
        found->near[l] = (int32_t)(many[l] >> 32);
    }
    found->all_parts = (int32_t)(all_few & 0xfff);
    found->all_locals = (int32_t)(all_few >> 12 & 0x3ff);
    found->all_terms = (int32_t)(all_few >> 22);
    found->all_far = (int32_t)(all_many & 0xffffffffu);
    found->all_near = (int32_t)(all_many >> 32);
}

/* The parts of the cells that lanes have opened go onto the stack. */
TREE_FN void tree_push_parts(const struct tree_group_walk *w, const struct tree_slot slot[TREE_OWN],
                             const struct tree_found *found, int *depth)
{
    TREE_UNROLL
    for (int l = 0; l < TREE_OWN; l++) {
        const int parts = slot[l].kind == TREE_OPEN ? slot[l].n_child : 0;
        for (int p = 0; p < parts; p++) w->memory->stack[*depth + found->parts[l] + p] = slot[l].child + parts - 1 - p;
    }
    *depth += found->all_parts;
}

/* ---- the scale of the forces on a group */

/* The size of a term at the centre of the group, mass r/R^3; what is nearer than the group is large counts as at this
 * distance. */
TREE_FN float tree_size_of_term(const struct tree_group_walk *w, const struct tree_node *cell)
{
    float r2 = cell->radius * cell->radius + w->radius * w->radius;
    if (!(cell->mass > 0)) return 0;
    for (int k = 0; k < 3; k++) {
        const float d = (float)(cell->centre[k] - w->centre[k]);
        r2 += d * d;
    }
    const float inverse = nbc_inverse_root(r2 + w->softening2);
    return cell->mass * nbc_quick_root(r2) * inverse * inverse * inverse;
}

/* Whether it is too large for that. */
TREE_FN int tree_is_to_open(const struct tree_group_walk *w, const struct tree_node *cell)
{
    float r2 = w->softening2;
    for (int k = 0; k < 3; k++) {
        const float d = (float)(cell->centre[k] - w->centre[k]);
        r2 += d * d;
    }
    return cell->mass > 0 && cell->n_child > 0 && !(cell->radius * cell->radius < TREE_SCALE_THETA2 * r2);
}

/* The cells that the region has left. */
TREE_FN const int32_t *tree_left_of(const struct tree_group_walk *w)
{
    return w->job->region_cell + (w->region - w->job->region) * DEVICE_TREE_REGION_CELLS;
}

/* The cells that a walk begins with.   @return how many */
TREE_FN int tree_first_cells(const struct tree_group_walk *w)
{
    const struct device_tree_region *region = w->region;
    if (!region) {
        if (TREE_OWN_LANE == 0) w->memory->stack[0] = 0;
        return 1;
    }
    const int32_t *cell = tree_left_of(w);
    TREE_EACH(i, region->n) w->memory->stack[i] = cell[i];
    return region->n;
}

/* The cells that a region has left are small beside their distance from most of its groups: none is opened. */
TREE_FN double tree_sum_of_left(const struct tree_group_walk *w)
{
    const struct tree_node *nodes = w->job->tree.view.node;
    const int32_t *left = tree_left_of(w);
    double sum = 0;
    TREE_EACH_ROLLED(i, w->region->n) sum += (double)tree_size_of_term(w, &nodes[left[i]]);
    return tree_lanes_sum(sum) * w->job->tree.view.cell[0].mass + w->region->sum;
}

TREE_FN double tree_sum_of_sizes(const struct tree_group_walk *w)
{
    const struct device_tree *tree = &w->job->tree;
    struct tree_slot slot[TREE_OWN];
    struct tree_found found;
    int depth = tree_first_cells(w);
    double sum = 0;
    while (depth > 0) {
        const int most = tree_most_at_a_time(depth), n = tree_pop(w, most > 0 ? most : 1, &depth, slot);
        TREE_UNROLL
        for (int l = 0; l < TREE_OWN; l++) {
            if (TREE_LANE_OF(l) >= n) continue;
            const struct tree_node cell = tree->view.node[slot[l].cell];
            const int is_open = most > 0 && tree_is_to_open(w, &cell);
            if (!is_open) sum += (double)tree_size_of_term(w, &cell);
            if (!is_open) continue;
            slot[l].kind = TREE_OPEN;
            slot[l].child = cell.child;
            slot[l].n_child = cell.n_child;
        }
        tree_count_found(slot, &found);
        tree_push_parts(w, slot, &found, &depth);
    }
    return tree_lanes_sum(sum) * tree->view.cell[0].mass;
}

/* The square of the least scale of a target over the sum of sizes, which is not below any |acc_last|. */
TREE_FN void tree_find_scale(struct tree_group_walk *w, int32_t first, int count)
{
    const struct device_tree_walk *job = w->job;
    double least2 = INFINITY, most2 = 0;
    w->scale = INFINITY;
    w->part = 0;
    if (!job->acc_last) return;
    TREE_EACH_ROLLED(i, count)
    {
        const double *a = job->acc_last[tree_target_at(job, first + i)];
        const double a2 = a[0] * a[0] + a[1] * a[1] + a[2] * a[2];
        least2 = fmin(least2, a2);
        most2 = fmax(most2, a2);
    }
    const double least = tree_lanes_min(least2), most = sqrt(tree_lanes_max(most2));
    const double sum = fmax(w->region ? tree_sum_of_left(w) : tree_sum_of_sizes(w), most);
    if (!(sum > 0)) return;
    w->scale = (float)(fmax(TREE_LEAST_SHARE * TREE_LEAST_SHARE * sum, least / sum) / job->tree.view.cell[0].mass);
    w->part = (float)fmax(TREE_LEAST_SHARE, sqrt(least) / sum);
}

#endif
