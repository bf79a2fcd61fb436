/* One block from one state by two engines (engine/engine.h): the committed states agree within the errors of their
 * sums. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/nbc.h"
#include "device/emulated/emulated.h"
#include "gpuirr/gpuirr.h"
#include "nbody6/engine/engine.h"
#include "nbody6/engine/engines.h"
#include "nbody6/engine/stages/room.h"
#include "nbody6/input/config.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/bodies.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/schedule.h"
#include "nbody6/state/sim.h"
#include "tests/support/cluster.h"
#include "tests/support/test_size.h"

/* The engine that is compared with the host's. */
static int other_engine = NB6_ENGINE_EMULATED;

/* Without pairs, which the host would have to make. */
static void configure(struct nb6_config *config)
{
    cluster_config(config);
    config->pair.adjust = 0;
    config->pair.r_min = config->pair.dt_min = 0;
}

static void make_block(nb6_t *sim)
{
    struct nbc_error err = {0};
    enum nb6_stop_reason reason = NB6_STOP_REACHED;
    if (nb6_engines_advance(sim, INT64_MAX, 1, &reason, &err)) fail_msg("%s", err.text);
    assert_int_equal(reason, NB6_STOP_BLOCKS);
    assert_int_equal(sim->engine_image.ahead, sim->engine == other_engine);
    if (nb6_bring_home(sim, &err)) fail_msg("%s", err.text);
}

static void copy_state(const nb6_t *from, nb6_t *to)
{
    for (int32_t i = 0; i < from->n; i++) {
        size_t nnb = 0;
        const int32_t *list = gpuirr_get_list(from->irr, (size_t)i, &nnb);
        to->body[i] = from->body[i];
        to->star[i] = from->star[i];
        nb6_schedule_set(to->schedule, i, from->star[i].level_irr);
        assert_int_equal(gpuirr_set_list(to->irr, (size_t)i, nnb, list), NBC_OK);
        assert_int_equal(nb6_send_body(to, i, NULL), NBC_OK);
    }
    to->ti_now = from->ti_now;
    to->ti_reached = from->ti_reached;
    to->run.counters = from->run.counters;
    to->run.book = from->run.book;
    to->book = from->book;
    to->edits++;
}

/* Sum of the magnitudes of the forces on a body from all others at the block time, and of those of jerks: the scale of
 * errors of float sums. */
static void magnitudes(const nb6_t *sim, int64_t i, double *acc, double *jerk)
{
    const nb6_time t = sim->body[i].t0;
    *acc = *jerk = 0;
    for (int64_t j = 0; j < sim->n; j++) {
        double x[3], v[3], r2 = 0, v2 = 0;
        if (j == i) continue;
        nb6_predict(&sim->body[j], nb6_time_to_double(t - sim->body[j].t0), x, v);
        for (int k = 0; k < 3; k++) {
            r2 += (x[k] - sim->body[i].x0[k]) * (x[k] - sim->body[i].x0[k]);
            v2 += (v[k] - sim->body[i].v0[k]) * (v[k] - sim->body[i].v0[k]);
        }
        *acc += sim->body[j].mass / r2;
        *jerk += 4 * sim->body[j].mass * sqrt(v2) / (r2 * sqrt(r2));
    }
}

static double apart(const double a[3], const double b[3])
{
    double d2 = 0;
    for (int k = 0; k < 3; k++) d2 += (a[k] - b[k]) * (a[k] - b[k]);
    return sqrt(d2);
}

struct differences {
    int64_t steps, lists, levels;
};

/* Statistics of the blocks: the most regular members of one, and lists made again in blocks of 41 to 264 such members:
 * more than a device sums one by one, and at most two for each of its blocks of threads. */
struct seen {
    uint64_t most_regular, remade;
    uint64_t remade_of_most; /* lists made again in the block with most of them */
};

/* Forces of both engines have errors of up to 1e-6 of the sums of magnitudes (irregular), or 5e-6 (regular, what GPUNB
 * promises). A corrector makes of an error dF at the end of a step h one of 0.35 dF h^2 in the position, 1.5 dF h in
 * the velocity, 18 dF/h^2 and 12 dF/h^3 in the derivatives; of a jerk error dJ, 0.05 dJ h^3, 0.25 dJ h^2, 10 dJ/h and 6
 * dJ/h^2. Both engines together have twice as much. */
