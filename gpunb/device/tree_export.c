/* Essential trees of a tree in memory of a device, as the host asks for them: cells are chosen and written there, and
 * one copy brings what is sent. */
#include "gpunb/device/tree_export.h"

#include "gpunb/device/tree_host.h"
#include "gpunb/tree/tree.h"

static size_t lay_out(const struct essential_question *q, size_t cells, char *at, struct device_tree_export *x)
{
    struct device_tree_layout l = {at, 0};
    x->state = gpunb_device_tree_take(&l, 1, sizeof *x->state);
    x->node = gpunb_device_tree_take(&l, q->nodes, sizeof *x->node);
    x->queue = gpunb_device_tree_take(&l, cells, sizeof *x->queue);
    x->at = gpunb_device_tree_take(&l, cells, sizeof *x->at);
    x->shape = gpunb_device_tree_take(&l, cells, sizeof *x->shape);
    return l.bytes;
}

static int choose(struct device_kept_tree *kept, const struct essential_question *q, struct device_tree_export *x,
                  struct device_tree_exported *done, struct nbc_error *err)
{
    struct device_gpu *gpu = kept->gpu;
    const size_t cells = (size_t)kept->shape.n_cells;
    NBD_TRY(gpunb_device_reserve(gpu, &kept->choice, lay_out(q, cells, NULL, x), err));
    lay_out(q, cells, kept->choice.data, x);
    NBD_TRY(nbd_copy(&gpu->device, gpu->stream, (void *)(uintptr_t)x->node, q->node, q->nodes * sizeof *q->node, err));
    NBD_LAUNCH(err, &gpu->device, gpu->kernels->tree->choose(x, kept->shape.n_levels, gpu->stream));
    NBD_TRY(nbd_copy(&gpu->device, gpu->stream, done, x->state, sizeof *done, err));
    return nbd_stream_wait(&gpu->device, gpu->stream, err);
}

/* Memory of the host for a part, which stays until the next tree for it. */
static int provide_sent(struct device_kept_tree *kept, const struct essential_question *q, size_t bytes,
                        struct nbc_error *err)
{
    if (kept->parts < q->parts) {
        struct nbd_buffer *sent = nbc_alloc((size_t)q->parts, sizeof *sent);
        if (!sent) return nbc_fail(err, NBC_NO_MEMORY, "gpunb: no memory for the trees of %d parts", q->parts);
        for (int p = 0; p < q->parts; p++) sent[p].where = NBD_ON_HOST;
        for (int p = 0; p < kept->parts; p++) sent[p] = kept->sent[p];
        nbc_free(kept->sent);
        kept->sent = sent;
        kept->parts = q->parts;
    }
    return gpunb_device_reserve(kept->gpu, &kept->sent[q->to], bytes, err);
}

static int write(struct device_kept_tree *kept, const struct essential_question *q, struct device_tree_export *x,
                 const struct device_tree_exported *done, size_t *bytes, struct nbc_error *err)
{
    struct device_gpu *gpu = kept->gpu;
    *bytes = tree_exported_bytes(x, &done->heading);
    NBD_TRY(gpunb_device_reserve(gpu, &kept->packed, *bytes, err));
    NBD_TRY(provide_sent(kept, q, *bytes, err));
    x->to = kept->packed.data;
    NBD_LAUNCH(err, &gpu->device, gpu->kernels->tree->write(x, done->heading.cells, gpu->stream));
    NBD_TRY(nbd_copy(&gpu->device, gpu->stream, kept->sent[q->to].data, x->to, *bytes, err));
    return nbd_stream_wait(&gpu->device, gpu->stream, err);
}

int gpunb_device_tree_give(void *state, struct gpunb_tree *tree, const struct essential_question *q, const void **data,
                           size_t *bytes, uint64_t *tested, struct nbc_error *err)
{
    (void)state;
    struct device_kept_tree *kept = tree->kept;
    struct device_tree_exported done;
    const int moments = tree_kept_moments(tree->use->sizes.order), size = moments * (int)sizeof(float);
    struct device_tree_export x = {.tree = kept->tree,
                                   .test = *q->test,
                                   .boxes = (int32_t)q->boxes,
                                   .worth = q->worth,
                                   .cell_bytes = (int)sizeof(struct essential_cell) + (size + 7) / 8 * 8,
                                   .moments = moments};
    NBD_TRY(nbd_use(&kept->gpu->device, err));
    NBD_TRY(choose(kept, q, &x, &done, err));
    NBD_TRY(write(kept, q, &x, &done, bytes, err));
    *data = kept->sent[q->to].data;
    *tested += done.tested;
    return NBC_OK;
}
