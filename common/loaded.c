/* When the loader has loaded a shared library with legacy calls: a line on stderr if the program will not reach them,
 * because an object of an old library, or another library, defines the same names and comes first. Programs that are
 * linked with the archives do not have this file (docs/abi.md, Does it work?).
 * The Makefile compiles it once for each of these libraries: NBC_LIBRARY is the name of the library, and the file
 * NBC_SYMBOLS lists the legacy calls of its map. */
#include "common/line.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static const char *const calls[] = {
#include NBC_SYMBOLS
};

/* A clock of the program's own does no harm, and its name is not ours alone. */
static int is_clock(const char *call)
{
    return !strcmp(call, "wtime_") || !strcmp(call, "dbltim_");
}

/* The file whose function a call will reach, NULL if it is this library. A library that a program opens while it runs
 * need not be where the program's calls are looked up: what is not found there is not called. */
static const char *stranger(const char *call, const void *own_base)
{
    Dl_info info;
    const void *found = dlsym(RTLD_DEFAULT, call);
    if (!found || !dladdr(found, &info) || info.dli_fbase == own_base) return NULL;
    return info.dli_fname;
}

__attribute__((constructor)) static void check_calls(void)
{
    struct nbc_line line = {.used = 0};
    Dl_info own;
    if (nbc_is_quiet() || !dladdr(calls, &own)) return;
    for (size_t k = 0; k < sizeof calls / sizeof calls[0]; k++) {
        const char *file = is_clock(calls[k]) ? NULL : stranger(calls[k], own.dli_fbase);
        if (!file) continue;
        if (!line.used) nbc_line_add(&line, NBC_LIBRARY ": calls do not reach it, because %s defines them:", file);
        nbc_line_add(&line, " %s", calls[k]);
    }
    if (line.used) fprintf(stderr, "%s (old objects? docs/abi.md)\n", line.text);
}
