/** Allocations of nbc_alloc that fail on demand, the k-th of them: this program's own aligned_alloc and posix_memalign
 *  stand in for those of glibc. Include in one file of a program. */
#ifndef FAILING_ALLOC_H
#define FAILING_ALLOC_H

#include "tests/support/test_size.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#if defined(__GLIBC__) && !TEST_SANITIZED
#include <malloc.h>
enum { CAN_FAIL_ALLOC = 1 };
static _Atomic long alloc_left = -1; /* allocations until one fails, of any thread; < 0: none does */

static inline int alloc_fails(void)
{
    return alloc_left >= 0 && alloc_left-- == 0;
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return alloc_fails() ? NULL : memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
    *memory = alloc_fails() ? NULL : memalign(alignment, size);
    return *memory ? 0 : ENOMEM;
}
#else
enum { CAN_FAIL_ALLOC = 0 };
static _Atomic long alloc_left = -1;
#endif

/** Whether they can fail; if not, says so for the list of what was skipped. */
static inline int can_fail_alloc(void)
{
    if (!CAN_FAIL_ALLOC) printf("skipped: allocations that fail: the sanitizers have their own allocator\n");
    return CAN_FAIL_ALLOC;
}

/** Let the k-th allocation from now on fail, 0: the next one; -1: none. */
static inline void fail_alloc(long k)
{
    alloc_left = k;
}

#endif
