/* Checkpoints: everything comes back bit for bit, and damage of any kind is found before it can do harm. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <malloc.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/file.h"
#include "common/nbc.h"
#include "nbody6/fewbody/pairs/field.h"
#include "nbody6/input/config.h"
#include "nbody6/output/checkpoint.h"
#include "nbody6/output/checkpoint_fields.h"
#include "nbody6/output/checkpoint_seal.h"
#include "nbody6/output/checkpoint_state.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/event.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "tests/support/folder.h"
#include "tests/support/test_size.h"

enum { STARS = 24 };
static char folder[] = "/tmp/nb6_test_checkpoint_XXXXXX";
static nb6_t *sim;

static int set_up(void **state)
{
    (void)state;
    struct nb6_config config;
    struct nbc_error err = {0};
    double mass[STARS], x[STARS][3], v[STARS][3];
    nb6_config_init(&config);
    config.run.energy_tol = 1e100;
    config.run.dt_adjust = config.run.dt_output = 0.25;
    config.integration.r_nb_init = 0.8;
    strcpy(config.run.name, "name of the run");
    for (int i = 0; i < STARS; i++) {
        mass[i] = 1.0 / STARS + 0.001 * i;
        for (int k = 0; k < 3; k++) {
            x[i][k] = sin(1.0 + 3.7 * i + 1.3 * k);
            v[i][k] = 0.3 * cos(2.0 + 2.9 * i + 1.7 * k);
        }
    }
    if (folder_enter(folder)) return 1;
    if (nb6_create(&sim, &config, &err) ||
        nb6_set_bodies(sim, STARS, NULL, mass, (const double(*)[3])x, (const double(*)[3])v, &err) ||
        nb6_evolve(sim, 0.3, &err)) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    signal(SIGXFSZ, SIG_IGN);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    nb6_free(sim);
    return folder_remove(folder);
}

/* ---- small tools ---- */

static char *read_whole(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *bytes = (size_t)ftell(file);
    rewind(file);
    char *data = malloc(*bytes + 1);
    assert_non_null(data);
    assert_int_equal(fread(data, 1, *bytes, file), *bytes);
    fclose(file);
    return data;
}

static void write_whole(const char *path, const char *data, size_t bytes)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, bytes, file), bytes);
    assert_int_equal(fclose(file), 0);
}

static void assert_file_is(const char *path, const char *data, size_t bytes)
{
    size_t found;
    char *now = read_whole(path, &found);
    assert_int_equal(found, bytes);
    assert_memory_equal(now, data, bytes);
    free(now);
}

/* Status of reading a checkpoint. */
static int try_read(const char *path, struct nbc_error *err)
{
    struct nb6_sim *made = nbc_alloc(1, sizeof *made);
    int32_t *nblist = NULL;
    int status = nb6_checkpoint_read(path, made, &nblist, err);
    if (status) {
        assert_null(made->body);
        assert_null(made->star);
        assert_null(nblist);
    }
    nbc_free(made->body);
    nbc_free(made->star);
    nb6_subsystems_free(&made->subsystems);
    nbc_free(nblist);
    nbc_free(made);
    return status;
}

static void write_good(const char *path)
{
    struct nbc_error err = {0};
    if (nb6_checkpoint_write(path, sim, &err)) fail_msg("%s", err.text);
}

/* ---- round trip ---- */

static void assert_fields_equal(const struct nb6_field_group *group, const char *a, const char *b)
{
    for (size_t k = 0; k < group->count; k++) {
        const struct nb6_state_field *f = &group->field[k];
        const char *p = a + group->offset + f->offset, *q = b + group->offset + f->offset;
        if (strcmp(f->name, "device") == 0 || strcmp(f->name, "irr_backend") == 0 ||
            strcmp(f->name, "wall_used_s") == 0)
            continue; /* those are to differ: backends by name, time of this session added */
        if (f->type == NB6_FIELD_TEXT ? strcmp(p, q) != 0
                                      : memcmp(p, q, f->count * nb6_state_field_bytes(f->type)) != 0)
            fail_msg("%s/%s differs", group->name, f->name);
    }
}

