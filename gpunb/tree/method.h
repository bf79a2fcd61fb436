/** The tree of a handle, and what a backend brings to it: its sources, and the sums over lists. */
#ifndef GPUNB_TREE_METHOD_H
#define GPUNB_TREE_METHOD_H

#include "gpunb/backend.h"
#include "gpunb/tree.h"
#include "gpunb/tree/accept.h"
#include "gpunb/tree/costs.h"

/** Sums for each target of a list: acceleration, and sum of m/sqrt(r^2 + softening^2). */
enum { TREE_SUMS = 4 };

/** The targets of a group, as all lists see them: relative to the centre of the group, one array for each coordinate,
 *  filled with the last one to a multiple of TREE_LANES. */
enum { TREE_LANES = 16 };
struct gpunb_tree_targets {
    size_t n, room; /**< padded number; length of a row of `sum` */
    const double *x[3];
    double *sum[TREE_SUMS]; /**< added to */
    double softening2;
    int want_pot;
};

/** A cell as a term of a list. */
struct gpunb_tree_term {
    double at[3]; /**< its centre of mass from that of the group */
    double mass, radius;
    const void *numbers; /**< float, or double with `in_double`: for targets [tree_coefficients(order)] coefficients,
                            for the expansion of a group moments of ranks 2 and more */
};

/** Bodies of a list, relative to the centre of the group. */
struct gpunb_tree_bodies {
    size_t n;
    const double *x[3], *mass;
    int32_t first;      /**< the number of the first one, as `own` counts them */
    int is_near;        /**< 1: differences are those of two floats; 0: of positions rounded to float */
    const int32_t *own; /**< [targets] which of these bodies the target is, whose potential leaves it out; -1: none;
                             NULL: none at all */
};

/** The most cells and bodies of a call: what stays in the cache while targets pass by. */
enum { TREE_TERMS = 64, TREE_BODIES = 512 };

struct gpunb_softened_device;
struct gpunb_tree_use;
struct essential_measure;

/** The purpose of an essential tree (essential.h). */
struct essential_question {
    const struct essential_test *test;
    const struct gpunb_essential_box *node; /**< [nodes] as of essential_accepts_all */
    size_t nodes, boxes;
    int32_t worth; /**< bodies that cost as much as a term */
    int to, parts;
};

/** Trees in memory of a device. */
struct gpunb_tree_device {
    /** Build, or renew, a tree of the present sources; tree->kept is NULL before the first time.
     *  @return as gpunb_tree_build */
    int (*fill)(void *state, const struct gpunb_tree_use *use, struct gpunb_tree *tree, int is_new, double *seconds,
                struct nbc_error *err);
    /** A checked force, `self` by place. */
    int (*force)(void *state, const struct gpunb_tree *tree, const struct gpunb_softened_job *job, double *seconds,
                 struct nbc_error *err);
    void (*drop)(struct gpunb_tree *tree);
    void (*shape)(const struct gpunb_tree *tree, size_t *cells, int *depth, size_t *largest_leaf, size_t *bytes);
    /** Work since the handle was opened, onto *counts.   @return NBC_OK; NBC_DEVICE */
    int (*add_counts)(void *state, struct gpunb_tree_counts *counts, struct nbc_error *err);
    /** As gpunb_softened_device_kept_bytes. */
    int (*bytes)(void *state, const struct gpunb_tree_use *use, size_t n_i, size_t n_j, size_t *tree, size_t *work,
                 struct nbc_error *err);
    /** As gpunb_softened_device_begin and gpunb_softened_device by tree; where none is kept it lies in the scratch,
     *  before all else. */
    int (*begin)(void *state, const struct gpunb_tree_use *use, const struct gpunb_softened_device *job, void *stream,
                 struct nbc_error *err);
    int (*enqueue)(void *state, const struct gpunb_tree_use *use, const struct gpunb_softened_device *job, void *stream,
                   struct nbc_error *err);
    /** Memory of a tree of n sources. */
    int (*provide)(void *state, const struct gpunb_tree_use *use, struct gpunb_tree *tree, size_t n,
                   struct nbc_error *err);
    /** As gpunb_softened_device_renumber. */
    int (*renumber)(void *state, const struct gpunb_tree *tree, size_t first, void *stream, struct nbc_error *err);
    /** As gpunb_tree_get_layout. */
    int (*get_layout)(void *state, const struct gpunb_tree *tree, int32_t *order, uint8_t *cut, struct nbc_error *err);
    /** Order and cells of a tree, as gpunb_tree_restore.   @param[in] cells  as tree_layout_restore made them */
    int (*restore)(void *state, const struct gpunb_tree_use *use, struct gpunb_tree *tree,
                   const struct tree_cells *cells, struct nbc_error *err);
    /** Cells, moments and bodies of a tree, for the host to read (essential.h).   @return NBC_OK; NBC_NO_MEMORY;
     *  NBC_DEVICE */
    int (*fetch)(void *state, struct gpunb_tree *tree, struct nbc_error *err);
    /** In place of it, the top cell with its moments and the order of sources; and the targets of a force, which stay
     *  on the device for part_force.
     *  @param[out] measure  [*groups] of targets; stays until the tree is built anew   @return as fetch */
    int (*measure)(void *state, struct gpunb_tree *tree, const struct gpunb_softened_job *job,
                   const struct essential_measure **measure, size_t *groups, struct nbc_error *err);
    /** An essential tree.   @param[out] data  stays until the next one for this part   @param[in,out] tested  tests so
     *  far   @return as fetch */
    int (*give)(void *state, struct gpunb_tree *tree, const struct essential_question *question, const void **data,
                size_t *bytes, uint64_t *tested, struct nbc_error *err);
    /** One tree of the own one and of all that has come from other parts.
     *  @param[in]     local  the own one
     *  @param[in,out] whole  on the host: the cells of others, those above all trees, and the own tree as cell `own`,
     *                        whose parts are elsewhere; with moments, coefficients and the bodies of others, whose
     *                        places count from 0. It gets memory of the device for all */
    int (*join)(void *state, const struct gpunb_tree *local, struct gpunb_tree *whole, int32_t own,
                struct nbc_error *err);
    /** The force of a part by such a tree.
     *  @param[in]  is_first  1: that by angle which comes first
     *  @param[in]  is_there  1: `measure` has brought the targets
     *  @param[out] cost      [n_i] work of each target's list, in bodies; NULL: not wanted */
    int (*part_force)(void *state, const struct gpunb_tree *whole, const struct gpunb_softened_job *job, int is_first,
                      int is_there, uint32_t *cost, double *seconds, struct nbc_error *err);
};

