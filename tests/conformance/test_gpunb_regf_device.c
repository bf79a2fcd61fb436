/* Regular forces of sources in the memory of a device (gpunb/regf_device.h), on emulated devices, one, two and three of
 * them, and on a GPU where there is one: forces and lists of the reference, for all sources as targets and for a few,
 * in any order; rows that are too short, and the same targets again with smaller spheres; neighbours at the
 * edge; sources that take no part; the same by a tree; refusals. */
#include "tests/conformance/regf_device_bench.h"

/* All sources, then each third one, in the order of numbers and in another one: bits are the same. */
static void check_orders(struct bench *b, const struct model *m, const struct result *r)
{
    for (size_t step = 1; step <= 3; step += 2) {
        const size_t n_i = (m->n + step - 1) / step;
        struct gpunb_dev_sum *first = get(m->n, sizeof *first);
        for (size_t k = 0; k < n_i; k++) ask(b, m, k, k * step);
        call(b, n_i);
        for (size_t k = 0; k < n_i; k++) {
            compare(b, r, k);
            first[k * step] = b->asked[k].sum;
        }
        for (size_t k = 0; k < n_i; k++) ask(b, m, k, (k * 7 + 5) % n_i * step);
        call(b, n_i);
        for (size_t k = 0; k < n_i; k++)
            assert_memory_equal(&b->asked[k].sum, &first[b->asked[k].source], sizeof *first);
        free(first);
    }
}

static void forces_and_lists(void **state)
{
    (void)state;
    for (enum set set = PLUMMER; set < N_SETS; set++)
        for (int weighted = 0; weighted < 2; weighted++) {
            if (weighted != (int)set % 2 && !test_seeds(0, 1)) continue;
            /* Two rounds of one set: the others differ in their numbers only. */
            struct model m = make_model(set, (size_t)(N / test_size(set == PLUMMER ? 1 : test_seeds(2, 1), 4)));
            round_model(&m);
            if (set == OUTLIER) m.x[m.n / 2][0] = 1e5;
            struct gpunb_dev_source *source = records_of(&m, weighted);
            for (size_t i = 0; weighted && i < m.n; i++) m.r_nb2[i] /= (double)source[i].mass * 10;
            struct result r = reference(&m, weighted);
            for (int k = 0; k < NAMES; k++) {
                if (!is_here(names[k])) continue;
                struct bench b = open_bench(names[k], source, m.n, weighted);
                check_orders(&b, &m, &r);
                close_bench(&b);
            }
            free_result(&r);
            free(source);
            free_model(&m);
        }
}

/* Pairs of groups that are apart, in the scratch of a call that has all sources as targets, on an emulated device. */
static int64_t pairs_apart(const struct bench *b)
{
    struct gpunb_dev_job job = {0};
    struct nbd_supply scratch = {.next = b->job.scratch};
    const int64_t groups = gpunb_dev_groups((int64_t)b->job.n_j, (int64_t)b->job.n_j);
    int64_t pairs = 0;
    gpunb_dev_lay_out(&job, &scratch, b->job.n_j, 1, NBD_EMULATED_MULTIPROCESSORS);
    for (int64_t word = 0; word < groups * gpunb_dev_words(groups); word++)
        pairs += __builtin_popcount(job.sums.apart[word]);
    return pairs / 2;
}

/* With small spheres and short steps many pairs of targets are summed once for both: of so few groups a quarter. */
static void pairs_once(void **state)
{
    (void)state;
    struct model m = make_model(PLUMMER, N);
    round_model(&m);
    for (size_t i = 0; i < m.n; i++) {
        m.r_nb2[i] /= 400;
        m.dt[i] /= 64;
    }
    struct gpunb_dev_source *source = records_of(&m, 0);
    struct result r = reference(&m, 0);
    const int64_t groups = gpunb_dev_groups(N, N);
    for (int k = 0; k < NAMES; k++) {
        if (!is_here(names[k])) continue;
        struct bench b = open_bench(names[k], source, m.n, 0);
        check_orders(&b, &m, &r);
        for (size_t i = 0; i < m.n; i++) ask(&b, &m, i, i);
        call(&b, m.n);
        if (k == 0) assert_in_range(pairs_apart(&b), groups * (groups - 1) / 10, groups * (groups - 1) / 2);
        close_bench(&b);
    }
    free_result(&r);
    free(source);
    free_model(&m);
}

