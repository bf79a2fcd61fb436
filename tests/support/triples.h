/** Random hierarchical triples, integrated directly to see whether they last. */
#ifndef TRIPLES_H
#define TRIPLES_H

#include "regularization/chain.h"

struct triples_count {
    int n, failed;
    int lasting[2]; /**< [criterion says stable]: triples that lasted */
    int broken[2];  /**< that did not */
    double worst_energy_error;
};

/** Triples first, first + 1, ...: masses 0.2 to 1, outer eccentricities 0 to 0.8, all inclinations, pericentres 0.5 to
 * 2 times the critical one. Broken: within `orbits` outer periods a body escapes, members change places, or the outer
 *  semi-major axis changes by more than a fifth. The same counts whatever the number of threads. */
void triples_survey(uint64_t first, int n, int orbits, struct triples_count *count);

#endif
