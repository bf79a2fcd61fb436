/** GPUIRR: irregular acceleration and jerk of active bodies from stored predictors and stored neighbour lists.
 *
 *  Paper: Nitadori & Aarseth 2012, MNRAS 424, 545 ("NA12"), Sec. 3.5. Units: N-body (G = 1).
 *  The library keeps x, v, acceleration, jerk, mass and time of every body, and its neighbour list; a program has no
 *  other copy of the lists. Times are doubles whose differences the caller keeps exact (a rebased origin).
 *  Threads: gpuirr_set_jp and gpuirr_set_list may be called concurrently for different bodies; all other calls one at
 *  a time. The same calls on the same backend give the same bits whatever the number of threads, and whichever of
 *  pred_act and pred_all announced the time. The force on a body does not depend on the other active bodies. */
#ifndef GPUIRR_H
#define GPUIRR_H

#include "common/nbc.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gpuirr gpuirr_t;

/** Zero-initialise; every zero field means the default. */
struct gpuirr_options {
    const char *backend; /**< name of a backend; NULL or "auto": $GPUIRR_BACKEND, else the best one available */
};

/** One row of the table of backends: best first, and behind `ref` those that are taken by name only. */
struct gpuirr_backend_info {
    const char *name; /**< "avx512", "avx2", "portable", "ref", "cuda", "emulated" */
    const char *description;
    int available;      /**< 1: compiled in, this machine can run it, and NBC_ISA (nbc.h) does not hide it */
    const char *reason; /**< why not available; "" when it is */
    double ns_per_pair; /**< nominal cost of one interaction on one core (work balance only) */
};
/** Backend number k, or NULL past the end of the table. */
const struct gpuirr_backend_info *gpuirr_backend(int k);
/** Name of backend k, or NULL past the end: devices are not searched for, which may take a fifth of a second. */
const char *gpuirr_backend_name(int k);

/** Open the library for body numbers [0, n_max), 1 <= n_max < 2^31. `cuda` takes the first GPU that $GPU_LIST names,
 *  else number 0, and holds bodies and lists there; a new handle tests it by forces on a few bodies. `emulated` makes
 *  the same steps on the processor: for tests, it is slow.
 *  @param[out] handle set on success only   @param[out] err may be NULL
 *  @return NBC_OK, NBC_UNAVAILABLE, NBC_NO_MEMORY, NBC_BAD_ARGUMENT (also: NBC_ISA names no level), NBC_DEVICE (a GPU
 *          fails, has too little memory, or sums wrong forces) */
int gpuirr_create(gpuirr_t **handle, size_t n_max, const struct gpuirr_options *options, struct nbc_error *err);
/** Grow the range of body numbers to [0, n_max). It never shrinks: if it is as large already, nothing happens. Stored
 *  bodies, lists and the announced time stay; new bodies are not set yet and have empty lists. The range becomes
 *  exactly n_max and the stored bodies are copied, so let numbers that come one by one grow geometrically, say by a
 *  half each time.
 *  @return NBC_OK; NBC_BAD_ARGUMENT (n_max >= 2^31); NBC_NO_MEMORY. After a failure the handle is as it was. */
int gpuirr_reserve(gpuirr_t *handle, size_t n_max);
void gpuirr_free(gpuirr_t *handle);
const struct gpuirr_backend_info *gpuirr_info(const gpuirr_t *handle);
/** Text of the last failure on this handle. */
const char *gpuirr_last_error(const gpuirr_t *handle);

/** Store the predictor of body i: state at t0, total acceleration and jerk (no Taylor factors). Counts at once,
 *  also for a time that was announced before.
 *  @return NBC_OK; NBC_BAD_ARGUMENT; NBC_NON_FINITE (names body and quantity; nothing is stored) */
int gpuirr_set_jp(gpuirr_t *handle, size_t i, const double x[3], const double v[3], const double acc[3],
                  const double jerk[3], double mass, double t0);

/** Store the neighbour list of body i (any length, copied; i itself is refused). See gpuirr_begin.
 *  @param[in] nblist [nnb] ascending, each in [0, n_max)
 *  @return NBC_OK; NBC_BAD_ARGUMENT (not ascending, out of range, i itself; nothing is stored); NBC_NO_MEMORY */
int gpuirr_set_list(gpuirr_t *handle, size_t i, size_t nnb, const int32_t *nblist);

/** gpuirr_set_list for n different bodies at once, which costs less: all lists are stored, or none is.
 *  @param[in] body, nnb [n]; nblist [n] pointers to lists, none of which is a stored one
 *  @return NBC_OK; NBC_BAD_ARGUMENT (the first list that is none is named); NBC_NO_MEMORY */
int gpuirr_set_lists(gpuirr_t *handle, size_t n, const int32_t *body, const int32_t *nnb, const int32_t *const *nblist);

/** The stored list of body i, valid until the next gpuirr_set_list or gpuirr_set_lists for i, gpuirr_publish,
 *  gpuirr_discard or gpuirr_reserve. Never NULL for nnb > 0. */
