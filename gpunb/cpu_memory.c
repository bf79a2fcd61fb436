/* SIMD backends: memory that grows. */
#include "gpunb/cpu.h"

enum { SERIAL_CELLS = 512 }; /* less memory than this is touched by one thread */

void *gpunb_cpu_provide(struct gpunb_cpu_scratch *scratch, size_t count, size_t size)
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

void *gpunb_cpu_cells(void *old, size_t n_old, size_t n, size_t size)
{
    char *cells = nbc_alloc_unset(n, size);
    if (!cells) return NULL;
#pragma omp parallel for schedule(static) if (n > SERIAL_CELLS)
    for (size_t c = 0; c < n; c++) {
        if (c < n_old)
            memcpy(cells + c * size, (const char *)old + c * size, size);
        else
            memset(cells + c * size, 0, size);
    }
    nbc_free(old);
    return cells;
}
