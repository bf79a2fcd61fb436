/* Remnants of cores that collapse, their kicks and spins. */
#ifndef STELLAR_COLLAPSE_H
#define STELLAR_COLLAPSE_H

#include "stellar/model.h"
#include "stellar/random.h"

/* A star whose core collapses */
struct stellar_progenitor {
    double mass;    /* all of it */
    double mc_bagb; /* helium core at the base of the second giant branch */
    double mc_he, mc_co;
};

struct stellar_collapse {
    int type, kind; /* of what is left; enum stellar_event_kind */
    double mass, fallback;
    double mc_co; /* of the progenitor */
};

void stellar_collapse_make(const struct stellar_model *model, const struct stellar_progenitor *star,
                           struct stellar_collapse *left);
/** Change of velocity in km/s of a neutron star or black hole. */
void stellar_kick_collapse(const struct stellar_options *options, const struct stellar_collapse *left,
                           struct stellar_random *random, double kick[3]);
/** The same of a white dwarf, at most WDKMAX. */
void stellar_kick_white_dwarf(const struct stellar_options *options, int type, struct stellar_random *random,
                              double kick[3]);
/** Spin of a black hole at birth, c J / (G M^2), as BHSPINFL or BHFLAG says. */
double stellar_birth_spin(const struct stellar_model *model, const struct stellar_collapse *left,
                          struct stellar_random *random);

#endif
