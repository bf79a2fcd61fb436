/* Systems that form, end and change, kicks and sudden losses where an engine has their image (engine/image_part.h):
 * what has changed moves alone, and the image is the one that an import of all makes. Questions about all bodies that
 * the image of before answers (state/survey.h) have the answers of host memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "common/nbc.h"
#include "gpunb/gpunb.h"
#include "nbody6/engine/engine.h"
#include "nbody6/engine/engines.h"
#include "nbody6/fewbody/pairs/events.h"
#include "nbody6/input/config.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/ascending.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/members.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "nbody6/state/survey.h"
#include "nbody6/state/touched.h"
#include "nbody6/state/view.h"
#include "tests/support/cluster.h"
#include "tests/support/cluster_check.h"
#include "tests/support/escape_scene.h"
#include "tests/support/failing_alloc.h"
#include "tests/support/image_check.h"
#include "tests/support/test_size.h"

static const double DT_ADJUST = 0.5;

static void demand(int status, const struct nbc_error *err)
{
    if (status) fail_msg("%s", err->text);
}

/* Wide binaries, among which others form and end; or stars with radii, some of which become one within chains. */
static nb6_t *start_changing(int with_radii, enum nb6_engine_choice engine)
{
    struct nb6_config config;
    cluster_config_with_binaries(&config, with_radii ? 100 : 150, with_radii ? 50 : 30);
    config.binaries.semi_max = with_radii ? 0.02 : 1.0 / 150;
    config.binaries.range = with_radii ? 3 : 100;
    config.model.seed = 14;
    config.pair.r_star = with_radii ? 3e-4 : 0;
    config.run.dt_adjust = config.run.dt_output = DT_ADJUST;
    config.run.engine = (int)engine;
    nb6_t *sim = cluster_start_model(&config, NULL);
    cluster_evolve(sim, 0.001);
    return sim;
}

/* Without memory for a part all moves. */
static void import_without_memory(nb6_t *sim)
{
    int has_failed = can_fail_alloc();
    for (long k = 0; has_failed; k++) {
        struct nbc_error err = {0};
        alloc_left = k;
        const int status = nb6_emulated_engine.import(sim, &err);
        has_failed = alloc_left < 0;
        alloc_left = -1;
        demand(status, &err);
        assert_true(sim->engine_image.is_part == !has_failed);
        cluster_assert_image_is_an_import(sim);
    }
}

/* ---- questions about all bodies */

/* Whether the answer about holders is that of all lists, of bodies that take part. */
static void check_holders(nb6_t *sim, const nb6_index of[2])
{
    struct nbc_error err = {0};
    for (int m = 0; m < 2; m++) {
        const nb6_index *body;
        int64_t n, at = 0;
        demand(nb6_survey_holders(sim, of, m, &n, &body, &err), &err);
        for (nb6_index i = 0; i < nb6_bodies(sim); i++) {
            size_t nnb;
            const nb6_index *list = nb6_get_list(sim, i, &nnb);
            if (!nb6_takes_part(sim, i) || nb6_list_find(list, nnb, of[m]) < 0) continue;
            while (at < n && !nb6_takes_part(sim, body[at])) at++;
            assert_true(at < n && body[at] == i);
            at++;
        }
        while (at < n && !nb6_takes_part(sim, body[at])) at++;
        assert_true(at == n);
    }
}

/* Sums of 180 velocities below 10, added in any order: each addition rounds by 1e-16 of the sum, which is below 1e3. */
static void check_velocities(const nb6_t *sim, const struct nb6_survey *survey)
{
    struct nbc_error err = {0};
    double found[4];
    long double sum[4] = {0};
    demand(survey->sum_velocities(sim, sim->ti_now, found, &err), &err);
    for (int64_t m = 0; m < sim->subsystems.n_source; m++) {
        double x[3], v[3];
        nb6_get_predicted(sim, sim->subsystems.source[m], sim->ti_now, x, v);
        for (int k = 0; k < 3; k++) {
            sum[k] += v[k];
            sum[3] += (long double)v[k] * v[k];
        }
    }
    for (int k = 0; k < 4; k++) assert_true(fabsl(found[k] - sum[k]) < 1e-12L);
}