static const double EPS = 5e-6;

static void compare_part(const double snap[2][3], const double crackle[2][3], double h, double acc, double jerk)
{
    assert_true(apart(snap[0], snap[1]) < EPS * (36 * acc / h + 20 * jerk) / h);
    assert_true(apart(crackle[0], crackle[1]) < EPS * (24 * acc / h + 12 * jerk) / (h * h));
}

static void compare_member(const nb6_t *a, const nb6_t *b, int64_t i, const nb6_t *before, struct differences *d)
{
    const struct nb6_star *p = &a->star[i], *q = &b->star[i];
    const int regular = p->t0_reg == a->ti_now;
    const double h_irr = nb6_time_to_double(a->ti_now - before->body[i].t0);
    const double h = regular ? nb6_time_to_double(a->ti_now - before->star[i].t0_reg) : h_irr; /* the longer one */
    double acc, jerk;
    magnitudes(a, i, &acc, &jerk);
    assert_true(b->body[i].t0 == a->ti_now && q->t0_reg == p->t0_reg);
    assert_true(apart(a->body[i].x0, b->body[i].x0) < EPS * (0.7 * acc + 0.1 * jerk * h) * h * h);
    assert_true(apart(a->body[i].v0, b->body[i].v0) < EPS * (3 * acc + 0.5 * jerk * h) * h);
    assert_true(apart(a->body[i].acc, b->body[i].acc) < EPS * acc);
    assert_true(apart(a->body[i].jerk, b->body[i].jerk) < EPS * jerk);
    d->steps++;
    d->levels += p->level_irr != q->level_irr || p->level_reg != q->level_reg;
    assert_in_range(p->level_irr - q->level_irr + 1, 0, 2);
    if (p->nnb != q->nnb) { /* a body at the very edge of the sphere */
        d->lists++;
        return;
    }
    assert_true(apart(p->acc_irr, q->acc_irr) < EPS * acc && apart(p->jerk_irr, q->jerk_irr) < EPS * jerk);
    assert_true(apart(p->acc_reg, q->acc_reg) < EPS * acc && apart(p->jerk_reg, q->jerk_reg) < EPS * jerk);
    assert_true(fabs(p->r_nb - q->r_nb) <= 1e-12 * p->r_nb);
    compare_part((const double[2][3]){{p->snap_irr[0], p->snap_irr[1], p->snap_irr[2]},
                                      {q->snap_irr[0], q->snap_irr[1], q->snap_irr[2]}},
                 (const double[2][3]){{p->crackle_irr[0], p->crackle_irr[1], p->crackle_irr[2]},
                                      {q->crackle_irr[0], q->crackle_irr[1], q->crackle_irr[2]}},
                 h_irr, acc, jerk);
    if (regular)
        compare_part((const double[2][3]){{p->snap_reg[0], p->snap_reg[1], p->snap_reg[2]},
                                          {q->snap_reg[0], q->snap_reg[1], q->snap_reg[2]}},
                     (const double[2][3]){{p->crackle_reg[0], p->crackle_reg[1], p->crackle_reg[2]},
                                          {q->crackle_reg[0], q->crackle_reg[1], q->crackle_reg[2]}},
                     h, acc, jerk);
}

/* Wanted steps depend on second and third derivatives with relative errors up to 6 dF/(F eta), some 1e-4: in this
 * fraction of cases a step is on the other side of a power of two. Edges of spheres are as sharp as floats: 1e-7 of the
 * neighbours. */
