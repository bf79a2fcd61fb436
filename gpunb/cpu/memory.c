/* SIMD backends: memory that grows. */
#include "common/team.h"
#include "gpunb/cpu/cpu.h"

enum { CELLS_OF_A_PART = 256 }; /* that are worth a thread */

void *gpunb_cpu_grow(struct gpunb_cpu_scratch *scratch, size_t count, size_t size)
{
    if (count > SIZE_MAX / 2 / size) return NULL;
    if (count * size <= scratch->bytes) return scratch->data;
    const size_t room = count + count / 2;
    nbc_free(scratch->data);
    scratch->bytes = 0;
    scratch->data = nbc_alloc_unset(room, size);
    if (scratch->data) scratch->bytes = room * size;
    return scratch->data;
}

struct growth {
    const char *old;
    char *cells;
    size_t n_old, n, size;
};

static void copy_or_clear(void *context, int part, int parts)
{
    const struct growth *g = context;
    int64_t first, end;
    nbc_range((int64_t)g->n, part, parts, &first, &end);
    for (size_t c = (size_t)first; c < (size_t)end; c++) {
        if (c < g->n_old)
            memcpy(g->cells + c * g->size, g->old + c * g->size, g->size);
        else
            memset(g->cells + c * g->size, 0, g->size);
    }
}

void *gpunb_cpu_cells(void *old, size_t n_old, size_t n, size_t size)
{
    struct growth growth = {.old = old, .cells = nbc_alloc_unset(n, size), .n_old = n_old, .n = n, .size = size};
    if (!growth.cells) return NULL;
    nbc_team_run(nbc_parts((int64_t)n, CELLS_OF_A_PART), copy_or_clear, &growth);
    nbc_free(old);
    return growth.cells;
}
