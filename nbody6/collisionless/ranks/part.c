#include "nbody6/collisionless/ranks/part.h"

#include "nbody6/collisionless/collisionless.h"
#include "nbody6/collisionless/domain.h"
#include "nbody6/collisionless/leapfrog.h"
#include "nbody6/collisionless/ranks/exchange.h"
#include "nbody6/world/spread.h"
#include "nbody6/world/world.h"

#include <sched.h>
#include <string.h>

/* Where a set of sources arrives on the device, and the sum over it is made; two of them take turns, so that the last
 * thread blocks of one sum do not leave a GPU idle that the next one can use (MTM13 Sec. 6.2). */
struct room {
    struct nbd_stream *stream; /* of sums; that of the first room is the stream of the domain */
    struct nb6_source *items;
    double *mass, (*x)[3];
    double (*acc)[3];                /* [n_own] by the set, where others had its slot before */
    void *work;                      /* of its forces */
    struct nbd_event *came, *summed; /* the set is there; the sum over it is made, and all before it */
};

struct nb6_rank_part {
    const struct nb6_residence *kernels;
    struct nb6_part part;
    struct nb6_device_domain *domain; /* NULL: the rank has no bodies */
    struct nb6_part_word word;
    struct nb6_spread *spread;
    int slots;
    struct nb6_source *own; /* [n_own] on their way out */
    struct room room[2];
    double (*acc_slot)[3];           /* [slots][n_own] */
    uint8_t *is_filled;              /* [slots] on the host */
    struct nbd_event *packed, *left; /* own sources are together; they are in memory of the host */
    struct nbd_event *chosen;        /* targets are known */
    size_t work_bytes;
    int is_there; /* 1: the state is on the device; otherwise it must be sent */
    int is_ahead; /* 1: and that in memory is older */
    nb6_time ti_home;
    uint64_t n_blocks_home, n_steps_home;
    int status; /* of the last commit, which all ranks learn of in the next block */
    struct nbc_error error;
};

/* A force under way. */
struct sum {
    struct nb6_rank_part *rank;
    const struct nb6_part_block *block;
    struct nb6_world *world;
    int own_rank;
    int turn;     /* of the rooms; own bodies have the first one */
    int is_later; /* 1: there is a sum before */
    int status;
    struct nbc_error *err;
};

/* ---- opening and closing */

enum { ARRAYS = 12 };
struct array {
    void **memory;
    size_t bytes;
};

static void list_arrays(struct nb6_rank_part *p, struct array list[ARRAYS])
{
    const size_t own = (size_t)p->part.n_own, most = (size_t)nb6_spread_most(p->spread);
    int k = 0;
    list[k++] = (struct array){(void **)&p->own, own * sizeof *p->own};
    list[k++] = (struct array){(void **)&p->acc_slot, own * (size_t)p->slots * sizeof *p->acc_slot};
    for (int turn = 0; turn < 2; turn++) {
        struct room *room = &p->room[turn];
        list[k++] = (struct array){(void **)&room->items, most * sizeof *room->items};
        list[k++] = (struct array){(void **)&room->mass, most * sizeof *room->mass};
        list[k++] = (struct array){(void **)&room->x, most * sizeof *room->x};
        list[k++] = (struct array){(void **)&room->acc, own * sizeof *room->acc};
        list[k++] = (struct array){&room->work, p->work_bytes};
    }
}

void nb6_rank_part_close(struct nb6_rank_part *p)
{
    if (!p) return;
    if (p->domain) {
        const struct nbd_device *device = nb6_domain_device(p->domain);
        struct array all[ARRAYS];
        list_arrays(p, all);
        (void)nbd_wait(device, NULL);
        for (int k = 0; k < ARRAYS; k++) nbd_free(device, NBD_ON_DEVICE, *all[k].memory);
        for (int turn = 0; turn < 2; turn++) {
            nbd_event_close(device, p->room[turn].came);
            nbd_event_close(device, p->room[turn].summed);
        }
        nbd_event_close(device, p->packed);
        nbd_event_close(device, p->left);
        nbd_event_close(device, p->chosen);
        nbd_stream_close(device, p->room[1].stream);
        nb6_domain_close(p->domain);
    }
    nbc_free(p->is_filled);
    nbc_free(p);
}

