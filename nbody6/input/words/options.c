/* The words of &INOPTIONS set the options KZ. */
#include "common/nbc.h"
#include "nbody6/input/config.h"
#include "nbody6/input/input_table.h"
#include "nbody6/input/input_values.h"
#include "nbody6/input/words/words.h"

#include <string.h>

/* They do if they make the same configuration. */
int nb6_input_same_choice(int kz, int a, int b)
{
    const struct nb6_input_choice *one = nb6_input_find_choice(kz, a), *other = nb6_input_find_choice(kz, b);
    if (a == b) return 1;
    if (!one || !other || one->status != NB6_USED || other->status != NB6_USED) return 0;
    struct nb6_config first, second;
    nb6_config_init(&first);
    second = first;
    nb6_input_apply_option(&first, kz, a);
    nb6_input_apply_option(&second, kz, b);
    return memcmp(&first, &second, sizeof first) == 0;
}

const char *nb6_input_default_word(const char *name)
{
    for (int k = 0; k < nb6_input_word_count; k++) {
        const struct nb6_input_word *w = &nb6_input_words[k];
        if (w->kz && strcmp(w->name, name) == 0 &&
            nb6_input_same_choice(w->kz, w->number, nb6_input_options_table[w->kz - 1].initial))
            return w->word;
    }
    return NULL;
}

/* WRITE_MODEL sets only the part of KZ(22) that writes a table; one may be read, too. */
static int is_contradiction(int kz, int number, int option)
{
    return kz == 22 ? (number == 1) != (option == 1) : !nb6_input_same_choice(kz, number, option);
}

/* One word, unless KZ is set otherwise. A default needs no setting. */
static int take_word(struct nb6_input_values *values, const char *name, int kz, int line, const char *text,
                     struct nbc_error *err)
{
    struct nb6_value *option = &nb6_input_get(values, "ININPUT", "KZ")[kz - 1];
    int number;
    if (!nb6_input_word_number(name, text, &number)) return NBC_OK; /* refused before */
    if (option->line && is_contradiction(kz, number, (int)option->integer))
        return nbc_fail(err, NBC_BAD_INPUT,
                        "%s:%d: %s: '%s' is KZ(%d)=%d, but KZ(%d) is %lld (line %d); remove one of the two",
                        values->path, line, name, text, kz, number, kz, (long long)option->integer, option->line);
    if (!option->line && number != nb6_input_options_table[kz - 1].initial)
        *option = (struct nb6_value){.line = line, .integer = number, .real = number};
    return NBC_OK;
}

int nb6_input_take_words(struct nb6_input_values *values, struct nbc_error *err)
{
    int status = NBC_OK;
    for (int k = 0; k < nb6_input_variable_count && status == NBC_OK; k++) {
        const struct nb6_input_variable *v = &nb6_input_variables[k];
        const int line = values->value[values->first[k]].line;
        if (!line || strcmp(v->group, "INOPTIONS") != 0) continue;
        for (int w = 0; w < nb6_input_word_count; w++)
            if (strcmp(nb6_input_words[w].name, v->name) == 0) {
                status = take_word(values, v->name, nb6_input_words[w].kz, line, values->text[k], err);
                break;
            }
    }
    return status;
}
