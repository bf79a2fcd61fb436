/** Collisionless systems: softened forces by direct sums or by a tree, and a leapfrog with shared or block steps.
 *
 *  Force: gpunb_softened (gpunb.h), the sum of Miki, Takahashi & Mori 2013, Comput. Phys. Commun. 184, 2159, eq. 1;
 * with options for a tree it is made within their aim. The accelerations of the last step are the scale of the aim; at
 * t = 0 there are none, and a force by angle comes first. Integrator: kick, drift, kick, second order. A step of length
 * h that begins at t is v += a(t) h/2,   x += v h,   v += a(t + h) h/2. Shared steps: all bodies have one constant
 * step. With direct sums the map is then symplectic, reversible in time up to rounding, and conserves momentum as well
 * as the forces add up to zero; with a tree none of this is exact, since its forces depend on the last ones, and two
 * bodies do not act on each other with the same error. Block steps (Springel 2005, MNRAS 364, 1105, Sec. 4): a body's
 * step is 2^k ticks, begins at a multiple of itself, and is the longest of these not longer than eta sqrt(epsilon/|a|);
 * with his tolerance, eta = sqrt(2 ErrTolIntAccuracy) of his eq. 34. All bodies drift to each block time, those whose
 * step ends there are kicked. Bodies between their kicks are at x0 + v s, off by a s (h - s)/2, which keeps the second
 * order; energy and momentum have errors of that order then. Steps become shorter at once, and longer by a factor of 2
 * where the longer one divides the time.
 *
 *  Units: N-body (G = 1). The same calls on the same backend give the same bits for any number of threads. One call per
 *  system at a time. */
#ifndef NB6_COLLISIONLESS_H
#define NB6_COLLISIONLESS_H

#include "common/nbc.h"
#include "gpunb/gpunb.h"
#include "gpunb/tree.h"
#include "gpunb/tree/costs.h"
#include "nbody6/collisionless/kept_tree.h"
#include "nbody6/collisionless/rebuild.h"
#include "nbody6/state/body.h"
#include "nbody6/state/body_rows.h"

#include <stdint.h>

struct nb6_exchange;
struct nb6_frame;
struct nb6_moves;
struct nb6_owners;
struct nb6_rank_trees;
struct nb6_rank_part;
struct nb6_ranks;
struct nb6_resident;
struct nb6_sections;
struct nb6_world;

enum nb6_collisionless_steps {
    NB6_COLLISIONLESS_SHARED = 0, /**< one constant step for all */
    NB6_COLLISIONLESS_BLOCK = 1   /**< a step for each body, by its acceleration */
};

/** Where bodies are between two calls. */
enum nb6_collisionless_engine {
    NB6_COLLISIONLESS_AUTO = 0,    /**< where it is fastest */
    NB6_COLLISIONLESS_HOST = 1,    /**< in memory: all positions are sent for each force */
    NB6_COLLISIONLESS_DEVICE = 2,  /**< on the GPUs that make the forces */
    NB6_COLLISIONLESS_EMULATED = 3 /**< in memory that emulates devices, for tests */
};

enum { NB6_MOST_REUSE = 64 };

struct nb6_collisionless_options {
    double softening;                   /**< epsilon, 1e-15 to 1e15 */
    double dt;                          /**< the shared step, or the longest: cut to a power of two */
    enum nb6_collisionless_steps steps; /**< shared or block */
    double eta;                         /**< > 0: accuracy of block steps; shared steps do without */
    struct gpunb_options force;         /**< backend and precision of the forces, and their tree */
    enum nb6_collisionless_engine engine;
    int parts;                         /**< of the bodies, of an emulation: 1 to 64; 0: one */
    int reuse;                         /**< longest steps that a tree serves, 1 to NB6_MOST_REUSE; 0: one */
    char costs[GPUNB_TREE_COSTS_TEXT]; /**< `costs` of struct gpunb_options, where force.costs is not read; "": NULL */
    struct nb6_world *world; /**< ranks that the bodies are divided among (ranks/ranks.h); NULL: one. Rank 0 makes the
                                  system, the others serve it (nb6_ranks_serve) */
    const struct nb6_body_source *bodies; /**< on several ranks: gives the bodies in pieces; NULL: the arrays have
                                               them */
    size_t room;                          /**< bytes for sources of other ranks (ranks/exchange.h); 0: the default */
};

/** A system and how far it has come. After nb6_collisionless_create, nb6_collisionless_resume and
 * nb6_collisionless_home the arrays are those of its time, until the next call of nb6_collisionless_evolve. On several
 * ranks there are none: nb6_collisionless_rows has what they would. */
