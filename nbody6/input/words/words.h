/** Words that are values of textual variables, and the options KZ set by those of &INOPTIONS. Private to libnbody6. */
#ifndef NB6_WORDS_WORDS_H
#define NB6_WORDS_WORDS_H

#include "nbody6/input/input_table.h"
#include "nbody6/input/input_values.h"

/** A word of a variable. */
struct nb6_input_word {
    const char *name; /**< the variable, which is unique among all groups */
    int kz;           /**< number of the option that it sets; 0: none */
    const char *word;
    int number; /**< value of the option, or of an enum that the configuration has for it */
};

enum { NB6_INPUT_WORDS_MAX = 512 }; /**< characters of all words of a variable with their numbers */

extern const struct nb6_input_word nb6_input_words[];
extern const int nb6_input_word_count;

/** Value of a word of a variable, in upper or lower case.   @return 1: it is one of the words */
int nb6_input_word_number(const char *name, const char *word, int *number);
/** Refuse a text that is none of the words of its variable, with those that are, and the nearest of them. A variable
 *  without words may be anything.   @return NBC_OK; NBC_BAD_INPUT */
int nb6_input_check_word(const char *path, int line, const char *name, const char *word, struct nbc_error *err);
/** Words of a variable, for help: "'none' (KZ(14) = 0), 'solar' (1)"; "" if it sets no option. */
void nb6_input_describe_words(const char *name, char *text, size_t size);
/** The word for the default of an option; NULL: the variable sets none. */
const char *nb6_input_default_word(const char *name);
/** Do two values of an option mean the same? */
int nb6_input_same_choice(int kz, int a, int b);
/** Set the options that &INOPTIONS names in `values`.   @return NBC_OK; NBC_BAD_INPUT: KZ is set otherwise */
int nb6_input_take_words(struct nb6_input_values *values, struct nbc_error *err);

#endif
