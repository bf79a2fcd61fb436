/* Trees that are divided among parts (gpunb/tree/essential.h): forces of all parts together against sums in double, for
 * slabs and for bodies that are dealt out, with few parts and many, and each allocation failing in turn. */
#include "tests/support/failing_alloc.h"

#include "common/team.h"
#include "gpunb/tree/essential_parts.h"
#include "gpunb/tree/scale.h"
#include "tests/conformance/gpunb_parts.h"

enum { N = TEST_SANITIZED ? 1200 : 2000 };

/* ---- tests */

static const double softening = 0.02;

static void check_parts(const struct model *m, const char *scene, int n, int in_slabs, struct gpunb_options options)
{
    char what[128];
    struct parts p = make_parts(n, m, in_slabs, options);
    snprintf(what, sizeof what, "%s, %d parts%s, aim %g, order %d", scene, n, in_slabs ? "" : ", dealt out",
             options.force_error, options.order);
    if (make_force(&p, softening, 1)) fail_msg("%s", what);
    struct forces f = gather(&p, m->n);
    check_model(what, m, &f, softening, options.force_error);
    free_forces(&f);
    free_parts(&p);
}

/* As one process: the promises of tree.h. */
static void errors_are_within_the_aim(void **state)
{
    (void)state;
    static const int parts[] = {1, 2, 3, 5, 8};
    for (int scene = 0; scene < N_SCENES; scene++) {
        struct model m = make_scene((enum scene)scene, N);
        for (size_t k = 0; k < sizeof parts / sizeof parts[0]; k++) {
            if (!test_seeds(0, 1) && (size_t)scene % 5 != k) continue;
            struct gpunb_options options = usual;
            options.order = 1 + (scene + (int)k) % 6;
            check_parts(&m, scene_names[scene], parts[k], 1, options);
        }
        free_model(&m);
    }
    assert_no_misses();
}

static void parts_may_be_anywhere(void **state)
{
    (void)state;
    struct model m = make_scene(SPHERE, N);
    struct gpunb_options options = usual;
    check_parts(&m, "sphere", 4, 0, options);
    check_parts(&m, "sphere", MOST_PARTS, 1, options);
    options.force_error = 1e-2;
    options.order = 4;
    check_parts(&m, "sphere", MOST_PARTS, 1, options);
    free_model(&m);
    struct model few = make_scene(SPHERE, 5); /* parts without bodies */
    check_parts(&few, "five bodies", 8, 1, options);
    free_model(&few);
    assert_no_misses();
}

/* One part has the bits of a handle by itself. */
static void one_part_is_a_tree(void **state)
{
    (void)state;
    struct model m = make_scene(SPHERE, N);
    struct parts p = make_parts(1, &m, 0, usual);
    gpunb_t *h = make_tree_handle(N, usual);
    struct forces alone = make_forces(N);
    assert_int_equal(make_force(&p, softening, 1), NBC_OK);
    struct gpunb_softened_job job = job_of(&m, softening, &alone);
    job.build = 7;
    send_model(h, &m);
    make_force_of(h, &job);
    struct forces f = gather(&p, m.n);
    assert_same_forces(&f, &alone);
    free_forces(&f);
    free_forces(&alone);
    free_parts(&p);
    gpunb_free(h);
    free_model(&m);
}

/* By angle, where a part that is far sends its top cell alone. */
static void far_parts_are_one_cell(void **state)
{
    (void)state;
    struct model m = make_scene(TWO, N);
    struct gpunb_options options = {.theta = 0.5, .leaf = LEAF, .group = GROUP, .order = 4};
    struct parts p = make_parts(2, &m, 1, options);
    struct gpunb_essential_counts counts;
    assert_int_equal(make_force(&p, softening, 0), NBC_OK);
    for (int k = 0; k < 2; k++) {
        gpunb_essential_get_counts(p.part[k].essential, &counts);
        assert_int_equal(counts.forces, 1);
        assert_int_equal(counts.close, 0);
    }
    struct forces f = gather(&p, m.n);
    check_model("two, by angle", &m, &f, softening, 1e-2);
    free_forces(&f);
    free_parts(&p);
    free_model(&m);
    assert_no_misses();
}

/* Essential trees are a part of the bodies; costs of targets are those of lists. By an angle there is no aim: errors
 * are those of one tree, whose cells are others near the cuts, within a half. */
