/** Private to the chain files: vectors, the system as the equations of motion see it, formulations, extrapolation. */
#ifndef CHAIN_IMPL_H
#define CHAIN_IMPL_H

#include "regularization/chain.h"

#include <math.h>

static inline double chain_dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline double chain_norm(const double a[3])
{
    return sqrt(chain_dot(a, a));
}

/** From body a to body b. */
static inline void chain_between(const struct chain_body *a, const struct chain_body *b, double d[3])
{
    for (int k = 0; k < 3; k++) d[k] = (b->x[k] - a->x[k]) + (b->x_low[k] - a->x_low[k]);
}

/** Chain vectors: position and velocity of the member at place k + 1 minus those of the member at place k. */
struct chain_links {
    double x[CHAIN_LINKS][3], v[CHAIN_LINKS][3];
};

/** Constants of a step, all in the order of the chain. */
struct chain_system {
    int n, links;
    int method, pn;
    double c_light;
    const struct chain_field *field;
    int32_t member[CHAIN_MAX]; /**< member at each place */
    double mass[CHAIN_MAX], total;
    double pair[CHAIN_MAX][CHAIN_MAX]; /**< products of masses; over kappa for a slowed link */
    double kappa[CHAIN_LINKS];
    double diag[CHAIN_LINKS];           /**< kinetic energy: sum_k diag_k W_k^2 + sum_k<l off_kl W_k.W_l, */
    double off1[CHAIN_LINKS];           /**< off_k,k+1 and */
    double off2[CHAIN_LINKS];           /**< off_k,k+2, not zero only beside a slowed link */
    double omega[CHAIN_MAX][CHAIN_MAX]; /**< weights of the time transformation of the leapfrog, beside the potential */
    int has_omega;
    double size, speed;  /**< longest link; fastest link, or a circular orbit of that size: during a step */
    double t;            /**< time at the start of the step: y holds differences from it */
    int64_t evaluations; /**< of all accelerations */
    int field_status;    /**< status of the field, if it was not 0 */
};

enum { CHAIN_GROUPS = 2 * CHAIN_LINKS + 4 };

/** Variables that share a scale of error, one group after the other. Those not tested are integrals over the others,
 *  and may be zero where these are not. */
struct chain_groups {
    int n;
    int length[CHAIN_GROUPS], tested[CHAIN_GROUPS];
    double least[CHAIN_GROUPS]; /**< smallest scale: for the centre of mass, which may rest at the origin, the size
                                     and the speed of the system */
};

/** A formulation: its variables, and a march through a step in n equal parts whose error is even in the part's size. */
struct chain_formulation {
    int (*variables)(int n);
    void (*from_links)(const struct chain_system *s, const struct chain_links *links, double *y);
    void (*to_links)(const struct chain_system *s, const double *y, struct chain_links *links);
    /** Prepare the marches of a step: f [variables] may hold what all of them share. */
    void (*begin)(struct chain_system *s, const double *y, double *f);
    /** @param[out] d  y(h) - y(0) */
    void (*march)(struct chain_system *s, const double *y, const double *f, double h, int n, double *d);
    /** dt/ds */
    double (*rate)(struct chain_system *s, const double *y);
    /** Groups of variables. */
    void (*groups)(const struct chain_system *s, struct chain_groups *groups);
    /** Place of time; energy follows at + 1; centre of mass: x at + 2, v at + 5. */
    int (*time)(int n);
    /** Independent variable that a radial period takes, over period * (m_a m_b)/a. */
    double period;
};

extern const struct chain_formulation chain_ks_formulation, chain_ar_formulation;
/** chain_method.c: the formulation of a method in use, c->method; NULL if there is none of this number. */
const struct chain_formulation *chain_formulation(int method);

/** chain_system.c */
void chain_system_make(const struct chain *c, const struct chain_field *field, struct chain_system *s);
/** Groups of variables: `length` for a position and for a velocity or momentum of each link, then time, energy, centre
 * of mass and its velocity. */
void chain_groups_make(const struct chain_system *s, int length, struct chain_groups *groups);
/** Positions and velocities relative to the centre of mass, in the order of the chain; v may be NULL. */
void chain_places(const struct chain_system *s, const double link[][3], double place[][3]);
/** The same with the rounding error of each position, so that differences of positions have all digits of the links. */
void chain_places_exactly(const struct chain_system *s, const double link[][3], double place[][3], double low[][3]);
/** Sum of field and post-Newtonian accelerations, minus their mean; v: physical velocities. Both in chain order.
 *  @param[out] mean  acceleration of the centre of mass
 *  @return 0 if there are none: acc and mean are zero */
int chain_external(struct chain_system *s, double t, const double cm[3], const double x[][3], const double v[][3],
                   double acc[][3], double mean[3]);
/** The field alone. v may be NULL if it does not depend on velocities. */
int chain_external_field(struct chain_system *s, double t, const double cm[3], const double x[][3], const double v[][3],
                         double acc[][3], double mean[3]);
static inline int chain_field_by_velocity(const struct chain_system *s)
{
    return s->field && s->field->by_velocity;
}

/** chain_pn.c: add post-Newtonian accelerations of all pairs to acc. */
void chain_pn_add(const struct chain_system *s, const double x[][3], const double v[][3], double acc[][3]);
/** Energy that the 1PN and 2PN terms of a pair add to the Newtonian one. */
double chain_pn_energy(int pn, double c_light, double m1, double m2, const double x[3], const double v[3]);

/** chain_extrapolate.c: one step of at most h, accepted by the tolerance, or, where rounding keeps it from that, with
 *  the error due to rounding, 1e-9 at most.
 *  @param[in,out] y,y_low  [variables] state and its rounding error
 *  @param[in,out] step  step to try; out: the step made, and the next one to try
 *  @return NBC_OK; CHAIN_NO_STEP (none is short enough); CHAIN_INFINITE; the status of the field */
enum { CHAIN_NO_STEP = -1001, CHAIN_INFINITE = -1002 };
struct chain_step {
    double step, longest, done; /* longest > 0: bound of the next step */
    double error;               /* estimated, of the step made */
    int column;
    int64_t rejected;
};
int chain_extrapolate(struct chain_system *s, double tolerance, double *y, double *y_low, struct chain_step *step);

/** chain_select.c: lay the chain along the shortest distances. */
void chain_first_order(struct chain *c, const struct chain_body body[]);
/** Lay it anew if another chain has become shorter.   @return 1 if so */
int chain_reselect(struct chain *c, const struct chain_system *s, const struct chain_links *links);

/** chain_slow.c: choose the slow-down of each link; links: its present state.   @return the status of the field */
int chain_slow_choose(struct chain *c, struct chain_system *s, struct chain_links *links);

/** chain_start.c: members and variables from bodies at c->t; counters and closest approaches stay. */
int chain_refill(struct chain *c, int n, const struct chain_body body[], struct nbc_error *err);

/** chain.c: links of a system, and a system from links: sets y, with the energy that they have. */
void chain_get_links(const struct chain *c, struct chain_links *links);
void chain_set_links(struct chain *c, const struct chain_links *links);
/** Internal energy of chain vectors, and T + U. Not slowed. */
double chain_links_energy(const struct chain_system *s, const struct chain_links *links, double *t_plus_u);
/** Energy of the slowed system, a variable of the formulations; and a change of it. */
double chain_slow_energy(const struct chain *c);
void chain_add_energy(struct chain *c, double change);
/** Place of a pair in closest_r. */
int chain_pair_index(int a, int b);

#endif
