/** Bodies to measure with: the same for the same set and number, one after another from one random stream. */
#ifndef BENCH_BODIES_H
#define BENCH_BODIES_H

#include <stddef.h>
#include <stdint.h>

enum bench_set {
    BENCH_SPHERE, /**< uniform, of radius 1 */
    BENCH_CUBE,   /**< uniform, of side 1 */
    BENCH_PLUMMER /**< within r = 15, in N-body units */
};

/** Equal masses of sum 1 at rest. */
struct bench_bodies {
    size_t n;
    double *mass, (*x)[3], (*v)[3], (*acc)[3];
    int32_t *self; /**< 0 to n - 1 */
};

/** A number from 0 to 1, exclusive, of the stream that begins with a state that is not 0.   @param[in,out] state */
#define BENCH_SEED UINT64_C(88172645463325252)
double bench_uniform(uint64_t *state);
/** A place on a sphere of radius r. */
void bench_on_sphere(uint64_t *state, double r, double x[3]);

/** @return 1; 0: there is no memory */
int bench_bodies_make(struct bench_bodies *bodies, enum bench_set set, size_t n);
void bench_bodies_free(struct bench_bodies *bodies);

#endif