static int open_streams(struct nb6_rank_part *p, struct nbc_error *err)
{
    const struct nbd_device *device = nb6_domain_device(p->domain);
    p->room[0].stream = nb6_domain_stream(p->domain);
    NBD_TRY(nbd_stream_open(device, NBD_MIDDLE, &p->room[1].stream, err));
    for (int turn = 0; turn < 2; turn++) {
        NBD_TRY(nbd_event_open(device, &p->room[turn].came, err));
        NBD_TRY(nbd_event_open(device, &p->room[turn].summed, err));
    }
    NBD_TRY(nbd_event_open(device, &p->packed, err));
    NBD_TRY(nbd_event_open(device, &p->chosen, err));
    return nbd_event_open(device, &p->left, err);
}

static int open_part(struct nb6_rank_part *p, const struct nb6_collisionless *s, int device, struct nbc_error *err)
{
    struct array all[ARRAYS];
    p->is_filled = nbc_alloc((size_t)p->slots, sizeof *p->is_filled);
    if (!p->is_filled) return nbc_fail(err, NBC_NO_MEMORY, "no memory for the sums of %d sets", p->slots);
    if (s->n == 0) return NBC_OK;
    NBD_TRY(nb6_domain_open(&p->domain, p->kernels, &p->part, device, &s->options, s->force, err));
    NBD_TRY(open_streams(p, err));
    NBD_TRY(nb6_domain_set_bytes(p->domain, nb6_spread_most(p->spread), &p->work_bytes, err));
    list_arrays(p, all);
    for (int k = 0; k < ARRAYS; k++)
        if (all[k].bytes > 0)
            NBD_TRY(nbd_alloc(nb6_domain_device(p->domain), NBD_ON_DEVICE, all[k].bytes, all[k].memory, err));
    return NBC_OK;
}

int nb6_rank_part_open(struct nb6_rank_part **part, const struct nb6_residence *residence,
                       const struct nb6_collisionless *s, int device, struct nbc_error *err)
{
    struct nb6_rank_part *p = nbc_alloc(1, sizeof *p);
    if (!p) return nbc_fail(err, NBC_NO_MEMORY, "no memory for the bodies of a rank");
    p->kernels = residence;
    p->spread = nb6_exchange_spread(s->exchange);
    p->slots = nb6_spread_slots(p->spread);
    p->part = (struct nb6_part){
        .rules = nb6_leapfrog_rules(s), .n = (int32_t)s->n, .n_own = (int32_t)s->n, .room = (int32_t)s->n};
    const int status = open_part(p, s, device, err);
    if (status)
        nb6_rank_part_close(p);
    else
        *part = p;
    return status;
}

/* ---- copies between host memory and the device */

/* The state in host memory is that of the share. */
static void note_home(struct nb6_rank_part *p, const struct nb6_collisionless *s)
{
    p->ti_home = s->ti_now;
    p->n_blocks_home = s->n_blocks;
    p->n_steps_home = s->n_steps;
}

static void count_levels(struct nb6_rank_part *p, const struct nb6_collisionless *s)
{
    memset(p->word.count, 0, sizeof p->word.count);
    for (int64_t i = 0; i < s->n; i++) p->word.count[s->level[i]]++;
}

static int send(struct nb6_rank_part *p, const struct nb6_collisionless *s, struct nbc_error *err)
{
    const struct nb6_part *part = &p->part;
    const size_t n = (size_t)s->n;
    note_home(p, s);
    count_levels(p, s);
    if (n > 0) { /* after a failure sums of before may be under way */
        NBD_TRY(nbd_use(nb6_domain_device(p->domain), err));
        NBD_TRY(nbd_stream_wait(nb6_domain_device(p->domain), p->room[1].stream, err));
        NBD_TRY(nb6_domain_copy(p->domain, part->mass, s->mass, n * sizeof *s->mass, err));
        NBD_TRY(nb6_domain_copy(p->domain, part->x0, s->x0, n * sizeof *s->x0, err));
        NBD_TRY(nb6_domain_copy(p->domain, part->v, s->v, n * sizeof *s->v, err));
        NBD_TRY(nb6_domain_copy(p->domain, part->acc, s->acc, n * sizeof *s->acc, err));
        NBD_TRY(nb6_domain_copy(p->domain, part->level, s->level, n * sizeof *s->level, err));
    }
    p->is_there = 1;
    return NBC_OK;
}

