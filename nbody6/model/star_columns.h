/** Columns of a data file that are kept with the stars (properties.h): types, radii and others that are known by usual
 *  names, and those that KEEP of &INMODEL names. Private to libnbody6. */
#ifndef NB6_STAR_COLUMNS_H
#define NB6_STAR_COLUMNS_H

#include "nbody6/input/properties.h"
#include "nbody6/input/words/columns.h"

/** Columns that are kept, of a table with a head. */
struct nb6_star_columns {
    int count;
    int at[NB6_PROPERTIES_MAX];        /**< which column, from 0 */
    int asked[NB6_PROPERTIES_MAX];     /**< 1: KEEP names it: it must hold numbers */
    int no_number[NB6_PROPERTIES_MAX]; /**< 1: it holds something else, and is not kept */
    double factor[NB6_PROPERTIES_MAX]; /**< brings values to the unit of the column */
    struct nb6_property column[NB6_PROPERTIES_MAX];
};

/** The property of a known column.   @param[in] name, unit  [length], as the file has them; unit: none if it is empty
 *  @param[out] column  name and unit of the property   @param[out] factor  from the file's unit to that
 *  @return 1; 0: a name that stands for none, or may stand for something else */
int nb6_star_column_known(const char *name, size_t name_length, const char *unit, size_t unit_length,
                          struct nb6_property *column, double *factor);

/** Does KEEP name this?   @return its number in KEEP, or -1 */
int nb6_keep_names(const struct nb6_keep *keep, const char *name, size_t length);

/** A column of the file joins those that are kept, if it is known or KEEP wants it.
 *  @param[in] word  as the head has it, name and unit; both also apart
 *  @return 1: it is kept; 0: it is not; -1: there are too many, or two of one name */
int nb6_star_columns_take(struct nb6_star_columns *kept, const struct nb6_keep *keep, int at, const char *word,
                          size_t word_length, const char *name, size_t name_length, const char *unit,
                          size_t unit_length);

#endif
