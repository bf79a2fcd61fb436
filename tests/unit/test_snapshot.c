/* Snapshots: a written snapshot is read back unchanged, equal data give equal bytes, and a failure leaves nothing
 * behind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <hdf5.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/file.h"
#include "common/nbc.h"
#include "nbody6/analysis/frame.h"
#include "nbody6/galaxy/external.h"
#include "nbody6/input/config.h"
#include "nbody6/input/units.h"
#include "nbody6/output/snapshot.h"
#include "tests/support/folder.h"
#include "tests/support/test_size.h"

enum { STARS = 300 };
static char folder[] = "/tmp/nb6_test_snapshot_XXXXXX";
static int64_t name[STARS];
static double mass[STARS], x[STARS][3], v[STARS][3], acc[STARS][3], jerk[STARS][3], pot[STARS], r_nb[STARS],
    dt_irr[STARS], dt_reg[STARS];
static int32_t nnb[STARS];
static struct nb6_config config;
static struct nb6_units units;
static struct nb6_external external = {.active = 1, .kind = 1, .t_x = 0.25, .t_z = -0.125, .coriolis = 0.5};
static struct nb6_frame frame = {.t = 2.5,
                                 .n = STARS,
                                 .name = name,
                                 .mass = mass,
                                 .x = x,
                                 .v = v,
                                 .acc = acc,
                                 .jerk = jerk,
                                 .pot = pot,
                                 .r_nb = r_nb,
                                 .dt_irr = dt_irr,
                                 .dt_reg = dt_reg,
                                 .nnb = nnb};
static const struct nb6_snapshot_info info = {&units, &external, &config, 7, "0123456789abcdef", NULL, 0};

static int set_up(void **state)
{
    (void)state;
    nb6_config_init(&config);
    config.rbar_pc = 2;
    config.zmbar_msun = 0.5;
    units = nb6_units_from(2, 0.5, STARS);
    for (int i = 0; i < STARS; i++) {
        name[i] = STARS - i;
        mass[i] = 1.0 / (i + 1);
        pot[i] = -1.0 - i;
        r_nb[i] = 0.1 * i;
        dt_irr[i] = ldexp(1, -i % 40);
        dt_reg[i] = ldexp(1, -i % 20);
        nnb[i] = 3 * i;
        for (int k = 0; k < 3; k++) {
            x[i][k] = sin(i + 0.3 * k);
            v[i][k] = cos(i + 0.7 * k);
            acc[i][k] = sin(0.1 * i + k);
            jerk[i][k] = cos(0.1 * i + k);
        }
    }
    signal(SIGXFSZ, SIG_IGN);
    return folder_enter(folder);
}

static int tear_down(void **state)
{
    (void)state;
    return folder_remove(folder);
}

static void write_snapshot(const char *path)
{
    struct nbc_error err = {0};
    if (nb6_snapshot_write(path, &frame, &info, &err)) fail_msg("%s", err.text);
}

static void *whole(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *bytes = (size_t)ftell(file);
    rewind(file);
    void *data = malloc(*bytes + 1);
    assert_non_null(data);
    assert_int_equal(fread(data, 1, *bytes, file), *bytes);
    fclose(file);
    return data;
}

static void assert_same_files(const char *a, const char *b)
{
    size_t bytes_a, bytes_b;
    void *data_a = whole(a, &bytes_a), *data_b = whole(b, &bytes_b);
    assert_int_equal(bytes_a, bytes_b);
    assert_memory_equal(data_a, data_b, bytes_a);
    free(data_a);
    free(data_b);
}

/* ---- contents, read with plain HDF5 calls ---- */

