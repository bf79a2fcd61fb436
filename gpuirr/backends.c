/* The table of backends, which backends.def lists. */
#include "gpuirr/backend.h"

#include <pthread.h>

#define BACKEND(name) extern const struct gpuirr_backend gpuirr_backend_##name;
#include "gpuirr/backends.def"
#undef BACKEND

static const struct gpuirr_backend *const table[] = {
#define BACKEND(name) &gpuirr_backend_##name,
#include "gpuirr/backends.def"
#undef BACKEND
};

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
