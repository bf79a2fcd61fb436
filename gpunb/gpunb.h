/** GPUNB: regular acceleration, jerk and neighbour lists of a block of targets, the potential of all stars, and the
 *  softened force of a collisionless code.
 *
 *  Paper: Nitadori & Aarseth 2012, MNRAS 424, 545 ("NA12"), Sec. 3.2 to 3.4. Units: N-body (G = 1).
 *  Threads: gpunb_set_jp and gpunb_clear_jp may be called concurrently for different sources; all other calls one per
 *  handle at a time, OpenMP inside. The same call on the same backend gives the same bits for any number of threads.
 *
 *  Sources come in one of two ways: the caller predicts and sends all of them (gpunb_send), or it keeps their
 *  predictors up to date here (gpunb_set_jp, gpunb_clear_jp) and lets the library predict them (gpunb_predict). */
#ifndef GPUNB_H
#define GPUNB_H

#include "common/nbc.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gpunb gpunb_t;

/** How position differences are formed. */
enum gpunb_precision {
    GPUNB_PRECISION_DEFAULT = 0, /**< the backend's default */
    GPUNB_FLOAT = 1,             /**< x_j - x_i from positions rounded to float */
    GPUNB_TWOFLOAT = 2,          /**< (xj_hi - xi_hi) + (xj_lo - xi_lo) */
    GPUNB_DOUBLE = 3             /**< double throughout (`ref`) */
};

/** How a tree makes the softened forces of many targets (gpunb_softened, gpunb/tree.h). */
enum gpunb_walk {
    GPUNB_WALK_DEFAULT = 0,      /**< GPUNB_WALK_HYBRID */
    GPUNB_WALK_GROUPS = 1,       /**< a list for each group of targets, all groups at once: a treecode */
    GPUNB_WALK_SINGLE = 2,       /**< a list for each target */
    GPUNB_WALK_ONE_BY_ONE_I = 3, /**< groups one after another, whose targets the threads share */
    GPUNB_WALK_ONE_BY_ONE_J = 4, /**< groups one after another, whose lists the threads share */
    GPUNB_WALK_HYBRID = 5,       /**< groups; a cell far from a group acts on all its targets as one, by an expansion
                                      about the group's centre, where that is cheaper */
    GPUNB_WALK_FMM = 6           /**< groups; cells act by such expansions alone */
};

/** Zero-initialise; every zero field means the default. */
struct gpunb_options {
    const char *backend; /**< name of a backend; NULL: $GPUNB_BACKEND, else the best one available. "cuda:0,2": these
                              GPUs; "cuda": those in $GPU_LIST ("0 2"), else one for every 131072 sources, as far as
                              there are GPUs; "emulated", "emulated:0,1", for tests: what `cuda` does, on the
                              processor */
    int mass_weighted;   /**< 1: w_j = m_j in the neighbour test (the caller divides r_nb2 by the mean mass); 0: w_j = 1
                          */
    enum gpunb_precision precision;

    /* Forces by a tree (gpunb/tree.h): softened ones if one of `force_error` and `theta` is above 0, on processors
     * regular ones too with `force_error`. All others are direct sums. */
    double force_error; /**< the aim: 99 of 100 accelerations of all bodies are wrong by less than this part of
                             themselves; gpunb_tree_least_error to 0.1; 0: direct sums, unless there is `theta` */
    double theta;       /**< in its place: cells are accepted if they look smaller than this angle, radius/distance,
                             0.1 to 1 */
    int order;          /**< of the expansions, 1 (a mass at its centre) to GPUNB_MOST_ORDER; 0: one that suits
                             force_error; with `theta` GPUNB_DEFAULT_ORDER */
    int leaf, group;    /**< most bodies of a cell that is not divided, 1 to 1024, and targets of a group, 1 to
                             16384; 0: the default of the backend */
    enum gpunb_walk walk;
    const char *costs; /**< nominal costs of this machine, the text that bench/tune_tree --write makes: order, leaf,
                            group, and where a tree pays follow from them; NULL: committed ones of the backend */
};

/** Orders of the expansions of a tree. */
enum { GPUNB_MOST_ORDER = 8, GPUNB_DEFAULT_ORDER = 2 };

/** One row of the table of backends, best first. */
struct gpunb_backend_info {
    const char *name; /**< "cuda", "avx512", "avx2", "portable", "ref", "emulated" */
    const char *description;
    int available;      /**< 1: compiled in, this machine can run it, and NBC_ISA (nbc.h) does not hide it */
    const char *reason; /**< why not available; "" when it is */
    double
        ns_per_pair; /**< nominal cost of one interaction on one core (work balance only, never measured at run time) */
};

