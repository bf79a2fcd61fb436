#include "stellar/random.h"

#include <math.h>

/* Every bit of the result depends on every bit of x. Steele, Lea & Flood 2014, OOPSLA, 453 (SplitMix) */
static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static uint64_t next(uint64_t state)
{
    return state + UINT64_C(0x9e3779b97f4a7c15);
}

struct stellar_random stellar_random_begin(int64_t seed, int64_t name, int32_t event)
{
    uint64_t state = mix(next((uint64_t)seed));
    state = mix(next(state ^ (uint64_t)name));
    return (struct stellar_random){mix(next(state ^ (uint64_t)event))};
}

double stellar_random_uniform(struct stellar_random *random)
{
    random->state = next(random->state);
    return ((double)(mix(random->state) >> 11) + 0.5) * 0x1p-53;
}

double stellar_random_normal(struct stellar_random *random)
{
    const double radius = sqrt(-2 * log(stellar_random_uniform(random)));
    return radius * cos(6.283185307179586 * stellar_random_uniform(random));
}
