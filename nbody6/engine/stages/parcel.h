/** Parts of an image that travel between host memory and device (engine/image_part.h): records and lists of bodies that
 *  have changed on one side since both were equal, and records of systems. Where bodies come or go, the others get new
 *  places on the device, in their records and in all lists. All lists are in the same of both rows then
 *  (dev->settled), the other one is scratch, and they end up there; so that the next time few are in the wrong one. */
#ifndef NB6_STAGES_PARCEL_H
#define NB6_STAGES_PARCEL_H

#include "common/hd.h"
#include "nbody6/engine/stages/predictor.h"
#include "nbody6/engine/stages/state.h"
#include "nbody6/state/body.h"
#include "nbody6/state/pull.h"

#include <stdint.h>

/** Records are copied in such words, whatever they consist of. */
typedef uint64_t __attribute__((__may_alias__)) nb6_dev_word;
NBC_ASSERT_CONSTANT(sizeof(struct nb6_body) % sizeof(nb6_dev_word) == 0 &&
                        sizeof(struct nb6_star) % sizeof(nb6_dev_word) == 0 &&
                        sizeof(struct nb6_dev_system) % sizeof(nb6_dev_word) == 0 &&
                        sizeof(struct nb6_remote) % sizeof(nb6_dev_word) == 0,
                    "words fill them");

/** So few bodies that have gone or come are searched without a branch or a look into memory. */
enum { NB6_DEV_FEW = 4 };

/** Bodies one after another, in memory of either side. */
struct nb6_dev_parcel {
    int64_t n, numbers;             /**< bodies; numbers in `lists` */
    int32_t n_gone, n_come;         /**< bodies that took part before, but do not now, and the other way */
    int64_t n_before, first_before; /**< bodies that took part before, and the first centre of mass among them */
    int64_t first, end;             /**< all others have the places that they had */
    int32_t few_gone[NB6_DEV_FEW];  /**< if there are no more, `gone`, then INT32_MAX; */
    int32_t few_come[NB6_DEV_FEW];  /**< and the ranks, among those that have not come, of which `come` are before */
    int32_t *place;                 /**< [n] ascending; NULL: 0, 1, ... */
    int64_t *list_at;               /**< [n] offset of the list in `lists`; -1: it does not travel */
    int32_t *gone;                  /**< [n_gone] places before, ascending */
    int32_t *come;                  /**< [n_come] places now, ascending */
    int8_t *level;                  /**< [n] */
    double *t_check;                /**< [n] of quiet pairs, from the device */
    struct nb6_body *body;          /**< [n] */
    struct nb6_star *star;          /**< [n] */
    int32_t *lists;                 /**< [numbers] packed, of places */
    int64_t n_source;
    struct nb6_pull_source *source; /**< [n_source] with places before */
    int64_t n_system;               /**< systems with other records */
    int32_t *system_at;             /**< [n_system] places now; -1: it takes no part */
    struct nb6_dev_system *system;  /**< [n_system] */
    struct nb6_remote *remote;      /**< [n_system] with places now */
    int64_t n_watched, n_ask;       /**< bodies that may be watched in another way; of them in dev->ask */
    int32_t *watched;               /**< [n_watched] places now, ascending */
    int8_t *watch;                  /**< [n_watched] */
    int32_t *ask;                   /**< [n_watched], of which n_ask are there */
};

/** A record, by lanes. */
NBC_HD void nb6_dev_copy_record(void *to, const void *from, size_t bytes, int lane, int lanes)
{
    nb6_dev_word *const into = (nb6_dev_word *)to;
    const nb6_dev_word *const of = (const nb6_dev_word *)from;
    for (size_t k = (size_t)lane; k < bytes / sizeof *of; k += (size_t)lanes) into[k] = of[k];
}

/* ---- from the device */

/** News of a body since a time at which both sides were equal. */
enum { NB6_DEV_NO_NEWS, NB6_DEV_NEW_BODY, NB6_DEV_NEW_LIST /**< this and more: plus the length of the list */ };

