#include "nbody6/world/world.h"

#include "common/team.h"
#include "nbody6/world/kind.h"

#include <stddef.h>
#include <string.h>

/* MPI has tags up to 32767 at least; a message is waited for long before its tag comes again. */
enum { TAGS = 1 << 14, MOST_VALUES = 1200 };

int nb6_world_rank(const struct nb6_world *world)
{
    return world ? world->rank : 0;
}

int nb6_world_size(const struct nb6_world *world)
{
    return world ? world->size : 1;
}

int nb6_world_host_rank(const struct nb6_world *world)
{
    return world ? world->host_rank : 0;
}

const char *nb6_world_name(const struct nb6_world *world)
{
    return nb6_world_size(world) > 1 ? world->kind->name : "alone";
}

void nb6_world_share(const struct nb6_world *world, int64_t n, int rank, int64_t *first, int64_t *end)
{
    nbc_range(n, rank, nb6_world_size(world), first, end);
}

/* ---- messages */

int nb6_world_tag(struct nb6_world *world)
{
    return world->tag = (world->tag + 1) % TAGS;
}

void nb6_world_send(struct nb6_world *world, struct nb6_message *message, int to, int tag, const void *data,
                    size_t bytes)
{
    *message = (struct nb6_message){.peer = to, .tag = tag, .is_send = 1, .from = data, .bytes = bytes};
    world->kind->send(world, message);
}

void nb6_world_receive(struct nb6_world *world, struct nb6_message *message, int from, int tag, void *data,
                       size_t bytes)
{
    *message = (struct nb6_message){.peer = from, .tag = tag, .to = data, .bytes = bytes};
    world->kind->receive(world, message);
}

void nb6_message_wait(struct nb6_world *world, struct nb6_message *message)
{
    world->kind->wait(world, message);
}

int nb6_message_test(struct nb6_world *world, struct nb6_message *message)
{
    return world->kind->test(world, message);
}

void nb6_world_spend(struct nb6_world *world, uint64_t calls, double units)
{
    if (world->kind->spend) world->kind->spend(world, calls, units);
}

double nb6_world_seconds(const struct nb6_world *world)
{
    return world && world->kind->seconds ? world->kind->seconds(world) : nbc_wtime();
}

static void send_now(struct nb6_world *world, int to, int tag, const void *data, size_t bytes)
{
    struct nb6_message message;
    nb6_world_send(world, &message, to, tag, data, bytes);
    nb6_message_wait(world, &message);
}

static void receive_now(struct nb6_world *world, int from, int tag, void *data, size_t bytes)
{
    struct nb6_message message;
    nb6_world_receive(world, &message, from, tag, data, bytes);
    nb6_message_wait(world, &message);
}

/* ---- all ranks */

/* A rank gets the data from the one without its lowest bit, and gives it to those that have one lower bit more. */
void nb6_world_broadcast(struct nb6_world *world, void *data, size_t bytes)
{
    const int size = nb6_world_size(world), rank = nb6_world_rank(world);
    if (size == 1) return;
    const int tag = nb6_world_tag(world);
    int bit = 1;
    while (bit < size && !(rank & bit)) bit *= 2;
    if (rank > 0) receive_now(world, rank - bit, tag, data, bytes);
    for (bit /= 2; bit > 0; bit /= 2)
        if (rank + bit < size) send_now(world, rank + bit, tag, data, bytes);
}

void nb6_world_gather(struct nb6_world *world, int64_t n, size_t size, const void *mine, void *all)
{
    int64_t first, end;
    const int tag = nb6_world_tag(world);
    nb6_world_share(world, n, world->rank, &first, &end);
    if (world->rank > 0) {
        send_now(world, 0, tag, mine, (size_t)(end - first) * size);
        return;
    }
    if (end > 0) memcpy(all, mine, (size_t)end * size);
    for (int other = 1; other < world->size; other++) {
        nb6_world_share(world, n, other, &first, &end);
        receive_now(world, other, tag, (char *)all + (size_t)first * size, (size_t)(end - first) * size);
    }
}

void nb6_world_scatter(struct nb6_world *world, int64_t n, size_t size, const void *all, void *mine)
{
    int64_t first, end;
    const int tag = nb6_world_tag(world);
    nb6_world_share(world, n, world->rank, &first, &end);
    if (world->rank > 0) {
        receive_now(world, 0, tag, mine, (size_t)(end - first) * size);
        return;
    }
    if (end > 0) memcpy(mine, all, (size_t)end * size);
    for (int other = 1; other < world->size; other++) {
        nb6_world_share(world, n, other, &first, &end);
        send_now(world, other, tag, (const char *)all + (size_t)first * size, (size_t)(end - first) * size);
    }
}

static void add(int64_t *values, const int64_t *more, int count)
{
    for (int k = 0; k < count; k++) values[k] += more[k];
}

static void take_least(int64_t *values, const int64_t *more, int count)
{
    for (int k = 0; k < count; k++)
        if (more[k] < values[k]) values[k] = more[k];
}

/* To rank 0 along the tree of the broadcast, and back. */
void nb6_world_sum(struct nb6_world *world, int64_t *values, int count)
{
    const int size = nb6_world_size(world), rank = nb6_world_rank(world);
    const size_t bytes = (size_t)count * sizeof *values;
    int64_t more[MOST_VALUES];
    if (size == 1) return;
    const int tag = nb6_world_tag(world);
    int bit = 1;
    for (; bit < size && !(rank & bit); bit *= 2)
        if (rank + bit < size) {
            receive_now(world, rank + bit, tag, more, bytes);
            add(values, more, count);
        }
    if (rank > 0) send_now(world, rank - bit, tag, values, bytes);
    nb6_world_broadcast(world, values, bytes);
}

/* Each rank gets what the ranks behind it know, of twice as many with each turn: what is known twice does no harm. */
void nb6_world_minimum(struct nb6_world *world, int64_t *values, int count)
{
    const int size = nb6_world_size(world), rank = nb6_world_rank(world);
    const size_t bytes = (size_t)count * sizeof *values;
    for (int64_t step = 1; step < size; step *= 2) {
        const int tag = nb6_world_tag(world), to = (int)((rank + step) % size),
                  from = (int)((rank - step + size) % size);
        int64_t mine[MOST_VALUES], more[MOST_VALUES];
        struct nb6_message out;
        memcpy(mine, values, bytes);
        nb6_world_send(world, &out, to, tag, mine, bytes);
        receive_now(world, from, tag, more, bytes);
        nb6_message_wait(world, &out);
        take_least(values, more, count);
    }
}

int nb6_world_agree(struct nb6_world *world, int status, struct nbc_error *err)
{
    struct {
        int64_t rank;
        struct nbc_error error;
    } first;
    int64_t failed = status ? nb6_world_rank(world) : nb6_world_size(world);
    nb6_world_minimum(world, &failed, 1);
    if (failed == nb6_world_size(world)) return NBC_OK;
    memset(&first, 0, sizeof first);
    if (failed == nb6_world_rank(world)) {
        first.error.status = status;
        if (err) memcpy(first.error.text, err->text, sizeof first.error.text);
    }
    if (failed > 0) {
        const int tag = nb6_world_tag(world);
        if (failed == world->rank) send_now(world, 0, tag, &first, sizeof first);
        if (world->rank == 0) receive_now(world, (int)failed, tag, &first, sizeof first);
    }
    nb6_world_broadcast(world, &first, sizeof first);
    if (err) *err = first.error;
    return first.error.status;
}
