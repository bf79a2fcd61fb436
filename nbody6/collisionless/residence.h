/** Where the parts of a collisionless system live (part.h): GPUs, or memory that stands for them. All calls of one
 *  place are made in the order in which they come; `exchange` comes after what both places were told before. They need
 *  not be done when they return, but for those that say so. All return NBC_OK, or NBC_DEVICE, NBC_NO_MEMORY. */
#ifndef NB6_RESIDENCE_H
#define NB6_RESIDENCE_H

#include "common/nbc.h"
#include "gpunb/gpunb.h"
#include "nbody6/collisionless/part.h"

struct nb6_device_domain;

/** What is the same for all stages of a block. */
struct nb6_part_block {
    nb6_time ti_now, ti_next;
    int32_t n_due; /**< of the part's own bodies */
};

struct nb6_residence {
    const char *name;
    /** Memory for a part, whose n, n_own and rules are set: all arrays. Done when it returns.
     *  @param[in] device  number of the GPU   @param[in] force  of the system: where memory stands for devices */
    int (*open)(struct nb6_device_domain **place, struct nb6_part *part, int device, const struct gpunb_options *force,
                struct nbc_error *err);
    void (*close)(struct nb6_device_domain *place);
    /** Between memory of the place and ordinary memory. Done when they return. */
    int (*put)(struct nb6_device_domain *place, void *to, const void *from, size_t bytes, struct nbc_error *err);
    int (*get)(struct nb6_device_domain *place, void *to, const void *from, size_t bytes, struct nbc_error *err);

    /** Stage 1: first kicks and drift of the own bodies; the word is that nobody is bad, unless a position is. */
    int (*drift)(struct nb6_device_domain *place, const struct nb6_part_block *block, struct nbc_error *err);
    /** Stage 2: positions of the own bodies of another place, while sums over own bodies can be under way. */
    int (*exchange)(struct nb6_device_domain *place, void *to, struct nb6_device_domain *other, const void *from,
                    size_t bytes, struct nbc_error *err);
    /** Stage 3: who is due, accelerations, whether they are finite. */
    int (*force)(struct nb6_device_domain *place, const struct nb6_part_block *block, struct nbc_error *err);
    /** Waits. @param[out] word  of the part */
    int (*look)(struct nb6_device_domain *place, struct nb6_part_word *word, struct nbc_error *err);
    /** Stage 4: second kicks, next steps; the word has the number of bodies of each level then. */
    int (*commit)(struct nb6_device_domain *place, const struct nb6_part_block *block, struct nbc_error *err);
};

/** Memory that stands for devices: the stages are those of a GPU, forces those of a backend on processors. */
extern const struct nb6_residence nb6_residence_emulated;
/** GPUs. NULL: this library was built without CUDA. */
extern const struct nb6_residence *const nb6_residence_cuda;

#endif
