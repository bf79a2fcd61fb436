#include "nbody6/input/input_search.h"

#include "nbody6/input/input_table.h"
#include "nbody6/input/words/words.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { SHORTEST = 3, LONGEST = 40 };

/* The word searched for: `length` letters of a text, and the endings that may follow it (NULL: any). */
struct stem {
    const char *text;
    size_t length;
    const char *behind;
};

/* "binaries" and "binary" are found by "binar", "tides" and "tidal" by "tid" with one of e, a, i behind it; length 0:
 * the word is too short, or too long. */
static struct stem stem_of(const char *word)
{
    size_t length = strlen(word);
    if (length < SHORTEST || length > LONGEST) return (struct stem){word, 0, NULL};
    if (length > SHORTEST + 2 && strcasecmp(word + length - 3, "ies") == 0)
        return (struct stem){word, length - 3, NULL};
    if (length > SHORTEST && tolower((unsigned char)word[length - 1]) == 's') length--;
    const int last = tolower((unsigned char)word[length - 1]);
    if (length > SHORTEST && last == 'y') length--;
    if (length > SHORTEST && last == 'e') return (struct stem){word, length - 1, "eaiEAI"};
    return (struct stem){word, length, NULL};
}

/* Does a word of the text begin like this? */
static int has(const char *text, const struct stem *stem)
{
    for (const char *at = text; *at; at++) {
        if ((at > text && isalnum((unsigned char)at[-1])) || strncasecmp(at, stem->text, stem->length) != 0) continue;
        const char next = at[stem->length];
        if (!stem->behind || (next && strchr(stem->behind, next))) return 1;
    }
    return 0;
}

static int search_variables(FILE *out, const struct stem *stem)
{
    int found = 0;
    for (int k = 0; k < nb6_input_variable_count; k++) {
        const struct nb6_input_variable *v = &nb6_input_variables[k];
        char words[NB6_INPUT_WORDS_MAX];
        nb6_input_describe_words(v->name, words, sizeof words);
        if (!has(v->name, stem) && !has(v->meaning, stem) && !has(words, stem)) continue;
        const char *reason = nb6_input_reason(v->status);
        fprintf(out, "&%s %s: %s%s%s%s%s%s\n", v->group, v->name, v->meaning, words[0] ? ": " : "", words,
                reason ? " (no effect: " : "", reason ? reason : "", reason ? ")" : "");
        found++;
    }
    return found;
}

/* An option whose title has the word with all its values, else those values that have it. */
static int search_options(FILE *out, const struct stem *stem)
{
    int found = 0;
    for (int k = 0; k < nb6_input_choice_count; k++) {
        const struct nb6_input_choice *c = &nb6_input_choices[k];
        const char *title = nb6_input_options_table[c->number - 1].title;
        if (!has(title, stem) && !has(c->meaning, stem)) continue;
        char value[32];
        nb6_input_describe_choice(c, value, sizeof value);
        fprintf(out, "KZ(%d) %s%s: %s: %s%s\n", c->number, strchr("<>a", value[0]) ? "" : "= ", value, title,
                c->meaning, c->status >= NB6_MISSING_STELLAR ? " (not there yet)" : "");
        found++;
    }
    return found;
}

int nb6_input_search(FILE *out, const char *word)
{
    const struct stem stem = stem_of(word);
    int found = 0;
    if (stem.length == 0) return 0;
    for (int k = 0; k < nb6_input_group_count; k++) {
        const struct nb6_input_group *g = &nb6_input_groups[k];
        if (!has(g->name, &stem) && !has(g->title, &stem)) continue;
        fprintf(out, "&%s: %s\n", g->name, g->title);
        found++;
    }
    found += search_variables(out, &stem);
    found += search_options(out, &stem);
    if (found) fprintf(out, "`nbody6 --help-input NAME` says more of a variable, an option or a group.\n");
    return found;
}
