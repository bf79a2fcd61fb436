#include "nbc.h"

#include <time.h>

/* Filled before main(), so that concurrent first callers read a finished table. */
static struct nbc_cpu features;

__attribute__((constructor)) static void detect(void)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    features.avx2_fma = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    features.avx512_fdv = features.avx2_fma && __builtin_cpu_supports("avx512f") &&
                          __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
                          __builtin_cpu_supports("avx512vl");
#elif defined(__aarch64__)
    features.neon = 1;
#endif
}

const struct nbc_cpu *nbc_cpu_features(void)
{
    return &features;
}

double nbc_wtime(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
