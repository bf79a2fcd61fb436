/** A search through all texts of the help on the input. Private to libnbody6. */
#ifndef NB6_INPUT_SEARCH_H
#define NB6_INPUT_SEARCH_H

#include <stdio.h>

/** Print a line for each group, variable, option and value of an option whose text has the word, singular or plural, in
 *  upper or lower case.   @return how many there are */
int nb6_input_search(FILE *out, const char *word);

#endif
