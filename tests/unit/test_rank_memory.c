/* Memory of rank 0 beside its share, by the count of allocated bytes: a model that is made, one that is read, a resume
 * from a checkpoint, a checkpoint and a snapshot take some pieces, however many bodies there are, by direct sums and by
 * trees whose lists are kept. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "nbody6/analysis/frame.h"
#include "nbody6/collisionless/collisionless.h"
#include "nbody6/collisionless/ranks/ranks.h"
#include "nbody6/collisionless/ranks/sections.h"
#include "nbody6/input/input.h"
#include "nbody6/model/model.h"
#include "nbody6/model/pieces.h"
#include "nbody6/output/checkpoint.h"
#include "nbody6/output/collisionless_checkpoint.h"
#include "nbody6/output/run_snapshot.h"
#include "nbody6/run/change.h"
#include "nbody6/state/level.h"
#include "nbody6/state/run_record.h"
#include "nbody6/world/threads.h"
#include "nbody6/world/world.h"
#include "tests/support/counted_alloc.h"
#include "tests/support/folder.h"

enum { BODIES = 450000, RANKS = 3 };

/* Pieces of a dataset are up to 8 MiB, of which columns of three numbers here have 11 MB; libhdf5 and the checksum take
 * less than another one, as do 65536 stars of a model, or names that are compared. All columns would be 40 MB. */
static const size_t PIECES = (size_t)2 << 23;

/* With a tree that stands places go to the ranks that had the bodies: 72 bytes each, packed, and as they come. All
 * bodies on rank 0 would be 40 MB more. */
static const size_t OF_PLACES = (size_t)2 * 72 * BODIES / RANKS;

static char folder[] = "/tmp/nb6_test_rank_memory_XXXXXX";

static int enter(void **state)
{
    (void)state;
    return folder_enter(folder);
}

static int leave(void **state)
{
    (void)state;
    return folder_remove(folder);
}

/* The findings of rank 0; threads other than that of the test must not end it. */
struct found {
    int by_tree;
    int status, made_twice;
    struct nbc_error err;
    size_t while_opened, while_written, while_shown, while_resumed, while_made, while_read;
    int64_t wrong;
};

/* ---- bodies that nobody has to hold */

static double value_of(enum nb6_body_column column, int64_t i, int k)
{
    return (double)(column + 1) * 0x1p-4 + (double)i * 0x1p-24 + (double)k * 0x1p-2;
}

enum { NUMBERS = 3, SOME = 5000 };

/* Rows of a column as doubles, three of a vector.   @return how many numbers a row has */
static int make_rows(enum nb6_body_column column, int64_t first, int64_t count, double *row)
{
    const int numbers = column == NB6_ROWS_MASS || column == NB6_ROWS_PLACE_DRIFT ? 1 : NUMBERS;
    for (int64_t i = 0; i < count; i++)
        for (int k = 0; k < numbers; k++) row[i * numbers + k] = value_of(column, first + i, k);
    return numbers;
}

/* None is twice, and they do not ascend. */
static int64_t name_of(int64_t i)
{
    return 2 * (i ^ 1) + 1;
}

/* Bodies lie along a line, and each rank has a part of it. */
static int32_t rank_of(int64_t i)
{
    return (int32_t)(i * RANKS / BODIES);
}

static void give_places(const struct nb6_body_sink *sink)
{
    static double row[SOME * NUMBERS];
    static int32_t rank[SOME];
    for (int64_t first = 0; first < BODIES; first += SOME) {
        for (int column = NB6_ROWS_PLACE_X; column <= NB6_ROWS_PLACE_DRIFT; column++) {
            (void)make_rows((enum nb6_body_column)column, first, SOME, row);
            sink->put(sink->context, (enum nb6_body_column)column, first, SOME, row);
        }
        for (int64_t i = 0; i < SOME; i++) rank[i] = rank_of(first + i);
        sink->put(sink->context, NB6_ROWS_PLACE_RANK, first, SOME, rank);
    }
}

