#include "nbody6/engine/cuda/memory.h"

#include "nbody6/engine/cuda/lists.h"
#include "nbody6/engine/stages/room.h"

#include <string.h>

/* An array of the device, and where it comes from. */
struct array {
    void *home, **there;   /* host side; NULL: it is not copied */
    size_t travels, bytes; /* copied with the records, or by copy_lists; allocated */
    void **seen_at;        /* also allocated where the device maps host memory */
};

/* Groups of targets, between which pairs are summed once. */
static size_t groups_room(size_t n)
{
    const size_t all = n / NB6_DEVICE_GROUP;
    return all < NB6_DEVICE_MOST_GROUPS ? all : NB6_DEVICE_MOST_GROUPS;
}

/* Bytes of their sums on a GPU. */
static size_t mutual_room(size_t n)
{
    return 6 * NB6_DEVICE_GROUP * groups_room(n);
}

static int list_arrays(struct nb6_device *d, struct array all[NB6_DEVICE_MOST_ARRAYS])
{
    struct nb6_dev *h = &d->home, *t = &d->there;
    const size_t n = (size_t)h->n_max, chunks = (n + NB6_DEV_LANES - 1) / NB6_DEV_LANES;
    const size_t words = chunks + NB6_DEV_HIT_GRAIN;
    const size_t rows = n * (size_t)h->row_room * sizeof *h->row;
    /* If there are more targets than lanes of all warps, one slice has all sources. */
    const size_t gpus = 1 + (size_t)d->helpers.n, each = d->size.partials;
    const size_t partials = gpus * (each > NB6_DEVICE_MOST_TARGETS ? each : NB6_DEVICE_MOST_TARGETS);
    const size_t systems = (size_t)h->systems * sizeof *h->system, corrections = n * sizeof *h->correction;
    const size_t remotes = (size_t)h->systems * sizeof *h->remote;
    const size_t groups = groups_room(n);
    struct nb6_device_home *at = &d->seen_at;
    const struct array list[] = {
        {h->body, (void **)&t->body, n * sizeof *h->body, n * sizeof *h->body, (void **)&at->body},
        {NULL, (void **)&t->predictor, 0, n * sizeof *t->predictor, NULL},
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
        {NULL, (void **)&t->member, 0, 2 * n * sizeof *t->member, NULL},
        {h->control, (void **)&t->control, sizeof *h->control, sizeof *h->control, NULL},
        {NULL, (void **)&t->irr, 0, n * sizeof *t->irr, NULL},
        {NULL, (void **)&t->reg, 0, n * sizeof *t->reg, NULL},
        {NULL, (void **)&t->is_reg, 0, n, NULL},
        {NULL, (void **)&t->flag, 0, n, NULL},
        {NULL, (void **)&t->near, 0, n * sizeof *t->near, NULL},
        {NULL, (void **)&t->corrected, 0, n * sizeof *t->corrected, NULL},
        {NULL, (void **)&t->source, 0, chunks * NB6_DEV_LANES * sizeof *t->source, NULL},
        {NULL, (void **)&t->target, 0, NB6_DEVICE_MOST_TARGETS * sizeof *t->target, NULL},
        {NULL, (void **)&t->partial, 0, partials * sizeof *t->partial, NULL},
        {NULL, (void **)&t->hit, 0, NB6_DEVICE_FEW * words * sizeof *t->hit, NULL},
        {NULL, (void **)&t->found, 0, nb6_device_found_room(chunks, gpus) * sizeof *t->found, NULL},
        {NULL, (void **)&t->n_found, 0, partials * sizeof *t->n_found, NULL},
        {NULL, (void **)&t->key, 0, 2 * n * sizeof *t->key, NULL},
        {NULL, (void **)&t->order, 0, 2 * n * sizeof *t->order, NULL},
        {NULL, (void **)&t->member_of, 0, n * sizeof *t->member_of, NULL},
        {NULL, (void **)&t->digits, 0, (size_t)d->size.blocks * NB6_DEVICE_DIGITS * sizeof *t->digits, NULL},
        {NULL, (void **)&t->tile, 0, chunks * sizeof *t->tile, NULL},
        {NULL, (void **)&t->seen, 0, NB6_DEVICE_MOST_TARGETS * sizeof *t->seen, NULL},
        {NULL, (void **)&t->group, 0, groups * sizeof *t->group, NULL},
        {NULL, (void **)&t->apart, 0, groups * (groups + NB6_DEV_LANES) / NB6_DEV_LANES * sizeof *t->apart, NULL},
        {NULL, (void **)&t->slices, 0, chunks * sizeof *t->slices, NULL},
        {NULL, (void **)&t->mutual, 0, gpus * mutual_room(n) * sizeof *t->mutual, NULL},
    };
    _Static_assert(sizeof list / sizeof *list <= NB6_DEVICE_MOST_ARRAYS, "room for all");
    memcpy(all, list, sizeof list);
    return (int)(sizeof list / sizeof *list);
}

