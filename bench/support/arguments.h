/** Arguments name=value of a program that measures. */
#ifndef BENCH_ARGUMENTS_H
#define BENCH_ARGUMENTS_H

#include <stddef.h>

/** A name, and where its value goes: one of the places, or both of a range. */
struct bench_argument {
    const char *name;
    int *whole;            /**< a whole number */
    size_t *size;          /**< a whole number that is not below 0 */
    double *real;          /**< a finite number */
    const char **text;     /**< the value as it is, in argv */
    int *lowest, *highest; /**< two whole numbers: 1-8 */
};

/** Reads all arguments; what is not given stays as it is. The first one that is not NAME=VALUE, has no such name or a
 *  bad value ends the program with status 2 and one line on stderr that says so. */
void bench_read_arguments(const char *program, int argc, char **argv, const struct bench_argument *known, size_t n);

#endif