/* Scratch for copied levels; `due` is free between blocks. */
static int8_t *levels_of(const struct nb6_collisionless *s)
{
    return (int8_t *)s->due;
}

static int fetch(struct nb6_rank_part *p, const struct nb6_collisionless *s, struct nbc_error *err)
{
    const struct nb6_part *part = &p->part;
    const size_t n = (size_t)s->n;
    if (p->status) {
        *err = p->error;
        return p->status;
    }
    if (n == 0) return NBC_OK;
    NBD_TRY(nb6_domain_copy(p->domain, s->x_due, part->x0, n * sizeof *s->x0, err));
    NBD_TRY(nb6_domain_copy(p->domain, s->v_half, part->v, n * sizeof *s->v, err));
    NBD_TRY(nb6_domain_copy(p->domain, s->acc_due, part->acc, n * sizeof *s->acc, err));
    return nb6_domain_copy(p->domain, levels_of(s), part->level, n * sizeof *s->level, err);
}

/* The copy in scratch becomes the state. */
static void keep(struct nb6_collisionless *s)
{
    const size_t n = (size_t)s->n;
    memcpy(s->x0, s->x_due, n * sizeof *s->x0);
    memcpy(s->v, s->v_half, n * sizeof *s->v);
    memcpy(s->acc, s->acc_due, n * sizeof *s->acc);
    memcpy(s->level, levels_of(s), n * sizeof *s->level);
}

/* The state on some device is lost: all ranks return to that in host memory, which is of one time. */
static int go_back(struct nb6_rank_part *p, struct nb6_collisionless *s, int status)
{
    s->ti_now = p->ti_home;
    s->n_blocks = p->n_blocks_home;
    s->n_steps = p->n_steps_home;
    p->is_there = p->is_ahead = 0;
    p->status = NBC_OK; /* all know of it */
    return status;
}

int nb6_rank_part_home(struct nb6_collisionless *s, struct nbc_error *err)
{
    struct nb6_rank_part *p = s->rank_part;
    if (!p->is_ahead) return NBC_OK; /* on all ranks */
    const int status = nb6_world_agree(s->world, fetch(p, s, err), err);
    if (status) return go_back(p, s, status);
    keep(s);
    p->is_ahead = 0;
    note_home(p, s);
    return NBC_OK;
}

/* ---- forces. What is enqueued in a block is done, or dropped with the device, before the block ends. */

/* Drift, and own sources on their way to the host. */
static int begin(const struct sum *sum)
{
    const struct nb6_rank_part *p = sum->rank;
    const struct nbd_device *device = nb6_domain_device(p->domain);
    struct nbd_stream *stream = nb6_domain_stream(p->domain), *copies = nb6_domain_copies(p->domain);
    struct nbc_error *err = sum->err;
    NBD_TRY(nb6_domain_drift(p->domain, sum->block, err));
    NBD_LAUNCH(err, device, p->kernels->pack(&p->part, p->own, stream));
    NBD_TRY(nbd_event_record(device, p->packed, stream, err));
    NBD_TRY(nbd_event_await(device, p->packed, copies, err));
    NBD_TRY(nbd_copy(device, copies, nb6_spread_own(p->spread), p->own, (size_t)p->part.n_own * sizeof *p->own, err));
    return nbd_event_record(device, p->left, copies, err);
}

/* On the stream of a room. The first set of a slot has it for itself; others are added when the sums before them are
 * there, in the order of sets. */
