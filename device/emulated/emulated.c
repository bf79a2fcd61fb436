#include "device/emulated/emulated.h"

#include "device/kind.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* Codes of failures. */
enum { NO_MEMORY = 1, NOT_REACHED, UNKNOWN_DEVICE };

/* One lock for all: what is tested is what the host does, not how fast. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- memory */

/* A piece of memory that is in use. */
struct piece {
    struct piece *next;
    char *begin, *end;
    int device; /* -1: of the host */
};

static struct piece *pieces;
static unsigned char reach[NBD_EMULATED_DEVICES][NBD_EMULATED_DEVICES]; /* [device][whose memory it reaches] */

static const struct piece *piece_at(const void *memory)
{
    const struct piece *p = pieces;
    while (p && !((const char *)memory >= p->begin && (const char *)memory < p->end)) p = p->next;
    return p;
}

/* Whether a device may read and write so many bytes. Ordinary memory of the host is not in the list. */
static int has_access(int device, const void *memory, size_t bytes)
{
    const struct piece *p = piece_at(memory);
    if (!p) return 1;
    if ((const char *)memory + bytes > p->end) return 0;
    return p->device < 0 || p->device == device || reach[device][p->device];
}

static int add_piece(void *memory, size_t bytes, int device)
{
    struct piece *p = nbc_alloc(1, sizeof *p);
    if (!p) return NO_MEMORY;
    pthread_mutex_lock(&lock);
    *p = (struct piece){pieces, memory, (char *)memory + bytes, device};
    pieces = p;
    pthread_mutex_unlock(&lock);
    return 0;
}

/* The lock is held. */
static void remove_piece(const void *memory)
{
    struct piece **at = &pieces;
    while (*at && (*at)->begin != memory) at = &(*at)->next;
    struct piece *p = *at;
    if (p) *at = p->next;
    nbc_free(p);
}

size_t nbd_emulated_bytes(void)
{
    size_t bytes = 0;
    pthread_mutex_lock(&lock);
    for (const struct piece *p = pieces; p; p = p->next)
        if (p->device >= 0) bytes += (size_t)(p->end - p->begin);
    pthread_mutex_unlock(&lock);
    return bytes;
}

static int alloc(const struct nbd_device *device, enum nbd_where where, size_t bytes, void **memory)
{
    void *data = nbc_alloc_unset(bytes, 1);
    if (!data || add_piece(data, bytes, where == NBD_ON_HOST ? -1 : device->number)) {
        nbc_free(data);
        return NO_MEMORY;
    }
    memset(data, 0xa5, bytes); /* not set to anything */
    *memory = data;
    return 0;
}

static int pin(const struct nbd_device *device, void *memory, size_t bytes, void **seen_at)
{
    (void)device;
    *seen_at = memory;
    return add_piece(memory, bytes, -1);
}

static int make_reachable(const struct nbd_device *device, const struct nbd_device *other)
{
    pthread_mutex_lock(&lock);
    reach[device->number][other->number] = 1;
    pthread_mutex_unlock(&lock);
    return 1;
}

/* ---- streams: what is enqueued waits in a list until somebody waits for it */

/* A place in a stream: so many of its jobs come before it. A stream that is closed is past all of its places. */
struct place {
    int64_t stream; /* its number; 0: none */
    int64_t after;
};

struct nbd_event {
    struct place place;
};

struct job {
    struct job *next;
    nbd_kernel *kernel; /* NULL: a copy, a fill or a wait */
    void *own;          /* argument of the kernel; source of a copy */
    void *to;
    const void *from; /* NULL: a fill */
    size_t bytes;
    int byte;
    struct place until; /* of a wait */
};

struct nbd_stream {
    int64_t number; /* of all that were opened, from 1 on */
    int device;
    int64_t enqueued, done;
    struct job *first, *last;
};

/* All streams that are open: of 64 parts of a system with a handle for each, and of some others. */
enum { MOST_STREAMS = 1024 };
static struct nbd_stream *streams[MOST_STREAMS];
static int64_t opened;

static void run_until(struct place place);

static void run(const struct job *job)
{
    if (job->until.stream)
        run_until(job->until);
    else if (job->kernel)
        job->kernel(job->own);
    else if (job->from)
        memmove(job->to, job->from, job->bytes);
    else
        memset(job->to, job->byte, job->bytes);
}

