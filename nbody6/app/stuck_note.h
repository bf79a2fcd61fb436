/** The warning about a run in which one or two bodies alone are moved: their names, their steps, and the remedy. */
#ifndef NB6_STUCK_NOTE_H
#define NB6_STUCK_NOTE_H

struct nb6_event_stuck;
struct nb6_progress;
struct nb6_sim;

/** A line on stderr. */
void nb6_stuck_note(struct nb6_progress *progress, const struct nb6_sim *sim, double t,
                    const struct nb6_event_stuck *stuck);

#endif
