/** Events of stars and of the run, and their observers. */
#ifndef NB6_EVENT_H
#define NB6_EVENT_H

#include "common/nbc.h"
#include "nbody6/state/energy_ledger.h"

#include <stdint.h>

typedef struct nb6_sim nb6_t;
struct nb6_adjust_row;

/** Something that happened to a star or to the run. */
enum nb6_event_kind {
    NB6_EVENT_ESCAPE,
    NB6_EVENT_ENERGY_JUMP,
    NB6_EVENT_FORCE_CHECK,
    NB6_EVENT_TREE_CHECK, /**< regular forces by tree against direct sums */
    NB6_EVENT_MERGER,     /**< two stars collided and are one */
    NB6_EVENT_PAIR_FORMED,
    NB6_EVENT_PAIR_ENDED,
    NB6_EVENT_CHAIN_FORMED,   /**< a pair and an intruder, or two pairs, became a chain */
    NB6_EVENT_CHAIN_JOINED,   /**< a body, with all its stars, joined a chain */
    NB6_EVENT_CHAIN_LEFT,     /**< a part left a chain that goes on */
    NB6_EVENT_CHAIN_ENDED,    /**< a chain came down to two stars, joined another one, or left the cluster */
    NB6_EVENT_BUSY,           /**< one pair or chain takes more than half of all the work of the run */
    NB6_EVENT_TOLERANCE,      /**< steps of a chain missed their tolerance by rounding; again at twice their number */
    NB6_EVENT_ENERGY_ESCAPED, /**< energy of all stars that left at an adjust; after the events of each */
    NB6_EVENT_STARS_CHANGED,  /**< a program added or removed stars (nb6_add_bodies, nb6_remove_bodies) */
    NB6_EVENT_MASSES_CHANGED, /**< a program changed masses or velocities of stars (nb6_set_masses) */
    NB6_EVENT_TYPE_CHANGE,    /**< a star that ages became of another type */
    NB6_EVENT_SUPERNOVA,      /**< the core of a star collapsed, or nothing of it was left */
    NB6_EVENT_REMNANT,        /**< a white dwarf, neutron star or black hole was born */
    NB6_EVENT_OVERFLOW,       /**< a star of a pair fills its Roche lobe */
    NB6_EVENT_CONTACT,        /**< two stars of a pair touch at pericentre */
    NB6_EVENT_PRODUCT,        /**< two stars that age have collided, and are one now */
    NB6_EVENT_STUCK           /**< one or two bodies alone were moved in 10^5 blocks in a row, while others wait */
};

/** Why a regularized pair was formed or ended. */
enum nb6_pair_reason {
    NB6_PAIR_ENCOUNTER,  /**< formed: two stars came close, and attract each other more than others do */
    NB6_PAIR_PRIMORDIAL, /**< formed: a binary of the initial model */
    NB6_PAIR_SEPARATED, /**< ended: the orbit is unbound or too wide (nb6_pair_stays_together), and the stars move apart
                         */
    NB6_PAIR_PERTURBED, /**< ended: not hard, and perturbed above GMAX outside the separation at formation */
    NB6_PAIR_DISSOLVED, /**< ended: others act on it nearly as strongly as its members on each other */
    NB6_PAIR_COLLISION, /**< ended: the softer of two pairs that collide, or a star is about to touch one outside */
    NB6_PAIR_ESCAPED,   /**< ended: both stars left the cluster */
    NB6_PAIR_CHAIN,     /**< formed: two stars that a chain left behind or gave up; ended: became part of a chain */
    NB6_PAIR_HIERARCHY, /**< formed: a pair on a stable orbit with a star or another pair was frozen as one member */
    NB6_PAIR_UNSTABLE,  /**< ended: a hierarchy that is not stable any more */
    NB6_PAIR_MERGED,    /**< ended: its stars collided and are one */
    NB6_PAIR_REMADE     /**< ended: stars were added or removed, and only pairs of two stars go on */
};

/** A regularized pair at formation or termination. */
struct nb6_event_pair {
    enum nb6_pair_reason reason;
    int64_t name[2];
    double mass[2];
    double a, e, period, r; /**< osculating elements, separation */
    double binding;         /**< energy of the relative motion, negative if bound */
    double gamma;           /**< perturbation now */
    double gamma_max;       /**< largest since formation */
    double t_formed;
    double energy_change; /**< change of the total energy by the event itself, booked in its channel */
    uint64_t ks_steps;    /**< steps of the relative motion since formation */
};

enum { NB6_CHAIN_STARS = 16 }; /**< stars that a chain may have */

