/** Bytes that a program has allocated, now and at most: this program's own functions stand in for those of glibc, and
 *  count what was asked for in blocks of COUNTED_BYTES and more. Include in one file of a program. */
#ifndef COUNTED_ALLOC_H
#define COUNTED_ALLOC_H

#include "tests/support/test_size.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNTED_BYTES = 1 << 16, COUNTED_BLOCKS = 4096 };

static _Thread_local int counted_apart;

/** @param is_apart  1: what this thread allocates from now on is not counted */
static inline void count_apart(int is_apart)
{
    counted_apart = is_apart;
}

#if defined(__GLIBC__) && !TEST_SANITIZED
#include <malloc.h>
enum { CAN_COUNT_ALLOC = 1 };

/* The names that glibc has for its own. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *memory);

static struct {
    const void *memory;
    size_t bytes;
} counted_block[COUNTED_BLOCKS]; /* memory NULL: a free place */
static int counted_places;       /* up to the last one that was ever used */
static size_t counted_now, counted_most;
static char counted_lock;

static void counted_enter(void)
{
    while (__atomic_test_and_set(&counted_lock, __ATOMIC_ACQUIRE)) continue;
}

static void counted_leave(void)
{
    __atomic_clear(&counted_lock, __ATOMIC_RELEASE);
}

static void *counted_add(void *memory, size_t bytes)
{
    int k = 0;
    if (!memory || bytes < COUNTED_BYTES || counted_apart) return memory;
    counted_enter();
    while (k < counted_places && counted_block[k].memory) k++;
    if (k == COUNTED_BLOCKS) abort();
    if (k == counted_places) counted_places++;
    counted_block[k].memory = memory;
    counted_block[k].bytes = bytes;
    counted_now += bytes;
    if (counted_now > counted_most) counted_most = counted_now;
    counted_leave();
    return memory;
}

static void counted_remove(const void *memory)
{
    if (!memory) return;
    counted_enter();
    for (int k = 0; k < counted_places; k++)
        if (counted_block[k].memory == memory) {
            counted_now -= counted_block[k].bytes;
            counted_block[k].memory = NULL;
            break;
        }
    counted_leave();
}

void *malloc(size_t size)
{
    return counted_add(__libc_malloc(size), size);
}

void *calloc(size_t n, size_t size)
{
    return counted_add(__libc_calloc(n, size), n * size);
}

void *realloc(void *old, size_t size)
{
    counted_remove(old);
    return counted_add(__libc_realloc(old, size), size); /* of one that fails, the old block is no longer counted */
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return counted_add(__libc_memalign(alignment, size), size);
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
    *memory = counted_add(__libc_memalign(alignment, size), size);
    return *memory ? 0 : ENOMEM;
}

void free(void *memory)
{
    counted_remove(memory);
    __libc_free(memory);
}
#else
enum { CAN_COUNT_ALLOC = 0 };
static size_t counted_now, counted_most;
#endif

/** Whether bytes are counted; if not, says so for the list of what was skipped. */
static inline int can_count_alloc(void)
{
    if (!CAN_COUNT_ALLOC) printf("skipped: bytes that are allocated: the sanitizers have their own allocator\n");
    return CAN_COUNT_ALLOC;
}

/** Bytes that are allocated now. */
static inline size_t counted_bytes(void)
{
    return counted_now;
}

/** The most since the last call of counted_begin. */
static inline size_t counted_peak(void)
{
    return counted_most;
}

static inline void counted_begin(void)
{
    counted_most = counted_now;
}

#endif
