/** Kernels for the parts of a collisionless system (part.h) that reside on devices of one kind (domain.h). All enqueue
 * on a stream of the device, which is current; kernels return 0 or the code of a failure (NBD_LAUNCH). */
#ifndef NB6_RESIDENCE_H
#define NB6_RESIDENCE_H

#include "common/nbc.h"
#include "device/device.h"
#include "gpunb/softened_device.h"
#include "gpunb/tree.h"
#include "nbody6/collisionless/part.h"

/** Times and size of a block, for all its stages. */
struct nb6_part_block {
    nb6_time ti_now, ti_next;
    int32_t n_due;             /**< of the part's own bodies */
    enum gpunb_kept_tree kept; /**< what the forces of all parts do about their trees */
    uint64_t build;            /**< number of the tree's build, by which its cells have their places */
    int orders;                /**< 1: the order of all sources along the curve is wanted */
    int by_tree;               /**< 1: the force of the part is by tree */
    int is_first;        /**< 1: there are no last accelerations; a force on all bodies that is that of no block */
    int with_potentials; /**< 1: potentials are wanted as well; likewise */
};

struct nb6_residence {
    const char *name; /**< of the engine */
    const struct nbd_kind *const *kind;

    /** First kicks and drift of the own bodies. Sets `bad` of the word: a body with a position beyond the limit, or
     *  NB6_NOBODY_BAD. */
    int (*drift)(const struct nb6_part *part, const struct nb6_part_block *block, double limit,
                 struct nbd_stream *stream);
    /** Scratch of `select`, in bytes. */
    int (*select_bytes)(int32_t n_own, size_t *bytes);
    /** The bodies that are due, in ascending order, and their positions. */
    int (*select)(const struct nb6_part *part, const struct nb6_part_block *block, void *scratch, size_t bytes,
                  struct nbd_stream *stream);
    /** Both parts of accelerations added, and their work. Sets `bad` of the word: the first body whose acceleration is
     * not finite. */
    int (*check)(const struct nb6_part *part, const struct nb6_part_block *block, struct nbd_stream *stream);
    /** Second kicks and next steps. Sets the numbers of bodies of each level in the word. */
    int (*commit)(const struct nb6_part *part, const struct nb6_part_block *block, struct nbd_stream *stream);

    /** A part alone on its rank (ranks/part.h): its sources on their way to others, [n_own]. */
    int (*pack)(const struct nb6_part *part, struct nb6_source *to, struct nbd_stream *stream);
    /** Sources that have come, n of them, as forces take them. */
    int (*unpack)(const struct nb6_source *from, int64_t n, double *mass, double (*x)[3], struct nbd_stream *stream);
    /** A sum by one set of sources, of n targets, added to that by others. */
    int (*add)(double (*sum)[3], const double (*more)[3], int32_t n, struct nbd_stream *stream);
    /** nb6_part_total of all due bodies. */
    int (*total)(const struct nb6_part *part, int32_t n_due, int slots, const double (*sum)[3],
                 struct nbd_stream *stream);

    /** Work of all bodies along the curve, summed in `sums` pieces: move->sum from move->work, by part->order. */
    int (*weigh)(const struct nb6_part *part, const struct nb6_part_move *move, int sums, struct nbd_stream *stream);
    /** Sources and bodies of a part that has its new owners, and its numbers of bodies of each level in the word. */
    int (*take)(const struct nb6_part *part, const struct nb6_part_move *move, struct nbd_stream *stream);

    /** Softened forces of a part, from when it is opened.
     *  @param[in] device   number of the part's device
     *  @param[in] options  of the forces of the system, which `system` makes
     *  @param[out] force   `system`, or a handle of the part, which gpunb_free closes
     *  @return NBC_OK; what gpunb_create returned */
    int (*open_force)(gpunb_t **force, const struct nb6_part *part, int device, const struct gpunb_options *options,
                      gpunb_t *system, struct nbc_error *err);
    /** As gpunb_softened_device_bytes. */
    int (*force_bytes)(gpunb_t *force, size_t n_i, size_t n_j, size_t *bytes, struct nbc_error *err);
    /** Of a part that keeps its tree: as gpunb_softened_device_kept_bytes and gpunb_softened_device_tree. */
    int (*kept_bytes)(gpunb_t *force, const struct nb6_part *part, size_t *tree, size_t *work, struct nbc_error *err);
    int (*open_tree)(gpunb_t *force, const struct nb6_part *part, gpunb_tree_t **tree, struct nbc_error *err);
    /** Whether forces by tree tell their work and the order of sources. */
    int (*tells_order)(const gpunb_t *force);
    /** As gpunb_softened_device_begin. */
    int (*begin)(gpunb_t *force, const struct gpunb_softened_device *job, struct nbd_stream *stream,
                 struct nbc_error *err);
    /** As gpunb_softened_device. The status, or the word, tells that a sum failed. */
    int (*sum)(gpunb_t *force, const struct nb6_part *part, const struct gpunb_softened_device *job,
               struct nbd_stream *stream, struct nbc_error *err);
};

/** Emulated devices: the stages are those of a GPU, and so are the forces of the backend `emulated`. Any other backend
 *  makes them by gpunb_softened, from the arrays of the part. */
extern const struct nb6_residence nb6_residence_emulated;
/** GPUs. NULL: this library was built without CUDA. */
extern const struct nb6_residence *const nb6_residence_cuda;

#endif
