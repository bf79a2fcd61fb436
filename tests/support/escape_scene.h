/** Clusters of which pairs, chains, hierarchies and stars are on their way out: all of them leave at the first adjust
 *  after the start, t = 0.125. */
#ifndef NB6_TEST_ESCAPE_SCENE_H
#define NB6_TEST_ESCAPE_SCENE_H

#include "nbody6/input/config.h"
#include "nbody6/run/nbody6.h"
#include "tests/support/cluster.h"

#include <stdint.h>

/** Systems that leave; MERGER stays, except for the merged star; BINARY stays, in a slot behind those that become
 *  free. */
enum {
    PAIR = 1,
    PERTURBED = 2,
    CHAIN = 4,
    TRIPLE = 8,
    QUADRUPLE = 16,
    STAR = 32,
    MERGER = 64,
    BINARY = 128,
    ESCAPE_KINDS = 8
};
extern const char *const escape_names[ESCAPE_KINDS];
extern const int escape_stars[ESCAPE_KINDS]; /**< in one of each kind */

/** Declared pairs come first: systems with one of them, the quadruple, then third stars and single ones. Then the
 * field.
 */
struct scene {
    struct cluster c;
    int all_perturb;               /**< 1: every body perturbs every pair; set before the start */
    int64_t declared, gone;        /**< pairs declared; stars that will be gone */
    int64_t star[ESCAPE_KINDS][4]; /**< indices of the stars of each kind */
};

/** @param[in] systems  sum of those above */
struct scene make_scene(int systems);
nb6_t *start_scene(const struct scene *scene, int in_tide, enum nb6_escape_kind escape, struct cluster_record *record);

#endif