/* Rows that are too short: counts are right; the same targets with smaller spheres, without a sort. */
static void again(void **state)
{
    (void)state;
    struct model m = make_model(PLUMMER, (size_t)(N / test_size(1, 4)));
    round_model(&m);
    struct gpunb_dev_source *source = records_of(&m, 0);
    struct result all = reference(&m, 0);
    for (int k = 0; k < NAMES; k++) {
        if (!is_here(names[k])) continue;
        struct bench b = open_bench(names[k], source, m.n, 0);
        size_t n = 0;
        b.job.row_room = m.n / 100;
        for (size_t i = 0; i < m.n; i++) ask(&b, &m, i, i);
        call(&b, m.n);
        for (size_t i = 0; i < m.n; i++) compare(&b, &all, i);
        for (size_t i = 0; i < m.n; i++) m.r_nb2[i] /= 9;
        struct result smaller = reference(&m, 0);
        for (size_t i = m.n; i-- > 0;)
            if ((size_t)all.nnb[i] > b.job.row_room) ask(&b, &m, n++, i);
        assert_in_range(n, 10, m.n - 1);
        b.job.is_again = 1;
        call(&b, n);
        for (size_t i = 0; i < n; i++) compare(&b, &smaller, i);
        for (size_t i = 0; i < m.n; i++) m.r_nb2[i] *= 9;
        free_result(&smaller);
        close_bench(&b);
    }
    free_result(&all);
    free(source);
    free_model(&m);
}

/* A grid of whole numbers whose spheres pass through sources, or by a rounding of a double beside them, now or after a
 * step. */
static void at_the_edge(void **state)
{
    (void)state;
    enum { SIDE = 11, ALL = SIDE * SIDE * SIDE };
    struct model m = make_model(PLUMMER, ALL);
    for (int i = 0; i < ALL; i++) {
        const double r2 = 1 + i % 13;
        m.x[i][0] = i % SIDE;
        m.x[i][1] = i / SIDE % SIDE;
        m.x[i][2] = i / SIDE / SIDE;
        for (int k = 0; k < 3; k++) m.v[i][k] = (i * (k + 3)) % 5 - 2;
        m.mass[i] = 1;
        m.dt[i] = i % 2 ? 0.5 : 0;
        m.r_nb2[i] = i % 3 == 0 ? r2 : i % 3 == 1 ? nextafter(r2, 100) : nextafter(r2, 0);
    }
    struct gpunb_dev_source *source = records_of(&m, 0);
    struct result r = reference(&m, 0);
    for (int k = 0; k < NAMES; k++) {
        if (!is_here(names[k])) continue;
        struct bench b = open_bench(names[k], source, ALL, 0);
        for (size_t i = 0; i < ALL; i++) ask(&b, &m, i, i);
        call(&b, ALL);
        for (size_t i = 0; i < ALL; i++) compare(&b, &r, i);
        close_bench(&b);
    }
    free_result(&r);
    free(source);
    free_model(&m);
}

/* Sources that take no part are no neighbours of anybody, and act on nobody. */
static void absent_sources(void **state)
{
    (void)state;
    struct model m = make_model(PLUMMER, 700), less = make_model(PLUMMER, 700);
    size_t n = 0;
    round_model(&m);
    struct gpunb_dev_source *source = records_of(&m, 0);
    for (size_t i = 0; i < m.n; i++) {
        if (i % 3 == 0) {
            const double away[3] = {GPUNB_DEV_FAR, GPUNB_DEV_FAR, GPUNB_DEV_FAR}, at_rest[3] = {0, 0, 0};
            source[i] = gpunb_dev_source_at(away, at_rest, 0, 0);
            continue;
        }
        memcpy(less.x[n], m.x[i], sizeof *m.x);
        memcpy(less.v[n], m.v[i], sizeof *m.v);
        less.mass[n] = m.mass[i];
        less.r_nb2[n] = m.r_nb2[i];
        less.dt[n] = m.dt[i];
        less.self[n] = (int32_t)n;
        n++;
    }
    less.n = n;
    struct result r = reference(&less, 0);
    for (int k = 0; k < NAMES; k++) {
        if (!is_here(names[k])) continue;
        struct bench b = open_bench(names[k], source, m.n, 0);
        for (size_t i = 0; i < n; i++) ask(&b, &m, i, i / 2 * 3 + 1 + i % 2);
        call(&b, n);
        for (size_t i = 0; i < n; i++) {
            double d[3];
            for (int c = 0; c < 3; c++) d[c] = b.asked[i].sum.acc[c] - r.acc[i][c];
            assert_int_equal(b.asked[i].count, r.nnb[i]);
            assert_true(norm(d) <= acc_bound * (1 + norm(r.acc[i])));
        }
        close_bench(&b);
    }
    free_result(&r);
    free(source);
    less.n = m.n;
    free_model(&less);
    free_model(&m);
}

