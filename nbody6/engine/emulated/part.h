/** Moves of what has changed alone (engine/image_part.h), in the emulated engine. */
#ifndef NB6_EMULATED_PART_H
#define NB6_EMULATED_PART_H

#include "common/nbc.h"
#include "nbody6/engine/image_part.h"
#include "nbody6/engine/stages/state.h"

struct nb6_sim;

/** The image of an earlier import becomes that of the state.
 *  @return 1; 0: the whole state has to move; the image is as it was */
int nb6_emulated_import_part(struct nb6_sim *sim, struct nb6_dev *dev);
/** The state becomes that of the image.
 *  @param[out] status  as nb6_dev_store_parcel
 *  @return 1; 0: the whole state has to move; nothing has changed */
int nb6_emulated_export_part(struct nb6_sim *sim, struct nb6_dev *dev, int *status, struct nbc_error *err);

#endif
