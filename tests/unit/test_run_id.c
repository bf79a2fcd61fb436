/* The id of a run and the lock of its name, in cases that the command does not reach: heads of files, parts of an id,
 * checkpoints of programs without runs, locks with a removed file. */
#include "common/file.h"
#include "common/nbc.h"
#include "nbody6/app/run.h"
#include "nbody6/app/run_lock.h"
#include "nbody6/input/config.h"
#include "nbody6/output/checkpoint.h"
#include "nbody6/output/run_id.h"
#include "nbody6/run/nbody6.h"
#include "tests/support/folder.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { STARS = 8 };

static char folder[] = "/tmp/nb6_run_id_XXXXXX";
static double mass[STARS], x[STARS][3], v[STARS][3];
static struct nb6_config config;

static int set_up(void **state)
{
    (void)state;
    nb6_config_init(&config);
    config.run.t_crit = 0.25;
    config.run.dt_adjust = config.run.dt_output = 0.125;
    config.run.energy_tol = 1e100;
    for (int i = 0; i < STARS; i++) {
        mass[i] = 1.0 / STARS;
        for (int k = 0; k < 3; k++) {
            x[i][k] = sin(1.0 + 3.7 * i + 1.3 * k);
            v[i][k] = 0.3 * cos(2.0 + 2.9 * i + 1.7 * k);
        }
    }
    return folder_enter(folder);
}

static int tear_down(void **state)
{
    (void)state;
    return folder_remove(folder);
}

/* ---- what goes into it ---- */

static void make_of(const char *engine, const struct nb6_config *changed, char id[NB6_RUN_ID_BYTES])
{
    const struct nb6_run_origin origin = {.gpunb_backend = "reg",
                                          .gpuirr_backend = "irr",
                                          .engine = engine,
                                          .n = STARS,
                                          .mass = mass,
                                          .x = (const double(*)[3])x,
                                          .v = (const double(*)[3])v};
    nb6_run_id_make(changed, &origin, id);
}

static void make(const struct nb6_config *changed, char id[NB6_RUN_ID_BYTES])
{
    make_of("host", changed, id);
}

static void test_what_decides(void **state)
{
    (void)state;
    char id[NB6_RUN_ID_BYTES], other[NB6_RUN_ID_BYTES];
    struct nb6_config changed = config;
    make(&config, id);
    assert_int_equal(strspn(id, "0123456789abcdef"), NB6_RUN_ID_BYTES - 1);
    strcpy(changed.run.name, "other");
    strcpy(changed.run.input_path, "other.inp");
    strcpy(changed.model.data_path, "other.dat");
    strcpy(changed.run.device, "cpu");
    changed.run.t_crit = 7;
    changed.run.n_crit = 2;
    changed.run.wall_limit_s = 5;
    changed.run.checkpoint_interval_s = 1;
    changed.run.engine = NB6_ENGINE_HOST;
    changed.run.on_device_loss = NB6_LOSS_HOST;
    make(&changed, other);
    assert_string_equal(id, other);
    make_of("device", &changed, other);
    assert_string_not_equal(id, other);
    changed.integration.eta_reg *= 1.5;
    make(&changed, other);
    assert_string_not_equal(id, other);
    v[STARS - 1][2] = nextafter(v[STARS - 1][2], 1);
    make(&config, other);
    assert_string_not_equal(id, other);
}

/* ---- heads of files ---- */

