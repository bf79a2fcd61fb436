/** The tables of positional input as text or Markdown. Private to libnbody6. */
#ifndef NB6_POSITIONAL_HELP_H
#define NB6_POSITIONAL_HELP_H

#include <stdio.h>

void nb6_positional_help(FILE *out, int markdown);

#endif
