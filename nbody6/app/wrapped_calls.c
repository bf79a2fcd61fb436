#include "nbody6/app/wrapped_calls.h"

#include "common/team.h"
#include "nbody6/state/profile.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* Threads of this program count into the same numbers; nothing else depends on them. */
static struct {
    atomic_uint_fast64_t allocations, bytes_cleared, mallocs, bytes_malloc, regions;
} counts;

static void count(atomic_uint_fast64_t *calls, atomic_uint_fast64_t *bytes, size_t size)
{
    atomic_fetch_add_explicit(calls, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(bytes, size, memory_order_relaxed);
}

/* The names are the linker's: it turns calls of X into __wrap_X, and __real_X into X. */
void *__real_nbc_alloc(size_t count, size_t size);
void *__real_nbc_realloc(void *old, size_t old_count, size_t new_count, size_t size);
void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_nbc_alloc(size_t count, size_t size);
void *__wrap_nbc_realloc(void *old, size_t old_count, size_t new_count, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *old, size_t size);

void *__wrap_nbc_alloc(size_t n, size_t size)
{
    count(&counts.allocations, &counts.bytes_cleared, n * size);
    return __real_nbc_alloc(n, size);
}

void *__wrap_nbc_realloc(void *old, size_t old_count, size_t new_count, size_t size)
{
    count(&counts.allocations, &counts.bytes_cleared, new_count * size);
    return __real_nbc_realloc(old, old_count, new_count, size);
}

void *__wrap_malloc(size_t size)
{
    count(&counts.mallocs, &counts.bytes_malloc, size);
    return __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
    count(&counts.mallocs, &counts.bytes_malloc, n * size);
    return __real_calloc(n, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    count(&counts.mallocs, &counts.bytes_malloc, size);
    return __real_realloc(old, size);
}

void __real_nbc_team_run(int parts, nbc_part *work, void *context);
void __wrap_nbc_team_run(int parts, nbc_part *work, void *context);
void __wrap_nbc_team_run(int parts, nbc_part *work, void *context)
{
    if (parts > 1) atomic_fetch_add_explicit(&counts.regions, 1, memory_order_relaxed);
    __real_nbc_team_run(parts, work, context);
}

#ifndef __clang__
void __real_GOMP_parallel(void (*body)(void *), void *data, unsigned threads, unsigned flags);
void __wrap_GOMP_parallel(void (*body)(void *), void *data, unsigned threads, unsigned flags);

/* threads: 0 as many as there are, 1 if the `if` of the region is false */
void __wrap_GOMP_parallel(void (*body)(void *), void *data, unsigned threads, unsigned flags)
{
    if (threads != 1) atomic_fetch_add_explicit(&counts.regions, 1, memory_order_relaxed);
    __real_GOMP_parallel(body, data, threads, flags);
}
enum { SEES_REGIONS = 1 };
#else
enum { SEES_REGIONS = 0 };
#endif

static void read_counts(struct nb6_calls *calls)
{
    *calls = (struct nb6_calls){.allocations = atomic_load(&counts.allocations),
                                .bytes_cleared = atomic_load(&counts.bytes_cleared),
                                .mallocs = atomic_load(&counts.mallocs),
                                .bytes_malloc = atomic_load(&counts.bytes_malloc),
                                .regions = atomic_load(&counts.regions)};
}

const struct nb6_call_counter nb6_wrapped_calls = {.read = read_counts, .sees_regions = SEES_REGIONS};
