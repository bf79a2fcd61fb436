/** Changes of bodies between two blocks of the emulated engine (stages/edit.h). */
#ifndef NB6_EMULATED_EDIT_H
#define NB6_EMULATED_EDIT_H

#include "common/nbc.h"
#include "nbody6/engine/edit.h"
#include "nbody6/engine/stages/state.h"

#include <stdint.h>

/** As the function of engine/engine.h.   @return NBC_OK; NBC_NO_MEMORY */
int nb6_emulated_gather(const struct nb6_dev *dev, nb6_time t, int64_t n, const nb6_index *body, int with_potentials,
                        struct nb6_gathered *gathered, struct nbc_error *err);
/** As the function of engine/engine.h. Cannot fail.   @param[out] changed, pulled  [edit->n], [edit->n_pulled] scratch
 */
void nb6_emulated_edit(const struct nb6_dev *dev, const struct nb6_edit *edit, struct nb6_changed *changed,
                       struct nb6_pulled *pulled);

#endif
