/* Taking a namelist text apart and converting its values. Refusals are in tests/cli/test_bad_inputs.py. */
#include "common/nbc.h"
#include "nbody6/input/config.h"
#include "nbody6/input/namelist.h"
#include "nbody6/input/namelist_value.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct nb6_namelist scan(const char *text)
{
    struct nb6_namelist list;
    struct nbc_error err = {0};
    if (nb6_namelist_scan("t.inp", text, strlen(text), &list, &err) != NBC_OK) fail_msg("%s", err.text);
    return list;
}

/* The values of assignment k as an array of integers; `kept` where none is set. */
static void integers(const char *text, int length, int64_t kept, int64_t *result)
{
    struct nb6_namelist list = scan(text);
    struct nb6_value value[NB6_NAMELIST_ELEMENTS] = {{0}};
    struct nbc_error err = {0};
    for (size_t k = 0; k < list.assignments; k++)
        if (nb6_namelist_values(&list, &list.assignment[k], NB6_INTEGER, length, value, NULL, &err) != NBC_OK)
            fail_msg("%s", err.text);
    for (int i = 0; i < length; i++) result[i] = value[i].line ? value[i].integer : kept;
    nb6_namelist_free(&list);
}

static void check_integers(const char *text, const int64_t expected[6])
{
    int64_t result[6];
    integers(text, 6, -7, result);
    for (int i = 0; i < 6; i++)
        if (result[i] != expected[i]) fail_msg("%s: element %d is %lld", text, i + 1, (long long)result[i]);
}

static void test_lists(void **state)
{
    (void)state;
    check_integers("&G K=1,2,3,4,5,6 /", (int64_t[]){1, 2, 3, 4, 5, 6});
    check_integers("&G K = 1 2  3\n\t4 5 6 /", (int64_t[]){1, 2, 3, 4, 5, 6});
    check_integers("&G K=3*0, 2*7 /", (int64_t[]){0, 0, 0, 7, 7, -7});
    check_integers("&G K=1,,3 /", (int64_t[]){1, -7, 3, -7, -7, -7});
    check_integers("&G K=,2, /", (int64_t[]){-7, 2, -7, -7, -7, -7});
    check_integers("&G K=2*,5 /", (int64_t[]){-7, -7, 5, -7, -7, -7});
    check_integers("&G K=, /", (int64_t[]){-7, -7, -7, -7, -7, -7});
    check_integers("&G K= /", (int64_t[]){-7, -7, -7, -7, -7, -7});
    check_integers("&G K=-1 +2 /", (int64_t[]){-1, 2, -7, -7, -7, -7});
    check_integers("&G K=9223372036854775807/", (int64_t[]){INT64_MAX, -7, -7, -7, -7, -7});
}

static void test_sections(void **state)
{
    (void)state;
    check_integers("&G K(3)=5 /", (int64_t[]){-7, -7, 5, -7, -7, -7});
    check_integers("&G K(5)=5 6 /", (int64_t[]){-7, -7, -7, -7, 5, 6});
    check_integers("&G K(2:4)=3*1 /", (int64_t[]){-7, 1, 1, 1, -7, -7});
    check_integers("&G K(1:5:2)=1 2 3 /", (int64_t[]){1, -7, 2, -7, 3, -7});
    check_integers("&G K(:2)=1 2 K(5:)=5 6 /", (int64_t[]){1, 2, -7, -7, 5, 6});
    check_integers("&G K(:)=6*4 /", (int64_t[]){4, 4, 4, 4, 4, 4});
    check_integers("&G K=6*0, K(4)=2 /", (int64_t[]){0, 0, 0, 2, 0, 0});
    check_integers("&G K ( 2 : 3 ) = 8 9 /", (int64_t[]){-7, 8, 9, -7, -7, -7});
    check_integers("&G K(1:3)=1 2 3\nK(4:6)= 4 5 6 /", (int64_t[]){1, 2, 3, 4, 5, 6});
}

static void check_real(const char *written, double expected)
{
    char text[128];
    snprintf(text, sizeof text, "&G X=%s /", written);
    struct nb6_namelist list = scan(text);
    struct nb6_value value = {0};
    struct nbc_error err = {0};
    if (nb6_namelist_values(&list, list.assignment, NB6_REAL, 1, &value, NULL, &err) != NBC_OK)
        fail_msg("%s", err.text);
    if (value.real != expected) fail_msg("%s is read as %.17g", written, value.real);
    nb6_namelist_free(&list);
}

