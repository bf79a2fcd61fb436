/** The list of all kinds of few-body systems. */
#ifndef NB6_KINDS_H
#define NB6_KINDS_H

struct nb6_sim;

/** A run knows its kinds from then on: the first thing that a start or a resume does. */
void nb6_kinds_install(struct nb6_sim *sim);

#endif
