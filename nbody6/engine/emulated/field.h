/** The field at points in space, in the emulated engine (stages/field.h). */
#ifndef NB6_EMULATED_FIELD_H
#define NB6_EMULATED_FIELD_H

#include "common/nbc.h"
#include "nbody6/engine/edit.h"
#include "nbody6/engine/stages/state.h"

/** As the function of engine/engine.h.   @return NBC_OK; NBC_NO_MEMORY */
int nb6_emulated_field(const struct nb6_dev *dev, nb6_time t, const struct nb6_field_points *points,
                       struct nbc_error *err);

#endif
