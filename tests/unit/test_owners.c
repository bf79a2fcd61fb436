/* Collisionless systems by tree on several emulated devices, whose bodies change their owners: divisions, errors, work
 * of the parts, the same bits, devices that fail on the way. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "device/faults.h"
#include "gpunb/tree/accept.h"
#include "nbody6/analysis/frame.h"
#include "nbody6/collisionless/collisionless.h"
#include "nbody6/collisionless/force_error.h"
#include "nbody6/collisionless/owners.h"
#include "nbody6/collisionless/resident.h"
#include "tests/support/cluster.h"
#include "tests/support/collisionless.h"
#include "tests/support/reuse.h"
#include "tests/support/test_size.h"

/* FEW: small leaves make cells of them; MANY: parts of an eighth have some dozen groups. */
enum { FEW = TEST_SANITIZED ? 160 : 300, MANY = 6000 };

static const double SOFTENING = 0.05, AIM = 1e-3;

/* With a walk of its own a tree makes all forces, also where direct sums would cost less. */
static struct nb6_collisionless_options options_of(enum nb6_collisionless_steps steps, int parts)
{
    return (struct nb6_collisionless_options){
        .softening = SOFTENING,
        .dt = steps == NB6_COLLISIONLESS_BLOCK ? 0.125 : 1.0 / 64,
        .steps = steps,
        .eta = 0.2,
        .engine = NB6_COLLISIONLESS_EMULATED,
        .parts = parts,
        .force = {
            .backend = "emulated", .force_error = AIM, .order = 2, .leaf = 16, .group = 32, .walk = GPUNB_WALK_GROUPS}};
}

/* ---- divisions */

static double work_between(const uint64_t *work, int64_t first, int64_t end)
{
    double sum = 0;
    for (int64_t i = first; i < end; i++) sum += (double)work[i];
    return sum;
}

/* A sum for each body: where room is enough the work of a part is that of all parts by at most that of one body. */
static void work_is_divided(void **state)
{
    (void)state;
    enum { N = 1000, ROOM = N };
    static const int parts[] = {1, 2, 3, 7, 64};
    uint64_t work[N];
    int64_t first[NB6_MOST_PARTS + 1];
    for (int i = 0; i < N; i++) work[i] = (uint64_t)(1 + i * i % 97 + (i / 100 == 6 ? 900 : 0));
    const double all = work_between(work, 0, N);
    for (size_t k = 0; k < sizeof parts / sizeof parts[0]; k++) {
        assert_int_equal(nb6_owners_sums(N, parts[k]), N);
        nb6_owners_divide(work, N, parts[k], ROOM, first);
        assert_int_equal(first[0], 0);
        assert_int_equal(first[parts[k]], N);
        for (int p = 0; p < parts[k]; p++)
            assert_true(fabs(work_between(work, first[p], first[p + 1]) - all / parts[k]) <= 1000);
    }
}

/* All work is that of few bodies, or there is none: no part has more bodies than there is room for, or is empty. */
static void parts_have_room(void **state)
{
    (void)state;
    enum { N = 90 };
    uint64_t work[N];
    int64_t first[NB6_MOST_PARTS + 1];
    for (int kind = 0; kind < 4; kind++)
        for (int parts = 1; parts <= NB6_MOST_PARTS; parts++)
            for (int block = 0; block < 2; block++) {
                const int64_t room = nb6_owners_room(N, parts, block);
                memset(work, 0, sizeof work);
                if (kind > 0) work[kind == 1 ? 0 : kind == 2 ? N - 1 : N / 2] = UINT64_MAX / 2;
                nb6_owners_divide(work, N, parts, room, first);
                assert_true(first[0] == 0 && first[parts] == N);
                for (int p = 0; p < parts; p++) assert_true(first[p + 1] > first[p] && first[p + 1] - first[p] <= room);
            }
    assert_int_equal(nb6_owners_room(64, 64, 0), 2);
    assert_int_equal(nb6_owners_room(1000, 2, 0), 750);
    assert_int_equal(nb6_owners_room(1000, 2, 1), 1000);
    assert_int_equal(nb6_owners_room(10, 1, 1), 10);
}

/* At the first two ends of a longest step, then at every eighth; never within steps. */
static void divisions_have_their_times(void **state)
{
    (void)state;
    enum { LEVEL = 5, STEP = 1 << LEVEL };
    for (nb6_time t = 0; t <= 20 * STEP; t++) {
        assert_int_equal(nb6_owners_are_due(0, LEVEL, t), t % STEP == 0);
        assert_int_equal(nb6_owners_are_due(1, LEVEL, t), t % STEP == 0);
        assert_int_equal(nb6_owners_are_due(2, LEVEL, t), t % (8 * STEP) == 0);
    }
}

