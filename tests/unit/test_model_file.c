/* Data files: values read, their conversion, and messages about wrong files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <locale.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/nbc.h"
#include "nbody6/input/config.h"
#include "nbody6/model/model.h"
#include "tests/support/failing_alloc.h"
#include "tests/support/model_pieces.h"

static char folder[256], path[300];

static int make_folder(void **state)
{
    (void)state;
    const char *parent = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/nb6_model_file_XXXXXX", parent ? parent : "/tmp");
    if (!mkdtemp(folder)) return -1;
    snprintf(path, sizeof path, "%s/dat.10", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    remove(path);
    return rmdir(folder);
}

static void write_bytes(const char *bytes, size_t count)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
}

static struct nb6_config configure(int64_t n, enum nb6_file_units units)
{
    struct nb6_config config;
    memset(&config, 0, sizeof config);
    config.model.kind = NB6_MODEL_FILE;
    config.model.file_units = units;
    config.model.n = n;
    config.model.virial_ratio = 0.5;
    config.rbar_pc = 2.0;
    config.zmbar_msun = 0.7;
    snprintf(config.model.data_path, sizeof config.model.data_path, "%s", path);
    return config;
}

static struct nb6_model make(const struct nb6_config *config)
{
    struct nb6_model model;
    struct nbc_error err = {0};
    if (nb6_model_make(config, &model, &err)) fail_msg("%s", err.text);
    return model;
}

static struct nb6_model read_text(const char *text, int64_t n, enum nb6_file_units units)
{
    const struct nb6_config config = configure(n, units);
    write_bytes(text, strlen(text));
    return make(&config);
}

/* The whole message after "path:" or "data file path:", or the part of it that is asked for. */
static void assert_refused(const struct nb6_config *config, const char *words)
{
    struct nb6_model model = {.n = -77};
    struct nbc_error err = {0};
    const int status = nb6_model_make(config, &model, &err);
    if (status != NBC_BAD_INPUT) fail_msg("status %d (%s) where '%s' was expected", status, err.text, words);
    assert_int_equal(model.n, -77);
    if (!strstr(err.text, words) || !strstr(err.text, path)) fail_msg("'%s' does not say '%s'", err.text, words);
}

static void refuse_bytes(const char *bytes, size_t count, int64_t n, const char *words)
{
    const struct nb6_config config = configure(n, NB6_FILE_NBODY);
    write_bytes(bytes, count);
    assert_refused(&config, words);
}

static void refuse(const char *text, const char *words)
{
    refuse_bytes(text, strlen(text), 2, words);
}

#define GOOD "0.5 0 0 0 0 0 0\n"

static void formats(void **state)
{
    (void)state;
    const char *const texts[] = {
        "0.25 1 -2 3 0.5 0 -1e-3\n0.75 4 5 6 7 8 9\n",
        "  0.25\t1\t-2\t3\t0.5\t0\t-1e-3  \n\n   \n.75 4. +5 6 7 8 9",
        "0.25,1,-2,3,0.5,0,-1e-3\r\n0.75 , 4 ,5, 6,\t7,8,9,\r\n",
        "# m x y z\n! comment\n 2.5D-01 1.0d0 -2 3E0 5d-1 0 -1D-3 ! first\n7.5E-1 4 5 6 7 8 9#second\n",
        "\357\273\2770.25 1 -2 3 0.5 0 -1e-3\n\t0.75 4 5 6 7 8 9\n# \xc3\xa4\n",
        "0.25 1 -2 3 0.5 0 -0.001\n0.75 4 5 6 7 8 9\n9 9 9 9 9 9 9\n\n8 8 8\n",
    };
    for (int k = 0; k < 6; k++) {
        struct nb6_model model = read_text(texts[k], 2, NB6_FILE_NBODY);
        const double expected[2][7] = {{0.25, 1, -2, 3, 0.5, 0, -1e-3}, {0.75, 4, 5, 6, 7, 8, 9}};
        assert_int_equal(model.n, 2);
        assert_int_equal(model.data.rows_unused, k == 5 ? 2 : 0);
        for (int i = 0; i < 2; i++) {
            assert_int_equal(model.name[i], i + 1);
            assert_true(model.mass[i] == expected[i][0]);
            for (int d = 0; d < 3; d++) {
                assert_true(model.x[i][d] == expected[i][1 + d] && model.v[i][d] == expected[i][4 + d]);
            }
        }
        assert_true(model.zmbar_msun == 0.7 && model.rbar_pc == 2.0);
        nb6_model_free(&model);
    }
    struct nb6_model model = read_text(GOOD "0 1 1 1 0 0 0\n0.5 2 2 2 0 0 0\n", 0, NB6_FILE_NBODY);
    assert_int_equal(model.n, 3); /* N = 0: all rows; a massless star is one */
    nb6_model_free(&model);
}