static int sum_sources(const struct sum *sum, int turn, int slot, int64_t n, const double *mass, const double (*x)[3])
{
    const struct nb6_rank_part *p = sum->rank;
    const struct room *room = &p->room[turn], *before = &p->room[1 - turn];
    const struct nbd_device *device = nb6_domain_device(p->domain);
    double(*of_slot)[3] = p->acc_slot + (size_t)slot * (size_t)p->part.room;
    double(*acc)[3] = p->is_filled[slot] ? room->acc : of_slot;
    NBD_TRY(
        nb6_domain_sum_set(p->domain, sum->block, n, mass, x, acc, room->work, p->work_bytes, room->stream, sum->err));
    if (sum->is_later) NBD_TRY(nbd_event_await(device, before->summed, room->stream, sum->err));
    if (p->is_filled[slot])
        NBD_LAUNCH(sum->err, device,
                   p->kernels->add(of_slot, (const double(*)[3])acc, sum->block->n_due, room->stream));
    p->is_filled[slot] = 1;
    return nbd_event_record(device, room->summed, room->stream, sum->err);
}

/* The sum over own bodies, which needs no message. */
static int sum_own(struct sum *sum)
{
    const struct nb6_rank_part *p = sum->rank;
    const struct nbd_device *device = nb6_domain_device(p->domain);
    const struct nb6_spread_set *set;
    (void)nb6_spread_sets(p->spread, &set); /* the own items are the first one */
    NBD_TRY(nb6_domain_select(p->domain, sum->block, sum->err));
    if (sum->block->n_due == 0) return NBC_OK;
    NBD_TRY(nbd_event_record(device, p->chosen, nb6_domain_stream(p->domain), sum->err));
    NBD_TRY(nbd_event_await(device, p->chosen, p->room[1].stream, sum->err));
    NBD_TRY(sum_sources(sum, 0, set[0].slot, p->part.n_own, p->part.mass, (const double(*)[3])p->part.x));
    sum->is_later = 1;
    return NBC_OK;
}

/* The memory on the host is free for other messages when this returns: until then they move on. */
static int await_copy(const struct sum *sum)
{
    enum { SPINS = 1000 };
    const struct nb6_rank_part *p = sum->rank;
    int is_done = 0;
    for (int turn = 0; !is_done; turn++) {
        NBD_TRY(nbd_stream_ask(nb6_domain_device(p->domain), nb6_domain_copies(p->domain), &is_done, sum->err));
        nb6_spread_move_on(p->spread);
        if (turn > SPINS) sched_yield();
    }
    return NBC_OK;
}

/* A set that has come: to the device, beside the sum over the one before, then its sum. */
static int take_set(struct sum *sum, const struct nb6_spread_set *set, const void *items)
{
    const struct nb6_rank_part *p = sum->rank;
    const struct nbd_device *device = nb6_domain_device(p->domain);
    struct nbd_stream *copies = nb6_domain_copies(p->domain);
    const int turn = sum->turn = 1 - sum->turn;
    const struct room *room = &p->room[turn];
    struct nbc_error *err = sum->err;
    NBD_TRY(nbd_use(device, err));
    NBD_TRY(nbd_event_await(device, room->summed, copies, err));
    NBD_TRY(nbd_copy(device, copies, room->items, items, (size_t)set->n * sizeof *room->items, err));
    NBD_LAUNCH(err, device, p->kernels->unpack(room->items, set->n, room->mass, room->x, copies));
    NBD_TRY(nbd_event_record(device, room->came, copies, err));
    NBD_TRY(nbd_event_await(device, room->came, room->stream, err));
    NBD_TRY(sum_sources(sum, turn, set->slot, set->n, room->mass, (const double(*)[3])room->x));
    return await_copy(sum);
}

static void work_with_set(void *context, const struct nb6_spread_set *set, const void *items)
{
    struct sum *sum = context;
    const int is_own = set->owners == 1 && set->first == sum->own_rank, n_due = sum->block->n_due;
    if (!sum->status && !is_own && set->n > 0 && n_due > 0) sum->status = take_set(sum, set, items);
    nb6_world_spend(sum->world, 1, (double)n_due * (double)set->n);
}

