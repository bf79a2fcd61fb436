/* GPUs. */
#include "common/nbc.h"
#include "gpunb/backend.h"
#include "gpunb/cuda_softened.h"
#include "nbody6/collisionless/residence.h"
#include "nbody6/collisionless/residence_kernels.h"

#include <string.h>

struct nb6_device_domain {
    struct nb6_part part;
    int device;
    cudaStream_t stream, copies; /* copies: positions that come from other places */
    cudaEvent_t drifted, came;   /* own positions are complete; those of all others are */
    void *select, *work;         /* scratch of the choice of due bodies, of forces */
    size_t select_bytes, work_bytes;
    struct nb6_part_word *word; /* in memory of the host */
};

static int failed(struct nbc_error *err, const struct nb6_device_domain *place, const char *call, cudaError_t code)
{
    (void)cudaGetLastError(); /* or a later call would report it */
    if (code == cudaErrorMemoryAllocation)
        return nbc_fail(err, NBC_NO_MEMORY,
                        "device %d has no memory for %d bodies of %d; use more devices, or --engine host",
                        place->device, place->part.n_own, place->part.n);
    return nbc_fail(err, NBC_DEVICE, "device %d: %s failed: %s (%s)", place->device, call, cudaGetErrorString(code),
                    cudaGetErrorName(code));
}

#define TRY(err, place, call)                                                                                          \
    do {                                                                                                               \
        const cudaError_t code_ = (call);                                                                              \
        if (code_ != cudaSuccess) return failed(err, place, #call, code_);                                             \
    } while (0)

/* ---- opening and closing */

static void close_place(struct nb6_device_domain *place)
{
    const struct nb6_part *p = &place->part;
    void *arrays[] = {p->mass, p->x,     p->x0,      p->v,          p->acc,  p->v_half,     p->level,
                      p->due,  p->x_due, p->acc_own, p->acc_others, p->word, place->select, place->work};
    if (cudaSetDevice(place->device) == cudaSuccess) {
        (void)cudaDeviceSynchronize();
        for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++) (void)cudaFree(arrays[k]);
        if (place->drifted) (void)cudaEventDestroy(place->drifted);
        if (place->came) (void)cudaEventDestroy(place->came);
        if (place->stream) (void)cudaStreamDestroy(place->stream);
        if (place->copies) (void)cudaStreamDestroy(place->copies);
        (void)cudaFreeHost(place->word);
    }
    (void)cudaGetLastError();
    nbc_free(place);
}

static int open_streams(struct nb6_device_domain *place, struct nbc_error *err)
{
    TRY(err, place, cudaStreamCreateWithFlags(&place->stream, cudaStreamNonBlocking));
    TRY(err, place, cudaStreamCreateWithFlags(&place->copies, cudaStreamNonBlocking));
    TRY(err, place, cudaEventCreateWithFlags(&place->drifted, cudaEventDisableTiming));
    TRY(err, place, cudaEventCreateWithFlags(&place->came, cudaEventDisableTiming));
    TRY(err, place, cudaHostAlloc((void **)&place->word, sizeof *place->word, cudaHostAllocDefault));
    return NBC_OK;
}

/* Let other GPUs write into this memory directly where the machine allows it; otherwise copies go through the host. */
static void let_peers_in(const struct nb6_device_domain *place)
{
    int devices = 0, can = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess) devices = 0;
    for (int other = 0; other < devices; other++)
        if (other != place->device && cudaDeviceCanAccessPeer(&can, place->device, other) == cudaSuccess && can)
            (void)cudaDeviceEnablePeerAccess(other, 0);
    (void)cudaGetLastError(); /* it is no failure, neither that they can already */
}

static int provide(struct nb6_device_domain *place, void **array, size_t count, size_t size, struct nbc_error *err)
{
    TRY(err, place, cudaMalloc(array, (count ? count : 1) * size));
    return NBC_OK;
}

/* Forces are made by own sources, then by all others. */
static int work_for(const struct nb6_part *p, size_t *bytes, struct nbc_error *err)
{
    const size_t own = (size_t)p->n_own, others = (size_t)p->n - own;
    size_t more = 0;
    int status = gpunb_softened_device_bytes(own, own, bytes, err);
    if (!status && others > 0) status = gpunb_softened_device_bytes(own, others, &more, err);
    if (more > *bytes) *bytes = more;
    return status;
}

static int allocate(struct nb6_device_domain *place, struct nbc_error *err)
{
    struct nb6_part *p = &place->part;
    const size_t n = (size_t)p->n, own = (size_t)p->n_own;
    TRY(err, place, nb6_kernel_select_bytes(p->n_own, &place->select_bytes));
    int status = work_for(p, &place->work_bytes, err);
    const struct {
        void **array;
        size_t count, size;
    } all[] = {{(void **)&p->mass, n, sizeof *p->mass},
               {(void **)&p->x, n, sizeof *p->x},
               {(void **)&p->x0, own, sizeof *p->x0},
               {(void **)&p->v, own, sizeof *p->v},
               {(void **)&p->acc, own, sizeof *p->acc},
               {(void **)&p->v_half, own, sizeof *p->v_half},
               {(void **)&p->level, own, sizeof *p->level},
               {(void **)&p->due, own, sizeof *p->due},
               {(void **)&p->x_due, own, sizeof *p->x_due},
               {(void **)&p->acc_own, own, sizeof *p->acc_own},
               {(void **)&p->acc_others, own < n ? own : 0, sizeof *p->acc_others},
               {(void **)&p->word, 1, sizeof *p->word},
               {&place->select, place->select_bytes, 1},
               {&place->work, place->work_bytes, 1}};
    for (size_t k = 0; k < sizeof all / sizeof all[0] && !status; k++)
        status = provide(place, all[k].array, all[k].count, all[k].size, err);
    return status;
}