/* ---- systems */

/* Every body has one owner.   @return whether bodies are in another order than their own */
static int check_owners(struct nb6_collisionless *s, int parts)
{
    const struct nb6_owners *o = s->owners;
    char *is_there = calloc((size_t)s->n, 1);
    int moved = 0;
    collisionless_home(s);
    assert_non_null(is_there);
    assert_int_equal(o->parts, parts);
    assert_true(o->first[0] == 0 && o->first[parts] == s->n);
    for (int p = 0; p < parts; p++) assert_true(o->first[p] < o->first[p + 1]);
    for (int64_t k = 0; k < s->n; k++) {
        assert_in_range(o->body[k], 0, s->n - 1);
        assert_false(is_there[o->body[k]]++);
        moved |= o->body[k] != k;
    }
    assert_int_equal(moved, o->divided > 0);
    free(is_there);
    return moved;
}

static void check_errors(struct nb6_collisionless *s)
{
    struct nbc_error err = {0};
    struct nb6_force_error error;
    struct nb6_frame frame;
    if (nb6_collisionless_frame(s, 0, &frame, &err)) fail_msg("%s", err.text);
    nb6_force_error_find(&frame, SOFTENING, &error);
    if (!(error.most > 0 && error.most < AIM)) fail_msg("99 of 100 errors are up to %g", error.most);
    if (error.largest >= 20 * AIM) fail_msg("an error is %g", error.largest);
    nb6_frame_free(&frame);
}

static const int parts_of[] = {1, 2, 3, 5, 8};
enum { KINDS_OF_PARTS = sizeof parts_of / sizeof parts_of[0] };

/* Errors are within the aim, as on one part, and bodies go where those of one part go: accelerations differ by 1e-3 at
 * most, which a fraction of a unit of time makes to less than that of the unit of length. */
static void errors_are_within_the_aim(void **state)
{
    (void)state;
    TEST_SKIP_SANITIZED();
    struct cluster c = cluster_plummer(MANY / 2, 21);
    for (enum nb6_collisionless_steps steps = 0; steps < 2; steps++) {
        struct nb6_collisionless *of_one = NULL;
        for (int k = 0; k < KINDS_OF_PARTS; k += test_seeds(2, 1)) {
            const struct nb6_collisionless_options options = options_of(steps, parts_of[k]);
            struct nb6_collisionless *s = collisionless_start(&c, &options);
            double most = 0;
            collisionless_evolve(s, steps ? 0.25 : 3.0 / 64);
            check_errors(s);
            if (k > 0) assert_true(check_owners(s, parts_of[k]));
            for (int64_t i = 0; i < s->n && k > 0; i++)
                for (int d = 0; d < 3; d++) most = fmax(most, fabs(s->x0[i][d] - of_one->x0[i][d]));
            assert_true(most < AIM && (k == 0 || most > 0));
            if (k == 0)
                of_one = s;
            else
                nb6_collisionless_free(s);
        }
        nb6_collisionless_free(of_one);
    }
    cluster_free(&c);
}

/* Two spheres of half the bodies each that fall towards each other, one of them half as large. */
static struct cluster colliding(int64_t n)
{
    struct cluster c = cluster_plummer(n, 22);
    for (int64_t i = 0; i < n; i++) {
        for (int k = 0; k < 3 && i % 2; k++) c.x[i][k] *= 0.5;
        c.x[i][0] += i % 2 ? 1.5 : -1.5;
        c.v[i][0] -= i % 2 ? 1 : -1;
    }
    return c;
}

/* Of the lists, in bodies, since the last call.   @param[in,out] before  [parts] */
static double work_of(const struct nb6_collisionless *s, int part, double *before)
{
    struct gpunb_tree_counts counts = {0};
    assert_int_equal(nb6_resident_add_part_counts(s->resident, part, &counts, NULL), NBC_OK);
    const double now = (double)counts.pair_terms + tree_worth_a_term(2) * (double)counts.cell_terms,
                 more = now - *before;
    *before = now;
    return more;
}