/** Backend number k, or NULL past the end of the table. */
const struct gpunb_backend_info *gpunb_backend(int k);
/** Name of backend k, or NULL past the end: devices are not searched for, which may take a fifth of a second. */
const char *gpunb_backend_name(int k);

/** Open the library for up to n_j_max sources.
 *  @param[out] handle  set on success only
 *  @param[out] err     the text of a failure; may be NULL
 *  @return NBC_OK, NBC_UNAVAILABLE (unknown backend or not on this machine), NBC_NO_MEMORY, NBC_DEVICE,
 *          NBC_BAD_ARGUMENT (also: NBC_ISA names no level) */
int gpunb_create(gpunb_t **handle, size_t n_j_max, const struct gpunb_options *options, struct nbc_error *err);
void gpunb_free(gpunb_t *handle);
/** Enlarge to n_j_max sources. The capacity never shrinks: if it is as large already, nothing happens. Sources and
 *  predictors stay. The capacity becomes exactly n_j_max and all is copied, so let it grow geometrically.
 *  @return NBC_OK; NBC_BAD_ARGUMENT; NBC_NO_MEMORY; NBC_DEVICE. After a failure the handle is as it was. */
int gpunb_reserve(gpunb_t *handle, size_t n_j_max);

/** Row of the backend in use. */
const struct gpunb_backend_info *gpunb_info(const gpunb_t *handle);
/** Nominal errors of gpunb_regf by a handle: what an acceleration and a jerk may be wrong by, relative to the sum of
 * the magnitudes of all terms of pairs (terms of opposite direction cancel). They follow from backend and precision,
 * are not measured, and hold in the conformance suite.   @param[out] acc, jerk  may be NULL */
void gpunb_nominal_error(const gpunb_t *handle, double *acc, double *jerk);
/** GPUs on which a handle works, so that a program can keep bodies where their forces are computed.
 *  @param[out] device [room]  their CUDA numbers; NULL: not wanted
 *  @return how many there are; 0: its backend has none */
int gpunb_gpus(const gpunb_t *handle, int room, int *device);
/** Text of the last failure on this handle. */
const char *gpunb_last_error(const gpunb_t *handle);

/** Sources of the calls of gpunb_regf that follow: predicted state at the block time. Zero masses are allowed.
 *  @param[in] mass [n_j]; x, v [n_j][3]; n_j <= n_j_max
 *  @return NBC_OK; NBC_BAD_ARGUMENT; NBC_NON_FINITE (names the source and the quantity; nothing is sent). */
int gpunb_send(gpunb_t *handle, size_t n_j, const double *mass, const double (*x)[3], const double (*v)[3]);

/** Sources of the calls of gpunb_softened that follow: positions and masses alone. gpunb_regf has no sources then.
 *  @param[in] mass [n_j]; x [n_j][3]; n_j <= n_j_max
 *  @return as gpunb_send */
int gpunb_send_positions(gpunb_t *handle, size_t n_j, const double *mass, const double (*x)[3]);

/** Store the predictor of source j, 0 <= j < n_j_max: state at t0, total acceleration and jerk (no Taylor factors).
 *  It counts from the next gpunb_predict on.
 *  @return NBC_OK; NBC_NON_FINITE, NBC_BAD_ARGUMENT (no such source; mass, x or v above 1e15): the message names source
 *          and quantity, nothing is stored; NBC_NO_MEMORY, NBC_DEVICE (the first call on a handle alone) */
int gpunb_set_jp(gpunb_t *handle, size_t j, const double x[3], const double v[3], const double acc[3],
                 const double jerk[3], double mass, double t0);
/** Remove source j from the next gpunb_predict on, until it is set again; at first there are no sources.
 *  @return NBC_OK; NBC_BAD_ARGUMENT */
int gpunb_clear_jp(gpunb_t *handle, size_t j);
/** Start the transfer of new predictors to the devices while the caller goes on, so that the next gpunb_predict does
 *  not have to wait for them: worth a call after some hundreds of gpunb_set_jp. No call of gpunb_set_jp may run
 *  beside it.
 *  @return NBC_OK; NBC_DEVICE */
