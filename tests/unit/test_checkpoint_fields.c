/* Fields of a checkpoint are known by name and type: a struct whose layout has changed is noticed, when the program is
 * compiled or when the file is read, and the message names the field. */
#include "common/nbc.h"
#include "nbody6/hdf5/hdf5_util.h"
#include "nbody6/input/config.h"
#include "nbody6/output/checkpoint.h"
#include "nbody6/output/checkpoint_columns.h"
#include "nbody6/output/checkpoint_fields.h"
#include "nbody6/output/checkpoint_rules.h"
#include "nbody6/output/checkpoint_seal.h"
#include "nbody6/output/checkpoint_table.h"
#include "nbody6/output/restore.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "tests/support/folder.h"

#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { STARS = 6, ROWS = 3 };

static char folder[] = "/tmp/nb6_fields_XXXXXX";

/* ---- a toy struct, as the writing program had it, and as reading programs may have it ---- */

struct part {
    double a;
    int32_t b, c;
};

/* clang-format off */
#define TOY_FIELDS(F, T) F(T, x, "x", NUMBER) F(T, n, "n", ANY) F(T, flag, "flag", ANY) F(T, level, "level", ANY)
#define EACH_FIELDS(F, T) F(T, part, a, "part.a", NUMBER) F(T, part, b, "part.b", ANY) F(T, part, c, "part.c", ANY)
/* clang-format on */
#define TOY(type, more)                                                                                                \
    static const struct nb6_state_field type##_fields[] = {TOY_FIELDS(NB6_FIELD, struct type) more};                   \
    static const struct nb6_field_group type##_group = {"toy", 0, sizeof(struct type), NB6_ROWS(type##_fields),        \
                                                        type##_fields}

struct toy {
    double x[3];
    int64_t n;
    int32_t flag;
    int8_t level[4];
    struct part part[2];
};
TOY(toy, EACH_FIELDS(NB6_FIELD_OF_EACH, struct toy));

/* The list is complete, as checkpoint_fields*.c asserts of every struct. */
#define ALL_OF_TOY(T) NB6_COVERS(T, TOY_FIELDS, 0 EACH_FIELDS(NB6_PLUS_BYTES_OF_EACH, T))
_Static_assert(ALL_OF_TOY(struct toy), "nothing was forgotten");

struct reordered {
    struct part part[2];
    int8_t level[4];
    int32_t flag;
    int64_t n;
    double x[3];
};
TOY(reordered, EACH_FIELDS(NB6_FIELD_OF_EACH, struct reordered));
_Static_assert(ALL_OF_TOY(struct reordered), "nothing was forgotten");

/* One more member, of any size: the assertion in checkpoint_fields*.c would fail until the list has it. */
struct grown {
    double x[3];
    int64_t n;
    int32_t flag;
    int8_t level[4];
    struct part part[2];
    double added;
};
_Static_assert(!ALL_OF_TOY(struct grown), "a forgotten member is noticed");
TOY(grown, EACH_FIELDS(NB6_FIELD_OF_EACH, struct grown) NB6_FIELD(struct grown, added, "added", NUMBER));

struct grown_by_a_byte {
    double x[3];
    int64_t n;
    int32_t flag;
    int8_t level[4];
    struct part part[2];
    int8_t added;
};
_Static_assert(!ALL_OF_TOY(struct grown_by_a_byte), "a forgotten member is noticed");

struct shrunk {
    double x[3];
    int64_t n;
    int32_t flag;
    int8_t level[4];
};
TOY(shrunk, );

struct retyped {
    double x[3];
    double n;
    int32_t flag;
    int8_t level[4];
    struct part part[2];
};
TOY(retyped, EACH_FIELDS(NB6_FIELD_OF_EACH, struct retyped));

struct longer {
    double x[6];
    int64_t n;
    int32_t flag;
    int8_t level[4];
    struct part part[2];
};
TOY(longer, EACH_FIELDS(NB6_FIELD_OF_EACH, struct longer));

static const struct nb6_rule_sizes no_sizes = {0, 0, 0};

static const struct toy written[ROWS] = {
    {{1, 2, 3}, 4, 5, {6, 7, 8, 9}, {{10, 11, 12}, {13, 14, 15}}},
    {{-1, -2, -3}, -4, -5, {-6, -7, -8, -9}, {{-10, -11, -12}, {-13, -14, -15}}},
    {{0.1, 0.2, 0.3}, INT64_MAX, INT32_MIN, {127, -128, 0, 1}, {{0.4, 0, 1}, {0.5, 2, 3}}},
};

static void write_toys(const char *path)
{
    struct nb6_hdf5 file;
    struct nbc_error err = {0};
    nb6_hdf5_create(&file, path, 0, &err);
    nb6_checkpoint_write_columns(&file, &toy_group, written, ROWS);
    if (nb6_hdf5_commit(&file, NULL)) fail_msg("%s", err.text);
}