/** A body changes in blocks, which end later than that time; one that was synchronised is marked as shown. */
NBC_HD int32_t nb6_dev_news(const struct nb6_dev *dev, int64_t i, nb6_time since)
{
    if (dev->star[i].t0_reg > since) return NB6_DEV_NEW_LIST + dev->star[i].nnb;
    return dev->body[i].t0 > since || dev->shown[i] ? NB6_DEV_NEW_BODY : NB6_DEV_NO_NEWS;
}

NBC_HD void nb6_dev_pack_body(const struct nb6_dev *dev, const struct nb6_dev_parcel *parcel, int64_t k, int lane,
                              int lanes)
{
    const int32_t i = parcel->place[k];
    nb6_dev_copy_record(&parcel->body[k], &dev->body[i], sizeof *dev->body, lane, lanes);
    nb6_dev_copy_record(&parcel->star[k], &dev->star[i], sizeof *dev->star, lane, lanes);
    if (lane > 0) return;
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
    const int32_t before = nb6_dev_first_from(parcel->come, parcel->n_come, place);
    if (before < parcel->n_come && parcel->come[before] == place) return -1;
    return nb6_dev_place_of_rank(parcel->gone, parcel->n_gone, place - before);
}

/** Whether the body that was in a place has gone. */
NBC_HD int nb6_dev_has_gone(const struct nb6_dev_parcel *parcel, int32_t place)
{
    const int32_t before = nb6_dev_first_from(parcel->gone, parcel->n_gone, place);
    return before < parcel->n_gone && parcel->gone[before] == place;
}

/** Where a body is now that was in a place, and has not gone. */
NBC_HD int32_t nb6_dev_present_place(const struct nb6_dev_parcel *parcel, int32_t place)
{
    int32_t rank = place;
    if (parcel->n_gone > NB6_DEV_FEW || parcel->n_come > NB6_DEV_FEW) {
        rank -= nb6_dev_first_from(parcel->gone, parcel->n_gone, place);
        return nb6_dev_place_of_rank(parcel->come, parcel->n_come, rank);
    }
    NBC_UNROLL for (int k = 0; k < NB6_DEV_FEW; k++) rank -= parcel->few_gone[k] < place;
    place = rank;
    NBC_UNROLL for (int k = 0; k < NB6_DEV_FEW; k++) place += parcel->few_come[k] <= rank;
    return place;
}

/** Memory for records on their way to another place: stars first, then all else, each kind behind another one. */
struct nb6_dev_aside {
    struct nb6_star *star;         /**< [n] */
    struct nb6_body *body;         /**< [n] */
    struct nb6_dev_system *system; /**< [n - first_centre] */
    struct nb6_remote *remote;     /**< [n - first_centre] */
    int8_t *level;                 /**< [n] */
};

/** In rows that are scratch, with places and systems as they are now. */
NBC_HD struct nb6_dev_aside nb6_dev_aside_in(int32_t *rows, const struct nb6_dev *dev)
{
    const int64_t systems = dev->n - dev->first_centre;
    struct nb6_dev_aside aside;
    aside.star = (struct nb6_star *)(void *)rows;
    aside.body = (struct nb6_body *)(void *)rows;
    aside.system = (struct nb6_dev_system *)(void *)(aside.body + dev->n);
    aside.remote = (struct nb6_remote *)(void *)(aside.system + systems);
    aside.level = (int8_t *)(aside.remote + systems);
    return aside;
}

/** Whether these rows have room for so many bodies and systems. */
NBC_HD int nb6_dev_has_room_aside(const struct nb6_dev *dev, int64_t n, int64_t systems)
{
    const int64_t bytes = dev->n_max * dev->row_room * (int64_t)sizeof *dev->row,
                  of_system = (int64_t)(sizeof(struct nb6_dev_system) + sizeof(struct nb6_remote)),
                  of_body = (int64_t)(sizeof(struct nb6_body) + sizeof(int8_t));
    return bytes >= n * (int64_t)sizeof(struct nb6_star) && bytes >= n * of_body + systems * of_system;
}

