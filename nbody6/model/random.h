/** Random numbers for the initial models, reproducible to the bit.
 *
 *  The generator is the Mersenne twister of GSL (MT19937), seeded by a hash of NRAND; all its arithmetic is in
 * integers. Models use its numbers with IEEE additions, multiplications, divisions and square roots, which are
 * correctly rounded, and with the functions below, which consist of these; the mathematical library, whose last bits
 * differ from one system to the next, is not called. So the same seed gives the same bits on every machine with IEEE
 * doubles, whatever the number of threads, when the compiler does not contract a*b + c (-ffp-contract=off, as the
 * Makefile says). */
#ifndef NB6_RANDOM_H
#define NB6_RANDOM_H

#include "common/nbc.h"

typedef struct nb6_random nb6_random_t;

/** Purpose of a stream of numbers. Streams do not depend on each other: another mass function leaves positions and
 *  velocities as they are. */
enum nb6_random_stream {
    NB6_RANDOM_MASS = 1,
    NB6_RANDOM_POSITION = 2,
    NB6_RANDOM_VELOCITY = 3,
    NB6_RANDOM_BINARY = 4,
    NB6_RANDOM_TRIPLE = 5
};

/** @param[out] random set on success only   @return NBC_OK; NBC_NO_MEMORY */
int nb6_random_create(uint64_t seed, enum nb6_random_stream stream, nb6_random_t **random, struct nbc_error *err);
void nb6_random_free(nb6_random_t *random);

/** Uniform in (0, 1), an odd multiple of 2^-53; never 0 or 1. */
double nb6_random_uniform(nb6_random_t *random);

/** A vector of length r in a random direction (Marsaglia 1972). */
void nb6_random_direction(nb6_random_t *random, double r, double vector[3]);

/** e^x and ln x, x > 0, to 1e-15 relative (ln x: to 1e-15 of the larger of |ln x| and 1), and the cube root. Finite
 *  arguments. e^x is 0 below -700 and infinite above 700. */
double nb6_exp(double x);
double nb6_log(double x);
double nb6_cbrt(double x);
/** x^y = e^(y ln x) for x > 0; relative error 1e-15 times the larger of |y ln x| and |y| and 1. */
double nb6_pow(double x, double y);

#endif