static int read_toys(const struct nb6_field_group *group, void *toys, struct nbc_error *err)
{
    struct nb6_hdf5 file;
    nb6_hdf5_open(&file, "toy.h5", err);
    nb6_checkpoint_read_columns(&file, group, toys, ROWS, NULL, &no_sizes);
    return nb6_hdf5_close(&file);
}

static void test_members_in_another_order(void **state)
{
    (void)state;
    struct nbc_error err = {0};
    struct reordered read[ROWS] = {0};
    write_toys("toy.h5");
    if (read_toys(&reordered_group, read, &err)) fail_msg("%s", err.text);
    for (int i = 0; i < ROWS; i++) {
        assert_memory_equal(read[i].x, written[i].x, sizeof read[i].x);
        assert_memory_equal(read[i].level, written[i].level, sizeof read[i].level);
        assert_memory_equal(read[i].part, written[i].part, sizeof read[i].part);
        assert_true(read[i].n == written[i].n && read[i].flag == written[i].flag);
    }
}

static void test_members_that_changed(void **state)
{
    (void)state;
    const struct {
        const struct nb6_field_group *group;
        const char *text;
    } cases[] = {{&grown_group, "toy/added is missing"},
                 {&shrunk_group, "toy/part.a is unknown"},
                 {&retyped_group, "toy/n has another type"},
                 {&longer_group, "toy/x has another number of values"}};
    write_toys("toy.h5");
    for (size_t k = 0; k < NB6_ROWS(cases); k++) {
        struct nbc_error err = {0};
        char read[ROWS][256] = {{0}}, zero[ROWS][256] = {{0}};
        assert_true(cases[k].group->size <= sizeof read[0]);
        assert_int_equal(read_toys(cases[k].group, read, &err), NBC_FILE);
        if (!strstr(err.text, cases[k].text)) fail_msg("'%s' is not in: %s", cases[k].text, err.text);
        assert_non_null(strstr(err.text, "toy.h5"));
        assert_memory_equal(read, zero, sizeof read);
    }
}

/* ---- structs with many members come back whole ---- */

/* unused, n_unused: bytes of each row that are in no field on purpose. Rows are no sound ones, and not judged. */
static void assert_whole(const struct nb6_field_group *group, size_t unused, size_t n_unused)
{
    static const int8_t unread[ROWS] = {0};
    struct nb6_hdf5 file;
    struct nbc_error err = {0};
    size_t bytes = ROWS * group->size;
    unsigned char *from = malloc(bytes), *to = calloc(1, bytes);
    assert_non_null(from);
    assert_non_null(to);
    for (size_t b = 0; b < bytes; b++) from[b] = (unsigned char)(1 + b * 7919 % 251); /* no member equals another */
    for (size_t row = 0; row < ROWS; row++) memset(from + row * group->size + unused, 0, n_unused);
    nb6_hdf5_create(&file, "whole.h5", 0, &err);
    nb6_checkpoint_write_columns(&file, group, from, ROWS);
    if (nb6_hdf5_commit(&file, NULL)) fail_msg("%s", err.text);
    nb6_hdf5_open(&file, "whole.h5", &err);
    nb6_checkpoint_read_columns(&file, group, to, ROWS, unread, &no_sizes);
    if (nb6_hdf5_close(&file)) fail_msg("%s", err.text);
    assert_memory_equal(from, to, bytes);
    free(from);
    free(to);
}

static void test_structs_without_gaps(void **state)
{
    (void)state;
    assert_whole(&toy_group, 0, 0);
    assert_whole(&nb6_pair_fields, 0, 0);
    assert_whole(&nb6_ks_fields, 0, 0);
    assert_whole(&nb6_chain_fields, 0, 0);
}

/* ---- files keep their names ---- */

/* In any order: fields are looked up by name. */
static uint64_t sum_of_names(const struct nb6_field_group *group)
{
    uint64_t sum = 0;
    char text[256];
    for (size_t k = 0; k < group->count; k++) {
        const struct nb6_state_field *field = &group->field[k];
        const int length = snprintf(text, sizeof text, "%s/%s %d %zu\n", group->name, field->name, (int)field->type,
                                    nb6_state_field_values(field));
        assert_true(length > 0 && (size_t)length < sizeof text);
        sum += nb6_crc64(0, text, (size_t)length);
    }
    return sum;
}

/* A member of a struct may get another name. Names, types and numbers of values of fields belong to the schema: when
 * they change, NB6_CHECKPOINT_SCHEMA is raised, and the new sum stands here beside it. */
