/** Models in pieces (nbody6/model/pieces.h), beside the same in memory. */
#ifndef NB6_TEST_MODEL_PIECES_H
#define NB6_TEST_MODEL_PIECES_H

#include "nbody6/input/config.h"

/** Fails the test unless the model can be made in pieces, of 8, 64 and 1024 bodies, and each has the bits, the units
 * and the notes of the model in memory. */
void model_pieces_assert_same(const struct nb6_config *config);
/** Fails the test unless both are refused, with messages that have these words. */
void model_pieces_assert_refused(const struct nb6_config *config, const char *words);
/** Each allocation of nb6_model_size and nb6_model_make_in fails in turn: they say so, and can be called again.
 *  @param[in] fail_at, left  of failing_alloc.h, which a program includes once   @return failures */
long model_pieces_fail_allocations(const struct nb6_config *config, void (*fail_at)(long k), const _Atomic long *left);
/** Fails the test unless the model is one that is made as a whole. */
void model_pieces_assert_whole(const struct nb6_config *config);

#endif