static void near_parts_send_a_part(void **state)
{
    (void)state;
    enum { MANY = 20000 };
    if (is_slow()) TEST_SKIP_SANITIZED();
    struct model m = make_scene(BOX, MANY);
    struct gpunb_options options = {.theta = 0.7, .leaf = LEAF, .group = GROUP, .order = 2};
    struct parts p = make_parts(4, &m, 1, options);
    assert_int_equal(make_force(&p, softening, 0), NBC_OK);
    for (int k = 0; k < 4; k++) {
        struct gpunb_essential_counts counts;
        struct gpunb_tree_counts work;
        double cost = 0;
        gpunb_essential_get_counts(p.part[k].essential, &counts);
        gpunb_tree_get_counts(p.part[k].handle, &work);
        assert_int_equal(counts.close, 3);
        assert_true(counts.whole > 0 && counts.bodies > 0 && counts.bodies < MANY / 2);
        for (size_t i = 0; i < p.part[k].own.n; i++) cost += p.part[k].cost[i];
        assert_true(cost > 0.2 * (double)work.pair_terms); /* a pair of a list is nearly one of a direct sum */
    }
    gpunb_t *h = make_tree_handle(m.n, options);
    struct forces f = gather(&p, m.n), alone = make_forces(m.n);
    const struct gpunb_softened_job job = job_of(&m, softening, &alone);
    send_model(h, &m);
    make_force_of(h, &job);
    const struct sample s = sample_sums(&m, positions(&m), m.self, m.n, softening);
    const struct errors of_parts = errors_of(&s, &f), of_one = errors_of(&s, &alone);
    assert_true(of_one.acc_99 > 0 && of_parts.acc_99 < 1.5 * of_one.acc_99 && of_parts.pot_99 < 2.5 * of_one.pot_99);
    free(s.sum);
    free_forces(&alone);
    free_forces(&f);
    gpunb_free(h);
    free_parts(&p);
    free_model(&m);
}

/* ---- lists that are kept */

static void set_job(struct part *part)
{
    memcpy(part->last, part->acc, part->own.n * sizeof *part->last);
    part->job = (struct gpunb_softened_job){.n_i = part->own.n,
                                            .x = positions(&part->own),
                                            .self = part->own.self,
                                            .softening = softening,
                                            .acc_last = (const double(*)[3])part->last,
                                            .acc = part->acc,
                                            .build = 7};
}

static int make_plan(struct parts *p)
{
    static double drift[N];
    int status = NBC_OK;
    for (size_t i = 0; i < N; i++) drift[i] = 0.04;
    for (int k = 0; k < p->n && !status; k++) {
        set_job(&p->part[k]);
        status =
            gpunb_send_positions(p->part[k].handle, p->part[k].own.n, p->part[k].own.mass, positions(&p->part[k].own));
        if (!status) status = gpunb_essential_plan(p->part[k].essential, &p->part[k].job, drift);
    }
    if (status) return status;
    tell(p);
    for (int from = 0; from < p->n; from++)
        for (int to = 0; to < p->n && !status; to++)
            if (gpunb_essential_is_sent(p->part[from].essential, from, to))
                status =
                    gpunb_essential_keep(p->part[from].essential, to, gpunb_essential_boxes(p->part[to].essential));
    return status;
}

/* @param[in] is_sent  1: sources are those of the plan   @return bytes sent */
static size_t make_kept_force(struct parts *p, int is_sent)
{
    const size_t bytes = gpunb_essential_top_bytes(p->part[0].essential);
    char *top = get((size_t)p->n, bytes);
    size_t all = 0;
    for (int k = 0; k < p->n; k++) {
        struct part *part = &p->part[k];
        if (!is_sent)
            assert_int_equal(gpunb_send_positions(part->handle, part->own.n, part->own.mass, positions(&part->own)),
                             NBC_OK);
        assert_int_equal(gpunb_essential_renew(part->essential, &part->job), NBC_OK);
        gpunb_essential_top(part->essential, top + (size_t)k * bytes);
    }
    for (int k = 0; k < p->n; k++) gpunb_essential_take_tops(p->part[k].essential, top);
    for (int from = 0; from < p->n; from++)
        for (int to = 0; to < p->n; to++) {
            struct gpunb_essential *one = p->part[from].essential, *other = p->part[to].essential;
            const void *data;
            size_t size;
            assert_int_equal(gpunb_essential_is_sent(one, from, to), gpunb_essential_is_sent(other, from, to));
            if (!gpunb_essential_is_sent(one, from, to)) continue;
            assert_int_equal(gpunb_essential_export_kept(one, to, &data, &size), NBC_OK);
            assert_int_equal(gpunb_essential_take(other, from, data), NBC_OK);
            all += size;
        }
    for (int k = 0; k < p->n; k++)
        assert_int_equal(gpunb_essential_force(p->part[k].essential, p->part[k].cost), NBC_OK);
    free(top);
    return all;
}

