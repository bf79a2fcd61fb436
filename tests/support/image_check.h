/** The image of the emulated engine beside one that is imported anew (nbody6/engine/engine.h). */
#ifndef NB6_TEST_IMAGE_CHECK_H
#define NB6_TEST_IMAGE_CHECK_H

#include "nbody6/run/nbody6.h"

/** The image of a run is, in all that forces, levels and lists depend on, byte for byte the one that an import of the
 *  same state makes in a run that is resumed from it. */
void cluster_assert_image_is_an_import(nb6_t *sim);
/** After an import the records of all systems are those that are made of the state, whichever of them it has made. */
void cluster_assert_records_of_all_systems(nb6_t *sim);

#endif