static void run_jobs(struct nbd_stream *stream, int64_t end)
{
    while (stream->done < end && stream->first) {
        struct job *job = stream->first;
        stream->first = job->next;
        if (!stream->first) stream->last = NULL;
        stream->done++;
        run(job);
        nbc_free(job->own);
        nbc_free(job);
    }
}

static int enqueue(struct nbd_stream *stream, const struct job *job)
{
    struct job *own = nbc_alloc(1, sizeof *own);
    if (!own) return NO_MEMORY;
    *own = *job;
    own->next = NULL;
    pthread_mutex_lock(&lock);
    if (stream->last)
        stream->last->next = own;
    else
        stream->first = own;
    stream->last = own;
    stream->enqueued++;
    pthread_mutex_unlock(&lock);
    return 0;
}

/* The lock is held. */
static void run_until(struct place place)
{
    for (int k = 0; k < MOST_STREAMS; k++)
        if (streams[k] && streams[k]->number == place.stream) run_jobs(streams[k], place.after);
}

int nbd_emulated_launch(struct nbd_stream *stream, nbd_kernel *kernel, const void *job, size_t bytes)
{
    void *own = nbc_alloc(bytes, 1);
    if (!own) return NO_MEMORY;
    memcpy(own, job, bytes);
    const int code = enqueue(stream, &(struct job){.kernel = kernel, .own = own});
    if (code) nbc_free(own);
    return code;
}

static int stream_open(const struct nbd_device *device, enum nbd_priority priority, struct nbd_stream **stream)
{
    (void)priority;
    struct nbd_stream *made = nbc_alloc(1, sizeof *made);
    if (!made) return NO_MEMORY;
    made->device = device->number;
    pthread_mutex_lock(&lock);
    int k = 0;
    while (k < MOST_STREAMS && streams[k]) k++;
    made->number = ++opened;
    if (k < MOST_STREAMS) streams[k] = made;
    pthread_mutex_unlock(&lock);
    if (k == MOST_STREAMS) {
        nbc_free(made);
        return NO_MEMORY;
    }
    *stream = made;
    return 0;
}

/* Work left on it is dropped: the host has not waited for it. */
static void stream_close(struct nbd_stream *stream)
{
    pthread_mutex_lock(&lock);
    for (int k = 0; k < MOST_STREAMS; k++)
        if (streams[k] == stream) streams[k] = NULL;
    while (stream->first) {
        struct job *job = stream->first;
        stream->first = job->next;
        nbc_free(job->own);
        nbc_free(job);
    }
    pthread_mutex_unlock(&lock);
    nbc_free(stream);
}

static int stream_wait(struct nbd_stream *stream)
{
    pthread_mutex_lock(&lock);
    run_jobs(stream, stream->enqueued);
    pthread_mutex_unlock(&lock);
    return 0;
}

/* A stream executes one more job each time it is asked. */
static int stream_ask(struct nbd_stream *stream, int *is_done)
{
    pthread_mutex_lock(&lock);
    run_jobs(stream, stream->done + 1);
    *is_done = stream->done == stream->enqueued;
    pthread_mutex_unlock(&lock);
    return 0;
}

static int wait_for_all(const struct nbd_device *device)
{
    pthread_mutex_lock(&lock);
    for (int k = 0; k < MOST_STREAMS; k++)
        if (streams[k] && streams[k]->device == device->number) run_jobs(streams[k], streams[k]->enqueued);
    pthread_mutex_unlock(&lock);
    return 0;
}

static int event_open(const struct nbd_device *device, struct nbd_event **event)
{
    (void)device;
    *event = nbc_alloc(1, sizeof **event);
    return *event ? 0 : NO_MEMORY;
}

static void event_close(struct nbd_event *event)
{
    nbc_free(event);
}

static int event_record(struct nbd_event *event, struct nbd_stream *stream)
{
    pthread_mutex_lock(&lock);
    event->place = (struct place){stream->number, stream->enqueued};
    pthread_mutex_unlock(&lock);
    return 0;
}

static int event_await(struct nbd_event *event, struct nbd_stream *stream)
{
    return event->place.stream ? enqueue(stream, &(struct job){.until = event->place}) : 0;
}

static int event_wait(struct nbd_event *event)
{
    pthread_mutex_lock(&lock);
    run_until(event->place);
    pthread_mutex_unlock(&lock);
    return 0;
}

/* ---- memory that is given back: as of a GPU, when all streams are done */

