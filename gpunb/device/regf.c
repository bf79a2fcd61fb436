/* A block of targets: cut into pieces, of which some are computed while the results of others are copied. */
#include "common/team.h"
#include "gpunb/device/device.h"
#include "gpunb/device/whole.h"
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
enum { PIECES_AHEAD = DEVICE_SLOTS - 1 };

/* The cheapest cut by this model: blocks run in waves that fill the device; the cost of a warp is its number of
 * tiles, plus a constant for begin and end. */
int gpunb_device_splits(struct device_gpu *gpu, const struct device_variant *variant, size_t n, size_t n_tiles,
                        int *splits, struct nbc_error *err)
{
    int number = (variant->width - 1) + 2 * variant->twofloat + 4 * variant->pot;
    int *per_sm = &gpu->blocks_per_sm[number];
    if (*per_sm == 0) NBD_LAUNCH(err, &gpu->device, gpu->kernels->blocks_per_sm(variant, per_sm));
    size_t room = (size_t)(*per_sm > 0 ? *per_sm : 1) * (size_t)gpu->device.multiprocessors;
    size_t groups = gpunb_ceil_div(n, 32 * (size_t)variant->width), best = 1;
    double least = INFINITY;
    for (size_t s = 1; s <= MAX_SPLITS && (s == 1 || (s - 1) * DEVICE_WARPS < n_tiles); s++) {
        double cost =
            (double)gpunb_ceil_div(groups * s, room) * ((double)gpunb_ceil_div(n_tiles, s * DEVICE_WARPS) + 1.5);
        if (cost >= least) continue;
        least = cost;
        best = s;
    }
    *splits = (int)best;
    return NBC_OK;
}

int gpunb_device_settle(struct device_state *devices, struct nbc_error *err)
{
    for (int g = 0; devices->in_flight && g < devices->n_gpus; g++) {
        NBD_TRY(nbd_use(&devices->gpus[g].device, err));
        NBD_TRY(gpunb_device_finish_blocks(&devices->gpus[g], err));
    }
    devices->in_flight = 0;
    return NBC_OK;
}

