#include "nbody6/model/random.h"

#include "common/nbc.h"

#include <gsl/gsl_rng.h>
#include <math.h>

/* The memory is ours: gsl_rng_alloc would call GSL's error handler if there is none, which ends the program unless the
 * program has set another, and is not ours to set. */
struct nb6_random {
    gsl_rng rng;
};

/* Finaliser of splitmix64 (Steele, Lea & Flood 2014): neighbouring seeds give unrelated states. */
static uint64_t splitmix64(uint64_t z)
{
    z += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

int nb6_random_create(uint64_t seed, enum nb6_random_stream stream, nb6_random_t **random, struct nbc_error *err)
{
    nb6_random_t *made = nbc_alloc(1, sizeof *made);
    if (made) made->rng = (gsl_rng){gsl_rng_mt19937, nbc_alloc(1, gsl_rng_mt19937->size)};
    if (!made || !made->rng.state) {
        nb6_random_free(made);
        return nbc_fail(err, NBC_NO_MEMORY, "no memory for the random number generator");
    }
    /* MT19937 takes 32 bits; GSL reads 0 as its default seed, 4357 */
    gsl_rng_set(&made->rng, (unsigned long)(splitmix64(splitmix64(seed) + (uint64_t)stream) >> 32));
    *random = made;
    return NBC_OK;
}

void nb6_random_free(nb6_random_t *random)
{
    if (!random) return;
    nbc_free(random->rng.state);
    nbc_free(random);
}

double nb6_random_uniform(nb6_random_t *random)
{
    const uint64_t high = gsl_rng_get(&random->rng) >> 6; /* 26 bits of each draw of 32 */
    const uint64_t low = gsl_rng_get(&random->rng) >> 6;
    return ((double)(high << 26 | low) + 0.5) * 0x1p-52;
}

void nb6_random_direction(nb6_random_t *random, double r, double vector[3])
{
    double a, b, s;
    do {
        a = 2.0 * nb6_random_uniform(random) - 1.0;
        b = 2.0 * nb6_random_uniform(random) - 1.0;
        s = a * a + b * b;
    } while (s >= 1.0);
    const double root = 2.0 * sqrt(1.0 - s);
    vector[0] = r * a * root;
    vector[1] = r * b * root;
    vector[2] = r * (1.0 - 2.0 * s);
}

/* ln 2 in two parts, the first with 32 bits, so that k ln 2 is exact for |k| < 2^20. */
static const double LN2_HIGH = 0x1.62e42fee00000p-1, LN2_LOW = 0x1.a39ef35793c76p-33;

/* x = k ln 2 + f, |f| <= 0.35; Taylor series of e^f, whose term 14 is below 1e-17. */
double nb6_exp(double x)
{
    if (x < -700.0) return 0.0;
    if (x > 700.0) return INFINITY;
    const double k = floor(x * 1.44269504088896340736 + 0.5);
    const double high = x - k * LN2_HIGH, low = k * LN2_LOW;
    const double f = high - low;
    double sum = 0.0;
    for (int i = 14; i >= 2; i--) sum = (sum + 1.0) * f / (double)i;
    /* e^f = 1 + f (1 + sum), with the rounding error of f itself */
    const double lost = (high - f) - low;
    return ldexp(1.0 + (f + (f * sum + lost)), (int)k);
}

/* x = 2^k m, sqrt(1/2) <= m < sqrt(2); ln m = 2 artanh s, s = (m - 1)/(m + 1), |s| < 0.172: term s^23/23 is below
 * 1e-18. */
double nb6_log(double x)
{
    int k;
    double m = frexp(x, &k);
    if (m < 0.70710678118654752440) {
        m *= 2.0;
        k--;
    }
    const double s = (m - 1.0) / (m + 1.0), s2 = s * s;
    double sum = 0.0;
    for (int i = 21; i >= 3; i -= 2) sum = (sum + 1.0 / (double)i) * s2;
    return (double)k * LN2_HIGH + (2.0 * s + (2.0 * s * sum + (double)k * LN2_LOW));
}

/* Newton's iteration from a linear guess on [1/8, 1), 8 percent off at most: the error is squared in each step, so
 * that five are enough. */
double nb6_cbrt(double x)
{
    if (x == 0.0) return x;
    int k;
    double m = frexp(fabs(x), &k);
    for (; k % 3 != 0; k++) m *= 0.5;
    double y = 0.45 + 0.57 * m;
    for (int i = 0; i < 5; i++) y -= (y * y * y - m) / (3.0 * y * y);
    y = ldexp(y, k / 3);
    return x < 0.0 ? -y : y;
}

double nb6_pow(double x, double y)
{
    return nb6_exp(y * nb6_log(x));
}