static void test_round_trip(void **state)
{
    (void)state;
    struct nbc_error err = {0};
    const struct nb6_run_state run = {11, 22, 33, "0123456789abcdef", "", 0, 0, 0, 0};
    struct nb6_run_state run_read = {0};
    struct nb6_config config;
    struct nb6_sim *made = nbc_alloc(1, sizeof *made);
    static struct nb6_checkpoint_state was, is;
    const struct nb6_field_group *group;
    int32_t *nblist, *next;
    sim->run.book.wall_used_s = 1000;
    assert_int_equal(nb6_checkpoint_write_run("round.ckpt.h5", NULL, sim, &run, &err), NBC_OK);
    if (nb6_checkpoint_read("round.ckpt.h5", made, &nblist, &err)) fail_msg("%s", err.text);
    nb6_checkpoint_state_of(sim, &was);
    nb6_checkpoint_state_of(made, &is);
    for (int k = 0; (group = nb6_state_group(k)); k++) assert_fields_equal(group, (char *)&was, (char *)&is);
    for (int i = 0; i < STARS; i++) {
        assert_fields_equal(&nb6_body_fields, (char *)&sim->body[i], (char *)&made->body[i]);
        assert_fields_equal(&nb6_star_fields, (char *)&sim->star[i], (char *)&made->star[i]);
    }
    next = nblist;
    for (size_t i = 0; i < STARS; i++) {
        size_t nnb;
        const int32_t *list = gpuirr_get_list(sim->irr, i, &nnb);
        assert_int_equal(nnb, made->star[i].nnb);
        if (nnb) assert_memory_equal(next, list, nnb * sizeof *list);
        next += nnb;
    }
    assert_true(next > nblist); /* or the lists were not tested */
    assert_true(made->run.book.wall_used_s > 1000);
    char device[sizeof made->run.config.run.device];
    nb6_regular_name(sim->reg, device, sizeof device); /* with its GPUs, if it has any */
    assert_string_equal(made->run.config.run.device, device);
    assert_string_equal(made->run.config.run.irr_backend, gpuirr_info(sim->irr)->name);
    assert_int_equal(nb6_checkpoint_read_config("round.ckpt.h5", &config, &run_read, &err), NBC_OK);
    assert_true(run_read.log_bytes == 11 && run_read.events_bytes == 22 && run_read.escapers_bytes == 33);
    assert_string_equal(run_read.id, "0123456789abcdef");
    assert_string_equal(config.run.name, "name of the run");
    sim->run.book.wall_used_s = 0;
    nbc_free(made->body);
    nbc_free(made->star);
    nb6_subsystems_free(&made->subsystems);
    nbc_free(nblist);
    nbc_free(made);
}

/* Two ways from t = 0.3 to 0.9: straight on, and through a file. */
static void test_continues_bit_for_bit(void **state)
{
    (void)state;
    struct nbc_error err = {0};
    nb6_t *other = NULL;
    double x[2][STARS][3], v[2][STARS][3];
    write_good("continue.ckpt.h5");
    if (nb6_restore(&other, "continue.ckpt.h5", &err)) fail_msg("%s", err.text);
    nb6_t *both[2] = {sim, other};
    for (int k = 0; k < 2; k++) {
        if (nb6_evolve(both[k], 0.9, &err)) fail_msg("%s", err.text);
        assert_int_equal(nb6_get_bodies(both[k], STARS, NULL, NULL, x[k], v[k], &err), NBC_OK);
    }
    assert_memory_equal(x[0], x[1], sizeof x[0]);
    assert_memory_equal(v[0], v[1], sizeof v[0]);
    nb6_free(other);
}

/* ---- damage ---- */

static void test_crc(void **state)
{
    (void)state;
    /* Check value of CRC-64/XZ in the catalogue of parametrised CRC algorithms. */
    assert_true(nb6_crc64(0, "123456789", 9) == 0x995dc9bbdf1939faU);
    assert_true(nb6_crc64(nb6_crc64(0, "1234", 4), "56789", 5) == 0x995dc9bbdf1939faU);
}

