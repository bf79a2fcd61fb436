/* The table of backends. A new backend needs one name in the list below. */
#include "gpuirr/backend.h"

#include <pthread.h>

#if defined(__x86_64__)
#define X86_LIST(X) X(avx512) X(avx2)
#else
#define X86_LIST(X)
#endif
/* Best first. Backends after `ref`, which is always available, are taken by name only. */
#define BACKEND_LIST(X) X86_LIST(X) X(portable) X(ref) X(cuda) X(emulated)

#define DECLARE_BACKEND(name) extern const struct gpuirr_backend gpuirr_backend_##name;
BACKEND_LIST(DECLARE_BACKEND)

static const struct gpuirr_backend *const table[] = {
#define BACKEND_ROW(name) &gpuirr_backend_##name,
    BACKEND_LIST(BACKEND_ROW)};

enum { BACKEND_COUNT = sizeof table / sizeof table[0] };

/* A row is filled when it is first read: to detect a GPU takes a fifth of a second. */
static struct gpuirr_backend_info rows[BACKEND_COUNT];
static pthread_mutex_t rows_lock = PTHREAD_MUTEX_INITIALIZER;

static void fill_row(int k)
{
    if (rows[k].name) return;
    const char *reason = table[k]->missing ? table[k]->missing() : NULL;
    rows[k] = (struct gpuirr_backend_info){.name = table[k]->name,
                                           .description = table[k]->description,
                                           .available = !reason,
                                           .reason = reason ? reason : "",
                                           .ns_per_pair = table[k]->ns_per_pair};
}

const struct gpuirr_backend_info *gpuirr_backend(int k)
{
    if (k < 0 || k >= BACKEND_COUNT) return NULL;
    pthread_mutex_lock(&rows_lock);
    fill_row(k);
    pthread_mutex_unlock(&rows_lock);
    return &rows[k];
}

const char *gpuirr_backend_name(int k)
{
    return k < 0 || k >= BACKEND_COUNT ? NULL : table[k]->name;
}

const struct gpuirr_backend *gpuirr_backend_ops(int k)
{
    return k < 0 || k >= BACKEND_COUNT ? NULL : table[k];
}
