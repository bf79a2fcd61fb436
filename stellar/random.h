/* Random numbers that follow from a seed, a name and the number of an event, not from the order of calls. */
#ifndef STELLAR_RANDOM_H
#define STELLAR_RANDOM_H

#include <stdint.h>

struct stellar_random {
    uint64_t state;
};

struct stellar_random stellar_random_begin(int64_t seed, int64_t name, int32_t event);
/** Uniform in (0, 1). */
double stellar_random_uniform(struct stellar_random *random);
/** Normal with mean 0 and dispersion 1. */
double stellar_random_normal(struct stellar_random *random);

#endif