/* Bytes of an array in memory. */
static size_t host_bytes(const struct array *a)
{
    return a->travels ? a->travels : a->bytes;
}

/* Mapped host memory, which the device reads and writes itself, is copied several times as fast. Without it all
 * works as well, but the host advances all blocks that need its service. */
static void pin(struct nb6_device *d)
{
    struct array all[NB6_DEVICE_MOST_ARRAYS];
    const int n = list_arrays(d, all);
    int is_seen = d->mailbox != NULL;
    for (int k = 0; k < n; k++) {
        void *seen_at;
        d->pinned[k] = all[k].home && nbd_pin(&d->device, all[k].home, host_bytes(&all[k]), &seen_at);
        if (!all[k].seen_at) continue;
        is_seen &= d->pinned[k];
        if (d->pinned[k]) *all[k].seen_at = seen_at;
    }
    if (!is_seen) d->seen_at.mailbox = NULL;
}

/* Messages between host and device, except the image, in one piece of memory. */
struct messages {
    struct nb6_dev_note note[NB6_DEVICE_NOTES];
    struct nb6_host_mailbox mailbox;
    int32_t place[]; /* members, and bodies listed in answers */
};

/* A mailbox with room for all bodies.   @return 0: the device cannot map it */
static int grow_mailbox(struct nb6_device *d)
{
    const size_t n = (size_t)d->home.n_max;
    void *memory;
    if (nbd_alloc(&d->device, NBD_ON_HOST, sizeof *d->messages + 2 * n * sizeof *d->messages->place, &memory, NULL))
        return 0;
    struct messages *m = d->messages = memory;
    d->mailbox = &m->mailbox;
    d->mailbox->note = m->note;
    d->mailbox->member = m->place;
    d->mailbox->changed_bodies = m->place + n;
    d->seen_at.mailbox = &m->mailbox;
    d->seen_at.note = m->note;
    d->seen_at.member = m->place;
    d->seen_at.changed_bodies = m->place + n;
    return 1;
}

static void unpin(struct nb6_device *d)
{
    struct array all[NB6_DEVICE_MOST_ARRAYS];
    const int n = list_arrays(d, all);
    for (int k = 0; k < n; k++) {
        if (d->pinned[k]) nbd_unpin(&d->device, all[k].home);
        d->pinned[k] = 0;
    }
}

void nb6_device_free(struct nb6_device *d)
{
    struct array all[NB6_DEVICE_MOST_ARRAYS];
    const int n = list_arrays(d, all);
    for (int k = 0; k < n; k++) nbd_free(&d->device, NBD_ON_DEVICE, *all[k].there);
    nb6_device_helpers_free(&d->helpers);
    unpin(d);
    nbd_free(&d->device, NBD_ON_HOST, d->messages);
    d->messages = NULL;
    d->mailbox = NULL;
    d->seen_at = (struct nb6_device_home){0};
    nb6_dev_free_state(&d->home);
    d->there = (struct nb6_dev){0};
}

/* Levels beyond the last body mark places without a body. Hits are read four words at a time, the last of which may
 * never be written. */
