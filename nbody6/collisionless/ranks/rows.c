#include "nbody6/collisionless/ranks/rows.h"

#include "nbody6/collisionless/collisionless.h"
#include "nbody6/collisionless/ranks/places.h"
#include "nbody6/collisionless/ranks/trees.h"
#include "nbody6/world/world.h"

#include <string.h>

size_t nb6_rank_row_bytes(enum nb6_body_column column)
{
    static const size_t bytes[] = {[NB6_ROWS_NAME] = sizeof(int64_t),         [NB6_ROWS_MASS] = sizeof(double),
                                   [NB6_ROWS_X] = 3 * sizeof(double),         [NB6_ROWS_V] = 3 * sizeof(double),
                                   [NB6_ROWS_ACC] = 3 * sizeof(double),       [NB6_ROWS_LEVEL] = sizeof(int8_t),
                                   [NB6_ROWS_POT] = sizeof(double),           [NB6_ROWS_STEP] = sizeof(double),
                                   [NB6_ROWS_PLACE_RANK] = sizeof(int32_t),   [NB6_ROWS_PLACE_X] = 3 * sizeof(double),
                                   [NB6_ROWS_PLACE_ACC] = 3 * sizeof(double), [NB6_ROWS_PLACE_DRIFT] = sizeof(double)};
    return bytes[column];
}

void *nb6_rank_column(const struct nb6_collisionless *s, enum nb6_body_column column, double *pot)
{
    switch (column) {
    case NB6_ROWS_NAME:
        return s->name;
    case NB6_ROWS_MASS:
        return s->mass;
    case NB6_ROWS_X:
        return s->x0;
    case NB6_ROWS_V:
        return s->v;
    case NB6_ROWS_ACC:
        return s->acc;
    case NB6_ROWS_LEVEL:
        return s->level;
    case NB6_ROWS_POT:
        return pot;
    default:
        return s->trees ? nb6_rank_places_column(&nb6_rank_trees_planned(s->trees)->places, column) : NULL;
    }
}

/* Rows of a range that a rank owns: [*first, *end) of all; *first >= *end: none. */
static void cut_range(const struct nb6_world *world, int64_t n, int rank, int64_t count, int64_t *first, int64_t *end)
{
    const int64_t begin = *first, last = begin + count;
    nb6_world_share(world, n, rank, first, end);
    if (*first < begin) *first = begin;
    if (*end > last) *end = last;
}

enum direction { OUT, IN }; /* from the ranks to rank 0; from there to them */

/* A range between this rank and another one, of which one is rank 0. */
static void exchange(struct nb6_world *world, int tag, int other, enum direction way, char *rows, size_t bytes)
{
    struct nb6_message message;
    if ((way == OUT) == (nb6_world_rank(world) > 0))
        nb6_world_send(world, &message, other, tag, rows, bytes);
    else
        nb6_world_receive(world, &message, other, tag, rows, bytes);
    nb6_message_wait(world, &message);
}

/* Rows [first, first + count) of all.   @param mine  of this rank   @param rows  [count] on rank 0 alone */
static void move_rows(struct nb6_world *world, int64_t n, size_t row, int64_t first, int64_t count, enum direction way,
                      char *mine, char *rows)
{
    const int rank = nb6_world_rank(world), tag = nb6_world_tag(world);
    int64_t own, own_end, begin = first, end;
    nb6_world_share(world, n, rank, &own, &own_end);
    cut_range(world, n, rank, count, &begin, &end);
    const size_t bytes = begin < end ? (size_t)(end - begin) * row : 0;
    if (bytes > 0) mine += (size_t)(begin - own) * row;
    if (rank > 0) {
        if (bytes > 0) exchange(world, tag, 0, way, mine, bytes);
        return;
    }
    if (bytes > 0) memcpy(way == OUT ? rows : mine, way == OUT ? mine : rows, bytes);
    for (int other = 1; other < nb6_world_size(world); other++) {
        begin = first;
        cut_range(world, n, other, count, &begin, &end);
        if (begin < end)
            exchange(world, tag, other, way, rows + (size_t)(begin - first) * row, (size_t)(end - begin) * row);
    }
}

