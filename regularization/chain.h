/** Chain regularization of compact few-body systems: 2 to CHAIN_MAX bodies that meet at any distance, in any order.
 *
 *  Two formulations behind one interface, chosen by name:
 *    "chain"  KS-transformed chain vectors, time transformed by the Lagrangian (Mikkola & Aarseth 1993)
 *    "ar"     algorithmic regularization: logarithmic Hamiltonian and time-transformed leapfrog in chain vectors
 *             (Mikkola & Tanikawa 1999; Mikkola & Merritt 2008)
 *    "auto"   one of these, by the masses at hand
 *  all advanced by Bulirsch-Stoer extrapolation with control of order and step.
 *
 *  A system is a value: a plain struct without pointers, which may be copied, kept, written to a file and continued
 *  bit for bit. Nothing is global, any number of systems may be advanced by as many threads. Units: any with G = 1.
 *  Members are known by the identity that the caller gives them; their places in the arrays change when members come
 *  and go. */
#ifndef CHAIN_H
#define CHAIN_H

#include "common/nbc.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    CHAIN_MAX = 16, /**< members at most */
    CHAIN_LINKS = CHAIN_MAX - 1,
    CHAIN_PAIRS = CHAIN_MAX * (CHAIN_MAX - 1) / 2,
    CHAIN_VARS = 8 * CHAIN_LINKS + 8
};

/** CHAIN_METHOD_AUTO: one of the others, by the masses at hand, chosen again when members come and go. */
enum chain_method { CHAIN_METHOD_KS, CHAIN_METHOD_AR, CHAIN_METHOD_AUTO, CHAIN_METHODS };

/** Terms of the post-Newtonian expansion, to be added up. */
enum chain_pn { CHAIN_PN1 = 1, CHAIN_PN2 = 2, CHAIN_PN25 = 4 };

struct chain_options {
    int32_t method;    /**< enum chain_method */
    int32_t pn;        /**< sum of enum chain_pn; 0: Newtonian */
    double c_light;    /**< speed of light in the caller's units; needed with pn, else not used */
    double tolerance;  /**< error allowed in a step, relative to the size of each vector; 1e-15 to 1e-3; see
                          chain_advance */
    double slow;       /**< slow-down of tight pairs: largest relative perturbation times slow-down; 0: none */
    double slow_time;  /**< longest slowed period, for fields that change with time; 0: no bound but that of members */
    int64_t max_steps; /**< steps of one call of chain_advance, after which it returns CHAIN_STEPS; 0: no limit; may be
                            changed in chain.options between calls */
};

/** Defaults: method "auto", Newtonian, tolerance 1e-14, no slow-down, no limit of steps. */
void chain_options_init(struct chain_options *options);
/** The method of a name ("auto", "chain", "ar").
 *  @return NBC_OK; NBC_BAD_ARGUMENT (err lists the names) */
int chain_method_find(const char *name, int32_t *method, struct nbc_error *err);
/** Name of a method; NULL if there is none of this number. */
const char *chain_method_name(int32_t method);

/** A body as it comes and goes: position and velocity in the caller's inertial frame. */
struct chain_body {
    int64_t id;    /**< identity, unique in the system */
    double mass;   /**< > 0 */
    double radius; /**< >= 0; two bodies collide when their pericentre is within the sum of their radii */
    double x[3], v[3];
    double x_low[3]; /**< rounding error of x, 0 if unknown: the distance of two bodies that are close together, and
                          far from the origin, has digits that are not in x */
};

