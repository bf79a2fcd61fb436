/** How the stars of a new run were understood, in a sentence: their number, mass, size, virial ratio and times. */
#ifndef NB6_STARS_NOTE_H
#define NB6_STARS_NOTE_H

struct nb6_bulk;
struct nb6_config;
struct nb6_data_facts;
struct nb6_frame;
struct nb6_progress;
struct nb6_units;
struct nb6_model;
struct nbc_error;

enum { NB6_Q_TEXT = 160, NB6_STARS_TEXT = 640 };

/** nb6_bulk_find of a model. */
int nb6_stars_find(const struct nb6_model *model, struct nb6_bulk *bulk, struct nbc_error *err);
/** "0.497", "0.497 +- 0.003, by a sample of 10000", or a cold start by its name.
 *  @param[in] suspect  1: of units that are likely to be wrong: then it is none */
void nb6_stars_tell_q(const struct nb6_bulk *bulk, int suspect, char text[NB6_Q_TEXT]);
/** One line: N, total mass, half-mass radius, virial ratio, crossing and relaxation time, in both systems of units. */
void nb6_stars_describe(const struct nb6_bulk *bulk, const struct nb6_units *units, int suspect,
                        char text[NB6_STARS_TEXT]);

/** Print that line at the start of a run, and a warning for units that are likely to be wrong (unit_advice.h).
 *  @param[in] config  settled, with the units of the model   @param[in] data, bulk  of the model */
void nb6_stars_announce(struct nb6_progress *progress, const struct nb6_config *config,
                        const struct nb6_data_facts *data, const struct nb6_bulk *bulk, const struct nb6_units *units);
/** The line alone, of the stars of a run that goes on.   @return as nb6_bulk_find */
int nb6_stars_announce_frame(struct nb6_progress *progress, const struct nb6_frame *frame,
                             const struct nb6_units *units, struct nbc_error *err);

#endif
