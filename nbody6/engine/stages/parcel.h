/** Parts of an image that travel between host memory and device (engine/image_part.h): records and lists of bodies that
 *  have changed on one side since both were equal. Where bodies come or go, the others get new places on the device,
 *  in their records and in all lists; all lists are in first rows then, and second rows are scratch. */
#ifndef NB6_STAGES_PARCEL_H
#define NB6_STAGES_PARCEL_H

#include "common/hd.h"
#include "nbody6/engine/stages/predictor.h"
#include "nbody6/engine/stages/state.h"
#include "nbody6/state/body.h"
#include "nbody6/state/pull.h"

#include <stdint.h>

/** Bodies one after another, in memory of either side. */
struct nb6_dev_parcel {
    int64_t n, numbers;     /**< bodies; numbers in `lists` */
    int32_t n_gone, n_come; /**< bodies that took part before, but do not now, and the other way */
    int64_t n_before;       /**< bodies that took part before */
    int32_t *place;         /**< [n] ascending; NULL: 0, 1, ... */
    int64_t *list_at;       /**< [n] offset of the list in `lists`; -1: it does not travel */
    int32_t *gone;          /**< [n_gone] places before, ascending */
    int32_t *come;          /**< [n_come] places now, ascending */
    int8_t *level;          /**< [n] */
    double *t_check;        /**< [n] of quiet pairs, from the device */
    struct nb6_body *body;  /**< [n] */
    struct nb6_star *star;  /**< [n] */
    int32_t *lists;         /**< [numbers] packed, of places */
    int64_t n_source;
    struct nb6_pull_source *source; /**< [n_source] with places before */
};

/* ---- from the device */

/** News of a body since a time at which both sides were equal. */
enum { NB6_DEV_NO_NEWS, NB6_DEV_NEW_BODY, NB6_DEV_NEW_LIST /**< this and more: plus the length of the list */ };

/** A body changes in blocks, which end later than that time; one that was synchronised is marked as shown. */
NBC_HD int32_t nb6_dev_news(const struct nb6_dev *dev, int64_t i, nb6_time since)
{
    if (dev->star[i].t0_reg > since) return NB6_DEV_NEW_LIST + dev->star[i].nnb;
    return dev->body[i].t0 > since || dev->shown[i] ? NB6_DEV_NEW_BODY : NB6_DEV_NO_NEWS;
}

NBC_HD void nb6_dev_pack_body(const struct nb6_dev *dev, const struct nb6_dev_parcel *parcel, int64_t k)
{
    const int32_t i = parcel->place[k];
    parcel->body[k] = dev->body[i];
    parcel->star[k] = dev->star[i];
    parcel->level[k] = dev->level[i];
    parcel->t_check[k] = i < dev->first_centre ? 0 : dev->system[i - dev->first_centre].t_check;
}

/** Every lanes-th number of a list. */
NBC_HD void nb6_dev_pack_numbers(const struct nb6_dev *dev, const struct nb6_dev_parcel *parcel, int64_t k, int lane,
                                 int lanes)
{
    const int32_t i = parcel->place[k], nnb = dev->star[i].nnb, *list = nb6_dev_list(dev, i);
    const int64_t at = parcel->list_at[k];
    for (int32_t m = lane; m < nnb && at >= 0; m += lanes) parcel->lists[at + m] = list[m];
}

/* ---- to the device: bodies that take part already lose what has left all of them first */

/** The pulls of n sources at time t leave body i, with the bits of nb6_exchange_pulls: the unit that calls it is
 *  compiled without fused multiply-add. Bodies that travel are overwritten later.
 *  @param[in] source [n] bodies are places, and ascend, or -1 */
NBC_HD void nb6_dev_lose_pulls(const struct nb6_dev *dev, nb6_time t, int64_t n, const struct nb6_pull_source *source,
                               int32_t i)
{
    struct nb6_body *body = &dev->body[i];
    const int32_t *list = nb6_dev_list(dev, i), nnb = dev->star[i].nnb;
    struct nb6_pulls pulls = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    double x[3], v[3];
    nb6_predict(body, nb6_time_to_double(t - body->t0), x, v);
    nb6_pulls_of_sources(n, source, x, v, &pulls);
    for (int64_t k = 0; k < n; k++)
        if (source[k].body >= 0 && nb6_dev_is_in_list(list, nnb, source[k].body))
            nb6_pull_to_irregular(source[k].mass, source[k].x, source[k].v, x, v, &pulls);
    nb6_pulls_leave(&pulls, t, body, &dev->star[i]);
}

/* ---- then they get their places */