/** The system. Fields are for reading; the functions below change them. Zero-filled before chain_init. */
struct chain {
    struct chain_options options;
    int32_t n;                /**< members */
    int32_t method;           /**< in use: CHAIN_METHOD_KS or CHAIN_METHOD_AR */
    int32_t order[CHAIN_MAX]; /**< member at each place of the chain */
    int32_t column;           /**< order of the extrapolation that the next step tries */
    int32_t unused;           /**< 0: there are no bytes between the fields */
    int64_t id[CHAIN_MAX];
    double mass[CHAIN_MAX], radius[CHAIN_MAX];
    double kappa[CHAIN_LINKS];            /**< slow-down factor of each link of the chain, 1: none */
    double t, t_low;                      /**< time: the sum of both */
    double y[CHAIN_VARS];                 /**< variables of the formulation (chain_ks.c, chain_ar.c) */
    double y_low[CHAIN_VARS];             /**< rounding errors of y */
    double energy;                        /**< internal energy that the system should have */
    double step;                          /**< next step of the independent variable */
    double closest_r[CHAIN_PAIRS];        /**< closest approach of each pair so far: see chain_closest */
    double closest_t[CHAIN_PAIRS];        /**< and when it was */
    int64_t steps, rejected, evaluations; /**< work so far */
    int64_t switches;                     /**< times the chain was laid anew */
    int64_t unreached;                    /**< steps whose tolerance rounding did not let them reach */
    double worst_error;                   /**< largest error of one of them */
};

/** External accelerations at time t.
 *  @param[in]  mass,x  [n] members, in the order of chain.id; x relative to the centre of mass
 *  @param[in]  cm      position of the centre of mass; a caller that moves it itself uses its own instead
 *  @param[in]  v       [n][3] with by_velocity: true velocities relative to that of the centre of mass, in a slowed
 * pair those on its orbit; NULL without
 *  @param[out] acc     [n][3]; their mass-weighted mean moves the centre of mass
 *  @return 0; anything else stops the advance, which returns it */
struct chain_field {
    int (*acceleration)(void *context, double t, int n, const double mass[], const double cm[3], const double x[][3],
                        const double v[][3], double acc[][3]);
    void *context;
    /** 1: acc depends on v, as a Coriolis force does. "ar" then calls it three times for each of its kicks, with the
     *  auxiliary velocity and the real one before and after (Hellstrom & Mikkola 2010); "chain" calls it as often as
     *  without. */
    int by_velocity;
};

enum chain_event_kind {
    CHAIN_NONE,      /**< t_end was reached */
    CHAIN_COLLISION, /**< two members are at a pericentre within the sum of their radii: chain_merge, or go on */
    CHAIN_STEPS      /**< max_steps were made; may be continued */
};

struct chain_event {
    int32_t kind; /**< enum chain_event_kind */
    int64_t id[2];
    double r; /**< distance of the two */
};

/** Start a system of 2 to CHAIN_MAX bodies at time t.
 *  @return NBC_OK; NBC_BAD_ARGUMENT; NBC_NON_FINITE (err names the body and the quantity) */
int chain_init(struct chain *c, const struct chain_options *options, int n, const struct chain_body body[], double t,
               struct nbc_error *err);

/** Integrate to t_end (not before c->t), or to an event before it. Ends at t_end to the last bit, or within rounding of
 *  a pericentre at which two members collide. The same calls give the same bits; the steps of the independent variable
 *  go on over the ends of intervals.
 *  Paper: Mikkola & Aarseth 1993, Celest. Mech. Dyn. Astron. 57, 439; Mikkola & Merritt 2008, AJ 135, 2398.
 *  @param[in]  field  external accelerations, may be NULL
 *  @param[out] event  what ended it
 *  An interval may be cut into slices by max_steps: calls with the same t_end, until the event is not CHAIN_STEPS, make
 *  the same steps and end with the same bits as one call, whatever the slices, with slow-down, fields and collisions.
 *  A step and what it takes to land on t_end or on a pericentre are one. (Other values of t_end on the way land there,
 *  and change the last bits.)
 *  A tolerance below what rounding of the variables makes of a step cannot be reached by any step. Such steps are made
 *  with the error that rounding leaves, up to 1e-9, and counted in c->unreached and c->worst_error; the tolerance
 * counts again in the next one.
 *  @return NBC_OK; NBC_BAD_ARGUMENT; NBC_NON_FINITE, NBC_INTERNAL (no step, however short, leaves an error below the
 *          tolerance and 1e-9): the system is as it was before the step that failed; or what the field returned */