/** A chain when it forms, changes or ends. */
struct nb6_event_chain {
    int n, most;                   /**< stars now, after the change, or before it for a chain that ends; most ever */
    int64_t name[NB6_CHAIN_STARS]; /**< of these stars */
    int n_moved;
    int64_t moved[NB6_CHAIN_STARS]; /**< stars that came or left */
    double binding;                 /**< internal energy */
    double error;                   /**< of the integration so far, in the internal energy */
    double size;                    /**< largest distance from the centre of mass */
    double a, period;               /**< of the tightest pair inside, the reason for many steps of a chain; 0: none */
    double t_formed;
    double energy_change;   /**< change of the total energy by the event itself, booked in its channel */
    uint64_t steps, forces; /**< of the integration since formation; evaluations of all accelerations */
    uint64_t unreached;     /**< steps that rounding kept from their tolerance */
    double worst_error;     /**< largest relative error of one of them */
};

/** Bodies that alone are moved, when this has gone on for long. */
struct nb6_event_stuck {
    int n;            /**< bodies, 1 or 2 */
    int64_t name[2];  /**< of a centre of mass: as in the event of its pair or chain */
    double step[2];   /**< irregular */
    double acc[2];    /**< magnitude of the acceleration */
    double change[2]; /**< by how much it changes in such a step: that of the jerk, times the step */
    double noise[2];  /**< bound on its rounding error: steps follow rounding where changes are not above it */
};

/** A star that ages after a change, two of them in a pair, or one that escapes. */
struct nb6_event_stellar {
    int kind; /**< enum stellar_event_kind */
    int type_before, type_after;
    double t_myr;                   /**< of the star's own clock: the run takes it up at the next block */
    double mass_before, mass_after; /**< Msun */
    double fallback, kick_kms[3];   /**< of stellar_event */
    double luminosity, temperature; /**< of an escaper: Lsun, K; it has radius[0] */
    int64_t name[2]; /**< of a pair: the star that overflows first; of two that became one: the one that goes on */
    int type[2];     /**< of a pair, or of two stars that became one */
    double mass[2];  /**< of these two, Msun */
    double radius[2], lobe[2], a, e; /**< of a pair: Rsun; the lobes at pericentre */
};

struct nb6_event {
    enum nb6_event_kind kind;
    enum nb6_channel channel; /**< of a pair or chain: which its energy_change is booked in */
    double t;
    int64_t name; /**< of the star, 0: of the run */
    int64_t gone; /**< merger: name of the star that is gone */
    /** Of an escaper: relative to the density centre; energy per unit mass. Of a merger: of the star that goes on, in
     * the frame of the run; energy that the relative motion had, as booked (less than 0 in the channel). Of all stars
     * that escaped at once: energy that they took, as booked. Of masses that changed: sum of the changes, angular
     * momentum about the origin, momentum, and energy that came, as booked. */
    double mass, x[3], v[3], energy;
    /** Energy jump: size relative to the energy of the cluster, tolerance. Force check: acc median, max, jerk median,
     * max. Tree check: acc median, 99 percent, jerk median, 99 percent. Merger: name, rounded, and mass of the star
     * that is gone, distance, radius of the one that goes on. Busy: forces between two bodies so far in the pair or
     * chain, their part of all of the run; `chain` describes a chain, `pair` a pair, chain.n being 0 then. Energy
     * escaped: part of it that was in relative motions; stars. Stars changed: numbers of added and removed ones;
     * `energy` is that added. Masses changed: number of stars, and 1 if suddenly; `name` is that of a star alone. */
    double value[4];
    int64_t targets, lists; /**< of a tree check: targets, and those whose list is not that of direct sums */
    struct nb6_event_pair
        pair; /**< of a formed or ended pair; x, v are of its centre of mass in the frame of the run */
    struct nb6_event_chain chain; /**< likewise */
    struct nb6_event_stuck stuck;
    struct nb6_event_stellar stellar;
};

/** Called by nb6_evolve. At one time: events of the energy and force checks, adjust, escape events, output. They report
 *  committed changes: escapers have left when `adjust` is called. A non-zero return ends nb6_evolve with that status,
 *  and no event is repeated when the run goes on. Any pointer may be NULL. */
struct nb6_observer {
    void *context;
    int (*event)(void *context, nb6_t *sim, const struct nb6_event *event, struct nbc_error *err);
    int (*adjust)(void *context, nb6_t *sim, const struct nb6_adjust_row *row,
                  struct nbc_error *err);                            /**< at multiples of dt_adjust */
    int (*output)(void *context, nb6_t *sim, struct nbc_error *err); /**< at multiples of dt_output */
    int (*poll)(void *context, nb6_t *sim, int *stop,
                struct nbc_error *err); /**< after every block step, and within one while pairs and chains take long;
                                             set *stop to end evolve early */
};

/** Notify the observer of a simulation, if it has one for events; within a transaction (transaction.h), after its
 *  commit.   @return NBC_OK; NBC_NO_MEMORY; the status of the observer */
int nb6_event_raise(nb6_t *sim, const struct nb6_event *event, struct nbc_error *err);

#endif