/* context: whose places are wanted too, or NULL. */
static int give_bodies(void *context, const struct nb6_body_sink *sink, struct nbc_error *err)
{
    static double row[SOME * NUMBERS];
    static int64_t name[SOME];
    static int8_t level[SOME];
    (void)err;
    if (context) give_places(sink);
    for (int64_t first = 0; first < BODIES; first += SOME) {
        for (enum nb6_body_column column = NB6_ROWS_MASS; column <= NB6_ROWS_ACC; column++) {
            (void)make_rows(column, first, SOME, row);
            sink->put(sink->context, column, first, SOME, row);
        }
        for (int64_t i = 0; i < SOME; i++) name[i] = name_of(first + i);
        memset(level, nb6_level_of(0.125, NB6_TIME_BITS), sizeof level);
        sink->put(sink->context, NB6_ROWS_NAME, first, SOME, name);
        sink->put(sink->context, NB6_ROWS_LEVEL, first, SOME, level);
    }
    return NBC_OK;
}

static int64_t count_wrong_names(struct nb6_collisionless *s)
{
    static int64_t name[SOME];
    const struct nb6_body_rows rows = nb6_collisionless_rows(s);
    int64_t wrong = 0;
    for (int64_t first = 0; first < BODIES; first += SOME) {
        rows.get(rows.context, NB6_ROWS_NAME, first, SOME, name);
        for (int64_t i = 0; i < SOME; i++) wrong += name[i] != name_of(first + i);
    }
    return wrong;
}

static int64_t count_wrong_ranks(struct nb6_collisionless *s)
{
    static int32_t rank[SOME];
    const struct nb6_body_rows rows = nb6_collisionless_rows(s);
    int64_t wrong = 0;
    for (int64_t first = 0; first < BODIES; first += SOME) {
        rows.get(rows.context, NB6_ROWS_PLACE_RANK, first, SOME, rank);
        for (int64_t i = 0; i < SOME; i++) wrong += rank[i] != rank_of(first + i);
    }
    return wrong;
}

/* Rows of a column, or of more, that are not those of make_rows. */
static int64_t count_wrong_rows(struct nb6_collisionless *s, enum nb6_body_column from, enum nb6_body_column to)
{
    static double is[SOME * NUMBERS], should[SOME * NUMBERS];
    const struct nb6_body_rows rows = nb6_collisionless_rows(s);
    int64_t wrong = 0;
    for (int64_t first = 0; first < BODIES; first += SOME)
        for (int c = from; c <= (int)to; c++) {
            const enum nb6_body_column column = (enum nb6_body_column)c;
            const int numbers = make_rows(column, first, SOME, should);
            rows.get(rows.context, column, first, SOME, is);
            wrong += memcmp(is, should, SOME * (size_t)numbers * sizeof *is) != 0;
        }
    return wrong;
}

/* Bodies in the system that are not those of give_bodies. */
static int64_t count_wrong(const struct found *f, struct nb6_collisionless *s)
{
    int64_t wrong = count_wrong_names(s) + count_wrong_rows(s, NB6_ROWS_MASS, NB6_ROWS_ACC);
    if (f->by_tree) wrong += count_wrong_ranks(s) + count_wrong_rows(s, NB6_ROWS_PLACE_X, NB6_ROWS_PLACE_DRIFT);
    return wrong;
}

/* ---- a run */

static int make_record(int by_tree, struct nb6_run_record *record, struct nbc_error *err)
{
    const struct nb6_input_options none = {0};
    char text[256];
    snprintf(text, sizeof text,
             "&ININPUT N=450000 NRAND=4 DTADJ=0.125 DELTAT=0.125 TCRIT=1 QE=1 KZ(1)=1 KZ(2)=1 KZ(5)=1 /\n"
             "&INCOLLISIONLESS SOFTENING=0.05 DT=0.125 %s /\n",
             by_tree ? "THETA=1 LEAF=8 REUSE=2" : "");
    const int status = nb6_input_read_text("memory.inp", text, strlen(text), &none, &record->config, err);
    record->units = nb6_units_from(record->config.rbar_pc, record->config.zmbar_msun, BODIES);
    record->book.adjust_count = record->book.output_count = 1;
    record->book.ti_next_adjust = record->book.ti_next_output = nb6_time_multiple(1, 0.125);
    record->book.mass_start = 1;
    return status;
}

/* Shares have what they need; pieces come and go.   @return the most beside what was there, and is there then */
static size_t peak_beside(size_t before)
{
    const size_t after = counted_bytes();
    return counted_peak() - (after > before ? after : before);
}

static int open_system(struct found *f, struct nb6_collisionless_options *options, struct nb6_body_source source,
                       const struct nb6_collisionless *then, struct nb6_collisionless **s, size_t *peak)
{
    const size_t before = counted_bytes();
    options->bodies = &source;
    counted_begin();
    const int status = nb6_collisionless_resume(s, then, options, &f->err);
    *peak = peak_beside(before);
    return status;
}

