/** One row of a table of stars. Private to libnbody6. */
#ifndef NB6_TABLE_ROW_H
#define NB6_TABLE_ROW_H

#include "common/nbc.h"
#include "nbody6/model/table_fields.h"
#include "nbody6/model/table_head.h"

#include <stdint.h>

struct nb6_table_row {
    double value[NB6_ID]; /**< mass, position, velocity */
    int64_t id;           /**< 0: it has none, or none that is a positive integer */
};

/** Read a line of n numbers and nothing else, which are quantities from `first` on. Called in the C locale.
 *  @param[out] value [n]   @return NBC_OK; NBC_BAD_INPUT */
int nb6_table_numbers(const char *path, int64_t number, const char *line, int first, int n, double value[],
                      struct nbc_error *err);

/** Read the quantities of a row from the columns that the head has for them. Called in the C locale.
 *  @param[in] path, number  of the line, for messages
 *  @param[in,out] head  kept.no_number is noted
 *  @param[out] kept  [head->kept.count] values of other columns; NaN: none, or no number
 *  @return NBC_OK; NBC_BAD_INPUT */
int nb6_table_row_read(const char *path, int64_t number, const char *line, struct nb6_table_head *head,
                       struct nb6_table_row *row, double *kept, struct nbc_error *err);

#endif