int chain_advance(struct chain *c, double t_end, const struct chain_field *field, struct chain_event *event,
                  struct nbc_error *err);

/** Members at the present time in the caller's frame.   @param[out] body [c->n], in the order of c->id */
void chain_bodies(const struct chain *c, struct chain_body body[]);
/** The same at another time, by integrating a copy: for times between the ends of intervals. Events are ignored.
 *  @return as chain_advance */
int chain_bodies_at(const struct chain *c, double t, const struct chain_field *field, struct chain_body body[],
                    struct nbc_error *err);
/** Position and velocity of the centre of mass. */
void chain_centre(const struct chain *c, double x[3], double v[3]);
/** Move the centre of mass: for a caller who integrates it. */
void chain_set_centre(struct chain *c, const double x[3], const double v[3]);

/** Count time from another origin: all times of the system become larger by `shift`, which has to leave c->t exact. */
void chain_shift_time(struct chain *c, double shift);

/** End all slow-down: the pairs get the energies that they should have (chain_energy_booked). Their phases are those of
 *  the slowed orbits. Absorption, emission and mergers do so by themselves. */
void chain_slow_end(struct chain *c);

/** Internal Newtonian energy, from positions and velocities as they are. */
double chain_energy(const struct chain *c);
/** Value of chain_energy expected from the initial energy and the work of field and post-Newtonian terms. The
 *  difference of the two is the error of the integration; while a pair is slowed down, it includes the energy's
 *  fluctuation, which is larger than without slow-down by the factor of the slow-down and ends with it. */
double chain_energy_booked(const struct chain *c);
/** Newtonian energy plus, with post-Newtonian terms, what they conserve with it for each pair (1PN, 2PN). */
double chain_energy_pn(const struct chain *c);
/** Closest approach of members at places a and b so far, for a merged member since the merger, as a distance and its
 *  time. 0 <= a, b < c->n, a != b. */
void chain_closest(const struct chain *c, int a, int b, double *r, double *t);

/** Take in bodies that are at c->t.
 *  @return NBC_OK; NBC_BAD_ARGUMENT (too many, or an identity twice); NBC_NON_FINITE */
int chain_absorb(struct chain *c, int n, const struct chain_body body[], struct nbc_error *err);
/** Remove members; at least two must stay. The internal energy changes by the part that leaves with them.
 *  @param[out] body [n] the members that left
 *  @return NBC_OK; NBC_BAD_ARGUMENT */
int chain_emit(struct chain *c, int n, const int64_t id[], struct chain_body body[], struct nbc_error *err);
/** Make one body of two: mass, momentum and centre of mass are kept, identity and place are those of the first.
 *  At least three members before, so that a system is left.
 *  @param[out] energy_lost internal energy before minus after: kinetic energy of the relative motion, potential of
 *                          the two, and the change of their tidal energy in the field of the other members
 *  @return NBC_OK; NBC_BAD_ARGUMENT */
int chain_merge(struct chain *c, int64_t id_a, int64_t id_b, double radius, double *energy_lost, struct nbc_error *err);

/** A part of the system that separates. */
struct chain_group {
    int32_t n;
    int64_t id[CHAIN_MAX];
    double distance; /**< of its centre of mass from that of the others */
    double speed;    /**< outward */
    double energy;   /**< of the two-body motion of both parts, per reduced mass; > 0: it escapes */
};
/** The smaller part beyond the longest link, if that link is at least `ratio` times as long as each part is large, both
 *  parts move apart, and their relative energy is positive or their separation is above r_bound (which may be
 * HUGE_VAL).
 *  @return number of members in the group, 0 if there is none */
int chain_escaper(const struct chain *c, double ratio, double r_bound, struct chain_group *group);
/** The same beyond the longest of the links that have at most `most` >= 1 members on one side. */
int chain_escaper_of(const struct chain *c, int most, double ratio, double r_bound, struct chain_group *group);

/** Bytes of struct chain, for callers in languages without sizeof. */
size_t chain_size(void);

#ifdef __cplusplus
}
#endif
#endif
