/** Shared by the tests of few-body systems. */
#ifndef FEWBODY_H
#define FEWBODY_H

#include "regularization/chain.h"

/** A body of identity `id` at x, v. */
struct chain_body fewbody(int64_t id, double mass, const double x[3], const double v[3]);
/** Two unit masses at the apocentre of an orbit of semi-major axis 1 and eccentricity 0.5, identities id and id + 1;
 *  their centre is at x and has velocity v. */
void fewbody_pair(struct chain_body body[2], int64_t id, const double x[3], const double v[3]);
/** Such a pair, identities 10 and 11, 100 from the origin, and a body of mass 2, identity 12, at five from it. */
void fewbody_triple(struct chain_body body[3]);
/** A system at t = 0; fails the test with the library's message if it cannot be made. */
struct chain fewbody_start(const char *method, double tolerance, int n, const struct chain_body body[]);
/** Advance and fail the test with the library's message if that fails; returns the event's kind. */
int fewbody_advance(struct chain *c, double t, const struct chain_field *field, struct chain_event *event);
/** Largest distance of a body from where it should be. */
double fewbody_distance(int n, const struct chain_body is[], const struct chain_body should[]);

/** Uniform in [0, 1): splitmix64 (Steele, Lea & Flood 2014). */
double fewbody_uniform(uint64_t *state);
/** A vector of length 1 in a random direction. */
void fewbody_direction(uint64_t *state, double out[3]);

#endif
