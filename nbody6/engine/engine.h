/** Who keeps the bodies and makes blocks of them: the contract of engines.
 *
 *  The *host engine* keeps the state in memory, and makes blocks with or without few-body systems, one by one (step.c).
 *  Other engines keep an *image* of it elsewhere and make many blocks there; the host moves few-body systems for them
 *  meanwhile (engine/host_service.h). The *emulated engine* does
 * so in memory, by the stages of a device engine in plain C (stages/state.h). Everybody else reads the state in memory,
 * and asks engines.h, which chooses the engine and brings the state home before.
 *
 *  Versions. An image is that after a whole number of committed blocks, never one within a block. It follows from the
 *  state by `import`, and the state from it by `export`, both bit for bit: where the state is, or how often it was
 *  fetched, changes no result. sim->elsewhere says whose copy is newer, and whether the state was edited since.
 *
 *  Failures. A block that cannot be completed is not committed; the image stays that of the last block, and can be
 *  exported. An export that fails leaves the state and the image as they were, or a state that is that of the image in
 *  all but predictors of the libraries: it is made again, and then the run goes on. An import that fails leaves no
 * image.
 *
 *  Losses. After NBC_DEVICE, or an import that fails, sim->elsewhere.lost is 1: nb6_engines_forget makes a whole state
 *  of what is in memory, that of the last time it was home, from which the same or another engine goes on.
 *
 *  Capacities are those of an import: stars, and numbers in a row of neighbours. Nothing grows within a block; a list
 *  that does not fit its row ends it with NB6_STOP_OVERFLOW, and the next import has room for it. */
#ifndef NB6_ENGINE_ENGINE_H
#define NB6_ENGINE_ENGINE_H

#include "common/nbc.h"
#include "nbody6/engine/stop_reason.h"
#include "nbody6/state/body.h"
#include "nbody6/state/pair_cost.h"

#include <stdint.h>

struct nb6_sim;

/** Of a device engine in large blocks, where the work is, and stars from which it is faster than the host engine, which
 *  it asks of each perturbed pair: docs/performance.md, The device engine. */
#define NB6_DEVICE_COST                                                                                                \
    {                                                                                                                  \
        .irr = 0.055, .reg = 0.0022                                                                                    \
    }
enum { NB6_DEVICE_WORTH = 2000, NB6_DEVICE_WORTH_WITH_BINARIES = 16000 };

struct nb6_engine {
    const char *name;
    struct nb6_pair_cost cost; /**< zero: those of the backends in use */
    /** Whether this machine has what the engine needs; NULL: any machine has.
     *  @return NBC_OK; NBC_UNAVAILABLE: `err` says what is missing, in a few words */
    int (*check)(struct nbc_error *err);
    /** Whether it can go on from this state. What it says follows from what a checkpoint holds. */
    int (*supports)(const struct nb6_sim *sim);
    /** Begin to make room for an image of so many neighbours in a row, while the caller does other things; NULL: there
     *  is nothing to gain. What it fails in, or finds too little, is done by the first import. */
    void (*prepare)(struct nb6_sim *sim, int64_t row);
    /** The image becomes that of bodies, lists and schedule.
     *  @return NBC_OK; NBC_NO_MEMORY; NBC_DEVICE: there is no image */
    int (*import)(struct nb6_sim *sim, struct nbc_error *err);
    /** Bodies, lists, schedule, counters, ti_now and the predictors of the libraries become those of the image.
     *  @return NBC_OK; what a library returned; NBC_DEVICE */
    int (*export)(struct nb6_sim *sim, struct nbc_error *err);
    /** Blocks up to and including time t_stop, at most so many. Sets ti_reached to the last block if that is later.
     *  @param[out] reason  why it came back; in a failure too
     *  @return NBC_OK; NBC_NON_FINITE (body and quantity are named); what a library or the device returned */
    int (*advance)(struct nb6_sim *sim, nb6_time t_stop, int64_t max_blocks, enum nb6_stop_reason *reason,
                   struct nbc_error *err);
    /** After NB6_STOP_ENCOUNTER: whether two bodies of the image, and all who have only one of them in their list,
     * stand at its time. If not, they are called, as nb6_subsystems_are_ready does it at home, and the image is ahead.
     *  @return NBC_OK; NBC_DEVICE */
    int (*synchronise)(struct nb6_sim *sim, const int32_t body[2], int *are_ready, struct nbc_error *err);
    /** Give the image back. */
    void (*release)(struct nb6_sim *sim);
};

/** In memory: knows every state, and has no image. */
extern const struct nb6_engine nb6_host_engine;
/** The stages of a device engine in plain C. */
extern const struct nb6_engine nb6_emulated_engine;
/** The same stages on a GPU; NULL: this program was built without CUDA. */
extern const struct nb6_engine *const nb6_device_engine;

#endif
