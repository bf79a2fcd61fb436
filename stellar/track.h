/* Tracks, which a type and the mass of its fits fix, and a star on its track. */
#ifndef STELLAR_TRACK_H
#define STELLAR_TRACK_H

#include "stellar/giant.h"
#include "stellar/helium_star.h"
#include "stellar/main_sequence.h"
#include "stellar/model.h"

struct stellar_track {
    enum { STELLAR_TRACK_NONE, STELLAR_TRACK_MS, STELLAR_TRACK_GIANT, STELLAR_TRACK_HELIUM } kind;
    double m0;
    struct stellar_ms ms;
    struct stellar_giant giant;
    struct stellar_helium helium;
    double mc_bagb; /* core by which the kind of remnant is decided: HPT section 6, the whole star if it is of helium */
    double mc_sn;   /* core that collapses: HPT eq. 75 */
    double t_early,
        t_late; /* ages at which the early and the pulsing giant branch end; the latter of helium giants, too */
};

/* A star of a track at an age. */
struct stellar_point {
    int type; /* that of the star, but a helium giant may be in the gap or on the branch */
    double l, r;
    double mc, mco;  /* as of struct stellar_star */
    double envelope; /* mass above the core that ends the phase when it is gone */
    double mu;       /* HPT eqs. 97 and 98 */
    double wind;     /* Msun/Myr */
};

/** Make the track of a type and mass unless `track` is it already. */
void stellar_track_make(const struct stellar_model *model, int type, double m0, struct stellar_track *track);
/** Begin and end of a phase by what burns, as ages. @return 0: it has no end that is known before */
int stellar_phase(const struct stellar_track *track, int type, double *begin, double *end);
void stellar_point_make(const struct stellar_model *model, const struct stellar_track *track, int type, double m,
                        double age, struct stellar_point *point);
/** The star shows its core as the envelope goes. HPT section 6.3 */
void stellar_thin_envelope(const struct stellar_model *model, const struct stellar_track *track, int type, double m,
                           double age, struct stellar_point *point);

#endif
