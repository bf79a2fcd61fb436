/** Bodies that begin anew in an image (stages/begin.h): what the host prepares, and what it notes. */
#ifndef NB6_ENGINE_IMAGE_BEGIN_H
#define NB6_ENGINE_IMAGE_BEGIN_H

#include "nbody6/engine/edit.h"
#include "nbody6/engine/stages/begin.h"
#include "nbody6/engine/stages/state.h"
#include "nbody6/state/pull.h"

#include <stdint.h>

/** Most sources of the pulls of so many changed bodies. */
static inline int64_t nb6_dev_most_sources(int64_t n)
{
    return 2 * n;
}

/** Pulls that leave all others: of a body on a new path all that was, and, with a mass below zero, all that is.
 *  @param[in] dev  in host memory   @param[out] source  with places   @return their number */
int64_t nb6_dev_fill_pulls(const struct nb6_dev *dev, const struct nb6_edit *edit, struct nb6_pull_source *source);
/** Whether any velocity changes. */
int nb6_dev_any_speed(const struct nb6_edit *edit);
/** After it: the time of the image is that of the edit, and the next export stores all bodies.
 *  @param[in] pairs  of a target and a source, by tree or not, for each of its targets, in all rounds */
void nb6_dev_note_begun(struct nb6_dev_control *control, const struct nb6_edit *edit, int64_t pairs, int by_tree,
                        uint64_t overflows);

#endif
