/* Tables and events: header and rows agree, lines are whole or absent, events are valid JSON. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/nbc.h"
#include "nbody6/analysis/adjust_row.h"
#include "nbody6/analysis/columns.h"
#include "nbody6/analysis/structure.h"
#include "nbody6/app/run_names.h"
#include "nbody6/input/units.h"
#include "nbody6/output/events.h"
#include "nbody6/output/log.h"
#include "nbody6/output/textfile.h"
#include "nbody6/state/event.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/sim.h"
#include "tests/support/folder.h"

static char folder[] = "/tmp/nb6_test_log_XXXXXX";

static int set_up(void **state)
{
    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    return folder_enter(folder);
}

static int tear_down(void **state)
{
    (void)state;
    return folder_remove(folder);
}

static struct nb6_textfile open_at(const char *path, int64_t keep)
{
    struct nb6_textfile file;
    struct nbc_error err = {0};
    int64_t found;
    if (nb6_textfile_open(&file, path, keep, &found, &err)) fail_msg("%s", err.text);
    return file;
}

static char *whole(const char *path)
{
    static char text[65536];
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t bytes = fread(text, 1, sizeof text - 1, file);
    text[bytes] = 0;
    fclose(file);
    return text;
}

static int count_fields(const char *line)
{
    int fields = 1;
    for (; *line && *line != '\n'; line++) fields += *line == ',';
    return fields;
}

/* Field k of a line of comma-separated values. */
static double value_of(const char *line, int k)
{
    while (k--) line = strchr(line, ',') + 1;
    return strtod(line, NULL);
}

static int column_of(const char *wanted)
{
    char name[64];
    const char *unit, *description;
    for (int k = 0; nb6_log_column(k, name, &unit, &description); k++)
        if (strcmp(name, wanted) == 0) return k;
    fail_msg("no column %s", wanted);
    return -1;
}

/* ---- log ---- */

static void test_header_and_rows_agree(void **state)
{
    (void)state;
    struct nbc_error err = {0};
    static const struct nb6_run_record record = {.units = {.time_myr = 2}};
    struct nb6_adjust_row row = {.t = 1.5, .n = 123456789012, .de_rel = -1.25e-8, .wall_s = 77};
    row.energy.total = -0.25;
    row.r_lagr[0] = 0.0625;
    row.r_lagr[NB6_LAGR_COUNT - 1] = 16;
    row.counters.steps_irr = 18446744073709551615U;
    row.stage_s[NB6_STAGE_OUTPUT] = 5.5;
    nb6_columns_compute(&record, NULL, &row);
    struct nb6_textfile file = open_at("a.log.csv", 0);
    assert_int_equal(nb6_log_begin(&file, "0123456789abcdef", "emulated", 0, &err), NBC_OK);
    assert_int_equal(nb6_log_row(&file, &row, &err), NBC_OK);
    nb6_textfile_close(&file);
    char *names = whole("a.log.csv"), *unit_line = strchr(names, '\n') + 1, *run = strchr(unit_line, '\n') + 1,
         *engine = strchr(run, '\n') + 1, *values = strchr(engine, '\n') + 1;
    assert_int_equal(strncmp(run, "# run: 0123456789abcdef\n", (size_t)(engine - run)), 0);
    assert_int_equal(strncmp(engine, "# engine: emulated\n", (size_t)(values - engine)), 0);
    assert_int_equal(strncmp(names, "t,", 2), 0);
    assert_int_equal(strncmp(unit_line, "# units: ", 9), 0);
    assert_int_equal(count_fields(names), count_fields(unit_line));
    assert_int_equal(count_fields(names), count_fields(values));
    assert_true(value_of(values, column_of("t")) == 1.5);
    assert_true(value_of(values, column_of("t_myr")) == 3);
    assert_true(value_of(values, column_of("n")) == 123456789012);
    assert_true(value_of(values, column_of("e_total")) == -0.25);
    assert_true(value_of(values, column_of("de_rel")) == -1.25e-8);
    assert_true(value_of(values, column_of("r_lagr_0.001")) == 0.0625);
    assert_true(value_of(values, column_of("r_lagr_1")) == 16);
    assert_true(value_of(values, column_of("stage_output_s")) == 5.5);
    assert_true(value_of(values, column_of("wall_s")) == 77);
    assert_non_null(strstr(values, ",18446744073709551615,"));
}

static void test_every_column_is_documented_and_named_once(void **state)
{
    (void)state;
    char name[64], other[64];
    const char *unit, *description;
    int timings = 0;
    for (int k = 0; nb6_log_column(k, name, &unit, &description); k++) {
        assert_true(strlen(name) > 0 && strlen(unit) > 0 && strlen(description) > 3);
        assert_null(strpbrk(unit, ",\n"));
        /* Timings are last, so that all columns before them can be compared between runs. */
        int timing = strcmp(unit, "s") == 0 || strcmp(unit, "ns") == 0;
        if (timings && !timing) fail_msg("column %s stands behind a timing", name);
        timings += timing;
        const char *unit_2, *description_2;
        for (int l = 0; l < k && nb6_log_column(l, other, &unit_2, &description_2); l++)
            assert_string_not_equal(name, other);
    }
    assert_true(timings > NB6_STAGE_COUNT);
}

