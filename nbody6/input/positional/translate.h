/** Translation of values that mean something else in NBODY6, and of zeros with a meaning. Private to libnbody6. */
#ifndef NB6_POSITIONAL_TRANSLATE_H
#define NB6_POSITIONAL_TRANSLATE_H

#include "nbody6/input/positional/positional.h"

/** Change the values in the list to those with the same meaning here, with notes. */
void nb6_positional_translate(struct nb6_positional *input);

#endif
