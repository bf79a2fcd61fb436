/* Loaded before a program (LD_PRELOAD): from its main on, allocation number FAIL_AT of its own code fails, from 0;
 * allocations of libraries other than libc are neither counted nor refused. FAIL_COUNT: a file that gets the number of
 * all. */
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The names that glibc has for its own. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

enum { FRAMES = 12 };
static int (*program_main)(int, char **, char **);
static const void *program, *libc, *self;
static long fail_at = -1, counted;
static int is_on;
static __thread int is_inside;

static const void *object_of(const void *address)
{
    Dl_info about;
    return dladdr(address, &about) ? about.dli_fbase : NULL;
}

/* The caller, without libc between the two, as in fopen. */
static int is_programs_own(const void *caller)
{
    void *frame[FRAMES];
    const void *object = object_of(caller);
    if (object != libc) return object == program;
    const int n = backtrace(frame, FRAMES);
    for (int k = 0; k < n; k++) {
        object = object_of(frame[k]);
        if (object != self && object != libc) return object == program;
    }
    return 0;
}

static int fails(const void *caller)
{
    if (!__atomic_load_n(&is_on, __ATOMIC_ACQUIRE) || is_inside) return 0;
    is_inside = 1;
    const int is_it = is_programs_own(caller) && __atomic_fetch_add(&counted, 1, __ATOMIC_RELAXED) == fail_at;
    is_inside = 0;
    if (is_it) errno = ENOMEM;
    return is_it;
}

void *malloc(size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *old, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(old, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
    if (fails(__builtin_return_address(0))) return ENOMEM;
    *memory = __libc_memalign(alignment, size);
    return *memory ? 0 : ENOMEM;
}

static int begin(int argc, char **argv, char **environment)
{
    void *frame[2];
    const char *wanted = getenv("FAIL_AT");
    backtrace(frame, 2); /* loads what it needs */
    program = object_of((const void *)program_main);
    libc = object_of((const void *)strlen);
    self = object_of((const void *)fails);
    if (wanted) fail_at = atol(wanted);
    __atomic_store_n(&is_on, 1, __ATOMIC_RELEASE);
    return program_main(argc, argv, environment);
}

int __libc_start_main(int (*start)(int, char **, char **), int argc, char **argv, void (*init)(void),
                      void (*fini)(void), void (*rtld_fini)(void), void *stack_end)
{
    int (*next)(int (*)(int, char **, char **), int, char **, void (*)(void), void (*)(void), void (*)(void), void *);
    *(void **)&next = dlsym(RTLD_NEXT, "__libc_start_main");
    program_main = start;
    return next(begin, argc, argv, init, fini, rtld_fini, stack_end);
}

__attribute__((destructor)) static void end(void)
{
    const char *path = getenv("FAIL_COUNT");
    __atomic_store_n(&is_on, 0, __ATOMIC_RELEASE);
    FILE *file = path ? fopen(path, "w") : NULL;
    if (!file) return;
    fprintf(file, "%ld\n", counted);
    fclose(file);
}
