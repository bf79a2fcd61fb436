/** Failing allocations on demand: a limit on the address space of this program, for the time of a test. */
#ifndef MEMORY_LIMIT_H
#define MEMORY_LIMIT_H

#include "tests/support/test_size.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

/** Let the program have `more` bytes besides what it has.   @return 0; -1: cannot be done here */
static inline int limit_memory(size_t more)
{
    struct rlimit limit;
    size_t pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file) return -1;
    int found = fscanf(file, "%zu", &pages);
    fclose(file);
    if (found != 1 || getrlimit(RLIMIT_AS, &limit)) return -1;
    limit.rlim_cur = pages * (size_t)sysconf(_SC_PAGESIZE) + more;
    return setrlimit(RLIMIT_AS, &limit);
}

static inline void unlimit_memory(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit)) return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_AS, &limit);
}

/** Whether a limit is kept here. A sanitizer ends the program instead, and needs more address space than there is.
 *  From now on what is freed of a megabyte or more goes back to the system: no later block finds it there. */
static inline int can_limit_memory(void)
{
#if TEST_SANITIZED
    printf("skipped: too little memory: a sanitizer ends the program then\n");
    return 0;
#else
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif
    const size_t large = (size_t)64 << 20;
    int status = limit_memory(large / 2);
    void *volatile block = status ? NULL : malloc(large); /* volatile: the compiler would leave both calls out */
    int kept = !status && !block;
    unlimit_memory();
    free(block);
    if (!kept) printf("skipped: too little memory: a limit on the address space is not kept here\n");
    return kept;
#endif
}

#endif