/* All sets together, in their order, as accelerations of due bodies; and whether all can go on. */
static int end(const struct sum *sum)
{
    struct nb6_rank_part *p = sum->rank;
    const struct nbd_device *device = nb6_domain_device(p->domain);
    struct nbd_stream *stream = nb6_domain_stream(p->domain);
    const struct nb6_part_block *block = sum->block;
    const size_t row = (size_t)p->part.room;
    struct nb6_part_word word;
    if (block->n_due > 0) NBD_TRY(nbd_event_await(device, p->room[sum->turn].summed, stream, sum->err));
    for (int slot = 0; slot < p->slots && block->n_due > 0; slot++)
        if (!p->is_filled[slot])
            NBD_TRY(nbd_fill(device, stream, p->acc_slot + (size_t)slot * row, 0, row * sizeof *p->acc_slot, sum->err));
    if (block->n_due > 0)
        NBD_LAUNCH(sum->err, device,
                   p->kernels->total(&p->part, block->n_due, p->slots, (const double(*)[3])p->acc_slot, stream));
    NBD_LAUNCH(sum->err, device, p->kernels->check(&p->part, block, stream));
    NBD_TRY(nb6_domain_read(p->domain, &word, sum->err));
    if (word.bad == NB6_NOBODY_BAD) return NBC_OK;
    return nbc_fail(sum->err, NBC_NON_FINITE, "a body cannot go on"); /* the host finds the reason */
}

/* On all ranks, whatever the status is on this one. */
static int make_forces(struct nb6_collisionless *s, const struct nb6_part_block *block, int status,
                       struct nbc_error *err)
{
    struct nb6_rank_part *p = s->rank_part;
    struct nb6_world *world = s->world;
    struct sum sum = {
        .rank = p, .block = block, .world = world, .own_rank = nb6_world_rank(world), .status = status, .err = err};
    memset(p->is_filled, 0, (size_t)p->slots);
    if (p->domain && !sum.status) sum.status = begin(&sum);
    if (p->domain && !sum.status) sum.status = sum_own(&sum);
    if (p->domain && !sum.status) sum.status = nbd_event_wait(nb6_domain_device(p->domain), p->left, err);
    nb6_spread_run(p->spread, work_with_set, &sum);
    if (p->domain && !sum.status) sum.status = end(&sum);
    return nb6_world_agree(s->world, sum.status, err);
}

/* ---- blocks */

/* Shared steps stay as they are. */
static int commit(struct nb6_rank_part *p, const struct nb6_part_block *block, struct nbc_error *err)
{
    if (!p->domain) return NBC_OK;
    NBD_TRY(nb6_domain_commit(p->domain, block, err));
    return p->part.rules.block ? nb6_domain_read(p->domain, &p->word, err) : NBC_OK;
}

static int make_on_host(struct nb6_rank_part *p, struct nb6_collisionless *s, struct nbc_error *err)
{
    const int status = nb6_rank_part_home(s, err);
    if (status) return status;
    p->is_there = 0;
    return nb6_leapfrog_block(s, err);
}

int nb6_rank_part_block(struct nb6_collisionless *s, struct nbc_error *err)
{
    struct nb6_rank_part *p = s->rank_part;
    int status = p->status;
    if (status)
        *err = p->error;
    else if (!p->is_there)
        status = send(p, s, err);
    const int own = nb6_part_shortest(&p->word); /* without bodies above all levels */
    int64_t least = own < s->max_level ? own : s->max_level;
    nb6_world_minimum(s->world, &least, 1);
    const int shortest = (int)least;
    struct nb6_part_block block = {.ti_now = s->ti_now, .ti_next = s->ti_now + nb6_step_ticks(shortest)};
    block.n_due = nb6_part_due_at(&p->word, block.ti_next);
    status = make_forces(s, &block, status, err);
    if (status == NBC_NON_FINITE) return make_on_host(p, s, err);
    if (status) return go_back(p, s, status);
    p->status = commit(p, &block, &p->error);
    p->is_ahead = 1;
    s->ti_now = block.ti_next;
    s->n_blocks++;
    s->n_steps += (uint64_t)block.n_due;
    return NBC_OK;
}