static void test_names_belong_to_the_schema(void **state)
{
    (void)state;
    static const struct {
        int schema;
        uint64_t sum;
    } known = {20, UINT64_C(0x6b4bd85c48be828e)};
    const struct nb6_field_group *group, *const rows[] = {&nb6_body_fields, &nb6_star_fields,  &nb6_pair_fields,
                                                          &nb6_ks_fields,   &nb6_chain_fields, &nb6_perturber_fields};
    uint64_t sum = 0;
    for (int k = 0; (group = nb6_state_group(k)); k++) sum += sum_of_names(group);
    for (size_t k = 0; k < NB6_ROWS(rows); k++) sum += sum_of_names(rows[k]);
    if (NB6_CHECKPOINT_SCHEMA != known.schema || sum != known.sum)
        fail_msg("fields of schema %d have the sum 0x%016" PRIx64 ", not that of schema %d, 0x%016" PRIx64,
                 NB6_CHECKPOINT_SCHEMA, sum, known.schema, known.sum);
}

/* ---- an edited checkpoint ---- */

static nb6_t *sim;

static int set_up(void **state)
{
    (void)state;
    struct nb6_config config;
    struct nbc_error err = {0};
    double mass[STARS], x[STARS][3], v[STARS][3];
    nb6_config_init(&config);
    for (int i = 0; i < STARS; i++) {
        mass[i] = 1.0 / STARS;
        for (int k = 0; k < 3; k++) {
            x[i][k] = sin(1.0 + 3.7 * i + 1.3 * k);
            v[i][k] = 0.3 * cos(2.0 + 2.9 * i + 1.7 * k);
        }
    }
    if (folder_enter(folder)) return 1;
    if (nb6_create(&sim, &config, &err) ||
        nb6_set_bodies(sim, STARS, NULL, mass, (const double(*)[3])x, (const double(*)[3])v, &err)) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    nb6_free(sim);
    return folder_remove(folder);
}

static void begin_edit(struct nb6_hdf5 *file)
{
    struct nbc_error err = {0};
    if (nb6_checkpoint_write("edited.ckpt.h5", sim, &err)) fail_msg("%s", err.text);
    *file = (struct nb6_hdf5){.path = "edited.ckpt.h5", .sink.fd = -1};
    file->file = H5Fopen(file->path, H5F_ACC_RDWR, H5P_DEFAULT);
    assert_true(file->file >= 0);
}

/* Length and checksum fit again, so that only the reader of the fields can notice the change. */
static void end_edit(struct nb6_hdf5 *file)
{
    assert_true(H5Fclose(file->file) >= 0);
    file->sink.fd = open(file->path, O_RDWR);
    assert_true(file->sink.fd >= 0);
    nb6_seal_write(file, NB6_CHECKPOINT_SCHEMA);
    assert_int_equal(file->status, NBC_OK);
    assert_int_equal(close(file->sink.fd), 0);
}

static void expect_refusal(struct nb6_hdf5 *file, const char *text)
{
    nb6_t *made = NULL;
    struct nbc_error err = {0};
    end_edit(file);
    int status = nb6_restore(&made, file->path, &err);
    nb6_free(made);
    if (status != NBC_FILE) fail_msg("%s: not refused", text);
    assert_non_null(strstr(err.text, "edited.ckpt.h5"));
    assert_non_null(strstr(err.text, "the version of nbody6 that wrote it"));
    if (!strstr(err.text, text)) fail_msg("'%s' is not in: %s", text, err.text);
}

static void put_attribute(struct nb6_hdf5 *file, const char *group, const char *name, hid_t type, hsize_t count)
{
    static const double zero[8];
    hid_t object = H5Gopen2(file->file, group, H5P_DEFAULT);
    hid_t space = count > 1 ? H5Screate_simple(1, &count, NULL) : H5Screate(H5S_SCALAR);
    hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Awrite(attribute, type, zero) >= 0);
    H5Aclose(attribute);
    H5Sclose(space);
    H5Gclose(object);
}

