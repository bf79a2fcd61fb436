/** The table of the namelist input: every group, variable and option (KZ) that NBODY6++GPU users write, and our own,
 * with type, default, range and meaning. The reader, the checks, the help and docs/input.md are made from it. Private
 * to libnbody6. */
#ifndef NB6_INPUT_TABLE_H
#define NB6_INPUT_TABLE_H

#include "nbody6/input/namelist_value.h"

struct nb6_config;

enum { NB6_KZ_COUNT = 50 };

/** Effect of a variable or of a value of an option. */
enum nb6_input_status {
    NB6_USED,
    NB6_NEAREST, /**< an option: acts as another value, which its meaning names, and that is noted */
    NB6_AGEING,  /**< an option of stars that age (KZ(19) > 0): refused without; --dynamics-only turns it off */
    NB6_NOT_YET, /**< the same, but with stars that age it is noted as not computed yet */
    /* accepted without effect, because ... (nb6_input_reason) */
    NB6_OUTPUT,    /**< it chooses output that is written anyway, in another form */
    NB6_FIXED,     /**< this code has only one of the alternatives */
    NB6_TECHNICAL, /**< it concerns the inside of other codes */
    NB6_UNREAD,    /**< no code reads it */
    NB6_STELLAR,   /**< of stars that exchange mass, or of pulsars, which are not there yet */
    /* refused */
    NB6_MISSING_STELLAR, /**< stellar evolution, tides, relativity: --dynamics-only turns it off */
    NB6_MISSING          /**< another cluster without it: has to be changed in the input */
};

/** The reason for accepting without effect, in words: "close pairs are ..."; NULL for the others. */
const char *nb6_input_reason(enum nb6_input_status status);

/** Where a variable's value goes: nowhere, to a member of the configuration of this type, or, of a scalar real or
 * integer without a member, or of the number of a word whose default is number 0, to the configuration's numbers. */
enum nb6_input_target {
    NB6_TO_NONE,
    NB6_TO_DOUBLE,
    NB6_TO_INT64,
    NB6_TO_UINT64,
    NB6_TO_INT,
    NB6_TO_TEXT,
    NB6_TO_NUMBER
};

struct nb6_input_group {
    const char *name;
    int own; /**< 1: not an NBODY6++ group */
    const char *title;
};

struct nb6_input_variable {
    const char *group, *name;
    enum nb6_value_type type;
    int length; /**< 1: scalar */
    enum nb6_input_status status;
    const char *unit;    /**< "" without */
    const char *initial; /**< default, as it would be written; "" for variables without effect */
    double min, max;     /**< admissible values */
    int open;            /**< 1: min itself is not admissible */
    const char *meaning;
    enum nb6_input_target target;
    size_t offset; /**< of the member in struct nb6_config */
};

/** One option KZ(number). */
struct nb6_input_option {
    int number;
    int initial; /**< default */
    int off;     /**< the value that avoids the missing feature */
    const char *title;
};

/** A range of values of an option. A value in no range is refused. */
struct nb6_input_choice {
    int number, low, high;
    enum nb6_input_status status;
    const char *meaning;
};

extern const struct nb6_input_group nb6_input_groups[];
extern const struct nb6_input_variable nb6_input_variables[];
extern const struct nb6_input_option nb6_input_options_table[];
extern const struct nb6_input_choice nb6_input_choices[];
extern const int nb6_input_group_count, nb6_input_variable_count, nb6_input_choice_count;

/** Number of a group or variable (group may be NULL: any group), or -1. Upper or lower case. */
int nb6_input_find_group(const char *name);
int nb6_input_find_variable(const char *group, const char *name);
const struct nb6_input_choice *nb6_input_find_choice(int number, long value);
/** The values of a choice: "2", "1 to 3", ">= 5", "any". */
void nb6_input_describe_choice(const struct nb6_input_choice *choice, char *text, size_t size);
/** Where in struct nb6_config the value of a variable is: its member, or its place among the numbers. */
size_t nb6_input_offset(const struct nb6_input_variable *variable);
/** The value of one without a member (NB6_TO_NUMBER). */
double nb6_input_number(const struct nb6_config *config, const struct nb6_input_variable *variable);

/** The name nearest to a misspelt one: of a variable of the group (NULL: of any), or of a group; NULL if none is near.
 */
const char *nb6_input_near_variable(const char *group, const char *name);
const char *nb6_input_near_group(const char *name);
/** Do two names differ by few letters? Smaller is nearer; -1: not near. */
int nb6_input_distance(const char *a, const char *b);

#endif