/* Errors of forces, in logs of runs by tree alone, stand before the timings; all other columns are the same. */
static void test_columns_of_a_tree(void **state)
{
    (void)state;
    struct nbc_error err = {0};
    struct nb6_adjust_row row = {.t = 1.5, .wall_s = 77, .by_tree = 1, .force_err_50 = 1e-4, .force_err_max = 0.5};
    struct nb6_textfile file = open_at("tree.log.csv", 0);
    assert_int_equal(nb6_log_begin(&file, "0123456789abcdef", "collisionless", 1, &err), NBC_OK);
    assert_int_equal(nb6_log_row(&file, &row, &err), NBC_OK);
    nb6_textfile_close(&file);
    char *names = whole("tree.log.csv"), *unit_line = strchr(names, '\n') + 1, *values = strstr(names, "\n1.5,") + 1;
    const int before = column_of("ns_per_pair_irr");
    assert_non_null(strstr(names, ",escapers,force_err_50,force_err_99,force_err_max,ns_per_pair_irr,"));
    assert_int_equal(count_fields(names), count_fields(unit_line));
    assert_int_equal(count_fields(names), count_fields(values));
    assert_true(value_of(values, before) == 1e-4);
    assert_true(value_of(values, before + 1) == 0);
    assert_true(value_of(values, before + 2) == 0.5);
    assert_true(value_of(values, column_of("wall_s") + 3) == 77);
}

/* ---- files that grow ---- */

static void test_cut_back(void **state)
{
    (void)state;
    struct nbc_error err = {0};
    int64_t found;
    struct nb6_textfile file = open_at("grow.txt", 0);
    assert_int_equal(nb6_textfile_add(&file, "one\n", &err), NBC_OK);
    int64_t mark = file.bytes;
    assert_int_equal(nb6_textfile_add(&file, "two\n", &err), NBC_OK);
    nb6_textfile_close(&file);
    file = open_at("grow.txt", mark);
    assert_int_equal(nb6_textfile_add(&file, "three\n", &err), NBC_OK);
    nb6_textfile_close(&file);
    assert_string_equal(whole("grow.txt"), "one\nthree\n");
    assert_int_equal(nb6_textfile_open(&file, "grow.txt", 1000, &found, &err), NBC_OK); /* shorter than it was */
    assert_int_equal(found, 10);
    assert_int_equal(file.bytes, 10);
    nb6_textfile_close(&file);
    file = open_at("grow.txt", 0);
    nb6_textfile_close(&file);
    assert_string_equal(whole("grow.txt"), "");
}

static void test_a_line_is_whole_or_absent(void **state)
{
    (void)state;
    struct nbc_error err = {0};
    struct rlimit limit;
    struct nb6_textfile file = open_at("full.txt", 0);
    assert_int_equal(nb6_textfile_add(&file, "first line\n", &err), NBC_OK);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = 16;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    assert_int_equal(nb6_textfile_add(&file, "second line\n", &err), NBC_FILE);
    limit.rlim_cur = RLIM_INFINITY;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    assert_string_equal(err.text, "full.txt: cannot write: File too large");
    assert_string_equal(whole("full.txt"), "first line\n");
    assert_int_equal(nb6_textfile_add(&file, "second line\n", &err), NBC_OK);
    assert_string_equal(whole("full.txt"), "first line\nsecond line\n");
    nb6_textfile_close(&file);
    int64_t found;
    assert_int_equal(nb6_textfile_open(&file, "no/folder.txt", 0, &found, &err), NBC_FILE);
    assert_string_equal(err.text, "no/folder.txt: cannot open for writing: No such file or directory");
}

/* ---- events ---- */

static void test_events(void **state)
{
    (void)state;
    struct nbc_error err = {0};
    const struct nb6_event events[] = {
        {.kind = NB6_EVENT_ESCAPE,
         .t = 1.5,
         .name = 42,
         .mass = 0.5,
         .x = {1, -2, 3},
         .v = {4, 5, NAN},
         .energy = 0.25},
        {.kind = NB6_EVENT_ENERGY_JUMP, .t = 2, .value = {-1e-3, INFINITY}},
        {.kind = NB6_EVENT_FORCE_CHECK, .t = 3, .name = 7, .value = {1e-7, 1e-6, 2e-7, 2e-6}},
        {.kind = NB6_EVENT_TREE_CHECK, .t = 4, .targets = 1024, .lists = 0, .value = {1e-6, 2e-5, 1e-4, 1e-3}}};
    struct nb6_textfile file = open_at("a.events.jsonl", 0);
    for (size_t k = 0; k < sizeof events / sizeof events[0]; k++)
        assert_int_equal(nb6_events_add(&file, &events[k], &err), NBC_OK);
    nb6_textfile_close(&file);
    assert_string_equal(whole("a.events.jsonl"),
                        "{\"t\": 1.5, \"event\": \"escape\", \"name\": 42, \"mass\": 0.5, \"x\": [1, -2, 3], "
                        "\"v\": [4, 5, null], \"energy\": 0.25}\n"
                        "{\"t\": 2, \"event\": \"energy_jump\", \"de_cluster\": -0.001, \"tolerance\": null}\n"
                        "{\"t\": 3, \"event\": \"force_check\", \"acc_median\": 1e-07, \"acc_max\": 1e-06, "
                        "\"jerk_median\": 2e-07, \"jerk_max\": 2e-06, \"name\": 7}\n"
                        "{\"t\": 4, \"event\": \"tree_check\", \"targets\": 1024, \"lists\": 0, \"acc_median\": 1e-06, "
                        "\"acc_99\": 2e-05, \"jerk_median\": 0.0001, \"jerk_99\": 0.001}\n");
}

