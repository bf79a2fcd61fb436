/** Collisionless systems whose tree serves many steps, for tests. */
#ifndef NB6_TEST_REUSE_H
#define NB6_TEST_REUSE_H

#include "nbody6/collisionless/collisionless.h"
#include "tests/support/cluster.h"

#define REUSE_SOFTENING 0.05

/** Of the host engine. Small leaves, so that few bodies have many cells; all forces are by tree. */
struct nb6_collisionless_options reuse_options(enum nb6_collisionless_steps steps, int reuse);
/** Engines, the backends of their forces, and parts: even ones make forces on processors, odd ones on emulated devices;
 *  the first two are the host engine, the others the emulated one. */
enum { REUSE_ENGINES = 6 };
struct nb6_collisionless_options reuse_on_engine(struct nb6_collisionless_options options, int k);
/** A Plummer model at rest: it collapses in about two units of time. A tenth of its bodies are two in one place, which
 *  no key tells apart, and the leaves hold more than those. */
struct cluster reuse_cold(int64_t n, uint64_t seed);
/** The same state, decisions about builds, owners, and layout of the tree, which are copied to host memory for that. */
void reuse_assert_same(struct nb6_collisionless *a, struct nb6_collisionless *b);

#endif