/* Each term is the difference of potentials, which have roundings of 2^-53 of their own. */
static void check_potentials(nb6_t *sim, const struct nb6_survey *survey)
{
    const struct nb6_subsystems *p = &sim->subsystems;
    for (nb6_slot slot = 0; slot < p->n_slot; slot++) {
        struct nbc_error err = {0};
        double energy[2] = {0, 0}, scale = 0, x[2][3], v[3];
        const nb6_index centre = nb6_centre(sim, slot), except[1] = {p->source[slot % p->n_source]};
        if (!nb6_slot_is_used(p, slot) || !nb6_takes_part(sim, centre)) continue;
        nb6_get_predicted(sim, centre, sim->ti_now, x[0], v);
        for (int64_t m = 0; m < p->n_source; m++) {
            nb6_get_predicted(sim, p->source[m], sim->ti_now, x[1], v);
            double r2 = 0;
            for (int k = 0; k < 3; k++) r2 += (x[1][k] - x[0][k]) * (x[1][k] - x[0][k]);
            if (r2 > 0) scale += nb6_get_body(sim, centre)->mass * nb6_get_body(sim, p->source[m])->mass / sqrt(r2);
        }
        for (int by = 0; by < 2; by++) {
            nb6_survey_begin(sim, by ? survey : NULL);
            demand(nb6_add_apart(sim, slot, sim->ti_now, (int)(slot % 2), except, &energy[by], &err), &err);
        }
        if (!(fabs(energy[1] - energy[0]) < 1e-14 * scale)) fail_msg("%g, not %g", energy[1], energy[0]);
    }
}

enum { TARGETS = 5, LONGEST = 100 };

/* The regular force and the list of a target, against sums in long double. Each term has some ten roundings. */
static void check_force(const nb6_t *sim, const struct gpunb_regf_job *job, size_t k)
{
    const int32_t *list = job->nblist + k * job->nb_cap;
    long double acc[3] = {0}, jerk[3] = {0}, scale = 0, rate = 0;
    int32_t nnb = 0;
    for (int64_t m = 0; m < sim->subsystems.n_source; m++) {
        const nb6_index j = sim->subsystems.source[m];
        double y[3], w[3], r2 = 0, p2 = 0;
        long double d2 = 0, dv2 = 0, rv = 0;
        if (j == job->self[k]) continue;
        nb6_get_predicted(sim, j, sim->ti_now, y, w);
        for (int d = 0; d < 3; d++) {
            const double r = y[d] - job->x[k][d], u = w[d] - job->v[k][d], next = r + job->dt_reg[k] * u;
            r2 += r * r;
            p2 += next * next;
            d2 += (long double)r * r;
            dv2 += (long double)u * u;
            rv += (long double)r * u;
        }
        if (fmin(r2, p2) < job->r_nb2[k]) {
            assert_true(nnb < job->nnb[k] && list[nnb] == j);
            nnb++;
            continue;
        }
        const long double mr3 = nb6_get_body(sim, j)->mass / (d2 * sqrtl(d2));
        for (int d = 0; d < 3; d++) {
            const long double r = y[d] - job->x[k][d], u = w[d] - job->v[k][d];
            acc[d] += mr3 * r;
            jerk[d] += mr3 * (u - 3 * rv / d2 * r);
        }
        scale += mr3 * sqrtl(d2);
        rate += 4 * mr3 * sqrtl(dv2);
    }
    assert_int_equal(nnb, job->nnb[k]);
    for (int d = 0; d < 3; d++) {
        assert_true(fabsl(job->acc[k][d] - acc[d]) < 1e-14L * scale);
        assert_true(fabsl(job->jerk[k][d] - jerk[d]) < 1e-14L * rate);
    }
}