static void put_dataset(struct nb6_hdf5 *file, const char *name, hid_t type, int rank, hsize_t rows, hsize_t columns)
{
    hsize_t shape[2] = {rows, columns};
    hid_t space = H5Screate_simple(rank, shape, NULL);
    hid_t dataset = H5Dcreate2(file->file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(dataset >= 0);
    H5Dclose(dataset);
    H5Sclose(space);
}

static void drop_attribute(struct nb6_hdf5 *file, const char *group, const char *name)
{
    assert_true(H5Adelete_by_name(file->file, group, name, H5P_DEFAULT) >= 0);
}

static void drop(struct nb6_hdf5 *file, const char *name)
{
    assert_true(H5Ldelete(file->file, name, H5P_DEFAULT) >= 0);
}

static void test_fields_in_another_order(void **state)
{
    (void)state;
    struct nb6_hdf5 file;
    struct nbc_error err = {0};
    nb6_t *made = NULL;
    const int64_t n_fix = sim->run.config.run.n_fix;
    begin_edit(&file);
    drop_attribute(&file, "config_run", "n_fix"); /* made anew, it is the last one */
    hid_t object = H5Gopen2(file.file, "config_run", H5P_DEFAULT);
    nb6_hdf5_put(&file, object, "n_fix", H5T_NATIVE_INT64, 0, &n_fix);
    H5Gclose(object);
    assert_true(H5Lmove(file.file, "bodies/x0", file.file, "x0", H5P_DEFAULT, H5P_DEFAULT) >= 0);
    assert_true(H5Lmove(file.file, "x0", file.file, "bodies/x0", H5P_DEFAULT, H5P_DEFAULT) >= 0);
    end_edit(&file);
    if (nb6_restore(&made, file.path, &err)) fail_msg("%s", err.text);
    assert_true(made->run.config.run.n_fix == n_fix);
    for (int i = 0; i < STARS; i++) assert_memory_equal(made->body[i].x0, sim->body[i].x0, sizeof sim->body[i].x0);
    nb6_free(made);
}

static void test_missing_fields(void **state)
{
    (void)state;
    struct nb6_hdf5 file;
    begin_edit(&file);
    drop_attribute(&file, "ledger", "merged");
    expect_refusal(&file, "the field ledger/merged is missing");
    begin_edit(&file);
    assert_true(H5Arename_by_name(file.file, "counters", "blocks", "block_steps", H5P_DEFAULT) >= 0);
    expect_refusal(&file, "the field counters/blocks is missing");
    begin_edit(&file);
    drop(&file, "stars/level_irr");
    expect_refusal(&file, "the field stars/level_irr is missing");
    begin_edit(&file);
    drop(&file, "ks/now.u");
    expect_refusal(&file, "the field ks/now.u is missing");
    begin_edit(&file);
    drop(&file, "chains/state.y");
    expect_refusal(&file, "the field chains/state.y is missing");
}

static void test_unknown_fields(void **state)
{
    (void)state;
    struct nb6_hdf5 file;
    begin_edit(&file);
    put_attribute(&file, "config_pair", "charge", H5T_IEEE_F64LE, 1);
    expect_refusal(&file, "the field config_pair/charge is unknown");
    begin_edit(&file);
    put_dataset(&file, "chains/charge", H5T_IEEE_F64LE, 1, 0, 1);
    expect_refusal(&file, "the field chains/charge is unknown");
    begin_edit(&file);
    H5Gclose(H5Gcreate2(file.file, "gas", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    expect_refusal(&file, "the field gas is unknown");
}

static void test_fields_of_another_type(void **state)
{
    (void)state;
    struct nb6_hdf5 file;
    begin_edit(&file);
    drop_attribute(&file, "counters", "blocks");
    put_attribute(&file, "counters", "blocks", H5T_IEEE_F64LE, 1);
    expect_refusal(&file, "the field counters/blocks has another type");
    begin_edit(&file);
    drop_attribute(&file, "config_run", "name");
    put_attribute(&file, "config_run", "name", H5T_STD_I32LE, 1);
    expect_refusal(&file, "the field config_run/name has another type");
    begin_edit(&file);
    drop(&file, "bodies/mass");
    put_dataset(&file, "bodies/mass", H5T_IEEE_F32LE, 1, STARS, 1);
    expect_refusal(&file, "the field bodies/mass has another type");
}

static void test_fields_of_another_length(void **state)
{
    (void)state;
    struct nb6_hdf5 file;
    begin_edit(&file);
    drop_attribute(&file, "bookkeeping", "r_density");
    put_attribute(&file, "bookkeeping", "r_density", H5T_IEEE_F64LE, 2);
    expect_refusal(&file, "the field bookkeeping/r_density has another number");
    begin_edit(&file);
    drop(&file, "bodies/x0");
    put_dataset(&file, "bodies/x0", H5T_IEEE_F64LE, 2, STARS, 2);
    expect_refusal(&file, "the field bodies/x0 has another number");
    begin_edit(&file);
    drop(&file, "bodies/mass");
    put_dataset(&file, "bodies/mass", H5T_IEEE_F64LE, 1, STARS - 1, 1);
    expect_refusal(&file, "the field bodies/mass has another number");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_members_in_another_order), cmocka_unit_test(test_members_that_changed),
        cmocka_unit_test(test_structs_without_gaps),     cmocka_unit_test(test_names_belong_to_the_schema),
        cmocka_unit_test(test_fields_in_another_order),  cmocka_unit_test(test_missing_fields),
        cmocka_unit_test(test_unknown_fields),           cmocka_unit_test(test_fields_of_another_type),
        cmocka_unit_test(test_fields_of_another_length),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