int gpunb_push_jp(gpunb_t *handle);
/** Sources of the calls of gpunb_regf that follow: those that are stored under numbers below n_j, predicted to t.
 *  x = x0 + v s + a s^2/2 + j s^3/6, v = v0 + a s + j s^2/2, s = t - t0, in double, without fused multiply-add.
 *  `self` and lists have their numbers. Forces have the bits that gpunb_send of the same states, in the same order and
 *  without those that are not there, would give.
 *  @return NBC_OK; NBC_BAD_ARGUMENT; NBC_NO_MEMORY; NBC_DEVICE; NBC_NON_FINITE (t is not finite, or a prediction is
 *          not, or is above 1e15: the message names the source, and there are no sources then; a device may leave the
 *          latter to the next gpunb_regf) */
int gpunb_predict(gpunb_t *handle, size_t n_j, double t);

/** Regular acceleration, jerk and neighbour lists of a block of targets.
 *  a_i = sum_j m_j r_ij / |r_ij|^3, r_ij = x_j - x_i, and its time derivative, over the j that are not neighbours of i;
 *  neighbours go to nblist. j is a neighbour of i if min(|r_ij|^2, |r_ij + dt_reg_i v_ij|^2) < w_j r_nb2[i] (NA12 eq.
 * 4, 10-12; the two cases of eq. 10 are printed in the wrong order). A source at zero distance that is no neighbour
 * contributes nothing.
 *  @param[in]  n_i       targets, any number
 *  @param[in]  self      [n_i] source index of the target itself, which is then neither neighbour nor source; -1 for
 * none; NULL: none of the targets is known, and a list contains its own target (the legacy behaviour)
 *  @param[in]  r_nb2     [n_i] squared neighbour radius (divided by the mean mass if w_j = m_j)
 *  @param[in]  dt_reg    [n_i] regular step; 0: plain distance criterion
 *  @param[in]  x_i, v_i  [n_i][3]
 *  @param[in]  nb_cap    capacity of a row of nblist, >= 1
 *  @param[out] acc, jerk [n_i][3] overwritten
 *  @param[out] pot       [n_i] -sum m_j/|r_ij| over the same j; may be NULL
 *  @param[out] nnb       [n_i] neighbours FOUND, also when larger than nb_cap
 *  @param[out] nblist    [n_i][nb_cap] 0-based source indices, ascending; content of a row undefined where nnb > nb_cap
 *  @return NBC_OK; NBC_NB_OVERFLOW (all other rows are right: enlarge nb_cap or shrink r_nb2 of the rows with nnb >
 * nb_cap, whose forces are undefined, and call again for these); NBC_BAD_STATE (no sources, or none with velocities);
 * NBC_BAD_ARGUMENT; NBC_NON_FINITE (names the target and the quantity, outputs untouched; or a source, see
 * gpunb_predict, and outputs are undefined); NBC_DEVICE. */
int gpunb_regf(gpunb_t *handle, size_t n_i, const int32_t *self, const double *r_nb2, const double *dt_reg,
               const double (*x_i)[3], const double (*v_i)[3], double (*acc)[3], double (*jerk)[3], double *pot,
               size_t nb_cap, int32_t *nnb, int32_t *nblist);

/** A block of targets of gpunb_regf, whose arguments have the same names. Zero-initialise; `self`, `acc_last` and `pot`
 *  may stay NULL. */
struct gpunb_regf_job {
    size_t n_i;
    const int32_t *self;
    const double *r_nb2, *dt_reg;
    const double (*x)[3], (*v)[3];
    const double (*acc_last)[3]; /**< [n_i][3] total accelerations of the last step, or any of about the same size, to
                                      which `force_error` of a tree relates; NULL: forces by angle are made first */
    double (*acc)[3], (*jerk)[3], *pot;
    size_t nb_cap;
    int32_t *nnb, *nblist;
    uint64_t build; /**< of the tree, if there is one: as in gpunb_tree_build_moved (gpunb/tree.h) */
};

/** The same in two calls, so that the caller can work while a device does: `gpunb_regf_start` takes what gpunb_regf
 *  takes, and returns what can be said at once; `gpunb_regf_wait` fills acc, jerk, pot, nnb and nblist and returns what
 *  gpunb_regf returns. All arrays stay the library's in between. Backends on processors do the work in the second call.
 *  A block is given up when another is started, and when gpunb_send, gpunb_send_positions, gpunb_predict,
 *  gpunb_softened or gpunb_reserve comes: nothing is written then, and gpunb_regf_wait returns NBC_BAD_STATE.
 * gpunb_set_jp, gpunb_clear_jp and gpunb_potential may come in between. */
int gpunb_regf_start(gpunb_t *handle, size_t n_i, const int32_t *self, const double *r_nb2, const double *dt_reg,
                     const double (*x_i)[3], const double (*v_i)[3], double (*acc)[3], double (*jerk)[3], double *pot,
                     size_t nb_cap, int32_t *nnb, int32_t *nblist);