/* On bodies of which the last ones have come. */
static void check_forces(const nb6_t *sim, const struct nb6_survey *survey)
{
    struct nbc_error err = {0};
    int32_t self[TARGETS], nnb[TARGETS], list[TARGETS][LONGEST];
    double r_nb2[TARGETS], dt_reg[TARGETS], x[TARGETS][3], v[TARGETS][3], acc[TARGETS][3], jerk[TARGETS][3];
    struct gpunb_regf_job job = {.n_i = TARGETS,
                                 .self = self,
                                 .r_nb2 = r_nb2,
                                 .dt_reg = dt_reg,
                                 .x = (const double(*)[3])x,
                                 .v = (const double(*)[3])v,
                                 .acc = acc,
                                 .jerk = jerk,
                                 .nb_cap = LONGEST,
                                 .nnb = nnb,
                                 .nblist = list[0]};
    for (int64_t k = 0; k < TARGETS; k++) {
        self[k] = sim->subsystems.source[k * (sim->subsystems.n_source - 1) / (TARGETS - 1)];
        nb6_get_predicted(sim, self[k], sim->ti_now, x[k], v[k]);
        r_nb2[k] = 0.02 * (double)(1 + k);
        dt_reg[k] = 0x1p-6 * (double)k;
    }
    demand(survey->make_forces(sim, sim->ti_now, &job, &err), &err);
    for (size_t k = 0; k < TARGETS; k++)
        if (nnb[k] <= LONGEST) check_force(sim, &job, k);
    const int32_t found = nnb[TARGETS - 1];
    job.nb_cap = 1;
    demand(survey->make_forces(sim, sim->ti_now, &job, &err), &err);
    assert_int_equal(nnb[TARGETS - 1], found);
}

/* Of all that the image of before and what was touched since have together. */
static void check_questions(nb6_t *sim, const struct nb6_engine *engine)
{
    const struct nb6_subsystems *p = &sim->subsystems;
    const nb6_index none = nb6_centre(sim, p->n_slot);
    nb6_survey_begin(sim, engine->survey);
    for (int64_t m = 0; m < p->n_source; m += 7)
        check_holders(sim, (const nb6_index[2]){p->source[m], p->source[p->n_source - 1 - m]});
    check_holders(sim, (const nb6_index[2]){p->source[0], p->source[0]});
    check_holders(sim, (const nb6_index[2]){none, sim->engine_image.touched.body[0]});
    check_velocities(sim, engine->survey);
    check_forces(sim, engine->survey);
    check_potentials(sim, engine->survey);
    nb6_survey_end(sim);
}

/* A question fails, or is answered. */
static int ask_without_memory(nb6_t *sim, const struct nb6_survey *survey, int question)
{
    const nb6_index *body, of[2] = {sim->subsystems.source[0], sim->subsystems.source[1]};
    struct nbc_error err = {0};
    double sum[4];
    int64_t n;
    return question ? survey->sum_velocities(sim, sim->ti_now, sum, &err)
                    : nb6_survey_holders(sim, of, 0, &n, &body, &err);
}

static void questions_without_memory(nb6_t *sim, const struct nb6_engine *engine)
{
    for (int question = 0; question < 2; question++) {
        int has_failed = can_fail_alloc();
        nb6_survey_free(&sim->engine_image.survey);
        nb6_survey_begin(sim, engine->survey);
        for (long k = 0; has_failed; k++) {
            alloc_left = k;
            const int status = ask_without_memory(sim, engine->survey, question);
            has_failed = alloc_left < 0;
            alloc_left = -1;
            assert_int_equal(status, has_failed ? NBC_NO_MEMORY : NBC_OK);
        }
        nb6_survey_end(sim);
    }
}

/* ---- systems that form and end */

/* A block. If host memory has changed after it, the next import moves what has changed alone.
 * @param[in,out] parts  how often that was   @return 0: no block is left */
static int check_block(nb6_t *sim, int *parts)
{
    struct nbc_error err = {0};
    enum nb6_stop_reason reason;
    demand(nb6_engines_advance(sim, (nb6_time)ldexp(DT_ADJUST, NB6_TIME_BITS), 1, &reason, &err), &err);
    if (sim->engine_image.ahead || sim->engine_image.touched.n == 0) return reason != NB6_STOP_REACHED;
    if (*parts == 0) questions_without_memory(sim, &nb6_emulated_engine);
    check_questions(sim, &nb6_emulated_engine);
    demand(nb6_emulated_engine.import(sim, &err), &err);
    cluster_assert_records_of_all_systems(sim);
    cluster_assert_image_is_an_import(sim);
    if (*parts == 0 && sim->engine_image.is_part) import_without_memory(sim);
    *parts += sim->engine_image.is_part;
    return 1;
}

