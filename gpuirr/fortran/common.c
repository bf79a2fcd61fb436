#include "gpuirr/fortran/common.h"
#include "gpuirr/backend.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ON_STACK = 1024,  /* neighbours that a list may have before its copy needs memory */
    MORE_PAIRS = 1000 /* pairs that a program may form beyond its announcement, and a quarter of its bodies */
};

_Static_assert(sizeof(struct nbc_error) == sizeof(int) + 4096, "gpuirr.f90 has a type of the same size");

static struct {
    gpuirr_t *handle;
    int n_max, l_max;
    int highest;  /* number of a body that was stored */
    int32_t *act; /* [n_max] */
    /* Entries of lists that were left out: the body itself, or one that had come before. Counted by several threads. */
    long themselves, repeated;
} library;

/* Several threads may fail at once: the first one reports. Messages of the library begin with the name of a call. */
static _Noreturn void stop(int status, const char *call, const char *text)
{
    const char *words = strncmp(text, "gpuirr", strlen("gpuirr")) == 0 ? strstr(text, ": ") : NULL;
#pragma omp critical(gpuirr_fortran_stop)
    {
        fflush(stdout);
        fprintf(stderr, "%s: %s\n", call, words ? words + 2 : text);
        exit(nbc_status_exit_code(status));
    }
    __builtin_unreachable();
}

_Noreturn void gpuirr_fortran_stop(const char *call, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    stop(NBC_BAD_ARGUMENT, call, text);
}

gpuirr_t *gpuirr_fortran_handle(const char *call)
{
    if (!library.handle) gpuirr_fortran_stop(call, "the library is not open: it must be opened first");
    return library.handle;
}

void gpuirr_fortran_check(const char *call, int status)
{
    if (status) stop(status, call, gpuirr_last_error(library.handle));
}

int gpuirr_fortran_is_open(void)
{
    return library.handle != NULL;
}

int gpuirr_fortran_n_max(void)
{
    return library.n_max;
}

int gpuirr_fortran_highest(void)
{
    return library.highest;
}

static void reserve(const char *call, int n_max)
{
    if (n_max <= library.n_max) return;
    gpuirr_fortran_check(call, gpuirr_reserve(library.handle, (size_t)n_max));
    nbc_free(library.act);
    library.act = nbc_alloc((size_t)n_max, sizeof *library.act);
    if (!library.act) gpuirr_fortran_stop(call, "not enough memory for %d bodies", n_max);
    library.n_max = n_max;
}

void gpuirr_fortran_open(const char *call, const char *name, int rank, int n_max, int l_max)
{
    struct nbc_error err = {0};
    if (n_max < 1 || l_max < 1)
        gpuirr_fortran_stop(call, "NMAX = %d and LMAX = %d, both must be positive", n_max, l_max);
    if (!library.handle) {
        /* The library cannot be enlarged when bodies are set from several threads. */
        n_max = n_max < INT_MAX / 2 ? n_max + n_max / 4 + MORE_PAIRS : n_max;
        int status = gpuirr_create(&library.handle, (size_t)n_max, NULL, &err);
        if (status) stop(status, call, err.text);
        gpuirr_number_from(library.handle, 1);
        gpuirr_fortran_announce(name, rank, library.handle);
    }
    reserve(call, n_max);
    if (l_max > library.l_max) library.l_max = l_max;
}

/* The calls of the program return nothing, and it tolerates these faults: they are reported once. */
static void tell_what_was_left_out(void)
{
    struct gpuirr_stats stats;
    gpuirr_get_stats(library.handle, &stats);
    if (library.themselves || library.repeated)
        fprintf(stderr, "gpuirr: lists were mended: %ld times the body itself was left out, %ld times a second entry\n",
                library.themselves, library.repeated);
    if (stats.coincident_pairs)
        fprintf(stderr, "gpuirr: %llu times a neighbour was at the place of the body itself, and was left out\n",
                (unsigned long long)stats.coincident_pairs);
}

void gpuirr_fortran_close(void)
{
    if (!library.handle) return;
    tell_what_was_left_out();
    gpuirr_free(library.handle);
    nbc_free(library.act);
    memset(&library, 0, sizeof library);
}

/* 0-based index of a body. */
static size_t to_index(const char *call, int addr)
{
    if (addr < 1 || addr > library.n_max)
        gpuirr_fortran_stop(call, "there is no body %d, bodies are 1 to %d", addr, library.n_max);
    return (size_t)addr - 1;
}

