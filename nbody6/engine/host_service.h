/** The host's share in blocks that an engine makes elsewhere: the relative motions of few-body systems, and what
 * follows from them.
 *
 *  Relative motions never leave the host. It is asked twice in a block of which a watched body is a member, or up to
 *  whose time a motion has to come (control->t_ask): *before* forces are made it moves the systems that are due and
 * that the block sees, and says what resolved systems add to the members; it moves the others *meanwhile*; *after* the
 * commit, when the engine has *shown* these members, it chooses perturbers and looks whether systems form, end or
 * change. If they do, the whole state has to come home, and the host decides there (nb6_step_decide_again). Candidates
 * of encounters, and quiet pairs that have found a perturber, are shown and asked for in the same way. Before two
 * bodies become one, all who see only one of them have to stand at that time: the engine calls them (`call` of
 * engine.h).
 *
 *  Most perturbed pairs are remote ones (fewbody/pairs/remote.h). The engine makes the forces on them and on those whom
 * they resolve, looks whether their perturbers stay the same, and tells the host of these steps
 * (nb6_host_service_note), which moves the pairs behind its back; it asks when perturbers change or come near.
 *
 *  Perturbers of a pair that somebody passes stay the same for some of its steps (pairs/perturbers.c), in which nothing
 *  else can follow from a block: then it is not asked after it, but told of the members.
 *
 *  To show a member is to copy its body, star, level and list into the image in memory, `home`; and of those that are
 *  seen by others, candidates and centres of mass, also body and level of all neighbours, and the systems of both. An
 *  emulation has them there anyway.
 *
 *  What the host writes to the state in memory meanwhile is kept (engine/host_service_keep.h) until the state is home:
 * if the engine is lost before, all is as it was. */
#ifndef NB6_ENGINE_HOST_SERVICE_H
#define NB6_ENGINE_HOST_SERVICE_H

#include "common/nbc.h"
#include "nbody6/engine/stages/state.h"
#include "nbody6/state/body.h"

#include <stdint.h>

struct nb6_sim;

/** What an engine has to do next. */
enum nb6_host_service_answer {
    NB6_HOST_SERVICE_GO,   /**< the block; after it, the next one */
    NB6_HOST_SERVICE_TELL, /**< before: the block. After it the host need only be told of the members that were watched
                            */
    NB6_HOST_SERVICE_HOST, /**< before: the host makes this block, of which nothing is made. After: it decides */
    NB6_HOST_SERVICE_PAUSED, /**< before: the motions are not there yet; the call ends, and the next one asks again */
    NB6_HOST_SERVICE_TIDES,  /**< after: tides of far bodies have to be summed, and the same has to be asked again */
    NB6_HOST_SERVICE_SYNCHRONISE, /**< after: nothing changes but that bodies may have to be called, sim->elsewhere.wish
                                   */
    NB6_HOST_SERVICE_FAILED       /**< the call ends with a status; before: nothing is made */
};

/** Who is watched, what is known of each system, and the first time to ask: of the image of a state. */
void nb6_host_service_fill(const struct nb6_sim *sim, struct nb6_dev *home);
/** What the engine knows better of systems goes home, when the state does. */
void nb6_host_service_store(const struct nb6_dev *home, struct nb6_sim *sim);

/** Before the forces of the block at time t.
 *  @param[in] now  time of the block before
 *  @param[in] member [n]  places of its watched members, in any order
 *  @param[in,out] home  correction of these members, control->t_ask
 *  @param[out] status  NBC_OK; with NB6_HOST_SERVICE_FAILED what a part of few-body systems returned */
enum nb6_host_service_answer nb6_host_service_before(struct nb6_sim *sim, struct nb6_dev *home, nb6_time now,
                                                     nb6_time t, int64_t n, const int32_t *member, int *status,
                                                     struct nbc_error *err);
/** While the engine makes blocks: one of the relative motions that it does not need. Whoever is left is moved when
 * nb6_host_service_after or nb6_host_service_settle is called, with the same bits.
 *  @return 1: one was moved; 0: there is nothing to do. A failure is that of the next call */
int nb6_host_service_meanwhile(struct nb6_sim *sim);
/** All blocks up to time t are made, and the host was told of all their steps. */
void nb6_host_service_reached(struct nb6_sim *sim, nb6_time t);
/** The engine stops after the block at time t: remote pairs move up to it, wherever they are. */
int nb6_host_service_settle(struct nb6_sim *sim, nb6_time t, struct nbc_error *err);
/** After its commit: steps of members that are told of (NB6_DEV_REMOTE), and of the watched ones after
 * NB6_HOST_SERVICE_TELL, in the order of blocks. Of one block they may come in parts. All of them come before the host
 * is asked again, or the state comes home.
 *  @param[in] note [n] of one block   @return as nb6_host_service_after in `status` */
int nb6_host_service_note(struct nb6_sim *sim, struct nb6_dev *home, int64_t n, const struct nb6_dev_note *note,
                          struct nbc_error *err);
/** After its commit, which the same block was asked before if it has watched members. After NB6_HOST_SERVICE_TELL it is
 * asked for those of them only that have a new list, or may have met another star.
 *  @param[in] member [n]  places of all who were shown as members, in any order
 *  @param[in] has_tides  1: home->far has the tides that the last answer asked for
 *  @param[in,out] home  watch, system, ask, control->n_ask, control->t_ask: those that have changed are in
 *                       nb6_host_service_changed */
enum nb6_host_service_answer nb6_host_service_after(struct nb6_sim *sim, struct nb6_dev *home, nb6_time t, int64_t n,
                                                    const int32_t *member, int has_tides, int *status,
                                                    struct nbc_error *err);
/** Places that the last answer of nb6_host_service_after concerns. After NB6_HOST_SERVICE_GO, those whose `watch` or
 * `system` have changed; `ask` has, if there are any. After NB6_HOST_SERVICE_TIDES, centres of mass, the k-th of which
 * gets the tide home->far[k] of all bodies beyond its list.
 *  @param[out] n  their number */
const int32_t *nb6_host_service_changed(const struct nb6_sim *sim, int64_t *n);
/** A block that was asked for is not made: what the host did for it is undone. */
void nb6_host_service_cancel(struct nb6_sim *sim);

/** The state is home. */
void nb6_host_service_forget(struct nb6_sim *sim);
/** The image is lost: what the host wrote since it was made is undone. Predictors of the libraries are not sent. */
void nb6_host_service_undo(struct nb6_sim *sim);
/** Give memory back. */
void nb6_host_service_free(struct nb6_sim *sim);

#endif