static struct seen compare_blocks(const struct nb6_config *config, int64_t n, double t, int blocks)
{
    struct nb6_config other = *config;
    struct cluster c = cluster_plummer(n, 5);
    struct differences d = {0};
    for (int64_t i = 0; i < n; i++) c.mass[i] *= i % 13 == 6 ? 0 : i % 11 == 5 ? 1e-5 : i % 7 == 0 ? 3 : 0.6;
    other.run.engine = other_engine;
    nb6_t *host = cluster_start(config, &c, NULL), *image = cluster_start(&other, &c, NULL);
    nb6_t *before = cluster_start(config, &c, NULL);
    struct seen seen = {0, 0, 0};
    cluster_evolve(host, t);
    for (int block = 0; block < blocks; block++) {
        const uint64_t regular = host->run.counters.steps_reg;
        const uint64_t remade = image->run.counters.overflows;
        copy_state(host, image);
        copy_state(host, before);
        make_block(host);
        make_block(image);
        assert_true(host->ti_now == image->ti_now);
        assert_int_equal(host->run.counters.steps_irr, image->run.counters.steps_irr);
        assert_int_equal(host->run.counters.steps_reg, image->run.counters.steps_reg);
        assert_int_equal(host->run.counters.pairs_irr, image->run.counters.pairs_irr);
        const uint64_t now = host->run.counters.steps_reg - regular;
        if (now > seen.most_regular) seen = (struct seen){now, seen.remade, image->run.counters.overflows - remade};
        if (now > 40 && now <= 264) seen.remade += image->run.counters.overflows - remade;
        for (int64_t i = 0; i<host->n; i += n> 10000 ? 5 : 1) /* of many, a part */
            if (host->body[i].t0 == host->ti_now) compare_member(host, image, i, before, &d);
    }
    print_message("%lld steps, %lld other levels, %lld other lists\n", (long long)d.steps, (long long)d.levels,
                  (long long)d.lists);
    assert_true(d.steps > 4 * blocks);
    assert_true(d.levels <= 2 + d.steps / 1000 && d.lists <= 2 + d.steps / 1000);
    nb6_free(host);
    nb6_free(image);
    nb6_free(before);
    cluster_free(&c);
    return seen;
}

static void one_block(void **state)
{
    (void)state;
    struct nb6_config config;
    configure(&config);
    compare_blocks(&config, 1100, 0.125, test_size(400, 50)); /* with the velocity criterion, which begins above 1000 */
}

static void one_block_of_other_kinds(void **state)
{
    (void)state;
    const int blocks = 200;
    struct nb6_config config;
    configure(&config);
    config.run.dt_adjust = 0.3; /* derivatives of higher order belong to the lists */
    compare_blocks(&config, 300, 0.125, blocks);
    configure(&config);
    config.integration.mass_weighted_nb = 1;
    compare_blocks(&config, 300, 0.125, blocks);
    configure(&config);
    config.integration.nnb_opt = 8; /* lists that are too long, and spheres that shrink */
    config.integration.nnb_max = 12;
    compare_blocks(&config, 300, 0.125, blocks);
    configure(&config);
    config.integration.fixed_nnb = 1;
    compare_blocks(&config, 300, 0.125, blocks);
    configure(&config);
    config.integration.nnb_opt = 29; /* all are neighbours */
    compare_blocks(&config, 30, 0.125, 200);
}

/* Among these blocks is one at 1/8, in which more than 2048 regular steps end: a device gives a lane two targets there,
 * in others one, or none. */
static void one_block_of_many(void **state)
{
    (void)state;
    struct nb6_config config;
    configure(&config);
    if (!TEST_SANITIZED) { /* the last one goes the same ways, and makes lists again */
        assert_true(compare_blocks(&config, 5000, 0.125 - 1.0 / 512, 60).most_regular > 2048);
        config.integration.mass_weighted_nb = 1;
        config.integration.nnb_opt = 700; /* lists for which a warp has no room in its shared memory */
        assert_true(compare_blocks(&config, 2500, 0.125 - 1.0 / 512, 30).most_regular > 40);
        config.integration.mass_weighted_nb = 0;
    }
    config.integration.nnb_opt = 10; /* lists that are too long */
    config.integration.nnb_max = 12;
    assert_true(compare_blocks(&config, test_size(5000, 3500), 0.125 - 1.0 / 64, test_size(150, 120)).remade > 0);
}

/* Blocks that leave the engine, whose regular forces GPUNB makes on emulated devices (engine/stages/room.h): the one at
 * 1/8. Two devices share them. */
