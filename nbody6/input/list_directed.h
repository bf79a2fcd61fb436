/** Records as Fortran's list-directed READ takes them from a text: values in any columns and over as many lines as they
 *  need, `r*c` for r values, nothing between two commas and `r*` for null values, `/` for "no more"; the rest of the
 *  last line is ignored. Beyond Fortran, `!` begins a comment. Private to libnbody6. */
#ifndef NB6_LIST_DIRECTED_H
#define NB6_LIST_DIRECTED_H

#include "common/nbc.h"
#include "nbody6/input/namelist.h"

enum { NB6_RECORD_VALUES = 64 }; /**< longest record */

/** Where the next record begins. */
struct nb6_list_reader {
    const char *path; /**< for messages */
    const char *at, *end;
    int line;
};

/** Values of one record. */
struct nb6_list_record {
    struct nb6_token value[NB6_RECORD_VALUES]; /**< repeat 1; length 0: null value */
    int count;                                 /**< values that were there, null values included */
    int closed;                                /**< by a slash: those that are not there are null values */
    int line, last_line;                       /**< of the first value, and of the last one or of the slash */
};

/** Read one record of `wanted` values; those after the first `needed` are taken only if the line goes on.
 *  @param[in]  wanted at most NB6_RECORD_VALUES
 *  @param[out] record values that are not there are null; fewer than `needed` that no slash closes: the text ended
 *  @return NBC_OK; NBC_BAD_INPUT (a repeat count that is none) */
int nb6_list_read(struct nb6_list_reader *reader, int wanted, int needed, struct nb6_list_record *record,
                  struct nbc_error *err);

/** Count of numbers at the beginning of the next line that is not blank. The reader stays where it is. */
int nb6_list_numbers_ahead(const struct nb6_list_reader *reader);

/** Past the next line that is not blank. */
void nb6_list_skip_line(struct nb6_list_reader *reader);

#endif
