/** Conversion between the state of a run and the image of a device engine (stages/state.h), in host memory. */
#ifndef NB6_ENGINE_IMAGE_H
#define NB6_ENGINE_IMAGE_H

#include "common/nbc.h"
#include "gpunb/gpunb.h"
#include "nbody6/engine/edit.h"
#include "nbody6/engine/stages/state.h"
#include "nbody6/state/corrected.h"

#include <stdint.h>

struct nb6_config;
struct nb6_dev_parcel;
struct nb6_sim;

/** Bodies that a thread copies in some microseconds. */
enum { NB6_DEV_BODIES_OF_A_PART = 512 };

/** nb6_device_leaving for n bodies, or less, where their regular forces are made by tree. */
int64_t nb6_dev_leaving(const gpunb_t *reg, int64_t n, int64_t multiprocessors);
/** The part of a configuration that these stages do not support, in words: a field that is not linear (what its
 * potential says, galaxy/potential.h), constant steps, regular forces by a tree, double precision throughout.   @return
 * NULL: they support all of it */
const char *nb6_dev_unsupported(const struct nb6_config *config);
/** Whether these stages can go on from a state: they support its configuration. */
int nb6_dev_supports(const struct nb6_sim *sim);
/** Report that a corrector, at control->t, gave a NaN or an infinity for body i.   @return NBC_NON_FINITE */
int nb6_dev_report_non_finite(const struct nb6_dev *dev, int32_t i, int irregular,
                              const struct nb6_corrected *corrected, struct nbc_error *err);

/** Report that the first force on body i, which begins anew, is not finite.   @return NBC_NON_FINITE */
int nb6_dev_report_unsound(const struct nb6_sim *sim, const struct nb6_dev *dev, int32_t i, struct nbc_error *err);

/** Capacities of an image: bodies that take part, neighbours in a row, systems, all bodies of the run. */
struct nb6_dev_size {
    int64_t n, row, systems, bodies;
};
/** Present needs of a run; and these with room to grow. */
struct nb6_dev_room {
    struct nb6_dev_size least, wanted;
};
/** Allocate an image.
 *  @param[in] rows  of a body: 2 where blocks are advanced, 1 where all lists are in the first one
 *  @return 1; 0 without memory: all is free */
int nb6_dev_allocate_state(struct nb6_dev *dev, const struct nb6_dev_size *size, int rows);
void nb6_dev_free_state(struct nb6_dev *dev);
/** @param[in] longest  list that did not fit its row; 0: none */
struct nb6_dev_room nb6_dev_room_for(const struct nb6_sim *sim, int64_t longest);
/** Whether an image can be reused. */
int nb6_dev_has_room(const struct nb6_dev *dev, const struct nb6_dev_room *room);
/** Set list_at, the offsets of packed lists, from the lengths in the stars.   @return numbers in all lists */
int64_t nb6_dev_lay_out_lists(struct nb6_dev *dev);
/** Fill bodies and systems from the state, and offsets of lists, which nb6_dev_fill_lists completes. Counters begin
 *  at zero. */
void nb6_dev_fill_bodies(struct nb6_sim *sim, struct nb6_dev *dev);
/** Fill what depends on systems alone, where bodies are those of the state. */
void nb6_dev_fill_systems(struct nb6_sim *sim, struct nb6_dev *dev);
/** After nb6_dev_place_part (engine/image_part.h): the same but for bodies, of which the image has those that have not
 *  changed, and but for systems that have not, once nb6_host_service_find_changed has found the others.
 *  @param[in,out] parcel  as in nb6_host_service_fill_changed */
void nb6_dev_begin_again(struct nb6_sim *sim, struct nb6_dev *dev, struct nb6_dev_parcel *parcel);
/** Fill `lists`, after nb6_dev_fill_bodies. Of all else only list_at changes.   @return numbers in all lists */
int64_t nb6_dev_fill_lists(const struct nb6_sim *sim, struct nb6_dev *dev);
/** Fill the rules from the present configuration and state. */
struct nb6_dev_rules nb6_dev_rules_of(const struct nb6_sim *sim);
/** The bodies of an edit, with places in place of numbers.   @param[out] changed [edit->n]
 *  @param[out] pulled [edit->n_pulled] */
void nb6_dev_fill_changed(const struct nb6_dev *dev, const struct nb6_edit *edit, struct nb6_changed *changed,
                          struct nb6_pulled *pulled);
/** The reverse for bodies and lists. Lists are in `lists`, and are converted in place from places to numbers of
 *  bodies; relative motions are not in the image. The parts that may fail without harm come first: lists, which are
 *  all stored or none.
 *  @return NBC_OK; NBC_NO_MEMORY; the status of a library */
int nb6_dev_store(struct nb6_dev *dev, struct nb6_sim *sim, struct nbc_error *err);
/** The same for the bodies of a parcel, of which alone there is news; lists of the parcel are converted.
 *  @return as nb6_dev_store */
int nb6_dev_store_parcel(struct nb6_dev *dev, const struct nb6_dev_parcel *parcel, struct nb6_sim *sim,
                         struct nbc_error *err);

#endif