static void expect_id(const char *text, const char *expected)
{
    char id[NB6_RUN_ID_BYTES];
    int64_t bytes;
    struct nbc_error err = {0};
    FILE *file = fopen("head", "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(nb6_run_id_of_text("head", id, &bytes, &err), NBC_OK);
    if (strcmp(id, expected) != 0) fail_msg("'%s' gives '%s'", text, id);
    assert_true(bytes == (int64_t)strlen(text));
}

static void test_heads(void **state)
{
    (void)state;
    char id[NB6_RUN_ID_BYTES];
    int64_t bytes;
    struct nbc_error err = {0};
    expect_id("t,n\n# units: time,1\n# run: 0123456789abcdef\n0,5\n", "0123456789abcdef");
    expect_id("{\"t\": 1.5, \"event\": \"run\", \"id\": \"0123456789abcdef\"}\n", "0123456789abcdef");
    expect_id("", "");
    expect_id("t,n\n# units: time,1\n# run: 0123456789abcdef", ""); /* cut off */
    expect_id("t,n\n# units: time,1\n# run: 0123456789abcdef0\n", "");
    expect_id("t,n\n# units: time,1\n0,5\n# run: 0123456789abcdef\n", "");
    expect_id("{\"t\": 1.5, \"event\": \"run\", \"id\": \"0123456789abcdef\"\n", "");
    assert_int_equal(nb6_run_id_of_text("missing", id, &bytes, &err), NBC_OK);
    assert_true(id[0] == 0 && bytes == 0);
    assert_int_equal(nb6_run_id_of_text(".", id, &bytes, &err), NBC_FILE);
}

/* ---- a checkpoint without a run ---- */

static void resume(const char *path, double t_crit)
{
    struct nbc_error err = {0};
    const struct nb6_run_options options = {.quiet = 1, .t_crit = t_crit};
    if (nb6_run_resume(path, &options, &err)) fail_msg("%s", err.text);
}

static void test_checkpoint_of_the_library(void **state)
{
    (void)state;
    nb6_t *sim = NULL;
    char id[NB6_RUN_ID_BYTES], sealed[NB6_RUN_ID_BYTES];
    int64_t bytes;
    struct nbc_error err = {0};
    struct nb6_run_state run;
    struct nb6_config read;
    if (nb6_create(&sim, &config, &err) ||
        nb6_set_bodies(sim, STARS, NULL, mass, (const double(*)[3])x, (const double(*)[3])v, &err) ||
        nb6_checkpoint(sim, "lib.ckpt.h5", &err))
        fail_msg("%s", err.text);
    nb6_free(sim);
    assert_int_equal(nb6_run_id_of_seal("lib.ckpt.h5", sealed, &err), NBC_OK);
    resume("lib.ckpt.h5", 0.125);
    assert_int_equal(nb6_run_id_of_text("lib.log.csv", id, &bytes, &err), NBC_OK);
    assert_string_equal(id, sealed);
    assert_int_equal(nb6_checkpoint_read_config("lib.ckpt.h5", &read, &run, &err), NBC_OK);
    assert_string_equal(run.id, sealed);
    resume("lib.ckpt.h5", 0.25);
    assert_int_equal(nb6_checkpoint_read_config("lib.ckpt.h5", &read, &run, &err), NBC_OK);
    assert_string_equal(run.id, sealed);
}

/* ---- locks ---- */

static void test_lock_of_a_removed_file(void **state)
{
    (void)state;
    struct nbc_error err = {0};
    struct nb6_run_lock one, two;
    assert_int_equal(nb6_run_lock_take(&one, "a.lock", &err), NBC_OK);
    assert_true(one.fd >= 0);
    assert_int_equal(nb6_run_lock_take(&two, "a.lock", &err), NBC_BAD_INPUT); /* another descriptor: another holder */
    assert_true(two.fd < 0);
    nb6_run_lock_release(&two);
    assert_true(nbc_file_exists("a.lock"));
    assert_int_equal(unlink("a.lock"), 0); /* removed as if it were stale */
    assert_int_equal(nb6_run_lock_take(&two, "a.lock", &err), NBC_OK);
    nb6_run_lock_release(&one);
    assert_true(nbc_file_exists("a.lock")); /* it is the other one's now */
    nb6_run_lock_release(&two);
    assert_false(nbc_file_exists("a.lock"));
    nb6_run_lock_release(&two);
}

static void test_lock_that_cannot_be_made(void **state)
{
    (void)state;
    struct nbc_error err = {0};
    struct nb6_run_lock lock;
    assert_int_equal(nb6_run_lock_take(&lock, "no/such/a.lock", &err), NBC_FILE);
    assert_non_null(strstr(err.text, "no/such/a.lock"));
    assert_non_null(strstr(err.text, "--out PATH/NAME"));
    assert_true(lock.fd < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_decides),
        cmocka_unit_test(test_heads),
        cmocka_unit_test(test_checkpoint_of_the_library),
        cmocka_unit_test(test_lock_of_a_removed_file),
        cmocka_unit_test(test_lock_that_cannot_be_made),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
