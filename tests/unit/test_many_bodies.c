/* Memory of collisionless runs of many bodies: what models, rows, snapshots, checkpoints and resumes take beside what
 * stays when they are done, and what stays on a device, in bytes of a body, by the count of allocated bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "device/emulated/emulated.h"
#include "nbody6/analysis/adjust_row.h"
#include "nbody6/analysis/bulk.h"
#include "nbody6/analysis/frame.h"
#include "nbody6/app/collisionless/check.h"
#include "nbody6/app/collisionless/row.h"
#include "nbody6/app/collisionless/run.h"
#include "nbody6/app/run.h"
#include "nbody6/collisionless/collisionless.h"
#include "nbody6/input/input.h"
#include "nbody6/model/model.h"
#include "nbody6/output/checkpoint.h"
#include "nbody6/output/collisionless_checkpoint.h"
#include "nbody6/output/run_snapshot.h"
#include "nbody6/state/run_record.h"
#include "tests/support/cluster.h"
#include "tests/support/counted_alloc.h"
#include "tests/support/folder.h"

/* A column of 8 bytes fills a page of 2 MiB to 99 percent: blocks, which are whole such pages, are hardly longer than
 * what is in them. */
enum { BODIES = 260000 };

/* No stage of a run may take more beside its state. */
static const double MOST = 250;

/* Stages take so many bytes of a body, and their blocks can be longer by 0.05 of whole columns. Pieces of a dataset are
 * up to 8 MiB: here a column of three numbers. Sorts have a copy, and glibc up to 2.36 one more. */
static const double PIECE = 24 * 1.05 + 3;             /* less than a megabyte of libhdf5 and of the checksum */
static const double TABLE = (3 * 32 + 16 + 16) * 1.05; /* places to be sorted; lines and kept columns: 4 MiB each */
static const double BULK = (20 + 60 + 46) * 1.05;      /* two neighbours; systems; a k-d tree of those */
static const double ROW = (46 + 8) * 1.05;             /* a k-d tree, densities */
static const double NOTHING = 0.5;                     /* tables of fixed length */

static char folder[] = "/tmp/nb6_test_many_XXXXXX";
static const char FORCES[] = "&INCOLLISIONLESS SOFTENING=0.02 DT=0.0625 THETA=0.9 ORDER=1 /\n";

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

static void skip_uncounted(void)
{
    if (!can_count_alloc()) skip();
}

static struct nb6_config configure(const char *variables, const char *more)
{
    char text[1024];
    struct nb6_config config;
    struct nbc_error err = {0};
    const struct nb6_input_options options = {0};
    snprintf(text, sizeof text,
             "&ININPUT N=%d NRAND=4 DTADJ=0.0625 DELTAT=0.0625 TCRIT=0.0625 QE=1 KZ(1)=1 KZ(2)=1 %s /\n%s%s", BODIES,
             variables, FORCES, more);
    if (nb6_input_read_text("many.inp", text, strlen(text), &options, &config, &err)) fail_msg("%s", err.text);
    strcpy(config.run.device, "cpu");
    return config;
}

/* Since counted_begin, at most so many bytes of a body beside what is there now. */
static void assert_beside(const char *stage, double most)
{
    const double beside = (double)(counted_peak() - counted_bytes()) / BODIES;
    assert_true(most <= MOST);
    if (beside > most) fail_msg("%s takes %.1f bytes of a body beside what stays, and not %.1f", stage, beside, most);
}

static void assert_made(int status, const struct nbc_error *err)
{
    if (status) fail_msg("%s", err->text);
}

/* ---- models */

static struct nb6_model make_model(const struct nb6_config *config, const char *stage, double most)
{
    struct nb6_model model;
    struct nbc_error err = {0};
    const size_t before = counted_bytes();
    counted_begin();
    assert_made(nb6_model_make(config, &model, &err), &err);
    assert_beside(stage, most);
    assert_true(counted_bytes() - before >= (size_t)BODIES * 64); /* name, mass, x and v: they are counted */
    return model;
}

static void models_take_little_beside_themselves(void **state)
{
    (void)state;
    struct nbc_error err = {0};
    skip_uncounted();
    const struct nb6_config plummer = configure("KZ(5)=1", ""),
                            table = configure("KZ(22)=2", "&INMODEL DATA='stars.dat' /\n");
    struct nb6_model model = make_model(&plummer, "a Plummer model", NOTHING);
    assert_made(nb6_model_write_table(&model, "stars.dat", &err), &err);
    nb6_model_free(&model);
    model = make_model(&table, "a model of a table", TABLE);
    nb6_model_free(&model);
}