/* Targets from the caller's arrays, one array after the other, to pinned memory; in_doubt is cleared. */
static int stage_targets(const struct device_call *call, struct nbc_error *err)
{
    struct device_state *devices = call->devices;
    const struct gpunb_block *b = call->block;
    size_t n = b->n_i;
    NBD_TRY(gpunb_device_settle(devices, err));
    NBD_TRY(gpunb_device_reserve(&devices->gpus[0], &devices->host_targets, n * DEVICE_TARGET_BYTES, err));
    char *to = devices->host_targets.data;
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

/* Whether targets are put in order, too. */
static int has_order(const struct device_call *call)
{
    return call->curved && call->block->n_i > 32 * (size_t)call->variant.width;
}

/* Memory for orders along the curve. Targets are sorted where sources were, which may not be over yet: there is room
 * for both before either begins. */
static int reserve_orders(const struct device_call *call, struct device_gpu *gpu, struct nbc_error *err)
{
    const size_t n = call->block->n_i;
    if (call->curved && gpu->n_j > 0) NBD_TRY(gpunb_device_reserve_sort(gpu, gpu->n_j, err));
    if (!has_order(call)) return NBC_OK;
    NBD_TRY(gpunb_device_reserve(gpu, &gpu->order, n * sizeof(int32_t), err));
    return n > DEVICE_RANK_MAX ? gpunb_device_reserve_sort(gpu, n, err) : NBC_OK;
}

/* The order of targets along the curve; without one they keep the caller's. */
static int order_targets(const struct device_call *call, struct device_gpu *gpu, struct device_force *force,
                         struct nbc_error *err)
{
    const struct device_positions positions = {force->targets.x[0], sizeof *force->targets.x, 0, force->targets.n};
    const struct gpunb_map *map = &call->devices->map;
    if (!has_order(call)) return NBC_OK;
    force->order = gpu->order.data;
    if (positions.n <= DEVICE_RANK_MAX) {
        NBD_LAUNCH(err, &gpu->device, gpu->kernels->rank(&force->targets, map, gpu->order.data, gpu->stream));
        return NBC_OK;
    }
    return gpunb_device_sort(gpu, &positions, map, gpu->order.data, err);
}

/* Targets to a device: with the tiles, if they are to be made, because launches determine the duration of a small
 * block. */
static int send_targets(const struct device_call *call, struct device_gpu *gpu, struct device_layout *layout,
                        struct nbc_error *err)
{
    const size_t bytes = call->block->n_i * DEVICE_TARGET_BYTES;
    struct device_copy copy = {call->devices->host_targets.data, gpu->targets.data, bytes};
    gpu->bytes_sent += bytes;
    if (call->curved || gpu->plain.ready || gpu->n_j == 0) {
        NBD_TRY(nbd_copy(&gpu->device, gpu->stream, copy.to, copy.from, bytes, err));
        copy.bytes = 0;
    }
    return gpunb_device_tiling(call->devices, gpu, call->curved, &copy, layout, err);
}

/* Targets and tiles on one device, and all else shared by the pieces; gpu->prepared is recorded after them. */
static int prepare(const struct device_call *call, struct device_gpu *gpu, size_t p, struct nbc_error *err)
{
    (void)p;
    size_t n = call->block->n_i;
    struct device_force *force = &gpu->force;
    NBD_TRY(nbd_use(&gpu->device, err));
    NBD_TRY(gpunb_device_reserve(gpu, &gpu->targets, n * DEVICE_TARGET_BYTES, err));
    NBD_TRY(reserve_orders(call, gpu, err));
    *force = (struct device_force){
        .targets = gpunb_device_arrays_of(gpu->targets.data, n),
        .j_first = (int)gpu->j_first,
        .n_j = (int)gpu->n_j,
        .n_tiles = (int)gpunb_ceil_div(gpu->n_j, DEVICE_TILE),
        .in_block = 32 * call->variant.width,
        .weighted = call->block->mass_weighted,
        .twofloat = call->devices->twofloat,
    };
    NBD_TRY(send_targets(call, gpu, &force->layout, err));
    NBD_TRY(order_targets(call, gpu, force, err));
    if (call->pieces > 1) NBD_TRY(nbd_event_record(&gpu->device, gpu->prepared, gpu->stream, err));
    return NBC_OK;
}

/* Memory for the output of the force kernel. */
static int reserve_sums(const struct device_gpu *gpu, struct device_slot *slot, struct device_force *force,
                        struct nbc_error *err)
{
    size_t n = (size_t)force->n, groups = gpunb_ceil_div(n, (size_t)force->in_block);
    size_t stride = (size_t)force->n_tiles;
    NBD_TRY(gpunb_device_reserve(gpu, &slot->partial, n * (size_t)force->splits * DEVICE_SUMS * sizeof(double), err));
    force->partial = slot->partial.data;
    NBD_TRY(gpunb_device_reserve(gpu, &slot->near, groups * stride + 1, err));
    NBD_TRY(gpunb_device_reserve(gpu, &slot->mask,
                                 groups * stride * (size_t)force->in_block * sizeof(unsigned long long), err));
    force->close = (struct device_close){.near = slot->near.data, .mask = slot->mask.data, .stride = (int)stride};
    return NBC_OK;
}

/* The kernels of a piece. One that is alone follows what prepared it; of several, the end of one runs beside the sums
 * of the next. */
static int enqueue(const struct device_call *call, struct device_gpu *gpu, struct device_slot *slot, int is_last,
                   const struct device_finish *finish, struct nbc_error *err)
{
    const int alone = call->pieces == 1;
    struct nbd_stream *sums = alone ? gpu->stream : slot->stream, *end = sums;
    if (!alone) NBD_TRY(nbd_event_await(&gpu->device, gpu->prepared, sums, err));
    NBD_LAUNCH(err, &gpu->device, gpu->kernels->force(&call->variant, &finish->force, sums));
    if (!is_last) {
        end = slot->finish;
        NBD_TRY(nbd_event_record(&gpu->device, slot->summed, sums, err));
        NBD_TRY(nbd_event_await(&gpu->device, slot->summed, end, err));
    }
    NBD_LAUNCH(err, &gpu->device, gpu->kernels->finish(finish, end));
    if (!alone) NBD_TRY(nbd_event_record(&gpu->device, slot->done, end, err));
    return NBC_OK;
}

/* Piece p of the targets on one device. */
static int launch(const struct device_call *call, struct device_gpu *gpu, size_t p, struct nbc_error *err)
{
    struct device_slot *slot = &gpu->slots[p % DEVICE_SLOTS];
    size_t first = p * call->piece, n = gpunb_min_size(call->piece, call->block->n_i - first), cap = call->list_cap;
    struct device_force force = gpu->force;
    force.first = (int)first;
    force.n = (int)n;
    NBD_TRY(nbd_use(&gpu->device, err));
    NBD_TRY(gpunb_device_splits(gpu, &call->variant, gpunb_min_size(call->nominal, call->block->n_i),
                                (size_t)force.n_tiles, &force.splits, err));
    NBD_TRY(reserve_sums(gpu, slot, &force, err));
    NBD_TRY(gpunb_device_reserve(gpu, &slot->rows, n * cap * sizeof(int32_t), err));
    NBD_TRY(gpunb_device_reserve(gpu, &slot->sorted, n * cap * sizeof(int32_t), err));
    NBD_TRY(gpunb_device_reserve(gpu, &slot->results, n * sizeof(struct device_result), err));
    NBD_TRY(gpunb_device_reserve(gpu, &slot->lists, n * cap * sizeof(int32_t), err));
    const struct device_finish finish = {.force = force,
                                         .sources = gpu->sources.data,
                                         .rows = slot->rows.data,
                                         .sorted = slot->sorted.data,
                                         .cap = (int)cap,
                                         .results = slot->results.data,
                                         .lists = slot->lists.data};
    return enqueue(call, gpu, slot, p + 1 == call->pieces, &finish, err);
}

/* The list of a device, see struct device_result, as indices of the handle. */
static void unpack_list(const struct device_result *r, const int32_t *packed, int32_t j_first, int32_t *row)
{
    if (r->target < 0) {
        for (int32_t k = 0; k < r->found; k++) row[k] = packed[k] + j_first;
        return;
    }
    const uint16_t *steps = (const uint16_t *)packed;
    int32_t j = j_first - 1;
    for (int32_t k = 0; k < r->found; k++) row[k] = j += steps[k] + 1;
}

/* Devices that have results of a call. */
static int parts_of(const struct device_call *call)
{
    return call->whole ? 1 : call->devices->n_gpus;
}

/* Output of the devices is in no cache of the processor: the next row is prefetched while this one is unpacked. */
static void ask_for_row(const struct device_call *call, const struct device_slot *slot, size_t k)
{
    const struct device_result *r = (const struct device_result *)slot->results.data + k;
    const char *list = (const char *)((const int32_t *)slot->lists.data + k * call->list_cap);
    __builtin_prefetch(r + 1);
    for (int32_t line = 0; line < r->found * 2 && line < 1024; line += 64) __builtin_prefetch(list + line);
}

/* Row k of a piece: sums and lists of all devices, in their order.   @return the list capacity that would have been
 * enough, if it was not */
static size_t collect_row(struct device_call *call, const struct device_slot *const *slots, size_t k)
{
    const struct gpunb_block *b = call->block;
    const struct device_result *first = slots[0]->results.data;
    size_t i = (size_t)(first[k].target < 0 ? ~first[k].target : first[k].target), total = 0, longest = 0;
    double sum[DEVICE_SUMS] = {0};
    for (int g = 0; g < parts_of(call); g++) {
        const struct device_result *r = (const struct device_result *)slots[g]->results.data + k;
        for (int q = 0; q < DEVICE_SUMS; q++) sum[q] += r->sum[q];
        total += (size_t)r->found;
        if ((size_t)r->found > longest) longest = (size_t)r->found;
    }
    if (call->whole && !isfinite(sum[0] + sum[1] + sum[2] + sum[3] + sum[4] + sum[5]))
        __atomic_store_n(&call->spoiled, 1, __ATOMIC_RELAXED);
    memcpy(b->acc[i], sum, sizeof b->acc[i]);
    if (b->pot) b->pot[i] = -sum[6];
    memcpy(b->jerk[i], sum + 3, sizeof b->jerk[i]);
    b->nnb[i] = (int32_t)total;
    if (total > b->nb_cap) return 0;
    if (longest > call->list_cap) return longest;
    int32_t *row = b->nblist + i * b->list_stride;
    for (int g = 0; g < parts_of(call); g++) {
        const struct device_result *r = (const struct device_result *)slots[g]->results.data + k;
        const int32_t *packed = (const int32_t *)slots[g]->lists.data + k * call->list_cap;
        unpack_list(r, packed, (int32_t)call->devices->gpus[g].j_first, row);
        row += r->found;
    }
    return 0;
}

/* Prefetch the output for row k: sums, and lists that fit. */
static size_t bytes_of_row(const struct device_call *call, const struct device_slot *const *slots, size_t k)
{
    size_t bytes = 0;
    for (int g = 0; g < parts_of(call); g++) {
        const struct device_result *r = (const struct device_result *)slots[g]->results.data + k;
        bytes += sizeof *r;
        if ((size_t)r->found <= call->list_cap)
            bytes += (size_t)r->found * (r->target < 0 ? sizeof(int32_t) : sizeof(uint16_t));
    }
    return bytes;
}

/* Rows of a piece, on their way to the caller. */
struct collection {
    struct device_call *call;
    const struct device_slot *slots[DEVICE_MAX_GPUS];
    size_t n, wanted, bytes;
};

static void collect_rows(void *context, int part, int parts)
{
    struct collection *c = context;
    const int n_gpus = parts_of(c->call);
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
static int collect(struct device_call *call, size_t p, struct nbc_error *err)
{
    const size_t first = p * call->piece, n = gpunb_min_size(call->piece, call->block->n_i - first);
    struct collection c = {.call = call, .n = n};
    for (int g = 0; g < parts_of(call); g++) {
        struct device_gpu *gpu = &call->devices->gpus[g];
        c.slots[g] = &gpu->slots[p % DEVICE_SLOTS];
        NBD_TRY(call->pieces == 1 && !call->whole ? nbd_stream_wait(&gpu->device, gpu->stream, err)
                                                  : nbd_event_wait(&gpu->device, c.slots[g]->done, err));
    }
    nbc_team_run(nbc_parts((int64_t)n, ROWS_OF_A_PART), collect_rows, &c);
    call->devices->bytes_received += c.bytes;
    if (c.wanted > call->cap_wanted) call->cap_wanted = c.wanted;
    return NBC_OK;
}

/* Work of a device: prepare, or launch piece p. */
typedef int (*device_work)(const struct device_call *call, struct device_gpu *gpu, size_t p, struct nbc_error *err);

/* The same for all devices, by a thread for each: enqueueing takes long enough for the last one to start late. */
static int on_all_devices(const struct device_call *call, device_work work, size_t p, struct nbc_error *err)
{
    struct device_state *devices = call->devices;
    if (devices->n_gpus == 1) return work(call, &devices->gpus[0], p, err);
    int worst = NBC_OK;
#pragma omp parallel for num_threads(devices->n_gpus) schedule(static, 1)
    for (int g = 0; g < devices->n_gpus; g++) {
        struct nbc_error own = {0};
        int status = work(call, &devices->gpus[g], p, &own);
        if (status == NBC_OK) continue;
#pragma omp critical(gpunb_device_worst)
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
static void cut(struct device_call *call)
{
    size_t n = call->block->n_i, n_j = gpunb_ceil_div(call->devices->n_j, (size_t)call->devices->n_gpus);
    size_t largest = gpunb_min_size(call->devices->piece, DEVICE_PIECE_MASKS / (n_j / DEVICE_TILE + 1)), by_lists;
    double pairs = (double)n * (double)n_j;
    size_t worth = pairs >= 4.0 * piece_pairs ? 4 : (size_t)(pairs / piece_pairs);
    call->pieces = gpunb_ceil_div(n, largest < 1 ? 1 : largest);
    if (call->pieces < worth) call->pieces = worth;
    call->nominal = gpunb_ceil_div(gpunb_ceil_div(n, call->pieces), PIECE_UNIT) * PIECE_UNIT;
    by_lists = gpunb_ceil_div(DEVICE_PIECE_LISTS / call->list_cap, PIECE_UNIT) * PIECE_UNIT;
    call->piece = gpunb_min_size(call->nominal, by_lists < 1 ? PIECE_UNIT : by_lists);
    call->pieces = gpunb_ceil_div(n, call->piece);
}

/* Piece p, on all devices that have a part of it. */
static int launch_piece(const struct device_call *call, size_t p, struct nbc_error *err)
{
    return call->whole ? gpunb_device_whole_launch(call, p, err) : on_all_devices(call, launch, p, err);
}

/* Cut, prepare, and launch as many pieces as there is room for. */
static int begin(struct device_call *call, struct nbc_error *err)
{
    struct device_state *devices = call->devices;
    call->list_cap =
        gpunb_min_size(gpunb_min_size(devices->list_cap, call->block->nb_cap), devices->n_j > 0 ? devices->n_j : 1);
    call->cap_wanted = 0;
    cut(call);
    if (call->whole) {
        const struct device_targets targets = gpunb_device_arrays_of(devices->host_targets.data, call->block->n_i);
        NBD_TRY(gpunb_device_whole_begin(call, &targets, &call->whole, err));
        if (call->whole) call->piece = gpunb_device_whole_piece(call);
        if (call->whole) call->pieces = gpunb_ceil_div(call->block->n_i, call->piece);
    }
    if (!call->whole) NBD_TRY(on_all_devices(call, prepare, 0, err));
    for (size_t p = 0; p < PIECES_AHEAD && p < call->pieces; p++) NBD_TRY(launch_piece(call, p, err));
    return NBC_OK;
}

static int end(struct device_call *call, struct nbc_error *err)
{
    for (size_t p = 0; p < call->pieces; p++) {
        const size_t next = p + PIECES_AHEAD;
        if (next < call->pieces) NBD_TRY(launch_piece(call, next, err));
        NBD_TRY(collect(call, p, err));
    }
    return NBC_OK;
}

static int start(struct device_call *call, struct nbc_error *err)
{
    NBD_TRY(stage_targets(call, err));
    call->devices->in_flight = 1;
    return begin(call, err);
}

/* Again with longer lists until they are long enough for all that fits the caller's. */
static int wait(struct device_call *call, struct nbc_error *err)
{
    struct device_state *devices = call->devices;
    for (;;) {
        NBD_TRY(end(call, err));
        if (call->cap_wanted == 0 && !call->spoiled) break;
        if (call->cap_wanted > 0) devices->list_cap = call->cap_wanted + call->cap_wanted / 4;
        if (call->spoiled) call->whole = call->spoiled = 0;
        NBD_TRY(begin(call, err));
    }
    devices->in_flight = devices->reading = 0;
    return gpunb_device_check_predictions(devices, err);
}

int gpunb_device_regf_start(void *state, const struct gpunb_block *block, struct nbc_error *err)
{
    struct device_state *devices = state;
    struct device_call *call = &devices->call;
    *call = (struct device_call){.devices = devices, .block = block};
    call->variant = (struct device_variant){
        .width = block->n_i > 32 ? 2 : 1, .twofloat = devices->twofloat, .pot = block->pot != NULL};
    call->curved = devices->order == DEVICE_ORDER_BY_SIZE ? (double)block->n_i * (double)devices->n_j >= curve_pairs
                                                          : devices->order == DEVICE_ORDER_CURVE;
    call->whole = gpunb_device_may_be_whole(call);
    return start(call, err);
}

int gpunb_device_regf(void *state, const struct gpunb_block *block, struct nbc_error *err)
{
    struct device_state *devices = state;
    devices->call.block = block;
    return wait(&devices->call, err);
}
