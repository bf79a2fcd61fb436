/** Bodies of a resident system get other owners (owners.h): the work of all is summed along the curve on the first
 *  part, the host divides it, and each part copies what it needs from the devices of all others. */
#ifndef NB6_DIVISION_H
#define NB6_DIVISION_H

#include "common/nbc.h"
#include "nbody6/collisionless/domain.h"
#include "nbody6/collisionless/part.h"

/** A part as the host knows it. */
struct nb6_resident_part {
    struct nb6_device_domain *domain;
    struct nb6_part part;
    struct nb6_part_word word;
};

/** Whether forces on all bodies tell their order and their work: those of all parts are by tree.
 *  @param[in] kept  of the block */
int nb6_division_is_possible(const struct nb6_resident_part *one, int parts, enum gpunb_kept_tree kept);
/** After a block with `orders`, at whose end all bodies end a step. Waits.
 *  @return NBC_OK; NBC_DEVICE, NBC_NO_MEMORY: the state on the devices is lost */
int nb6_division_make(struct nb6_resident_part *one, int parts, struct nbc_error *err);

#endif