static void wrong_rows(void **state)
{
    (void)state;
    refuse(GOOD "0.5 1 2 3 4 5\n", "dat.10:2: 6 columns, but a row is m x y z vx vy vz: vz is missing");
    refuse("# head\n\n0.5\n" GOOD, "dat.10:3: 1 column, ");
    refuse(GOOD "0.5 1 2 3 4 5 6 7\n", "dat.10:2: more than 7 columns");
    refuse(GOOD "0.5 1 2 x 4 5 6\n", "dat.10:2: column 4 (z): 'x' is not a number");
    refuse(GOOD "0.5 1 2,,4 5 6\n", "dat.10:2: column 4 (z): is empty");
    refuse(",0.5 1 2 3 4 5 6\n", "dat.10:1: column 1 (mass): is empty");
    refuse(GOOD "0.5 1 2 3 4 5 1.2.3\n", "column 7 (vz): '1.2.3' is not a number");
    refuse(GOOD "0.5 1 2 3 4 1e 6\n", "column 6 (vy): '1e' is not a number");
    refuse(GOOD "0.5 0x10 2 3 4 5 6\n", "column 2 (x): '0x10' is not a number");
    refuse(GOOD "0.5 2*1.0 3 4 5 6\n", "column 2 (x): '2*1.0' is not a number");
    refuse(GOOD "0.5 1 NaN 3 4 5 6\n", "column 3 (y): 'NaN' is not a finite number");
    refuse(GOOD "0.5 1 2 3 -Infinity 5 6\n", "column 5 (vx): '-Infinity' is not a finite number");
    refuse(GOOD "0.5 1 2 3 4 5 1e999\n", "column 7 (vz): '1e999' is too large for a double");
    refuse("m x y z vx vy w\n" GOOD GOOD, "dat.10:1: this line names the columns mass x y z vx vy, but not vz");
    refuse(GOOD "-0.5 1 2 3 4 5 6\n", "dat.10:2: column 1 (mass): is negative");
    refuse(GOOD "0.5 1 2 3 4 5 00000000000000000000000000000000000000000000000000000000000000001\n",
           "column 7 (vz): '000000000000000000000000...' is too long for a number");
}

static void wrong_tables(void **state)
{
    (void)state;
    refuse("", "no data in it");
    refuse("# only\n! comments\n\n", "no data in it");
    refuse(GOOD, "1 rows, but N = 2: set N = 1 or add the missing rows");
    refuse_bytes(GOOD, strlen(GOOD), 0, "one star only");
    refuse("0 0 0 0 0 0 0\n0 1 0 0 0 0 0\n", "add up to 0");
    refuse("1e308 0 0 0 0 0 0\n1e308 1 0 0 0 0 0\n", "is larger than 1e15");
    refuse("1 0 0 -2e15 0 0 0\n1 1 0 0 0 0 0\n", "is larger than 1e15");
    refuse("# x\n0.5 1 2 3 0 0 0\n0.5 1 2 3 1 1 1\n",
           "dat.10:3: this star is at the same place (1, 2, 3) as that of line 2");
    refuse("0.5 0 0 -0.0 0 0 0\n0.5 -0 0 0 1 1 1\n", "same place");
    refuse_bytes("1 2 3 4 5 6 7\n0 \0 0 0 0 0 0\n", 29, 2, "dat.10:2: a zero byte");
    refuse_bytes("\x89HDF\r\n\x1a\n\0\0\0\0", 12, 2, "HDF5 failed to open the file; the file is damaged");
    char *line = malloc(20000);
    assert_non_null(line);
    memset(line, ' ', 20000);
    refuse_bytes(line, 20000, 2, "dat.10:1: a line of more than 8191 bytes");
    free(line);
}

static void wrong_paths(void **state)
{
    (void)state;
    struct nb6_config config = configure(2, NB6_FILE_NBODY);
    remove(path);
    assert_refused(&config, "No such file");
    assert_int_equal(mkdir(path, 0700), 0);
    assert_refused(&config, "is a folder");
    assert_int_equal(rmdir(path), 0);
    write_bytes(GOOD, strlen(GOOD));
    if (geteuid() == 0) {
        print_message("skipped: a file that may not be read: root reads everything\n");
        return;
    }
    assert_int_equal(chmod(path, 0), 0);
    assert_refused(&config, "Permission denied");
}

