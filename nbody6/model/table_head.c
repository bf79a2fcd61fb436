#include "nbody6/model/table_head.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum { NAMED = 7 };

static const struct {
    const char *name, *other, *unit;
} columns[NAMED] = {{"mass", "m", "[msun]"}, {"x", "x", "[pc]"},     {"y", "y", "[pc]"},    {"z", "z", "[pc]"},
                    {"vx", "vx", "[km/s]"},  {"vy", "vy", "[km/s]"}, {"vz", "vz", "[km/s]"}};

/* The next word, and its length; 0: there is none. */
static size_t next_word(const char **at)
{
    while (isspace((unsigned char)**at) || **at == ',') ++*at;
    size_t length = 0;
    while ((*at)[length] && !isspace((unsigned char)(*at)[length]) && (*at)[length] != ',') length++;
    return length;
}

static int is_word(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && strncasecmp(text, word, length) == 0;
}

/* "Mass_[Msun]": the name, and whether the unit is the physical one. */
static int is_column(const char *word, size_t length, int k, int *physical)
{
    size_t letters = 0;
    while (letters < length && word[letters] != '[' && word[letters] != '_') letters++;
    if (!is_word(word, letters, columns[k].name) && !is_word(word, letters, columns[k].other)) return 0;
    size_t unit = letters < length && word[letters] == '_' ? letters + 1 : letters;
    *physical = is_word(word + unit, length - unit, columns[k].unit);
    return 1;
}

int nb6_table_head_read(const char *line, struct nb6_table_head *head)
{
    struct nb6_table_head found = {.physical = 1};
    while (*line == '#' || *line == '!') line++;
    for (size_t length; (length = next_word(&line)) > 0; line += length, found.columns++) {
        int physical;
        if (found.columns >= NAMED) continue;
        if (!is_column(line, length, found.columns, &physical)) return 0;
        found.physical &= physical;
    }
    if (found.columns < NAMED) return 0;
    *head = found;
    return 1;
}
