#include "common/nbc.h"
#include "common/team.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ALIGNMENT = 64, HUGE_PAGE = 2 << 20, FEW_PAGES = 4 };

/* Large blocks are accessed at random: with pages of 4 KiB each access would also need a page walk. */
static void *large_block(size_t bytes)
{
    void *memory;
    bytes = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE; /* whole pages, or there are no huge ones */
    if (posix_memalign(&memory, HUGE_PAGE, bytes)) return NULL;
#ifdef MADV_HUGEPAGE
    madvise(memory, bytes, MADV_HUGEPAGE); /* a hint; failure is harmless */
#endif
    return memory;
}

struct block {
    char *memory;
    int64_t pages;
};

static void clear_pages(void *context, int part, int parts)
{
    const struct block *block = context;
    int64_t first, end;
    nbc_range(block->pages, part, parts, &first, &end);
    memset(block->memory + first * HUGE_PAGE, 0, (size_t)(end - first) * HUGE_PAGE);
}

/* A page belongs to the processor whose thread writes to it first: threads divide a block as they divide loops over
 * it, in equal parts. The team works with fewer threads if there is no memory for more; libgomp would end the
 * program. */
static void clear(char *memory, size_t bytes)
{
    struct block block = {.memory = memory, .pages = (int64_t)(bytes / HUGE_PAGE)};
    const size_t whole = (size_t)block.pages * HUGE_PAGE;
    nbc_team_run(nbc_parts(block.pages, FEW_PAGES / 2), clear_pages, &block);
    memset(memory + whole, 0, bytes - whole);
}

static void *block(size_t count, size_t size, size_t *bytes)
{
    if (__builtin_mul_overflow(count, size, bytes) || *bytes > SIZE_MAX - HUGE_PAGE) return NULL;
    *bytes = (*bytes + ALIGNMENT) / ALIGNMENT * ALIGNMENT;
    return *bytes < HUGE_PAGE / 2 ? aligned_alloc(ALIGNMENT, *bytes) : large_block(*bytes);
}

void *nbc_alloc(size_t count, size_t size)
{
    size_t bytes;
    void *memory = block(count, size, &bytes);
    if (memory) clear(memory, bytes);
    return memory;
}

void *nbc_alloc_unset(size_t count, size_t size)
{
    size_t bytes;
    return block(count, size, &bytes);
}

void *nbc_realloc(void *old, size_t old_count, size_t new_count, size_t size)
{
    void *memory = nbc_alloc(new_count, size);
    if (!memory) return NULL;
    if (old) memcpy(memory, old, (old_count < new_count ? old_count : new_count) * size);
    nbc_free(old);
    return memory;
}

void nbc_free(void *memory)
{
    free(memory);
}

/* Not by malloc, whose thresholds would adapt to the size. */
int nbc_has_memory(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return 0;
    munmap(memory, bytes);
    return 1;
}

uint64_t nbc_memory_bytes(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGE_SIZE);
    return pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : 0;
}
