/** Rules for changes of the parameters of a continued run. Private to libnbody6. */
#ifndef NB6_INPUT_CHANGE_RULES_H
#define NB6_INPUT_CHANGE_RULES_H

#include "nbody6/input/input_table.h"

#include <stdio.h>

/** A member of the configuration that an option or a word sets; some set two. Those of other variables are in the table
 *  of the input. */
struct nb6_change_meaning {
    const char *name; /**< "KZ(23)", "CHAIN" */
    size_t offset, bytes;
    const char *reason; /**< why it cannot be changed; NULL: it can */
};

extern const struct nb6_change_meaning nb6_change_meanings[];
extern const int nb6_change_meaning_count;

/** Why a variable, a number, cannot be changed; NULL: it can. */
const char *nb6_change_reason(const struct nb6_input_variable *v);

/** For people: how a run is continued with changes, and a list of what may be changed. */
void nb6_change_help(FILE *out, int markdown);

#endif
