/** Messages of the host about bodies to where the image of a run is: what it asks of them, and how they change.
 */
#ifndef NB6_ENGINE_EDIT_H
#define NB6_ENGINE_EDIT_H

#include "common/hd.h"
#include "nbody6/state/body.h"

#include <stdint.h>

/** A body of the image at a time. */
struct nb6_gathered {
    struct nb6_body body;
    struct nb6_star star;
    double potential; /**< sum of m/r at its place, by all bodies of the image that were not asked for */
};

/** A body that goes on with another mass. */
struct nb6_changed {
    nb6_index body;
    int32_t spare;
    double mass;       /**< from now on */
    double lost;       /**< what it had more */
    double x[3], v[3]; /**< as others see it at the time of the change */
};

/** A body from whose irregular polynomial something leaves: what systems do beyond points of mass has changed for it.
 */
struct nb6_pulled {
    nb6_index body;
    int32_t spare;
    double acc[3], jerk[3]; /**< at the time of the change */
};

/** Bodies of an image change at a time between two of its blocks. */
struct nb6_edit {
    nb6_time t;
    int64_t n;
    const struct nb6_changed *changed; /**< [n] bodies ascend */
    int64_t n_pulled;
    const struct nb6_pulled *pulled; /**< [n_pulled] bodies ascend */
    int with_systems;                /**< 1: slots that the open transaction has saved have changed; no list has */
};

#endif