/* By tree: lists of the reference, forces within the aim, without and with last accelerations, in any order of the
 * targets; sources that take no part; the same targets again with smaller spheres. */
static const double aim = 1e-3;

static int by_value(const void *a, const void *b)
{
    const double p = *(const double *)a, q = *(const double *)b;
    return (p > q) - (p < q);
}

/* Forces and lists on targets asked[0 .. n - 1], each of which is the same source of the reference; 99 of 100 within
 * the aim, and jerks within 30 times it (gpunb/tree.h). */
static void compare_by_tree(const struct bench *b, const struct result *r, const int32_t *number, size_t n)
{
    double *acc = get(n, 8), *jerk = get(n, 8);
    for (size_t k = 0; k < n; k++) {
        const struct gpunb_dev_asked *asked = &b->asked[k];
        const size_t i = (size_t)number[asked->source];
        double da[3], dj[3];
        for (int c = 0; c < 3; c++) {
            da[c] = asked->sum.acc[c] - r->acc[i][c];
            dj[c] = asked->sum.jerk[c] - r->jerk[i][c];
        }
        acc[k] = norm(da) / norm(r->acc[i]);
        jerk[k] = norm(dj) / norm(r->jerk[i]);
        assert_int_equal(asked->count, r->nnb[i]);
        const int32_t *row = b->lists + (size_t)asked->row * b->job.row_room;
        for (int32_t m = 0; m < asked->count && (size_t)asked->count <= b->job.row_room; m++)
            assert_int_equal(number[row[m]], r->list[i * r->cap + (size_t)m]);
    }
    qsort(acc, n, sizeof *acc, by_value);
    qsort(jerk, n, sizeof *jerk, by_value);
    assert_true(acc[n * 99 / 100] <= aim && jerk[n * 99 / 100] <= 30 * aim);
    free(acc);
    free(jerk);
}

/* Every third source takes no part; `number` has that of the others in a model without them.   @return their number */
static size_t leave_out(const struct model *m, struct gpunb_dev_source *source, struct model *less, int32_t *number)
{
    const double away[3] = {GPUNB_DEV_FAR, GPUNB_DEV_FAR, GPUNB_DEV_FAR}, at_rest[3] = {0, 0, 0};
    size_t n = 0;
    for (size_t i = 0; i < m->n; i++) {
        number[i] = i % 3 ? (int32_t)n : -1;
        if (i % 3 == 0) source[i] = gpunb_dev_source_at(away, at_rest, 0, 0);
        if (i % 3 == 0) continue;
        memcpy(less->x[n], m->x[i], sizeof *m->x);
        memcpy(less->v[n], m->v[i], sizeof *m->v);
        less->mass[n] = m->mass[i];
        less->r_nb2[n] = m->r_nb2[i];
        less->dt[n] = m->dt[i];
        less->self[n] = (int32_t)n;
        n++;
    }
    return less->n = n;
}