/* ---- regular forces */

/** A cell that moves, as a term of the expansion of a region (moving.h). */
struct gpunb_tree_mover {
    double at[3], v[3]; /**< its centre of mass from that of the region, and its velocity in the region's frame */
    double mass, radius, speed;
    const void *moments, *rates; /**< of ranks 2 to TREE_MOST_LOCAL: float, or double with `in_double` */
};

/** Such an expansion: L_a unit^|a|, and its rate, dL_a/dt unit^(|a| + 1). */
struct gpunb_tree_field {
    _Alignas(64) double local[TREE_LOCAL_ROOM], rate[TREE_LOCAL_ROOM];
};

/** Sources, by place in the tree: ranges that ascend. */
enum { TREE_RANGES = 128, TREE_PILE = 1024 };
struct gpunb_regular_pile {
    size_t n, bodies;
    struct {
        int32_t first, count;
    } range[TREE_RANGES];
};

/** Targets of a group whose regular forces a thread makes. */
struct gpunb_regular_targets {
    const struct gpunb_block *block;
    const int32_t *target, *place; /**< [n] of the block; places in the tree, -1: no source */
    size_t n;
    int thread;
};

struct gpunb_sum;

/** Functions of a backend for regular forces by tree. */
struct gpunb_regular_method {
    /** Velocities of sources, as `read` of the tree. */
    void (*read_v)(const void *state, size_t first, size_t end, double (*v)[3]);
    /** The sources in the order of a tree, and memory for so many threads with groups of up to `most` targets.
     *  @param[in] number  [n] of the source at each place   @return NBC_OK; NBC_NO_MEMORY */
    int (*begin)(void *state, const int32_t *number, int threads, size_t most);
    void (*begin_targets)(void *state, const struct gpunb_regular_targets *targets);
    /** Pairs of all targets with all sources of a pile: neighbours go to lists, others to sums. */
    void (*add_pairs)(void *state, const struct gpunb_regular_targets *targets, const struct gpunb_regular_pile *pile);
    /** Results, with the sums of cells.   @param[in] sum  [n] */
    void (*end_targets)(void *state, const struct gpunb_regular_targets *targets, const struct gpunb_sum *sum);
};

struct gpunb_tree_method {
    const struct gpunb_tree_device *device; /**< NULL: trees are on the host, by the functions below */
    int in_double;                          /**< of coefficients */
    double least_error;                     /**< of force_error */
    /** Sources [first, end) by place, as they act: into mass [end - first], x [end - first][3]. */
    void (*read)(const void *state, size_t first, size_t end, double *mass, double (*x)[3]);
    /** A target as the backend keeps the source that stands there, so that their distance is exactly zero. */
    void (*round)(const void *state, const double x[3], double rounded[3]);
    void (*add_terms)(const struct gpunb_tree_targets *targets, int order, const struct gpunb_tree_term *term,
                      size_t n);
    void (*add_bodies)(const struct gpunb_tree_targets *targets, const struct gpunb_tree_bodies *bodies);
    /** Cells of an order onto the expansion of a group (local.h), [TREE_LOCAL_ROOM] L_a unit^|a|. */
    void (*add_locals)(const struct gpunb_tree_term *term, size_t n, int order, double unit, double softening2,
                       double *local);
    /** The field of an expansion onto the targets. */
    void (*add_field)(const struct gpunb_tree_targets *targets, double unit, const double *local);
    const struct gpunb_regular_method *regular; /**< NULL: regular forces are direct sums */
    /** Moving cells onto the expansion of a region. */
    void (*add_moving)(const struct gpunb_tree_mover *mover, size_t n, double unit, struct gpunb_tree_field *field);
};