static int write_files(struct found *f, struct nb6_run_record *record, struct nb6_collisionless *s)
{
    const struct nb6_run_state run = {0};
    struct nb6_frame frame;
    record->counters.blocks = s->n_blocks;
    size_t before = counted_bytes();
    counted_begin();
    int status = nb6_collisionless_checkpoint_write("a.ckpt.h5", NULL, record, s, &run, &f->err);
    f->while_written = peak_beside(before);
    before = counted_bytes();
    counted_begin();
    if (!status) status = nb6_collisionless_frame(s, 0, &frame, &f->err);
    if (!status) status = nb6_run_snapshot_write("a.snap.h5", &frame, record, 0, &f->err);
    f->while_shown = peak_beside(before);
    return status;
}

/* ---- new runs */

/* A model that goes to the ranks. */
struct making {
    const struct nb6_config *config;
    const struct nb6_body_sink *sink;
    double mass;
};

static void get_stars(void *context, enum nb6_model_column column, int64_t first, int64_t count, void *rows)
{
    const struct making *m = context;
    m->sink->get(m->sink->context, (enum nb6_body_column)column, first, count, rows);
}

static void put_stars(void *context, enum nb6_model_column column, int64_t first, int64_t count, const void *rows)
{
    const struct making *m = context;
    m->sink->put(m->sink->context, (enum nb6_body_column)column, first, count, rows);
}

/* Accelerations and steps, which the forces of a start would make. */
static void put_rest(const struct nb6_body_sink *sink)
{
    static const double acc[SOME][3];
    static int8_t level[SOME];
    memset(level, nb6_level_of(0.125, NB6_TIME_BITS), sizeof level);
    for (int64_t first = 0; first < BODIES; first += SOME) {
        sink->put(sink->context, NB6_ROWS_ACC, first, SOME, acc);
        sink->put(sink->context, NB6_ROWS_LEVEL, first, SOME, level);
    }
}

static int give_model(void *context, const struct nb6_body_sink *sink, struct nbc_error *err)
{
    struct making *m = context;
    struct nb6_model model;
    const struct nb6_model_store store = {get_stars, put_stars, m, BODIES, NB6_PIECE_BODIES};
    m->sink = sink;
    const int status = nb6_model_make_in(m->config, &store, &model, err);
    if (status) return status;
    for (struct nb6_piece p = nb6_pieces(&model, NB6_MASSES, 0); nb6_piece_next(&p);)
        for (int64_t i = 0; i < p.count; i++) m->mass += p.mass[i];
    nb6_model_free(&model);
    put_rest(sink);
    return NBC_OK;
}

/* A model that is made, and the bodies of the snapshot, as they are there. */
static int make_models(struct found *f, struct nb6_collisionless_options *options)
{
    struct nb6_run_record record = {0};
    const struct nb6_collisionless then = {.n = BODIES};
    int status = make_record(f->by_tree, &record, &f->err);
    for (int of_file = 0; of_file < 2 && !status; of_file++) {
        struct nb6_collisionless *s = NULL;
        struct nb6_config config = record.config;
        struct making making = {.config = &config};
        int64_t n = 0;
        if (of_file) {
            config.model.kind = NB6_MODEL_FILE;
            config.model.file_units = NB6_FILE_NBODY;
            snprintf(config.model.data_path, sizeof config.model.data_path, "a.snap.h5");
        }
        status = nb6_model_size(&config, &n, &f->err);
        f->wrong += n != BODIES;
        if (!status)
            status = open_system(f, options, (struct nb6_body_source){give_model, &making}, &then, &s,
                                 of_file ? &f->while_read : &f->while_made);
        f->wrong += !of_file && !(fabs(making.mass - 1) < 1e-10); /* 4.5e5 roundings of 1e-16 at most */
        if (!status && of_file) f->wrong += count_wrong_names(s);
        nb6_collisionless_free(s);
    }
    return status;
}