static void note_stored(int addr)
{
    int highest = __atomic_load_n(&library.highest, __ATOMIC_RELAXED);
    while (addr > highest &&
           !__atomic_compare_exchange_n(&library.highest, &highest, addr, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
}

void gpuirr_fortran_set_jp(const char *call, int addr, const double x[3], const double v[3], const double acc_over_2[3],
                           const double jerk_over_6[3], double mass, double t0)
{
    gpuirr_t *handle = gpuirr_fortran_handle(call);
    double acc[3], jerk[3];
    for (int d = 0; d < 3; d++) {
        acc[d] = 2 * acc_over_2[d];
        jerk[d] = 6 * jerk_over_6[d];
    }
    gpuirr_fortran_check(call, gpuirr_set_jp(handle, to_index(call, addr), x, v, acc, jerk, mass, t0));
    note_stored(addr);
}

static void count(long *entries)
{
    __atomic_fetch_add(entries, 1, __ATOMIC_RELAXED);
}

/* The C library requires ascending lists of other bodies, which nearly all legacy ones are. Checks every entry, in
 * vectors.   @return 0: the list is not such a one */
static int copy_sound(int addr, size_t nnb, const int *numbers, int32_t *indices)
{
    if (nnb == 0) return 1;
    if (numbers[0] < 1 || numbers[nnb - 1] > library.n_max) return 0;
    int bad = numbers[0] == addr;
    indices[0] = numbers[0] - 1;
    for (size_t k = 1; k < nnb; k++) {
        bad |= (numbers[k] <= numbers[k - 1]) | (numbers[k] == addr);
        indices[k] = (int32_t)((uint32_t)numbers[k] - 1u);
    }
    return !bad;
}

/* Correct and count errors that allow it. Lists that are not ascending nearly are: insertion is the quickest then.
 * @return entries left */
static size_t copy_mended(const char *call, int addr, size_t nnb, const int *numbers, int32_t *indices)
{
    size_t n = 0;
    for (size_t k = 0; k < nnb; k++) {
        if (numbers[k] < 1 || numbers[k] > library.n_max)
            gpuirr_fortran_stop(call, "body %d: neighbour %d is no body of 1 to %d", addr, numbers[k], library.n_max);
        const int32_t j = numbers[k] - 1;
        size_t place = n;
        while (place > 0 && indices[place - 1] > j) place--;
        if (numbers[k] == addr) {
            count(&library.themselves);
        } else if (place > 0 && indices[place - 1] == j) {
            count(&library.repeated);
        } else {
            memmove(&indices[place + 1], &indices[place], (n - place) * sizeof *indices);
            indices[place] = j;
            n++;
        }
    }
    return n;
}

void gpuirr_fortran_set_list(const char *call, int addr, const int *nblist)
{
    gpuirr_t *handle = gpuirr_fortran_handle(call);
    size_t i = to_index(call, addr);
    if (nblist[0] < 0 || nblist[0] >= library.l_max)
        gpuirr_fortran_stop(call, "body %d has %d neighbours, LIST has room for 0 to %d", addr, nblist[0],
                            library.l_max - 1);
    int32_t on_stack[ON_STACK], *indices = on_stack;
    size_t nnb = (size_t)nblist[0];
    if (nnb > ON_STACK) indices = nbc_alloc(nnb, sizeof *indices);
    if (!indices) gpuirr_fortran_stop(call, "no memory for the %d neighbours of body %d", nblist[0], addr);
    if (!copy_sound(addr, nnb, nblist + 1, indices)) nnb = copy_mended(call, addr, nnb, nblist + 1, indices);
    gpuirr_fortran_check(call, gpuirr_set_list(handle, i, nnb, indices));
    if (indices != on_stack) nbc_free(indices);
}

void gpuirr_fortran_get_list(const char *call, int addr, int *nblist)
{
    size_t nnb;
    const int32_t *nb = gpuirr_get_list(gpuirr_fortran_handle(call), to_index(call, addr), &nnb);
    nblist[0] = (int)nnb;
    for (size_t k = 0; k < nnb; k++) nblist[k + 1] = nb[k] + 1;
}

const int32_t *gpuirr_fortran_active(const char *call, int n_act, const int *addr)
{
    gpuirr_fortran_handle(call);
    if (n_act < 0 || n_act > library.n_max)
        gpuirr_fortran_stop(call, "%d active bodies, there may be 0 to %d", n_act, library.n_max);
    for (int k = 0; k < n_act; k++) library.act[k] = (int32_t)to_index(call, addr[k]);
    return library.act;
}
