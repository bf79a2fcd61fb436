/** Values of a namelist assignment: syntax and range of each checked here, converted by the Fortran runtime. Private to
 *  libnbody6. */
#ifndef NB6_NAMELIST_VALUE_H
#define NB6_NAMELIST_VALUE_H

#include "nbody6/input/config.h"
#include "nbody6/input/namelist.h"

enum { NB6_NAMELIST_ELEMENTS = 64 }; /**< longest array; max_elements of namelist_read.f90 */

enum nb6_value_type { NB6_INTEGER, NB6_REAL, NB6_TEXT };

/** One element of a variable. */
struct nb6_value {
    int line; /**< where it was set; 0: it was not */
    int64_t integer;
    double real; /**< also of an integer */
};

/** Convert the values of one assignment. Elements that have none (null values) keep what they hold.
 *  @param[in]     length 1: scalar
 *  @param[in,out] value  [length]
 *  @param[in,out] text   [NB6_PATH_MAX], for NB6_TEXT only
 *  @return NBC_OK; NBC_BAD_INPUT; NBC_NO_MEMORY */
int nb6_namelist_values(const struct nb6_namelist *list, const struct nb6_assignment *assignment,
                        enum nb6_value_type type, int length, struct nb6_value *value, char *text,
                        struct nbc_error *err);

#endif