/* A tree that stands after one block, with domains that are parts of the line. */
static int make_then(int by_tree, struct nb6_collisionless *then)
{
    *then = (struct nb6_collisionless){.n = BODIES};
    if (!by_tree) return NBC_OK;
    struct nb6_sections *sections = then->sections = nb6_sections_create(RANKS);
    if (!sections) return NBC_NO_MEMORY;
    for (int k = 0; k < 3; k++) sections->axis[k] = k;
    for (int r = 1; r < RANKS; r++) sections->cut[r] = value_of(NB6_ROWS_X, (int64_t)r * BODIES / RANKS, 0);
    then->reuse = 2;
    then->n_blocks = 1;
    then->ti_now = nb6_time_multiple(1, 0.125);
    then->rebuild = (struct nb6_rebuild){.state = NB6_TREE_STANDS, .builds = 1, .leaf = 8, .ti_build = then->ti_now};
    then->kept.has_places = 1;
    return nb6_sections_link(sections) ? NBC_OK : NBC_BAD_ARGUMENT;
}

static int resume(struct found *f, struct nb6_collisionless_options *options, struct nb6_run_record *record)
{
    struct nb6_collisionless *s = NULL, read = {0};
    struct nb6_run_state run;
    int status = nb6_collisionless_checkpoint_read("a.ckpt.h5", 0, record, &read, &run, &f->err);
    struct nb6_collisionless_bodies bodies = {"a.ckpt.h5", &read};
    if (!status)
        status = open_system(f, options, (struct nb6_body_source){nb6_collisionless_checkpoint_give, &bodies}, &read,
                             &s, &f->while_resumed);
    if (!status) f->wrong += count_wrong(f, s);
    nb6_collisionless_free(s);
    nb6_collisionless_checkpoint_release(&read);
    return status;
}

static int make_run(struct found *f, struct nb6_world *world)
{
    struct nb6_collisionless_options options = {
        .softening = 0.05, .dt = 0.125, .force = {.backend = "portable"}, .world = world, .room = 1};
    struct nb6_collisionless then, *s = NULL;
    struct nb6_run_record record = {0};
    if (f->by_tree) {
        options.force.theta = 1;
        options.force.leaf = 8;
        options.reuse = 2;
    }
    int status = make_record(f->by_tree, &record, &f->err);
    if (!status) status = make_then(f->by_tree, &then);
    if (!status)
        status = open_system(f, &options, (struct nb6_body_source){give_bodies, f->by_tree ? f : NULL}, &then, &s,
                             &f->while_opened);
    nb6_sections_free(then.sections);
    if (!status) f->wrong = count_wrong(f, s);
    if (!status) status = write_files(f, &record, s);
    nb6_collisionless_free(s);
    if (!status) status = resume(f, &options, &record);
    return status || f->by_tree ? status : make_models(f, &options);
}

static void on_rank(struct nb6_world *world, void *context)
{
    struct found *f = context;
    if (nb6_world_rank(world) > 0) {
        count_apart(1);
        (void)nb6_ranks_serve(world, NULL);
        return;
    }
    f->status = make_run(f, world);
    nb6_ranks_dismiss(world, NBC_OK);
}

static struct found found_on_ranks(int by_tree)
{
    struct found f = {.by_tree = by_tree};
    struct nbc_error err = {0};
    assert_int_equal(nb6_world_threads_run(RANKS, &(struct nb6_threads_options){0}, on_rank, &f, &err), NBC_OK);
    if (f.status) fail_msg("%s", f.err.text);
    assert_int_equal(f.wrong, 0);
    printf("beside the share: %zu bytes to take bodies, %zu to write a checkpoint, %zu a snapshot, %zu to resume\n",
           f.while_opened, f.while_written, f.while_shown, f.while_resumed);
    const size_t most = PIECES + (by_tree ? OF_PLACES : 0);
    assert_true(f.while_opened < most);
    assert_true(f.while_written > 0 && f.while_written < PIECES);
    assert_true(f.while_shown > 0 && f.while_shown < PIECES);
    assert_true(f.while_resumed > 0 && f.while_resumed < most);
    return f;
}

static void rank_0_never_holds_all_bodies(void **state)
{
    (void)state;
    if (!can_count_alloc()) skip();
    const struct found f = found_on_ranks(0);
    printf("%zu to make a model, %zu to read one\n", f.while_made, f.while_read);
    assert_true(f.while_made > 0 && f.while_made < PIECES);
    assert_true(f.while_read > 0 && f.while_read < PIECES);
}

static void with_trees_neither(void **state)
{
    (void)state;
    if (!can_count_alloc()) skip();
    (void)found_on_ranks(1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rank_0_never_holds_all_bodies),
                                       cmocka_unit_test(with_trees_neither)};
    return cmocka_run_group_tests(tests, enter, leave);
}
