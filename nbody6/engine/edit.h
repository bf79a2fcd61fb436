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
    double potential; /**< sum of m/r at its place, by all bodies of the image that were not asked for; or 0 */
};

/** Points in space at which the field is asked for. */
struct nb6_field_points {
    int64_t n;
    const double (*x)[3];
    double (*sum)[4];    /**< [n] by single stars: acceleration, and the potential as the fourth number */
    double (*centre)[3]; /**< places of all centres of mass, in their order, whose members are not in the sums */
};

/** A body with another mass. */
struct nb6_changed {
    nb6_index body;
    int32_t spare;
    double mass;       /**< from now on */
    double lost;       /**< what it had more */
    double x[3], v[3]; /**< as others see it at the time of the change */
};

/** The other effects of a sudden change of a body. */
struct nb6_sudden {
    int32_t begins;    /**< 1: it goes on from x with v, and begins anew there */
    int32_t is_felt;   /**< 1: those that have it in their lists begin anew */
    double was;        /**< its mass before */
    double x[3], v[3]; /**< at the time of the change, as a frame has it, and after it */
    double speed;      /**< by which its velocity changes: those whom it will pass begin anew */
};

/** Those whom a change concerns so much that they begin anew. */
struct nb6_disturbed {
    int64_t n;     /**< that can begin in an image */
    double spread; /**< velocity dispersion of all bodies at that time */
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
    const struct nb6_sudden *sudden; /**< [n] NULL: nobody begins anew, and */
    struct nb6_disturbed disturbed;  /**< has no meaning; `disturb` has found them */
};

#endif
