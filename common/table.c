#include "common/nbc.h"

#include <string.h>

enum { FEWEST = 16 }; /* entries, so that small tables do not move with each new one */

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

int nbc_grow(void *table, int64_t *room, int64_t n, size_t size)
{
    if (n <= *room) return 1;
    const int64_t wanted = larger(larger(n, 2 * *room), FEWEST);
    void *old, *grown;
    memcpy(&old, table, sizeof old);
    if (!(grown = nbc_realloc(old, (size_t)*room, (size_t)wanted, size))) return 0;
    memcpy(table, &grown, sizeof grown);
    *room = wanted;
    return 1;
}