static void one_block_that_leaves(void **state)
{
    (void)state;
    enum { STARS = 5000 };
    const uint64_t leaving = (uint64_t)nb6_device_leaving(2, NBD_EMULATED_MULTIPROCESSORS) / STARS;
    struct nb6_config config;
    TEST_SKIP_SANITIZED();
    configure(&config);
    snprintf(config.run.device, sizeof config.run.device, "emulated:0,1");
    assert_true(compare_blocks(&config, STARS, 0.125 - 1.0 / 1024, 20).most_regular >= leaving);
    config.integration.mass_weighted_nb = 1;
    config.integration.nnb_opt = 10; /* lists that are too long, for which GPUNB is asked again */
    config.integration.nnb_max = 12;
    const struct seen seen = compare_blocks(&config, STARS, 0.125 - 1.0 / 1024, 30);
    assert_true(seen.most_regular >= leaving && seen.remade_of_most > 0);
}

enum { VERY_MANY = 44000, LARGE = 40960 };

/* So many regular steps that GPUNB sums pairs of targets at once (gpunb/cuda/mutual.cuh): the block at 1/8. Blocks
 * before it have sources and targets sorted along a curve. */
static void one_block_of_very_many(void **state)
{
    (void)state;
    struct nb6_config config;
    configure(&config);
    assert_true(compare_blocks(&config, VERY_MANY, 0.125 - 1.0 / 2048, 60).most_regular > LARGE);
    config.integration.mass_weighted_nb = 1;
    assert_true(compare_blocks(&config, VERY_MANY, 0.125 - 1.0 / 2048, 60).most_regular > LARGE);
    config.integration.mass_weighted_nb = 0;
    config.integration.nnb_opt = 60; /* some lists are too long, and made again */
    config.integration.nnb_max = 80;
    assert_true(compare_blocks(&config, VERY_MANY, 0.125 - 1.0 / 2048, 60).most_regular > LARGE);
}

static const nb6_time AN_EIGHTH = (nb6_time)1 << (NB6_TIME_BITS - 3);

/* A star with one step that ends up to 1/8, the regular one. */
static int64_t star_with_one_step(const nb6_t *sim)
{
    const nb6_time t = AN_EIGHTH;
    int64_t i = 0;
    while (i < sim->n && (sim->star[i].level_irr != sim->star[i].level_reg || sim->star[i].t0_reg == t ||
                          sim->star[i].t0_reg + nb6_step_ticks(sim->star[i].level_reg) != t))
        i++;
    assert_true(i < sim->n);
    return i;
}

/* The kernel that makes it names the star, commits nothing, no level either, and the one of small blocks does not wait
 * for it. */
static void a_nan_among_very_many(void **state)
{
    (void)state;
    struct nb6_config config;
    struct nbc_error err = {0};
    enum nb6_stop_reason reason = NB6_STOP_BLOCKS;
    char name[40];
    configure(&config);
    config.run.engine = NB6_ENGINE_DEVICE;
    struct cluster c = cluster_plummer(VERY_MANY, 5);
    nb6_t *sim = cluster_start(&config, &c, NULL);
    cluster_evolve(sim, 0.125 - 1.0 / 2048);
    if (nb6_bring_home(sim, &err)) fail_msg("%s", err.text);
    const int64_t i = star_with_one_step(sim);
    sim->star[i].acc_reg[1] = NAN;
    sim->edits++;
    assert_int_equal(nb6_engines_advance(sim, INT64_MAX, INT64_MAX, &reason, &err), NBC_NON_FINITE);
    assert_int_equal(reason, NB6_STOP_NON_FINITE);
    snprintf(name, sizeof name, "(index %lld)", (long long)i);
    if (!strstr(err.text, name)) fail_msg("star %lld: %s", (long long)i, err.text);
    assert_true(sim->ti_reached < AN_EIGHTH);
    for (int32_t k = 0; k < sim->n; k++)
        if (nb6_schedule_level(sim->schedule, k) != sim->star[k].level_irr)
            fail_msg("body %d is due at a level of the block that was not made", k);
    nb6_free(sim);
    cluster_free(&c);
}

/* Largest error of the accelerations of some stars that have just ended a regular step, relative to the sum of
 * magnitudes, by direct sums in double.   @param[out] checked  how many */
