/* The highest rates of this machine: machine_rates_of (tree_work.h). */
#include "bench/support/rates.h"

#include "bench/support/tree_work.h"
#include "common/nbc.h"
#include "common/team.h"

#include <math.h>
#include <string.h>

/* A turn of a loop takes some nanoseconds; the best of so many tries of a tenth of a second counts. */
enum { TURNS = 1 << 22, TRIES = 3, MOST_THREADS = 1024 };
/* Larger than the caches of a processor. */
static const size_t COPIED = (size_t)96 << 20;

static const struct machine_rates H200 = {66.9e12, 4.8e12};

struct work {
    double (*loop)(int turns, float *keep);
    double made[MOST_THREADS];
    float kept[MOST_THREADS];
    char *from, *to;
};

static void multiply(void *context, int part, int parts)
{
    struct work *w = context;
    (void)parts;
    w->made[part] = w->loop(TURNS, &w->kept[part]);
}

static void copy(void *context, int part, int parts)
{
    struct work *w = context;
    int64_t first, end;
    nbc_range((int64_t)COPIED, part, parts, &first, &end);
    memcpy(w->to + first, w->from + first, (size_t)(end - first));
}

/* The least seconds of a part of the work, made by all threads. */
static double seconds_of(nbc_part *part, struct work *w, int threads)
{
    double best = INFINITY;
    for (int k = 0; k < TRIES; k++) {
        const double begin = nbc_wtime();
        nbc_team_run(threads, part, w);
        best = fmin(best, nbc_wtime() - begin);
    }
    return best;
}

struct machine_rates machine_rates_of(const char *backend)
{
    if (!strncmp(backend, "cuda", 4)) return H200;
    struct work w = {.loop = rates_multiply_adds_portable, .from = nbc_alloc(COPIED, 1), .to = nbc_alloc(COPIED, 1)};
    struct machine_rates rates = {NAN, NAN};
    const int size = nbc_team_size(), threads = size < MOST_THREADS ? size : MOST_THREADS;
    double made = 0;
#if defined(__x86_64__)
    if (!strcmp(backend, "avx512")) w.loop = rates_multiply_adds_avx512;
    if (!strcmp(backend, "avx2")) w.loop = rates_multiply_adds_avx2;
#endif
    if (w.from && w.to) {
        memset(w.from, 1, COPIED);
        rates.bytes = 2 * (double)COPIED / seconds_of(copy, &w, threads);
        const double seconds = seconds_of(multiply, &w, threads);
        for (int t = 0; t < threads; t++) made += w.made[t];
        rates.operations = 2 * made / seconds;
    }
    nbc_free(w.from);
    nbc_free(w.to);
    return rates;
}