static void assert_dataset(hid_t file, const char *path, hid_t type, const void *expected, size_t bytes)
{
    hid_t dataset = H5Dopen2(file, path, H5P_DEFAULT);
    if (dataset < 0) fail_msg("no %s", path);
    hid_t space = H5Dget_space(dataset);
    assert_int_equal((size_t)H5Sget_simple_extent_npoints(space) * H5Tget_size(type), bytes);
    void *data = malloc(bytes);
    assert_non_null(data);
    assert_true(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
    if (memcmp(data, expected, bytes) != 0) fail_msg("%s differs", path);
    free(data);
    assert_true(H5Aexists(dataset, "unit") > 0);
    assert_true(H5Aexists(dataset, "description") > 0);
    H5Sclose(space);
    H5Dclose(dataset);
}

static double attribute(hid_t file, const char *object, const char *attribute_name)
{
    double value = NAN;
    hid_t id = H5Aopen_by_name(file, object, attribute_name, H5P_DEFAULT, H5P_DEFAULT);
    if (id < 0) fail_msg("no attribute %s of %s", attribute_name, object);
    assert_true(H5Aread(id, H5T_NATIVE_DOUBLE, &value) >= 0);
    H5Aclose(id);
    return value;
}

static void test_contents(void **state)
{
    (void)state;
    write_snapshot("contents.h5");
    hid_t file = H5Fopen("contents.h5", H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_true(file >= 0);
    assert_dataset(file, "/PartType4/Coordinates", H5T_NATIVE_DOUBLE, x, sizeof x);
    assert_dataset(file, "/PartType4/Velocities", H5T_NATIVE_DOUBLE, v, sizeof v);
    assert_dataset(file, "/PartType4/Masses", H5T_NATIVE_DOUBLE, mass, sizeof mass);
    assert_dataset(file, "/PartType4/ParticleIDs", H5T_NATIVE_INT64, name, sizeof name);
    assert_dataset(file, "/PartType4/Potential", H5T_NATIVE_DOUBLE, pot, sizeof pot);
    assert_dataset(file, "/PartType4/Acceleration", H5T_NATIVE_DOUBLE, acc, sizeof acc);
    assert_dataset(file, "/PartType4/Jerk", H5T_NATIVE_DOUBLE, jerk, sizeof jerk);
    assert_dataset(file, "/PartType4/NeighbourRadius", H5T_NATIVE_DOUBLE, r_nb, sizeof r_nb);
    assert_dataset(file, "/PartType4/NeighbourNumber", H5T_NATIVE_INT32, nnb, sizeof nnb);
    assert_dataset(file, "/PartType4/TimeStepIrregular", H5T_NATIVE_DOUBLE, dt_irr, sizeof dt_irr);
    assert_dataset(file, "/PartType4/TimeStepRegular", H5T_NATIVE_DOUBLE, dt_reg, sizeof dt_reg);
    assert_true(attribute(file, "/Header", "Time") == 2.5);
    assert_true(attribute(file, "/nbody6", "tide_t_x") == 0.25);
    assert_true(attribute(file, "/nbody6", "snapshot") == 7);
    H5Fclose(file);
}

static void assert_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance)) fail_msg("%.17g is not %.17g within %g", value, expected, tolerance);
}

/* G = 1 must hold in the units of the file: otherwise readers compute wrong energies. */
static void test_units(void **state)
{
    (void)state;
    write_snapshot("units.h5");
    hid_t file = H5Fopen("units.h5", H5F_ACC_RDONLY, H5P_DEFAULT);
    double length = attribute(file, "/Units", "UnitLength_in_cm"), mass_g = attribute(file, "/Units", "UnitMass_in_g"),
           velocity = attribute(file, "/Units", "UnitVelocity_in_cm_per_s"),
           seconds = attribute(file, "/Units", "UnitTime_in_s");
    const double g_cgs = 6.67430e-8;
    /* Rounding of a dozen products of doubles. */
    assert_near(g_cgs * mass_g / (length * velocity * velocity), 1, 1e-13);
    assert_near(length / velocity / seconds, 1, 1e-15);
    /* 2 pc in cm, and 0.5 Msun for each of 300 stars, to the 5 digits of the usual values. */
    assert_near(length / 6.17136e18, 1, 1e-5);
    assert_near(mass_g / (150 * 1.98841e33), 1, 1e-5);
    assert_near(attribute(file, "/PartType4/Potential", "CGSConversionFactor") / (velocity * velocity), 1, 1e-14);
    assert_near(attribute(file, "/PartType4/Jerk", "CGSConversionFactor") * seconds * seconds / velocity, 1, 1e-14);
    H5Fclose(file);
}

