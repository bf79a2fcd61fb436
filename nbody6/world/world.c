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

/* ---- numbers of all ranks */

/* The first are sums, the others minima. */
static void combine(int64_t *to, const int64_t *more, int sums, int count)
{
    for (int k = 0; k < sums; k++) to[k] += more[k];
    for (int k = sums; k < count; k++)
        if (more[k] < to[k]) to[k] = more[k];
}

/* To the rank that many before this one, and from the one that many behind it, around. */
static void shift(struct nb6_world *world, int width, const int64_t *mine, int64_t *more, int count)
{
    const int size = nb6_world_size(world), rank = nb6_world_rank(world), tag = nb6_world_tag(world);
    struct nb6_message out;
    nb6_world_send(world, &out, (rank - width + size) % size, tag, mine, (size_t)count * sizeof *mine);
    receive_now(world, (rank + width) % size, tag, more, (size_t)count * sizeof *more);
    nb6_message_wait(world, &out);
}

/* A window has the numbers of as many ranks from this one on, around, as its width says, and that doubles with each
 * message. Those of all ranks are windows of the widths that are the bits of their number, one behind the other: with
 * each of these the numbers of so many ranks that are behind the window come by the same message. */
static void join(struct nb6_world *world, int64_t *value, int sums, int count)
{
    const int size = nb6_world_size(world);
    int64_t mine[2 * MOST_VALUES], more[2 * MOST_VALUES], *all = mine, *window = mine + count;
    int has_all = 0;
    memcpy(window, value, (size_t)count * sizeof *value);
    for (int width = 1; width <= size; width *= 2) {
        const int is_bit = (size & width) != 0, takes_all = is_bit && has_all, goes_on = size / 2 >= width;
        const int first = takes_all ? 0 : count, end = goes_on ? 2 * count : count;
        if (first < end) shift(world, width, mine + first, more + first, end - first);
        if (is_bit) memcpy(all, window, (size_t)count * sizeof *all);
        if (takes_all) combine(all, more, sums, count);
        if (goes_on) combine(window, more + count, sums, count);
        has_all |= is_bit;
    }
    memcpy(value, all, (size_t)count * sizeof *value);
}

void nb6_world_sum(struct nb6_world *world, int64_t *values, int count)
{
    join(world, values, count, count);
}

void nb6_world_minimum(struct nb6_world *world, int64_t *values, int count)
{
    join(world, values, 0, count);
}

/* ---- failures */

int nb6_world_tell(struct nb6_world *world, int failed, int status, struct nbc_error *err)
{
    struct nbc_error first;
    memset(&first, 0, sizeof first);
    if (failed == nb6_world_rank(world)) {
        first.status = status;
        if (err) memcpy(first.text, err->text, sizeof first.text);
    }
    if (failed > 0) {
        const int tag = nb6_world_tag(world);
        if (failed == world->rank) send_now(world, 0, tag, &first, sizeof first);
        if (world->rank == 0) receive_now(world, failed, tag, &first, sizeof first);
    }
    nb6_world_broadcast(world, &first, sizeof first);
    if (err) *err = first;
    return first.status;
}

int nb6_world_agree_sum(struct nb6_world *world, int status, int64_t *values, int count, struct nbc_error *err)
{
    int64_t joint[MOST_VALUES];
    if (count > 0) memcpy(joint, values, (size_t)count * sizeof *values);
    joint[count] = status ? nb6_world_rank(world) : nb6_world_size(world);
    join(world, joint, count, count + 1);
    const int failed = (int)joint[count];
    if (failed < nb6_world_size(world)) return nb6_world_tell(world, failed, status, err);
    if (count > 0) memcpy(values, joint, (size_t)count * sizeof *values);
    return NBC_OK;
}

int nb6_world_agree(struct nb6_world *world, int status, struct nbc_error *err)
{
    return nb6_world_agree_sum(world, status, NULL, 0, err);
}
