/* Host side of blocks that leave the kernel of small blocks (cuda/leave.h). */
#include "nbody6/engine/cuda/leave.h"

#include "gpunb/regf_device.h"
#include "nbody6/engine/cuda/memory.h"
#include "nbody6/state/sim.h"
#include "nbody6/step/rules.h"

static int make_forces(struct nb6_device *d, const struct nb6_device_asking *asking, nb6_time t, struct nbc_error *err)
{
    const struct gpunb_regf_device job = {.n_j = (size_t)d->there.n,
                                          .source = d->there.sums.source,
                                          .n_i = (size_t)asking->n,
                                          .asked = asking->asked,
                                          .weighted = d->there.rules.weighted,
                                          .lists = d->there.row,
                                          .row_room = (size_t)d->there.row_room,
                                          .has_last = 1,
                                          .build = nb6_tree_number(t),
                                          .is_again = asking->is_again,
                                          .scratch = d->scratch,
                                          .scratch_bytes = d->scratch_bytes};
    const int status = gpunb_regf_device(d->reg, &job, d->stream);
    return status ? nbc_fail(err, NBC_DEVICE, "%s", gpunb_last_error(d->reg)) : NBC_OK;
}

/* Forces and corrector of some members.   @return status; control_block->n_again */
static int make_steps(struct nb6_device *d, struct nb6_device_control_block *control_block,
                      const struct nb6_device_asking *asking, struct nbc_error *err)
{
    const cudaStream_t stream = (cudaStream_t)d->stream;
    NBD_LAUNCH(err, &d->device, nb6_device_ask(&d->there, d->control_block, asking, stream));
    NBD_TRY(make_forces(d, asking, control_block->t, err));
    NBD_LAUNCH(err, &d->device, nb6_device_correct(d->control_block, asking, d->size.blocks, stream));
    NBD_TRY(nbd_copy(&d->device, d->stream, control_block, d->control_block, sizeof *control_block, err));
    return nbd_stream_wait(&d->device, d->stream, err);
}

int nb6_device_leave(struct nb6_device *d, struct nb6_device_control_block *control_block, struct nbc_error *err)
{
    struct nb6_device_asking asking = {
        .asked = d->asked, .member = d->there.reg, .again = d->again, .n = control_block->n_reg};
    d->there.pairs_by_tree = nb6_pairs_by_tree(d->reg, asking.n, d->there.n);
    while (asking.n > 0) {
        NBD_TRY(make_steps(d, control_block, &asking, err));
        asking.n = control_block->n_again;
        asking.member = asking.again;
        asking.again = asking.again == d->again ? d->there.reg : d->again;
        asking.is_again = 1;
    }
    d->there.pairs_by_tree = 0; /* from the next launch on that hands it over */
    NBD_LAUNCH(err, &d->device, nb6_device_end_block(d->control_block, d->size.blocks, (cudaStream_t)d->stream));
    return NBC_OK;
}
