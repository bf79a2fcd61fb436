/** The host service: the relative motions of few-body systems, and their consequences, in blocks that an engine
 *  advances on an image.
 *
 *  Relative motions stay on the host. The engine asks it twice in a block that has a watched member, or up to whose
 *  time a motion has to come (control->t_ask). *Before* the force stages the host moves the systems that are due and
 *  that act on members of the block, and returns the contribution of resolved systems to the forces on members.
 *  *Meanwhile* it moves the others. *After* the commit, when the engine has *shown* these members, it selects
 *  perturbers and checks whether systems form, end or change. If they do, the image is exported to the state in host
 *  memory, and the host decides there (nb6_step_decide_again). Candidates of encounters, and quiet pairs that have
 *  found a perturber, are handled in the same way. Before two bodies become one, the steps of all bodies with only
 *  one of them in the list have to end at that time: the engine synchronises them (`synchronise` of engine.h).
 *
 *  A body is *watched* if the host takes part in its steps (NB6_DEV_ASK in stages/state.h). A pair is *quiet* if
 *  nothing acts on it: the engine looks for perturbers by itself. To *show* a member is to copy its body, star, level
 *  and list into the image in host memory, `home`; for candidates and centres of mass also body and level of all
 *  neighbours, and the systems of both. The image of an emulation is in host memory anyway.
 *
 *  Most perturbed pairs are remote (fewbody/pairs/remote.h). The engine computes the forces on these and on the
 *  bodies that they resolve, checks whether their perturbers stay the same, and *notes* these steps for the host
 *  (nb6_host_service_note), which moves the pairs asynchronously; the engine asks when perturbers change or come
 *  near.
 *
 *  During an encounter the perturbers of a pair stay the same for some of its steps (pairs/perturbers.c), after which
 *  a block can have no other consequences: then its members are noted as well, and the host is not asked.
 *
 *  The host records the parts of the state that it overwrites meanwhile (engine/host_service_keep.h) until the image
 *  is exported: if the engine is lost before, they are restored. */
#ifndef NB6_ENGINE_HOST_SERVICE_H
#define NB6_ENGINE_HOST_SERVICE_H

#include "common/nbc.h"
#include "nbody6/engine/stages/state.h"
#include "nbody6/state/body.h"

#include <stdint.h>

struct nb6_dev_parcel;
struct nb6_sim;

/** Answer of the host: the next action of the engine. */
enum nb6_host_service_answer {
    NB6_HOST_SERVICE_GO,     /**< compute the block; after it, go on with the next one */
    NB6_HOST_SERVICE_TELL,   /**< before: compute the block, then note the steps of watched members instead of asking */
    NB6_HOST_SERVICE_HOST,   /**< before: discard this block, which the host engine advances. After: the host decides */
    NB6_HOST_SERVICE_PAUSED, /**< before: the motions are not complete; the call ends, and the next one asks again */
    NB6_HOST_SERVICE_TIDES,  /**< after: sum tides of far bodies, and ask again */
    NB6_HOST_SERVICE_SYNCHRONISE, /**< after: nothing changes, but bodies may have to be synchronised,
                                       sim->engine_image.pending */
    NB6_HOST_SERVICE_FAILED       /**< the call ends with a status; before: the block is discarded */
};

/** Fill `watch`, `system`, `remote`, `ask` and the time of the first question in the image of a state, of which no body
 *  has been shown. */
void nb6_host_service_fill(struct nb6_sim *sim, struct nb6_dev *home);
/** Find the systems that have changed since the last call of nb6_host_service_fill, or of the following one.
 *  @param[in] home  with the places of before   @param[out] n_watched  room for bodies that may be watched in another
 *  way, beside those that come
 *  @return their number; -1: it may be all */
int64_t nb6_host_service_find_changed(struct nb6_sim *sim, const struct nb6_dev *home, int64_t *n_watched);
/** After it: the same as nb6_host_service_fill where `system` and `remote` are those of the last call, and of answers
 *  since, at the places of now: of systems that have not changed they stay.
 *  @param[in,out] home  `watch`, `ask` and control->n_ask with the places of before
 *  @param[in,out] parcel  says which bodies have gone and come (stages/parcel.h), and gets records of the others and
 * who is watched: it has room for n_system and n_watched, as they were found; n_system -1: it gets none, and all are
 * filled
 */
void nb6_host_service_fill_changed(struct nb6_sim *sim, struct nb6_dev *home, struct nb6_dev_parcel *parcel);
/** Store results of the engine for systems, the search times of quiet pairs, when the image is exported.
 *  @param[in] parcel  bodies of it alone have news; if they are all (place is NULL), `home` has these times */
void nb6_host_service_store(const struct nb6_dev *home, const struct nb6_dev_parcel *parcel, struct nb6_sim *sim);

