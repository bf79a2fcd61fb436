#include "nbody6/analysis/columns.h"

#include "nbody6/analysis/adjust_row.h"

#include <stddef.h>
#include <string.h>

static const char L[] = "length", V[] = "velocity", T[] = "time", M[] = "mass", E[] = "mass velocity^2", ONE[] = "1",
                  J[] = "mass length velocity", S[] = "s", NS[] = "ns";

/* Functions, and the places of their values in a row. */
#define MEMBER(kind, name, member, unit, meaning)
#define BY_TREE(name, member, unit, meaning)
#define BY_KEPT_TREE(kind, name, member, unit, meaning)
#define COMPUTED(name, function, unit, meaning) extern nb6_quantity function;
#include "nbody6/analysis/columns.def"
#undef COMPUTED
enum {
#define COMPUTED(name, function, unit, meaning) PLACE_OF_##function,
#include "nbody6/analysis/columns.def"
#undef COMPUTED
    COMPUTED_COLUMNS
};
#undef MEMBER
#undef BY_TREE
#undef BY_KEPT_TREE

_Static_assert((int)COMPUTED_COLUMNS <= (int)NB6_COMPUTED_MAX,
               "more computed columns than a row has room for: raise the room");

#define SIZE_OF(member) sizeof((struct nb6_adjust_row *)NULL)->member
#define MEMBER(kind, name, member, unit, meaning)                                                                      \
    {name, unit,           meaning, NB6_COLUMN_##kind, offsetof(struct nb6_adjust_row, member), SIZE_OF(member) / 8,   \
     NULL, NB6_COLUMNS_ALL},
#define BY_TREE(name, member, unit, meaning)                                                                           \
    {name, unit, meaning, NB6_COLUMN_REAL, offsetof(struct nb6_adjust_row, member), 1, NULL, NB6_COLUMNS_TREE},
#define BY_KEPT_TREE(kind, name, member, unit, meaning)                                                                \
    {name, unit, meaning, NB6_COLUMN_##kind, offsetof(struct nb6_adjust_row, member), 1, NULL, NB6_COLUMNS_KEPT_TREE},
#define COMPUTED(name, function, unit, meaning)                                                                        \
    {name,                                                                                                             \
     unit,                                                                                                             \
     meaning,                                                                                                          \
     NB6_COLUMN_REAL,                                                                                                  \
     offsetof(struct nb6_adjust_row, computed) + PLACE_OF_##function * sizeof(double),                                 \
     1,                                                                                                                \
     function,                                                                                                         \
     NB6_COLUMNS_ALL},

static const struct nb6_column columns[] = {
#include "nbody6/analysis/columns.def"
};

const struct nb6_column *nb6_column(int k)
{
    return k >= 0 && k < (int)(sizeof columns / sizeof columns[0]) ? &columns[k] : NULL;
}

void nb6_columns_compute(const struct nb6_run_record *run, const struct nb6_frame *frame, struct nb6_adjust_row *row)
{
    for (size_t k = 0; k < sizeof columns / sizeof columns[0]; k++) {
        if (!columns[k].of) continue;
        const double value = columns[k].of(run, frame, row);
        memcpy((char *)row + columns[k].offset, &value, sizeof value);
    }
}
