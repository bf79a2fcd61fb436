#include "nbody6/world/threads.h"

#include "nbody6/world/kind.h"

#include <math.h>
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Messages that other threads have sent to a rank, and that it has not taken yet. */
struct box {
    pthread_mutex_t lock;
    struct nb6_message *first;
    const struct nb6_message *awaited; /* the one that its rank waits for; NULL: none */
};

struct threads {
    int size;
    struct nb6_threads_options options;
    struct box *box; /* [size] */
    struct rank *rank;
    nb6_rank_main *main;
    void *context;
    pthread_mutex_t start; /* held until all threads are there */
    int is_given_up;
    int wrong; /* two ends of a message had different lengths */
};

struct rank {
    struct nb6_world world;
    struct threads *all;
    pthread_t thread;
    /* Nobody else waits for it: that all ends of all messages in a box are woken by each of them would take a thousand
     * ranks a million switches for one message from each to rank 0. */
    pthread_cond_t go_on;
    double clock, link_free; /* virtual seconds; when the last message has left */
    uint64_t draws;
};

/* A copy of a message that the sender does not wait for. */
struct copy {
    struct nb6_message message;
    char data[];
};

static struct rank *rank_of(const struct nb6_world *world)
{
    return world->state;
}

/* ---- shuffled messages */

