/** Names in commands that are printed for a user to copy. */
#ifndef NB6_SHELL_WORD_H
#define NB6_SHELL_WORD_H

#include "nbody6/app/run_names.h"

enum { NB6_SHELL_WORD = 4 * NB6_NAME_BYTES + 8 };

/** A path as a word of the shell: in quotes where it has blanks or signs that mean something there, and with ./ before
 * a minus, which would make it an option.   @param[in] path  shorter than NB6_NAME_BYTES
 *  @return word */
const char *nb6_shell_word(const char *path, char word[NB6_SHELL_WORD]);

#endif
