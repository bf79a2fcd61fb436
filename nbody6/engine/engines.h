/** Advance block steps with the engine of the run (engine/choice.h) or with the host engine, and move the state
 *  between them. An engine with an image is used while it supports the state. Otherwise the host engine advances
 *  block steps, and the choice is made again after NB6_BLOCKS_OF_HOST blocks, so that the state does not move to and
 *  fro with every pair. The choice follows from contents of a checkpoint: a resumed run makes the same one. */
#ifndef NB6_ENGINE_ENGINES_H
#define NB6_ENGINE_ENGINES_H

#include "common/nbc.h"
#include "nbody6/engine/edit.h"
#include "nbody6/engine/engine.h"
#include "nbody6/state/body.h"

#include <stdint.h>

struct nb6_sim;

/** The host engine advances blocks up to the next multiple of this number. */
enum { NB6_BLOCKS_OF_HOST = 64 };

/** Blocks up to and including time t_stop: some of them, after which the caller polls its observer. Encounters are
 *  decided. On return the image may be ahead of the state in host memory.
 *  @param[in] max_blocks  of an engine with an image; the host engine advances one
 *  @param[out] reason  NB6_STOP_REACHED: no block is left up to t_stop
 *  @return NBC_OK; NBC_NON_FINITE and what a library or a device returned: the state in memory is that before the
 *  block */
int nb6_engines_advance(struct nb6_sim *sim, nb6_time t_stop, int64_t max_blocks, enum nb6_stop_reason *reason,
                        struct nbc_error *err);
/** Decide about the last block, if that is not done yet.   @return as nb6_engines_advance */
int nb6_engines_decide(struct nb6_sim *sim, struct nbc_error *err);
/** Export the image to the state in host memory, if it is ahead: to be called before bodies, lists or counters are
 *  read.
 *  @return NBC_OK; what the engine returned: the export is not complete, and the next call tries again */
int nb6_engines_bring_home(struct nb6_sim *sim, struct nbc_error *err);
/** Tell the observer of edits in an image whose state is in host memory again: those of an image that is lost were
 *  undone, and nobody has heard of them.   @return NBC_OK; the status of the observer */
int nb6_engines_tell(struct nb6_sim *sim, struct nbc_error *err);
/** Both.   @return as they do */
int nb6_engines_come_home(struct nb6_sim *sim, struct nbc_error *err);
/** Whether an image is, or will be, where the bodies are, and takes edits. This follows from contents of a checkpoint.
 */
int nb6_engines_take_edits(struct nb6_sim *sim);
/** Before an edit of these bodies: `gather` of engine.h, in an image that is imported unless there is one.
 *  @return as `import`, `gather`: nothing has changed */
int nb6_engines_gather(struct nb6_sim *sim, nb6_time t, int64_t n, const nb6_index *body, int with_potentials,
                       struct nb6_gathered *gathered, struct nbc_error *err);
/** The field at points in space: `field` of engine.h, likewise.   @return as `import`, `field` */
int nb6_engines_field(struct nb6_sim *sim, nb6_time t, const struct nb6_field_points *points, struct nbc_error *err);
/** After it, `disturb` of engine.h.   @return as that: nothing has changed */
int nb6_engines_disturb(struct nb6_sim *sim, const struct nb6_edit *edit, struct nb6_disturbed *disturbed,
                        struct nbc_error *err);
/** After it, `edit` of engine.h. Masses in host memory change too. The state in host memory is that of before, and
 * comes back, with the books, if the image is lost.   @return as `edit` */
int nb6_engines_edit(struct nb6_sim *sim, const struct nb6_edit *edit, struct nbc_error *err);
/** After an edit for whose lists rows are too short, and outside of a transaction: the next import makes room.
 *  @return as nb6_engines_bring_home */
int nb6_engines_make_room(struct nb6_sim *sim, struct nbc_error *err);
/** Before a transaction that changes no body in the image, but books or ages of stars, is committed: they come back if
 *  an image that is ahead is lost.   @return NBC_OK; NBC_NO_MEMORY */
int nb6_engines_keep(struct nb6_sim *sim, struct nbc_error *err);
/** Costs of interactions in this run: the engine's nominal costs, or those of the backends in use. */
struct nb6_pair_cost nb6_engines_cost(const struct nb6_sim *sim);
/** Called before the first forces: an engine can allocate its image meanwhile. */
void nb6_engines_prepare(struct nb6_sim *sim);
/** Free images and all else that engines hold. */
void nb6_engines_release(struct nb6_sim *sim);

/** Set sim->engine_image.lost if a status means that a device does not answer, and there is a device.
 *  @return status */
int nb6_engines_failed(struct nb6_sim *sim, int status);
/** Give up an image that cannot be exported: blocks that only it has are lost. The state, sim->ti_reached and the
 *  predictors of the libraries are those of the last export or import, and can be written or go on.
 *  @return NBC_OK; what a library returned */
int nb6_engines_forget(struct nb6_sim *sim, struct nbc_error *err);
/** Go on without the device, with the host engine and CPU backends of regular forces. The state in host memory is up
 *  to date.
 *  @return NBC_OK; NBC_NO_MEMORY; what a library returned */
int nb6_engines_leave_device(struct nb6_sim *sim, struct nbc_error *err);

#endif
