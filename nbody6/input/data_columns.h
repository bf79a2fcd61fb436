/** COLUMNS of &INMODEL: which columns of a table of stars hold what. Private to libnbody6. */
#ifndef NB6_DATA_COLUMNS_H
#define NB6_DATA_COLUMNS_H

#include "common/nbc.h"

/** What a column may hold, in the order in which COLUMNS names them. */
enum nb6_quantity {
    NB6_MASS,
    NB6_X,
    NB6_VX = NB6_X + 3,
    NB6_ID = NB6_VX + 3, /**< the star's name, a positive integer: may be missing */
    NB6_QUANTITIES
};

/** "mass", "x", ... "vz", "id". */
extern const char *const nb6_quantity_names[NB6_QUANTITIES];

enum { NB6_COLUMN_NAME_MAX = 64 };

struct nb6_columns {
    int count;                  /**< 0: not given; 1: the group of a HDF5 file; 7, or 8 with the id */
    int number[NB6_QUANTITIES]; /**< from 1, if columns are numbered; else 0 */
    char name[NB6_QUANTITIES][NB6_COLUMN_NAME_MAX]; /**< as they stand in the text */
};

/** Take a text apart: names, or numbers, separated by commas or else by blanks.
 *  @param[out] columns filled in any case   @return NBC_OK; NBC_BAD_INPUT, with a message that begins "COLUMNS:" */
int nb6_columns_parse(const char *text, struct nb6_columns *columns, struct nbc_error *err);

#endif