/* ---- stages of a run */

/* A system as it is after a run, and its record. */
struct resumed {
    struct nb6_run_record record;
    struct nb6_run_state state;
    struct nb6_collisionless *system;
};

static void resume(struct resumed *r)
{
    struct nb6_collisionless then = {0};
    struct nb6_collisionless_options options;
    struct nbc_error err = {0};
    counted_begin();
    assert_made(nb6_collisionless_checkpoint_read("many.ckpt.h5", 1, &r->record, &then, &r->state, &err), &err);
    assert_beside("reading a checkpoint", PIECE);
    assert_made(nb6_collisionless_options_of(&r->record.config, &options, &err), &err);
    assert_made(nb6_collisionless_resume(&r->system, &then, &options, &err), &err);
    nb6_collisionless_checkpoint_release(&then);
}

static void look(struct resumed *r)
{
    struct nb6_frame frame;
    struct nb6_adjust_row row;
    struct nb6_bulk bulk;
    struct nbc_error err = {0};
    assert_made(nb6_collisionless_frame(r->system, NB6_FRAME_POTENTIAL, &frame, &err), &err); /* forces have memory */
    nb6_frame_free(&frame);
    counted_begin();
    assert_made(nb6_collisionless_frame(r->system, NB6_FRAME_POTENTIAL, &frame, &err), &err);
    assert_beside("a frame", NOTHING);
    counted_begin();
    assert_made(nb6_collisionless_row(&r->record, r->system, &frame, &row, &err), &err);
    assert_beside("a row", ROW);
    counted_begin();
    assert_made(nb6_run_snapshot_write("look.snap.h5", &frame, &r->record, 0, &err), &err);
    assert_beside("a snapshot", PIECE);
    counted_begin();
    assert_made(
        nb6_bulk_find(frame.n, frame.mass, (const double(*)[3])frame.x, (const double(*)[3])frame.v, &bulk, &err),
        &err);
    assert_beside("the bodies in a sentence", BULK);
    nb6_frame_free(&frame);
}

static void write_checkpoint(struct resumed *r)
{
    struct nbc_error err = {0};
    counted_begin();
    assert_made(nb6_collisionless_checkpoint_write("look.ckpt.h5", NULL, &r->record, r->system, &r->state, &err), &err);
    assert_beside("writing a checkpoint", PIECE);
}

/* Bytes while a system is made of a model and has its first forces, and while it stays. */
struct needs {
    double to_make, to_stay;
};

static struct needs needs_of_system(const struct nb6_config *config)
{
    const size_t before = counted_bytes();
    struct nb6_model model;
    struct nb6_frame frame;
    struct nb6_collisionless *s;
    struct nb6_collisionless_options options;
    struct nbc_error err = {0};
    counted_begin();
    assert_made(nb6_model_make(config, &model, &err), &err);
    assert_made(nb6_collisionless_options_of(config, &options, &err), &err);
    assert_made(nb6_collisionless_create(&s, model.n, model.name, model.mass, (const double(*)[3])model.x,
                                         (const double(*)[3])model.v, &options, &err),
                &err);
    nb6_model_free(&model);
    assert_made(nb6_collisionless_frame(s, NB6_FRAME_POTENTIAL, &frame, &err), &err);
    nb6_frame_free(&frame);
    const struct needs needs = {(double)(counted_peak() - before), (double)(counted_bytes() - before)};
    nb6_collisionless_free(s);
    return needs;
}

/* No stage of a run finds memory of an earlier one, such as its model. Input is refused that needs more than there is:
 * by an estimate that covers a run, and is not twice as much. */
static void assert_run(const char *what, size_t before, struct needs system, const struct nb6_config *config)
{
    const double most = (double)(counted_peak() - before), beside = (most - system.to_stay) / BODIES;
    if (beside > MOST) fail_msg("%s takes %.1f bytes of a body beside its system and their forces", what, beside);
    if (most > system.to_make + NOTHING * BODIES && beside > BULK)
        fail_msg("%s takes %.1f bytes of a body beside its system, and not %.1f", what, beside, BULK);
    const double estimate = nb6_config_memory(config, BODIES);
    if (!(estimate >= most && estimate <= 2 * most))
        fail_msg("%s takes %.1f bytes of a body, and the estimate is %.1f", what, most / BODIES, estimate / BODIES);
}

