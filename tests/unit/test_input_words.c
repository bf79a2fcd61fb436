/* Options in words: each value of an option that acts can be said, and means what its number does. */
#include "common/nbc.h"
#include "nbody6/input/config.h"
#include "nbody6/input/input.h"
#include "nbody6/input/input_table.h"
#include "nbody6/input/input_values.h"
#include "nbody6/input/words/words.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* Values that act and are set by other variables: KZ(5) by MODEL, KZ(22) = 2, 6, 10 by UNITS. */
static int has_another_name(int kz, int value)
{
    return kz == 5 || (kz == 22 && value > 1);
}

/* Does the option change the configuration at all? */
static int acts(int kz)
{
    int first = 0, found = 0;
    for (int k = 0; k < nb6_input_choice_count; k++) {
        const struct nb6_input_choice *c = &nb6_input_choices[k];
        if (c->number != kz || c->status != NB6_USED) continue;
        if (found++ == 0) first = c->low;
        if (!nb6_input_same_choice(kz, first, c->low)) return 1;
    }
    return 0;
}

static int has_word(int kz, int value)
{
    for (int k = 0; k < nb6_input_word_count; k++)
        if (nb6_input_words[k].kz == kz && nb6_input_same_choice(kz, nb6_input_words[k].number, value)) return 1;
    return 0;
}

static void every_value_that_acts_has_a_word(void **state)
{
    (void)state;
    int options = 0;
    for (int kz = 1; kz <= NB6_KZ_COUNT; kz++) {
        if (!acts(kz)) continue;
        options++;
        for (int k = 0; k < nb6_input_choice_count; k++) {
            const struct nb6_input_choice *c = &nb6_input_choices[k];
            if (c->number != kz || c->status != NB6_USED || has_another_name(kz, c->low)) continue;
            if (!has_word(kz, c->low)) fail_msg("KZ(%d) = %d has no word in words/words.c", kz, c->low);
        }
    }
    assert_true(options >= 15);
}

static void words_are_variables_and_values(void **state)
{
    (void)state;
    for (int k = 0; k < nb6_input_word_count; k++) {
        const struct nb6_input_word *w = &nb6_input_words[k];
        const int variable = nb6_input_find_variable(NULL, w->name);
        if (variable < 0) fail_msg("%s is no variable", w->name);
        assert_int_equal(nb6_input_variables[variable].type, NB6_TEXT);
        assert_int_equal(strcmp(nb6_input_variables[variable].group, "INOPTIONS") == 0, w->kz > 0);
        if (w->kz && !nb6_input_find_choice(w->kz, w->number)) fail_msg("%s: '%s' is no value", w->name, w->word);
        int number;
        assert_true(nb6_input_word_number(w->name, w->word, &number));
        assert_int_equal(number, w->number); /* no word twice */
    }
    for (int k = 0; k < nb6_input_variable_count; k++) {
        const struct nb6_input_variable *v = &nb6_input_variables[k];
        if (strcmp(v->group, "INOPTIONS") == 0 && !nb6_input_default_word(v->name))
            fail_msg("%s has no word for the default", v->name);
    }
}

/* The same configuration by word and by number, from a file and one by one. */
static void words_mean_their_numbers(void **state)
{
    (void)state;
    for (int k = 0; k < nb6_input_word_count; k++) {
        const struct nb6_input_word *w = &nb6_input_words[k];
        const struct nb6_input_choice *choice = nb6_input_find_choice(w->kz, w->number);
        if (!w->kz || choice->status != NB6_USED) continue;
        static struct nb6_config by_word, by_number, one_by_one;
        struct nbc_error err = {0};
        char text[2][256];
        const char *rest = w->kz == 14
                               ? "&INXTRNL0 GMG=1e11 RG0=8 RG=8,0.1,0 MP=1 AP2=1 / &INDATA BODY1=10 BODYN=1 ALPHAS=2 /"
                               : "&INDATA BODY1=10 BODYN=1 ALPHAS=2 /";
        snprintf(text[0], sizeof text[0], "&INOPTIONS %s='%s' / %s", w->name, w->word, rest);
        snprintf(text[1], sizeof text[1], "&ININPUT KZ(%d)=%d / %s", w->kz, w->number, rest);
        if (nb6_input_read_text("f", text[0], strlen(text[0]), NULL, &by_word, &err)) fail_msg("%s", err.text);
        if (nb6_input_read_text("f", text[1], strlen(text[1]), NULL, &by_number, &err)) fail_msg("%s", err.text);
        if (memcmp(&by_word, &by_number, sizeof by_word) != 0) fail_msg("%s and KZ(%d) differ", text[0], w->kz);
        nb6_config_init(&one_by_one);
        nb6_config_init(&by_number);
        nb6_input_apply_option(&by_number, w->kz, w->number);
        snprintf(text[1], sizeof text[1], "'%s'", w->word);
        if (nb6_input_set(&one_by_one, w->name, text[1], &err)) fail_msg("%s", err.text);
        if (w->number != nb6_input_options_table[w->kz - 1].initial)
            assert_memory_equal(&one_by_one, &by_number, sizeof one_by_one);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_value_that_acts_has_a_word),
                                       cmocka_unit_test(words_are_variables_and_values),
                                       cmocka_unit_test(words_mean_their_numbers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
