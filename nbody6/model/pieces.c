#include "nbody6/model/pieces.h"

#include "nbody6/model/model.h"

#include <string.h>

enum { COLUMNS = 4 };

static const size_t ROW_BYTES[COLUMNS] = {sizeof(int64_t), sizeof(double), 3 * sizeof(double), 3 * sizeof(double)};

static void *column_of(const struct nb6_model *m, enum nb6_model_column column)
{
    void *const columns[COLUMNS] = {m->name, m->mass, m->x, m->v};
    return columns[column];
}

struct nb6_piece nb6_pieces(const struct nb6_model *model, int gets, int puts)
{
    return (struct nb6_piece){.model = model,
                              .gets = gets,
                              .puts = puts,
                              .name = model->name,
                              .mass = model->mass,
                              .x = model->x,
                              .v = model->v};
}

static void keep(const struct nb6_piece *p)
{
    const struct nb6_model *m = p->model;
    for (int c = 0; m->store && p->count > 0 && c < COLUMNS; c++)
        if (p->puts >> c & 1)
            nb6_model_put(m, (enum nb6_model_column)c, p->first, p->count, column_of(m, (enum nb6_model_column)c));
}

int nb6_piece_next(struct nb6_piece *p)
{
    const struct nb6_model *m = p->model;
    keep(p);
    p->first += p->count;
    p->count = m->n - p->first;
    if (m->store && p->count > m->store->piece) p->count = m->store->piece;
    for (int c = 0; m->store && p->count > 0 && c < COLUMNS; c++)
        if (p->gets >> c & 1)
            m->store->get(m->store->context, (enum nb6_model_column)c, m->first + p->first, p->count,
                          column_of(m, (enum nb6_model_column)c));
    return p->count > 0;
}

void nb6_model_put(const struct nb6_model *m, enum nb6_model_column column, int64_t first, int64_t count,
                   const void *rows)
{
    const size_t row = ROW_BYTES[column];
    if (m->store)
        m->store->put(m->store->context, column, m->first + first, count, rows);
    else
        memcpy((char *)column_of(m, column) + (size_t)first * row, rows, (size_t)count * row);
}