/** Before the force stages of the block at time t.
 *  @param[in] now  time of the block before
 *  @param[in] member [n]  places of its watched members, in any order
 *  @param[in,out] home  correction of these members, control->t_ask
 *  @param[out] status  NBC_OK; with NB6_HOST_SERVICE_FAILED what a part of few-body systems returned */
enum nb6_host_service_answer nb6_host_service_before(struct nb6_sim *sim, struct nb6_dev *home, nb6_time now,
                                                     nb6_time t, int64_t n, const int32_t *member, int *status,
                                                     struct nbc_error *err);
/** While the engine computes blocks: one of the relative motions that it does not need. The others are made when
 *  nb6_host_service_after or nb6_host_service_settle is called, with the same bits.
 *  @return 1: one was made; 0: there is nothing to do. A failure is returned by the next call */
int nb6_host_service_meanwhile(struct nb6_sim *sim);
/** All blocks up to time t are committed, and the host has all their notes. */
void nb6_host_service_reached(struct nb6_sim *sim, nb6_time t);
/** The engine stops after the block at time t: all remote pairs move up to it. */
int nb6_host_service_settle(struct nb6_sim *sim, nb6_time t, struct nbc_error *err);
/** After the commit: notes of steps of members with NB6_DEV_REMOTE, and of watched ones after NB6_HOST_SERVICE_TELL,
 *  in the order of blocks. Those of one block may come in parts. All of them come before the next question, and
 *  before the image is exported.
 *  @param[in] note [n] of one block, n >= 1   @return as nb6_host_service_after in `status` */
int nb6_host_service_note(struct nb6_sim *sim, struct nb6_dev *home, int64_t n, const struct nb6_dev_note *note,
                          struct nbc_error *err);
/** After the commit of a block, which was asked before if it has watched members. After NB6_HOST_SERVICE_TELL the
 *  question is only about those of them that have a new list, or may have met another star.
 *  @param[in] member [n]  places of all members shown, in any order
 *  @param[in] has_tides  1: home->far has the tides that the last answer asked for
 *  @param[in,out] home  watch, system, ask, control->n_ask, control->t_ask: changes are listed in
 *  nb6_host_service_changed */
enum nb6_host_service_answer nb6_host_service_after(struct nb6_sim *sim, struct nb6_dev *home, nb6_time t, int64_t n,
                                                    const int32_t *member, int has_tides, int *status,
                                                    struct nbc_error *err);
/** Places listed by the last answer of nb6_host_service_after. After NB6_HOST_SERVICE_GO: those whose `watch` or
 *  `system` have changed; `ask` has changed, if there are any. After NB6_HOST_SERVICE_TIDES: centres of mass, the
 *  k-th of which gets the tide home->far[k] of all bodies beyond its list.
 *  @param[out] n  their number */
const int32_t *nb6_host_service_changed(const struct nb6_sim *sim, int64_t *n);
/** Discard a block after the question before it: the work of the host for it is rolled back. */
void nb6_host_service_cancel(struct nb6_sim *sim);

/** Whether blocks had events that the host has to report, beside those of edits (nb6_engines_tell). */
int nb6_host_service_has_events(const struct nb6_sim *sim);
/** Record books, these bodies and the stars whose ages the open transaction has saved, before an edit:
 *  nb6_host_service_undo restores them.   @return NBC_OK; NBC_NO_MEMORY */
int nb6_host_service_keep_bodies(struct nb6_sim *sim, int64_t n, const nb6_index *body, struct nbc_error *err);
/** Before an edit: record the watched bodies too, of which the host has copies. After it, when `home` has them
 *  (`body`, `star`): take them over.   @return NBC_OK; NBC_NO_MEMORY */
int nb6_host_service_keep_watched(struct nb6_sim *sim, const struct nb6_dev *home, struct nbc_error *err);
void nb6_host_service_take_watched(struct nb6_sim *sim, const struct nb6_dev *home);
/** Before an edit with systems: record what the open transaction has saved, and renew the systems that it has changed
 * in `home`: watch, system, remote, ask, control->n_ask, control->t_ask.
 *  @param[in,out] home  with the search times of quiet pairs (`system`)   @return NBC_OK; NBC_NO_MEMORY: `home` is as
 *  it was */
int nb6_host_service_edit_systems(struct nb6_sim *sim, struct nb6_dev *home, struct nbc_error *err);
/** The image has been exported. */
void nb6_host_service_forget(struct nb6_sim *sim);
/** The image is lost: undo all writes of the host since the import. Predictors of the libraries are not sent. */
void nb6_host_service_undo(struct nb6_sim *sim);
/** Free memory. */
void nb6_host_service_free(struct nb6_sim *sim);

#endif
