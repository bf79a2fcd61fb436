/* Options: names, words, defaults and limits, from the lists in stellar.h. */
#include "stellar/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define DEFAULT_OF(level, a, b, c) ((level) == 'A' ? (a) : (level) == 'B' ? (b) : (c))

int stellar_options_level(char level, struct stellar_options *options, struct nbc_error *err)
{
    if (level != 'A' && level != 'B' && level != 'C')
        return nbc_fail(err, NBC_BAD_ARGUMENT, "LEVEL: '%c' is no level; there are A, B and C", level);
#define SET_DEFAULT(field, name, a, b, c, ...) options->field = DEFAULT_OF(level, a, b, c);
    STELLAR_CHOICE_LIST(SET_DEFAULT)
    STELLAR_NUMBER_LIST(SET_DEFAULT)
#undef SET_DEFAULT
    options->nrand = 1;
    return NBC_OK;
}

/* The index of a word in a list with blanks between, -1 if it is not there. "-" stands for a number without a word. */
static int word_index(const char *words, const char *word)
{
    const size_t length = strlen(word);
    if (strcmp(word, "-") == 0) return -1;
    for (int k = 0;; k++) {
        const size_t part = strcspn(words, " ");
        if (part == length && strncasecmp(words, word, length) == 0) return k;
        if (!words[part]) return -1;
        words += part + 1;
    }
}

/* @return 1: text is a number and nothing else */
static int read_number(const char *text, double *value)
{
    char *end;
    *value = strtod(text, &end);
    return end != text && !*end && isfinite(*value);
}

/* Some choices have no 0. */
static int least_choice(const char *words)
{
    return words[0] == '-';
}

static int set_choice(int32_t *field, const char *name, int most, const char *words, const char *value,
                      struct nbc_error *err)
{
    double number;
    const int word = word_index(words, value), least = least_choice(words);
    if (word >= 0) {
        *field = word;
        return NBC_OK;
    }
    if (!read_number(value, &number) || number != floor(number) || number < least || number > most)
        return nbc_fail(err, NBC_BAD_INPUT, "%s: '%.40s' is no choice; there are %d to %d: %s", name, value, least,
                        most, words + 2 * least);
    *field = (int32_t)number;
    return NBC_OK;
}

static int set_number(double *field, const char *name, double least, double most, const char *value,
                      struct nbc_error *err)
{
    double number;
    if (!read_number(value, &number) || number < least || number > most)
        return nbc_fail(err, NBC_BAD_INPUT, "%s: '%.40s' is no valid value; give a number from %g to %g", name, value,
                        least, most);
    *field = number;
    return NBC_OK;
}

static int set_seed(int64_t *field, const char *value, struct nbc_error *err)
{
    double number;
    if (!read_number(value, &number) || number != floor(number) || fabs(number) > 0x1p53)
        return nbc_fail(err, NBC_BAD_INPUT, "NRAND: '%.40s' is no seed; give an integer, at most 2^53 in size", value);
    *field = (int64_t)number;
    return NBC_OK;
}

int stellar_options_set(struct stellar_options *options, const char *name, const char *value, struct nbc_error *err)
{
#define TRY_CHOICE(field, title, a, b, c, most, words, text)                                                           \
    if (strcasecmp(name, title) == 0) return set_choice(&options->field, title, most, words, value, err);
    STELLAR_CHOICE_LIST(TRY_CHOICE)
#undef TRY_CHOICE
#define TRY_NUMBER(field, title, a, b, c, least, most, text)                                                           \
    if (strcasecmp(name, title) == 0) return set_number(&options->field, title, least, most, value, err);
    STELLAR_NUMBER_LIST(TRY_NUMBER)
#undef TRY_NUMBER
    if (strcasecmp(name, "NRAND") == 0) return set_seed(&options->nrand, value, err);
#define NAME_OF(field, title, ...) title " "
    return nbc_fail(err, NBC_BAD_INPUT, "%.40s: no such option; there are %s", name,
                    STELLAR_CHOICE_LIST(NAME_OF) STELLAR_NUMBER_LIST(NAME_OF) "NRAND");
#undef NAME_OF
}

int stellar_options_check(const struct stellar_options *options, struct nbc_error *err)
{
#define CHECK_CHOICE(field, title, a, b, c, most, words, text)                                                         \
    if (options->field < least_choice(words) || options->field > most)                                                 \
        return nbc_fail(err, NBC_BAD_ARGUMENT, "%s: %d is no choice; there are %d to %d", title, (int)options->field,  \
                        least_choice(words), most);
    STELLAR_CHOICE_LIST(CHECK_CHOICE)
#undef CHECK_CHOICE
#define CHECK_NUMBER(field, title, a, b, c, least, most, text)                                                         \
    if (!(options->field >= least && options->field <= most))                                                          \
        return nbc_fail(err, NBC_BAD_ARGUMENT, "%s: %g is out of range; it is from %g to %g", title, options->field,   \
                        (double)least, (double)most);
    STELLAR_NUMBER_LIST(CHECK_NUMBER)
#undef CHECK_NUMBER
    return NBC_OK;
}

int stellar_create(double z, const struct stellar_options *options, struct stellar_model **model, struct nbc_error *err)
{
    *model = NULL;
    if (!(z >= STELLAR_Z_LEAST && z <= STELLAR_Z_MOST))
        return nbc_fail(err, NBC_BAD_ARGUMENT, "metallicity %g: the fits are for %g to %g", z, STELLAR_Z_LEAST,
                        STELLAR_Z_MOST);
    const int status = stellar_options_check(options, err);
    if (status) return status;
    struct stellar_model *made = nbc_alloc(1, sizeof *made);
    if (!made) return nbc_fail(err, NBC_NO_MEMORY, "no memory for a stellar model");
    made->options = *options;
    stellar_fits_make(z, &made->fits);
    *model = made;
    return NBC_OK;
}

void stellar_free(struct stellar_model *model)
{
    nbc_free(model);
}

double stellar_metallicity(const struct stellar_model *model)
{
    return model->fits.z;
}

const char *stellar_type_text(int type)
{
    switch (type) {
#define TYPE_TEXT(name, number, text)                                                                                  \
    case number:                                                                                                       \
        return text;
        STELLAR_TYPE_LIST(TYPE_TEXT)
#undef TYPE_TEXT
    default:
        return NULL;
    }
}
