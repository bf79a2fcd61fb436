/** A text file that grows line by line and can be cut back: log, events, escapers. */
#ifndef NB6_TEXTFILE_H
#define NB6_TEXTFILE_H

#include "common/nbc.h"

struct nb6_textfile {
    char path[1200];
    int fd; /**< -1: not open */
    int64_t bytes;
    int told; /**< 1: nb6_textfile_was_moved has reported it */
};

/** Open for appending, after cutting the file back to `keep` bytes (0: an empty file). A file that is shorter than
 * that, or missing, goes on from where it ends; `found` gets its length.
 *  @return NBC_OK; NBC_FILE; on failure nothing is open */
int nb6_textfile_open(struct nb6_textfile *file, const char *path, int64_t keep, int64_t *found, struct nbc_error *err);
/** Append a text, completely or not at all. Nothing happens when the file is not open. */
int nb6_textfile_add(struct nb6_textfile *file, const char *text, struct nbc_error *err);
/** Bring everything to the disk. */
int nb6_textfile_sync(struct nb6_textfile *file, struct nbc_error *err);
/** 1 if the open file does not have this name any more, because it was removed or renamed; returned once. */
int nb6_textfile_was_moved(struct nb6_textfile *file);
void nb6_textfile_close(struct nb6_textfile *file);

/** A text built up piece by piece in a buffer of fixed length; text that does not fit is cut off. */
struct nb6_line {
    size_t used;
    char text[8192];
};
void nb6_line_add(struct nb6_line *line, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
