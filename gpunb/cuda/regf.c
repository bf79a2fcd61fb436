/* A block of targets: cut into pieces, of which some are computed while the results of others are copied. */
#include "common/team.h"
#include "gpunb/cuda/gpu.h"
#include "gpunb/sizes.h"

#include <math.h>
#include <string.h>

enum {
    MAX_SPLITS = 4096,
    ROWS_OF_A_PART = 64, /* targets whose results a thread collects in some microseconds */
    PIECE_UNIT = 64      /* targets of a block of the force kernel */
};

/* Interactions that keep a device busy for longer than it takes to begin another piece. */
static const double piece_pairs = 1e8;

/* Interactions from which sorting sources and targets along the curve pays: a few times what the sort costs. */
static const double curve_pairs = 1e8;

/* Pieces that are launched before the first of them is collected. */
enum { PIECES_AHEAD = CUDA_SLOTS - 1 };

/* The cheapest cut by this model: blocks run in waves that fill the device; the cost of a warp is its number of
 * tiles, plus a constant for begin and end. */
int gpunb_cuda_splits(struct cuda_gpu *gpu, const struct cuda_variant *variant, size_t n, size_t n_tiles, int *splits,
                      struct nbc_error *err)
{
    int number = (variant->width - 1) + 2 * variant->twofloat + 4 * variant->pot;
    int *per_sm = &gpu->blocks_per_sm[number];
    if (*per_sm == 0) NBD_LAUNCH(err, &gpu->device, gpunb_cuda_blocks_per_sm(variant, per_sm));
    size_t room = (size_t)(*per_sm > 0 ? *per_sm : 1) * (size_t)gpu->device.multiprocessors;
    size_t groups = gpunb_ceil_div(n, 32 * (size_t)variant->width), best = 1;
    double least = INFINITY;
    for (size_t s = 1; s <= MAX_SPLITS && (s == 1 || (s - 1) * CUDA_WARPS < n_tiles); s++) {
        double cost =
            (double)gpunb_ceil_div(groups * s, room) * ((double)gpunb_ceil_div(n_tiles, s * CUDA_WARPS) + 1.5);
        if (cost >= least) continue;
        least = cost;
        best = s;
    }
    *splits = (int)best;
    return NBC_OK;
}

int gpunb_cuda_settle(struct cuda_state *cuda, struct nbc_error *err)
{
    for (int g = 0; cuda->in_flight && g < cuda->n_gpus; g++) {
        NBD_TRY(nbd_use(&cuda->gpus[g].device, err));
        NBD_TRY(gpunb_cuda_finish_blocks(&cuda->gpus[g], err));
    }
    cuda->in_flight = 0;
    return NBC_OK;
}

/* Targets from the caller's arrays, one array after the other, to pinned memory; in_doubt is cleared. */
static int stage_targets(const struct cuda_call *call, struct nbc_error *err)
{
    struct cuda_state *cuda = call->cuda;
    const struct gpunb_block *b = call->block;
    size_t n = b->n_i;
    NBD_TRY(gpunb_cuda_settle(cuda, err));
    NBD_TRY(gpunb_cuda_reserve(&cuda->gpus[0], &cuda->host_targets, n * CUDA_TARGET_BYTES, err));
    char *to = cuda->host_targets.data;
    memset(to + n * 68, 0, n * 4);
    memcpy(to, b->x, n * 24);
    memcpy(to + n * 24, b->v, n * 24);
    memcpy(to + n * 48, b->dt_reg, n * 8);
    memcpy(to + n * 56, b->r_nb2, n * 8);
    if (b->self)
        memcpy(to + n * 64, b->self, n * 4);
    else
        memset(to + n * 64, 0xff, n * 4); /* -1: none */
    return NBC_OK;
}

static struct cuda_targets arrays_of(void *data, size_t n)
{
    char *at = data;
    return (struct cuda_targets){.x = (const double(*)[3])(void *)at,
                                 .v = (const double(*)[3])(void *)(at + n * 24),
                                 .dt = (const double *)(void *)(at + n * 48),
                                 .r_nb2 = (const double *)(void *)(at + n * 56),
                                 .self = (const int32_t *)(void *)(at + n * 64),
                                 .in_doubt = (int32_t *)(void *)(at + n * 68),
                                 .n = (int)n};
}

