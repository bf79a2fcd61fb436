/* Memory of rank 0 beside its share, by the count of allocated bytes: a resume from a checkpoint, a checkpoint and a
 * snapshot take the pieces of a dataset, however many bodies there are. Ranks are threads here, so that what all of
 * them allocate is counted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "nbody6/analysis/frame.h"
#include "nbody6/collisionless/collisionless.h"
#include "nbody6/collisionless/ranks/ranks.h"
#include "nbody6/input/input.h"
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
 * less than another one. All columns would be 40 MB. */
static const size_t PIECES = (size_t)2 << 23;

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

/* What rank 0 has found; threads other than that of the test must not end it. */
struct found {
    int status, made_twice;
    struct nbc_error err;
    size_t while_opened, while_written, while_shown, while_resumed;
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
    const int numbers = column == NB6_ROWS_MASS ? 1 : NUMBERS;
    for (int64_t i = 0; i < count; i++)
        for (int k = 0; k < numbers; k++) row[i * numbers + k] = value_of(column, first + i, k);
    return numbers;
}

static int give_bodies(void *context, const struct nb6_body_sink *sink, struct nbc_error *err)
{
    static double row[SOME * NUMBERS];
    static int64_t name[SOME];
    static int8_t level[SOME];
    (void)context, (void)err;
    for (int64_t first = 0; first < BODIES; first += SOME) {
        for (enum nb6_body_column column = NB6_ROWS_MASS; column <= NB6_ROWS_ACC; column++) {
            (void)make_rows(column, first, SOME, row);
            sink->put(sink->context, column, first, SOME, row);
        }
        for (int64_t i = 0; i < SOME; i++) name[i] = 2 * (first + i) + 1;
        memset(level, nb6_level_of(0.125, NB6_TIME_BITS), sizeof level);
        sink->put(sink->context, NB6_ROWS_NAME, first, SOME, name);
        sink->put(sink->context, NB6_ROWS_LEVEL, first, SOME, level);
    }
    return NBC_OK;
}

/* Bodies in the system that are not those of give_bodies. */
static int64_t count_wrong(struct nb6_collisionless *s)
{
    static double is[SOME * NUMBERS], should[SOME * NUMBERS];
    static int64_t name[SOME];
    const struct nb6_body_rows rows = nb6_collisionless_rows(s);
    int64_t wrong = 0;
    for (int64_t first = 0; first < BODIES; first += SOME) {
        for (enum nb6_body_column column = NB6_ROWS_MASS; column <= NB6_ROWS_ACC; column++) {
            const int numbers = make_rows(column, first, SOME, should);
            rows.get(rows.context, column, first, SOME, is);
            wrong += memcmp(is, should, SOME * (size_t)numbers * sizeof *is) != 0;
        }
        rows.get(rows.context, NB6_ROWS_NAME, first, SOME, name);
        for (int64_t i = 0; i < SOME; i++) wrong += name[i] != 2 * (first + i) + 1;
    }
    return wrong;
}

/* ---- a run */

static int make_record(struct nb6_run_record *record, struct nbc_error *err)
{
    const struct nb6_input_options none = {0};
    const char text[] = "&ININPUT N=450000 NRAND=4 DTADJ=0.125 DELTAT=0.125 TCRIT=1 QE=1 KZ(1)=1 KZ(2)=1 KZ(5)=1 /\n"
                        "&INCOLLISIONLESS SOFTENING=0.05 DT=0.125 /\n";
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

static int make_run(struct found *f, struct nb6_world *world)
{
    struct nb6_collisionless_options options = {
        .softening = 0.05, .dt = 0.125, .force = {.backend = "portable"}, .world = world, .room = 1};
    const struct nb6_collisionless then = {.n = BODIES};
    struct nb6_collisionless *s = NULL, read = {0};
    struct nb6_run_record record = {0};
    struct nb6_run_state run;
    int status = make_record(&record, &f->err);
    if (!status)
        status = open_system(f, &options, (struct nb6_body_source){give_bodies, NULL}, &then, &s, &f->while_opened);
    if (!status) f->wrong = count_wrong(s);
    if (!status) status = write_files(f, &record, s);
    nb6_collisionless_free(s);
    s = NULL;
    if (!status) status = nb6_collisionless_checkpoint_read("a.ckpt.h5", 0, &record, &read, &run, &f->err);
    struct nb6_collisionless_bodies bodies = {"a.ckpt.h5", read.n};
    if (!status)
        status = open_system(f, &options, (struct nb6_body_source){nb6_collisionless_checkpoint_give, &bodies}, &read,
                             &s, &f->while_resumed);
    if (!status) f->wrong += count_wrong(s);
    nb6_collisionless_free(s);
    nb6_collisionless_checkpoint_release(&read);
    return status;
}

static void on_rank(struct nb6_world *world, void *context)
{
    struct found *f = context;
    if (nb6_world_rank(world) > 0) {
        (void)nb6_ranks_serve(world, NULL);
        return;
    }
    f->status = make_run(f, world);
    nb6_ranks_dismiss(world, NBC_OK);
}

static void rank_0_never_holds_all_bodies(void **state)
{
    (void)state;
    struct found f = {0};
    struct nbc_error err = {0};
    if (!can_count_alloc()) skip();
    assert_int_equal(nb6_world_threads_run(RANKS, &(struct nb6_threads_options){0}, on_rank, &f, &err), NBC_OK);
    if (f.status) fail_msg("%s", f.err.text);
    assert_int_equal(f.wrong, 0);
    printf("beside the shares: %zu bytes to take bodies, %zu to write a checkpoint, %zu a snapshot, %zu to resume\n",
           f.while_opened, f.while_written, f.while_shown, f.while_resumed);
    assert_true(f.while_opened < PIECES);
    assert_true(f.while_written > 0 && f.while_written < PIECES);
    assert_true(f.while_shown > 0 && f.while_shown < PIECES);
    assert_true(f.while_resumed > 0 && f.while_resumed < PIECES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rank_0_never_holds_all_bodies)};
    return cmocka_run_group_tests(tests, enter, leave);
}
