/* The table of backends. A new backend needs one name in the list below. */
#include "gpuirr/backend.h"

#include <pthread.h>

#if defined(__x86_64__)
#define X86_LIST(X) X(avx512) X(avx2)
#else
#define X86_LIST(X)
#endif
/* Best first. */
#define BACKEND_LIST(X) X86_LIST(X) X(portable) X(ref)

#define DECLARE_BACKEND(name) extern const struct gpuirr_backend gpuirr_backend_##name;
BACKEND_LIST(DECLARE_BACKEND)

static const struct gpuirr_backend *const table[] = {
#define BACKEND_ROW(name) &gpuirr_backend_##name,
    BACKEND_LIST(BACKEND_ROW)};

enum { BACKEND_COUNT = sizeof table / sizeof table[0] };

static struct gpuirr_backend_info rows[BACKEND_COUNT];
static pthread_once_t rows_filled = PTHREAD_ONCE_INIT;

static void fill_rows(void)
{
    for (int k = 0; k < BACKEND_COUNT; k++) {
        const char *reason = table[k]->missing ? table[k]->missing() : NULL;
        rows[k] = (struct gpuirr_backend_info){.name = table[k]->name,
                                               .description = table[k]->description,
                                               .available = !reason,
                                               .reason = reason ? reason : "",
                                               .ns_per_pair = table[k]->ns_per_pair};
    }
}

const struct gpuirr_backend_info *gpuirr_backend(int k)
{
    if (k < 0 || k >= BACKEND_COUNT) return NULL;
    pthread_once(&rows_filled, fill_rows);
    return &rows[k];
}

const struct gpuirr_backend *gpuirr_backend_ops(int k)
{
    return k < 0 || k >= BACKEND_COUNT ? NULL : table[k];
}
