/* Stars for the tests of stellar/. */
#ifndef TEST_STARS_H
#define TEST_STARS_H

#include "stellar/stellar.h"

/** A model with the defaults of a level and changes "NAME=VALUE NAME=VALUE"; fails the test if it cannot be. */
struct stellar_model *stars_model(char level, double z, const char *changes);
/** The star of a mass at a time, and what happened until then. */
struct stellar_view stars_at(const struct stellar_model *model, double mass, double time_myr,
                             struct stellar_events *events);
/** The event by which a star became of a type; fails the test if it did not. */
const struct stellar_event *stars_event(const struct stellar_events *events, int type_after);

#endif
