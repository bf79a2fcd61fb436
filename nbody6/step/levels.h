/** Levels of regular steps beside irregular ones. */
#ifndef NB6_LEVELS_H
#define NB6_LEVELS_H

#include <stdint.h>

/** Bodies that a thread corrects or commits in about two microseconds: for fewer it is not worth calling. */
enum { NB6_BODIES_OF_A_PART = 16 };

struct nb6_sim;

/** Regular level of a star whose irregular step has level level_irr: the level it has, or, once it is more than 2^6
 * times the irregular step, that of the irregular step itself, so that the regular step in progress ends with the next
 * irregular one. A close encounter turns a star round within a fraction of a regular step made for its earlier motion.
 * The regular force along such a path is no cubic in time, and the corrector, if it came at the closest approach, would
 * shift the star by a length that costs the pair its energy: with N = 400 one run in six lost 2e-5 or more. Ended
 * early, the step's correction comes while the pair is still wide. */
int8_t nb6_step_regular_level(const struct nb6_sim *sim, int level_reg, int level_irr);

#endif