static void test_escapers(void **state)
{
    (void)state;
    struct nbc_error err = {0};
    const struct nb6_units units = {.time_myr = 2, .mass_msun = 1000, .velocity_kms = 10};
    const struct nb6_event event = {
        .kind = NB6_EVENT_ESCAPE, .t = 1.5, .name = 42, .mass = 0.5, .x = {1, -2, 3}, .v = {3, 4, 0}, .energy = 0.25};
    struct nb6_textfile file = open_at("a.esc.csv", 0);
    assert_int_equal(nb6_escapers_begin(&file, "0123456789abcdef", 0, &err), NBC_OK);
    assert_int_equal(nb6_escapers_add(&file, &event, &units, 0, &err), NBC_OK);
    nb6_textfile_close(&file);
    char *names = whole("a.esc.csv"), *unit_line = strchr(names, '\n') + 1, *rest = strchr(unit_line, '\n') + 1;
    assert_int_equal(count_fields(names), count_fields(unit_line));
    assert_string_equal(rest, "# run: 0123456789abcdef\n1.5,3,42,0.5,500,1,-2,3,3,4,0,0.25,50\n");
}

/* ---- names ---- */

static void touch(const char *path)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
}

static void test_names(void **state)
{
    (void)state;
    struct nb6_run_names names;
    struct nbc_error err = {0};
    char prefix[NB6_NAME_BYTES] = "untouched", path[NB6_NAME_BYTES + 40];
    assert_int_equal(nb6_run_names_set(&names, "dir/run", &err), NBC_OK);
    assert_string_equal(names.previous, "dir/run.ckpt.prev.h5");
    nb6_run_names_snapshot(&names, 123456, path);
    assert_string_equal(path, "dir/run.snap.123456.h5");
    assert_int_equal(nb6_run_names_set(&names, "", &err), NBC_BAD_INPUT);
    assert_int_equal(nb6_run_names_set(&names, "dir/", &err), NBC_BAD_INPUT);
    assert_int_equal(nb6_run_names_of_checkpoint("other.h5", prefix), 0);
    assert_int_equal(nb6_run_names_of_checkpoint("dir/.ckpt.h5", prefix), 0);
    assert_string_equal(prefix, "untouched");
    assert_int_equal(nb6_run_names_of_checkpoint("dir/run.ckpt.prev.h5", prefix), 1);
    assert_string_equal(prefix, "dir/run");
}

static void test_files_of_an_earlier_run(void **state)
{
    (void)state;
    struct nb6_run_names names;
    struct nbc_error err = {0};
    static const char *const others[] = {"run2.log.csv", "run.snap.12.h5", "run.snap.00001.h5.bak", "run.dat10",
                                         "arun.snap.00001.h5"};
    assert_int_equal(nb6_run_names_set(&names, "run", &err), NBC_OK);
    for (size_t k = 0; k < sizeof others / sizeof others[0]; k++) touch(others[k]);
    assert_int_equal(nb6_run_names_check(&names, 0, &err), NBC_OK);
    touch("run.snap.00012.h5");
    assert_int_equal(nb6_run_names_check(&names, 0, &err), NBC_BAD_INPUT);
    assert_non_null(strstr(err.text, "run.snap.00012.h5"));
    assert_non_null(strstr(err.text, "--overwrite"));
    touch("run.ckpt.h5");
    assert_int_equal(nb6_run_names_check(&names, 1, &err), NBC_OK);
    assert_int_equal(nb6_run_names_check(&names, 0, &err), NBC_OK);
    for (size_t k = 0; k < sizeof others / sizeof others[0]; k++) assert_int_equal(access(others[k], F_OK), 0);
    assert_int_equal(nb6_run_names_set(&names, "no/folder/run", &err), NBC_OK);
    assert_int_equal(nb6_run_names_check(&names, 0, &err), NBC_FILE);
    assert_non_null(strstr(err.text, "no/folder"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_header_and_rows_agree),
        cmocka_unit_test(test_columns_of_a_tree),
        cmocka_unit_test(test_every_column_is_documented_and_named_once),
        cmocka_unit_test(test_cut_back),
        cmocka_unit_test(test_a_line_is_whole_or_absent),
        cmocka_unit_test(test_events),
        cmocka_unit_test(test_escapers),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_files_of_an_earlier_run),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
