/** Bodies that begin anew between two blocks of the emulated engine (stages/begin.h). */
#ifndef NB6_EMULATED_BEGIN_H
#define NB6_EMULATED_BEGIN_H

#include "common/nbc.h"
#include "nbody6/engine/edit.h"
#include "nbody6/engine/emulated/leave.h"
#include "nbody6/engine/stages/begin.h"
#include "nbody6/engine/stages/state.h"

struct nb6_sim;

/** As the function of engine/engine.h: dev->irr has them, and dev->reg their roles, for the edit that follows.
 *  @return NBC_OK; NBC_NO_MEMORY */
int nb6_emulated_disturb(const struct nb6_dev *dev, const struct nb6_edit *edit, struct nb6_disturbed *disturbed,
                         struct nbc_error *err);

/** An edit on its way, with memory of its own. Zero-initialise. */
struct nb6_emulated_beginning {
    struct nb6_dev_beginning with;
    struct nb6_dev_begin_count count;
    struct nb6_changed *changed;
    struct nb6_pull_source *source;
    int64_t n_source, pairs;
    int by_tree;
};

/** All that may fail, in scratch.   @return NBC_OK; NBC_NO_MEMORY; NBC_DEVICE; NBC_NB_OVERFLOW: a list does not fit its
 *  row, as control->longest says; NBC_NON_FINITE */
int nb6_emulated_prepare_begin(const struct nb6_sim *sim, const struct nb6_dev *dev, struct nb6_emulated_forces *forces,
                               const struct nb6_edit *edit, struct nb6_emulated_beginning *b, struct nbc_error *err);
/** Then the rest. */
void nb6_emulated_begin(struct nb6_dev *dev, const struct nb6_edit *edit, const struct nb6_emulated_beginning *b);
void nb6_emulated_free_beginning(struct nb6_emulated_beginning *b);

#endif
