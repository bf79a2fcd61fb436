/* The engine that keeps single stars on a GPU, and makes many blocks there without the host (device_block.cu). It has a
 * second image in memory, through which the state comes and goes. */
#include "common/nbc.h"
#include "nbody6/state/sim.h"
#include "nbody6/step/dev_image.h"
#include "nbody6/step/dev_state.h"
#include "nbody6/step/device_block.h"
#include "nbody6/step/engine.h"

#include <string.h>

struct device {
    struct nb6_dev home, there; /* the image in memory; the same with pointers of the device */
    struct nb6_device_word *word;
    cudaStream_t stream;
    int blocks;
};

static int device_failure(struct nbc_error *err, const char *call, cudaError_t code)
{
    return nbc_fail(err, NBC_DEVICE, "the device engine: %s failed: %s (%s)", call, cudaGetErrorString(code),
                    cudaGetErrorName(code));
}

#define TRY(err, call)                                                                                                 \
    do {                                                                                                               \
        const cudaError_t code_ = (call);                                                                              \
        if (code_ != cudaSuccess) return device_failure(err, #call, code_);                                            \
    } while (0)

/* ---- memory */

/* An array of both images. */
struct array {
    void *home, **there;
    size_t bytes;
    int is_state; /* it travels */
};

enum { MOST_ARRAYS = 20 };

static int list_arrays(struct device *d, struct array all[MOST_ARRAYS])
{
    struct nb6_dev *h = &d->home, *t = &d->there;
    const size_t n = (size_t)h->n, chunks = (size_t)nb6_dev_chunks(h);
    const struct array list[] = {
        {h->body, (void **)&t->body, n * sizeof *h->body, 1},
        {h->star, (void **)&t->star, n * sizeof *h->star, 1},
        {h->level, (void **)&t->level, n, 1},
        {h->row, (void **)&t->row, 2 * n * (size_t)h->row_room * sizeof *h->row, 1},
        {h->row_now, (void **)&t->row_now, n, 1},
        {h->control, (void **)&t->control, sizeof *h->control, 1},
        {h->irr, (void **)&t->irr, n * sizeof *h->irr, 0},
        {h->reg, (void **)&t->reg, n * sizeof *h->reg, 0},
        {h->is_reg, (void **)&t->is_reg, n, 0},
        {h->flag, (void **)&t->flag, n, 0},
        {h->corrected, (void **)&t->corrected, n * sizeof *h->corrected, 0},
        {h->old_sum, (void **)&t->old_sum, n * sizeof *h->old_sum, 0},
        {h->source, (void **)&t->source, chunks * NB6_DEV_LANES * sizeof *h->source, 0},
        {h->target, (void **)&t->target, NB6_DEV_TARGETS * sizeof *h->target, 0},
        {h->partial, (void **)&t->partial, (size_t)NB6_DEV_TARGETS * NB6_DEV_SLICES * sizeof *h->partial, 0},
        {h->hit, (void **)&t->hit, NB6_DEV_TARGETS * chunks * sizeof *h->hit, 0},
    };
    memcpy(all, list, sizeof list);
    return (int)(sizeof list / sizeof *list);
}

static void free_arrays(struct device *d)
{
    struct array all[MOST_ARRAYS];
    const int n = list_arrays(d, all);
    for (int k = 0; k < n; k++) cudaFree(*all[k].there);
    nb6_dev_free(&d->home);
    d->there = (struct nb6_dev){0};
}

/* Levels beyond the last body say that nobody is there. */
static int allocate_there(struct device *d, struct nbc_error *err)
{
    struct array all[MOST_ARRAYS];
    const int n = list_arrays(d, all);
    d->there = (struct nb6_dev){.n = d->home.n, .row_room = d->home.row_room};
    for (int k = 0; k < n; k++) TRY(err, cudaMalloc(all[k].there, all[k].bytes + NB6_DEVICE_LEVEL_PADDING));
    TRY(err, cudaMemset(d->there.level, 0xff, (size_t)d->home.n + NB6_DEVICE_LEVEL_PADDING));
    return NBC_OK;
}

static int allocate(struct device *d, int64_t n, int64_t row_room, struct nbc_error *err)
{
    free_arrays(d);
    if (!nb6_dev_allocate(&d->home, n, row_room))
        return nbc_fail(err, NBC_NO_MEMORY, "no memory for the image of %lld stars", (long long)n);
    int status = allocate_there(d, err);
    if (status) free_arrays(d);
    return status;
}

static int copy_state(struct device *d, enum cudaMemcpyKind kind, struct nbc_error *err)
{
    struct array all[MOST_ARRAYS];
    const int n = list_arrays(d, all);
    for (int k = 0; k < n; k++) {
        if (!all[k].is_state) continue;
        const int up = kind == cudaMemcpyHostToDevice;
        TRY(err, cudaMemcpyAsync(up ? *all[k].there : all[k].home, up ? all[k].home : *all[k].there, all[k].bytes, kind,
                                 d->stream));
    }
    TRY(err, cudaStreamSynchronize(d->stream));
    return NBC_OK;
}

/* ---- opening and closing */

static void release(struct nb6_sim *sim)
{
    struct device *d = sim->elsewhere.image;
    if (!d) return;
    free_arrays(d);
    cudaFree(d->word);
    if (d->stream) cudaStreamDestroy(d->stream);
    nbc_free(d);
    sim->elsewhere.image = NULL;
}

/* Also whether the kernels are compiled for this GPU. */
static int check(struct nbc_error *err)
{
    int count = 0, device = 0, blocks = 0;
    cudaError_t code = cudaGetDeviceCount(&count);
    if (code == cudaSuccess && count > 0) code = cudaGetDevice(&device);
    if (code == cudaSuccess && count > 0) code = nb6_device_blocks(device, &blocks);
    cudaGetLastError(); /* or a later call would report it */
    if (code == cudaSuccess && blocks > 0) return NBC_OK;
    return nbc_fail(err, NBC_UNAVAILABLE, "there is no GPU to use here (%s)",
                    code != cudaSuccess ? cudaGetErrorString(code)
                    : count == 0        ? "no CUDA device"
                                        : "thread blocks cannot wait for each other on it");
}

static int open_device(struct device *d, struct nbc_error *err)
{
    int device;
    TRY(err, cudaGetDevice(&device));
    TRY(err, nb6_device_blocks(device, &d->blocks));
    if (d->blocks == 0)
        return nbc_fail(err, NBC_UNAVAILABLE,
                        "the device engine needs a GPU whose thread blocks can wait for each other (cooperative "
                        "launch); use --engine host");
    TRY(err, cudaStreamCreateWithFlags(&d->stream, cudaStreamNonBlocking));
    TRY(err, cudaMalloc((void **)&d->word, sizeof *d->word));
    return NBC_OK;
}

static int provide(struct nb6_sim *sim, struct nbc_error *err)
{
    struct device *d = sim->elsewhere.image;
    int status = NBC_OK;
    if (!d) {
        d = nbc_alloc(1, sizeof *d);
        if (!d) return nbc_fail(err, NBC_NO_MEMORY, "no memory for the device engine");
        sim->elsewhere.image = d;
        status = open_device(d, err);
    }
    const int64_t room = nb6_dev_row_room(sim, d->home.control ? d->home.control->longest : 0);
    if (!status && (d->home.n != sim->n || d->home.row_room < room)) status = allocate(d, sim->n, room, err);
    if (status) release(sim);
    return status;
}

/* ---- calls of the contract */

static int import(struct nb6_sim *sim, struct nbc_error *err)
{
    int status = provide(sim, err);
    if (status) return status;
    struct device *d = sim->elsewhere.image;
    nb6_dev_fill(sim, &d->home);
    return copy_state(d, cudaMemcpyHostToDevice, err);
}

/* What a failed store has begun is known at home alone. */
static int export(struct nb6_sim *sim, struct nbc_error *err)
{
    struct device *d = sim->elsewhere.image;
    const int64_t torn = d->home.control->torn;
    int status = copy_state(d, cudaMemcpyDeviceToHost, err);
    if (status) return status;
    d->home.control->torn = torn;
    status = nb6_dev_store(&d->home, sim, err);
    if (status) return status;
    TRY(err, cudaMemcpy(d->there.control, d->home.control, sizeof *d->home.control, cudaMemcpyHostToDevice));
    return NBC_OK;
}

/* The member that is to be named. */
static int refuse(struct device *d, int64_t slot, struct nbc_error *err)
{
    struct nb6_dev *h = &d->home;
    const struct nb6_dev *t = &d->there;
    TRY(err, cudaMemcpy(&h->irr[slot], &t->irr[slot], sizeof *h->irr, cudaMemcpyDeviceToHost));
    const int32_t i = h->irr[slot];
    TRY(err, cudaMemcpy(&h->flag[slot], &t->flag[slot], sizeof *h->flag, cudaMemcpyDeviceToHost));
    TRY(err, cudaMemcpy(&h->corrected[slot], &t->corrected[slot], sizeof *h->corrected, cudaMemcpyDeviceToHost));
    TRY(err, cudaMemcpy(&h->star[i], &t->star[i], sizeof *h->star, cudaMemcpyDeviceToHost));
    return nb6_dev_refuse(h, slot, err);
}

static int advance(struct nb6_sim *sim, nb6_time t_stop, int64_t max_blocks, enum nb6_stop_reason *reason,
                   struct nbc_error *err)
{
    struct device *d = sim->elsewhere.image;
    struct nb6_device_word word = {.reason = -1, .unsound = INT64_MAX};
    const uint64_t before = d->home.control->blocks;
    *reason = NB6_STOP_DEVICE;
    d->there.rules = nb6_dev_rules_of(sim);
    TRY(err, cudaMemcpyAsync(d->word, &word, sizeof word, cudaMemcpyHostToDevice, d->stream));
    TRY(err, nb6_device_run(&d->there, d->word, t_stop, max_blocks, d->blocks, d->stream));
    TRY(err, cudaMemcpyAsync(&word, d->word, sizeof word, cudaMemcpyDeviceToHost, d->stream));
    TRY(err,
        cudaMemcpyAsync(d->home.control, d->there.control, sizeof *d->home.control, cudaMemcpyDeviceToHost, d->stream));
    TRY(err, cudaStreamSynchronize(d->stream));
    *reason = (enum nb6_stop_reason)word.reason;
    if (d->home.control->blocks > before) sim->elsewhere.ahead = 1;
    if (sim->ti_reached < d->home.control->ti_now) sim->ti_reached = d->home.control->ti_now;
    return *reason == NB6_STOP_NON_FINITE ? refuse(d, word.unsound, err) : NBC_OK;
}

static const struct nb6_engine device_engine = {.name = "device",
                                                .cost = NB6_DEVICE_COST,
                                                .check = check,
                                                .knows = nb6_dev_knows,
                                                .import = import,
                                                .export = export,
                                                .advance = advance,
                                                .release = release};
const struct nb6_engine *const nb6_device_engine = &device_engine;
