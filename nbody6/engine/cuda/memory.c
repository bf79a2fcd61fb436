#include "nbody6/engine/cuda/memory.h"

#include "device/supply.h"
#include "gpunb/device/regular.h"
#include "gpunb/regf_device.h"
#include "nbody6/engine/cuda/lists.h"
#include "nbody6/engine/stages/room.h"
#include "nbody6/galaxy/orbit_table.h"

#include <string.h>

/* An array of the device, and where it comes from. */
struct array {
    void *home, **there;   /* host side; NULL: it is not copied */
    size_t travels, bytes; /* copied with the records, or by copy_lists; allocated */
    void **seen_at;        /* also allocated where the device maps host memory */
};

static int list_arrays(struct nb6_device *d, struct array all[NB6_DEVICE_MOST_ARRAYS])
{
    struct nb6_dev *h = &d->home, *t = &d->there;
    const size_t n = (size_t)h->n_max, chunks = (n + NB6_DEV_LANES - 1) / NB6_DEV_LANES;
    const size_t words = chunks + NB6_DEV_HIT_GRAIN;
    const size_t rows = n * (size_t)h->row_room * sizeof *h->row;
    const size_t systems = (size_t)h->systems * sizeof *h->system, corrections = n * sizeof *h->correction;
    const size_t remotes = (size_t)h->systems * sizeof *h->remote;
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
        {NULL, (void **)&t->orbit, 0, sizeof *t->orbit, NULL},
        {NULL, (void **)&t->irr, 0, n * sizeof *t->irr, NULL},
        {NULL, (void **)&t->reg, 0, n * sizeof *t->reg, NULL},
        {NULL, (void **)&t->is_reg, 0, n, NULL},
        {NULL, (void **)&t->flag, 0, n, NULL},
        {NULL, (void **)&t->near, 0, n * sizeof *t->near, NULL},
        {NULL, (void **)&t->corrected, 0, n * sizeof *t->corrected, NULL},
        {NULL, (void **)&t->sums.source, 0, chunks * NB6_DEV_LANES * sizeof *t->sums.source, NULL},
        {NULL, (void **)&t->target, 0, NB6_DEVICE_MOST_TARGETS * sizeof *t->target, NULL},
        {NULL, (void **)&t->hit, 0, NB6_DEVICE_FEW * words * sizeof *t->hit, NULL},
        {NULL, &d->scratch, 0, d->scratch_bytes, NULL},
    };
    _Static_assert(sizeof list / sizeof *list <= NB6_DEVICE_MOST_ARRAYS, "room for all");
    memcpy(all, list, sizeof list);
    return (int)(sizeof list / sizeof *list);
}

/* Scratch of sums for n bodies: that of GPUNB, and what it is asked behind it; or, of the kernel of small blocks, the
 * same with more neighbours. */
static void lay_out_sums(struct nb6_device *d, size_t n)
{
    struct gpunb_dev_job job = {0};
    struct nbd_supply s = {.next = d->scratch};
    const size_t bytes = d->forces_bytes;
    gpunb_dev_lay_out(&job, &s, n, 1, d->size.blocks);
    const size_t chunks = (size_t)gpunb_dev_chunks_of((int64_t)n);
    const size_t kernel = s.bytes + nb6_device_found_room(chunks) * sizeof *job.sums.found;
    struct nbd_supply behind = {.next = d->scratch ? (char *)d->scratch + bytes : NULL, .bytes = bytes};
    d->asked = nbd_take(&behind, n, sizeof *d->asked);
    d->again = nbd_take(&behind, n, sizeof *d->again);
    d->scratch_bytes = behind.bytes > kernel ? behind.bytes : kernel;
    job.sums.source = d->there.sums.source;
    d->there.sums = job.sums;
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
    unpin(d);
    nbd_free(&d->device, NBD_ON_HOST, d->messages);
    d->scratch = NULL;
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
    d->there = (struct nb6_dev){
        .n = d->home.n, .n_max = d->home.n_max, .row_room = d->home.row_room, .systems = d->home.systems};
    d->scratch = NULL;
    lay_out_sums(d, (size_t)d->home.n_max);
    const int n = list_arrays(d, all);
    for (int k = 0; k < n; k++) NBD_TRY(nbd_alloc(&d->device, NBD_ON_DEVICE, all[k].bytes, all[k].there, err));
    lay_out_sums(d, (size_t)d->home.n_max); /* where it is now */
    d->there.lists = d->there.row + d->there.n_max * d->there.row_room;
    NBD_TRY(
        nbd_fill(&d->device, d->stream, d->there.level, 0xff, (size_t)d->home.n_max + NB6_DEVICE_LEVEL_PADDING, err));
    for (int k = 0; k < n; k++)
        if (*all[k].there == d->there.hit) NBD_TRY(nbd_fill(&d->device, d->stream, d->there.hit, 0, all[k].bytes, err));
    NBD_TRY(nbd_fill(&d->device, d->stream, d->there.orbit, 0xff, sizeof *d->there.orbit, err)); /* no times */
    return NBC_OK;
}