/* The order of targets along the curve, or NULL if they keep the caller's order. */
static int order_targets(const struct cuda_call *call, struct cuda_gpu *gpu, struct cuda_force *force,
                         struct nbc_error *err)
{
    size_t n = call->block->n_i, bytes = 0;
    if (!call->curved || n <= 32 * (size_t)call->variant.width) return NBC_OK;
    NBD_TRY(gpunb_cuda_reserve(gpu, &gpu->order, n * sizeof(int32_t), err));
    const struct cuda_map *map = &call->cuda->map;
    int32_t *order = gpu->order.data;
    force->order = order;
    if (n <= CUDA_RANK_MAX) {
        NBD_LAUNCH(err, &gpu->device, gpunb_cuda_rank(&force->targets, map, order, stream_of(gpu->stream)));
        return NBC_OK;
    }
    NBD_TRY(gpunb_cuda_reserve(gpu, &gpu->keys, 2 * n * sizeof(uint32_t), err));
    NBD_TRY(gpunb_cuda_reserve(gpu, &gpu->places, n * sizeof(int32_t), err));
    uint32_t *keys = gpu->keys.data;
    int32_t *places = gpu->places.data;
    NBD_LAUNCH(err, &gpu->device, gpunb_cuda_target_keys(&force->targets, map, keys, places, stream_of(gpu->stream)));
    NBD_LAUNCH(err, &gpu->device,
               gpunb_cuda_sort(NULL, &bytes, keys, keys + n, places, order, (int)n, stream_of(gpu->stream)));
    NBD_TRY(gpunb_cuda_reserve(gpu, &gpu->sort_scratch, bytes, err));
    void *scratch = gpu->sort_scratch.data;
    NBD_LAUNCH(err, &gpu->device,
               gpunb_cuda_sort(scratch, &bytes, keys, keys + n, places, order, (int)n, stream_of(gpu->stream)));
    return NBC_OK;
}

/* Targets to a device: with the tiles, if they are to be made, because launches determine the duration of a small
 * block. */
static int send_targets(const struct cuda_call *call, struct cuda_gpu *gpu, struct cuda_layout *layout,
                        struct nbc_error *err)
{
    const size_t bytes = call->block->n_i * CUDA_TARGET_BYTES;
    struct cuda_copy copy = {call->cuda->host_targets.data, gpu->targets.data, bytes};
    gpu->bytes_sent += bytes;
    if (call->curved || gpu->plain.ready || gpu->n_j == 0) {
        NBD_TRY(nbd_copy(&gpu->device, gpu->stream, copy.to, copy.from, bytes, err));
        copy.bytes = 0;
    }
    return gpunb_cuda_tiling(call->cuda, gpu, call->curved, &copy, layout, err);
}

/* Targets and tiles on one device, and all else shared by the pieces; gpu->prepared is recorded after them. */
static int prepare(const struct cuda_call *call, struct cuda_gpu *gpu, size_t p, struct nbc_error *err)
{
    (void)p;
    size_t n = call->block->n_i;
    struct cuda_force *force = &gpu->force;
    NBD_TRY(nbd_use(&gpu->device, err));
    NBD_TRY(gpunb_cuda_reserve(gpu, &gpu->targets, n * CUDA_TARGET_BYTES, err));
    *force = (struct cuda_force){
        .targets = arrays_of(gpu->targets.data, n),
        .j_first = (int)gpu->j_first,
        .n_j = (int)gpu->n_j,
        .n_tiles = (int)gpunb_ceil_div(gpu->n_j, CUDA_TILE),
        .in_block = 32 * call->variant.width,
        .weighted = call->block->mass_weighted,
        .twofloat = call->cuda->twofloat,
    };
    NBD_TRY(send_targets(call, gpu, &force->layout, err));
    NBD_TRY(order_targets(call, gpu, force, err));
    if (call->pieces > 1) NBD_TRY(nbd_event_record(&gpu->device, gpu->prepared, gpu->stream, err));
    return NBC_OK;
}

/* Memory for the output of the force kernel. */
static int reserve_sums(const struct cuda_gpu *gpu, struct cuda_slot *slot, struct cuda_force *force,
                        struct nbc_error *err)
{
    size_t n = (size_t)force->n, groups = gpunb_ceil_div(n, (size_t)force->in_block);
    size_t stride = (size_t)force->n_tiles;
    NBD_TRY(gpunb_cuda_reserve(gpu, &slot->partial, n * (size_t)force->splits * CUDA_SUMS * sizeof(double), err));
    force->partial = slot->partial.data;
    NBD_TRY(gpunb_cuda_reserve(gpu, &slot->near, groups * stride + 1, err));
    NBD_TRY(gpunb_cuda_reserve(gpu, &slot->mask, groups * stride * (size_t)force->in_block * sizeof(unsigned long long),
                               err));
    force->close = (struct cuda_close){.near = slot->near.data, .mask = slot->mask.data, .stride = (int)stride};
    return NBC_OK;
}