/* Every byte position of a good file replaced by every byte of a few: read or refused, never a crash. */
static void damaged_files(void **state)
{
    (void)state;
    const char good[] = "# t\n0.5 1 -2 3 0.5 0 -1e-3\n0.5,4,5,6,7,8,9D0\n", bytes[] = "\0\n#,-.e9D \xff"
                                                                                      "x";
    const struct nb6_config config = configure(2, NB6_FILE_NBODY);
    int refused = 0;
    for (size_t at = 0; at < sizeof good - 1; at++) {
        for (size_t k = 0; k < sizeof bytes - 1; k++) {
            char text[sizeof good];
            struct nb6_model model;
            struct nbc_error err = {0};
            memcpy(text, good, sizeof good);
            text[at] = bytes[k];
            write_bytes(text, sizeof good - 1);
            if (nb6_model_make(&config, &model, &err) == NBC_OK) {
                nb6_model_free(&model);
            } else {
                refused++;
                assert_int_equal(err.status, NBC_BAD_INPUT);
                assert_true(strlen(err.text) > 10 && strstr(err.text, path));
            }
        }
    }
    assert_true(refused > 100);
}

/* The two bodies of 3 and 1 Msun, 8 pc apart, 4 km/s: N-body units from the constants of IAU. */
static void physical_units(void **state)
{
    (void)state;
    struct nb6_model model = read_text("3 1 0 0 0 2 0\n1 -7 0 0 0 -2 0.5\n", 2, NB6_FILE_PHYSICAL);
    const double v_unit = sqrt(4.300917270e-3 * 4.0 / 2.0); /* RBAR = 2 pc; G to 1e-10 */
    assert_true(model.mass[0] == 0.75 && model.mass[1] == 0.25);
    assert_true(model.zmbar_msun == 2.0 && model.rbar_pc == 2.0);
    assert_true(model.x[0][0] == 0.5 && model.x[1][0] == -3.5); /* not centred: as it is */
    assert_true(fabs(model.v[0][1] * v_unit - 2.0) < 1e-9 && fabs(model.v[1][2] * v_unit - 0.5) < 1e-9);
    nb6_model_free(&model);
    struct nb6_config config = configure(2, NB6_FILE_PHYSICAL);
    config.rbar_pc = 0.0;
    struct nbc_error err = {0};
    assert_int_equal(nb6_model_make(&config, &model, &err), NBC_BAD_INPUT);
    assert_non_null(strstr(err.text, "RBAR"));
}

/* Two stars of mass 2 at distance 4: masses 1/2, U = -1/4 (1/r) = -1/2 at Q = 1/2, so r = 1/2 and the file's lengths
 * shrink by 8. */
static void scaled(void **state)
{
    (void)state;
    struct nb6_model model = read_text("2 1 0 5 0 9 0\n2 1 0 1 0 -3 0\n", 2, NB6_FILE_NBODY_SCALED);
    assert_true(model.mass[0] == 0.5 && fabs(model.x[0][2] - 0.25) < 1e-15 && fabs(model.x[1][2] + 0.25) < 1e-15);
    assert_true(fabs(model.x[0][0]) < 1e-15);
    assert_true(fabs(model.v[0][1] - sqrt(0.5)) < 1e-15 && fabs(model.v[1][1] + sqrt(0.5)) < 1e-15); /* T = 1/4 */
    nb6_model_free(&model);
    struct nb6_config config = configure(2, NB6_FILE_NBODY_SCALED);
    struct nbc_error err = {0};
    const char at_rest[] = "2 1 0 5 0 0 0\n2 1 0 1 0 0 0\n";
    write_bytes(at_rest, strlen(at_rest));
    assert_int_equal(nb6_model_make(&config, &model, &err), NBC_BAD_INPUT);
    assert_non_null(strstr(err.text, "at rest"));
    config.model.virial_ratio = 0.0;
    model = make(&config);
    assert_true(fabs(fabs(model.x[0][2] - model.x[1][2]) - 1.0) < 1e-15 && model.v[0][1] == 0.0);
    nb6_model_free(&model);
    const char one_mass[] = "2 1 0 5 0 1 0\n0 1 0 1 0 2 0\n";
    write_bytes(one_mass, strlen(one_mass));
    assert_int_equal(nb6_model_make(&config, &model, &err), NBC_BAD_INPUT);
    assert_non_null(strstr(err.text, "potential energy"));
    const char wide[] = "2 1e200 0 0 0 1 0\n1 0 1 1e-200 0 2 0\n";
    write_bytes(wide, strlen(wide));
    assert_int_equal(nb6_model_make(&config, &model, &err), NBC_BAD_INPUT);
}

