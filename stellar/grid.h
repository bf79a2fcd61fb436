/* The time grid of a star: steps in which its wind is integrated, up to the end of a phase. */
#ifndef STELLAR_GRID_H
#define STELLAR_GRID_H

#include "stellar/track.h"

/* Work space of a star on its way. Begin with zeros, and clear `has_point` whenever the star changes otherwise. */
struct stellar_work {
    struct stellar_track track;
    struct stellar_point point; /* the star at its grid point, if has_point */
    int has_point;
};

/* A step from a grid point: where it ends, and why there. */
struct stellar_step {
    struct stellar_star next;
    struct stellar_point point;                                    /* there */
    enum { STELLAR_GOES_ON, STELLAR_BURNT, STELLAR_STRIPPED } end; /* the phase goes on; ended; lost its envelope */
};

/** The step that follows from a star, which is a function of the star alone. */
void stellar_step_plan(const struct stellar_model *model, const struct stellar_star *star, struct stellar_work *work,
                       struct stellar_step *step);
/** The star some time later, within its step.
 *  @param[out] point  at that time   @param[out] error  estimate of that of the mass; may be NULL */
void stellar_step_part(const struct stellar_model *model, const struct stellar_star *star, struct stellar_work *work,
                       double dt, struct stellar_star *later, struct stellar_point *point, double *error);
/** Another mass at the same time: the star goes on as HPT, section 7.1, says for a wind. */
void stellar_reweigh(const struct stellar_model *model, double mass, struct stellar_work *work,
                     struct stellar_star *star, struct stellar_point *point);

#endif
