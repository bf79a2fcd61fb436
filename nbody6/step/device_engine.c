/* The engine that keeps bodies on a GPU, and makes many blocks there (device_block.cu). It has a second image in
 * memory, through which the state comes and goes, and members are shown to the host (device_host.c). */
#include "common/nbc.h"
#include "common/team.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/profile.h"
#include "nbody6/state/sim.h"
#include "nbody6/step/dev_image.h"
#include "nbody6/step/dev_state.h"
#include "nbody6/step/device_block.h"
#include "nbody6/step/device_call.h"
#include "nbody6/step/device_host.h"
#include "nbody6/step/device_lists.h"
#include "nbody6/step/engine.h"
#include "nbody6/step/share.h"

#include <pthread.h>
#include <string.h>

enum {
    MOST_ARRAYS = 40,
    FOUND_ROOM = 1 << 25, /* chunks with neighbours, of all targets that are made at a time, */
    LEAST_TARGETS = 512,  /* which are so many at least */
    MOST_TARGETS = 8192
};

struct letters;

struct device {
    struct nb6_dev home, there; /* the state in memory; state and scratch of the device */
    struct nb6_device_word *word;
    struct nb6_dev_call *call;
    cudaStream_t stream;
    struct nb6_device_size size;
    struct letters *letters;
    struct nb6_device_mail *mail;   /* in them; NULL: the device cannot see memory of the host */
    struct nb6_device_home seen_at; /* where it sees it */
    int pinned[MOST_ARRAYS];
    pthread_t thread; /* that makes room for an image of this size on this GPU, */
    int is_preparing; /* 1: and was not waited for */
    struct nb6_dev_size wanted;
    int gpu, n_gpus, gpus[NB6_DEVICE_HELPERS + 1]; /* the one that makes blocks; that one, and others that may help */
    struct nb6_device_helpers helpers;
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

/* An array of the device, and where it comes from. */
struct array {
    void *home, **there;   /* home: NULL if it does not travel */
    size_t travels, bytes; /* what comes and goes with the records, or in copy_lists, and all */
    void **seen_at;        /* of one in memory where the device writes or reads itself, too */
};

/* Targets of a round: a function of the numbers of stars and of GPUs, not of the room that there happens to be, since
 * sums are cut by it. */
static int64_t targets_for(const struct nb6_dev *dev)
{
    const int64_t chunks = nb6_dev_chunks(dev) > 0 ? nb6_dev_chunks(dev) : 1;
    const int64_t fit = FOUND_ROOM * (1 + dev->helpers) / chunks;
    return fit < LEAST_TARGETS ? LEAST_TARGETS : fit > MOST_TARGETS ? MOST_TARGETS : fit;
}

/* Room for what so many targets have, whatever the number of stars up to the one there is room for. */
static size_t found_room(size_t chunks, size_t gpus)
{
    const size_t most = MOST_TARGETS * chunks, least = LEAST_TARGETS * chunks, room = FOUND_ROOM * gpus;
    return most < room ? most : least > room ? least : room;
}

static int list_arrays(struct device *d, struct array all[MOST_ARRAYS])
{
    struct nb6_dev *h = &d->home, *t = &d->there;
    const size_t n = (size_t)h->n_max, chunks = (n + NB6_DEV_LANES - 1) / NB6_DEV_LANES;
    const size_t words = chunks + NB6_DEV_HIT_GRAIN;
    const size_t rows = n * (size_t)h->row_room * sizeof *h->row;
    /* Where there are more targets than warps have lanes, one slice has all sources. */
    const size_t gpus = 1 + (size_t)d->helpers.n, each = d->size.partials;
    const size_t partials = gpus * (each > MOST_TARGETS ? each : MOST_TARGETS);
    const size_t systems = (size_t)h->systems * sizeof *h->system, corrections = n * sizeof *h->correction;
    const size_t remotes = (size_t)h->systems * sizeof *h->remote;
    struct nb6_device_home *at = &d->seen_at;
    const struct array list[] = {
        {h->body, (void **)&t->body, n * sizeof *h->body, n * sizeof *h->body, (void **)&at->body},
        {h->star, (void **)&t->star, n * sizeof *h->star, n * sizeof *h->star, (void **)&at->star},
        {h->level, (void **)&t->level, n, n + NB6_DEVICE_LEVEL_PADDING, (void **)&at->level},
        {h->row, (void **)&t->row, rows, 2 * rows, (void **)&at->row},
        {h->list_at, (void **)&t->list_at, n * sizeof *h->list_at, n * sizeof *h->list_at, NULL},
        {h->row_now, (void **)&t->row_now, n, n, NULL},
        {h->watch, (void **)&t->watch, n, n, (void **)&at->watch},
        {h->ask, (void **)&t->ask, n * sizeof *h->ask, n * sizeof *h->ask, (void **)&at->ask},
        {h->system, (void **)&t->system, systems, systems, (void **)&at->system},
        {h->remote, (void **)&t->remote, remotes, remotes, (void **)&at->remote},
        {h->correction, (void **)&t->correction, 0, corrections, (void **)&at->correction},
        {h->shown, (void **)&t->shown, 0, n, (void **)&at->shown},
        {h->far, (void **)&t->far, 0, (size_t)h->systems * sizeof *h->far, (void **)&at->far},
        {NULL, (void **)&t->member, 0, n * sizeof *t->member, NULL},
        {h->control, (void **)&t->control, sizeof *h->control, sizeof *h->control, NULL},
        {NULL, (void **)&t->irr, 0, n * sizeof *t->irr, NULL},
        {NULL, (void **)&t->reg, 0, n * sizeof *t->reg, NULL},
        {NULL, (void **)&t->is_reg, 0, n, NULL},
        {NULL, (void **)&t->flag, 0, n, NULL},
        {NULL, (void **)&t->corrected, 0, n * sizeof *t->corrected, NULL},
        {NULL, (void **)&t->old_sum, 0, n * sizeof *t->old_sum, NULL},
        {NULL, (void **)&t->source, 0, chunks * NB6_DEV_LANES * sizeof *t->source, NULL},
        {NULL, (void **)&t->target, 0, MOST_TARGETS * sizeof *t->target, NULL},
        {NULL, (void **)&t->partial, 0, partials * sizeof *t->partial, NULL},
        {NULL, (void **)&t->hit, 0, NB6_DEVICE_FEW * words * sizeof *t->hit, NULL},
        {NULL, (void **)&t->found, 0, found_room(chunks, gpus) * sizeof *t->found, NULL},
        {NULL, (void **)&t->n_found, 0, partials * sizeof *t->n_found, NULL},
        {NULL, (void **)&t->key, 0, 2 * n * sizeof *t->key, NULL},
        {NULL, (void **)&t->order, 0, 2 * n * sizeof *t->order, NULL},
        {NULL, (void **)&t->slot_of, 0, n * sizeof *t->slot_of, NULL},
        {NULL, (void **)&t->digits, 0, (size_t)d->size.blocks * NB6_DEVICE_DIGITS * sizeof *t->digits, NULL},
        {NULL, (void **)&t->tile, 0, chunks * sizeof *t->tile, NULL},
        {NULL, (void **)&t->seen, 0, MOST_TARGETS * sizeof *t->seen, NULL},
    };
    _Static_assert(sizeof list / sizeof *list <= MOST_ARRAYS, "room for all");
    memcpy(all, list, sizeof list);
    return (int)(sizeof list / sizeof *list);
}

/* Bytes of an array in memory. */
static size_t bytes_at_home(const struct array *a)
{
    return a->travels ? a->travels : a->bytes;
}

/* Memory that the device reads and writes itself travels several times as fast. Where that cannot be had, all works as
 * well, but that the host makes all blocks in which it has a share. */
static void pin(struct device *d)
{
    struct array all[MOST_ARRAYS];
    const int n = list_arrays(d, all);
    int is_seen = d->mail != NULL;
    for (int k = 0; k < n; k++) {
        d->pinned[k] =
            all[k].home && cudaHostRegister(all[k].home, bytes_at_home(&all[k]), cudaHostRegisterMapped) == cudaSuccess;
        if (all[k].seen_at)
            is_seen &= d->pinned[k] && cudaHostGetDevicePointer(all[k].seen_at, all[k].home, 0) == cudaSuccess;
    }
    if (!is_seen) d->seen_at.mail = NULL;
    cudaGetLastError(); /* or a later call would report it */
}

/* What the host and the device write to each other, but for the image, in one piece of memory. */
struct letters {
    struct nb6_dev_note note[NB6_DEVICE_NOTES];
    struct nb6_device_mail mail;
    int32_t place[]; /* members, and whom changes concern */
};

/* A mail with room for all bodies.   @return 0: the device cannot see it */
static int provide_mail(struct device *d)
{
    const size_t n = (size_t)d->home.n_max;
    struct letters *here, *there;
    if (cudaHostAlloc((void **)&here, sizeof *here + 2 * n * sizeof *here->place, cudaHostAllocMapped)) return 0;
    d->letters = here;
    d->mail = &here->mail;
    d->mail->note = here->note;
    d->mail->member = here->place;
    d->mail->concerned = here->place + n;
    if (cudaHostGetDevicePointer((void **)&there, here, 0)) return 0;
    d->seen_at.mail = &there->mail;
    d->seen_at.note = there->note;
    d->seen_at.member = there->place;
    d->seen_at.concerned = there->place + n;
    return 1;
}

static void unpin(struct device *d)
{
    struct array all[MOST_ARRAYS];
    const int n = list_arrays(d, all);
    for (int k = 0; k < n; k++) {
        if (d->pinned[k]) cudaHostUnregister(all[k].home);
        d->pinned[k] = 0;
    }
}

static void free_arrays(struct device *d)
{
    struct array all[MOST_ARRAYS];
    const int n = list_arrays(d, all);
    for (int k = 0; k < n; k++) cudaFree(*all[k].there);
    nb6_device_helpers_free(&d->helpers);
    unpin(d);
    cudaFreeHost(d->letters);
    d->letters = NULL;
    d->mail = NULL;
    d->seen_at = (struct nb6_device_home){0};
    nb6_dev_free_state(&d->home);
    d->there = (struct nb6_dev){0};
}

/* Levels beyond the last body say that nobody is there. Hits are read four words at a time, of which the last ones may
 * never be written. */
static int allocate_there(struct device *d, struct nbc_error *err)
{
    struct array all[MOST_ARRAYS];
    const int64_t chunks = (d->home.n_max + NB6_DEV_LANES - 1) / NB6_DEV_LANES;
    if (d->helpers.n == 0 && d->home.n_max >= NB6_DEVICE_HELPERS_WORTH)
        nb6_device_helpers_open(&d->helpers, d->gpu, d->size.blocks, d->n_gpus, d->gpus);
    TRY(err, nb6_device_helpers_allocate(&d->helpers, (size_t)chunks, MOST_TARGETS));
    d->there = (struct nb6_dev){
        .n = d->home.n, .n_max = d->home.n_max, .row_room = d->home.row_room, .systems = d->home.systems};
    const int n = list_arrays(d, all);
    for (int k = 0; k < n; k++) TRY(err, cudaMalloc(all[k].there, all[k].bytes));
    d->there.lists = d->there.row + d->there.n_max * d->there.row_room;
    TRY(err, cudaMemsetAsync(d->there.level, 0xff, (size_t)d->home.n_max + NB6_DEVICE_LEVEL_PADDING, d->stream));
    for (int k = 0; k < n; k++)
        if (*all[k].there == d->there.hit) TRY(err, cudaMemsetAsync(d->there.hit, 0, all[k].bytes, d->stream));
    return NBC_OK;
}

static int allocate(struct device *d, const struct nb6_dev_size *size, struct nbc_error *err)
{
    free_arrays(d);
    if (!nb6_dev_allocate_state(&d->home, size, 1))
        return nbc_fail(err, NBC_NO_MEMORY, "no memory for the image of %lld bodies", (long long)size->n);
    int status = allocate_there(d, err);
    if (status) {
        free_arrays(d);
        return status;
    }
    if (!provide_mail(d)) d->seen_at.mail = NULL;
    pin(d);
    if (!d->seen_at.mail) nb6_device_helpers_close(&d->helpers); /* it could not be told of failures */
    return NBC_OK;
}

/* All that travels but lists of neighbours. */
static int copy_records(struct device *d, enum cudaMemcpyKind kind, struct nbc_error *err)
{
    struct array all[MOST_ARRAYS];
    const int n = list_arrays(d, all);
    for (int k = 0; k < n; k++) {
        const void *home = all[k].home;
        if (!home || !all[k].travels || home == d->home.row || home == d->home.list_at) continue;
        const int up = kind == cudaMemcpyHostToDevice;
        TRY(err, cudaMemcpyAsync(up ? *all[k].there : all[k].home, up ? all[k].home : *all[k].there, all[k].travels,
                                 kind, d->stream));
    }
    return NBC_OK;
}

/* Lists of so many numbers, from where they are there or to it. Where each of them is is known at home. */
static int copy_lists(struct device *d, int64_t numbers, enum cudaMemcpyKind kind, struct nbc_error *err)
{
    const struct nb6_dev *h = &d->home, *t = &d->there;
    const size_t bytes = (size_t)numbers * sizeof *h->lists;
    const int up = kind == cudaMemcpyHostToDevice;
    TRY(err,
        cudaMemcpyAsync(t->list_at, h->list_at, (size_t)h->n * sizeof *h->list_at, cudaMemcpyHostToDevice, d->stream));
    if (up) TRY(err, cudaMemcpyAsync(t->lists, h->lists, bytes, kind, d->stream));
    TRY(err, up ? nb6_device_unpack_lists(t, d->stream) : nb6_device_pack_lists(t, d->stream));
    if (!up) TRY(err, cudaMemcpyAsync(h->lists, t->lists, bytes, kind, d->stream));
    TRY(err, cudaStreamSynchronize(d->stream));
    return NBC_OK;
}

/* ---- opening and closing */

/* The thread that makes room has ended. */
static void wait_until_prepared(struct device *d)
{
    if (d->is_preparing) pthread_join(d->thread, NULL);
    d->is_preparing = 0;
}

static void release(struct nb6_sim *sim)
{
    struct device *d = sim->elsewhere.image;
    if (!d) return;
    wait_until_prepared(d);
    cudaSetDevice(d->gpu);
    free_arrays(d);
    nb6_device_helpers_close(&d->helpers);
    cudaFree(d->word);
    cudaFree(d->call);
    if (d->stream) cudaStreamDestroy(d->stream);
    nbc_free(d);
    sim->elsewhere.image = NULL;
}

/* Also whether the kernels are compiled for this GPU. */
static int check(struct nbc_error *err)
{
    struct nb6_device_size size = {0};
    int count = 0, device = 0;
    cudaError_t code = cudaGetDeviceCount(&count);
    if (code == cudaSuccess && count > 0) code = cudaGetDevice(&device);
    if (code == cudaSuccess && count > 0) code = nb6_device_size_of(device, &size);
    cudaGetLastError(); /* or a later call would report it */
    if (code == cudaSuccess && size.blocks > 0) return NBC_OK;
    return nbc_fail(err, NBC_UNAVAILABLE, "there is no GPU to use here (%s)",
                    code != cudaSuccess ? cudaGetErrorString(code)
                    : count == 0        ? "no CUDA device"
                                        : "thread blocks cannot wait for each other on it");
}

/* Bodies are on the first of the GPUs of regular forces; if these have none, on the present one. Where other libraries
 * have been at work, that may be any. */
static int choose_gpus(struct device *d, const gpunb_t *reg, struct nbc_error *err)
{
    const int room = sizeof d->gpus / sizeof *d->gpus, found = gpunb_gpus(reg, room, d->gpus);
    d->n_gpus = found < room ? found : room;
    if (d->n_gpus > 0) d->gpu = d->gpus[0];
    if (d->n_gpus == 0) TRY(err, cudaGetDevice(&d->gpu));
    TRY(err, cudaSetDevice(d->gpu));
    return NBC_OK;
}

static int open_gpu(struct device *d, const gpunb_t *reg, struct nbc_error *err)
{
    const int status = choose_gpus(d, reg, err);
    if (status) return status;
    TRY(err, nb6_device_size_of(d->gpu, &d->size));
    if (d->size.blocks == 0)
        return nbc_fail(err, NBC_UNAVAILABLE,
                        "the device engine needs a GPU whose thread blocks can wait for each other (cooperative "
                        "launch); use --engine host");
    TRY(err, cudaStreamCreateWithFlags(&d->stream, cudaStreamNonBlocking));
    TRY(err, cudaMalloc((void **)&d->word, sizeof *d->word));
    TRY(err, cudaMalloc((void **)&d->call, sizeof *d->call));
    return NBC_OK;
}

/* sim->elsewhere.image, without room for anything yet. */
static int open_device(struct nb6_sim *sim, struct nbc_error *err)
{
    if (sim->elsewhere.image) return NBC_OK;
    struct device *d = nbc_alloc(1, sizeof *d);
    if (!d) return nbc_fail(err, NBC_NO_MEMORY, "no memory for the device engine");
    sim->elsewhere.image = d;
    const int status = open_gpu(d, sim->reg, err);
    if (status) release(sim);
    return status;
}

static int provide(struct nb6_sim *sim, struct nbc_error *err)
{
    int status = open_device(sim, err);
    if (status) return status;
    struct device *d = sim->elsewhere.image;
    wait_until_prepared(d);
    TRY(err, cudaSetDevice(d->gpu));
    const struct nb6_dev_room room = nb6_dev_room_for(sim, d->home.control ? d->home.control->longest : 0);
    if (!nb6_dev_has_room(&d->home, &room)) status = allocate(d, &room.wanted, err);
    if (status) release(sim);
    return status;
}

static void *make_room(void *device)
{
    struct device *d = device;
    nbc_team_leave(); /* others make forces with it */
    if (cudaSetDevice(d->gpu) == cudaSuccess) (void)allocate(d, &d->wanted, NULL);
    return NULL;
}

/* ---- calls of the contract */

/* Memory that the device sees has to be pinned, page by page. */
static void prepare(struct nb6_sim *sim, int64_t row)
{
    if (open_device(sim, NULL)) return;
    struct device *d = sim->elsewhere.image;
    if (d->is_preparing || d->home.control) return;
    d->wanted = nb6_dev_room_for(sim, row).wanted;
    d->is_preparing = pthread_create(&d->thread, NULL, make_room, d) == 0;
}

static int import(struct nb6_sim *sim, struct nbc_error *err)
{
    int status = provide(sim, err);
    if (status) return status;
    struct device *d = sim->elsewhere.image;
    const int64_t numbers = nb6_dev_fill(sim, &d->home);
    d->there.n = d->home.n;
    d->there.first_centre = d->home.first_centre;
    d->there.helpers = d->helpers.n;
    d->there.targets = targets_for(&d->there);
    status = copy_records(d, cudaMemcpyHostToDevice, err);
    return status ? status : copy_lists(d, numbers, cudaMemcpyHostToDevice, err);
}

/* What a failed store has begun is known at home alone. */
static int export(struct nb6_sim *sim, struct nbc_error *err)
{
    struct device *d = sim->elsewhere.image;
    const int64_t torn = d->home.control->torn;
    TRY(err, cudaSetDevice(d->gpu));
    TRY(err, nb6_device_settle_lists(&d->there, d->stream));
    int status = copy_records(d, cudaMemcpyDeviceToHost, err);
    if (status) return status;
    TRY(err, cudaStreamSynchronize(d->stream));
    status = copy_lists(d, nb6_dev_lay_out_lists(&d->home), cudaMemcpyDeviceToHost, err);
    if (status) return status;
    d->home.control->torn = torn;
    status = nb6_dev_store(&d->home, sim, err);
    if (status) return status;
    TRY(err, cudaMemcpy(d->there.control, d->home.control, sizeof *d->home.control, cudaMemcpyHostToDevice));
    return NBC_OK;
}

/* The member that is to be named: 2^32 body + slot. */
static int refuse(struct device *d, int64_t unsound, struct nbc_error *err)
{
    struct nb6_dev *h = &d->home;
    const struct nb6_dev *t = &d->there;
    const int32_t i = (int32_t)(unsound >> 32), slot = (int32_t)(unsound & 0xffffffff);
    struct nb6_corrected corrected;
    int8_t flag;
    TRY(err, cudaMemcpy(&flag, &t->flag[slot], sizeof flag, cudaMemcpyDeviceToHost));
    TRY(err, cudaMemcpy(&corrected, &t->corrected[slot], sizeof corrected, cudaMemcpyDeviceToHost));
    TRY(err, cudaMemcpy(&h->star[i], &t->star[i], sizeof *h->star, cudaMemcpyDeviceToHost));
    return nb6_dev_refuse(h, i, (flag & NB6_DEV_UNSOUND_IRR) != 0, &corrected, err);
}

/* What can be done while the kernel runs; after a failure no kernel waits for another one any more.
 *  @param[out] seconds  of the host's share */
static int go_along(struct nb6_sim *sim, struct device *d, double *seconds, struct nbc_error *err)
{
    int status = NBC_OK;
    if (!d->seen_at.mail) return status;
    const cudaError_t code =
        nb6_device_helpers_begin(&d->helpers, &d->there, &d->word->help, &d->seen_at.mail->has_failed);
    if (code != cudaSuccess) status = device_failure(err, "the kernel of another GPU", code);
    if (!status) status = nb6_device_answer(sim, &d->home, d->mail, d->stream, &d->helpers, seconds, err);
    if (status == NBC_DEVICE) __atomic_store_n(&d->mail->has_failed, 1, __ATOMIC_RELEASE);
    return status;
}

/* The kernel, while which the host answers questions. */
static int run(struct nb6_sim *sim, struct device *d, nb6_time t_stop, int64_t max_blocks, struct nb6_device_word *word,
               double *seconds, struct nbc_error *err)
{
    if (d->mail) {
        d->mail->asked = d->mail->answered = d->mail->noted = d->mail->taken = 0;
        d->mail->has_failed = 0;
        d->mail->reached = d->home.control->ti_now;
    }
    nb6_device_helpers_tell(&d->helpers, &word->help);
    TRY(err, cudaMemcpyAsync(d->word, word, sizeof *word, cudaMemcpyHostToDevice, d->stream));
    TRY(err, nb6_device_run(&d->there, d->word, t_stop, max_blocks, d->size.blocks, d->stream));
    const int status = go_along(sim, d, seconds, err);
    if (status == NBC_DEVICE) return status;
    TRY(err, cudaMemcpyAsync(word, d->word, sizeof *word, cudaMemcpyDeviceToHost, d->stream));
    TRY(err,
        cudaMemcpyAsync(d->home.control, d->there.control, sizeof *d->home.control, cudaMemcpyDeviceToHost, d->stream));
    TRY(err, cudaStreamSynchronize(d->stream));
    TRY(err, nb6_device_helpers_end(&d->helpers, &word->help));
    return status;
}

static int advance(struct nb6_sim *sim, nb6_time t_stop, int64_t max_blocks, enum nb6_stop_reason *reason,
                   struct nbc_error *err)
{
    struct device *d = sim->elsewhere.image;
    struct nb6_device_word word = {
        .reason = NB6_DEVICE_GO_ON, .unsound = INT64_MAX, .unsound_reg = INT64_MAX, .home = d->seen_at};
    const uint64_t before = d->home.control->blocks;
    const double start = nbc_wtime();
    double of_host = 0;
    *reason = NB6_STOP_DEVICE;
    d->there.rules = nb6_dev_rules_of(sim);
    TRY(err, cudaSetDevice(d->gpu));
    const int status = run(sim, d, t_stop, max_blocks, &word, &of_host, err);
    if (status == NBC_DEVICE) return status;
    nb6_profile_stage(sim, NB6_STAGE_DEVICE, nbc_wtime() - start - of_host);
    *reason = (enum nb6_stop_reason)word.reason;
    if (d->home.control->blocks > before) sim->elsewhere.ahead = 1;
    if (sim->ti_reached < d->home.control->ti_now) sim->ti_reached = d->home.control->ti_now;
    nb6_share_cancel(sim); /* of a block that was not made after all */
    const int settled = status ? status : nb6_share_settle(sim, d->home.control->ti_now, err);
    if (settled) return settled;
    if (*reason != NB6_STOP_NON_FINITE) return NBC_OK;
    return refuse(d, word.unsound != INT64_MAX ? word.unsound : word.unsound_reg, err);
}

/* Whoever is called is no more what it was when the state was at home. */
static void note_called(struct nb6_dev *home, int32_t place)
{
    if (home->shown[place] == NB6_DEV_HIDDEN) home->shown[place] = NB6_DEV_ALONE;
}

static int call(struct nb6_sim *sim, const int32_t body[2], int *are_ready, struct nbc_error *err)
{
    struct device *d = sim->elsewhere.image;
    struct nb6_dev *h = &d->home;
    struct nb6_dev_call c = {.place = {h->place_of[body[0]], h->place_of[body[1]]}};
    TRY(err, cudaSetDevice(d->gpu));
    TRY(err, cudaMemcpyAsync(d->call, &c, sizeof c, cudaMemcpyHostToDevice, d->stream));
    TRY(err, nb6_device_call(&d->there, d->call, d->stream));
    TRY(err, cudaMemcpyAsync(&c, d->call, sizeof c, cudaMemcpyDeviceToHost, d->stream));
    TRY(err, cudaStreamSynchronize(d->stream));
    *are_ready = c.behind == 0;
    if (*are_ready) return NBC_OK;
    int32_t *called = d->letters->place; /* nobody is asked anything now */
    TRY(err, cudaMemcpy(called, d->there.irr, (size_t)c.n * sizeof *called, cudaMemcpyDeviceToHost));
    for (int m = 0; m < 2; m++) note_called(h, c.place[m]);
    for (int32_t m = 0; m < c.n; m++) note_called(h, called[m]);
    return NBC_OK;
}

static const struct nb6_engine device_engine = {.name = "device",
                                                .cost = NB6_DEVICE_COST,
                                                .check = check,
                                                .knows = nb6_dev_knows,
                                                .prepare = prepare,
                                                .import = import,
                                                .export = export,
                                                .advance = advance,
                                                .call = call,
                                                .release = release};
const struct nb6_engine *const nb6_device_engine = &device_engine;