/* RBAR from the tidal radius: r_t = 10 kpc (M/(3 M_G))^(1/3) is RTIDE length units of the file. */
static void tidal_scaling(void **state)
{
    (void)state;
    const char text[] = "2 1 0 5 0 9 0\n2 1 0 1 0 -3 0\n";
    struct nb6_config config = configure(2, NB6_FILE_NBODY_SCALED);
    config.tide.kind = NB6_TIDE_POINT_MASS;
    config.tide.galaxy_mass_msun = 1e11;
    config.tide.galaxy_distance_kpc = 10.0;
    config.tide.rtide_unscaled = 16.0;
    write_bytes(text, strlen(text));
    struct nb6_model model = make(&config);
    const double r_t = 1e4 * cbrt(1.4 / 3e11);                    /* 2 stars of 0.7 Msun */
    assert_true(fabs(model.rbar_pc / (r_t / 2.0) - 1.0) < 1e-14); /* 16 units of the file are 2 N-body units */
    nb6_model_free(&model);
    config.model.file_units = NB6_FILE_NBODY; /* total mass 4 of units of ZMBAR N */
    model = make(&config);
    assert_true(fabs(model.rbar_pc / (cbrt(4.0) * r_t / 16.0) - 1.0) < 1e-14);
    nb6_model_free(&model);
    config.model.file_units = NB6_FILE_PHYSICAL;
    model = make(&config);
    const double r_t4 = 1e4 * cbrt(4.0 / 3e11);
    assert_true(fabs(model.rbar_pc / (r_t4 / 16.0) - 1.0) < 1e-14);
    assert_true(fabs(model.x[0][2] * r_t4 / 16.0 - 5.0) < 1e-14);
    nb6_model_free(&model);
    config.tide.galaxy_mass_msun = 0.0;
    struct nbc_error err = {0};
    assert_int_equal(nb6_model_make(&config, &model, &err), NBC_BAD_INPUT);
    assert_non_null(strstr(err.text, "RTIDE"));
}

/* A written file is read back to the bit, also where the locale has a decimal comma. */
static void round_trip(void **state)
{
    (void)state;
    struct nb6_config config = configure(3000, NB6_FILE_NBODY);
    config.model.kind = NB6_MODEL_PLUMMER;
    config.model.imf = NB6_IMF_POWER_LAW;
    config.model.imf_alpha = 2.35;
    config.model.mass_min_msun = 0.1;
    config.model.mass_max_msun = 10.0;
    const char *const locales[] = {"C", "de_DE.UTF-8", "fr_FR.UTF-8"};
    for (int k = 0; k < 3; k++) {
        config.model.kind = NB6_MODEL_PLUMMER;
        config.model.seed = (uint64_t)k;
        struct nb6_model model = make(&config);
        model.x[0][0] = 0x1.fffffffffffffp-1020;
        model.x[1][0] = -0.1;
        model.v[2][2] = 1.0 / 3.0 * 1e14;
        setlocale(LC_ALL, locales[k]); /* may be missing on a machine; then this round is as the first */
        struct nbc_error err = {0};
        if (nb6_model_write_table(&model, path, &err)) fail_msg("%s", err.text);
        config.model.kind = NB6_MODEL_FILE;
        struct nb6_model back = make(&config);
        setlocale(LC_ALL, "C");
        assert_int_equal(back.n, model.n);
        assert_memory_equal(back.mass, model.mass, 3000 * sizeof *model.mass);
        assert_memory_equal(back.x, model.x, 3000 * sizeof *model.x);
        assert_memory_equal(back.v, model.v, 3000 * sizeof *model.v);
        nb6_model_free(&model);
        nb6_model_free(&back);
    }
}