static double wave(size_t i, int k)
{
    return sin(1.7 * (double)i + 2.1 * k);
}

/* Bodies move in all directions: errors stay within the aim, and targets that are far from where they were are counted.
 */
static void lists_serve_bodies_that_move(void **state)
{
    (void)state;
    struct model m = make_scene(SPHERE, N);
    struct parts p = make_parts(5, &m, 1, usual);
    assert_int_equal(make_force(&p, softening, 1), NBC_OK);
    assert_int_equal(make_plan(&p), NBC_OK);
    const size_t at_first = make_kept_force(&p, 1);
    for (int turn = 0; turn < 2; turn++) {
        for (int k = 0; k < p.n; k++) {
            struct part *part = &p.part[k];
            for (size_t i = 0; i < part->own.n; i++)
                for (int d = 0; d < 3; d++) {
                    part->own.x[i][d] += (turn ? -0.02 : 0.02) * wave(part->number[i], d);
                    m.x[part->number[i]][d] = part->own.x[i][d];
                }
            set_job(part);
        }
        const size_t bytes = make_kept_force(&p, 0);
        assert_true(bytes < 1.5 * (double)at_first);
        struct forces f = gather(&p, m.n);
        const struct sample s = sample_sums(&m, positions(&m), m.self, m.n, softening);
        assert_true(errors_of(&s, &f).acc_99 <= usual.force_error);
        free(s.sum);
        free_forces(&f);
    }
    for (int k = 0; k < p.n; k++) {
        struct part *part = &p.part[k];
        const int64_t n = (int64_t)part->own.n;
        assert_true(gpunb_essential_count_left(part->essential, n, part->own.self, positions(&part->own),
                                               (const double(*)[3])part->last) < n / 20);
        for (int64_t i = 0; i < n; i++) part->own.x[i][2] += 3;
        assert_true(gpunb_essential_count_left(part->essential, n, part->own.self, positions(&part->own),
                                               (const double(*)[3])part->last) > n / 2);
    }
    free_parts(&p);
    free_model(&m);
}

/* The scale of a group in the tree of all, as walks have it. */
static double scale_of_group(const struct gpunb_essential *e, const struct tree_group *group)
{
    const int32_t *target = e->groups.target + group->first;
    double low[3], high[3], centre[3], r2 = 0, least2 = INFINITY, most2 = 0;
    for (int k = 0; k < 3; k++) {
        low[k] = high[k] = e->job.x[target[0]][k];
        for (int32_t i = 1; i < group->count; i++) {
            low[k] = fmin(low[k], e->job.x[target[i]][k]);
            high[k] = fmax(high[k], e->job.x[target[i]][k]);
        }
        centre[k] = 0.5 * low[k] + 0.5 * high[k];
        r2 += (high[k] - centre[k]) * (high[k] - centre[k]);
    }
    for (int32_t i = 0; i < group->count; i++) {
        const double a = norm(e->job.acc_last[target[i]]);
        least2 = fmin(least2, a * a);
        most2 = fmax(most2, a * a);
    }
    const double sum = fmax(tree_sum_of_sizes(e->whole, centre, sqrt(r2), softening * softening), sqrt(most2));
    return fmax(TREE_LEAST_SHARE * TREE_LEAST_SHARE * sum, least2 / sum);
}

/* Of a tree of all that the host has: the scales of groups that boxes tell are a bound for nine of ten groups, and for
 * none above its scale by a factor of two: bounds of errors are the square root of that above those of one process at
 * most. (Slabs of a plane, whose top cells are long, have the most beyond: 11 of 163, by 1.2.) */
