/* States of stars with values that cannot be. */
#ifndef TEST_WILD_STARS_H
#define TEST_WILD_STARS_H

#include <stdint.h>

/** Evolve n stars whose states were changed at random: fails the test if a call neither refuses one, nor returns finite
 *  values. @param[in] seed  of the changes */
void wild_stars_try(int64_t n, uint64_t seed);

#endif