/* Steps between two divisions after the first ones: the work of each part is that of all by this much. */
static void check_balance(const struct cluster *c, enum nb6_collisionless_steps steps, int reuse, double bound)
{
    for (int k = test_seeds(4, 2); k < KINDS_OF_PARTS; k += 2) {
        const int parts = parts_of[k];
        struct nb6_collisionless_options options = options_of(steps, parts);
        options.reuse = reuse;
        struct nb6_collisionless *s = collisionless_start(c, &options);
        double before[NB6_MOST_PARTS] = {0}, all = 0, most = 0;
        collisionless_evolve(s, 2 * options.dt);
        for (int p = 0; p < parts; p++) work_of(s, p, &before[p]);
        collisionless_evolve(s, 6 * options.dt);
        for (int p = 0; p < parts; p++) {
            const double work = work_of(s, p, &before[p]);
            all += work;
            most = fmax(most, work);
        }
        if (!(most * parts < bound * all))
            fail_msg("%d parts: the most work is %g of the mean", parts, most * parts / all);
        nb6_collisionless_free(s);
    }
}

static void parts_have_the_same_work(void **state)
{
    (void)state;
    TEST_SKIP_SANITIZED();
    struct cluster plummer = cluster_plummer(MANY, 23), two = colliding(MANY);
    check_balance(&plummer, NB6_COLLISIONLESS_SHARED, 1, 1.05);
    check_balance(&plummer, NB6_COLLISIONLESS_SHARED, 4, 1.05);
    check_balance(&two, NB6_COLLISIONLESS_SHARED, 1, 1.1);
    /* Small blocks are in the middle, and work in each of them is not divided, but that of all together. */
    check_balance(&plummer, NB6_COLLISIONLESS_BLOCK, 1, 1.2);
    cluster_free(&plummer);
    cluster_free(&two);
}

/* ---- the same bits */

/* Frames copy the state to host memory, and the owners with it, in between; resumed systems go on with them at times
 * before, between and after divisions: each force has a tree of its own, or trees serve six steps, so that divisions
 * come when one has just been built and when it has been renewed. Some bodies stand in one place. */
static void same_bits_however_it_is_cut(void **state)
{
    (void)state;
    enum { TIMES = 20, RESUMED = 4 };
    static const int resumed_at[RESUMED] = {0, 1, 5, 17};
    struct nbc_error err = {0};
    struct cluster c = cluster_plummer(FEW + 1, 24);
    for (int i = 1; 10 * i < FEW; i++) {
        memcpy(c.x[10 * i], c.x[0], sizeof c.x[0]);
        memcpy(c.v[10 * i], c.v[0], sizeof c.v[0]);
    }
    for (int k = 0; k < 6; k++) {
        struct nb6_collisionless_options options = options_of(k % 2, k / 2 ? 3 : 8);
        options.reuse = k / 4 ? 6 : 1;
        struct nb6_collisionless *once = collisionless_start(&c, &options), *often = collisionless_start(&c, &options),
                                 *resumed[RESUMED] = {NULL};
        const double dt = nb6_collisionless_longest_step(once);
        collisionless_evolve(once, TIMES * dt);
        for (int time = 0, r = 0; time <= TIMES; time++) {
            struct nb6_frame frame;
            collisionless_evolve(often, time * dt);
            assert_int_equal(nb6_collisionless_frame(often, NB6_FRAME_POTENTIAL, &frame, &err), NBC_OK);
            nb6_frame_free(&frame);
            if (r < RESUMED && time == resumed_at[r])
                assert_int_equal(nb6_collisionless_resume(&resumed[r++], often, &options, &err), NBC_OK);
        }
        reuse_assert_same(once, often);
        for (int r = 0; r < RESUMED; r++) {
            collisionless_evolve(resumed[r], TIMES * dt);
            reuse_assert_same(once, resumed[r]);
            nb6_collisionless_free(resumed[r]);
        }
        assert_true(check_owners(once, options.parts));
        assert_true(options.reuse == 1 || once->rebuild.renewals > 2 * once->rebuild.builds);
        nb6_collisionless_free(once);
        nb6_collisionless_free(often);
    }
    cluster_free(&c);
}

/* Owners of as many parts are kept, others are found anew. */
static void another_number_of_parts_is_divided_anew(void **state)
{
    (void)state;
    struct nbc_error err = {0};
    struct cluster c = cluster_plummer(FEW, 25);
    struct nb6_collisionless_options options = options_of(NB6_COLLISIONLESS_SHARED, 3);
    struct nb6_collisionless *s = collisionless_start(&c, &options), *then = NULL;
    collisionless_evolve(s, 3.0 / 64);
    assert_true(check_owners(s, 3));
    options.parts = 5;
    assert_int_equal(nb6_collisionless_resume(&then, s, &options, &err), NBC_OK);
    assert_false(check_owners(then, 5));
    collisionless_evolve(then, 4.0 / 64);
    assert_true(check_owners(then, 5));
    check_errors(then);
    nb6_collisionless_free(then);
    nb6_collisionless_free(s);
    cluster_free(&c);
}