static void by_tree(void **state)
{
    (void)state;
    enum { MANY = 2400, SHORT = 100 };
    struct model m = make_model(PLUMMER, MANY), less = make_model(PLUMMER, MANY);
    int32_t *number = get(MANY, 4);
    round_model(&m);
    struct gpunb_dev_source *source = records_of(&m, 0);
    const size_t n = leave_out(&m, source, &less, number);
    struct result all = reference(&less, 0);
    for (size_t i = 0; i < n; i++) less.r_nb2[i] /= 9;
    struct result smaller = reference(&less, 0);
    for (int k = 0; k < NAMES; k++) {
        if (!is_here(names[k])) continue;
        struct bench b = open_with(names[k], source, MANY, 0, aim);
        struct gpunb_dev_sum *first = get(MANY, sizeof *first);
        b.job.row_room = SHORT;
        for (int pass = 0; pass < 3; pass++) { /* the last one again, in another order */
            for (size_t i = 0; i < n; i++) {
                const size_t at = pass == 2 ? (i * 7 + 5) % n : i, j = at / 2 * 3 + 1 + at % 2;
                ask(&b, &m, i, j);
                b.asked[i].size_last = pass > 0 ? (float)norm(all.acc[at]) : 0;
            }
            b.job.has_last = pass > 0;
            call(&b, n);
            compare_by_tree(&b, &all, number, n);
            for (size_t i = 0; i < n && pass == 2; i++)
                assert_memory_equal(&b.asked[i].sum, &first[b.asked[i].source], sizeof *first);
            for (size_t i = 0; i < n; i++) first[b.asked[i].source] = b.asked[i].sum;
        }
        for (size_t i = 0; i < n; i++) {
            ask(&b, &m, i, i / 2 * 3 + 1 + i % 2);
            b.asked[i].r_nb2 /= 9;
            b.asked[i].size_last = (float)norm(all.acc[i]);
        }
        b.job.is_again = 1;
        call(&b, n);
        compare_by_tree(&b, &smaller, number, n);
        free(first);
        close_bench(&b);
    }
    free_result(&all);
    free_result(&smaller);
    free(source);
    free(number);
    less.n = m.n;
    free_model(&less);
    free_model(&m);
}

/* Scratch for more sources is enough for fewer. */
static void scratch_grows(void **state)
{
    (void)state;
    for (int gpus = 1; gpus <= 3; gpus += test_size(1, 2)) {
        const char *const backends[] = {"emulated:0", "emulated:0,1", "emulated:0,1,2"};
        const struct gpunb_options options = {.backend = backends[gpus - 1]};
        gpunb_t *handle;
        size_t before = 0, bytes;
        assert_int_equal(gpunb_create(&handle, 1, &options, NULL), NBC_OK);
        for (size_t n = 1; n <= (size_t)1 << 22; n += 1 + n / (size_t)test_seeds(2, 64)) {
            assert_int_equal(gpunb_regf_device_bytes(handle, n, &bytes), NBC_OK);
            assert_true(bytes >= before);
            before = bytes;
        }
        gpunb_free(handle);
    }
}

static void refusals(void **state)
{
    (void)state;
    struct model m = make_model(PLUMMER, 100);
    struct gpunb_dev_source *source = records_of(&m, 0);
    struct bench b = open_bench("emulated:0", source, m.n, 0);
    struct gpunb_regf_device job = b.job;
    size_t bytes;
    gpunb_t *cpu = NULL;
    job.n_i = 1;
    assert_int_equal(gpunb_regf_device(b.handle, NULL, b.stream), NBC_BAD_ARGUMENT);
    job.n_i = m.n + 1;
    assert_int_equal(gpunb_regf_device(b.handle, &job, b.stream), NBC_BAD_ARGUMENT);
    job.n_i = 1;
    job.scratch_bytes = 1000;
    assert_int_equal(gpunb_regf_device(b.handle, &job, b.stream), NBC_BAD_ARGUMENT);
    job = b.job;
    job.n_i = 1;
    job.lists = NULL;
    assert_int_equal(gpunb_regf_device(b.handle, &job, b.stream), NBC_BAD_ARGUMENT);
    assert_non_null(strstr(gpunb_last_error(b.handle), "lists"));
    job = b.job;
    job.n_i = 1;
    job.n_j = 1000000;
    assert_int_equal(gpunb_regf_device(b.handle, &job, b.stream), NBC_BAD_STATE);
    assert_int_equal(gpunb_regf_device_bytes(b.handle, (size_t)1 << 40, &bytes), NBC_BAD_ARGUMENT);
    assert_int_equal(gpunb_create(&cpu, 1, &(struct gpunb_options){.backend = "ref"}, NULL), NBC_OK);
    assert_int_equal(gpunb_regf_device_bytes(cpu, 10, &bytes), NBC_UNAVAILABLE);
    assert_int_equal(gpunb_regf_device(cpu, &b.job, b.stream), NBC_OK); /* no targets */
    assert_int_equal(gpunb_regf_device(cpu, &job, b.stream), NBC_UNAVAILABLE);
    gpunb_free(cpu);
    close_bench(&b);
    free(source);
    free_model(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forces_and_lists), cmocka_unit_test(pairs_once),     cmocka_unit_test(again),
        cmocka_unit_test(at_the_edge),      cmocka_unit_test(absent_sources), cmocka_unit_test(by_tree),
        cmocka_unit_test(scratch_grows),    cmocka_unit_test(refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