static void test_every_flipped_bit_is_found(void **state)
{
    (void)state;
    size_t bytes;
    struct nbc_error err;
    write_good("good.h5");
    char *data = read_whole("good.h5", &bytes);
    srand(1);
    for (int k = 0; k < test_size(1500, 150); k++) {
        /* a third of them in the seal and in the metadata of HDF5, which come first */
        size_t at = (size_t)rand() % (k % 3 ? bytes : 4096);
        char bit = (char)(1 << rand() % 8);
        data[at] = (char)(data[at] ^ bit);
        write_whole("bad.h5", data, bytes);
        memset(&err, 0, sizeof err);
        if (try_read("bad.h5", &err) != NBC_FILE) fail_msg("a wrong bit in byte %zu of %zu was not found", at, bytes);
        assert_non_null(strstr(err.text, "bad.h5"));
        data[at] = (char)(data[at] ^ bit);
    }
    write_whole("bad.h5", data, bytes);
    assert_int_equal(try_read("bad.h5", &err), NBC_OK);
    free(data);
}

static void test_every_truncation_is_found(void **state)
{
    (void)state;
    size_t bytes;
    struct nbc_error err;
    write_good("good.h5");
    char *data = read_whole("good.h5", &bytes);
    for (size_t length = 0; length < bytes; length += (size_t)test_size(length < 1100 ? 1 : 199, 199)) {
        write_whole("bad.h5", data, length);
        memset(&err, 0, sizeof err);
        assert_int_equal(try_read("bad.h5", &err), NBC_FILE);
        assert_non_null(strstr(err.text, "truncated"));
    }
    write_whole("bad.h5", data, bytes);
    if (truncate("bad.h5", (off_t)bytes + 1)) fail();
    assert_int_equal(try_read("bad.h5", &err), NBC_FILE); /* longer than it was is wrong as well */
    free(data);
}

static void expect_text(const char *path, const char *text)
{
    struct nbc_error err = {0};
    assert_int_equal(try_read(path, &err), NBC_FILE);
    if (!strstr(err.text, text)) fail_msg("'%s' is not in: %s", text, err.text);
}

static void test_other_files(void **state)
{
    (void)state;
    size_t bytes;
    write_good("good.h5");
    char *data = read_whole("good.h5", &bytes);
    char line[32];
    snprintf(line, sizeof line, "schema %d\n", NB6_CHECKPOINT_SCHEMA);
    char *schema = strstr(data, line);
    assert_non_null(schema);
    schema[7] = '5';
    write_whole("schema.h5", data, bytes);
    expect_text("schema.h5", "schema 5");
    write_whole("hdf5.h5", data + NB6_SEAL_BYTES, bytes - NB6_SEAL_BYTES); /* a plain HDF5 file */
    expect_text("hdf5.h5", "not a checkpoint (a snapshot");
    memset(data, 'x', bytes);
    write_whole("text.h5", data, bytes);
    expect_text("text.h5", "not a checkpoint of nbody6");
    expect_text("missing.h5", "No such file");
    expect_text(".", "not a regular file");
    free(data);
}

static void test_names_the_other_checkpoint(void **state)
{
    (void)state;
    write_good("run.ckpt.prev.h5");
    expect_text("run.ckpt.h5", "resume from run.ckpt.prev.h5 instead");
    write_whole("run.ckpt.h5", "rubbish", 7);
    expect_text("run.ckpt.h5", "resume from run.ckpt.prev.h5 instead");
    write_whole("run.ckpt.prev.h5", "rubbish", 7);
    expect_text("run.ckpt.h5", "cannot be used either");
    assert_int_equal(unlink("run.ckpt.prev.h5"), 0);
    expect_text("run.ckpt.h5", "no other checkpoint");
}

/* ---- writing fails ---- */

