/** The contract of engines, which hold the bodies and advance block steps.
 *
 *  The *host engine* holds the state in host memory, and advances block steps with or without few-body systems, one
 *  by one (step/step.c). Other engines hold an *image* of the state and advance many block steps on it, while the
 *  host moves few-body systems for them (engine/host_service.h). The *emulated engine* does so in host memory, by the
 *  stages of a device engine in plain C (stages/state.h); the *device engine* on a GPU. All other code reads the
 *  state in host memory, and calls engines.h, which chooses the engine and exports the image to the state before.
 *
 *  Versions. An image is that after a whole number of committed blocks, never one within a block. It follows from the
 *  state by `import`, and the state from it by `export`, both bit for bit: how often the state is exported changes no
 *  result. sim->engine_image records whether the image is ahead of the state, and whether the state was edited since.
 *
 *  Parts. When systems form, end or change, and after blocks of the host engine, an import or export moves the bodies
 *  and lists that have changed since both were equal, and systems (image_part.h); where all may have changed, or do not
 *  fit, it moves all. `sim->engine_image.is_part` says which. The image does not depend on it.
 *
 *  Edits. Between two blocks single stars, and pairs of two stars, may get other masses, and single stars other
 *  velocities, where they are (`gather`, `disturb`, `edit`): a message, no move of the state. After an adjust that
 * leaves all bodies as they are, the image gets what that has changed about systems (`renew`). All else that changes
 * bodies edits the state, and the next block imports it, or what has changed.
 *
 *  Failures. A block that cannot be completed is not committed; the image stays that of the last block, and can be
 *  exported. An export that fails leaves both as they were, or a state equal to the image in all but predictors of
 *  the libraries; the caller repeats it before the run goes on. An import that fails leaves no image.
 *
 *  Losses. After NBC_DEVICE, or an import that fails, sim->engine_image.lost is 1: nb6_engines_forget restores a
 *  consistent state in host memory, that of the last export or import, from which the same or another engine goes on.
 *  Edits since then are undone with the blocks: masses, books, events that were not told yet (nb6_engines_tell).
 *
 *  Capacities are those of an import: stars, and numbers in a row of neighbours. Nothing grows within a block; a list
 *  that does not fit its row ends it with NB6_STOP_OVERFLOW, and the next import has room for it. */
#ifndef NB6_ENGINE_ENGINE_H
#define NB6_ENGINE_ENGINE_H

#include "common/nbc.h"
#include "nbody6/engine/edit.h"
#include "nbody6/engine/stop_reason.h"
#include "nbody6/state/body.h"
#include "nbody6/state/pair_cost.h"

#include <stdint.h>

struct nb6_sim;
struct nb6_survey;

/** Nominal costs of a device engine in large blocks, where the work is; and the number of stars from which it is
 *  faster than the host engine, without and with binaries, which need the host service (docs/performance.md, The
 *  device engine). */
#define NB6_DEVICE_COST                                                                                                \
    {                                                                                                                  \
        .irr = 0.055, .reg = 0.0022                                                                                    \
    }
enum { NB6_DEVICE_WORTH = 2000, NB6_DEVICE_WORTH_WITH_BINARIES = 16000 };

