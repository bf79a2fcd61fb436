/** Star clusters for tests of the driver: configurations, bodies, runs whose adjust rows and events are kept, and a
 *  reference integrator. Any error fails the running cmocka test with its own message. */
#ifndef NB6_TEST_CLUSTER_H
#define NB6_TEST_CLUSTER_H

#include "nbody6/analysis/adjust_row.h"
#include "nbody6/galaxy/external.h"
#include "nbody6/input/config.h"
#include "nbody6/state/event.h"
#include "nbody6/state/ledger.h"

/** Stars at t = 0. */
struct cluster {
    int64_t n;
    double *mass;
    double (*x)[3], (*v)[3];
};

/** Events that an observer has received. */
struct cluster_record {
    int64_t n_rows, n_events;
    struct nb6_adjust_row *row;
    struct nb6_event *event;
};

/** Purely dynamical run without a field, without removal of escapers and without an end; all energy errors are
 *  accepted, so that the test and not the run judges them. */
void cluster_config(struct nb6_config *config);
/** The same with a model of so many systems, some of which are binaries of a like size. */
void cluster_config_with_binaries(struct nb6_config *config, int64_t systems, int64_t binaries);
/** The slow backends that define what is right, and no choice left to the machine. */
void cluster_config_ref(struct nb6_config *config);
/** Constant steps and neighbour spheres. */
void cluster_config_fixed(struct nb6_config *config, double dt_irr, double dt_reg, double r_nb);
/** A galaxy of this kind with the tide t_x for a cluster of n stars: the length unit in pc is chosen for it. */
void cluster_config_field(struct nb6_config *config, enum nb6_tide_kind kind, int64_t n, double t_x);

struct cluster cluster_alloc(int64_t n);
struct cluster cluster_copy(const struct cluster *cluster);
/** Plummer model of equal masses in N-body units, Q = 0.5. */
struct cluster cluster_plummer(int64_t n, uint64_t seed);
/** `first` stars that are zero and to be set, then a field of `stars` that leaves them room: a Plummer model of that
 * many, twice as large. */
struct cluster cluster_with_field(int64_t first, int64_t stars, uint64_t seed);
/** From rows of m x y z vx vy vz. */
struct cluster cluster_from_rows(int64_t n, const double (*row)[7]);
void cluster_free(struct cluster *cluster);
/** Distance of the closest pair. */
double cluster_closest(const struct cluster *cluster);
/** Elements of the first two stars about each other that define shape and orientation. */
struct cluster_orbit {
    double a, e[3],
        l[3]; /**< semi-major axis, eccentricity vector, angular momentum over that of a circle of `scale` */
};
struct cluster_orbit cluster_orbit_of(const struct cluster *cluster, double scale);
/** Largest difference of elements, of a relative to b's. */
double cluster_orbits_apart(const struct cluster_orbit *a, const struct cluster_orbit *b);
/** Energy in long double by direct sums. */
long double cluster_energy(const struct cluster *cluster);
/** That and other sums over stars in long double. */
struct cluster_sums {
    long double energy, momentum[3], angular_momentum[3];
};
struct cluster_sums cluster_sums_of(const struct cluster *cluster);

/** Jacobi's integral: the energy with the potential of the field. */
long double cluster_energy_in_field(const struct cluster *cluster, const struct nb6_external *field);

/** A simulation of this cluster. @param[out] record what happens; may be NULL, must outlive the simulation */
nb6_t *cluster_start(const struct nb6_config *config, const struct cluster *cluster, struct cluster_record *record);
/** The same of the model that the configuration asks for. */
nb6_t *cluster_start_model(const struct nb6_config *config, struct cluster_record *record);
void cluster_evolve(nb6_t *sim, double t);
/** Written to a checkpoint and read back: the simulation that goes on from there. The first one is not touched. */
nb6_t *cluster_through_checkpoint(nb6_t *sim);
/** The same; the first one is freed. */
nb6_t *cluster_resumed(nb6_t *sim);
struct nb6_energy cluster_energy_now(nb6_t *sim);
/** All stars at the present time. */
struct cluster cluster_now(nb6_t *sim);
void cluster_record_free(struct cluster_record *record);

/** Advance by t (which may be negative) by Gragg-Bulirsch-Stoer extrapolation in long double, 16th order in steps of
 * length h: exact to round-off for steps that are short beside the closest encounter. */
void cluster_integrate_exactly(struct cluster *cluster, double t, double h);
/** The same in the rotating frame of a galaxy; its field is written out independently there. */
void cluster_integrate_in_field(struct cluster *cluster, const struct nb6_external *field, double t, double h);
/** Root mean square distance between the same stars of two clusters. */
double cluster_rms_distance(const struct cluster *a, const struct cluster *b);
/** The largest of these distances. */
double cluster_farthest(const struct cluster *a, const struct cluster *b);

#endif