static void table_that_cannot_be_written(void **state)
{
    (void)state;
    struct nb6_model model = read_text("0.25 1 -2 3 0.5 0 1\n0.75 4 5 6 7 8 9\n", 2, NB6_FILE_NBODY);
    struct nbc_error err = {0};
    char missing[400];
    snprintf(missing, sizeof missing, "%s/none/dat.10", folder);
    assert_int_equal(nb6_model_write_table(&model, missing, &err), NBC_FILE);
    assert_non_null(strstr(err.text, missing));
    struct rlimit limit; /* as on a full disk: the table has 38 bytes */
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    const rlim_t before = limit.rlim_cur;
    signal(SIGXFSZ, SIG_IGN);
    for (limit.rlim_cur = 0; limit.rlim_cur < 38; limit.rlim_cur += 12) {
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
        const int status = nb6_model_write_table(&model, path, &err);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &(struct rlimit){before, limit.rlim_max}), 0);
        assert_int_equal(status, NBC_FILE);
        assert_non_null(strstr(err.text, "File too large"));
        struct nb6_config config = configure(2, NB6_FILE_NBODY);
        struct nb6_model old = make(&config); /* the file of before is still there */
        assert_true(old.mass[1] == 0.75);
        nb6_model_free(&old);
    } /* remove_folder finds a temporary file that is left */
    nb6_model_free(&model);
}

enum { ROWS = 777 };

/* A table of stars with ids that do not ascend. At the row `wrong` the star has the id or the place of the first one.
 */
static void write_stars(double mass, int wrong, int same_id, int same_place)
{
    static char text[ROWS * 128];
    size_t used = (size_t)sprintf(text, "# id mass x y z vx vy vz\n");
    for (int i = 0; i < ROWS; i++) {
        const int id = i == wrong && same_id ? 0 : i, place = i == wrong && same_place ? 0 : i;
        used += (size_t)sprintf(text + used, "%d %.9g %.9g %.9g %.9g %.9g %.9g %.9g\n", 5 * ((id * 100 + 3) % ROWS) + 1,
                                mass * (1 + i % 3), sin(place), cos(place * 1.7), 0.3 * sin(place * 0.9),
                                0.1 * sin(i * 2.2), 0.1 * cos(i * 3.1), 0.0);
    }
    write_bytes(text, used);
}

/* Tables and pieces of them. */
static void pieces(void **state)
{
    (void)state;
    static const enum nb6_file_units units[] = {NB6_FILE_NBODY, NB6_FILE_PHYSICAL, NB6_FILE_NBODY_SCALED};
    struct nb6_config config;
    write_stars(0.5 / ROWS, 0, 0, 0);
    for (int k = 0; k < 3; k++) {
        config = configure(ROWS, units[k]);
        config.data.length_unit_open = 1; /* in pc: that of the half-mass radius */
        model_pieces_assert_same(&config);
    }
    config = configure(0, NB6_FILE_UNSTATED);
    model_pieces_assert_same(&config);
    config = configure(ROWS - 1, NB6_FILE_NBODY);
    model_pieces_assert_whole(&config);
    config = configure(ROWS + 1, NB6_FILE_NBODY);
    model_pieces_assert_refused(&config, "777 rows, but N = 778");
    config = configure(0, NB6_FILE_NBODY);
    write_stars(0.5 / ROWS, 700, 1, 0);
    model_pieces_assert_same(&config); /* ids are not used */
    write_stars(0.5 / ROWS, 700, 0, 1);
    model_pieces_assert_refused(&config, "same place");
    write_stars(1, 0, 0, 0);
    config = configure(0, NB6_FILE_UNSTATED);
    model_pieces_assert_refused(&config, "neither the file nor the input says");
}

/* With ids to compare, places, and a length unit to find. */
static void memory_may_end(void **state)
{
    (void)state;
    if (!can_fail_alloc()) skip();
    write_stars(0.5 / ROWS, 0, 0, 0);
    struct nb6_config config = configure(0, NB6_FILE_PHYSICAL);
    config.data.length_unit_open = 1;
    assert_true(model_pieces_fail_allocations(&config, fail_alloc, &alloc_left) >= 12);
    config = configure(0, NB6_FILE_NBODY_SCALED);
    assert_true(model_pieces_fail_allocations(&config, fail_alloc, &alloc_left) >= 12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formats),       cmocka_unit_test(wrong_rows),
        cmocka_unit_test(wrong_tables),  cmocka_unit_test(wrong_paths),
        cmocka_unit_test(damaged_files), cmocka_unit_test(physical_units),
        cmocka_unit_test(scaled),        cmocka_unit_test(tidal_scaling),
        cmocka_unit_test(round_trip),    cmocka_unit_test(table_that_cannot_be_written),
        cmocka_unit_test(pieces),        cmocka_unit_test(memory_may_end),
    };
    return cmocka_run_group_tests_name("model file", tests, make_folder, remove_folder);
}
