/* Probe of a thread sanitizer for `make tsan`: two loops with a barrier between them, in which threads share nothing at
 * a time, and with an argument a sum that all threads write to without synchronisation. */
#include <stdio.h>

enum { N = 1000 };
static double value[N];

int main(int argc, char **argv)
{
    double sum = 0;
    (void)argv;
#pragma omp parallel for
    for (int i = 0; i < N; i++) value[i] = i;
#pragma omp parallel for
    for (int i = 0; i < N; i++) value[N - 1 - i] += i;
    if (argc > 1) {
#pragma omp parallel for shared(sum)
        for (int i = 0; i < N; i++) sum += value[i];
    }
    return printf("%g %g\n", value[0], sum) < 0;
}