/** Where a body was that is in a place now; -1: it has come, or was there. */
NBC_HD int32_t nb6_dev_left_place(const struct nb6_dev_parcel *parcel, int32_t place)
{
    const int32_t former = nb6_dev_former_place(parcel, place);
    return former == place ? -1 : former;
}

NBC_HD void nb6_dev_set_star_aside(const struct nb6_dev *dev, const struct nb6_dev_parcel *parcel,
                                   const struct nb6_dev_aside *aside, int32_t place, int lane, int lanes)
{
    const int32_t left = nb6_dev_left_place(parcel, place);
    if (left >= 0) nb6_dev_copy_record(&aside->star[place], &dev->star[left], sizeof *dev->star, lane, lanes);
}

NBC_HD void nb6_dev_take_star(const struct nb6_dev *dev, const struct nb6_dev_parcel *parcel,
                              const struct nb6_dev_aside *aside, int32_t place, int lane, int lanes)
{
    if (nb6_dev_left_place(parcel, place) >= 0)
        nb6_dev_copy_record(&dev->star[place], &aside->star[place], sizeof *dev->star, lane, lanes);
}

NBC_HD void nb6_dev_set_body_aside(const struct nb6_dev *dev, const struct nb6_dev_parcel *parcel,
                                   const struct nb6_dev_aside *aside, int32_t place, int lane, int lanes)
{
    const int32_t left = nb6_dev_left_place(parcel, place);
    if (left < 0) return;
    nb6_dev_copy_record(&aside->body[place], &dev->body[left], sizeof *dev->body, lane, lanes);
    if (lane == 0) aside->level[place] = dev->level[left];
}

NBC_HD void nb6_dev_take_body(const struct nb6_dev *dev, const struct nb6_dev_parcel *parcel,
                              const struct nb6_dev_aside *aside, int32_t place, int lane, int lanes)
{
    if (nb6_dev_left_place(parcel, place) < 0) return;
    nb6_dev_copy_record(&dev->body[place], &aside->body[place], sizeof *dev->body, lane, lanes);
    if (lane == 0) dev->level[place] = aside->level[place];
}

/** Which record a system had whose centre is in a place now; -1: it has come, or has it now. Records are counted from
 * the first centre of mass on, so that they may stay where bodies move, or the other way. */
NBC_HD int64_t nb6_dev_left_record(const struct nb6_dev *dev, const struct nb6_dev_parcel *parcel, int32_t place)
{
    const int32_t former = place < dev->first_centre ? -1 : nb6_dev_former_place(parcel, place);
    const int64_t record = former - parcel->first_before;
    return former < 0 || record == place - dev->first_centre ? -1 : record;
}

NBC_HD void nb6_dev_set_system_aside(const struct nb6_dev *dev, const struct nb6_dev_parcel *parcel,
                                     const struct nb6_dev_aside *aside, int32_t place, int lane, int lanes)
{
    const int64_t left = nb6_dev_left_record(dev, parcel, place), at = place - dev->first_centre;
    if (left < 0) return;
    nb6_dev_copy_record(&aside->system[at], &dev->system[left], sizeof *dev->system, lane, lanes);
    nb6_dev_copy_record(&aside->remote[at], &dev->remote[left], sizeof *dev->remote, lane, lanes);
}

NBC_HD void nb6_dev_take_system(const struct nb6_dev *dev, const struct nb6_dev_parcel *parcel,
                                const struct nb6_dev_aside *aside, int32_t place, int lane, int lanes)
{
    const int64_t at = place - dev->first_centre;
    if (nb6_dev_left_record(dev, parcel, place) < 0) return;
    nb6_dev_copy_record(&dev->system[at], &aside->system[at], sizeof *dev->system, lane, lanes);
    nb6_dev_copy_record(&dev->remote[at], &aside->remote[at], sizeof *dev->remote, lane, lanes);
}

/** Perturbers of the system of a centre. One that has gone is in records alone that travel. */
NBC_HD void nb6_dev_renumber_system(const struct nb6_dev *dev, const struct nb6_dev_parcel *parcel, int32_t place)
{
    struct nb6_remote *remote = &dev->remote[place - dev->first_centre];
    if (nb6_dev_former_place(parcel, place) < 0) return;
    for (int32_t k = 0; k < remote->n; k++) remote->body[k] = nb6_dev_present_place(parcel, remote->body[k]);
}

