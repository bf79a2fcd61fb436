/** Kinds of few-body systems: the operations on a system that do not depend on its members.
 *
 *  A system has a slot of the table of subsystems (state/subsystems.h): a centre of mass in the block step, perturbers,
 *  and a relative motion. Each kind has one const table of its own operations, in a file of its own: pairs/kind.c (two
 *  stars, KS), chains/kind.c (three and more), hierarchies/kind.c (a pair of which a member is a frozen pair).
 *  kinds.def lists them.
 *
 *  A kind makes steps of its own, in the order of time with the systems that it resolves and that resolve it, and is
 *  predicted at times between; or it advances on demand, to exactly the requested time. Slots hold motions of the first
 *  sort in motion.ks, of the second in motion.chain (nb6_goes_on_demand). */
#ifndef NB6_KIND_H
#define NB6_KIND_H

#include "common/nbc.h"
#include "nbody6/fewbody/remote.h"
#include "nbody6/state/body.h"
#include "nbody6/state/energy_ledger.h"
#include "nbody6/state/event.h"
#include "nbody6/state/subsystems.h"

#include <stdint.h>

struct nb6_decisions;
struct nb6_field;
struct nb6_parts;
struct nb6_sim;

/** Members of a system, or a few points, with memory of the caller. */
struct nb6_points {
    int64_t n;
    double *mass;
    double (*x)[3], (*v)[3]; /**< v: change of x in time, slow-down included */
};

struct nb6_kind {
    const char *name;         /**< "the NAME of stars 1 and 2": for messages */
    enum nb6_event_kind ends; /**< the event when a system of this kind ends as a whole */
    enum nb6_channel channel; /**< of the ledger: where the energy is booked that its formation, changes and end add */

    /* ---- traits */
    /** 1: two bodies in a KS motion, counted and told of as a pair; 0: more stars, whose motion is in the table of
     *  chains, counted and told of as a chain. */
    int is_pair;
    int can_freeze; /**< 1: it can be the inner orbit of a hierarchy */
    /** 1: a device engine makes steps of its centre of mass without the host while nothing acts on the relative motion,
     *  and decides nothing for the system before pair.t_check. 0: the host is asked in each of these steps. */
    int device_supports;

    /** Whether it takes a system of two bodies that has just formed; the last kind of the list that does has it. NULL:
     * it does not. */
    int (*takes)(const struct nb6_sim *sim, nb6_slot slot);

    /* ---- motion. The field is set for the slot; an advance pauses after field->left evaluations, sets field->paused,
     * and goes on with the same bits when it is called again. */
    /** As far as whole steps go until t; on demand: to exactly t. */
    int (*advance)(struct nb6_field *field, const struct nb6_motion *motion, nb6_slot slot, double t,
                   struct nbc_error *err);
    /** One step. NULL: goes on demand. */
    int (*step)(struct nb6_field *field, const struct nb6_motion *motion, nb6_slot slot, struct nbc_error *err);
    /** To exactly t. */
    int (*finish)(struct nb6_field *field, const struct nb6_motion *motion, nb6_slot slot, double t,
                  struct nbc_error *err);
    /** With a new list of perturbers, after finish. NULL: the motion goes on as it is. */
    int (*start)(struct nb6_field *field, const struct nb6_motion *motion, nb6_slot slot, struct nbc_error *err);
    /** Are the members of a system that advances on demand needed at block time t? */
    int (*is_needed)(const struct nb6_sim *sim, nb6_slot slot, nb6_time t);

