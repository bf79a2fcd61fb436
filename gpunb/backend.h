/** Private interface between the handle (gpunb.c) and the backends: one const descriptor for each, listed in
 * backends.def.
 *
 *  gpunb.c has checked every argument before a backend sees it: counts are in range, no pointer that is needed is
 *  NULL, all numbers are finite and below GPUNB_LIMIT in size. A backend only computes, and reports failures that it
 *  alone can detect: lack of memory, failure of a device. */
#ifndef GPUNB_BACKEND_H
#define GPUNB_BACKEND_H

#include "gpunb/gpunb.h"

struct gpunb_jp;
struct gpunb_order;
struct gpunb_tree_method;
struct gpunb_tree_use;

/** Masses, coordinates, velocities, steps above this are refused: their squares would not fit a float. */
#define GPUNB_LIMIT 1e15

/** Softenings below this are refused: see GPUNB_LIMIT. */
#define GPUNB_LEAST_SOFTENING 1e-15

/** A pair with |r_ij|^2 at or below this has zero distance: the inverse cube would not fit any number. */
#define GPUNB_ZERO_R2 1e-60

/** A block of targets and its results. Arrays as in gpunb_regf. */
struct gpunb_block {
    size_t n_i;
    const int32_t *self; /**< may be NULL */
    const double *r_nb2, *dt_reg;
    const double (*x)[3], (*v)[3];
    const double (*acc_last)[3]; /**< of a tree; may be NULL */
    double (*acc)[3], (*jerk)[3];
    double *pot; /**< may be NULL */
    size_t nb_cap;
    size_t list_stride; /**< distance of the rows of nblist, >= nb_cap */
    int32_t *nnb, *nblist;
    int mass_weighted;
    uint64_t build;                 /**< of a tree: as in gpunb_tree_build_moved */
    struct gpunb_tree_use *by_tree; /**< where a device makes it by tree, if it can; NULL: direct sums */
};

/** Bodies [i_first, i_first + n_i) of n whose potential is wanted. */
struct gpunb_pot_job {
    size_t i_first, n_i, n;
    const double *mass;
    const double (*x)[3];
    double *pot;
};

/** Arguments of the creation of a state. */
struct gpunb_setup {
    const struct gpunb_backend *backend;
    enum gpunb_precision precision; /**< one of those that the backend supports */
    size_t n_j_max;
    const char *devices; /**< numbers of devices, "0,2"; "": the backend's choice */
    int by_tree;         /**< 1: softened forces are made by a tree: one device has all sources */
};

struct gpunb_regf_device;
struct gpunb_softened_device;