/* The kernels of a piece. One that is alone follows what prepared it; of several, the end of one runs beside the sums
 * of the next. */
static int enqueue(const struct cuda_call *call, struct cuda_gpu *gpu, struct cuda_slot *slot, int is_last,
                   const struct cuda_finish *finish, struct nbc_error *err)
{
    const int alone = call->pieces == 1;
    struct nbd_stream *sums = alone ? gpu->stream : slot->stream, *end = sums;
    if (!alone) NBD_TRY(nbd_event_await(&gpu->device, gpu->prepared, sums, err));
    NBD_LAUNCH(err, &gpu->device, gpunb_cuda_force(&call->variant, &finish->force, stream_of(sums)));
    if (!is_last) {
        end = slot->finish;
        NBD_TRY(nbd_event_record(&gpu->device, slot->summed, sums, err));
        NBD_TRY(nbd_event_await(&gpu->device, slot->summed, end, err));
    }
    NBD_LAUNCH(err, &gpu->device, gpunb_cuda_finish(finish, stream_of(end)));
    if (!alone) NBD_TRY(nbd_event_record(&gpu->device, slot->done, end, err));
    return NBC_OK;
}

/* Piece p of the targets on one device. */
static int launch(const struct cuda_call *call, struct cuda_gpu *gpu, size_t p, struct nbc_error *err)
{
    struct cuda_slot *slot = &gpu->slots[p % CUDA_SLOTS];
    size_t first = p * call->piece, n = gpunb_min_size(call->piece, call->block->n_i - first), cap = call->list_cap;
    struct cuda_force force = gpu->force;
    force.first = (int)first;
    force.n = (int)n;
    NBD_TRY(nbd_use(&gpu->device, err));
    NBD_TRY(gpunb_cuda_splits(gpu, &call->variant, gpunb_min_size(call->nominal, call->block->n_i),
                              (size_t)force.n_tiles, &force.splits, err));
    NBD_TRY(reserve_sums(gpu, slot, &force, err));
    NBD_TRY(gpunb_cuda_reserve(gpu, &slot->rows, n * cap * sizeof(int32_t), err));
    NBD_TRY(gpunb_cuda_reserve(gpu, &slot->sorted, n * cap * sizeof(int32_t), err));
    NBD_TRY(gpunb_cuda_reserve(gpu, &slot->results, n * sizeof(struct cuda_result), err));
    NBD_TRY(gpunb_cuda_reserve(gpu, &slot->lists, n * cap * sizeof(int32_t), err));
    const struct cuda_finish finish = {.force = force,
                                       .sources = gpu->sources.data,
                                       .rows = slot->rows.data,
                                       .sorted = slot->sorted.data,
                                       .cap = (int)cap,
                                       .results = slot->results.data,
                                       .lists = slot->lists.data};
    return enqueue(call, gpu, slot, p + 1 == call->pieces, &finish, err);
}

/* The list of a device, see struct cuda_result, as indices of the handle. */
static void unpack_list(const struct cuda_result *r, const int32_t *packed, int32_t j_first, int32_t *row)
{
    if (r->target < 0) {
        for (int32_t k = 0; k < r->found; k++) row[k] = packed[k] + j_first;
        return;
    }
    const uint16_t *steps = (const uint16_t *)packed;
    int32_t j = j_first - 1;
    for (int32_t k = 0; k < r->found; k++) row[k] = j += steps[k] + 1;
}

/* Output of the devices is in no cache of the processor: the next row is prefetched while this one is unpacked. */
static void ask_for_row(const struct cuda_call *call, const struct cuda_slot *slot, size_t k)
{
    const struct cuda_result *r = (const struct cuda_result *)slot->results.data + k;
    const char *list = (const char *)((const int32_t *)slot->lists.data + k * call->list_cap);
    __builtin_prefetch(r + 1);
    for (int32_t line = 0; line < r->found * 2 && line < 1024; line += 64) __builtin_prefetch(list + line);
}

/* Row k of a piece: sums and lists of all devices, in their order.   @return the list capacity that would have been
 * enough, if it was not */
