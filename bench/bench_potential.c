/* Potentials of all bodies by a tree (gpunb/tree/potential.h) beside direct sums of some of them: seconds and errors.
 *
 * Usage: bench_potential [n=N] [aim=E] [sample=M] [backend=NAME]
 *   - n=N (262144): bodies of a Plummer model of equal masses
 *   - aim=E (1e-7): of one cell on another, over the mean potential
 *   - sample=M (4096): bodies from the first on whose potentials are made directly as well; seconds of all follow from
 *     their rate
 *
 * The error of the energy is the mean of those of the sample over the mean potential, with its standard deviation. */
#include "bench/support/arguments.h"
#include "bench/support/bodies.h"
#include "common/nbc.h"
#include "gpunb/gpunb.h"
#include "gpunb/tree/potential.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void stop(const char *why)
{
    fprintf(stderr, "bench_potential: %s\n", why);
    exit(1);
}

static void print_errors(const double *tree, const double *direct, size_t n)
{
    double mean = 0, sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++) mean += direct[i] / (double)n;
    for (size_t i = 0; i < n; i++) {
        const double error = (tree[i] - direct[i]) / mean;
        sum += error;
        squares += error * error;
    }
    const double of_energy = sum / (double)n, rms = sqrt(squares / (double)n);
    printf("rms %.2g; energy %.2g, standard deviation %.2g\n", rms, of_energy,
           sqrt((squares / (double)n - of_energy * of_energy) / (double)n));
}

int main(int argc, char **argv)
{
    size_t n = 262144, sample = 4096;
    double aim = 1e-7;
    const char *backend = NULL;
    const struct bench_argument known[] = {{.name = "n", .size = &n},
                                           {.name = "aim", .real = &aim},
                                           {.name = "sample", .size = &sample},
                                           {.name = "backend", .text = &backend}};
    bench_read_arguments("bench_potential", argc, argv, known, sizeof known / sizeof known[0]);
    if (n < 2 || sample < 2 || !(aim > 0)) stop("n and sample are 2 or more, aim is above 0");
    if (sample > n) sample = n;
    struct bench_bodies bodies;
    struct nbc_error err = {0};
    gpunb_t *h = NULL;
    double *tree = nbc_alloc(n, sizeof *tree), *direct = nbc_alloc(sample, sizeof *direct);
    if (!tree || !direct || !bench_bodies_make(&bodies, BENCH_PLUMMER, n)) stop("no memory");
    if (gpunb_create(&h, n, &(struct gpunb_options){.backend = backend}, &err)) stop(err.text);
    const double(*x)[3] = (const double(*)[3])bodies.x;
    const double begin = nbc_wtime();
    if (gpunb_potential(h, 0, sample, n, bodies.mass, x, direct)) stop(gpunb_last_error(h));
    const double summed = nbc_wtime();
    double mean = 0;
    for (size_t i = 0; i < sample; i++) mean += fabs(direct[i]) / (double)sample;
    if (gpunb_potential_by_tree(h, n, bodies.mass, x, aim * mean, tree)) stop(gpunb_last_error(h));
    const double end = nbc_wtime();
    printf("plummer n %zu, aim %g, %s: tree %.2f s; direct %.2f s for %zu, %.1f for all; ", n, aim, gpunb_info(h)->name,
           end - summed, summed - begin, sample, (summed - begin) * (double)n / (double)sample);
    print_errors(tree, direct, sample);
    gpunb_free(h);
    bench_bodies_free(&bodies);
    nbc_free(tree);
    nbc_free(direct);
    return 0;
}
