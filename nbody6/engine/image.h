/** Bodies and lists of a run as a device engine has them (stages/state.h), in memory, and back. */
#ifndef NB6_ENGINE_IMAGE_H
#define NB6_ENGINE_IMAGE_H

#include "common/nbc.h"
#include "nbody6/engine/stages/state.h"
#include "nbody6/state/corrected.h"

#include <stdint.h>

struct nb6_config;
struct nb6_sim;

/** Bodies that a thread copies in some microseconds. */
enum { NB6_DEV_BODIES_OF_A_PART = 512 };

/** What in a configuration these stages do not support, in words: a field that is not linear (what its potential says,
 *  galaxy/potential.h), constant steps, double precision throughout.   @return NULL: they support all of it */
const char *nb6_dev_unsupported(const struct nb6_config *config);
/** Whether these stages can go on from a state: they support its configuration. */
int nb6_dev_supports(const struct nb6_sim *sim);
/** Says of body i that a corrector, at control->t, gave a NaN or an infinity.   @return NBC_NON_FINITE */
int nb6_dev_report_non_finite(const struct nb6_dev *dev, int32_t i, int irregular,
                              const struct nb6_corrected *corrected, struct nbc_error *err);

/** Room for a state: bodies that take part, neighbours in a row, systems, all bodies of the run. */
struct nb6_dev_size {
    int64_t n, row, systems, bodies;
};
/** What a run needs; and more, with room to grow. */
struct nb6_dev_room {
    struct nb6_dev_size least, wanted;
};
/** Room for a state.
 *  @param[in] rows  of a body: 2 where blocks are made, 1 where all lists are in the first one
 *  @return 1; 0 without memory: all is free */
int nb6_dev_allocate_state(struct nb6_dev *dev, const struct nb6_dev_size *size, int rows);
void nb6_dev_free_state(struct nb6_dev *dev);
/** @param[in] longest  list that did not fit its row; 0: none */
struct nb6_dev_room nb6_dev_room_for(const struct nb6_sim *sim, int64_t longest);
/** Whether an image serves once more. */
int nb6_dev_has_room(const struct nb6_dev *dev, const struct nb6_dev_room *room);
/** Where lists are while they travel: list_at, from the lengths that the stars have.   @return numbers in all of them
 */
int64_t nb6_dev_lay_out_lists(struct nb6_dev *dev);
/** Bodies and systems of the state, and where lists will be, which nb6_dev_fill_lists completes. Counters begin at
 *  zero. */
void nb6_dev_fill_bodies(const struct nb6_sim *sim, struct nb6_dev *dev);
/** After them, lists, which are in `lists`. Of the rest list_at alone changes.   @return numbers in all lists */
int64_t nb6_dev_fill_lists(const struct nb6_sim *sim, struct nb6_dev *dev);
/** The rules as they are at present. */
struct nb6_dev_rules nb6_dev_rules_of(const struct nb6_sim *sim);
/** The reverse of both, for bodies and lists, which are in `lists` again, and get there the numbers that bodies have in
 *  the state; relative motions never leave. What may fail without harm comes first: lists, which are all stored
 *  or none.
 *  @return NBC_OK; NBC_NO_MEMORY; what a library returned */
int nb6_dev_store(struct nb6_dev *dev, struct nb6_sim *sim, struct nbc_error *err);

#endif