/* ---- bytes ---- */

static void test_same_data_same_bytes(void **state)
{
    (void)state;
    write_snapshot("one.h5");
    sleep(2); /* times of making in HDF5 have a resolution of one second */
    write_snapshot("two with a longer name.h5");
    assert_same_files("one.h5", "two with a longer name.h5");
}

/* A write in the background writes the same bytes under the same name, and reports failures. */
static void test_unsynced(void **state)
{
    (void)state;
    struct nb6_snapshot_info later = info;
    struct nbc_error err = {0};
    later.unsynced = 1;
    write_snapshot("synced.h5");
    assert_int_equal(nb6_snapshot_write("later.h5", &frame, &later, &err), NBC_OK);
    assert_same_files("synced.h5", "later.h5");
    assert_int_equal(folder_has_temporary(), 0);
    assert_int_equal(nbc_file_sync_all("later.h5", &err), NBC_OK);
    assert_int_equal(nb6_snapshot_write("no/such/later.h5", &frame, &later, &err), NBC_FILE);
    assert_int_equal(nbc_file_sync_all("no/such/later.h5", &err), NBC_FILE);
    assert_non_null(strstr(err.text, "no/such/later.h5"));
    assert_int_equal(mkdir("taken.h5", 0777), 0); /* cannot be replaced by a file */
    assert_int_equal(nb6_snapshot_write("taken.h5", &frame, &later, &err), NBC_FILE);
    assert_int_equal(folder_has_temporary(), 0);
    assert_int_equal(rmdir("taken.h5"), 0);
}