static void assert_snapshot_as_model(void)
{
    const struct nb6_config config = configure("KZ(22)=2", "&INMODEL DATA='look.snap.h5' /\n");
    struct nb6_model model = make_model(&config, "a model of a snapshot", PIECE);
    nb6_model_free(&model);
}

static void runs_take_little_beside_their_system(void **state)
{
    (void)state;
    skip_uncounted();
    struct nb6_config config = configure("KZ(5)=1", "");
    const struct nb6_run_options options = {.quiet = 1, .t_crit = 0.125};
    struct nbc_error err = {0};
    struct resumed *r = calloc(1, sizeof *r);
    strcpy(config.run.name, "many");
    const struct needs system = needs_of_system(&config);
    const size_t before = counted_bytes();
    counted_begin();
    assert_made(nb6_collisionless_run_new(&config, &options, &err), &err);
    assert_run("a run", before, system, &config);
    resume(r);
    look(r);
    write_checkpoint(r);
    assert_snapshot_as_model();
    nb6_collisionless_free(r->system);
    free(r);
    counted_begin();
    assert_made(nb6_collisionless_run_resume("many.ckpt.h5", &options, &err), &err);
    assert_run("a run that goes on", before, system, &config);
}

/* ---- devices */

static struct nb6_collisionless_options on_device(int reuse)
{
    return (struct nb6_collisionless_options){.softening = 0.02,
                                              .dt = 1.0 / 64,
                                              .engine = NB6_COLLISIONLESS_EMULATED,
                                              .reuse = reuse,
                                              .force = {.backend = "emulated", .force_error = 5e-3, .order = 2}};
}

static double planned_bytes(int reuse, int64_t n)
{
    struct nb6_collisionless_plan plan;
    struct nbc_error err = {0};
    const struct nb6_collisionless_options options = on_device(reuse);
    assert_made(nb6_collisionless_plan(n, &options, &plan, &err), &err);
    return plan.device_bytes;
}

/* Bytes on devices after first forces, potentials and steps, beside what was planned. */
static double unplanned_bytes(int reuse, int64_t n)
{
    struct nb6_collisionless *s;
    struct nb6_frame frame;
    struct nbc_error err = {0};
    struct cluster c = cluster_plummer(n, 4);
    const struct nb6_collisionless_options options = on_device(reuse);
    assert_made(
        nb6_collisionless_create(&s, n, NULL, c.mass, (const double(*)[3])c.x, (const double(*)[3])c.v, &options, &err),
        &err);
    for (int step = 0; step < 2; step++) {
        assert_made(nb6_collisionless_evolve(s, step / 64.0, &err), &err);
        assert_made(nb6_collisionless_frame(s, NB6_FRAME_POTENTIAL, &frame, &err), &err);
        nb6_frame_free(&frame);
    }
    const double bytes = (double)nbd_emulated_bytes();
    nb6_collisionless_free(s);
    assert_int_equal(nbd_emulated_bytes(), 0);
    cluster_free(&c);
    return bytes - planned_bytes(reuse, n);
}

/* Handles have a fixed amount beside, whatever the number of bodies: so there is nothing but what was planned. 157
 * bytes a body of state and scratch of a block, and a tree of order 2 make at most 350. */
static void a_device_has_no_more_than_its_bodies(void **state)
{
    (void)state;
    enum { FEW = 100, MORE = 1500, MANY = 1 << 22, OF_STATE = 157, OF_ALL = 350 };
    for (int reuse = 1; reuse <= 4; reuse += 3) {
        const double few = unplanned_bytes(reuse, FEW), more = unplanned_bytes(reuse, MORE);
        if (few != more) fail_msg("beside what was planned there are %.0f and %.0f bytes", few, more);
        const double each = planned_bytes(reuse, MANY) / MANY;
        if (!(each >= OF_STATE && each < OF_ALL)) fail_msg("%.1f bytes a body on a device", each);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models_take_little_beside_themselves),
        cmocka_unit_test(runs_take_little_beside_their_system),
        cmocka_unit_test(a_device_has_no_more_than_its_bodies),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