static void forget_memory(const void *memory)
{
    pthread_mutex_lock(&lock);
    for (int k = 0; k < MOST_STREAMS; k++)
        if (streams[k]) run_jobs(streams[k], streams[k]->enqueued);
    remove_piece(memory);
    pthread_mutex_unlock(&lock);
}

static void release(const struct nbd_device *device, enum nbd_where where, void *memory)
{
    (void)device, (void)where;
    forget_memory(memory);
    nbc_free(memory);
}

static void unpin(const struct nbd_device *device, void *memory)
{
    (void)device;
    forget_memory(memory);
}

/* ---- copies */

/* As on a GPU, ordinary memory of the host is read before the call returns, and written before it returns. */
static int enqueue_copy(struct nbd_stream *stream, void *to, const void *from, size_t bytes, int from_is_ordinary,
                        int to_is_ordinary)
{
    struct job job = {.to = to, .from = from, .bytes = bytes};
    if (from_is_ordinary) {
        job.own = nbc_alloc_unset(bytes, 1);
        if (!job.own) return NO_MEMORY;
        memcpy(job.own, from, bytes);
        job.from = job.own;
    }
    const int code = enqueue(stream, &job);
    if (code) nbc_free(job.own);
    return code || !to_is_ordinary ? code : stream_wait(stream);
}

static int copy_by(int device, int other, struct nbd_stream *stream, void *to, const void *from, size_t bytes)
{
    pthread_mutex_lock(&lock);
    const int is_reached = has_access(device, to, bytes) && has_access(other, from, bytes);
    const int from_is_ordinary = !piece_at(from), to_is_ordinary = !piece_at(to);
    pthread_mutex_unlock(&lock);
    return is_reached ? enqueue_copy(stream, to, from, bytes, from_is_ordinary, to_is_ordinary) : NOT_REACHED;
}

static int copy(struct nbd_stream *stream, void *to, const void *from, size_t bytes)
{
    return copy_by(stream->device, stream->device, stream, to, from, bytes);
}

/* Devices that do not reach each other copy through the host. */
static int copy_from(const struct nbd_device *device, struct nbd_stream *stream, void *to,
                     const struct nbd_device *other, const void *from, size_t bytes)
{
    return copy_by(device->number, other->number, stream, to, from, bytes);
}

static int fill(struct nbd_stream *stream, void *memory, int byte, size_t bytes)
{
    pthread_mutex_lock(&lock);
    const int is_reached = has_access(stream->device, memory, bytes);
    pthread_mutex_unlock(&lock);
    return is_reached ? enqueue(stream, &(struct job){.to = memory, .byte = byte, .bytes = bytes}) : NOT_REACHED;
}

/* ---- devices */

static int count(const char **why)
{
    *why = NULL;
    return NBD_EMULATED_DEVICES;
}

static int open_device(struct nbd_device *device, const char **too_old)
{
    (void)too_old;
    if (device->number < 0 || device->number >= NBD_EMULATED_DEVICES) return UNKNOWN_DEVICE;
    device->multiprocessors = NBD_EMULATED_MULTIPROCESSORS;
    snprintf(device->name, sizeof device->name, "emulated device %d", device->number);
    return 0;
}

static int use(const struct nbd_device *device)
{
    (void)device;
    return 0;
}

static const char *text(int code)
{
    switch (code) {
    case NO_MEMORY:
        return "out of memory";
    case NOT_REACHED:
        return "memory that the device does not reach";
    default:
        return "there is no such device";
    }
}

static int lacks_memory(int code)
{
    return code == NO_MEMORY;
}

static const struct nbd_kind emulated = {
    .name = "emulated",
    .count = count,
    .open = open_device,
    .use = use,
    .wait = wait_for_all,
    .alloc = alloc,
    .free = release,
    .pin = pin,
    .unpin = unpin,
    .reach = make_reachable,
    .stream_open = stream_open,
    .stream_close = stream_close,
    .stream_wait = stream_wait,
    .stream_ask = stream_ask,
    .event_open = event_open,
    .event_close = event_close,
    .event_record = event_record,
    .event_await = event_await,
    .event_wait = event_wait,
    .copy = copy,
    .copy_from = copy_from,
    .fill = fill,
    .text = text,
    .lacks_memory = lacks_memory,
};

const struct nbd_kind *const nbd_emulated = &emulated;
