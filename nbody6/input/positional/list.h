/** The namelist that positional input becomes: made, asked for values, changed. Private to libnbody6. */
#ifndef NB6_POSITIONAL_LIST_H
#define NB6_POSITIONAL_LIST_H

#include "common/nbc.h"
#include "nbody6/input/namelist.h"
#include "nbody6/input/positional/positional.h"
#include "nbody6/input/positional/table.h"

/** An empty list with a copy of the text.   @return NBC_OK; NBC_NO_MEMORY */
int nb6_positional_create(struct nb6_positional *input, const char *path, const char *text, size_t size,
                          struct nbc_error *err);

/** Add a variable with its values; null values at its end are left out, and a variable that has no others.
 *  @param[in] value [field->count]; position of the first among `positions` of the record */
void nb6_positional_add(struct nb6_namelist *list, const struct nb6_record_field *field, const struct nb6_token *value,
                        int position, int positions);

/** The value of a scalar variable.   @return 0: it has none, or it is no number */
int nb6_positional_number(const struct nb6_positional *input, const char *group, const char *name, double *number);
/** Write the value of a scalar variable, or of an option, anew, or give one to a variable that has none: in the line
 *  of the variable `from` of that group, or of `name` itself.   @param[in] from may be NULL */
void nb6_positional_set(struct nb6_positional *input, const char *group, const char *name, const char *from,
                        const char *text);
/** Multiply all values of a variable, those that are numbers. */
void nb6_positional_scale(struct nb6_positional *input, const char *group, const char *name, double factor);
void nb6_positional_set_option(struct nb6_positional *input, int number, int value);
/** The option KZ(number) of an input that sets no others, in the line of a token. */
void nb6_positional_add_option(struct nb6_positional *input, int number, int value, int line);
/** The number that a token is, as Fortran reads it.   @return 0: it is none, or not finite */
int nb6_positional_read_number(const struct nb6_token *token, double *number);
/** The same of an integer that fits an int.   @return 0: it is no such number */
int nb6_positional_read_int(const struct nb6_token *token, int *number);

#endif
