/** Moves of what has changed alone, instead of the whole state, between host memory and image: when systems form, end
 *  or change, a few hundred bodies of a large cluster have changed. Both are then what a move of all makes of them. */
#ifndef NB6_ENGINE_IMAGE_PART_H
#define NB6_ENGINE_IMAGE_PART_H

#include "common/nbc.h"
#include "nbody6/engine/stages/parcel.h"
#include "nbody6/engine/stages/state.h"

#include <stddef.h>
#include <stdint.h>

struct nb6_sim;

/** Bodies and lists that an import moves. Zero-initialise. */
struct nb6_dev_part {
    int64_t n, numbers; /**< bodies with changes that take part; numbers in their lists */
    int32_t n_gone, n_come;
    int64_t n_source, n_system; /**< sources of pulls that leave all bodies; systems with other records, -1: all */
    int64_t n_watched;          /**< room for bodies watched in another way, beside those that come */
    int32_t *body;              /**< [n] ascending */
    int32_t *gone, *come;       /**< [n_gone] places before, [n_come] places now: ascending */
};

/** Find the bodies that have changed in host memory since it was equal to the image.
 *  @param[in] dev  the image in host memory, with the places of before
 *  @return 1; 0: it is not known which, or they are too many, or do not fit, or there is no memory: the whole state has
 *  to move. Nothing is allocated then */
int nb6_dev_find_part(struct nb6_sim *sim, const struct nb6_dev *dev, struct nb6_dev_part *part);
void nb6_dev_free_part(struct nb6_dev_part *part);
/** A parcel with the numbers of a part, yet to be laid out. The image has the places of before. */
struct nb6_dev_parcel nb6_dev_parcel_for(const struct nb6_sim *sim, const struct nb6_dev *dev,
                                         const struct nb6_dev_part *part);
/** Fill its head: bodies that go and come, and what has left all bodies (state/touched.h), which the image does first.
 */
void nb6_dev_fill_head(const struct nb6_sim *sim, const struct nb6_dev *dev, const struct nb6_dev_part *part,
                       struct nb6_dev_parcel *parcel);
/** After it: dev->n and dev->first_centre are those of now. */
void nb6_dev_set_numbers(const struct nb6_sim *sim, struct nb6_dev *dev);
/** After it: update the map between places and bodies, move records of systems to their new places, where those that
 *  have come are undefined, and fill the bodies that travel.
 *  @param[in] rows  scratch with room for these records (stages/parcel.h) */
void nb6_dev_place_part(const struct nb6_sim *sim, const struct nb6_dev *dev, const struct nb6_dev_part *part,
                        struct nb6_dev_parcel *parcel, int32_t *rows);

/** Whether so many bodies may be exported as a part; if not, the whole state has to move. */
int nb6_dev_is_part(const struct nb6_dev *dev, int64_t n);

/** The parts of a parcel in memory at `data`; NULL: only count.
 *  @param[in,out] parcel  n, numbers, n_gone, n_come, n_source, n_system, n_watched; pointers
 *  @param[out] head  bytes up to `place`: what the device has to know before the bodies
 *  @return bytes of all */
size_t nb6_dev_lay_out_parcel(void *data, struct nb6_dev_parcel *parcel, size_t *head);

#endif
