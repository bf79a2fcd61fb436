/** Devices that hold the parts of a collisionless system (part.h): GPUs, or memory that emulates them. The calls of one
 *  place are executed in their order; `exchange` follows all earlier calls of both places. A call may return before its
 *  work is done, unless its comment says otherwise. All return NBC_OK, or NBC_DEVICE, NBC_NO_MEMORY. */
#ifndef NB6_RESIDENCE_H
#define NB6_RESIDENCE_H

#include "common/nbc.h"
#include "gpunb/gpunb.h"
#include "nbody6/collisionless/part.h"

struct nb6_device_domain;

/** Constants of all stages of a block. */
struct nb6_part_block {
    nb6_time ti_now, ti_next;
    int32_t n_due; /**< of the part's own bodies */
};

struct nb6_residence {
    const char *name;
    /** Allocate all arrays of a part whose n, n_own and rules are set. Done when it returns.
     *  @param[in] device  number of the GPU   @param[in] force  of the system; used if memory emulates the devices */
    int (*open)(struct nb6_device_domain **place, struct nb6_part *part, int device, const struct gpunb_options *force,
                struct nbc_error *err);
    void (*close)(struct nb6_device_domain *place);
    /** Between memory of the place and ordinary memory. Done when they return. */
    int (*put)(struct nb6_device_domain *place, void *to, const void *from, size_t bytes, struct nbc_error *err);
    int (*get)(struct nb6_device_domain *place, void *to, const void *from, size_t bytes, struct nbc_error *err);

    /** First kicks and drift of the own bodies. Sets `bad` of the word: a body with a position beyond the limit, or
     *  NB6_NOBODY_BAD. */
    int (*drift)(struct nb6_device_domain *place, const struct nb6_part_block *block, struct nbc_error *err);
    /** Copies positions of the own bodies of another place, while sums over own bodies can be under way. */
    int (*exchange)(struct nb6_device_domain *place, void *to, struct nb6_device_domain *other, const void *from,
                    size_t bytes, struct nbc_error *err);
    /** Selects the bodies that are due, computes their accelerations, and checks that these are finite. */
    int (*force)(struct nb6_device_domain *place, const struct nb6_part_block *block, struct nbc_error *err);
    /** Waits.   @param[out] word  of the part */
    int (*look)(struct nb6_device_domain *place, struct nb6_part_word *word, struct nbc_error *err);
    /** Second kicks and next steps. Sets the numbers of bodies of each level in the word. */
    int (*commit)(struct nb6_device_domain *place, const struct nb6_part_block *block, struct nbc_error *err);
};

/** Memory that emulates devices: the stages are those of a GPU, forces those of a backend on processors. */
extern const struct nb6_residence nb6_residence_emulated;
/** GPUs. NULL: this library was built without CUDA. */
extern const struct nb6_residence *const nb6_residence_cuda;

#endif
