/** The values of a namelist file, by rows of the table, between reading and interpreting. Private to libnbody6. */
#ifndef NB6_INPUT_VALUES_H
#define NB6_INPUT_VALUES_H

#include "nbody6/input/input.h"
#include "nbody6/input/input_table.h"

/** Values of all variables. */
struct nb6_input_values {
    const char *path;           /**< for messages */
    struct nb6_value *value;    /**< elements of all variables, one after the other */
    char (*text)[NB6_PATH_MAX]; /**< [variable] of the textual ones */
    int *first;                 /**< [variable] its first element in value */
    /** Meanings of options in the code that the file is for; NULL: those of the table. */
    const struct nb6_input_choice *choice[NB6_KZ_COUNT];
};

/** @return NBC_OK; NBC_NO_MEMORY */
int nb6_input_values_create(struct nb6_input_values *values, const char *path, struct nbc_error *err);
void nb6_input_values_free(struct nb6_input_values *values);

/** Take over one assignment: the variable of the table (number `variable`), its values and their ranges.
 *  @return NBC_OK; NBC_BAD_INPUT; NBC_NO_MEMORY */
int nb6_input_take(struct nb6_input_values *values, const struct nb6_namelist *list,
                   const struct nb6_assignment *assignment, int variable, struct nbc_error *err);
/** Take over a whole file: names are looked up, groups and scalars may occur once. Values that the options do not use
 *  are checked, but only noted where they are wrong; null values are noted. */
int nb6_input_take_all(struct nb6_input_values *values, const struct nb6_namelist *list, FILE *notes,
                       struct nbc_error *err);
/** Reason why a variable has no effect with the present options; NULL: it has one. */
const char *nb6_input_unused(const struct nb6_input_values *values, const struct nb6_input_variable *variable);

/** Elements of a variable by its name, which has to be in the table. */
struct nb6_value *nb6_input_get(const struct nb6_input_values *values, const char *group, const char *name);
const char *nb6_input_text(const struct nb6_input_values *values, const char *group, const char *name);
/** KZ(number), the default if it was not set. */
int nb6_input_kz(const struct nb6_input_values *values, int number);
/** Line of KZ(number), 0 if it was not set. */
int nb6_input_kz_line(const struct nb6_input_values *values, int number);
/** Meaning of its value; NULL: none. */
const struct nb6_input_choice *nb6_input_kz_choice(const struct nb6_input_values *values, int number);

/** Refuse settings for physics that is not there, all in one message. With dynamics_only, those of stellar evolution,
 *  tides and relativity are set to "off" in `values` instead, which is noted.
 *  @param[in] goes_on 1: the input may ask that a run goes on (KSTART = 2 to 5)
 *  @return NBC_OK; NBC_BAD_INPUT */
int nb6_input_check_missing(struct nb6_input_values *values, const struct nb6_input_options *options, int goes_on,
                            struct nbc_error *err);
/** Refuse settings that contradict each other.   @return NBC_OK; NBC_BAD_INPUT */
int nb6_input_check_contradictions(const struct nb6_input_values *values, struct nbc_error *err);
/** Note the variables accepted without effect, a line for each reason. */
void nb6_input_note_ignored(const struct nb6_input_values *values, FILE *notes);

/** Interpret all values that were set, in the order of the table, over the present values of the configuration. SMAX
 *  becomes a power of two, which is noted.   @return NBC_OK; NBC_BAD_INPUT */
int nb6_input_apply(const struct nb6_input_values *values, FILE *notes, struct nb6_config *config,
                    struct nbc_error *err);
/** Derive values from all variables of a file together (number of stars of a data file, limit of NNBOPT); notes say
 *  so. */
int nb6_input_settle(const struct nb6_input_values *values, FILE *notes, struct nb6_config *config,
                     struct nbc_error *err);
/** The meaning of one option. */
void nb6_input_apply_option(struct nb6_config *config, int number, int value);

#endif
