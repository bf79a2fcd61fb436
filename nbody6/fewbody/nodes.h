/** Stars of some bodies, grouped into bound pairs: an intruder sees a star, a close pair, or a pair of pairs. Private
 * to libnbody6. */
#ifndef NB6_NODES_H
#define NB6_NODES_H

#include "common/nbc.h"
#include "nbody6/state/body.h"
#include "regularization/chain.h"

#include <stdint.h>

struct nb6_sim;

/** Nodes [0, n) are stars, [n, count) are pairs of two nodes before them. */
struct nb6_nodes {
    int n, count;
    struct nb6_node {
        double mass, x[3], v[3]; /**< x, v: from the origin that the caller gave */
        double apocentre;        /**< of the pair; 0: a star */
        int parent;              /**< the pair that it is in; -1: none */
    } node[2 * CHAIN_MAX];
};

/** Nodes of some bodies at block time t.
 *  @param[in] body  [n_body] stars and centres of mass   @param[in] x,v  the origin
 *  @return NBC_OK; NBC_BAD_ARGUMENT: more than CHAIN_MAX stars, or one without mass; NBC_NON_FINITE: a pair has no
 *          prediction for t */
int nb6_nodes_find(const struct nb6_sim *sim, int n_body, const nb6_index body[], nb6_time t, const double x[3],
                   const double v[3], struct nb6_nodes *nodes);
/** Distance of the farthest star from the centre of mass of all. */
double nb6_nodes_size(const struct nb6_nodes *nodes);
/** The star that is nearest to a place. */
int nb6_nodes_nearest(const struct nb6_nodes *nodes, const double x[3]);
/** The largest pair around a star that is small, seen from a distance; the star itself if there is none. */
int nb6_nodes_seen(const struct nb6_nodes *nodes, int star, double distance);

#endif
