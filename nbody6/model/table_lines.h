/** The lines of a table of stars in text form, plain or compressed with gzip. Private to libnbody6. */
#ifndef NB6_TABLE_LINES_H
#define NB6_TABLE_LINES_H

#include "common/nbc.h"

#include <stdint.h>
#include <zlib.h>

enum { NB6_TABLE_LINE_MAX = 8192 };

struct nb6_table_lines {
    const char *path;
    gzFile file;
    int64_t number; /**< of the line in text, from 1 */
    char text[NB6_TABLE_LINE_MAX];
};

/** Open a table.   @return NBC_OK; NBC_BAD_INPUT (no such file, a folder, compressed by another program) */
int nb6_table_open(const char *path, struct nb6_table_lines *lines, struct nbc_error *err);
/** The next line, without its end and without a byte-order mark.
 *  @param[out] more 0: there was none   @return NBC_OK; NBC_BAD_INPUT (no text, a line too long, a damaged archive);
 *  NBC_FILE */
int nb6_table_next(struct nb6_table_lines *lines, int *more, struct nbc_error *err);
void nb6_table_close(struct nb6_table_lines *lines);

#endif