/** As gpunb_regf_start, with the last accelerations. */
int gpunb_regf_start_job(gpunb_t *handle, const struct gpunb_regf_job *job);
int gpunb_regf_wait(gpunb_t *handle);

/** Targets of a softened force, and where it goes. Zero-initialise; `self` and `pot` may stay NULL. */
struct gpunb_softened_job {
    size_t n_i;           /**< targets, any number: all sources, or those of a block step */
    const double (*x)[3]; /**< [n_i][3] */
    const int32_t
        *self;        /**< [n_i] source that the target is, whose term `pot` leaves out; -1: none; NULL: none at all */
    double softening; /**< epsilon > 0 */
    const double (*acc_last)[3]; /**< [n_i][3] accelerations of the last step, or any of about the same size, to which
                                      `force_error` of a tree relates; NULL: they are made first, by angle */
    double (*acc)[3];            /**< [n_i][3] overwritten; acc_last may be the same array */
    double *pot;                 /**< [n_i] overwritten; NULL: not wanted, which saves a tenth of the time */
    uint64_t build; /**< of a tree that is built for this force: as in gpunb_tree_build_moved (gpunb/tree.h) */
};

/** The softened force of all sources of gpunb_send, gpunb_send_positions or gpunb_predict, and its potential.
 *  a_i = sum_j m_j r_ij / (r_ij^2 + eps^2)^(3/2), phi_i = -sum_j m_j / sqrt(r_ij^2 + eps^2), r_ij = x_j - x_i.
 *  Paper: Miki, Takahashi & Mori 2013, Comput. Phys. Commun. 184, 2159 ("MTM13"), eq. 1 and Sec. 2.
 *  A target that is a source, or that stands where one is, has r_ij = 0 there: the acceleration by that source is
 *  exactly zero, whether `self` is given or not. The potential by it is -m_j/eps. If `self` names it, that term is
 * never added, so that sum_i m_i phi_i / 2 is the potential energy; such a target must have the very position that the
 * source was sent with (MTM13 add the term and subtract it at the end, which costs digits when it dominates).
 *  Precision: differences of positions are as exact as two floats, pairs are summed in float, sums of some dozens of
 *  pairs in double: relative errors of some 1e-7 in a cluster, also far from the origin. `ref`: double throughout. With
 *  GPUNB_FLOAT positions are rounded to float first. m/eps^3 may be above what a float holds, as may its inverse at
 *  large distances: m_j/r_ij^3 below 1e-38 counts as nothing.
 *  @return NBC_OK; NBC_BAD_STATE (no sources); NBC_BAD_ARGUMENT (softening below 1e-15 or above 1e15; acc or x is NULL;
 *          self names no source); NBC_NON_FINITE (names the target, outputs untouched; or a source, see gpunb_predict);
 *          NBC_NO_MEMORY; NBC_DEVICE */
int gpunb_softened(gpunb_t *handle, const struct gpunb_softened_job *job);

/** Potential per unit mass, phi_i = -sum_{j != i, r_ij > 0} m_j/r_ij, of bodies [i_first, i_first + n_i) due to all n.
 *  Relative error below 1e-10. Independent of gpunb_send.
 *  @param[in] mass [n]; x [n][3]   @param[out] pot [n_i] */
int gpunb_potential(gpunb_t *handle, size_t i_first, size_t n_i, size_t n, const double *mass, const double (*x)[3],
                    double *pot);
/** The same in two calls, so that other calls on the handle can be made while a device works on it, after them if need
 *  be. All arrays stay the library's in between. Backends on processors do the work in the second call. A potential is
 *  given up when another one is asked for, by either way: nothing is written then, and gpunb_potential_wait returns
 *  NBC_BAD_STATE. */
int gpunb_potential_start(gpunb_t *handle, size_t i_first, size_t n_i, size_t n, const double *mass,
                          const double (*x)[3], double *pot);
int gpunb_potential_wait(gpunb_t *handle);

/** Work done since creation. */
struct gpunb_stats {
    uint64_t calls, targets, interactions;
    double seconds_send, /**< and seconds of gpunb_predict, gpunb_send_positions */
        seconds_regf,    /**< and seconds of gpunb_softened */
        seconds_potential;
    uint64_t bytes_sent, bytes_received; /**< to and from devices; 0 on processors */
};
void gpunb_get_stats(const gpunb_t *handle, struct gpunb_stats *stats);

#ifdef __cplusplus
}
#endif
#endif