struct gpunb_backend {
    const char *name, *description;
    double ns_per_pair;
    unsigned precisions;                  /**< bit k set: enum gpunb_precision k is supported */
    enum gpunb_precision precision;       /**< the default */
    double acc_error, jerk_error;         /**< of gpunb_nominal_error; 0: those of the precision */
    const void *method;                   /**< distinguishes descriptors that share functions */
    const char *(*why_unavailable)(void); /**< "" when it can run here; the functions below may be NULL if not */
    int (*create)(void **state, const struct gpunb_setup *setup, struct nbc_error *err);
    void (*free)(void *state);
    /** v: NULL if no force that needs velocities follows. */
    int (*send)(void *state, size_t n_j, const double *mass, const double (*x)[3], const double (*v)[3],
                struct nbc_error *err);
    /** Enlarge to n_j_max sources; sources and predictors are kept. */
    int (*reserve)(void *state, size_t n_j_max, struct nbc_error *err);
    /** Enlarge to predictors of n_j_max sources: before the first of them, and after each `reserve` from then on. */
    int (*predictors)(void *state, size_t n_j_max, struct nbc_error *err);
    /** Store a predictor; it may be called for different sources at a time. */
    void (*set_jp)(void *state, size_t j, const struct gpunb_jp *jp);
    /** Start the transfer of changed predictors to a device; NULL: there is none. */
    int (*push_jp)(void *state, struct nbc_error *err);
    /** Sources from predictors (predictor.h). A device may report a prediction that is not finite in the next `regf`.
     */
    int (*predict)(void *state, const struct gpunb_order *order, double t, struct nbc_error *err);
    /** Start a block, and return while a device is at work; NULL where there is none. The caller's arrays are not
     *  written. The next call abandons a block that was started without a wait. */
    int (*regf_start)(void *state, const struct gpunb_block *block, struct nbc_error *err);
    /** The results of a block, which `regf_start` has started if there is such a function.
     *  NBC_OK even when a row overflows: block_calls.c examines nnb. */
    int (*regf)(void *state, const struct gpunb_block *block, struct nbc_error *err);
    /** Start a potential, and return while a device is at work; NULL where there is none. The next one, or `free`,
     *  abandons a potential without a wait. */
    int (*potential_start)(void *state, const struct gpunb_pot_job *job, struct nbc_error *err);
    /** The potential that `potential_start` has started, if there is such a function. */
    int (*potential)(void *state, const struct gpunb_pot_job *job, struct nbc_error *err);
    /** That of all bodies, as gpunb_potential_by_tree, without a state; NULL: another backend makes it.
     *  @return NBC_OK; NBC_NO_MEMORY */
    int (*potential_by_tree)(const struct gpunb_backend *backend, const struct gpunb_pot_job *job, double aim);
    int (*softened)(void *state, const struct gpunb_softened_job *job, struct nbc_error *err);
    const struct gpunb_tree_method *tree; /**< how it makes softened forces by tree (tree/method.h) */
    /** gpunb_softened_device_bytes and gpunb_softened_device, arguments checked; NULL: no devices. */
    int (*softened_device_bytes)(void *state, size_t n_i, size_t n_j, size_t *bytes, struct nbc_error *err);
    int (*softened_device)(void *state, const struct gpunb_softened_device *job, void *stream, struct nbc_error *err);
    /** gpunb_regf_device_bytes and gpunb_regf_device, arguments checked but for the scratch; NULL: no devices. */
    int (*regf_device_bytes)(void *state, const struct gpunb_tree_use *use, size_t n_j, size_t *bytes,
                             struct nbc_error *err);    /**< use: of a handle that may make them by tree, or NULL */
    int (*regf_devices)(const void *state, int *first); /**< how many share them, and the number of the first one */
    int (*regf_device)(void *state, struct gpunb_tree_use *use, const struct gpunb_regf_device *job, void *stream,
                       struct nbc_error *err); /**< use: NULL: direct sums */
    /** Bytes that have gone to the devices and have come from them since creation; NULL: there are no devices. */
    void (*traffic)(const void *state, uint64_t *sent, uint64_t *received);
    /** The devices in use, "device 0 (name), ...", cut to `size`; NULL: the processor. */
    void (*device_names)(const void *state, char *text, size_t size);
    int (*gpus)(const void *state, int room, int *device); /**< gpunb_gpus; NULL: it has none */
    int takes_devices;                                     /**< 1: a request may select devices, "cuda:0,2" */
    size_t n_worth;                                        /**< sources from which the automatic choice prefers it */
};

extern const struct gpunb_backend gpunb_backend_ref;

/** Number of rows of the table, and row k of it. */
int gpunb_backend_count(void);
const struct gpunb_backend *gpunb_backend_row(int k);

/** Row number of the backend for a request as in gpunb_options.backend; -1 with `err` filled if there is none.
 *  @param[out] devices  the part of the request after the colon, "" if there is none */
int gpunb_backend_select(const char *request, size_t n_j_max, const char **devices, struct nbc_error *err);

/** "float", "twofloat", "double"; "default" otherwise. */
const char *gpunb_precision_name(enum gpunb_precision precision);
/** How the handle forms differences: never the default here. */
enum gpunb_precision gpunb_precision_in_use(const gpunb_t *handle);
/** Where the handle computes, as text, cut to `size`. */
void gpunb_device_names(const gpunb_t *handle, char *text, size_t size);

/** gpunb_regf with rows of nblist `list_stride` apart and the weighting chosen by the call, with all checks.
 *  block->list_stride, mass_weighted are used as given; the handle's own weighting is not. */
int gpunb_regf_block(gpunb_t *handle, const struct gpunb_block *block);

/** The settings of a handle's trees: those it was opened with, where 0 is what it takes by itself. Of a handle for
 * direct sums all are 0.   @param[out] options  force_error, theta, order, leaf, group and walk are set */
void gpunb_tree_settings(const gpunb_t *handle, struct gpunb_options *options);

#endif
