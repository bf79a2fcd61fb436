/** Blocks of the emulated engine whose regular forces GPUNB makes, on emulated devices (gpunb/regf_device.h). */
#ifndef NB6_EMULATED_LEAVE_H
#define NB6_EMULATED_LEAVE_H

#include "common/nbc.h"
#include "device/device.h"
#include "gpunb/gpunb.h"
#include "nbody6/engine/stages/state.h"

#include <stddef.h>
#include <stdint.h>

/** GPUNB and what it works on. Zero-initialise. */
struct nb6_emulated_forces {
    gpunb_t *reg;
    int owns_reg; /**< 1: its own, because that of the run is no emulated one */
    struct nbd_device device;
    struct nbd_stream *stream;
    void *scratch;
    size_t scratch_bytes;
    struct gpunb_dev_asked *asked, *again; /**< [n] targets, and those that are asked for again */
    int32_t *target;                       /**< [n] which these are */
};

/** Ready for up to n bodies.   @param[in] reg  of the run, whose devices are taken if they are emulated ones
 *  @param[in] force_error  of a tree; 0: direct sums
 *  @return NBC_OK; NBC_NO_MEMORY; NBC_DEVICE: nothing is open then */
int nb6_emulated_forces_open(struct nb6_emulated_forces *f, gpunb_t *reg, double force_error, int64_t n,
                             struct nbc_error *err);
void nb6_emulated_forces_close(struct nb6_emulated_forces *f);

/** Regular forces and lists of n targets at control->t, whose sources are in dev->sums; control->pairs_reg_block counts
 *  them.   @param[in] is_again  as of struct gpunb_regf_device   @return NBC_OK; NBC_DEVICE */
int nb6_emulated_make_forces(struct nb6_emulated_forces *f, const struct nb6_dev *dev, struct gpunb_dev_asked *asked,
                             int64_t n, int is_again, struct nbc_error *err);
/** Regular forces and lists of all members that end a regular step, and their correctors. Lists that do not fit a row
 *  are noted in control->longest and the flags of members, which then are not corrected.
 *  @return NBC_OK; NBC_DEVICE */
int nb6_emulated_leave(struct nb6_emulated_forces *f, const struct nb6_dev *dev, struct nbc_error *err);

#endif
