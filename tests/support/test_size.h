/** How much a test takes of what it has: all of it, or what there is time for. */
#ifndef TEST_SIZE_H
#define TEST_SIZE_H

#include <stdlib.h>

/** 1 in a build with the address sanitizer. */
#if defined(__SANITIZE_ADDRESS__)
#define TEST_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TEST_SANITIZED 1
#endif
#endif
#ifndef TEST_SANITIZED
#define TEST_SANITIZED 0
#endif

/** A size, a number of cases, a time to integrate to. The second one under the sanitizers, which take some four times
 * as long and look for other errors than wrong sums: it is to run through the same code, as often as that code has
 * another way to handle memory. */
static inline int test_size(int full, int sanitized)
{
    return TEST_SANITIZED ? sanitized : full;
}

/** How many of cases that are alike, seeds for the most part: `make test` has a few of them, `make test-long`, which
 * sets NB6_WHOLE (tests/run-tests --whole), all. */
static inline int test_seeds(int few, int all)
{
    return getenv("NB6_WHOLE") ? all : few;
}

/** For a test whose code others run under the sanitizers: it is left out there, and says so. Needs cmocka.h. */
#define TEST_SKIP_SANITIZED()                                                                                          \
    do {                                                                                                               \
        if (TEST_SANITIZED) {                                                                                          \
            print_message("skipped: %s: too slow under the sanitizers\n", __func__);                                   \
            skip();                                                                                                    \
        }                                                                                                              \
    } while (0)

#endif
