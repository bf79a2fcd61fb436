/* Some hundreds of random encounters with binaries: all end, energy is conserved, repeats have the same bits. The
 * thousands are in long_chain_scattering. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "common/nbc.h"
#include "tests/support/scattering.h"

/* Limits of the survey: 1e-10 for 99.9 percent, here the worst of some hundreds, and 1e-8 for any. */
static void check(const char *title, const struct scattering *setup, const struct chain_options *options, int n)
{
    struct scattering_survey survey;
    assert_int_equal(scattering_survey(setup, options, 1, n, &survey), 0);
    scattering_survey_print(title, &survey);
    assert_int_equal(survey.failed, 0);
    assert_true(survey.error[n * 99 / 100] < 1e-10);
    assert_true(survey.error[n - 1] < 1e-8);
    /* At half the critical speed ionisation is impossible for a single star; far above it, exchange is rare. */
    if (setup->binaries == 1 && setup->speed < 1) assert_int_equal(survey.outcomes[SCATTERING_IONISATION], 0);
    if (setup->speed < 1) assert_true(survey.outcomes[SCATTERING_EXCHANGE] > 0);
    if (setup->speed > 1) assert_true(survey.outcomes[SCATTERING_IONISATION] > survey.outcomes[SCATTERING_EXCHANGE]);
    scattering_survey_free(&survey);
}

static struct chain_options options_of(const char *method)
{
    struct chain_options options;
    struct nbc_error err = {0};
    chain_options_init(&options);
    if (chain_method_find(method, &options.method, &err)) fail_msg("%s", err.text);
    options.slow = 1e-5;
    return options;
}

static void binary_and_star(void **state)
{
    const struct chain_options options = options_of(*state);
    check("binary and star, v = 0.5", &(struct scattering){1, 0.5, 4, 0, 0}, &options, 100);
    check("binary and star, v = 2", &(struct scattering){1, 2, 2, 0, 0}, &options, 100);
}

static void binary_and_binary(void **state)
{
    const struct chain_options options = options_of(*state);
    check("two binaries, v = 0.7", &(struct scattering){2, 0.7, 3, 0, 0}, &options, 30);
    check("two binaries, v = 2", &(struct scattering){2, 2, 2, 0, 0}, &options, 50);
}

static void repeats_have_the_same_bits(void **state)
{
    const struct chain_options options = options_of(*state);
    const struct scattering setup = {1, 0.5, 3, 0, 0};
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct scattering_result a, b;
        struct nbc_error err = {0};
        assert_int_equal(scattering_run(&setup, &options, seed, &a, &err), NBC_OK);
        assert_int_equal(scattering_run(&setup, &options, seed, &b, &err), NBC_OK);
        assert_memory_equal(&a.end, &b.end, sizeof a.end);
    }
}

#define BOTH(test) cmocka_unit_test_prestate(test, "chain"), cmocka_unit_test_prestate(test, "ar")

int main(void)
{
    const struct CMUnitTest tests[] = {BOTH(binary_and_star), BOTH(binary_and_binary),
                                       BOTH(repeats_have_the_same_bits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
