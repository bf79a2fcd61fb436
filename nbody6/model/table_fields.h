/** The fields of a line of a table of stars, and the numbers in them. Private to libnbody6. */
#ifndef NB6_TABLE_FIELDS_H
#define NB6_TABLE_FIELDS_H

#include "common/nbc.h"

#include <stddef.h>
#include <stdint.h>

struct nb6_field {
    const char *text;
    size_t length;
};

/** How a line is divided: by `separator`, ',' or ';', and, unless `strict`, by blanks too. */
struct nb6_division {
    char separator;
    int strict; /**< 1: by the separator alone, so that fields may hold blanks, or nothing */
};

/** Content of a line behind its leading blanks. */
const char *nb6_table_content(const char *line);
/** Does a line hold only a comment? Does it begin with a number?   @param[in] line  as nb6_table_content has it */
int nb6_table_is_comment(const char *line);
int nb6_table_is_number(const char *line);
/** Does the line, or the comment that is its rest, begin here? */
int nb6_table_ends(char c);

/** Of a line of so many columns; 0: it is not known.   @return the separator is ';' if the line has one */
struct nb6_division nb6_table_division(const char *line, int columns);
/** The field at *at, which moves to the next one or to the end of the line. */
struct nb6_field nb6_table_field(const char **at, struct nb6_division by);
/** Does a line have numbers with a comma for a point, "0,5 1,25" or "0,5;1,25"? */
int nb6_table_has_decimal_commas(const char *line);

enum { NB6_WHY_ROOM = 192 };
/** A decimal number as C or Fortran writes it: 1, -1.5, 2.5E-3, 2.5D-3, 1.0-4 (for 1.0E-4, where the exponent took the
 *  place of its letter). Correctly rounded. Called in the C locale.
 *  @param[in] scale  a number times this is at most NB6_DATA_LARGEST
 *  @param[out] why   the reason of a refusal, that begins with the field as far as it can be shown
 *  @return NBC_OK; NBC_BAD_INPUT */
int nb6_table_number(struct nb6_field field, double scale, double *value, char why[NB6_WHY_ROOM]);

/** Largest number in a table, in the units it is converted to: a larger one lies outside the sphere that holds all
 * stars (NB6_R_NB_ALL of step/rules.h), or overflows in products. */
#define NB6_DATA_LARGEST 1e15

#endif