    /* ---- present state */
    /** Append the members at time t, about a centre of mass at x, v.   @return NBC_NON_FINITE: no prediction for t */
    int (*points)(const struct nb6_subsystems *subsystems, const struct nb6_motion *motion, nb6_slot slot, double t,
                  const double x[3], const double v[3], struct nb6_points *to);
    /** Beyond which distance from its centre others feel the mean over its orbit: it turns many times while they pass.
     * NULL: it has no orbit. */
    struct nb6_mean_rule (*mean_rule)(const struct nb6_sim *sim, nb6_slot slot);
    /** Points with the masses and places of that mean. */
    int (*mean_parts)(const struct nb6_subsystems *subsystems, nb6_slot slot, struct nb6_parts *to);
    /** Internal energy. */
    double (*energy)(const struct nb6_subsystems *subsystems, const struct nb6_motion *motion, nb6_slot slot);
    /** Radius by which perturbers are chosen. */
    double (*reference_radius)(const struct nb6_sim *sim, nb6_slot slot);
    /** Size on which the tide of an intruder acts; 0: it cannot become part of a chain as it is. */
    double (*extent)(const struct nb6_sim *sim, nb6_slot slot);
    /** How wide it may still become, which its neighbour sphere has to allow for. */
    double (*room)(const struct nb6_sim *sim, nb6_slot slot);
    /** Longest irregular step of its centre of mass: a wide system must not grow unseen. */
    double (*step_limit)(const struct nb6_sim *sim, nb6_slot slot);

    /* ---- at the end of a block */
    /** Counters of the run, and the work of the slot. */
    void (*count_work)(struct nb6_sim *sim, nb6_slot slot);
    /** Commit the changes inside while it advanced. NULL: none can occur. */
    int (*publish)(struct nb6_sim *sim, nb6_slot slot, struct nbc_error *err);
    /** Whether it ends or changes with this block: sets pair.ending.   @return 1: its centre of mass joins the block */
    int (*look)(struct nb6_sim *sim, nb6_slot slot);
    /** After the block: what `look` has announced goes to the decisions, or is undone, where the block has brought that
     *  it has to wait. The slot is saved. */
    int (*decide)(struct nb6_sim *sim, nb6_slot slot, struct nb6_decisions *decisions, struct nbc_error *err);
    /** Systems of this kind that bodies of the last block come to are added to the decisions, after those of the kinds
     *  before it in the list. Asked while there are systems; NULL: pairs find it, and `takes` has it. */
    int (*search)(struct nb6_sim *sim, struct nb6_decisions *decisions, struct nbc_error *err);
    /** Fill in an event about it.   @param[in] reason  why a pair forms or ends; others have no use for it */
    void (*describe)(const struct nb6_sim *sim, nb6_slot slot, enum nb6_pair_reason reason, struct nb6_event *event);
    /** Report integrations that do not reach their tolerance. NULL: they always do. */
    int (*warn)(struct nb6_sim *sim, nb6_slot slot, struct nbc_error *err);
};

/** The kind of the system in a slot. */
const struct nb6_kind *nb6_kind_of(const struct nb6_subsystems *subsystems, nb6_slot slot);
/** The number of the kind that takes a system of two bodies. */
int32_t nb6_kind_that_takes(const struct nb6_sim *sim, nb6_slot slot);

/** Parts of a system at time t (relative to sim->ti_origin), which must not be far from the time of its state, as
 * shares of its mass about its centre.   @return NBC_OK; NBC_NON_FINITE: there is no prediction for t; one part is at
 * NaN then, so that no sum with it passes for a number */
int nb6_parts_of_slot(const struct nb6_subsystems *subsystems, const struct nb6_motion *motion, nb6_slot slot, double t,
                      struct nb6_parts *parts);
/** The same, in the mean over its orbit at the time of its state, or that of a remote pair; for bodies beyond the
 * distance of nb6_slot_mean_rule. */
int nb6_mean_parts_of_slot(const struct nb6_subsystems *subsystems, nb6_slot slot, struct nb6_parts *parts);
struct nb6_mean_rule nb6_slot_mean_rule(const struct nb6_sim *sim, nb6_slot slot);
double nb6_slot_energy(const struct nb6_subsystems *subsystems, const struct nb6_motion *motion, nb6_slot slot);
/** Radius of a pair or chain by which its perturbers are chosen. */
double nb6_slot_reference_radius(const struct nb6_sim *sim, nb6_slot slot);
double nb6_slot_step_limit(const struct nb6_sim *sim, nb6_slot slot);
/** Is its size fixed as long as it is unperturbed? Then it cannot come apart. */
int nb6_slot_stays(const struct nb6_sim *sim, nb6_slot slot);
/** Fill in an event about the system in a slot, with the channel that it books in. */
void nb6_slot_describe(const struct nb6_sim *sim, nb6_slot slot, enum nb6_pair_reason reason, struct nb6_event *event);

#endif