struct nb6_collisionless {
    int64_t n;
    int64_t *name;         /**< [n] */
    double *mass;          /**< [n] */
    double (*x0)[3];       /**< [n] where the body's step began */
    double (*v)[3];        /**< [n] at ti_now where the step begins there; otherwise after the step's first kick */
    double (*acc)[3];      /**< [n] where the step began */
    int8_t *level;         /**< [n] the step is 2^level ticks and began at a multiple of that */
    nb6_time ti_now;       /**< the last block time */
    double softening, eta; /**< as asked for */
    struct gpunb_options options;      /**< of the forces, as asked for, with backend and costs in use */
    char costs[GPUNB_TREE_COSTS_TEXT]; /**< nominal costs of its tree; "": it has none */
    int max_level;                     /**< of the shared or the longest step */
    int block;                         /**< 1: block steps */
    uint64_t n_blocks;                 /**< since the start */
    uint64_t n_steps;                  /**< of bodies, since the start */
    int reuse;                         /**< longest steps that a tree serves; 1, and always by direct sums: one force */
    uint64_t build_block;              /**< n_blocks when the tree got its cells; NB6_NO_BUILD: it never has */
    struct nb6_rebuild rebuild;        /**< when it does next */
    struct nb6_kept_tree kept;         /**< that tree */
    gpunb_t *force;                    /**< its own */
    struct nb6_owners *owners;         /**< of bodies, as they are in memory (owners.h); NULL: they do not change */
    struct nb6_resident *resident;     /**< NULL: the state stays in memory */
    struct nb6_ranks *ranks;           /**< on rank 0 of several: they have the state, and scratch; NULL: one rank */
    struct nb6_sections *sections;     /**< domains that a system goes on with (nb6_collisionless_resume), or NULL */
    int64_t first;                     /**< of a share of such a system: number of its first body */
    struct nb6_world *world;           /**< of a share: all ranks; NULL: all bodies are here */
    struct nb6_exchange *exchange;     /**< of a share: direct sums over the bodies of all ranks; or */
    struct nb6_rank_trees *trees;      /**< forces by their trees: the share is a domain, `name` the numbers of its
                                            bodies in the whole, from 1 on, ascending */
    struct nb6_moves *moves;           /**< of a domain: for bodies that come and go */
    int64_t n_all, n_due_all;          /**< of a domain: bodies of all ranks; those that end a step in this block, */
    int shortest_all;                  /**< and the level of the shortest step that any of them is in; < 0: not known */
    uint64_t *work;                    /**< [room] of a domain: of forces by trees since all bodies ended a step
                                            together, in pairs */
    int64_t room;                      /**< of a domain: bodies that its arrays have room for */
    struct nb6_rank_part *rank_part;   /**< of a share: on a device; NULL: the state stays in memory */
    double (*x)[3];                    /**< [n] scratch: positions at the next block time */
    double (*v_half)[3];               /**< [n] scratch: velocities after the first kick */
    int32_t *due;                      /**< [n] scratch: bodies that end a step */
    double (*x_due)[3];                /**< [n] scratch: their positions */
    double (*acc_due)[3];              /**< [n] scratch: their new accelerations */
};

/** A system at t = 0.
 *  @param[in]  n  1 to INT32_MAX   @param[in] name [n] NULL: 1 to n; mass [n] >= 0; x, v [n][3]: copied; all NULL where
 *                 options->bodies gives them
 *  @param[out] system set on success only; to be freed with nb6_collisionless_free
 *  @return NBC_OK; NBC_BAD_ARGUMENT (n or an option out of range); NBC_NON_FINITE (names body and quantity);
 *          NBC_NO_MEMORY; NBC_UNAVAILABLE (backend, engine), NBC_DEVICE */
int nb6_collisionless_create(struct nb6_collisionless **system, int64_t n, const int64_t *name, const double *mass,
                             const double (*x)[3], const double (*v)[3],
                             const struct nb6_collisionless_options *options, struct nbc_error *err);