void nb6_rank_rows_out(struct nb6_world *world, int64_t n, size_t row, int64_t first, int64_t count, const void *mine,
                       void *rows)
{
    move_rows(world, n, row, first, count, OUT, (char *)mine, rows); /* read alone */
}

void nb6_rank_rows_in(struct nb6_world *world, int64_t n, size_t row, int64_t first, int64_t count, const void *rows,
                      void *mine)
{
    move_rows(world, n, row, first, count, IN, mine, (char *)rows); /* read alone */
}

/* ---- bodies that are anywhere */

/* Of ascending numbers those up to one. */
static int64_t count_up_to(int64_t n, const int64_t *number, int64_t last)
{
    int64_t low = 0, high = n;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (number[middle] <= last)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void place_rows(int64_t n, const int64_t *number, size_t row, int64_t first, const char *from, char *rows)
{
    for (int64_t k = 0; k < n; k++) memcpy(rows + (size_t)(number[k] - 1 - first) * row, from + (size_t)k * row, row);
}

/* Rows of as many bodies as the scratch has room for, with their numbers. */
static int64_t rows_at_once(size_t row)
{
    return (int64_t)(NB6_RANK_ROWS_SCRATCH / (sizeof(int64_t) + row));
}

static void send_found(struct nb6_world *world, int tag, int64_t n, const int64_t *number, size_t row, const char *from)
{
    const int64_t most = rows_at_once(row);
    exchange(world, tag, 0, OUT, (char *)&n, sizeof n);
    for (int64_t k = 0; k < n; k += most) {
        const int64_t some = n - k < most ? n - k : most;
        exchange(world, tag, 0, OUT, (char *)(number + k), (size_t)some * sizeof *number); /* read alone */
        exchange(world, tag, 0, OUT, (char *)from + (size_t)k * row, (size_t)some * row);
    }
}

static void take_found(struct nb6_world *world, int other, int tag, size_t row, int64_t first, char *rows,
                       void *scratch)
{
    const int64_t most = rows_at_once(row);
    int64_t n, *number = scratch;
    char *come = (char *)(number + most);
    exchange(world, tag, other, OUT, (char *)&n, sizeof n);
    for (int64_t k = 0; k < n; k += most) {
        const int64_t some = n - k < most ? n - k : most;
        exchange(world, tag, other, OUT, (char *)number, (size_t)some * sizeof *number);
        exchange(world, tag, other, OUT, come, (size_t)some * row);
        place_rows(some, number, row, first, come, rows);
    }
}

void nb6_rank_rows_find(struct nb6_world *world, int64_t own, const int64_t *number, size_t row, int64_t first,
                        int64_t count, const void *mine, void *rows, void *scratch)
{
    const int tag = nb6_world_tag(world);
    const int64_t begin = count_up_to(own, number, first), n = count_up_to(own, number, first + count) - begin;
    const char *from = n > 0 ? (const char *)mine + (size_t)begin * row : NULL;
    if (nb6_world_rank(world) > 0) {
        send_found(world, tag, n, number + begin, row, from);
        return;
    }
    place_rows(n, number + begin, row, first, from, rows);
    for (int other = 1; other < nb6_world_size(world); other++)
        take_found(world, other, tag, row, first, rows, scratch);
}

/* ---- bodies in memory of rank 0 */

static void give_numbers(int64_t n, const struct nb6_body_sink *sink)
{
    enum { AT_ONCE = 1024 };
    int64_t name[AT_ONCE];
    for (int64_t first = 0; first < n; first += AT_ONCE) {
        const int64_t count = n - first < AT_ONCE ? n - first : AT_ONCE;
        for (int64_t k = 0; k < count; k++) name[k] = first + k + 1;
        sink->put(sink->context, NB6_ROWS_NAME, first, count, name);
    }
}

int nb6_rank_give_arrays(void *context, const struct nb6_body_sink *sink, struct nbc_error *err)
{
    (void)err;
    const struct nb6_rank_arrays *arrays = context;
    if (!arrays->column[NB6_ROWS_NAME]) give_numbers(arrays->n, sink);
    for (int c = 0; c <= NB6_ROWS_LEVEL; c++)
        if (arrays->column[c]) sink->put(sink->context, (enum nb6_body_column)c, 0, arrays->n, arrays->column[c]);
    return NBC_OK;
}
