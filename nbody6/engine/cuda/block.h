/** Blocks on a GPU: one kernel that stays there for many of them. */
#ifndef NB6_CUDA_BLOCK_H
#define NB6_CUDA_BLOCK_H

#include "nbody6/engine/cuda/helpers.h"
#include "nbody6/engine/stages/state.h"
#include "nbody6/state/body.h"

#include <cuda_runtime_api.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What the host answers, as numbers that the device fetches at one time. */
struct nb6_device_reply {
    int64_t answer;           /**< enum nb6_host_service_answer */
    int64_t t_ask, n_ask;     /**< as they are now (stages/state.h) */
    int64_t n_changed_bodies; /**< places in the list (nb6_host_service_changed) */
};

/** What the kernel and the host tell each other within blocks (engine/host_service.h), in memory of the host that the
 * device sees. Who speaks writes all else first, and its count last. */
struct nb6_host_mailbox {
    uint32_t asked; /**< questions of the kernel so far */
    int32_t is_after, has_tides, n;
    uint32_t noted_before; /**< as `noted`, when it asked */
    nb6_time now, t;       /**< of the block before, of this one */
    int32_t *member;       /**< [n] watched, or shown */
    uint32_t answered;     /**< questions that the host has answered */
    struct nb6_device_reply reply;
    int32_t *changed_bodies; /**< [n_changed_bodies] places (nb6_host_service_changed) */
    /** Steps that the host is told of, in a ring: so many by the kernel so far, as the first block of threads and the
     * notifier block (cuda/notifier.cuh) say, of whom one may be behind the other; so many the host has taken. */
    uint32_t noted, noted_by_notifier, taken;
    int32_t has_failed;        /**< 1: some kernel has, for which another one may not wait (cuda/helpers.h) */
    nb6_time reached;          /**< time of the last block of which it has been told; written after one of these */
    struct nb6_dev_note *note; /**< [NB6_DEVICE_NOTES] */
};

/** Steps that the kernel may be ahead of the host. */
enum { NB6_DEVICE_NOTES = 1024 };

/** Where the host reads and writes: its image, as the device sees it. */
struct nb6_device_home {
    struct nb6_host_mailbox
        *mailbox; /**< NULL: the device cannot see it; the host makes blocks of which it has a share */
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

/** What all blocks of threads do next, where there is no reason to stop (enum nb6_stop_reason): below 0, so that one
 *  number can be either (cuda/verdict.cuh). */
enum nb6_device_next {
    NB6_DEVICE_GO_ON = -1, /**< the block that was selected */
    NB6_DEVICE_TIDES = -2, /**< sums of tides */
    NB6_DEVICE_LARGE = -3, /**< they leave the block to the kernel of large blocks */
    NB6_DEVICE_AGAIN = -4, /**< nothing: the block is given up, for the host has to look at the one before
                                (cuda/notifier.cuh) */
    NB6_DEVICE_LOOKS = -5  /**< a look at many members of the last block */
};

/** Most notes, and members to look at, that are left to the notifier block. */
enum { NB6_DEVICE_DICTATED = 16 };

/** What the notifier block has to note and to look at, and what it has found (cuda/notifier.cuh). */
struct nb6_deferred_work {
    uint32_t answers; /**< to so many calls; written last */
    uint32_t noted;   /**< notes before these, and questions */
    uint32_t questions;
    int32_t n_told, n_look;
    int32_t told[NB6_DEVICE_DICTATED], look[NB6_DEVICE_DICTATED];
    int32_t n_found; /**< of these the host has to look at so many: the block that is being made is given up */
    int32_t found[2 * NB6_DEVICE_DICTATED];
};

/** Room for what a kernel hands on to the next one. */
enum { NB6_DEVICE_KEPT = 40 };

/** What the blocks of a kernel tell each other, and the host at the end. */
struct nb6_device_control_block {
    int32_t verdict;      /**< enum nb6_stop_reason, once it has stopped; enum nb6_device_next (cuda/verdict.cuh) */
    int32_t is_known;     /**< who ends its regular step is known before the irregular stage */
    int32_t n_reg;        /**< that many do */
    int32_t most;         /**< all find the members, of levels up to this one; -1: they are known */
    int32_t n_due;        /**< that many were found */
    int32_t n_look;       /**< members of a block that all have made, if they may be part of an encounter */
    int32_t too_long;     /**< a list does not fit its row */
    int32_t n_tides;      /**< systems in dev->member of which the host has asked for the tide of far bodies */
    int32_t is_corrected; /**< corrections of watched members are there, or will not be */
    int32_t refused;      /**< likewise: a reason not to make the block after all; NB6_DEVICE_GO_ON */
    uint32_t arrived;     /**< blocks of threads, at all barriers so far */
    uint32_t calls;       /**< of the notifier block so far; it looks at both numbers at once */
    uint32_t taken;       /**< units of work that warps have taken */
    /** 2^32 body + slot of the first member with a NaN from the irregular stage, after it; INT64_MAX: none. */
    int64_t unsound, unsound_reg;
    int64_t pending[2]; /**< targets without a list, in this round and the next */
    int64_t blocks;     /**< made so far by the kernels of a call */
    uint64_t kept[NB6_DEVICE_KEPT];
    struct nb6_deferred_work deferred_work;
    struct nb6_device_home home;
    struct nb6_device_help help;
};

/** Levels are read 16 at a time: so many bytes more than there are bodies. */
enum { NB6_DEVICE_LEVEL_PADDING = 16 };
/** Up to so many targets share sources; more have lanes of their own. */
enum { NB6_DEVICE_FEW = 40 };
/** Counts of a block of threads in a sort: of so many digits. */
enum { NB6_DEVICE_DIGITS = 256 };

/** Targets of large blocks whose pairs with those of other such groups are summed at once (cuda/mutual.cuh), and most
 *  groups. */
enum { NB6_DEVICE_GROUP = 128, NB6_DEVICE_MOST_GROUPS = 1 << 14 };

/** What the kernel wants of a device. */
struct nb6_device_size {
    int blocks;      /**< of threads; 0: the device cannot make them wait for each other */
    size_t partials; /**< numbers in dev->partial */
};

/** @param[out] size  of the kernel on a device */
cudaError_t nb6_device_size_of(int device, struct nb6_device_size *size);
/** Enqueue the kernel: blocks up to and including t_stop, at most max_blocks. If it ends with NB6_DEVICE_LARGE, that of
 *  the large block comes next, and then it goes on.
 *  @param[in,out] word  of the device: verdict, unsound numbers, home and help as they are at the begin, all else zero;
 *  or as the kernel of a large block has left it */
cudaError_t nb6_device_run(const struct nb6_dev *now, struct nb6_device_control_block *control_block, nb6_time t_stop,
                           int64_t max_blocks, int blocks, cudaStream_t stream);

/** Before the first large block on the present GPU, and before kernels of other GPUs wait: the kernel is loaded. */
cudaError_t nb6_device_prepare_large(void);
/** Enqueue the kernel that makes the large block. */
cudaError_t nb6_device_run_large(const struct nb6_dev *now, struct nb6_device_control_block *control_block, int blocks,
                                 cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