int nb6_device_make_ready(struct nb6_device *d, int64_t n, struct nbc_error *err)
{
    const int status = gpunb_regf_device_bytes(d->reg, (size_t)n, &d->forces_bytes);
    return status ? nbc_fail(err, NBC_DEVICE, "%s", gpunb_last_error(d->reg)) : NBC_OK;
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
    return NBC_OK;
}

int nb6_device_reserve_both(struct nb6_device *d, struct nbd_buffer *there, size_t bytes_there, struct nbd_buffer *here,
                            size_t bytes_here, struct nbc_error *err)
{
    there->where = NBD_ON_DEVICE;
    here->where = NBD_ON_HOST;
    NBD_TRY(nbd_buffer_reserve(&d->device, there, bytes_there, err));
    return nbd_buffer_reserve(&d->device, here, bytes_here, err);
}

void nb6_device_follow_home(struct nb6_device *d)
{
    d->there.n = d->home.n;
    d->there.first_centre = d->home.first_centre;
    d->there.sums.n = d->home.n;
    d->there.leaving = nb6_dev_leaving(d->reg, d->there.n, d->size.blocks);
    d->there.targets = nb6_device_targets(nb6_dev_chunks(&d->there));
}

static int copy_array(struct nb6_device *d, const struct array *a, enum nb6_device_way way, struct nbc_error *err)
{
    const int up = way == NB6_TO_DEVICE;
    if (a->travels == 0) return NBC_OK;
    return nbd_copy(&d->device, d->stream, up ? *a->there : a->home, up ? a->home : *a->there, a->travels, err);
}

int nb6_device_copy_records(struct nb6_device *d, enum nb6_device_way way, struct nbc_error *err)
{
    struct array all[NB6_DEVICE_MOST_ARRAYS];
    const int n = list_arrays(d, all);
    for (int k = 0; k < n; k++) {
        const void *home = all[k].home;
        if (!home || !all[k].travels || home == d->home.row || home == d->home.list_at) continue;
        NBD_TRY(copy_array(d, &all[k], way, err));
    }
    return NBC_OK;
}

int nb6_device_copy_systems(struct nb6_device *d, enum nb6_device_way way, struct nbc_error *err)
{
    struct nb6_dev *h = &d->home, *t = &d->there;
    const size_t centres = (size_t)(h->n - h->first_centre), asked = (size_t)h->control->n_ask;
    const struct array of_both[] = {{h->system, (void **)&t->system, centres * sizeof *h->system, 0, NULL},
                                    {h->control, (void **)&t->control, sizeof *h->control, 0, NULL}};
    const struct array of_host[] = {{h->watch, (void **)&t->watch, (size_t)h->n, 0, NULL},
                                    {h->ask, (void **)&t->ask, asked * sizeof *h->ask, 0, NULL},
                                    {h->remote, (void **)&t->remote, centres * sizeof *h->remote, 0, NULL}};
    for (size_t k = 0; k < sizeof of_both / sizeof *of_both; k++) NBD_TRY(copy_array(d, &of_both[k], way, err));
    for (size_t k = 0; k < sizeof of_host / sizeof *of_host && way == NB6_TO_DEVICE; k++)
        NBD_TRY(copy_array(d, &of_host[k], way, err));
    return NBC_OK;
}

int nb6_device_hide_bodies(struct nb6_device *d, struct nbc_error *err)
{
    return nbd_fill(&d->device, d->stream, d->there.shown, NB6_DEV_HIDDEN, (size_t)d->there.n_max, err);
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
