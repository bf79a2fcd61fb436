/* Host side of helper GPUs (cuda/helpers.h). */
#include "nbody6/engine/cuda/block.h"

#include "common/nbc.h"

static int see_each_other(int one, int other)
{
    int there = 0, back = 0;
    return cudaDeviceCanAccessPeer(&there, one, other) == cudaSuccess && there &&
           cudaDeviceCanAccessPeer(&back, other, one) == cudaSuccess && back;
}

/* Let the present GPU access the memory of another one. */
static int open_the_way(int gpu)
{
    const cudaError_t code = cudaDeviceEnablePeerAccess(gpu, 0);
    return code == cudaSuccess || code == cudaErrorPeerAccessAlreadyEnabled;
}

/* Prepare one GPU.   @return whether it helps from now on */
static int open_helper(struct nb6_device_helper *helper, int main, int blocks, int gpu)
{
    struct nb6_device_size size;
    *helper = (struct nb6_device_helper){.gpu = gpu};
    if (gpu == main || !see_each_other(main, gpu)) return 0;
    if (cudaSetDevice(main) != cudaSuccess || !open_the_way(gpu)) return 0;
    if (cudaSetDevice(gpu) != cudaSuccess || !open_the_way(main)) return 0;
    if (nb6_device_size_of(gpu, &size) != cudaSuccess || size.blocks != blocks) return 0;
    return cudaStreamCreateWithFlags(&helper->stream, cudaStreamNonBlocking) == cudaSuccess;
}

void nb6_device_helpers_open(struct nb6_device_helpers *h, int main, int blocks, int n, const int *gpu)
{
    *h = (struct nb6_device_helpers){.main = main, .blocks = blocks};
    for (int k = 0; k < n && h->n < NB6_DEVICE_HELPERS; k++)
        h->n += open_helper(&h->helper[h->n], main, blocks, gpu[k]);
    cudaGetLastError(); /* clear the error, or a later call would report it */
    cudaSetDevice(main);
}

static void free_helper(struct nb6_device_helper *helper)
{
    cudaFree(helper->order);
    cudaFree(helper->arrived);
    cudaFree(helper->tile);
    cudaFree(helper->target);
    cudaFree(helper->seen);
    cudaFree(helper->mutual);
    *helper = (struct nb6_device_helper){.gpu = helper->gpu, .stream = helper->stream};
}

void nb6_device_helpers_free(struct nb6_device_helpers *h)
{
    if (h->n == 0) return;
    for (int k = 0; k < h->n; k++)
        if (cudaSetDevice(h->helper[k].gpu) == cudaSuccess) free_helper(&h->helper[k]);
    cudaSetDevice(h->main);
}

void nb6_device_helpers_close(struct nb6_device_helpers *h)
{
    nb6_device_helpers_free(h);
    for (int k = 0; k < h->n; k++) cudaStreamDestroy(h->helper[k].stream);
    *h = (struct nb6_device_helpers){.main = h->main};
}

#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        const cudaError_t code_ = (call);                                                                              \
        if (code_ != cudaSuccess) return code_;                                                                        \
    } while (0)

/* On return the GPU that advances blocks may write orders. */
static cudaError_t allocate_helper(struct nb6_device_helper *helper, size_t tiles, size_t targets, size_t mutual)
{
    TRY(cudaSetDevice(helper->gpu));
    TRY(cudaMalloc((void **)&helper->order, sizeof *helper->order));
    TRY(cudaMalloc((void **)&helper->arrived, 2 * sizeof *helper->arrived));
    TRY(cudaMalloc((void **)&helper->tile, tiles * sizeof *helper->tile));
    TRY(cudaMalloc((void **)&helper->target, targets * sizeof *helper->target));
    TRY(cudaMalloc((void **)&helper->seen, targets * sizeof *helper->seen));
    TRY(cudaMalloc((void **)&helper->mutual, mutual * sizeof *helper->mutual));
    TRY(cudaMemsetAsync(helper->order, 0, sizeof *helper->order, helper->stream));
    return cudaStreamSynchronize(helper->stream);
}

cudaError_t nb6_device_helpers_allocate(struct nb6_device_helpers *h, size_t tiles, size_t targets, size_t mutual)
{
    cudaError_t code = cudaSuccess;
    if (h->n == 0) return code;
    h->given = 0;
    for (int k = 0; k < h->n && code == cudaSuccess; k++) code = allocate_helper(&h->helper[k], tiles, targets, mutual);
    const cudaError_t back = cudaSetDevice(h->main);
    return code == cudaSuccess ? back : code;
}

void nb6_device_helpers_tell(const struct nb6_device_helpers *h, struct nb6_device_help *help)
{
    *help = (struct nb6_device_help){.n = h->n, .given = h->given};
    for (int k = 0; k < h->n; k++) {
        help->order[k] = h->helper[k].order;
        help->done[k] = h->given;
    }
}

static cudaError_t begin_helper(const struct nb6_device_helper *helper, const struct nb6_dev *dev, int blocks,
                                const struct nb6_device_helper_view *view)
{
    struct nb6_dev own = *dev;
    own.tile = helper->tile;
    own.target = helper->target;
    own.seen = helper->seen;
    own.mutual = helper->mutual;
    TRY(cudaSetDevice(helper->gpu));
    TRY(cudaMemsetAsync(helper->arrived, 0, sizeof *helper->arrived, helper->stream));
    return nb6_device_help(&own, view, blocks, helper->stream);
}

cudaError_t nb6_device_helpers_begin(const struct nb6_device_helpers *h, const struct nb6_dev *dev,
                                     struct nb6_device_help *help, const int32_t *has_failed)
{
    cudaError_t code = cudaSuccess;
    if (h->n == 0) return code;
    for (int k = 0; k < h->n && code == cudaSuccess; k++) {
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
        code = begin_helper(helper, dev, h->blocks, &view);
    }
    const cudaError_t back = cudaSetDevice(h->main);
    return code == cudaSuccess ? back : code;
}

cudaError_t nb6_device_helpers_end(struct nb6_device_helpers *h, const struct nb6_device_help *help)
{
    h->given = help->given;
    for (int k = 0; k < h->n; k++) TRY(cudaStreamSynchronize(h->helper[k].stream));
    return cudaSuccess;
}

cudaError_t nb6_device_helpers_state(const struct nb6_device_helpers *h)
{
    for (int k = 0; k < h->n; k++) {
        const cudaError_t code = cudaStreamQuery(h->helper[k].stream);
        if (code != cudaErrorNotReady) TRY(code);
    }
    return cudaSuccess;
}
