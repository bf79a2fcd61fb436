#include "gpunb/fortran/common.h"

#include "gpunb/backend.h"

#include <stdio.h>

_Static_assert(sizeof(struct nbc_error) == sizeof(int) + 4096, "gpunb.f90 has a type of the same size");

static gpunb_t *library;  /* between open and close */
static size_t capacity;   /* sources it was opened for */
static gpunb_t *pot_only; /* used by gpupot while the library is not open */
static int32_t *counts;   /* [n_counts] neighbours found for each target of a block */
static size_t n_counts;
static long mended; /* entries of lists that were left out */

static void stop_unless_ok(const char *call, int status, const gpunb_t *handle)
{
    if (status != NBC_OK) gpunb_fortran_stop(call, status, gpunb_last_error(handle));
}

static void need_count(const char *call, const char *name, int value, int least)
{
    char text[128];
    if (value >= least) return;
    snprintf(text, sizeof text, "%s = %d, but it must be at least %d", name, value, least);
    gpunb_fortran_stop(call, NBC_BAD_ARGUMENT, text);
}

static void grow(const char *call, size_t n_max)
{
    if (n_max <= capacity) return;
    stop_unless_ok(call, gpunb_reserve(library, n_max), library);
    capacity = n_max;
}

void gpunb_fortran_open(const char *name, int rank, int n_max)
{
    need_count("gpunb_open", "nbmax", n_max, 0);
    if (library) {
        grow("gpunb_open", (size_t)n_max);
        return;
    }
    gpunb_free(pot_only);
    pot_only = NULL;
    library = gpunb_fortran_create("gpunb_open", n_max);
    capacity = (size_t)n_max;
    gpunb_fortran_announce(name, rank, library);
}

void gpunb_fortran_count_mended(void)
{
    __atomic_fetch_add(&mended, 1, __ATOMIC_RELAXED);
}

void gpunb_fortran_close(void)
{
    if (mended)
        fprintf(stderr, "cnbint: %ld entries of lists that were the body itself, or named twice, were left out\n",
                mended);
    mended = 0;
    gpunb_free(library);
    gpunb_free(pot_only);
    nbc_free(counts);
    library = pot_only = NULL;
    counts = NULL;
    n_counts = 0;
}

static void need_open(const char *call)
{
    if (!library) gpunb_fortran_stop(call, NBC_BAD_STATE, "the library is not open: call gpunb_open first");
}

void gpunb_fortran_send(int n_j, const double *mass, const double (*x)[3], const double (*v)[3])
{
    need_open("gpunb_send");
    need_count("gpunb_send", "nj", n_j, 0);
    /* More pairs have formed than the program had foreseen, and more will follow. */
    if ((size_t)n_j > capacity) grow("gpunb_send", (size_t)n_j + (size_t)n_j / 8);
    stop_unless_ok("gpunb_send", gpunb_send(library, (size_t)n_j, mass, x, v), library);
}

static void need_counts(size_t n)
{
    if (n <= n_counts) return;
    nbc_free(counts);
    n_counts = 0;
    counts = nbc_alloc(n, sizeof *counts);
    if (!counts) gpunb_fortran_stop("gpunb_regf", NBC_NO_MEMORY, "no memory for the neighbour counts of a block");
    n_counts = n;
}

void gpunb_fortran_regf(const struct gpunb_fortran_regf *call)
{
    need_open("gpunb_regf");
    need_count("gpunb_regf", "ni", call->n_i, 0);
    need_count("gpunb_regf", "lmax", call->lmax, 2);
    need_count("gpunb_regf", "nbmax", call->nbmax, 1);
    size_t n_i = (size_t)call->n_i, stride = (size_t)call->lmax;
    size_t cap = (size_t)(call->nbmax < call->lmax ? call->nbmax : call->lmax - 1);
    if (n_i == 0) return;
    need_counts(n_i);
    const struct gpunb_block block = {
        .n_i = n_i,
        .r_nb2 = call->h2,
        .dt_reg = call->dtr,
        .x = call->xi,
        .v = call->vi,
        .acc = call->acc,
        .jerk = call->jerk,
        .pot = call->pot,
        .nb_cap = cap,
        .list_stride = stride,
        .nnb = counts,
        .nblist = call->list + 1,
        .mass_weighted = call->mass_weighted,
    };
    int status = gpunb_regf_block(library, &block);
    if (status != NBC_NB_OVERFLOW) stop_unless_ok("gpunb_regf", status, library);
    for (size_t i = 0; i < n_i; i++) {
        int found = counts[i];
        call->pot[i] = -call->pot[i];
        call->list[i * stride] = (size_t)found <= cap ? found : call->overflow_count ? -found : -1;
    }
}

void gpunb_fortran_potential(int i_first, int n_i, int n, const double *mass, const double (*x)[3], double *pot)
{
    need_count("gpupot", "n", n, 0);
    need_count("gpupot", "ni", n_i, 0);
    need_count("gpupot", "istart", i_first + 1, 1);
    if (!library && !pot_only) pot_only = gpunb_fortran_create("gpupot", n);
    gpunb_t *handle = library ? library : pot_only;
    int status = gpunb_potential(handle, (size_t)i_first, (size_t)n_i, (size_t)n, mass, x, pot);
    stop_unless_ok("gpupot", status, handle);
    for (int i = 0; i < n_i; i++) pot[i] = -pot[i];
}

void gpunb_fortran_stats(struct gpunb_stats *stats)
{
    *stats = (struct gpunb_stats){0};
    gpunb_get_stats(library, stats);
}

const char *gpunb_fortran_backend(void)
{
    return library ? gpunb_info(library)->name : NULL;
}