static void scales_are_known_before_trees_come(void **state)
{
    (void)state;
    static const enum scene scenes[] = {SPHERE, TWO, DECADES, BOX, PLANE};
    for (size_t k = 0; k < sizeof scenes / sizeof scenes[0]; k++) {
        struct model m = make_scene(scenes[k], N);
        struct parts p = make_parts(8, &m, 1, usual);
        size_t groups = 0, beyond = 0;
        double most = 0;
        assert_int_equal(make_force(&p, softening, 1), NBC_OK);
        for (int part = 0; part < p.n; part++) {
            const struct gpunb_essential *e = p.part[part].essential;
            for (size_t b = 0; b < e->boxes; b++) {
                int64_t first, end;
                nbc_range((int64_t)e->groups.n, (int)b, (int)e->boxes, &first, &end);
                for (int64_t g = first; g < end; g++, groups++) {
                    const double over = e->box[b].scale / scale_of_group(e, &e->groups.group[g]);
                    beyond += over > 1;
                    most = fmax(most, over);
                }
            }
        }
        assert_true(most < 2 && beyond <= groups / 10);
        free_parts(&p);
        free_model(&m);
    }
}

/* ---- what devices make of their own trees */

/* The host reads the own tree, and makes of it what it sends, or measures, itself. */
static void read_tree(struct gpunb_essential *e)
{
    struct gpunb *h = e->handle;
    assert_int_equal(h->tree->method->device->fetch(h->state, e->local, &h->error), NBC_OK);
    e->stage = ESSENTIAL_PLAN;
}

/* Groups hold all targets, and know the sums of sizes of own cells to some percent, as walks do (accept.h). */
static void check_measures(const struct gpunb_essential *e, const struct essential_measure *measure)
{
    double least2 = INFINITY, most2 = 0, least = INFINITY, most = 0, low[3], high[3];
    memcpy(low, measure[0].low, sizeof low);
    memcpy(high, measure[0].high, sizeof high);
    for (size_t g = 0; g < e->n_groups; g++) {
        const struct essential_measure *m = &measure[g];
        double centre[3], r2 = 0;
        for (int k = 0; k < 3; k++) {
            low[k] = fmin(low[k], m->low[k]);
            high[k] = fmax(high[k], m->high[k]);
            centre[k] = 0.5 * m->low[k] + 0.5 * m->high[k];
            r2 += (m->high[k] - centre[k]) * (m->high[k] - centre[k]);
        }
        const double sum = tree_sum_of_sizes(e->local, centre, sqrt(r2), softening * softening);
        assert_true(fabs(m->sum - sum) <= 0.02 * sum);
        least2 = fmin(least2, m->least2);
        most2 = fmax(most2, m->most2);
    }
    for (size_t i = 0; i < e->job.n_i; i++) {
        const double *a = e->job.acc_last[i], a2 = a[0] * a[0] + a[1] * a[1] + a[2] * a[2];
        least = fmin(least, a2);
        most = fmax(most, a2);
        for (int k = 0; k < 3; k++) {
            const double x = e->job.x[i][k], rounding = 0x1p-24 * fabs(x); /* places may be those of floats */
            assert_true(x >= low[k] - rounding && x <= high[k] + rounding);
        }
    }
    assert_true(least2 == least && most2 == most);
}

static void check_sent(struct parts *p, int from, int to)
{
    struct gpunb_essential *e = p->part[from].essential;
    const struct gpunb_essential_box *boxes = gpunb_essential_boxes(p->part[to].essential);
    struct gpunb_essential_counts before, between, after;
    const void *data, *by_host;
    size_t bytes, by_host_bytes;
    gpunb_essential_get_counts(e, &before);
    assert_int_equal(gpunb_essential_export(e, to, boxes, &data, &bytes), NBC_OK);
    gpunb_essential_get_counts(e, &between);
    read_tree(e);
    assert_int_equal(gpunb_essential_export(e, to, boxes, &by_host, &by_host_bytes), NBC_OK);
    gpunb_essential_get_counts(e, &after);
    e->stage = ESSENTIAL_ANEW;
    assert_int_equal(bytes, by_host_bytes);
    assert_memory_equal(data, by_host, bytes);
    assert_int_equal(between.tested - before.tested, after.tested - between.tested);
}