/** Every lanes-th number of a list, from the row in which all are to the other one. The caller sets row_now when all
 * lanes have finished. A body that goes is in lists alone that travel. */
NBC_HD void nb6_dev_renumber_list(const struct nb6_dev *dev, const struct nb6_dev_parcel *parcel, int32_t place,
                                  int lane, int lanes)
{
    enum { TOGETHER = 4 };
    const int32_t former = nb6_dev_former_place(parcel, place), nnb = former < 0 ? 0 : dev->star[place].nnb;
    const int32_t *from = nb6_dev_row(dev, former < 0 ? 0 : former, dev->settled);
    int32_t *to = nb6_dev_row(dev, place, !dev->settled), body[TOGETHER];
    for (int32_t m = lane; m < nnb; m += TOGETHER * lanes) {
        NBC_UNROLL for (int k = 0; k < TOGETHER; k++) body[k] = m + k * lanes < nnb ? from[m + k * lanes] : 0;
        NBC_UNROLL for (int k = 0; k < TOGETHER; k++) body[k] = nb6_dev_present_place(parcel, body[k]);
        NBC_UNROLL for (int k = 0; k < TOGETHER; k++) if (m + k * lanes < nnb) to[m + k * lanes] = body[k];
    }
}

/** Then bodies that travel. */
NBC_HD void nb6_dev_unpack_body(const struct nb6_dev *dev, const struct nb6_dev_parcel *parcel, int64_t k, int lane,
                                int lanes)
{
    const int32_t i = parcel->place[k];
    nb6_dev_copy_record(&dev->body[i], &parcel->body[k], sizeof *dev->body, lane, lanes);
    nb6_dev_copy_record(&dev->star[i], &parcel->star[k], sizeof *dev->star, lane, lanes);
    if (lane == 0) dev->level[i] = parcel->level[k];
}

NBC_HD void nb6_dev_unpack_numbers(const struct nb6_dev *dev, const struct nb6_dev_parcel *parcel, int64_t k, int lane,
                                   int lanes)
{
    const int32_t i = parcel->place[k], nnb = parcel->star[k].nnb, *from = parcel->lists + parcel->list_at[k];
    int32_t *to = nb6_dev_row(dev, i, dev->row_now[i]);
    for (int32_t m = lane; m < nnb; m += lanes) to[m] = from[m];
}

NBC_HD void nb6_dev_unpack_system(const struct nb6_dev *dev, const struct nb6_dev_parcel *parcel, int64_t k, int lane,
                                  int lanes)
{
    const int64_t at = parcel->system_at[k] - dev->first_centre;
    if (at < 0) return; /* it takes no part */
    nb6_dev_copy_record(&dev->system[at], &parcel->system[k], sizeof *dev->system, lane, lanes);
    nb6_dev_copy_record(&dev->remote[at], &parcel->remote[k], sizeof *dev->remote, lane, lanes);
}

/** How a body is watched without a system that has changed. */
NBC_HD int8_t nb6_dev_watch_alone(const struct nb6_dev *dev, int64_t place)
{
    return place < dev->first_centre ? 0 : NB6_DEV_QUIET;
}

/** After all are watched like that: others, and dev->ask.   @param[in] k  one of n_watched */
NBC_HD void nb6_dev_unpack_watched(const struct nb6_dev *dev, const struct nb6_dev_parcel *parcel, int64_t k)
{
    dev->watch[parcel->watched[k]] = parcel->watch[k];
    if (k < parcel->n_ask) dev->ask[k] = parcel->ask[k];
}

/** Then, for control->ti_now, all of them. */
NBC_HD void nb6_dev_renew_predictor(const struct nb6_dev *dev, int64_t i)
{
    dev->predictor[i] = nb6_predictor_at(&dev->body[i], dev->level[i], dev->control->ti_now);
}

#endif