static void limit_file_size(rlim_t bytes)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void test_no_room_leaves_everything_as_it_was(void **state)
{
    (void)state;
    size_t bytes, previous_bytes;
    write_good("full.ckpt.prev.h5");
    write_good("full.ckpt.h5");
    char *data = read_whole("full.ckpt.h5", &bytes), *previous = read_whole("full.ckpt.prev.h5", &previous_bytes);
    int failures = 0;
    for (size_t limit = 0; limit < bytes; limit += (size_t)test_size(limit < 4096 ? 256 : 1499, 4999)) {
        struct nbc_error err = {0};
        limit_file_size(limit);
        int status = nb6_checkpoint_write_run("full.ckpt.h5", "full.ckpt.prev.h5", sim, NULL, &err);
        limit_file_size(RLIM_INFINITY);
        if (status != NBC_FILE) fail_msg("%s at a limit of %zu bytes: %s", nbc_status_name(status), limit, err.text);
        assert_non_null(strstr(err.text, "File too large"));
        assert_int_equal(folder_has_temporary(), 0);
        assert_file_is("full.ckpt.h5", data, bytes);
        assert_file_is("full.ckpt.prev.h5", previous, previous_bytes);
        failures++;
    }
    assert_true(failures > test_size(20, 5));
    struct nbc_error err = {0};
    assert_int_equal(nb6_checkpoint_write_run("full.ckpt.h5", "full.ckpt.prev.h5", sim, NULL, &err), NBC_OK);
    assert_file_is("full.ckpt.prev.h5", data, bytes);
    assert_int_equal(try_read("full.ckpt.h5", &err), NBC_OK);
    free(data);
    free(previous);
}

/* HDF5 reads nothing that is free: with glibc, what is free has other bytes at once. */
static void test_memory_that_is_free(void **state)
{
    (void)state;
    nb6_t *again = NULL;
    struct nbc_error err = {0};
#ifdef M_PERTURB
    mallopt(M_PERTURB, 0xa5);
#endif
    const int written = nb6_checkpoint_write("freed.ckpt.h5", sim, &err);
    const int read = written ? written : nb6_restore(&again, "freed.ckpt.h5", &err);
#ifdef M_PERTURB
    mallopt(M_PERTURB, 0);
#endif
    if (read) fail_msg("%s", err.text);
    nb6_free(again);
}

/* A device or folder is not replaced by a file, with or without a link that leads there. */
static void test_special_files(void **state)
{
    (void)state;
    static const char *const names[] = {"pipe.ckpt.h5", "null.ckpt.h5"};
    struct stat before, after;
    assert_int_equal(mkfifo(names[0], 0666), 0);
    assert_int_equal(symlink("/dev/null", names[1]), 0);
    for (int k = 0; k < 2; k++) {
        struct nbc_error err = {0};
        nb6_t *read = NULL;
        assert_int_equal(lstat(names[k], &before), 0);
        assert_int_equal(nb6_checkpoint(sim, names[k], &err), NBC_FILE);
        assert_non_null(strstr(err.text, "not a regular file"));
        assert_int_equal(nb6_restore(&read, names[k], &err), NBC_FILE);
        assert_non_null(strstr(err.text, "not a regular file"));
        assert_int_equal(lstat(names[k], &after), 0);
        assert_true(before.st_ino == after.st_ino && before.st_mode == after.st_mode);
        assert_int_equal(unlink(names[k]), 0);
    }
}

static void test_no_folder(void **state)
{
    (void)state;
    struct nbc_error err = {0};
    assert_int_equal(nb6_checkpoint_write("no/such/folder/a.ckpt.h5", sim, &err), NBC_FILE);
    assert_non_null(strstr(err.text, "no/such/folder/a.ckpt.h5"));
    assert_non_null(strstr(err.text, "No such file or directory"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_continues_bit_for_bit),
        cmocka_unit_test(test_crc),
        cmocka_unit_test(test_every_flipped_bit_is_found),
        cmocka_unit_test(test_every_truncation_is_found),
        cmocka_unit_test(test_other_files),
        cmocka_unit_test(test_names_the_other_checkpoint),
        cmocka_unit_test(test_no_room_leaves_everything_as_it_was),
        cmocka_unit_test(test_memory_that_is_free),
        cmocka_unit_test(test_no_folder),
        cmocka_unit_test(test_special_files),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