static int open_place(struct nb6_device_domain **place, struct nb6_part *part, int device,
                      const struct gpunb_options *force, struct nbc_error *err)
{
    struct nb6_device_domain *made = nbc_alloc(1, sizeof *made);
    (void)force; /* two-float, on this device */
    if (!made) return nbc_fail(err, NBC_NO_MEMORY, "no memory for a part of a system");
    made->part = *part;
    made->device = device;
    const cudaError_t code = cudaSetDevice(device);
    int status = code == cudaSuccess ? open_streams(made, err) : failed(err, made, "cudaSetDevice", code);
    if (!status) {
        let_peers_in(made);
        status = allocate(made, err);
    }
    if (status) {
        close_place(made);
        return status;
    }
    *part = made->part;
    *place = made;
    return NBC_OK;
}

/* ---- there and back */

static int copy(struct nb6_device_domain *place, void *to, const void *from, size_t bytes, enum cudaMemcpyKind way,
                struct nbc_error *err)
{
    TRY(err, place, cudaSetDevice(place->device));
    TRY(err, place, cudaMemcpyAsync(to, from, bytes, way, place->stream));
    TRY(err, place, cudaStreamSynchronize(place->stream));
    return NBC_OK;
}

static int put(struct nb6_device_domain *place, void *to, const void *from, size_t bytes, struct nbc_error *err)
{
    return copy(place, to, from, bytes, cudaMemcpyHostToDevice, err);
}

static int get(struct nb6_device_domain *place, void *to, const void *from, size_t bytes, struct nbc_error *err)
{
    return copy(place, to, from, bytes, cudaMemcpyDeviceToHost, err);
}

/* ---- a block */

static int drift(struct nb6_device_domain *place, const struct nb6_part_block *block, struct nbc_error *err)
{
    TRY(err, place, cudaSetDevice(place->device));
    TRY(err, place, nb6_kernel_drift(&place->part, block, GPUNB_LIMIT, place->stream));
    TRY(err, place, cudaEventRecord(place->drifted, place->stream));
    return NBC_OK;
}

/* No earlier call still reads or writes these positions when a block begins: the host has waited for all places
 * (look). */
static int exchange(struct nb6_device_domain *place, void *to, struct nb6_device_domain *other, const void *from,
                    size_t bytes, struct nbc_error *err)
{
    TRY(err, place, cudaSetDevice(place->device));
    TRY(err, place, cudaStreamWaitEvent(place->copies, other->drifted, 0));
    TRY(err, place, cudaMemcpyPeerAsync(to, place->device, from, other->device, bytes, place->copies));
    TRY(err, place, cudaEventRecord(place->came, place->copies));
    return NBC_OK;
}

/* Accelerations by n sources from the first on. */
static int sum(const struct nb6_device_domain *place, int32_t n_due, int32_t first, int32_t n, double (*acc)[3],
               struct nbc_error *err)
{
    const struct nb6_part *p = &place->part;
    const struct gpunb_softened_device job = {.n_j = (size_t)n,
                                              .mass = p->mass + first,
                                              .x_j = (const double(*)[3])(p->x + first),
                                              .n_i = (size_t)n_due,
                                              .x_i = (const double(*)[3])(n_due == p->n_own ? p->x : p->x_due),
                                              .softening = p->rules.softening,
                                              .acc = acc,
                                              .work = place->work,
                                              .work_bytes = place->work_bytes};
    return gpunb_softened_device(&job, place->stream, err);
}

static int force(struct nb6_device_domain *place, const struct nb6_part_block *block, struct nbc_error *err)
{
    const struct nb6_part *p = &place->part;
    int status = NBC_OK;
    TRY(err, place, cudaSetDevice(place->device));
    if (block->n_due < p->n_own)
        TRY(err, place, nb6_kernel_select(p, block, place->select, place->select_bytes, place->stream));
    if (block->n_due > 0) status = sum(place, block->n_due, 0, p->n_own, p->acc_own, err);
    if (!status && p->n_own < p->n) TRY(err, place, cudaStreamWaitEvent(place->stream, place->came, 0));
    if (!status && p->n_own < p->n && block->n_due > 0)
        status = sum(place, block->n_due, p->n_own, p->n - p->n_own, p->acc_others, err);
    if (!status) TRY(err, place, nb6_kernel_check(p, block, place->stream));
    return status;
}

static int read_word(struct nb6_device_domain *place, struct nb6_part_word *word, struct nbc_error *err)
{
    TRY(err, place, cudaSetDevice(place->device));
    TRY(err, place,
        cudaMemcpyAsync(place->word, place->part.word, sizeof *word, cudaMemcpyDeviceToHost, place->stream));
    TRY(err, place, cudaStreamSynchronize(place->stream));
    *word = *place->word;
    return NBC_OK;
}

static int commit(struct nb6_device_domain *place, const struct nb6_part_block *block, struct nbc_error *err)
{
    TRY(err, place, cudaSetDevice(place->device));
    TRY(err, place, nb6_kernel_commit(&place->part, block, place->stream));
    return NBC_OK;
}

static const struct nb6_residence residence = {.name = "device",
                                               .open = open_place,
                                               .close = close_place,
                                               .put = put,
                                               .get = get,
                                               .drift = drift,
                                               .exchange = exchange,
                                               .force = force,
                                               .look = read_word,
                                               .commit = commit};

const struct nb6_residence *const nb6_residence_cuda = &residence;
