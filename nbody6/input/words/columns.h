/** COLUMNS of &INMODEL: the columns of a table of stars. Private to libnbody6. */
#ifndef NB6_WORDS_COLUMNS_H
#define NB6_WORDS_COLUMNS_H

#include "common/nbc.h"
#include "nbody6/input/properties.h"

/** Quantities that a column may hold. */
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

/** KEEP of &INMODEL: which other columns are kept with the stars. */
struct nb6_keep {
    int unasked; /**< 1: not given, columns with known names are kept */
    int all;     /**< 1: each that holds numbers */
    int count;   /**< these, and no others */
    char name[NB6_PROPERTIES_MAX][NB6_COLUMN_NAME_MAX];
};

struct nb6_columns {
    int count;                  /**< 0: not given; 1: the group of a HDF5 file; 7, or 8 with the id */
    int number[NB6_QUANTITIES]; /**< from 1, if columns are numbered; else 0 */
    char name[NB6_QUANTITIES][NB6_COLUMN_NAME_MAX]; /**< as they stand in the text */
    struct nb6_keep keep;
};

/** Take two texts apart: names, or numbers, separated by commas or else by blanks.
 *  @param[in] keep  of KEEP: "", 'none', 'all', or names
 *  @param[out] columns filled in any case   @return NBC_OK; NBC_BAD_INPUT, with a message that begins "COLUMNS:" or
 *  "KEEP:" */
int nb6_columns_parse(const char *text, const char *keep, struct nb6_columns *columns, struct nbc_error *err);

#endif
