/** Random encounters of a binary with a star or with another binary, integrated to their end. */
#ifndef SCATTERING_H
#define SCATTERING_H

#include "regularization/chain.h"

enum scattering_outcome {
    SCATTERING_FLYBY,      /**< the same pairs as before */
    SCATTERING_EXCHANGE,   /**< other pairs, as many as before */
    SCATTERING_IONISATION, /**< fewer pairs */
    SCATTERING_TRIPLE,     /**< a stable hierarchy of three or four is left */
    SCATTERING_UNRESOLVED, /**< not ended within the time or the steps allowed */
    SCATTERING_OUTCOMES
};

struct scattering {
    int binaries;      /**< 1: binary and star, 2: two binaries */
    double speed;      /**< at infinity, in units of that at which the total energy is zero */
    double pericentre; /**< largest, in units of the semi-major axis: uniform in the square of the impact parameter */
    int circular;      /**< 1: eccentricities 0, else thermal */
    int watch;         /**< 1: count the minima of the size (result.minima), which takes looking at every few steps */
};

struct scattering_result {
    int outcome;
    int minima; /**< of the sum of squared distances, between maxima at least twice as large (McMillan & Hut 1996, ApJ
                     467, 348) */
    double energy_error; /**< relative to the initial energy */
    double seconds;
    long steps, evaluations;
    double t;
    struct chain end; /**< final state */
};

/** Integrate encounter number `seed`: equal masses, semi-major axes 1.
 *  @return status of the chain calls */
int scattering_run(const struct scattering *setup, const struct chain_options *options, uint64_t seed,
                   struct scattering_result *result, struct nbc_error *err);

/** Many encounters: counts and distributions, the latter sorted. */
struct scattering_survey {
    int n, failed, outcomes[SCATTERING_OUTCOMES];
    int resonances[SCATTERING_OUTCOMES];   /**< those of the outcomes with ten minima or more */
    double *error, *seconds, *evaluations; /**< [n], ascending */
};

/** Integrate encounters first, first + 1, ... on all threads; the same results whatever their number.
 *  @return 0; 1 if there is no memory */
int scattering_survey(const struct scattering *setup, const struct chain_options *options, uint64_t first, int n,
                      struct scattering_survey *survey);
void scattering_survey_free(struct scattering_survey *survey);
/** One line of what a survey found. */
void scattering_survey_print(const char *title, const struct scattering_survey *survey);

#endif
