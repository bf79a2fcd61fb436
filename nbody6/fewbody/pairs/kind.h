/** Two stars in a KS motion as a kind of few-body system, and operations shared with hierarchies. */
#ifndef NB6_PAIRS_KIND_H
#define NB6_PAIRS_KIND_H

#include "nbody6/fewbody/kind.h"
#include "nbody6/state/body.h"

int nb6_pair_kind_advance(struct nb6_field *f, const struct nb6_motion *motion, nb6_slot slot, double t,
                          struct nbc_error *err);
int nb6_pair_kind_step(struct nb6_field *f, const struct nb6_motion *motion, nb6_slot slot, struct nbc_error *err);
int nb6_pair_kind_finish(struct nb6_field *f, const struct nb6_motion *motion, nb6_slot slot, double t,
                         struct nbc_error *err);
int nb6_pair_kind_start(struct nb6_field *f, const struct nb6_motion *motion, nb6_slot slot, struct nbc_error *err);
int nb6_pair_kind_points(const struct nb6_subsystems *subsystems, const struct nb6_motion *motion, nb6_slot slot,
                         double t, const double x[3], const double v[3], struct nb6_points *to);
struct nb6_mean_rule nb6_pair_kind_mean_rule(const struct nb6_sim *sim, nb6_slot slot);
int nb6_pair_kind_mean_parts(const struct nb6_subsystems *subsystems, nb6_slot slot, struct nb6_parts *to);
double nb6_pair_kind_energy(const struct nb6_subsystems *subsystems, const struct nb6_motion *motion, nb6_slot slot);
double nb6_pair_kind_reference_radius(const struct nb6_sim *sim, nb6_slot slot);
double nb6_pair_kind_room(const struct nb6_sim *sim, nb6_slot slot);
double nb6_pair_kind_step_limit(const struct nb6_sim *sim, nb6_slot slot);
void nb6_pair_kind_count_work(struct nb6_sim *sim, nb6_slot slot);
void nb6_pair_kind_describe(const struct nb6_sim *sim, nb6_slot slot, enum nb6_pair_reason reason,
                            struct nb6_event *event);
/** The largest perturbation so far. That of a remote pair is noted when perturbers are chosen, since it moves at other
 * times. */
void nb6_pair_note_gamma(struct nb6_sim *sim, nb6_slot slot);
/** Whether a pair ends with this block for one of the reasons that pairs and hierarchies have in common. */
int nb6_pair_kind_look(struct nb6_sim *sim, nb6_slot slot);
/** It ends, but not because its stars have met before their perturbers stand: it goes on as a pair until then. */
int nb6_pair_kind_decide(struct nb6_sim *sim, nb6_slot slot, struct nb6_decisions *decisions, struct nbc_error *err);

#endif