static void test_missing_arrays_are_left_out(void **state)
{
    (void)state;
    struct nbc_error err = {0};
    const struct nb6_frame model = {.n = STARS, .name = name, .mass = mass, .x = x, .v = v};
    if (nb6_snapshot_write("model.h5", &model, &info, &err)) fail_msg("%s", err.text);
    hid_t file = H5Fopen("model.h5", H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_dataset(file, "/PartType4/Coordinates", H5T_NATIVE_DOUBLE, x, sizeof x);
    assert_int_equal(H5Lexists(file, "/PartType4/Potential", H5P_DEFAULT), 0);
    assert_int_equal(H5Lexists(file, "/PartType4/NeighbourNumber", H5P_DEFAULT), 0);
    H5Fclose(file);
}

/* ---- failures ---- */

static void limit_file_size(rlim_t bytes)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void test_no_room(void **state)
{
    (void)state;
    size_t bytes;
    write_snapshot("full.h5");
    write_snapshot("copy.h5");
    free(whole("full.h5", &bytes));
    for (size_t limit = 0; limit < bytes; limit += 997) {
        struct nbc_error err = {0};
        limit_file_size(limit);
        int status = nb6_snapshot_write("full.h5", &frame, &info, &err);
        limit_file_size(RLIM_INFINITY);
        assert_int_equal(status, NBC_FILE);
        assert_non_null(strstr(err.text, "full.h5: cannot write: File too large"));
        assert_int_equal(folder_has_temporary(), 0);
    }
    assert_same_files("full.h5", "copy.h5");
}

static void test_unwritable(void **state)
{
    (void)state;
    struct nbc_error err = {0};
    assert_int_equal(nb6_snapshot_write("nowhere/a.h5", &frame, &info, &err), NBC_FILE);
    assert_non_null(strstr(err.text, "No such file or directory"));
    assert_int_equal(mkdir("a_folder.h5", 0777), 0);
    assert_int_equal(nb6_snapshot_write("a_folder.h5", &frame, &info, &err), NBC_FILE);
    assert_non_null(strstr(err.text, "a_folder.h5"));
    assert_int_equal(folder_has_temporary(), 0);
}

/* HDF5 is silenced while a file is written, and only then: the user may use the library as well. */
static herr_t count_reports(hid_t stack, void *count)
{
    (void)stack;
    ++*(int *)count;
    return 0;
}

static void test_error_reports_are_given_back(void **state)
{
    (void)state;
    int reports = 0;
    struct nbc_error err = {0};
    H5E_auto2_t function;
    void *data;
    H5Eget_auto2(H5E_DEFAULT, &function, &data);
    H5Eset_auto2(H5E_DEFAULT, count_reports, &reports);
    write_snapshot("quiet.h5");
    assert_int_equal(nb6_snapshot_write("nowhere/a.h5", &frame, &info, &err), NBC_FILE);
    assert_int_equal(reports, 0);
    H5Fopen("does not exist", H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_true(reports > 0);
    H5Eset_auto2(H5E_DEFAULT, function, data);
}

/* A host program may close HDF5 as a whole; and something else of its own may get the number that the driver had. */
static void test_after_h5close(void **state)
{
    (void)state;
    write_snapshot("before.h5");
    for (int k = 0; k < 3; k++) {
        assert_true(H5close() >= 0);
        hid_t others[8];
        for (int j = 0; j < 8; j++) others[j] = H5Pcreate(H5P_FILE_ACCESS);
        write_snapshot("after.h5");
        assert_same_files("before.h5", "after.h5");
        for (int j = 0; j < 8; j++) H5Pclose(others[j]);
    }
}

enum { WRITERS = 4, FILES_OF_ONE = 20 };

static void *write_some(void *number)
{
    char path[32];
    struct nbc_error err = {0};
    for (int k = 0; k < FILES_OF_ONE; k++) {
        snprintf(path, sizeof path, "thread.%d.h5", *(int *)number);
        if (nb6_snapshot_write(path, &frame, &info, &err)) return number;
    }
    return NULL;
}

static void test_several_threads(void **state)
{
    (void)state;
    pthread_t thread[WRITERS];
    int number[WRITERS];
    char path[32];
    void *failed;
    write_snapshot("alone.h5");
    assert_true(H5close() >= 0); /* all of them find no driver */
    for (int k = 0; k < WRITERS; k++) {
        number[k] = k;
        assert_int_equal(pthread_create(&thread[k], NULL, write_some, &number[k]), 0);
    }
    for (int k = 0; k < WRITERS; k++) {
        assert_int_equal(pthread_join(thread[k], &failed), 0);
        assert_null(failed);
        snprintf(path, sizeof path, "thread.%d.h5", k);
        assert_same_files("alone.h5", path);
    }
}

/* A process that forks while a thread of it writes: the child can write as well. The address sanitizer's own malloc
 * keeps in the child a lock that the thread held in the parent, and waits for it for ever: not to be asked there. */
static void test_fork_while_writing(void **state)
{
    (void)state;
    if (TEST_SANITIZED) {
        print_message("skipped: fork_while_writing: the sanitizer's malloc does not survive a fork\n");
        skip();
    }
    pthread_t thread;
    int number = 0, how;
    assert_int_equal(pthread_create(&thread, NULL, write_some, &number), 0);
    for (int k = 0; k < 5; k++) {
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            struct nbc_error err = {0};
            alarm(30);
            _exit(nb6_snapshot_write("child.h5", &frame, &info, &err));
        }
        assert_int_equal(waitpid(child, &how, 0), child);
        assert_true(WIFEXITED(how) && WEXITSTATUS(how) == 0);
    }
    assert_int_equal(pthread_join(thread, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_contents),
        cmocka_unit_test(test_units),
        cmocka_unit_test(test_same_data_same_bytes),
        cmocka_unit_test(test_unsynced),
        cmocka_unit_test(test_missing_arrays_are_left_out),
        cmocka_unit_test(test_no_room),
        cmocka_unit_test(test_unwritable),
        cmocka_unit_test(test_error_reports_are_given_back),
        cmocka_unit_test(test_after_h5close),
        cmocka_unit_test(test_several_threads),
        cmocka_unit_test(test_fork_while_writing),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
