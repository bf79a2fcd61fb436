/** NAME.events.jsonl: events of stars and of the run, one JSON object in each line, N-body units:
 *      {"t": .., "event": "run", "id": ..}
 *          the first line: id of the run
 *      {"t": .., "event": "escape", "name": .., "mass": .., "x": [..], "v": [..], "energy": ..}
 *          x, v relative to the density centre; energy per unit mass
 *      {"t": .., "event": "energy_jump", "de_cluster": .., "tolerance": ..}
 *          relative energy error of an adjust interval above QE
 *      {"t": .., "event": "force_check", "acc_median": .., "acc_max": .., "jerk_median": .., "jerk_max": .., "name":
 * ..} relative errors against a direct sum; name of the star with the largest error of the acceleration
 *      {"t": .., "event": "tree_check", "targets": .., "lists": .., "acc_median": .., "acc_99": .., "jerk_median": ..,
 *       "jerk_99": ..}
 *          regular forces by tree against direct sums: targets, those with another list, relative errors
 *      {"t": .., "event": "coincident", "name": ..}
 *          a star at the very place of another one
 *      {"t": .., "event": "pair_formed", "reason": .., "names": [..], "name": .., "masses": [..], "x": [..], "v": [..],
 *       "a": .., "e": .., "period": .., "r": .., "binding": .., "gamma": .., "energy_change": ..}
 *          a regularized pair: names of the stars and of the centre of mass; x and v of the latter, in the frame of the
 * run; osculating elements, separation, energy of the relative motion, perturbation; change of the total energy by the
 * event itself. Reasons: encounter, primordial
 *      {"t": .., "event": "pair_ended", ..}
 *          the same with t_formed, gamma_max (largest perturbation) and ks_steps. Reasons: separated, perturbed,
 * dissolved, collision, escaped; meanings are at enum nb6_pair_reason. A number that is not finite is null.
 *  NAME.esc.csv: a row for each escaper, header lines as in NAME.log.csv. */
#ifndef NB6_EVENTS_H
#define NB6_EVENTS_H

#include "nbody6/input/units.h"
#include "nbody6/output/textfile.h"

struct nb6_event;

/** First line, for an empty file.   @param[in] t  now   @param[in] run  id of the run (run_id.h) */
int nb6_events_begin(struct nb6_textfile *file, double t, const char *run, struct nbc_error *err);
/** The line of an event, without its end.   @param[out] line  overwritten */
void nb6_events_text(const struct nb6_event *event, struct nb6_line *line);
/** One line. */
int nb6_events_add(struct nb6_textfile *file, const struct nb6_event *event, struct nbc_error *err);

/** Header lines, for an empty file.   @param[in] run  id of the run   @param[in] they_age  1: with types, radii,
 *  luminosities and temperatures of stars that age */
int nb6_escapers_begin(struct nb6_textfile *file, const char *run, int they_age, struct nbc_error *err);
/** One row. */
int nb6_escapers_add(struct nb6_textfile *file, const struct nb6_event *event, const struct nb6_units *units,
                     int they_age, struct nbc_error *err);

#endif