static size_t collect_row(const struct cuda_call *call, const struct cuda_slot *const *slots, size_t k)
{
    const struct gpunb_block *b = call->block;
    const struct cuda_result *first = slots[0]->results.data;
    size_t i = (size_t)(first[k].target < 0 ? ~first[k].target : first[k].target), total = 0, longest = 0;
    double sum[CUDA_SUMS] = {0};
    for (int g = 0; g < call->cuda->n_gpus; g++) {
        const struct cuda_result *r = (const struct cuda_result *)slots[g]->results.data + k;
        for (int q = 0; q < CUDA_SUMS; q++) sum[q] += r->sum[q];
        total += (size_t)r->found;
        if ((size_t)r->found > longest) longest = (size_t)r->found;
    }
    memcpy(b->acc[i], sum, sizeof b->acc[i]);
    if (b->pot) b->pot[i] = -sum[6];
    memcpy(b->jerk[i], sum + 3, sizeof b->jerk[i]);
    b->nnb[i] = (int32_t)total;
    if (total > b->nb_cap) return 0;
    if (longest > call->list_cap) return longest;
    int32_t *row = b->nblist + i * b->list_stride;
    for (int g = 0; g < call->cuda->n_gpus; g++) {
        const struct cuda_result *r = (const struct cuda_result *)slots[g]->results.data + k;
        const int32_t *packed = (const int32_t *)slots[g]->lists.data + k * call->list_cap;
        unpack_list(r, packed, (int32_t)call->cuda->gpus[g].j_first, row);
        row += r->found;
    }
    return 0;
}

/* Prefetch the output for row k: sums, and lists that fit. */
static size_t bytes_of_row(const struct cuda_call *call, const struct cuda_slot *const *slots, size_t k)
{
    size_t bytes = 0;
    for (int g = 0; g < call->cuda->n_gpus; g++) {
        const struct cuda_result *r = (const struct cuda_result *)slots[g]->results.data + k;
        bytes += sizeof *r;
        if ((size_t)r->found <= call->list_cap)
            bytes += (size_t)r->found * (r->target < 0 ? sizeof(int32_t) : sizeof(uint16_t));
    }
    return bytes;
}

/* Rows of a piece, on their way to the caller. */
struct collection {
    const struct cuda_call *call;
    const struct cuda_slot *slots[CUDA_MAX_GPUS];
    size_t n, wanted, bytes;
};

