/** Collisionless systems for tests. Any error fails the running cmocka test with its own message. */
#ifndef NB6_TEST_COLLISIONLESS_H
#define NB6_TEST_COLLISIONLESS_H

#include "nbody6/collisionless/collisionless.h"
#include "tests/support/cluster.h"

struct nb6_collisionless *collisionless_start(const struct cluster *c, const struct nb6_collisionless_options *options);
/** Evolve to time t; a state on a device stays there. */
void collisionless_evolve(struct nb6_collisionless *s, double t);
/** The arrays are those of the time. */
void collisionless_home(struct nb6_collisionless *s);
/** Time, numbers of blocks and steps, and all arrays have the same bits; they are copied to host memory for that. */
void collisionless_assert_same(struct nb6_collisionless *a, struct nb6_collisionless *b);
/** Both evolve to time t, have the same bits there, and are freed. */
void collisionless_end_alike(struct nb6_collisionless *a, struct nb6_collisionless *b, double t);
/** No system is made, with this status and a message that has these words. */
void collisionless_refuse(const struct cluster *c, const struct nb6_collisionless_options *options, int status,
                          const char *words);
/** Each allocation of a system fails in turn: it is not made, with a message about memory, until there are enough; then
 *  it evolves to t.   @param[in] let_fail  fail_alloc of tests/support/failing_alloc.h   @return how many there are */
long collisionless_allocations(const struct cluster *c, const struct nb6_collisionless_options *options, double t,
                               void (*let_fail)(long k));

#endif