const int32_t *gpuirr_get_list(const gpuirr_t *handle, size_t i, size_t *nnb);

/** Bodies that have body j in their stored lists, ascending; they stay until the next call of this function.
 *  The first calls search all lists; from then on an index is kept, which costs as much memory as the lists.
 *  @param[out] n, body  untouched after a failure
 *  @return NBC_OK; NBC_BAD_ARGUMENT; NBC_NO_MEMORY */
int gpuirr_get_holders(gpuirr_t *handle, size_t j, size_t *n, const int32_t **body);

/** Begin a transaction of lists: from now on gpuirr_set_list keeps the list that a body had, until gpuirr_publish or
 *  gpuirr_discard ends the transaction. Forces are those of the new lists.
 *  @return NBC_OK; NBC_BAD_STATE (one is open); NBC_NO_MEMORY (none is open then) */
int gpuirr_begin(gpuirr_t *handle);
/** The new lists stay. Cannot fail; nothing happens if no transaction is open. */
void gpuirr_publish(gpuirr_t *handle);
/** All lists are those at gpuirr_begin again. Cannot fail; nothing happens if no transaction is open. */
void gpuirr_discard(gpuirr_t *handle);
/** The list that body i had when the open transaction began; the present one if it was not set since, or if no
 *  transaction is open. As gpuirr_get_list otherwise. */
const int32_t *gpuirr_get_old_list(const gpuirr_t *handle, size_t i, size_t *nnb);

/** Announce time t. Forces on any bodies may follow until the next announcement. The library predicts neighbours as
 *  forces are asked for; once the pairs asked for since the announcement reach four for each body of [lo, hi), it
 *  predicts all of these together. Neither changes a bit of a force:
 *  x = x0 + v0 s + a s^2/2 + j s^3/6, v = v0 + a s + j s^2/2, s = t - t0. */
int gpuirr_pred_all(gpuirr_t *handle, size_t lo, size_t hi, double t);
/** Announce time t for a small block: the same, but all neighbours are predicted as forces are asked for. */
int gpuirr_pred_act(gpuirr_t *handle, size_t n_act, const int32_t *act, double t);

/** Irregular acceleration and jerk, sums over the stored lists at the announced time (NA12 eq. 8, 9).
 *  Bodies at identical positions contribute nothing and are counted in the statistics.
 *  Precision: `ref` works in double throughout. The others take differences of two-float positions, `cuda` those of
 *  doubles, and sum in float, to some 1e-7 of the sum of magnitudes; pairs that this cannot resolve or whose force
 * stands out among those of the list are summed in double, at any distance and of any magnitude: see
 * docs/algorithms/neighbours.md.
 *  @param[in]  act       [n_act] body numbers, any order
 *  @param[out] acc, jerk [n_act][3] overwritten; zero for an empty list
 *  @param[out] nearest   [n_act] the neighbour with the smallest distance (the lowest number of equals), -1 if there is
 *                        none; may be NULL
 *  @return NBC_OK; NBC_BAD_STATE (no time announced); NBC_BAD_ARGUMENT; NBC_NON_FINITE (outputs written; names the
 *          first body whose sums are not: a body of its list was never stored, or finite input overflowed, which takes
 *          distances above 1e154 or below 1e-102, or velocities or extrapolations as large); NBC_NO_MEMORY, NBC_DEVICE
 *          (`cuda` alone; outputs untouched. A GPU that has failed has lost what is stored: close the handle) */
int gpuirr_firr_vec(gpuirr_t *handle, size_t n_act, const int32_t *act, double (*acc)[3], double (*jerk)[3],
                    int32_t *nearest);

/** gpuirr_firr_vec, with a bound on the rounding error of each acceleration, which limits the accuracy of derivatives
 *  from differences of forces.
 *  @param[out] noise  [n_act] bound on the error of acc, in its units: 2^-22 times the sum of the magnitudes m/r^2
 *                     summed in float, and 2^-51 times that of m/r^2 (1 + |x|/r) summed in double;
 *                     may be NULL
 *  @return as gpuirr_firr_vec */
int gpuirr_firr_noise(gpuirr_t *handle, size_t n_act, const int32_t *act, double (*acc)[3], double (*jerk)[3],
                      int32_t *nearest, double *noise);

/** Sum all forces of later calls in double on any backend (in_double = 1), or in float where that is good enough, as a
 *  new handle does (0). In double a pair costs three to ten times as much.   @return NBC_OK; NBC_BAD_ARGUMENT */
int gpuirr_set_in_double(gpuirr_t *handle, int in_double);

/** Work done since creation. */
struct gpuirr_stats {
    uint64_t calls, bodies, interactions, coincident_pairs;
    double seconds_pred, seconds_firr;
};
void gpuirr_get_stats(const gpuirr_t *handle, struct gpuirr_stats *stats);

#ifdef __cplusplus
}
#endif
#endif
