#include "nbody6/app/stuck_note.h"

#include "nbody6/app/progress.h"
#include "nbody6/fewbody/criteria.h"
#include "nbody6/state/event.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/stuck.h"

#include <inttypes.h>
#include <stdio.h>

enum { BODY_TEXT = 160 };

/* A motion changes an acceleration by a tenth of it in a step, which is 10^5 times the error of sums in float and more.
 * Changes that are not above ten times their error are made of that. */
static const double FAR_ABOVE_NOISE = 10;

static int follows_rounding(const struct nb6_event_stuck *stuck)
{
    for (int k = 0; k < stuck->n; k++)
        if (!(stuck->change[k] > FAR_ABOVE_NOISE * stuck->noise[k])) return 1;
    return 0;
}

static const char *advice(const struct nb6_sim *sim, const struct nb6_event_stuck *stuck)
{
    if (follows_rounding(stuck))
        return "these steps follow rounding errors, not the motion: continue the run from its last checkpoint with a "
               "larger ETAI, and please report it";
    if (!nb6_subsystems_enabled(sim)) return "this motion is followed turn by turn: KZ(16)=1 regularizes close pairs";
    return "this motion is followed turn by turn, as it is not regularized: KZ(16)=0 with larger RMIN and DTMIN "
           "regularizes it";
}

static void describe_body(const struct nb6_sim *sim, const struct nb6_event_stuck *stuck, int k, char text[BODY_TEXT])
{
    const int64_t zero = sim->book.name_zero, name = stuck->name[k];
    const int is_centre = zero > 0 && name > zero;
    snprintf(text, BODY_TEXT, "%s %" PRId64 " (step %.3g, acceleration %.3g, rounding error up to %.1g)",
             is_centre ? "the system of star" : "star", is_centre ? name - zero : name, stuck->step[k], stuck->acc[k],
             stuck->noise[k]);
}

void nb6_stuck_note(struct nb6_progress *progress, const struct nb6_sim *sim, double t,
                    const struct nb6_event_stuck *stuck)
{
    char body[2][BODY_TEXT] = {"", ""};
    for (int k = 0; k < stuck->n; k++) describe_body(sim, stuck, k, body[k]);
    nb6_progress_alarm(progress, "warning: up to t = %.10g %d blocks in a row have moved nobody but %s%s%s; %s", t,
                       NB6_STUCK_BLOCKS, body[0], stuck->n > 1 ? " and " : "", body[1], advice(sim, stuck));
}
