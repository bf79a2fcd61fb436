#include "nbody6/collisionless/ranks/rows.h"

#include "nbody6/collisionless/collisionless.h"
#include "nbody6/world/world.h"

#include <string.h>

size_t nb6_rank_row_bytes(enum nb6_body_column column)
{
    static const size_t bytes[] = {
        [NB6_ROWS_NAME] = sizeof(int64_t), [NB6_ROWS_MASS] = sizeof(double),    [NB6_ROWS_X] = 3 * sizeof(double),
        [NB6_ROWS_V] = 3 * sizeof(double), [NB6_ROWS_ACC] = 3 * sizeof(double), [NB6_ROWS_LEVEL] = sizeof(int8_t),
        [NB6_ROWS_POT] = sizeof(double),   [NB6_ROWS_STEP] = sizeof(double)};
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
        return NULL;
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

static char *row_of(const void *array, int64_t k, size_t row)
{
    return (char *)array + (size_t)k * row;
}

void nb6_rank_rows_out(struct nb6_world *world, int64_t n, size_t row, int64_t first, int64_t count, const void *mine,
                       void *rows)
{
    const int rank = nb6_world_rank(world), tag = nb6_world_tag(world);
    int64_t own, own_end, begin = first, end;
    struct nb6_message message;
    nb6_world_share(world, n, rank, &own, &own_end);
    cut_range(world, n, rank, count, &begin, &end);
    if (rank > 0) {
        if (begin >= end) return;
        nb6_world_send(world, &message, 0, tag, row_of(mine, begin - own, row), (size_t)(end - begin) * row);
        nb6_message_wait(world, &message);
        return;
    }
    if (begin < end) memcpy(rows, row_of(mine, begin, row), (size_t)(end - begin) * row);
    for (int other = 1; other < nb6_world_size(world); other++) {
        begin = first;
        cut_range(world, n, other, count, &begin, &end);
        if (begin >= end) continue;
        nb6_world_receive(world, &message, other, tag, row_of(rows, begin - first, row), (size_t)(end - begin) * row);
        nb6_message_wait(world, &message);
    }
}

void nb6_rank_rows_in(struct nb6_world *world, int64_t n, size_t row, int64_t first, int64_t count, const void *rows,
                      void *mine)
{
    const int rank = nb6_world_rank(world), tag = nb6_world_tag(world);
    int64_t own, own_end, begin = first, end;
    struct nb6_message message;
    nb6_world_share(world, n, rank, &own, &own_end);
    cut_range(world, n, rank, count, &begin, &end);
    if (rank > 0) {
        if (begin >= end) return;
        nb6_world_receive(world, &message, 0, tag, row_of(mine, begin - own, row), (size_t)(end - begin) * row);
        nb6_message_wait(world, &message);
        return;
    }
    if (begin < end) memcpy(row_of(mine, begin, row), rows, (size_t)(end - begin) * row);
    for (int other = 1; other < nb6_world_size(world); other++) {
        begin = first;
        cut_range(world, n, other, count, &begin, &end);
        if (begin >= end) continue;
        nb6_world_send(world, &message, other, tag, row_of(rows, begin - first, row), (size_t)(end - begin) * row);
        nb6_message_wait(world, &message);
    }
}

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