static int allocate_there(struct nb6_device *d, struct nbc_error *err)
{
    struct array all[NB6_DEVICE_MOST_ARRAYS];
    const int64_t chunks = (d->home.n_max + NB6_DEV_LANES - 1) / NB6_DEV_LANES;
    if (d->helpers.n == 0 && d->home.n_max >= NB6_DEVICE_HELPERS_WORTH)
        nb6_device_helpers_open(&d->helpers, &d->device, d->size.blocks, d->n_gpus, d->gpus);
    NBD_TRY(nb6_device_helpers_allocate(&d->helpers, (size_t)chunks, NB6_DEVICE_MOST_TARGETS,
                                        mutual_room((size_t)d->home.n_max), err));
    d->there = (struct nb6_dev){
        .n = d->home.n, .n_max = d->home.n_max, .row_room = d->home.row_room, .systems = d->home.systems};
    const int n = list_arrays(d, all);
    for (int k = 0; k < n; k++) NBD_TRY(nbd_alloc(&d->device, NBD_ON_DEVICE, all[k].bytes, all[k].there, err));
    d->there.lists = d->there.row + d->there.n_max * d->there.row_room;
    NBD_TRY(
        nbd_fill(&d->device, d->stream, d->there.level, 0xff, (size_t)d->home.n_max + NB6_DEVICE_LEVEL_PADDING, err));
    for (int k = 0; k < n; k++)
        if (*all[k].there == d->there.hit) NBD_TRY(nbd_fill(&d->device, d->stream, d->there.hit, 0, all[k].bytes, err));
    return NBC_OK;
}

int nb6_device_allocate(struct nb6_device *d, const struct nb6_dev_size *size, struct nbc_error *err)
{
    nb6_device_free(d);
    if (!nb6_dev_allocate_state(&d->home, size, 1))
        return nbc_fail(err, NBC_NO_MEMORY, "no memory for the image of %lld bodies", (long long)size->n);
    int status = allocate_there(d, err);
    if (status) {
        nb6_device_free(d);
        return status;
    }
    if (!grow_mailbox(d)) d->seen_at.mailbox = NULL;
    pin(d);
    if (!d->seen_at.mailbox) nb6_device_helpers_close(&d->helpers); /* helpers report failures through it */
    return NBC_OK;
}

int nb6_device_copy_records(struct nb6_device *d, enum nb6_device_way way, struct nbc_error *err)
{
    struct array all[NB6_DEVICE_MOST_ARRAYS];
    const int n = list_arrays(d, all);
    for (int k = 0; k < n; k++) {
        const void *home = all[k].home;
        if (!home || !all[k].travels || home == d->home.row || home == d->home.list_at) continue;
        const int up = way == NB6_TO_DEVICE;
        NBD_TRY(nbd_copy(&d->device, d->stream, up ? *all[k].there : all[k].home, up ? all[k].home : *all[k].there,
                         all[k].travels, err));
    }
    return NBC_OK;
}

int nb6_device_copy_lists(struct nb6_device *d, int64_t numbers, enum nb6_device_way way, struct nbc_error *err)
{
    const struct nb6_dev *h = &d->home, *t = &d->there;
    const size_t bytes = (size_t)numbers * sizeof *h->lists;
    const cudaStream_t stream = (cudaStream_t)d->stream;
    NBD_TRY(nbd_copy(&d->device, d->stream, t->list_at, h->list_at, (size_t)h->n * sizeof *h->list_at, err));
    if (way == NB6_TO_DEVICE) {
        NBD_TRY(nbd_copy(&d->device, d->stream, t->lists, h->lists, bytes, err));
        NBD_LAUNCH(err, &d->device, nb6_device_unpack_lists(t, stream));
    } else {
        NBD_LAUNCH(err, &d->device, nb6_device_pack_lists(t, stream));
        NBD_TRY(nbd_copy(&d->device, d->stream, h->lists, t->lists, bytes, err));
    }
    return nbd_stream_wait(&d->device, d->stream, err);
}