static void same_bits_for_any_threads(void **state)
{
    (void)state;
    const struct nb6_collisionless_options options = options_of(NB6_COLLISIONLESS_BLOCK, 5);
    const int threads[2] = {1, 3}, before = omp_get_max_threads();
    struct cluster c = cluster_plummer(FEW, 26);
    struct nb6_collisionless *s[2];
    for (int k = 0; k < 2; k++) {
        omp_set_num_threads(threads[k]);
        s[k] = collisionless_start(&c, &options);
        collisionless_evolve(s[k], 0.375);
        if (k) collisionless_assert_same(s[0], s[k]);
        assert_true(check_owners(s[k], 5));
    }
    omp_set_num_threads(before);
    for (int k = 0; k < 2; k++) nb6_collisionless_free(s[k]);
    cluster_free(&c);
}

/* ---- what may happen */

/* A body at 1e10 leaves one key for all others, which second ones tell apart: they have the same work all the same. */
static void a_body_may_be_far_away(void **state)
{
    (void)state;
    TEST_SKIP_SANITIZED();
    struct cluster c = cluster_plummer(MANY, 27);
    c.x[MANY / 3][1] = 1e10;
    check_balance(&c, NB6_COLLISIONLESS_SHARED, 1, 1.05);
    cluster_free(&c);
}

static void each_part_may_have_one_body(void **state)
{
    (void)state;
    enum { N = 8 };
    struct cluster c = cluster_plummer(N, 28);
    for (enum nb6_collisionless_steps steps = 0; steps < 2; steps++) {
        const struct nb6_collisionless_options options = options_of(steps, N);
        struct nb6_collisionless *s = collisionless_start(&c, &options);
        collisionless_evolve(s, 3 * nb6_collisionless_longest_step(s));
        check_owners(s, N);
        assert_int_equal(s->owners->divided, 2);
        nb6_collisionless_free(s);
    }
    cluster_free(&c);
}

/* The k-th call of devices fails while two parts evolve over two divisions, or they are lost from then on.
 * @return whether it was made */
static int fail_at(const struct cluster *c, int reuse, int64_t k, int64_t times)
{
    struct nbc_error err = {0};
    struct nb6_collisionless_options options = options_of(NB6_COLLISIONLESS_BLOCK, 2);
    options.reuse = reuse;
    struct nb6_collisionless *a = collisionless_start(c, &options), *b = collisionless_start(c, &options);
    collisionless_evolve(a, 0.125);
    collisionless_evolve(b, 0.125);
    reuse_assert_same(a, b);
    nbd_fault_set(NBD_FAULT_FAIL, k, times);
    const int status = nb6_collisionless_evolve(b, 0.25, &err), failed = nbd_fault_failures() > 0;
    nbd_fault_set(NBD_FAULT_NONE, 0, 0);
    assert_int_equal(status, failed ? NBC_DEVICE : NBC_OK);
    if (status) reuse_assert_same(a, b); /* as at the beginning, with the owners of that time */
    collisionless_evolve(b, 0.25);
    check_owners(b, 2);
    collisionless_end_alike(a, b, 0.25);
    return failed;
}

/* Calls of the last block, in which bodies change their owners, fail one by one, earlier ones in strides. */
static void fail_at_all(const struct cluster *c, int reuse)
{
    enum { STRIDE = 23, LAST = 40 };
    int64_t calls = 1;
    while (fail_at(c, reuse, calls, 1)) calls += STRIDE;
    assert_true(calls > LAST);
    for (int64_t k = calls - LAST; fail_at(c, reuse, k, k % 2 ? 1 : NBD_FAULT_FOR_EVER); k++) assert_true(k < calls);
}

static void a_device_that_fails_leaves_what_was_home(void **state)
{
    (void)state;
    struct cluster c = cluster_plummer(60, 29);
    fail_at_all(&c, 1);
    fail_at_all(&c, 3);
    cluster_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_is_divided),
        cmocka_unit_test(parts_have_room),
        cmocka_unit_test(divisions_have_their_times),
        cmocka_unit_test(errors_are_within_the_aim),
        cmocka_unit_test(parts_have_the_same_work),
        cmocka_unit_test(same_bits_however_it_is_cut),
        cmocka_unit_test(another_number_of_parts_is_divided_anew),
        cmocka_unit_test(same_bits_for_any_threads),
        cmocka_unit_test(a_body_may_be_far_away),
        cmocka_unit_test(each_part_may_have_one_body),
        cmocka_unit_test(a_device_that_fails_leaves_what_was_home),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
