/** Clusters whose stars get other masses and velocities while an engine has their image. */
#ifndef IMAGE_EDITS_H
#define IMAGE_EDITS_H

#include "nbody6/engine/choice.h"
#include "nbody6/run/nbody6.h"
#include "tests/support/cluster.h"

#include <stdint.h>

enum { IMAGE_EDIT_SYSTEMS = 90, IMAGE_EDIT_BINARIES = 10 };
/** Interval of adjusts and outputs. */
#define IMAGE_EDIT_ADJUST 0.5

/** Slowly a small part of the mass; suddenly a half of it; other velocities with it. Only single stars that no system
 *  resolves change suddenly in images, and those who then begin anew may be no systems on which others act. */
enum image_edit { WIND, LOSS, KICK, IMAGE_EDITS };

/** Of the tests that run; all engines with images take edits in the same way. */
extern enum nb6_engine_choice image_edit_engine;
/** Of the last edit: stars of pairs on which nothing acts, of others, and single ones that systems resolve. */
extern int64_t image_edit_quiet, image_edit_perturbed, image_edit_resolved;

/** Single stars, or with binaries, at t = 0.1, in between two blocks. */
nb6_t *image_edit_start(int binaries, struct cluster_record *record);
/** Without a move of the state at the end.   @return as nb6_evolve */
int image_edit_evolve(nb6_t *sim, double t);
/** Change up to `most` of the stars that images take, suddenly from the `from`-th star on.   @return as nb6_set_masses
 */
int image_edit_change_from(nb6_t *sim, enum image_edit kind, int64_t most, int64_t from, struct nbc_error *err);
int image_edit_change(nb6_t *sim, enum image_edit kind, int64_t most, struct nbc_error *err);
/** Fails the test unless it succeeds, and the image is ahead. */
void image_edit_make(nb6_t *sim, enum image_edit kind, int64_t most);

#endif
