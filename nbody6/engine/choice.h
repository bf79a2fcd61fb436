/** The engine that advances the block steps of a run: chosen when the run begins, and stored in its checkpoints, so
 *  that a resumed run goes on with the same bits. */
#ifndef NB6_ENGINE_CHOICE_H
#define NB6_ENGINE_CHOICE_H

#include "common/nbc.h"
#include "nbody6/engine/engine.h"
#include "nbody6/input/config.h"

#include <stdint.h>

struct nb6_sim;

/** The engine of a choice other than auto; NULL: this program was built without it. */
const struct nb6_engine *nb6_engine_of(enum nb6_engine_choice choice);
/** Name of a choice, "host", also of one that this program was built without. */
const char *nb6_engine_choice_name(enum nb6_engine_choice choice);
/** The choice by its name; -1: there is no such engine. */
int nb6_engine_named(const char *name);

/** The engine for n stars: the one that the configuration names, or, by auto, the device engine if it is faster for
 *  this run and a GPU is present. The search for a GPU takes a fifth of a second, so it comes last.
 *  @param[out] why  reason in a few words: "asked for", or why the engine that was asked for cannot run here */
enum nb6_engine_choice nb6_engine_choose(const struct nb6_config *config, int64_t n, char why[NB6_ENGINE_WHY]);

/** Search for a GPU in advance, if nb6_engine_choose will do so for n stars: the first search takes a fifth of a
 *  second. */
void nb6_engine_wake(const struct nb6_config *config, int64_t n);

/** Whether this program, on this machine, has an engine.   @param[out] why_not  in a few words */
int nb6_engine_is_here(enum nb6_engine_choice choice, char why_not[NB6_ENGINE_WHY]);
/** nb6_engine_is_here for the engine that the configuration names.
 *  @return NBC_OK; NBC_UNAVAILABLE (says what to ask for instead) */
int nb6_engine_check(const struct nb6_config *config, struct nbc_error *err);

/** Choose the engine of a run; sim->run.config and sim->n are known.   @return as nb6_engine_check */
int nb6_engine_settle(struct nb6_sim *sim, struct nbc_error *err);
/** Choose the engine of a run from a checkpoint: sim->engine, which wrote the checkpoint, if it is available here.
 *  @param[in] asked  1: the options now name another engine or other backends   @return as nb6_engine_check */
int nb6_engine_resume(struct nb6_sim *sim, int asked, struct nbc_error *err);

#endif
