#include "nbody6/model/table_fields.h"

#include "common/nbc.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { NUMBER_MAX = 64 };

/* ---- lines ---- */

static int is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

int nb6_table_ends(char c)
{
    return c == '\0' || c == '#' || c == '!';
}

const char *nb6_table_content(const char *line)
{
    while (is_blank(*line)) line++;
    return line;
}

int nb6_table_is_comment(const char *line)
{
    return nb6_table_ends(*line);
}

int nb6_table_is_number(const char *line)
{
    while (*line == '+' || *line == '-' || *line == '.' || *line == '"') line++;
    return isdigit((unsigned char)*line) != 0;
}

/* ---- fields ---- */

struct nb6_division nb6_table_division(const char *line, int columns)
{
    int semicolons = 0, commas = 0;
    for (; !nb6_table_ends(*line); line++) {
        semicolons += *line == ';';
        commas += *line == ',';
    }
    if (semicolons) return (struct nb6_division){';', 1};
    return (struct nb6_division){',', columns > 1 && commas >= columns - 1};
}

struct nb6_field nb6_table_field(const char **at, struct nb6_division by)
{
    const char *begin = *at, *end;
    if (by.strict && *begin == '"') {
        end = strchr(++begin, '"');
        if (!end) end = begin + strlen(begin);
        for (*at = end + (*end == '"'); is_blank(**at); ++*at) {
        }
    } else {
        for (end = begin; !nb6_table_ends(*end) && *end != by.separator && (by.strict || !is_blank(*end)); end++) {
        }
        *at = nb6_table_content(end);
        while (end > begin && is_blank(end[-1])) end--;
    }
    if (**at == by.separator) ++*at;
    *at = nb6_table_content(*at);
    return (struct nb6_field){begin, (size_t)(end - begin)};
}

/* "0,5", "-1,25e-3": digits, one comma, digits. */
static int has_decimal_comma(struct nb6_field f)
{
    const char *comma = f.length ? memchr(f.text, ',', f.length) : NULL;
    if (!comma || comma == f.text || comma + 1 == f.text + f.length) return 0;
    if (!isdigit((unsigned char)comma[-1]) || !isdigit((unsigned char)comma[1])) return 0;
    for (size_t i = 0; i < f.length; i++)
        if (!strchr("0123456789+-eEdD", f.text[i]) && f.text + i != comma) return 0;
    return 1;
}

/* Between semicolons or blanks. Numbers between commas and blanks, "0.5, 1.25", have no digit behind the comma; those
 * between commas alone are one word of many commas. */
int nb6_table_has_decimal_commas(const char *line)
{
    int found = 0;
    const char semicolon = memchr(line, ';', strlen(line)) ? ';' : ' ';
    while (!nb6_table_ends(*line)) {
        const char *begin = line;
        while (!nb6_table_ends(*line) && *line != semicolon && !is_blank(*line)) line++;
        struct nb6_field word = {begin, (size_t)(line - begin)};
        if (word.length > 2 && word.text[0] == '"') word = (struct nb6_field){begin + 1, word.length - 2};
        found += has_decimal_comma(word);
        if (!nb6_table_ends(*line)) line++;
    }
    return found > 1;
}

/* ---- numbers ---- */

/* A field for a message: printable, not longer than is good to read. */
static void quote(char out[40], struct nb6_field field)
{
    const size_t shown = field.length < 24 ? field.length : 24;
    size_t at = 0;
    out[at++] = '\'';
    for (size_t i = 0; i < shown; i++) out[at++] = isprint((unsigned char)field.text[i]) ? field.text[i] : '?';
    if (shown < field.length) {
        memcpy(out + at, "...", 3);
        at += 3;
    }
    out[at++] = '\'';
    out[at] = '\0';
}

static int refuse(struct nb6_field field, const char *reason, char why[NB6_WHY_ROOM])
{
    char quoted[40];
    quote(quoted, field);
    snprintf(why, NB6_WHY_ROOM, "%s %s", quoted, reason);
    return NBC_BAD_INPUT;
}

/* As strtod takes it.   @return 0: it has other characters */
static int to_c(struct nb6_field f, char text[NUMBER_MAX + 2])
{
    size_t n = 0;
    int exponent = 0;
    for (size_t i = 0; i < f.length; i++) {
        const char c = f.text[i];
        if (!strchr("0123456789+-.eEdD", c)) return 0;
        if ((c == '+' || c == '-') && i > 0 && !exponent && !strchr("+-eEdD", f.text[i - 1])) {
            text[n++] = 'e'; /* Fortran leaves the letter out before an exponent of three digits */
            exponent = 1;
        }
        exponent |= strchr("eEdD", c) != NULL;
        text[n++] = c == 'd' || c == 'D' ? 'e' : c;
    }
    text[n] = '\0';
    return 1;
}

int nb6_table_number(struct nb6_field f, double scale, double *value, char why[NB6_WHY_ROOM])
{
    char text[NUMBER_MAX + 2], *end;
    if (f.length == 0) {
        snprintf(why, NB6_WHY_ROOM, "is empty; give a number");
        return NBC_BAD_INPUT;
    }
    const size_t sign = f.text[0] == '-' || f.text[0] == '+' ? 1 : 0;
    if (strncasecmp(f.text + sign, "nan", 3) == 0 || strncasecmp(f.text + sign, "inf", 3) == 0)
        return refuse(f, "is not a finite number", why);
    if (f.length > NUMBER_MAX) return refuse(f, "is too long for a number", why);
    if (has_decimal_comma(f))
        return refuse(f, "has a comma for a decimal point; write the numbers of the table with points", why);
    if (!to_c(f, text)) return refuse(f, "is not a number", why);
    *value = strtod(text, &end);
    if (end == text || *end != '\0') return refuse(f, "is not a number", why);
    if (!isfinite(*value)) return refuse(f, "is too large for a double", why);
    if (fabs(*value) * scale <= NB6_DATA_LARGEST) return NBC_OK;
    return refuse(f, scale == 1 ? "is larger than 1e15" : "is larger than 1e15 Msun, pc or km/s", why);
}
