#include "nbody6/analysis/frame.h"

#include "common/nbc.h"

#include <string.h>

void nb6_frame_free(struct nb6_frame *frame)
{
    if (!frame) return;
    if (!frame->shows) {
        nbc_free(frame->name);
        nbc_free(frame->mass);
        nbc_free(frame->x);
        nbc_free(frame->v);
        nbc_free(frame->acc);
    }
    nbc_free(frame->jerk);
    nbc_free(frame->pot);
    nbc_free(frame->r_nb);
    nbc_free(frame->dt_irr);
    nbc_free(frame->dt_reg);
    nbc_free(frame->nnb);
    nbc_free(frame->pair);
    nbc_free(frame->chain);
    memset(frame, 0, sizeof *frame);
}
