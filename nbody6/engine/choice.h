/** Which engine makes the blocks of a run: settled when it begins, and kept by its checkpoints, so that
 *  a run that is resumed goes on with the same bits. */
#ifndef NB6_ENGINE_CHOICE_H
#define NB6_ENGINE_CHOICE_H

#include "common/nbc.h"
#include "nbody6/engine/engine.h"
#include "nbody6/input/config.h"

#include <stdint.h>

struct nb6_sim;

/** The engine of a choice that is not auto; NULL: this program has none. */
const struct nb6_engine *nb6_engine_of(enum nb6_engine_choice choice);
/** Its name, "host", also of one that this program has not. */
const char *nb6_engine_choice_name(enum nb6_engine_choice choice);
/** The choice by its name; -1: there is no such engine. */
int nb6_engine_named(const char *name);

/** The engine for n stars: the one that is asked for, or, by auto, the device if it would be faster and is there.
 * Nobody is asked for a GPU unless all else speaks for it: that takes a fifth of a second.
 *  @param[out] why  in a few words: "asked for", or why one that is asked for cannot run here */
enum nb6_engine_choice nb6_engine_choose(const struct nb6_config *config, int64_t n, char why[NB6_ENGINE_WHY]);

/** Ask for a GPU if nb6_engine_choose will for n stars: that takes a fifth of a second, the first time. */
void nb6_engine_wake(const struct nb6_config *config, int64_t n);

/** Whether this program, on this machine, has an engine.   @param[out] why_not  in a few words */
int nb6_engine_is_here(enum nb6_engine_choice choice, char why_not[NB6_ENGINE_WHY]);
/** The same of the one that is asked for by name.
 *  @return NBC_OK; NBC_UNAVAILABLE (says what to ask for instead) */
int nb6_engine_check(const struct nb6_config *config, struct nbc_error *err);

/** Choose the engine of a run; sim->config and sim->n are known.   @return as nb6_engine_check */
int nb6_engine_settle(struct nb6_sim *sim, struct nbc_error *err);
/** The same for a run from a checkpoint: sim->engine wrote it, and goes on if it is here.
 *  @param[in] asked  1: another engine, or other backends, are asked for now than then   @return as nb6_engine_check */
int nb6_engine_resume(struct nb6_sim *sim, int asked, struct nbc_error *err);

#endif
