/** Changes of bodies between two blocks of the emulated engine (stages/edit.h). */
#ifndef NB6_EMULATED_EDIT_H
#define NB6_EMULATED_EDIT_H

#include "common/nbc.h"
#include "nbody6/engine/edit.h"
#include "nbody6/engine/stages/state.h"

#include <stdint.h>

/** Both as the functions of engine/engine.h.   @return NBC_OK; NBC_NO_MEMORY: nothing has changed */
int nb6_emulated_gather(const struct nb6_dev *dev, nb6_time t, int64_t n, const nb6_index *body,
                        struct nb6_gathered *gathered, struct nbc_error *err);
int nb6_emulated_edit(const struct nb6_dev *dev, const struct nb6_edit *edit, struct nbc_error *err);

#endif