/* Pairs and chains form and end, bodies come and go in all places, and an import of what has changed is an import. */
static void what_has_changed_moves_alone(void **state)
{
    (void)state;
    for (int with_radii = 0; with_radii < 2; with_radii++) {
        nb6_t *sim = start_changing(with_radii, NB6_ENGINE_EMULATED);
        const struct nb6_counters *now = &sim->run.counters, before = *now;
        int parts = 0;
        while (parts < test_size(25, 14) && check_block(sim, &parts)) continue;
        print_message("%d moves, %llu pairs formed, %llu ended, %llu mergers\n", parts,
                      (unsigned long long)(now->pairs_formed - before.pairs_formed),
                      (unsigned long long)(now->pairs_ended - before.pairs_ended), (unsigned long long)now->mergers);
        const uint64_t least = (uint64_t)test_size(5, 2);
        assert_true(now->pairs_formed > before.pairs_formed + least && now->pairs_ended > before.pairs_ended + least);
        assert_true(!with_radii || now->mergers > 0);
        cluster_evolve(sim, DT_ADJUST);
        cluster_assert_consistent(sim);
        cluster_check_sources(sim);
        nb6_free(sim);
    }
}

/* A GPU, if there is one. */
static void a_device_answers_too(void **state)
{
    struct nbc_error err = {0};
    enum nb6_stop_reason reason = NB6_STOP_BLOCKS;
    int checked = 0;
    (void)state;
    if (!nb6_device_engine || nb6_device_engine->check(&err)) skip();
    nb6_t *sim = start_changing(0, NB6_ENGINE_DEVICE);
    while (checked < 10 && reason != NB6_STOP_REACHED) {
        demand(nb6_engines_advance(sim, (nb6_time)ldexp(DT_ADJUST, NB6_TIME_BITS), 1, &reason, &err), &err);
        if (sim->engine_image.ahead || sim->engine_image.touched.n == 0) continue;
        check_questions(sim, nb6_device_engine);
        checked++;
    }
    assert_true(checked > 5);
    nb6_free(sim);
}

/* ---- kicks and sudden losses */

/* As engines.c does it: both sides are equal then. */
static int import(nb6_t *sim)
{
    struct nbc_error err = {0};
    demand(nb6_emulated_engine.import(sim, &err), &err);
    nb6_touched_begin(&sim->engine_image.touched, sim->edits);
    sim->engine_image.edits = sim->edits;
    return sim->engine_image.is_part;
}

/* A star loses half of its mass, or is kicked, or both. */
static int change(nb6_t *sim, int64_t name, int kind, struct nbc_error *err)
{
    const double mass = kind == 1 ? 1.0 / 60 : 0.5 / 60, v[1][3] = {{0.4, -0.2, 0.1 * kind}};
    return nb6_set_masses(sim, 1, &name, &mass, kind > 0 ? v : NULL, NB6_MASS_SUDDEN, err);
}

/* One change, or two between which nothing moves, of stars of each kind of system and of a single one. */
static void change_all(nb6_t *sim, const struct scene *scene, int kind, int twice)
{
    struct nbc_error err = {0};
    for (int k = 0; k < 6; k++) {
        const int64_t name = k < 5 ? scene->star[k][0] + 1 : sim->n - kind;
        demand(change(sim, name, kind, &err), &err);
        if (twice) demand(change(sim, sim->n - 3 - k, kind, &err), &err);
        assert_int_equal(sim->engine_image.touched.n_pulls, 1 + twice);
        assert_true(import(sim));
        cluster_assert_image_is_an_import(sim);
    }
}

/* Without memory a change leaves no pulls behind, nor does the move that follows. */
static void change_without_memory(nb6_t *sim, const struct scene *scene)
{
    int has_failed = can_fail_alloc();
    for (long k = 0; has_failed; k++) {
        struct nbc_error err = {0};
        alloc_left = k;
        const int status = change(sim, scene->star[0][0] + 1, 2, &err);
        has_failed = alloc_left < 0;
        alloc_left = -1;
        assert_true(!status || has_failed);
        if (status) assert_int_equal(sim->engine_image.touched.n_pulls, 0);
        alloc_left = k % 4;
        (void)import(sim);
        alloc_left = -1;
        cluster_assert_image_is_an_import(sim);
    }
}

