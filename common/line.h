/** One line of text for a person, put together piece by piece. */
#ifndef NBC_LINE_H
#define NBC_LINE_H

#include <stddef.h>

/** Zero-initialise. */
struct nbc_line {
    char text[1024];
    size_t used;
};

/** Append formatted text; the part that exceeds the capacity is left out. */
void nbc_line_add(struct nbc_line *line, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** The value of an environment variable, "" if it is not set. */
const char *nbc_variable(const char *name);
/** Whether lines about success are suppressed: the environment variable NBC_QUIET is set, and not to 0. */
int nbc_is_quiet(void);

#endif
