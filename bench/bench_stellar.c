/* Time to age stars of Kroupa's mass function (0.08 to 100 solar masses) to 12 Gyr at once: bench_stellar [N [Z]]. */
#include "stellar/stellar.h"
#include "tests/support/kroupa.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    const int64_t n = argc > 1 ? atoll(argv[1]) : 1000000;
    const double z = argc > 2 ? atof(argv[2]) : 0.02, end = 12000;
    struct stellar_options options;
    struct stellar_model *model;
    struct nbc_error err = {0};
    struct stellar_star *star = nbc_alloc((size_t)n, sizeof *star);
    struct stellar_view *view = nbc_alloc((size_t)n, sizeof *view);
    int status = stellar_options_level('A', &options, &err);
    if (!status) status = stellar_create(z, &options, &model, &err);
    if (!star || !view) status = nbc_fail(&err, NBC_NO_MEMORY, "no memory for %lld stars", (long long)n);
    for (int64_t i = 0; i < n && !status; i++)
        status = stellar_birth(model, i, kroupa_mass(((double)i + 0.5) / (double)n), 0, &star[i], &err);
    const double begin = nbc_wtime();
    if (!status) status = stellar_evolve_all(model, n, star, end, view, NULL, &err);
    if (status) {
        fprintf(stderr, "bench_stellar: %s\n", err.text);
        return 1;
    }
    printf("%lld stars to %g Myr at z = %g by %d threads: %.2f s\n", (long long)n, end, z, omp_get_max_threads(),
           nbc_wtime() - begin);
    nbc_free(star);
    nbc_free(view);
    stellar_free(model);
    return 0;
}