static void test_reals(void **state)
{
    (void)state;
    /* Fortran's ways to write a number; the same decimal text gives the same double in C */
    check_real("1", 1);
    check_real("-1.", -1);
    check_real(".5", 0.5);
    check_real("+2.5E-6", 2.5e-6);
    check_real("8.e-5", 8e-5);
    check_real("1d3", 1e3);
    check_real("1.0D-06", 1e-6);
    check_real("1+3", 1e3);
    check_real("0.1", 0.1);
    check_real("1.78E11", 1.78e11);
    check_real("1*0.25", 0.25);
}

static void check_text(const char *written, const char *expected)
{
    char text[128], result[NB6_PATH_MAX] = "?";
    snprintf(text, sizeof text, "&G S=%s /", written);
    struct nb6_namelist list = scan(text);
    struct nb6_value value = {0};
    struct nbc_error err = {0};
    if (nb6_namelist_values(&list, list.assignment, NB6_TEXT, 1, &value, result, &err) != NBC_OK)
        fail_msg("%s", err.text);
    assert_string_equal(result, expected);
    nb6_namelist_free(&list);
}

static void test_texts(void **state)
{
    (void)state;
    check_text("'C'", "C");
    check_text("\"it's\"", "it's");
    check_text("'it''s'", "it's");
    check_text("king", "king"); /* without quotes: more than Fortran takes */
    check_text("'a/b=c ! d, &e'", "a/b=c ! d, &e");
    check_text("'  x  '", "  x");
    check_text("''", "");
    check_text("", "?");
}

static void test_groups(void **state)
{
    (void)state;
    struct nb6_namelist list = scan("\xef\xbb\xbf! a comment with \xc3\xa9\r\n&one a=1 ! b=2 /\r\n  c=3\r\n/ &Two /\r\n"
                                    "$THREE d=4 $end\n&FOUR e=5 &END");
    assert_int_equal(list.groups, 4);
    const char *const groups[] = {"ONE", "TWO", "THREE", "FOUR"};
    const int group_lines[] = {2, 4, 5, 6};
    for (int k = 0; k < 4; k++) {
        assert_string_equal(list.group[k].name, groups[k]);
        assert_int_equal(list.group[k].line, group_lines[k]);
    }
    assert_int_equal(list.assignments, 4);
    const char *const names[] = {"A", "C", "D", "E"};
    const int owner[] = {0, 0, 2, 3}, lines[] = {2, 3, 5, 6};
    for (int k = 0; k < 4; k++) {
        assert_string_equal(list.assignment[k].name, names[k]);
        assert_int_equal(list.assignment[k].group, owner[k]);
        assert_int_equal(list.assignment[k].line, lines[k]);
        assert_int_equal(list.assignment[k].count, 1);
    }
    nb6_namelist_free(&list);
}

static void test_commas_may_be_missing(void **state)
{
    (void)state;
    struct nb6_namelist list = scan("&G A=1 2\nB(1:2)= 3 4 C=5,D=,E= F='x=1' G=7/");
    const size_t counts[] = {2, 2, 1, 1, 0, 1, 1};
    assert_int_equal(list.assignments, 7);
    for (int k = 0; k < 7; k++) assert_int_equal(list.assignment[k].count, counts[k]);
    nb6_namelist_free(&list);
}

/* Names and texts of other programs' files cannot put escape sequences on a terminal. */
static void test_messages_are_printable(void **state)
{
    (void)state;
    struct nb6_namelist list;
    struct nbc_error err = {0};
    const char *text = "&G A=1 \xff\xfe\xc2\x9b 5m /";
    assert_int_equal(nb6_namelist_scan("t.inp", text, strlen(text), &list, &err), NBC_OK);
    struct nb6_value value = {0};
    assert_int_equal(nb6_namelist_values(&list, list.assignment, NB6_REAL, 1, &value, NULL, &err), NBC_BAD_INPUT);
    for (const char *p = err.text; *p; p++) assert_in_range((unsigned char)*p, 0x20, 0x7e);
    nb6_namelist_free(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_sections),
        cmocka_unit_test(test_reals),
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_commas_may_be_missing),
        cmocka_unit_test(test_messages_are_printable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