struct tree_scratch;
struct tree_regular;

/** All in plain double. */
void gpunb_tree_add_terms(const struct gpunb_tree_targets *targets, int order, const struct gpunb_tree_term *term,
                          size_t n);
void gpunb_tree_add_bodies(const struct gpunb_tree_targets *targets, const struct gpunb_tree_bodies *bodies);
void gpunb_tree_add_locals(const struct gpunb_tree_term *term, size_t n, int order, double unit, double softening2,
                           double *local);
void gpunb_tree_add_field(const struct gpunb_tree_targets *targets, double unit, const double *local);
void gpunb_tree_add_moving(const struct gpunb_tree_mover *mover, size_t n, double unit, struct gpunb_tree_field *field);

/** Settings and counts of a handle for its trees; a handle for direct sums has none (NULL). */
struct gpunb_tree_use {
    const struct gpunb_tree_method *method;
    double force_error, theta;
    double aim; /**< force_error, or the one that is about as good as theta */
    struct gpunb_tree_sizes sizes;
    struct gpunb_tree_costs costs;
    int has_own_costs;           /**< 1: costs are those that the options had */
    int leaf_asked, group_asked; /**< 0: by itself */
    enum gpunb_walk walk;
    int always;     /**< 1: also where direct sums are cheaper */
    int32_t origin; /**< number from which on bodies of equal keys are counted */
    struct tree_scratch *scratch;
    uint64_t version; /**< of the present sources: rises when they change */
    struct gpunb_tree_counts counts;
    struct tree_regular *regular; /**< the tree of regular forces; NULL until there is one */
    void (*free_regular)(struct tree_regular *regular);
};

/** Targets from which on an expansion about a group saves more than it costs, on processors, and about regions on
 *  devices. */
enum { TREE_WORTH_AN_EXPANSION = 96, TREE_TARGETS_WORTH_REGIONS = 32768 };

/** Few targets have short groups on a device, so that there are as many teams as it holds; they share the lists of each
 *  then. */
static inline int tree_group_of_device(int group, size_t n_i)
{
    enum { LEAST_GROUP = 8, TEAMS_OF_A_DEVICE = 2048 };
    while (group > LEAST_GROUP && n_i / (size_t)group < TEAMS_OF_A_DEVICE) group /= 2;
    return group;
}

/** The aim for a term by order, in units of force_error. */
double gpunb_tree_term_aim(int order);
/** How the walks of a force accept cells, and those of the force by angle that comes first where no last one is known.
 */
struct tree_rule gpunb_tree_rule(const struct gpunb_tree_use *use, const struct gpunb_softened_job *job);
struct tree_rule gpunb_tree_first_rule(const struct gpunb_tree_use *use, const struct gpunb_softened_job *job);

/** @return NBC_OK; NBC_BAD_ARGUMENT: names the option that is out of range, or does not go with another */
int gpunb_tree_check_options(const struct gpunb_options *options, struct nbc_error *err);
/** Settings of a handle that has its backend.   @return NBC_OK; NBC_NO_MEMORY; NBC_BAD_ARGUMENT (an aim below the least
 *  of the backend) */
int gpunb_tree_open(gpunb_t *handle, const struct gpunb_options *options, struct nbc_error *err);
void gpunb_tree_close(gpunb_t *handle);
/** The sources have changed. */
void gpunb_tree_forget(gpunb_t *handle);
/** Whether the handle has a tree and sources.   @return NBC_OK; NBC_BAD_STATE */
int gpunb_tree_check_call(gpunb_t *handle, const char *call);
/** A tree of the present sources, or, with is_new = 0, the same cells as they are now.   @return as gpunb_tree_build */
int gpunb_tree_fill(gpunb_t *handle, gpunb_tree_t *tree, int is_new);
/** Whether a force can be made with this tree.   @return as gpunb_tree_force */
int gpunb_tree_check(gpunb_t *handle, const gpunb_tree_t *tree);
/** gpunb_softened_device_bytes, gpunb_softened_device_begin and gpunb_softened_device by tree, checked, of a backend
 *  whose trees are on a device. */
int gpunb_tree_device_bytes(gpunb_t *handle, size_t n_i, size_t n_j, size_t *bytes);
int gpunb_tree_device_begin(gpunb_t *handle, const struct gpunb_softened_device *job, void *stream);
int gpunb_tree_device_force(gpunb_t *handle, const struct gpunb_softened_device *job, void *stream);
/** Fill a tree on the host with the present sources; is_new: its cells too.   @return as gpunb_tree_build */
int gpunb_tree_fill_on_host(gpunb_t *handle, struct gpunb_tree *tree, int is_new);
/** A checked force, `self` by place; tree: NULL: one is built and dropped. */
int gpunb_tree_softened(gpunb_t *handle, gpunb_tree_t *tree, const struct gpunb_softened_job *job);

#endif
