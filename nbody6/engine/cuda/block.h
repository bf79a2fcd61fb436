/** Block steps on a GPU: one kernel stays resident for many of them. */
#ifndef NB6_CUDA_BLOCK_H
#define NB6_CUDA_BLOCK_H

#include "nbody6/engine/stages/state.h"
#include "nbody6/state/body.h"

#include <cuda_runtime_api.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Answer of the host, as numbers that the device loads together. */
struct nb6_device_reply {
    int64_t answer;           /**< enum nb6_host_service_answer */
    int64_t t_ask, n_ask;     /**< current values (stages/state.h) */
    int64_t n_changed_bodies; /**< entries of the list (nb6_host_service_changed) */
};

/** Messages between the kernel and the host within blocks (engine/host_service.h), in memory of the host that the
 *  device maps. The sender writes the data first, and its count last. */
struct nb6_host_mailbox {
    uint32_t asked; /**< questions of the kernel so far */
    int32_t is_after, has_tides, n;
    uint32_t noted_before; /**< value of `noted` at the time of the question */
    nb6_time now, t;       /**< of the block before, of this one */
    int32_t *member;       /**< [n] watched bodies (stages/state.h), or members copied to the host image */
    uint32_t answered;     /**< questions that the host has answered */
    struct nb6_device_reply reply;
    int32_t *changed_bodies; /**< [n_changed_bodies] indices (nb6_host_service_changed) */
    /** Ring of notes, one for each step that the host follows: notes written so far, counted by the first block of
     *  threads and by the notifier block (cuda/notifier.cuh), either of which may lag behind the other; notes read by
     *  the host. */
    uint32_t noted, noted_by_notifier, taken;
    int32_t has_failed;        /**< 1: a kernel has failed; one that waits for the host has to end */
    nb6_time reached;          /**< time of the last block whose notes are complete; written after the counts */
    struct nb6_dev_note *note; /**< [NB6_DEVICE_NOTES] */
};

/** Capacity of the ring: so many steps the kernel may be ahead of the host. */
enum { NB6_DEVICE_NOTES = 1024 };

/** Device addresses of the image in host memory, `home`, which the host reads and writes. */
struct nb6_device_home {
    struct nb6_host_mailbox *mailbox; /**< NULL: no mapped host memory; the host computes blocks with its service */
    int32_t *member, *changed_bodies; /**< of the mailbox */
    struct nb6_body *body;
    struct nb6_star *star;
    int8_t *level, *watch, *shown;
    int32_t *row, *ask;
    struct nb6_dev_system *system;
    struct nb6_remote *remote;
    struct nb6_dev_note *note; /**< of the mailbox */
    struct nb6_dev_correction *correction;
    struct nb6_dev_tide *far;
};

/** The next task of all blocks of threads, if there is no reason to stop (enum nb6_stop_reason): below 0, so that one
 *  number can be either (cuda/verdict.cuh). */
enum nb6_device_next {
    NB6_DEVICE_GO_ON = -1,  /**< the block that was selected */
    NB6_DEVICE_TIDES = -2,  /**< sums of tides */
    NB6_DEVICE_LEAVES = -3, /**< they end, and GPUNB makes the regular forces of the block (cuda/leave.h) */
    NB6_DEVICE_AGAIN = -4,  /**< nothing: the block is given up, for the host has to look at the one before
                                 (cuda/notifier.cuh) */
    NB6_DEVICE_LOOKS = -5   /**< a look at many members of the last block */
};

/** Most notes, and most members to examine, that are deferred to the notifier block. */
enum { NB6_DEVICE_DEFERRED = 16 };

/** Work deferred to the notifier block, notes to write and members to examine, and its result (cuda/notifier.cuh). */
struct nb6_deferred_work {
    uint32_t answers; /**< requests completed; written last */
    uint32_t noted;   /**< counts of notes and questions before this request */
    uint32_t questions;
    int32_t n_told, n_look;
    int32_t told[NB6_DEVICE_DEFERRED], look[NB6_DEVICE_DEFERRED];
    int32_t n_found; /**< members that the host has to examine; above 0 the block under way is discarded */
    int32_t found[2 * NB6_DEVICE_DEFERRED];
};

/** Words of state that a kernel passes on to the next one. */
enum { NB6_DEVICE_KEPT = 40 };

/** Shared state of the blocks of threads of a kernel, and its report to the host. */
struct nb6_device_control_block {
    int32_t verdict;      /**< enum nb6_stop_reason, once it has stopped; NB6_DEVICE_GO_ON, _TIDES, _LOOKS, _LEAVES */
    int32_t is_known;     /**< 1: n_reg is known before the irregular force */
    int32_t n_reg;        /**< members that end a regular step */
    int32_t most;         /**< all search for members, of levels up to this one; -1: members are known */
    int32_t n_due;        /**< members found by that search */
    int32_t n_look;       /**< members, of a block computed by all, that may take part in an encounter */
    int32_t too_long;     /**< a list does not fit its row */
    int32_t n_tides;      /**< systems in dev->member for which the host needs the tide of far bodies */
    int32_t is_corrected; /**< 1: corrections of watched members are complete, or the block is refused */
    int32_t refused;      /**< reason to discard the block; NB6_DEVICE_GO_ON: none */
    uint32_t arrived;     /**< arrivals of blocks of threads at all barriers so far */
    uint32_t calls;       /**< requests to the notifier block so far, which reads both numbers together */
    int32_t n_again;      /**< members of a block that has left whose lists were too long */
    /** 2^32 body + number of the first member with a NaN in the irregular stages, and after them; INT64_MAX: none. */
    int64_t unsound, unsound_reg;
    int64_t pending[2]; /**< targets without a list, in this round and the next */
    int64_t blocks;     /**< blocks advanced so far by the kernels of a call */
    nb6_time t;         /**< of a block that leaves */
    uint64_t kept[NB6_DEVICE_KEPT];
    struct nb6_deferred_work deferred_work;
    struct nb6_device_home home;
    const struct nb6_dev_control *run; /**< identity of the run: its record on the device (constant.cuh) */
};

/** Levels are read 16 at a time, which takes so many bytes beyond the last body. */
enum { NB6_DEVICE_LEVEL_PADDING = 16 };
/** Up to so many targets, lanes take sources; with more, lanes take targets. */
enum { NB6_DEVICE_FEW = 40 };
/** Resources of the kernel on a device. */
struct nb6_device_size {
    int blocks; /**< blocks of threads; 0: the device supports no barrier across them */
};

/** @param[out] size  of the kernel on a device */
cudaError_t nb6_device_size_of(int device, struct nb6_device_size *size);
/** Enqueue the kernel: blocks up to and including t_stop, at most max_blocks. If it ends with NB6_DEVICE_LEAVES,
 *  nb6_device_leave has to follow, and then this one again.
 *  @param[in,out] control_block  in memory of the device: reason, unsound numbers and home with their initial values,
 *  all else zero; or as nb6_device_leave has left it */
cudaError_t nb6_device_run(const struct nb6_dev *now, struct nb6_device_control_block *control_block, nb6_time t_stop,
                           int64_t max_blocks, int blocks, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