static uint64_t draw(struct rank *r)
{
    uint64_t z = (r->all->options.shuffle << 32) + ((uint64_t)r->world.rank << 20) + ++r->draws;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static void delay(struct rank *r)
{
    if (!r->all->options.shuffle) return;
    const uint64_t number = draw(r);
    if (number % 4 == 0) nanosleep(&(struct timespec){.tv_nsec = (long)(number >> 8) % 200000}, NULL);
    if (number % 4 == 1) sched_yield();
}

/* NULL: the sender waits until the receiver has copied the data. */
static struct nb6_message *copy_early(struct rank *r, const struct nb6_message *message)
{
    if (!r->all->options.shuffle || draw(r) % 2 == 0) return NULL;
    struct copy *copy = malloc(sizeof *copy + message->bytes);
    if (!copy) return NULL;
    copy->message = *message;
    copy->message.is_copy = 1;
    if (message->bytes > 0) memcpy(copy->data, message->from, message->bytes);
    copy->message.from = copy->data;
    return &copy->message;
}

/* ---- the virtual network */

static void leave(struct rank *r, struct nb6_message *message)
{
    const struct nb6_network *net = r->all->options.network;
    if (!net) return;
    const double scale = message->bytes > sizeof(int64_t) ? net->scale : 1;
    r->link_free = fmax(r->link_free, r->clock) + scale * (double)message->bytes / net->bytes_per_s;
    message->time = r->link_free;
}

static void arrive(struct rank *r, double left)
{
    const struct nb6_network *net = r->all->options.network;
    if (net) r->clock = fmax(r->clock, left + net->latency_s);
}

static void spend(struct nb6_world *world, uint64_t calls, double units)
{
    struct rank *r = rank_of(world);
    const struct nb6_network *net = r->all->options.network;
    if (net) r->clock += net->call_s * (double)calls + net->unit_s * units * net->scale * net->scale;
}

static double seconds(const struct nb6_world *world)
{
    const struct rank *r = rank_of(world);
    return r->all->options.network ? r->clock : nbc_wtime();
}

/* ---- messages. A message to a rank is in its box from the call that sends it to the wait that takes it. */

static int is_same(const struct nb6_message *a, int peer, int tag)
{
    return a->peer == peer && a->tag == tag;
}

/* At the end, or before all others if none of them has the same sender and tag. */
static void put(struct box *box, struct nb6_message *message, int at_front)
{
    struct nb6_message **last = &box->first;
    for (; *last; last = &(*last)->next) at_front &= !is_same(*last, message->peer, message->tag);
    if (at_front) {
        message->next = box->first;
        box->first = message;
    } else
        *last = message;
}

static void send(struct nb6_world *world, struct nb6_message *message)
{
    struct rank *r = rank_of(world);
    const int to = message->peer;
    struct box *box = &r->all->box[to];
    const int at_front = r->all->options.shuffle && draw(r) % 2 == 0;
    leave(r, message);
    delay(r);
    message->request = (uint64_t)to;
    struct nb6_message *early = copy_early(r, message), *sent = early ? early : message;
    message->is_done = early != NULL;
    pthread_mutex_lock(&box->lock);
    sent->peer = world->rank; /* in a box: the sender */
    put(box, sent, at_front);
    if (box->awaited && is_same(sent, box->awaited->peer, box->awaited->tag))
        pthread_cond_signal(&r->all->rank[to].go_on);
    pthread_mutex_unlock(&box->lock);
}

static void receive(struct nb6_world *world, struct nb6_message *message)
{
    (void)world, (void)message;
}

static struct nb6_message *take(struct box *box, const struct nb6_message *wanted)
{
    for (struct nb6_message **at = &box->first; *at; at = &(*at)->next)
        if (is_same(*at, wanted->peer, wanted->tag)) {
            struct nb6_message *found = *at;
            *at = found->next;
            found->next = NULL;
            return found;
        }
    return NULL;
}

static void wait_receive(struct rank *r, struct nb6_message *message)
{
    struct box *box = &r->all->box[r->world.rank];
    struct nb6_message *sent;
    delay(r);
    pthread_mutex_lock(&box->lock);
    box->awaited = message;
    while (!(sent = take(box, message))) pthread_cond_wait(&r->go_on, &box->lock);
    box->awaited = NULL;
    if (sent->bytes != message->bytes) __atomic_store_n(&r->all->wrong, 1, __ATOMIC_RELAXED);
    if (message->bytes > 0 && sent->bytes == message->bytes) memcpy(message->to, sent->from, sent->bytes);
    const double left = sent->time;
    const int is_copy = sent->is_copy;
    if (!is_copy) {
        sent->is_done = 1;
        pthread_cond_signal(&r->all->rank[message->peer].go_on);
    }
    pthread_mutex_unlock(&box->lock);
    if (is_copy) free(sent);
    arrive(r, left);
}

static void wait_send(struct rank *r, struct nb6_message *message)
{
    struct box *box = &r->all->box[message->request];
    pthread_mutex_lock(&box->lock);
    while (!message->is_done) pthread_cond_wait(&r->go_on, &box->lock);
    pthread_mutex_unlock(&box->lock);
    if (r->all->options.network) r->clock = fmax(r->clock, message->time);
}

static void wait_for(struct nb6_world *world, struct nb6_message *message)
{
    if (message->is_send)
        wait_send(rank_of(world), message);
    else if (!message->is_done)
        wait_receive(rank_of(world), message);
    message->is_done = 1;
}

/* Copies are made when the receiver waits. */
static int test(struct nb6_world *world, struct nb6_message *message)
{
    struct box *box = &rank_of(world)->all->box[message->request];
    if (!message->is_send) return message->is_done;
    pthread_mutex_lock(&box->lock);
    const int is_done = message->is_done;
    pthread_mutex_unlock(&box->lock);
    return is_done;
}

static const struct nb6_world_kind threads_kind = {.name = "threads",
                                                   .send = send,
                                                   .receive = receive,
                                                   .test = test,
                                                   .wait = wait_for,
                                                   .spend = spend,
                                                   .seconds = seconds};

/* ---- threads */

static void *run_rank(void *context)
{
    struct rank *r = context;
    pthread_mutex_lock(&r->all->start);
    const int is_given_up = r->all->is_given_up;
    pthread_mutex_unlock(&r->all->start);
    omp_set_num_threads(1);
    if (!is_given_up) r->all->main(&r->world, r->all->context);
    return NULL;
}

static int run_all(struct threads *all, struct nbc_error *err)
{
    int started = 0;
    pthread_mutex_lock(&all->start);
    for (; started < all->size; started++) {
        struct rank *r = &all->rank[started];
        r->all = all;
        r->world = (struct nb6_world){
            .kind = &threads_kind, .rank = started, .size = all->size, .host_rank = started, .state = r};
        if (pthread_create(&r->thread, NULL, run_rank, r)) break;
    }
    all->is_given_up = started < all->size;
    pthread_mutex_unlock(&all->start);
    for (int k = 0; k < started; k++) pthread_join(all->rank[k].thread, NULL);
    if (all->is_given_up) return nbc_fail(err, NBC_NO_MEMORY, "no more than %d of %d threads", started, all->size);
    return NBC_OK;
}

int nb6_world_threads_run(int size, const struct nb6_threads_options *options, nb6_rank_main *main, void *context,
                          struct nbc_error *err)
{
    struct threads all = {.size = size, .options = *options, .main = main, .context = context};
    all.box = nbc_alloc((size_t)size, sizeof *all.box);
    all.rank = nbc_alloc((size_t)size, sizeof *all.rank);
    int status = all.box && all.rank ? NBC_OK : nbc_fail(err, NBC_NO_MEMORY, "no memory for %d ranks", size);
    pthread_mutex_init(&all.start, NULL);
    for (int k = 0; k < size && !status; k++) {
        pthread_mutex_init(&all.box[k].lock, NULL);
        pthread_cond_init(&all.rank[k].go_on, NULL);
    }
    if (!status) {
        status = run_all(&all, err);
        for (int k = 0; k < size; k++) {
            all.wrong |= all.box[k].first != NULL;
            pthread_cond_destroy(&all.rank[k].go_on);
            pthread_mutex_destroy(&all.box[k].lock);
        }
        if (!status && all.wrong) status = nbc_fail(err, NBC_INTERNAL, "the ends of a message do not agree");
    }
    pthread_mutex_destroy(&all.start);
    nbc_free(all.rank);
    nbc_free(all.box);
    return status;
}