static double worst_of_block(const nb6_t *sim, int64_t every, int64_t *checked)
{
    double worst = 0;
    *checked = 0;
    for (int64_t i = 0; i < sim->n; i += every) {
        double acc[3] = {0, 0, 0}, magnitude, unused;
        if (sim->star[i].t0_reg != sim->ti_now) continue;
        magnitudes(sim, i, &magnitude, &unused);
        for (int64_t j = 0; j < sim->n; j++) {
            double x[3], v[3], r2 = 0;
            if (j == i) continue;
            nb6_predict(&sim->body[j], nb6_time_to_double(sim->ti_now - sim->body[j].t0), x, v);
            for (int k = 0; k < 3; k++) r2 += (x[k] - sim->body[i].x0[k]) * (x[k] - sim->body[i].x0[k]);
            for (int k = 0; k < 3; k++) acc[k] += sim->body[j].mass * (x[k] - sim->body[i].x0[k]) / (r2 * sqrt(r2));
        }
        worst = fmax(worst, apart(acc, sim->body[i].acc) / magnitude);
        ++*checked;
    }
    return worst;
}

/* Largest error of accelerations that is accepted, relative to the sum of magnitudes: a corrected star is not where its
 * force was taken (measured for 3000 stars of the emulated engine 1.9e-5, five times that). */
#define CORRECTED 1e-4

/* Forces of a block in which most regular steps end, among any number of stars: how many targets a round has depends on
 * it. A group of 128 that is left out, or summed twice, is 4e-4 of 300000 stars.
 *  @param[in] force_error  of forces by a tree, which then make at least one block; 0: direct sums */
static void check_forces(const char *device, int64_t n, int64_t every, double t, double force_error)
{
    struct nb6_config config;
    int64_t checked;
    configure(&config);
    config.run.engine = other_engine;
    config.integration.force_error = force_error;
    snprintf(config.run.device, sizeof config.run.device, "%s", device);
    struct cluster c = cluster_plummer(n, 5);
    nb6_t *sim = cluster_start(&config, &c, NULL);
    cluster_evolve(sim, t);
    const double worst = worst_of_block(sim, every, &checked);
    print_message("%lld stars: %.1e, largest of %lld\n", (long long)n, worst, (long long)checked);
    assert_true(checked > n / every / 8);
    assert_true(worst < CORRECTED + force_error);
    if (force_error > 0) assert_true(sim->run.counters.calls_by_tree > 1); /* the first forces, and those of a block */
    nb6_free(sim);
    cluster_free(&c);
}

static void forces_among_few(void **state)
{
    (void)state;
    TEST_SKIP_SANITIZED();
    check_forces("cpu", 3000, 7, 0.125, 0);
}

static void forces_among_any_number(void **state)
{
    (void)state;
    check_forces("cuda", 150000, 700, 1.0 / 32, 0);
    check_forces("cuda", 300000, 1500, 1.0 / 32, 0);
}

static void forces_by_tree(void **state)
{
    (void)state;
    check_forces("cuda", 300000, 1500, 1.0 / 32, 1e-4); /* of 150000 stars only the first forces are by tree */
}

int main(void)
{
    struct nbc_error err = {0};
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_block), cmocka_unit_test(one_block_of_other_kinds),
                                       cmocka_unit_test(one_block_of_many), cmocka_unit_test(forces_among_few)};
    const struct CMUnitTest leaving[] = {cmocka_unit_test(one_block_that_leaves)};
    const int failed = cmocka_run_group_tests_name("emulated engine", tests, NULL, NULL) +
                       cmocka_run_group_tests_name("emulated engine, blocks that leave", leaving, NULL, NULL);
    if (!nb6_device_engine || nb6_device_engine->check(&err)) return failed;
    other_engine = NB6_ENGINE_DEVICE;
    const struct CMUnitTest large[] = {cmocka_unit_test(one_block_of_very_many),
                                       cmocka_unit_test(a_nan_among_very_many),
                                       cmocka_unit_test(forces_among_any_number), cmocka_unit_test(forces_by_tree)};
    return failed + cmocka_run_group_tests_name("device engine", tests, NULL, NULL) +
           cmocka_run_group_tests_name("device engine, large blocks", large, NULL, NULL);
}