static void kicks_and_losses_move_alone(void **state)
{
    struct scene scene = make_scene(PAIR | PERTURBED | CHAIN | TRIPLE | QUADRUPLE);
    (void)state;
    for (int kind = test_size(0, 2); kind < 3; kind++) {
        nb6_t *sim = start_scene(&scene, 0, NB6_ESCAPE_KEEP, NULL);
        sim->engine = NB6_ENGINE_EMULATED;
        cluster_evolve(sim, 0.02);
        assert_true(sim->subsystems.n_chain > 0 && sim->run.counters.hierarchies_formed > 0);
        (void)import(sim);
        change_all(sim, &scene, kind, kind % 2);
        cluster_assert_consistent(sim);
        cluster_evolve(sim, 0.03);
        if (kind == 2) change_without_memory(sim, &scene);
        cluster_evolve(sim, 0.04);
        cluster_assert_consistent(sim);
        cluster_check_sources(sim);
        nb6_free(sim);
    }
    cluster_free(&scene.c);
}

/* ---- stars that come and go */

static const double COMES_AT[4][3] = {{0.5, 0.4, -0.3}, {-0.7, 0.2, 0.1}, {0.1, -0.6, 0.4}, {3, 1, 2}};

static int64_t come(nb6_t *sim, int k)
{
    static const double v[1][3] = {{0.1, -0.2, 0.3}};
    struct nbc_error err = {0};
    const double mass = 0.02;
    demand(nb6_add_bodies(sim, 1, NULL, &mass, &COMES_AT[k], v, &err), &err);
    return sim->star[sim->n - 1].name;
}

static void go(nb6_t *sim, int64_t name)
{
    struct nbc_error err = {0};
    demand(nb6_remove_bodies(sim, 1, &name, &err), &err);
}

static void assert_import(nb6_t *sim)
{
    assert_true(sim->engine_image.image != NULL);
    assert_true(import(sim));
    cluster_assert_image_is_an_import(sim);
    cluster_assert_consistent(sim);
    cluster_check_sources(sim);
}

/* Alone, and several changes between which nothing moves: of others, and of the very star. */
static void change_stars(nb6_t *sim)
{
    struct nbc_error err = {0};
    go(sim, sim->star[sim->n - 2].name);
    assert_import(sim);
    (void)come(sim, 0);
    assert_import(sim);
    const int64_t name = come(sim, 1);
    go(sim, sim->star[sim->n - 3].name);
    demand(change(sim, name, 2, &err), &err);
    assert_int_equal(sim->engine_image.touched.n_pulls, 3);
    assert_import(sim);
    go(sim, name);
    go(sim, come(sim, 2));
    assert_import(sim);
    (void)come(sim, 3);
    cluster_evolve(sim, nb6_time_now(sim) + 0.005);
}

/* Without memory for a star that comes, or goes, an image has the numbers of before. */
static void change_numbers_without_memory(nb6_t *sim)
{
    static const double mass = 0.02, v[1][3] = {{0.1, -0.2, 0.3}};
    int has_failed = can_fail_alloc();
    for (long k = 0; has_failed; k++) {
        struct nbc_error err = {0};
        const int64_t name = sim->star[sim->n - 2].name;
        alloc_left = k / 2;
        const int status =
            k % 2 ? nb6_add_bodies(sim, 1, NULL, &mass, &COMES_AT[0], v, &err) : nb6_remove_bodies(sim, 1, &name, &err);
        has_failed = alloc_left < 0;
        alloc_left = -1;
        assert_true(!status || has_failed);
        (void)import(sim);
        cluster_assert_image_is_an_import(sim);
    }
}

static void stars_that_come_and_go_move_alone(void **state)
{
    struct scene scene = make_scene(PAIR | PERTURBED | CHAIN | TRIPLE | QUADRUPLE);
    (void)state;
    nb6_t *sim = start_scene(&scene, 0, NB6_ESCAPE_KEEP, NULL);
    sim->engine = NB6_ENGINE_EMULATED;
    cluster_evolve(sim, 0.02);
    assert_true(sim->subsystems.n_chain > 0 && sim->run.counters.hierarchies_formed > 0);
    for (int k = 0; k < test_size(2, 1); k++) {
        (void)import(sim);
        change_stars(sim);
    }
    change_numbers_without_memory(sim);
    cluster_assert_consistent(sim);
    cluster_check_sources(sim);
    cluster_free(&scene.c);
    nb6_free(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_has_changed_moves_alone), cmocka_unit_test(a_device_answers_too),
        cmocka_unit_test(kicks_and_losses_move_alone), cmocka_unit_test(stars_that_come_and_go_move_alone)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