struct nb6_engine {
    const char *name;
    struct nb6_pair_cost cost; /**< zero: the costs of the backends in use */
    /** Whether this machine has what the engine needs; NULL: any machine has.
     *  @return NBC_OK; NBC_UNAVAILABLE: `err` says what is missing, in a few words */
    int (*check)(struct nbc_error *err);
    /** Whether the engine supports this state. The result follows from contents of a checkpoint. */
    int (*supports)(const struct nb6_sim *sim);
    /** Begin to allocate an image with rows of so many neighbours, while the caller does other things; NULL: nothing
     *  to gain. Failures are ignored: the first import allocates what is missing. */
    void (*prepare)(struct nb6_sim *sim, int64_t row);
    /** The image becomes that of bodies, lists and schedule.
     *  @return NBC_OK; NBC_NO_MEMORY; NBC_DEVICE: there is no image */
    int (*import)(struct nb6_sim *sim, struct nbc_error *err);
    /** Bodies, lists, schedule, counters, ti_now and the predictors of the libraries become those of the image.
     *  @return NBC_OK; the status of a library; NBC_DEVICE */
    int (*export)(struct nb6_sim *sim, struct nbc_error *err);
    /** Blocks up to and including time t_stop, at most so many. Sets ti_reached to the last block if that is later.
     *  @param[out] reason  why it returned; in a failure too
     *  @return NBC_OK; NBC_NON_FINITE (body and quantity are named); what a library or the device returned */
    int (*advance)(struct nb6_sim *sim, nb6_time t_stop, int64_t max_blocks, enum nb6_stop_reason *reason,
                   struct nbc_error *err);
    /** After NB6_STOP_ENCOUNTER: whether the steps of two bodies of the image, and of all bodies with only one of
     *  them in the list, end at the time of the image. If not, they are synchronised, as nb6_subsystems_are_ready
     *  does in host memory, and the image is ahead.
     *  @return NBC_OK; NBC_DEVICE */
    int (*synchronise)(struct nb6_sim *sim, const nb6_index body[2], int *are_ready, struct nbc_error *err);
    /** Bodies of the image, and, if asked for, the potentials at their places at time t. The image stays as it is. NULL
     *  in the host engine, as `edit`: bodies are in host memory.
     *  @param[in] body [n] ascending   @return NBC_OK; NBC_NO_MEMORY; NBC_DEVICE */
    int (*gather)(struct nb6_sim *sim, nb6_time t, int64_t n, const nb6_index *body, int with_potentials,
                  struct nb6_gathered *gathered, struct nbc_error *err);
    /** The field at time t at points in space: direct sums in double over the single stars of the image, and the places
     *  of its centres of mass. The image stays as it is. NULL in the host engine.
     *  @return NBC_OK; NBC_NO_MEMORY; NBC_DEVICE */
    int (*field)(struct nb6_sim *sim, nb6_time t, const struct nb6_field_points *points, struct nbc_error *err);
    /** The bodies that begin anew with an edit, of which edit->disturbed is not known yet: single stars that no system
     * resolves, and pairs on which nothing acts. Of others that it concerns the regular steps will end with the
     * irregular ones. The image stays as it is. NULL in the host engine.
     *  @return NBC_OK; NBC_NO_MEMORY; NBC_DEVICE */
    int (*disturb)(struct nb6_sim *sim, const struct nb6_edit *edit, struct nb6_disturbed *disturbed,
                   struct nbc_error *err);
    /** Bodies of the image change at a time not before its own, and before that of the next block: they have other
     *  masses, and what they lose leaves the polynomials of all others, irregular where the body is in their list, else
     *  regular; so does what systems, whose motions are the host's, do less beyond points of mass (`pulled`). No body
     *  is elsewhere then at that time. With `sudden` those begin anew whom the last call before it, of `disturb`, has
     *  found, with lists, forces and steps at that time (stages/begin.h); the others lose the pulls of the bodies as
     *  they were, and gain those of the bodies as they are. The image is ahead, and the one that an import of the state
     *  after an export would make.
     *  @return NBC_OK; NBC_NO_MEMORY, NBC_NON_FINITE (a first force), NBC_NB_OVERFLOW (a list does not fit its row; the
     *  next import has room): nothing has changed; NBC_DEVICE: the image is lost */
    int (*edit)(struct nb6_sim *sim, const struct nb6_edit *edit, struct nbc_error *err);
    /** The image of the same bodies, after an export, becomes the one that an import would make: the host has other
     *  criteria for systems, and other motions. NULL in the host engine.
     *  @return NBC_OK; NBC_DEVICE: there is no image */
    int (*renew)(struct nb6_sim *sim, struct nbc_error *err);
    /** Answers about all bodies, for changes of systems that begin when host memory is equal to the image. NULL in the
     *  host engine. */
    const struct nb6_survey *survey;
    /** Free the image. */
    void (*release)(struct nb6_sim *sim);
};

/** In host memory: supports every state, and has no image. */
extern const struct nb6_engine nb6_host_engine;
/** The stages of a device engine in plain C. */
extern const struct nb6_engine nb6_emulated_engine;
/** The same stages on a GPU; NULL: this program was built without CUDA. */
extern const struct nb6_engine *const nb6_device_engine;

#endif