/** How many of n ascending places come before one. */
NBC_HD int32_t nb6_dev_places_before(const int32_t *place, int32_t n, int32_t end)
{
    int32_t low = 0, high = n;
    while (low < high) {
        const int32_t middle = (low + high) / 2;
        if (place[middle] < end)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/** The place that comes after `rank` others, of those that are not among n ascending ones. */
NBC_HD int32_t nb6_dev_place_of_rank(const int32_t *place, int32_t n, int32_t rank)
{
    int32_t low = 0, high = n;
    while (low < high) {
        const int32_t middle = (low + high) / 2;
        if (place[middle] - middle <= rank)
            low = middle + 1;
        else
            high = middle;
    }
    return rank + low;
}

/** Where a body was that is in a place now; -1: it has come. */
NBC_HD int32_t nb6_dev_former_place(const struct nb6_dev_parcel *parcel, int32_t place)
{
    const int32_t before = nb6_dev_places_before(parcel->come, parcel->n_come, place);
    if (before < parcel->n_come && parcel->come[before] == place) return -1;
    return nb6_dev_place_of_rank(parcel->gone, parcel->n_gone, place - before);
}

/** Where a body is now that was in a place, and has not gone. */
NBC_HD int32_t nb6_dev_present_place(const struct nb6_dev_parcel *parcel, int32_t place)
{
    const int32_t before = nb6_dev_places_before(parcel->gone, parcel->n_gone, place);
    return nb6_dev_place_of_rank(parcel->come, parcel->n_come, place - before);
}

/** Records on their way to another place: stars first, then bodies with levels behind them. */
NBC_HD struct nb6_star *nb6_dev_stars_aside(const struct nb6_dev *dev)
{
    return (struct nb6_star *)(void *)nb6_dev_row(dev, 0, 1);
}

NBC_HD struct nb6_body *nb6_dev_bodies_aside(const struct nb6_dev *dev)
{
    return (struct nb6_body *)(void *)nb6_dev_row(dev, 0, 1);
}

NBC_HD int8_t *nb6_dev_levels_aside(const struct nb6_dev *dev)
{
    return (int8_t *)(nb6_dev_bodies_aside(dev) + dev->n_max);
}

/** Whether second rows have room for them. */
NBC_HD int nb6_dev_has_room_aside(const struct nb6_dev *dev)
{
    const size_t row = (size_t)dev->row_room * sizeof *dev->row;
    return row >= sizeof(struct nb6_star) && row >= sizeof(struct nb6_body) + sizeof(int8_t);
}

NBC_HD void nb6_dev_set_star_aside(const struct nb6_dev *dev, const struct nb6_dev_parcel *parcel, int32_t place)
{
    const int32_t former = nb6_dev_former_place(parcel, place);
    if (former >= 0) nb6_dev_stars_aside(dev)[place] = dev->star[former];
}

NBC_HD void nb6_dev_take_star(const struct nb6_dev *dev, const struct nb6_dev_parcel *parcel, int32_t place)
{
    if (nb6_dev_former_place(parcel, place) >= 0) dev->star[place] = nb6_dev_stars_aside(dev)[place];
}

NBC_HD void nb6_dev_set_body_aside(const struct nb6_dev *dev, const struct nb6_dev_parcel *parcel, int32_t place)
{
    const int32_t former = nb6_dev_former_place(parcel, place);
    if (former < 0) return;
    nb6_dev_bodies_aside(dev)[place] = dev->body[former];
    nb6_dev_levels_aside(dev)[place] = dev->level[former];
}

/** Also of places from dev->n to parcel->n_before, which have no body now. */
NBC_HD void nb6_dev_take_body(const struct nb6_dev *dev, const struct nb6_dev_parcel *parcel, int32_t place)
{
    if (place >= dev->n) dev->level[place] = -1;
    if (place >= dev->n || nb6_dev_former_place(parcel, place) < 0) return;
    dev->body[place] = nb6_dev_bodies_aside(dev)[place];
    dev->level[place] = nb6_dev_levels_aside(dev)[place];
}

/** Every lanes-th number of a list, from a first row to a second one. The caller sets row_now when all lanes have
 * finished. A body that goes is in lists alone that travel. */
NBC_HD void nb6_dev_renumber_list(const struct nb6_dev *dev, const struct nb6_dev_parcel *parcel, int32_t place,
                                  int lane, int lanes)
{
    const int32_t former = nb6_dev_former_place(parcel, place), nnb = former < 0 ? 0 : dev->star[place].nnb;
    const int32_t *from = nb6_dev_row(dev, former < 0 ? 0 : former, 0);
    int32_t *to = nb6_dev_row(dev, place, 1);
    for (int32_t m = lane; m < nnb; m += lanes) to[m] = nb6_dev_present_place(parcel, from[m]);
}

/** Then bodies that travel. */
NBC_HD void nb6_dev_unpack_body(const struct nb6_dev *dev, const struct nb6_dev_parcel *parcel, int64_t k)
{
    const int32_t i = parcel->place[k];
    dev->body[i] = parcel->body[k];
    dev->star[i] = parcel->star[k];
    dev->level[i] = parcel->level[k];
}

NBC_HD void nb6_dev_unpack_numbers(const struct nb6_dev *dev, const struct nb6_dev_parcel *parcel, int64_t k, int lane,
                                   int lanes)
{
    const int32_t i = parcel->place[k], nnb = parcel->star[k].nnb, *from = parcel->lists + parcel->list_at[k];
    int32_t *to = nb6_dev_row(dev, i, dev->row_now[i]);
    for (int32_t m = lane; m < nnb; m += lanes) to[m] = from[m];
}

/** Then, for control->ti_now, all of them. */
NBC_HD void nb6_dev_renew_predictor(const struct nb6_dev *dev, int64_t i)
{
    dev->predictor[i] = nb6_predictor_at(&dev->body[i], dev->level[i], dev->control->ti_now);
}

#endif
