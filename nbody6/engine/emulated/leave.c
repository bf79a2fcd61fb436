#include "nbody6/engine/emulated/leave.h"

#include "gpunb/regf_device.h"
#include "nbody6/engine/emulated/stage.h"
#include "nbody6/engine/stages/correct.h"
#include "nbody6/engine/stages/regular.h"
#include "nbody6/state/sim.h"
#include "nbody6/step/rules.h"

#include <string.h>

/* ---- opening and closing */

static int open_library(struct nb6_emulated_forces *f, gpunb_t *reg, double force_error, struct nbc_error *err)
{
    const struct gpunb_options options = {.backend = "emulated", .force_error = force_error};
    f->reg = reg;
    if (reg && strcmp(gpunb_info(reg)->name, "emulated") == 0) return NBC_OK;
    f->reg = NULL;
    const int status = gpunb_create(&f->reg, 1, &options, err);
    f->owns_reg = status == NBC_OK;
    return status;
}

static int open_all(struct nb6_emulated_forces *f, gpunb_t *reg, double force_error, int64_t n, struct nbc_error *err)
{
    int status = open_library(f, reg, force_error, err);
    if (status) return status;
    status = gpunb_regf_device_bytes(f->reg, (size_t)n, &f->scratch_bytes);
    if (status) return nbc_fail(err, NBC_DEVICE, "%s", gpunb_last_error(f->reg));
    NBD_TRY(nbd_open(&f->device, nbd_emulated, gpunb_regf_device_first(f->reg), "the emulated engine", err));
    NBD_TRY(nbd_stream_open(&f->device, NBD_MIDDLE, &f->stream, err));
    NBD_TRY(nbd_alloc(&f->device, NBD_ON_DEVICE, f->scratch_bytes, &f->scratch, err));
    f->asked = nbc_alloc((size_t)n, sizeof *f->asked);
    f->again = nbc_alloc((size_t)n, sizeof *f->again);
    f->target = nbc_alloc((size_t)n, sizeof *f->target);
    if (f->asked && f->again && f->target) return NBC_OK;
    return nbc_fail(err, NBC_NO_MEMORY, "no memory for the regular forces of %lld stars in the emulated engine",
                    (long long)n);
}

int nb6_emulated_forces_open(struct nb6_emulated_forces *f, gpunb_t *reg, double force_error, int64_t n,
                             struct nbc_error *err)
{
    const int status = open_all(f, reg, force_error, n, err);
    if (status) nb6_emulated_forces_close(f);
    return status;
}

void nb6_emulated_forces_close(struct nb6_emulated_forces *f)
{
    if (f->scratch) nbd_free(&f->device, NBD_ON_DEVICE, f->scratch);
    if (f->stream) nbd_stream_close(&f->device, f->stream);
    if (f->owns_reg) gpunb_free(f->reg);
    nbc_free(f->asked);
    nbc_free(f->again);
    nbc_free(f->target);
    *f = (struct nb6_emulated_forces){0};
}

/* ---- a block */

int nb6_emulated_make_forces(struct nb6_emulated_forces *f, const struct nb6_dev *dev, struct gpunb_dev_asked *asked,
                             int64_t n, int is_again, struct nbc_error *err)
{
    const struct gpunb_regf_device job = {.n_j = (size_t)dev->n,
                                          .source = dev->sums.source,
                                          .n_i = (size_t)n,
                                          .asked = asked,
                                          .weighted = dev->rules.weighted,
                                          .lists = dev->row,
                                          .row_room = (size_t)dev->row_room,
                                          .has_last = 1,
                                          .build = nb6_tree_number(dev->control->t),
                                          .is_again = is_again,
                                          .scratch = f->scratch,
                                          .scratch_bytes = f->scratch_bytes};
    if (gpunb_regf_device(f->reg, &job, f->stream)) return nbc_fail(err, NBC_DEVICE, "%s", gpunb_last_error(f->reg));
    dev->control->pairs_reg_block += (uint64_t)(n * nb6_dev_pairs_of_target(dev));
    return nbd_stream_wait(&f->device, f->stream, err);
}

/* Smaller spheres for targets whose lists are longer than they may be.   @return their number, in f->again */
static int64_t ask_again(const struct nb6_emulated_forces *f, const struct nb6_dev *dev)
{
    int64_t n = 0;
    for (int64_t m = 0; m < dev->control->n_reg; m++) {
        const int32_t i = f->asked[m].source, nnb = f->asked[m].count;
        const int64_t limit = nb6_dev_list_limit(dev, i);
        struct nb6_corrected *c = &dev->corrected[dev->reg[m]];
        if (nnb <= limit) continue;
        c->r_nb = nb6_smaller_radius(c->r_nb, limit, nnb);
        f->again[n] = nb6_dev_asked_for(dev, i, c->r_nb);
        f->target[n++] = (int32_t)m;
    }
    dev->control->overflows_block += (uint64_t)n;
    return n;
}

/* Forces on all members that end a regular step; dev->corrected has the radii of their spheres. */
static int find_forces(struct nb6_emulated_forces *f, const struct nb6_dev *dev, struct nbc_error *err)
{
    for (int64_t m = 0; m < dev->control->n_reg; m++) {
        const int32_t member = dev->reg[m], i = dev->irr[member];
        dev->corrected[member].r_nb = dev->star[i].r_nb;
        f->asked[m] = nb6_dev_asked_for(dev, i, dev->star[i].r_nb);
    }
    NBD_TRY(nb6_emulated_make_forces(f, dev, f->asked, dev->control->n_reg, 0, err));
    for (int64_t n = ask_again(f, dev); n > 0; n = ask_again(f, dev)) {
        NBD_TRY(nb6_emulated_make_forces(f, dev, f->again, n, 1, err));
        for (int64_t k = 0; k < n; k++) f->asked[f->target[k]] = f->again[k];
    }
    return NBC_OK;
}

/* The regular force of target m of a round is the first of its partial sums. */
static void correct_target(const struct nb6_dev *dev, int64_t m)
{
    if (dev->flag[dev->target[m].member] & NB6_DEV_TOO_LONG) return;
    nb6_dev_correct_regular(dev, m, &dev->sums.partial[m]);
}

static void correct_round(const struct nb6_emulated_forces *f, const struct nb6_dev *dev, int64_t first, int64_t n)
{
    for (int64_t m = 0; m < n; m++) {
        const struct gpunb_dev_asked *asked = &f->asked[first + m];
        struct nb6_dev_target *target = &dev->target[m];
        nb6_dev_set_target(dev, first, m);
        target->r_nb = dev->corrected[target->member].r_nb;
        target->nnb = asked->count;
        dev->sums.partial[m] = asked->sum;
        if (asked->count <= dev->row_room) continue;
        dev->flag[target->member] |= NB6_DEV_TOO_LONG;
        if (asked->count > dev->control->longest) dev->control->longest = asked->count;
    }
    nb6_emulated_stage(dev, correct_target, n, NB6_EMULATED_BODIES);
}

int nb6_emulated_leave(struct nb6_emulated_forces *f, const struct nb6_dev *dev, struct nbc_error *err)
{
    const int64_t n = dev->control->n_reg;
    struct nb6_dev own = *dev;
    own.pairs_by_tree = nb6_pairs_by_tree(f->reg, n, dev->n);
    dev->control->by_tree_block = own.pairs_by_tree > 0;
    NBD_TRY(find_forces(f, &own, err));
    for (int64_t first = 0; first < n; first += dev->targets)
        correct_round(f, &own, first, n - first < dev->targets ? n - first : dev->targets);
    return NBC_OK;
}
