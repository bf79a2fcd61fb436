/** The text of an input, read once: the kind of start is known before the rest is interpreted. */
#ifndef NB6_INPUT_TEXT_H
#define NB6_INPUT_TEXT_H

#include "common/nbc.h"

#include <stddef.h>

struct nb6_input_text {
    const char *path; /**< as it was named; "-": standard input */
    const char *name; /**< for messages */
    char *text;       /**< not terminated */
    size_t size;
};

/** Read a file, or standard input. The path has to live as long as the text.
 *  @param[out] text release with nb6_input_unload; nothing is to be released on failure
 *  @return NBC_OK; NBC_BAD_INPUT (cannot be read); NBC_NO_MEMORY */
int nb6_input_load(const char *path, struct nb6_input_text *text, struct nbc_error *err);
void nb6_input_unload(struct nb6_input_text *text);

#endif
