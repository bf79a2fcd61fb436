/* Host side of helper GPUs (cuda/helpers.h). */
#include "nbody6/engine/cuda/block.h"

#include "common/nbc.h"

/* @return whether the GPU helps from now on */
static int open_helper(struct nb6_device_helper *helper, const struct nbd_device *main, int blocks, int gpu)
{
    struct nb6_device_size size;
    *helper = (struct nb6_device_helper){0};
    if (gpu == main->number || nbd_open(&helper->device, main->kind, gpu, main->user, NULL)) return 0;
    if (!nbd_reach(main, &helper->device) || !nbd_reach(&helper->device, main)) return 0;
    if (nb6_device_size_of(gpu, &size) != cudaSuccess || size.blocks != blocks) return 0;
    return nbd_stream_open(&helper->device, NBD_MIDDLE, &helper->stream, NULL) == NBC_OK;
}

void nb6_device_helpers_open(struct nb6_device_helpers *h, const struct nbd_device *main, int blocks, int n,
                             const int *gpu)
{
    *h = (struct nb6_device_helpers){.main = main, .blocks = blocks};
    for (int k = 0; k < n && h->n < NB6_DEVICE_HELPERS; k++)
        h->n += open_helper(&h->helper[h->n], main, blocks, gpu[k]);
    cudaGetLastError(); /* clear the error, or a later call would report it */
    (void)nbd_use(main, NULL);
}

static void free_helper(struct nb6_device_helper *helper)
{
    void *arrays[] = {helper->order, helper->arrived, helper->tile, helper->target, helper->seen, helper->mutual};
    for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++) nbd_free(&helper->device, NBD_ON_DEVICE, arrays[k]);
    *helper = (struct nb6_device_helper){.device = helper->device, .stream = helper->stream};
}

void nb6_device_helpers_free(struct nb6_device_helpers *h)
{
    if (h->n == 0) return;
    for (int k = 0; k < h->n; k++) free_helper(&h->helper[k]);
    (void)nbd_use(h->main, NULL);
}

void nb6_device_helpers_close(struct nb6_device_helpers *h)
{
    nb6_device_helpers_free(h);
    for (int k = 0; k < h->n; k++) nbd_stream_close(&h->helper[k].device, h->helper[k].stream);
    *h = (struct nb6_device_helpers){.main = h->main};
}

/* The GPU that advances blocks may write an order as soon as this has returned. */
static int allocate_helper(struct nb6_device_helper *helper, size_t tiles, size_t targets, size_t mutual,
                           struct nbc_error *err)
{
    const struct {
        void **array;
        size_t bytes;
    } all[] = {{(void **)&helper->order, sizeof *helper->order},
               {(void **)&helper->arrived, 2 * sizeof *helper->arrived},
               {(void **)&helper->tile, tiles * sizeof *helper->tile},
               {(void **)&helper->target, targets * sizeof *helper->target},
               {(void **)&helper->seen, targets * sizeof *helper->seen},
               {(void **)&helper->mutual, mutual * sizeof *helper->mutual}};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++)
        NBD_TRY(nbd_alloc(&helper->device, NBD_ON_DEVICE, all[k].bytes, all[k].array, err));
    NBD_TRY(nbd_fill(&helper->device, helper->stream, helper->order, 0, sizeof *helper->order, err));
    return nbd_stream_wait(&helper->device, helper->stream, err);
}

/* The first status that is none of success; the main GPU is current then. */
static int back_to_main(const struct nb6_device_helpers *h, int status, struct nbc_error *err)
{
    const int back = nbd_use(h->main, status ? NULL : err);
    return status ? status : back;
}

int nb6_device_helpers_allocate(struct nb6_device_helpers *h, size_t tiles, size_t targets, size_t mutual,
                                struct nbc_error *err)
{
    int status = NBC_OK;
    if (h->n == 0) return status;
    h->given = 0;
    for (int k = 0; k < h->n && !status; k++) status = allocate_helper(&h->helper[k], tiles, targets, mutual, err);
    return back_to_main(h, status, err);
}

void nb6_device_helpers_tell(const struct nb6_device_helpers *h, struct nb6_device_help *help)
{
    *help = (struct nb6_device_help){.n = h->n, .given = h->given};
    for (int k = 0; k < h->n; k++) {
        help->order[k] = h->helper[k].order;
        help->done[k] = h->given;
    }
}

static int begin_helper(const struct nb6_device_helper *helper, const struct nb6_dev *dev, int blocks,
                        const struct nb6_device_helper_view *view, struct nbc_error *err)
{
    struct nb6_dev own = *dev;
    own.tile = helper->tile;
    own.target = helper->target;
    own.seen = helper->seen;
    own.mutual = helper->mutual;
    NBD_TRY(nbd_use(&helper->device, err));
    NBD_TRY(nbd_fill(&helper->device, helper->stream, helper->arrived, 0, sizeof *helper->arrived, err));
    NBD_LAUNCH(err, &helper->device, nb6_device_help(&own, view, blocks, (cudaStream_t)helper->stream));
    return NBC_OK;
}

int nb6_device_helpers_begin(const struct nb6_device_helpers *h, const struct nb6_dev *dev,
                             struct nb6_device_help *help, const int32_t *has_failed, struct nbc_error *err)
{
    int status = NBC_OK;
    if (h->n == 0) return status;
    for (int k = 0; k < h->n && !status; k++) {
        const struct nb6_device_helper *helper = &h->helper[k];
        struct nb6_device_helper_view view = {.tile = dev->tile,
                                              .target = dev->target,
                                              .seen = dev->seen,
                                              .mutual = dev->mutual,
                                              .order = helper->order,
                                              .arrived = helper->arrived,
                                              .taken = helper->arrived + 1,
                                              .done = &help->done[k],
                                              .has_failed = has_failed,
                                              .given = h->given};
        status = begin_helper(helper, dev, h->blocks, &view, err);
    }
    return back_to_main(h, status, err);
}

int nb6_device_helpers_end(struct nb6_device_helpers *h, const struct nb6_device_help *help, struct nbc_error *err)
{
    h->given = help->given;
    for (int k = 0; k < h->n; k++) NBD_TRY(nbd_stream_wait(&h->helper[k].device, h->helper[k].stream, err));
    return NBC_OK;
}

int nb6_device_helpers_state(const struct nb6_device_helpers *h, struct nbc_error *err)
{
    int is_done;
    for (int k = 0; k < h->n; k++) NBD_TRY(nbd_stream_ask(&h->helper[k].device, h->helper[k].stream, &is_done, err));
    return NBC_OK;
}