/** Backend, engine, settings and nominal costs of a system. */
struct nb6_collisionless_plan {
    const char *backend, *engine;   /**< names */
    double pair_ns;                 /**< nominal cost of a pair: of one thread, or a GPU */
    char costs[GPUNB_TREE_MACHINE]; /**< which nominal costs a tree has, in words; "": there is no tree */
    int gpus;                       /**< that make the forces; 0: processors do */
    struct gpunb_options force;     /**< as asked for; of a tree with the sizes and the order that it takes by itself */
    double pairs, pairs_by_tree;    /**< nominal cost of a force on all bodies (gpunb_softened_pairs), of all parts */
    double device_bytes; /**< memory of the device that needs most; 0: processors make the forces in memory */
    int reuse;           /**< longest steps that a tree serves, of which each bears its part of a build */
    int tree_is_worth;   /**< 1: forces on all bodies are made by the tree; 0: by direct sums */
};
/** The nominal costs of a system's forces, in words; "": it has no tree. */
void nb6_collisionless_describe_costs(const struct nb6_collisionless *system, char text[GPUNB_TREE_MACHINE]);
/** The plan of a system of n bodies, which is not made.
 *  @param[out] plan  set on success only
 *  @return as nb6_collisionless_create */
int nb6_collisionless_plan(int64_t n, const struct nb6_collisionless_options *options,
                           struct nb6_collisionless_plan *plan, struct nbc_error *err);
/** Continue a system from the state that it had between two calls of nb6_collisionless_evolve, with the same bits.
 *  @param[in] then  n, name, mass, x0, v, acc, level, ti_now, n_blocks, n_steps, reuse, build_block, rebuild, kept,
 *  sections, and owners of as many parts, are read, the arrays copied; all in host memory. If kept.has_places,
 *  options->bodies also gives the columns from NB6_ROWS_PLACE_RANK on
 *  @param[in] options  as those of the other one; with costs "" it has those of the other one, if the backend is the
 *  same
 *  @return as nb6_collisionless_create; NBC_BAD_ARGUMENT also if levels or time do not belong to the options */
int nb6_collisionless_resume(struct nb6_collisionless **system, const struct nb6_collisionless *then,
                             const struct nb6_collisionless_options *options, struct nbc_error *err);
void nb6_collisionless_free(struct nb6_collisionless *system);

/** Length of the shared or the longest step: options->dt cut to a power of two. */
double nb6_collisionless_longest_step(const struct nb6_collisionless *system);
double nb6_collisionless_time(const struct nb6_collisionless *system);

/** Integrate to time t, where all bodies end a step: a multiple of the longest step, so that no step depends on the
 *  times of output. The bits do not depend on how many calls lead to a time.
 *  @return NBC_OK; NBC_BAD_ARGUMENT (t is in the past, is no such multiple, or is above 2^22; a body is farther than
 *          GPUNB takes, 1e15); NBC_NON_FINITE (an acceleration, names the body); NBC_NO_MEMORY; NBC_DEVICE. After a
 *          failure the system is that after its last block, or, if the device that holds it fails, that of the last
 *          time its arrays were read. The call can be repeated. */
int nb6_collisionless_evolve(struct nb6_collisionless *system, double t, struct nbc_error *err);
/** The arrays of the system are those of its time.
 *  @return NBC_OK; NBC_DEVICE: the device that has them failed; the system is as it was when they were read last */
int nb6_collisionless_home(struct nb6_collisionless *system, struct nbc_error *err);
/** Names, masses, positions, velocities, accelerations and levels of its bodies, as nb6_collisionless_home left them: a
 *  system on several ranks has no arrays. */
struct nb6_body_rows nb6_collisionless_rows(struct nb6_collisionless *system);
/** Engine that holds the state: "host", "device", "emulated". */
const char *nb6_collisionless_engine_name(const struct nb6_collisionless *system);

/** Whether forces are made by a tree. */
int nb6_collisionless_has_tree(const struct nb6_collisionless *system);
/** Counts of the trees of all its handles together. */
void nb6_collisionless_tree_counts(const struct nb6_collisionless *system, struct gpunb_tree_counts *counts);

/** The frame that analysis and output read, at the time of the system: bodies with their accelerations and
 *  steps, and the softened potential if `options` has NB6_FRAME_POTENTIAL (analysis/frame.h). Half the sum of
 *  mass times potential is the potential energy: no body has a potential of its own. Names, masses, positions,
 *  velocities and accelerations are the arrays of the system: the frame holds until the next call of
 *  nb6_collisionless_evolve. Of a system on several ranks it has rows alone (frame.rows), and no arrays.
 *  @param[out] frame  set on success only; to be freed with nb6_frame_free, before the system
 *  @return NBC_OK; NBC_BAD_STATE (bodies are within their steps, after a call of nb6_collisionless_evolve that failed);
 *          NBC_NO_MEMORY; NBC_DEVICE */
int nb6_collisionless_frame(struct nb6_collisionless *system, int options, struct nb6_frame *frame,
                            struct nbc_error *err);

#endif