/* On emulated devices, whose numbers are the host's. */
static void devices_send_what_the_host_would(void **state)
{
    (void)state;
    static const enum scene scenes[] = {SPHERE, TWO, PLANE};
    for (size_t k = 0; k < (TEST_SANITIZED ? 1 : sizeof scenes / sizeof scenes[0]); k++) {
        struct model m = make_scene(scenes[k], TEST_SANITIZED ? 500 : 1000);
        struct parts p = make_parts(3, &m, 1, usual);
        int sent = 0;
        assert_int_equal(make_force(&p, softening, 1), NBC_OK);
        assert_int_equal(begin(&p, softening, 1, 0), NBC_OK);
        tell(&p);
        for (int from = 0; from < p.n; from++) {
            struct gpunb_essential *e = p.part[from].essential;
            struct essential_measure *measure = get(e->n_groups, sizeof *measure);
            memcpy(measure, e->measure, e->n_groups * sizeof *measure);
            for (int to = 0; to < p.n; to++) {
                if (!gpunb_essential_is_sent(e, from, to)) continue;
                check_sent(&p, from, to);
                sent++;
            }
            read_tree(e);
            check_measures(e, measure);
            free(measure);
        }
        assert_true(sent >= 4);
        free_parts(&p);
        free_model(&m);
    }
}

/* Each allocation of a force fails in turn: it is told, and the next force is right. */
static void any_allocation_may_fail(void **state)
{
    (void)state;
    if (!can_fail_alloc()) skip();
    if (!is_best() && !on_devices()) return; /* memory is taken by one source for all processors */
    struct model m = make_scene(SPHERE, 250);
    struct parts sound = make_parts(3, &m, 1, usual);
    assert_int_equal(make_force(&sound, softening, 1), NBC_OK);
    struct forces right = gather(&sound, m.n);
    int status = NBC_NO_MEMORY;
    long k = 0;
    for (; status; k++) {
        struct parts p = make_parts(3, &m, 1, usual);
        fail_alloc(k);
        status = make_force(&p, softening, 1);
        fail_alloc(-1);
        assert_true(status == NBC_OK || status == NBC_NO_MEMORY || (on_devices() && status == NBC_DEVICE));
        assert_int_equal(make_force(&p, softening, 1), NBC_OK);
        struct forces f = gather(&p, m.n);
        assert_same_forces(&f, &right);
        free_forces(&f);
        free_parts(&p);
    }
    assert_true(k > 20);
    free_forces(&right);
    free_parts(&sound);
    free_model(&m);
}

static void only_trees_in_memory_are_divided(void **state)
{
    (void)state;
    struct gpunb_essential *e = NULL;
    gpunb_t *h = NULL;
    assert_int_equal(gpunb_create(&h, 1, &(struct gpunb_options){.backend = backend}, NULL), NBC_OK);
    assert_int_equal(gpunb_essential_open(&e, h, 2, 0), NBC_BAD_STATE);
    assert_null(e);
    gpunb_free(h);
}

static int run_suite(const char *title)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(errors_are_within_the_aim),
                                       cmocka_unit_test(parts_may_be_anywhere),
                                       cmocka_unit_test(one_part_is_a_tree),
                                       cmocka_unit_test(far_parts_are_one_cell),
                                       cmocka_unit_test(near_parts_send_a_part),
                                       cmocka_unit_test(any_allocation_may_fail),
                                       cmocka_unit_test(only_trees_in_memory_are_divided),
                                       cmocka_unit_test(lists_serve_bodies_that_move)};
    const struct CMUnitTest on_processors[] = {cmocka_unit_test(scales_are_known_before_trees_come)};
    const struct CMUnitTest on_emulated[] = {cmocka_unit_test(devices_send_what_the_host_would)};
    int failed = cmocka_run_group_tests_name(title, tests, NULL, NULL);
    if (!on_devices()) failed += cmocka_run_group_tests_name(title, on_processors, NULL, NULL);
    if (!strcmp(backend, "emulated")) failed += cmocka_run_group_tests_name(title, on_emulated, NULL, NULL);
    return failed;
}

int main(int argc, char **argv)
{
    return run_trees_on_backends(argc, argv, "trees of parts", run_suite);
}