static void collect_rows(void *context, int part, int parts)
{
    struct collection *c = context;
    const int n_gpus = c->call->cuda->n_gpus;
    size_t wanted = 0, bytes = 0;
    int64_t first, end;
    nbc_range((int64_t)c->n, part, parts, &first, &end);
    for (int64_t k = first; k < end; k++) {
        for (int g = 0; k + 1 < end && g < n_gpus; g++) ask_for_row(c->call, c->slots[g], (size_t)k + 1);
        const size_t row = collect_row(c->call, c->slots, (size_t)k);
        wanted = row > wanted ? row : wanted;
        bytes += bytes_of_row(c->call, c->slots, (size_t)k);
    }
    __atomic_fetch_add(&c->bytes, bytes, __ATOMIC_RELAXED);
    size_t old = __atomic_load_n(&c->wanted, __ATOMIC_RELAXED);
    while (wanted > old &&
           !__atomic_compare_exchange_n(&c->wanted, &old, wanted, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
}

/* Wait for piece p and hand its results to the caller. */
static int collect(struct cuda_call *call, size_t p, struct nbc_error *err)
{
    const size_t first = p * call->piece, n = gpunb_min_size(call->piece, call->block->n_i - first);
    struct collection c = {.call = call, .n = n};
    for (int g = 0; g < call->cuda->n_gpus; g++) {
        struct cuda_gpu *gpu = &call->cuda->gpus[g];
        c.slots[g] = &gpu->slots[p % CUDA_SLOTS];
        NBD_TRY(call->pieces == 1 ? nbd_stream_wait(&gpu->device, gpu->stream, err)
                                  : nbd_event_wait(&gpu->device, c.slots[g]->done, err));
    }
    nbc_team_run(nbc_parts((int64_t)n, ROWS_OF_A_PART), collect_rows, &c);
    call->cuda->bytes_received += c.bytes;
    if (c.wanted > call->cap_wanted) call->cap_wanted = c.wanted;
    return NBC_OK;
}

/* Work of a device: prepare, or launch piece p. */
typedef int (*device_work)(const struct cuda_call *call, struct cuda_gpu *gpu, size_t p, struct nbc_error *err);

/* The same for all devices, by a thread for each: enqueueing takes long enough for the last one to start late. */
static int on_all_devices(const struct cuda_call *call, device_work work, size_t p, struct nbc_error *err)
{
    struct cuda_state *cuda = call->cuda;
    if (cuda->n_gpus == 1) return work(call, &cuda->gpus[0], p, err);
    int worst = NBC_OK;
#pragma omp parallel for num_threads(cuda->n_gpus) schedule(static, 1)
    for (int g = 0; g < cuda->n_gpus; g++) {
        struct nbc_error own = {0};
        int status = work(call, &cuda->gpus[g], p, &own);
        if (status == NBC_OK) continue;
#pragma omp critical(gpunb_cuda_worst)
        {
            worst = status;
            if (err) *err = own;
        }
    }
    return worst;
}

/* Large blocks in at least a few pieces, so that results of one travel while another is computed. How the sources are
 * split, and with that the bits of the sums, follows from the sizes of the call alone (`nominal`), not from the length
 * that lists have come to have, which may make pieces smaller. */
static void cut(struct cuda_call *call)
{
    size_t n = call->block->n_i, n_j = gpunb_ceil_div(call->cuda->n_j, (size_t)call->cuda->n_gpus);
    size_t largest = gpunb_min_size(CUDA_PIECE, CUDA_PIECE_MASKS / (n_j / CUDA_TILE + 1)), by_lists;
    double pairs = (double)n * (double)n_j;
    size_t worth = pairs >= 4.0 * piece_pairs ? 4 : (size_t)(pairs / piece_pairs);
    call->pieces = gpunb_ceil_div(n, largest < 1 ? 1 : largest);
    if (call->pieces < worth) call->pieces = worth;
    call->nominal = gpunb_ceil_div(gpunb_ceil_div(n, call->pieces), PIECE_UNIT) * PIECE_UNIT;
    by_lists = gpunb_ceil_div(CUDA_PIECE_LISTS / call->list_cap, PIECE_UNIT) * PIECE_UNIT;
    call->piece = gpunb_min_size(call->nominal, by_lists < 1 ? PIECE_UNIT : by_lists);
    call->pieces = gpunb_ceil_div(n, call->piece);
}

/* Cut, prepare, and launch as many pieces as there is room for. */
static int begin(struct cuda_call *call, struct nbc_error *err)
{
    struct cuda_state *cuda = call->cuda;
    call->list_cap = gpunb_min_size(gpunb_min_size(cuda->list_cap, call->block->nb_cap), cuda->n_j > 0 ? cuda->n_j : 1);
    call->cap_wanted = 0;
    cut(call);
    NBD_TRY(on_all_devices(call, prepare, 0, err));
    for (size_t p = 0; p < PIECES_AHEAD && p < call->pieces; p++) NBD_TRY(on_all_devices(call, launch, p, err));
    return NBC_OK;
}

static int end(struct cuda_call *call, struct nbc_error *err)
{
    for (size_t p = 0; p < call->pieces; p++) {
        const size_t next = p + PIECES_AHEAD;
        if (next < call->pieces) NBD_TRY(on_all_devices(call, launch, next, err));
        NBD_TRY(collect(call, p, err));
    }
    return NBC_OK;
}

static int start(struct cuda_call *call, struct nbc_error *err)
{
    NBD_TRY(stage_targets(call, err));
    call->cuda->in_flight = 1;
    return begin(call, err);
}

/* Again with longer lists until they are long enough for all that fits the caller's. */
static int wait(struct cuda_call *call, struct nbc_error *err)
{
    struct cuda_state *cuda = call->cuda;
    for (;;) {
        NBD_TRY(end(call, err));
        if (call->cap_wanted == 0) break;
        cuda->list_cap = call->cap_wanted + call->cap_wanted / 4;
        NBD_TRY(begin(call, err));
    }
    cuda->in_flight = cuda->reading = 0;
    return gpunb_cuda_check_predictions(cuda, err);
}

int gpunb_cuda_regf_start(void *state, const struct gpunb_block *block, struct nbc_error *err)
{
    struct cuda_state *cuda = state;
    struct cuda_call *call = &cuda->call;
    *call = (struct cuda_call){.cuda = cuda, .block = block};
    call->variant =
        (struct cuda_variant){.width = block->n_i > 32 ? 2 : 1, .twofloat = cuda->twofloat, .pot = block->pot != NULL};
    call->curved = cuda->order == CUDA_ORDER_BY_SIZE ? (double)block->n_i * (double)cuda->n_j >= curve_pairs
                                                     : cuda->order == CUDA_ORDER_CURVE;
    return start(call, err);
}

int gpunb_cuda_regf(void *state, const struct gpunb_block *block, struct nbc_error *err)
{
    struct cuda_state *cuda = state;
    cuda->call.block = block;
    return wait(&cuda->call, err);
}
