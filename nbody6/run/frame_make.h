/** Frames of a run: its bodies or stars predicted to one time. */
#ifndef NB6_FRAME_MAKE_H
#define NB6_FRAME_MAKE_H

#include "common/nbc.h"
#include "nbody6/state/body.h"
#include "regularization/chain.h"

#include <stdint.h>

struct nb6_frame;
struct nb6_sim;

/** Stars of a pair, hierarchy or chain around its centre of mass. */
struct nb6_frame_inside {
    int n;
    nb6_index star[CHAIN_MAX];
    double mass[CHAIN_MAX], x[CHAIN_MAX][3], v[CHAIN_MAX][3];
};

int nb6_frame_make(struct nb6_sim *sim, nb6_time t, int options, struct nb6_frame *frame, struct nbc_error *err);
/** The members of the subsystem at a place of a frame of bodies. */
void nb6_frame_look_inside(const struct nb6_sim *sim, const struct nb6_frame *bodies, int64_t place,
                           struct nb6_frame_inside *inside);

#endif
