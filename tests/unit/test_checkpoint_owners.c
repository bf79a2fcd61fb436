/* Owners of the bodies of a collisionless system in its checkpoint: what is written is read, a run goes on with the
 * same bits, and owners that cannot be are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

#include "nbody6/collisionless/collisionless.h"
#include "nbody6/collisionless/owners.h"
#include "nbody6/input/input.h"
#include "nbody6/output/checkpoint.h"
#include "nbody6/output/checkpoint_owners.h"
#include "nbody6/output/collisionless_checkpoint.h"
#include "nbody6/run/change.h"
#include "nbody6/state/run_record.h"
#include "tests/support/cluster.h"
#include "tests/support/collisionless.h"
#include "tests/support/folder.h"

enum { BODIES = 300, PARTS = 3 };

static char folder[] = "/tmp/nb6_test_owners_XXXXXX";

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

static const struct nb6_collisionless_options options = {
    .softening = 0.05,
    .dt = 0.125,
    .steps = NB6_COLLISIONLESS_BLOCK,
    .eta = 0.2,
    .engine = NB6_COLLISIONLESS_EMULATED,
    .parts = PARTS,
    .force = {.backend = "emulated", .force_error = 1e-3, .leaf = 16, .group = 32, .walk = GPUNB_WALK_GROUPS}};

static struct nb6_run_record record_of_a_run(void)
{
    struct nb6_run_record record = {0};
    struct nbc_error err = {0};
    const struct nb6_input_options none = {0};
    const char text[] = "&ININPUT N=300 NRAND=4 DTADJ=0.125 DELTAT=0.125 TCRIT=1 QE=1 KZ(1)=1 KZ(2)=1 KZ(5)=1 /\n"
                        "&INCOLLISIONLESS SOFTENING=0.05 DT=0.125 ETA=0.2 FORCE_ERROR=1E-3 /\n";
    if (nb6_input_read_text("owners.inp", text, strlen(text), &none, &record.config, &err)) fail_msg("%s", err.text);
    record.units = nb6_units_from(record.config.rbar_pc, record.config.zmbar_msun, BODIES);
    record.book.adjust_count = record.book.output_count = 3; /* at t = 0, 0.125 and 0.25 */
    record.book.ti_next_adjust = record.book.ti_next_output = nb6_time_multiple(3, 0.125);
    record.book.mass_start = 1;
    return record;
}

/* A run that goes on from its checkpoint has the bits of the one that wrote it. */
static void checkpoints_have_the_owners(void **state)
{
    (void)state;
    struct nbc_error err = {0};
    struct cluster c = cluster_plummer(BODIES, 31);
    struct nb6_collisionless *s = collisionless_start(&c, &options), then = {0}, *on = NULL;
    struct nb6_run_record record = record_of_a_run();
    struct nb6_run_state run = {0};
    collisionless_evolve(s, 0.25);
    collisionless_home(s);
    assert_int_equal(s->owners->divided, 2);
    record.counters.blocks = s->n_blocks;
    record.counters.steps_irr = s->n_steps;
    if (nb6_collisionless_checkpoint_write("a.ckpt.h5", NULL, &record, s, &run, &err)) fail_msg("%s", err.text);
    if (nb6_collisionless_checkpoint_read("a.ckpt.h5", 1, &record, &then, &run, &err)) fail_msg("%s", err.text);
    assert_memory_equal(then.owners->body, s->owners->body, BODIES * sizeof *s->owners->body);
    assert_int_equal(nb6_collisionless_resume(&on, &then, &options, &err), NBC_OK);
    nb6_collisionless_checkpoint_release(&then);
    collisionless_end_alike(s, on, 1.25);
    cluster_free(&c);
}

/* ---- owners that cannot be */

static void write_owners(const struct nb6_owners *owners)
{
    struct nb6_hdf5 file;
    struct nbc_error err = {0};
    nb6_hdf5_create(&file, "owners.h5", 0, &err);
    nb6_checkpoint_write_owners(&file, owners);
    if (nb6_hdf5_commit(&file, NULL)) fail_msg("%s", err.text);
}

static int try_to_read(int64_t n, struct nb6_owners **owners, struct nbc_error *err)
{
    struct nb6_hdf5 file;
    nb6_hdf5_open(&file, "owners.h5", err);
    nb6_checkpoint_read_owners(&file, n, owners);
    return nb6_hdf5_close(&file);
}

static void refuse(const struct nb6_owners *wrong, int64_t n, const char *words)
{
    struct nb6_owners *owners;
    struct nbc_error err = {0};
    write_owners(wrong);
    const int status = try_to_read(n, &owners, &err);
    if (!status || !strstr(err.text, words)) fail_msg("status %d: '%s' is not in: %s", status, words, err.text);
    assert_null(owners);
}

static void wrong_owners_are_refused(void **state)
{
    (void)state;
    struct nbc_error err = {0};
    struct nb6_owners *o = nb6_owners_create(BODIES, PARTS), *there;
    write_owners(o); /* they are not divided: there is nothing to write */
    assert_int_equal(try_to_read(BODIES, &there, &err), NBC_OK);
    assert_null(there);
    o->divided = 1;
    write_owners(o);
    assert_int_equal(try_to_read(BODIES, &there, &err), NBC_OK);
    assert_memory_equal(there->first, o->first, sizeof o->first);
    nb6_owners_free(there);
    refuse(o, BODIES + 1, "owners");
    o->divided = NB6_FIRST_DIVISIONS + 1;
    refuse(o, BODIES, "owners/divided is 3");
    o->divided = 1;
    o->body[7] = o->body[8];
    refuse(o, BODIES, "owners/body[8] is 8");
    o->body[7] = BODIES;
    refuse(o, BODIES, "owners/body[7] is 300");
    o->body[7] = -1;
    refuse(o, BODIES, "owners/body[7] is -1");
    o->body[7] = 7;
    for (int p = 0; p <= PARTS; p++) {
        const int64_t right = o->first[p];
        o->first[p] = p == 0 ? 1 : p == PARTS ? BODIES - 1 : o->first[p - 1];
        refuse(o, BODIES, "owners/first[");
        o->first[p] = right;
    }
    o->first[1] = BODIES + 1;
    refuse(o, BODIES, "owners/first[1] is 301");
    o->parts = 0;
    refuse(o, BODIES, "owners/first");
    nb6_owners_free(o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checkpoints_have_the_owners),
        cmocka_unit_test(wrong_owners_are_refused),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
