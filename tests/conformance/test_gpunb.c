/* GPUNB: the same suite for every backend and precision of this machine, against sums in long double. `ref` goes
 * through it like the others, with tolerances of double arithmetic. Other promises of the calls are tested in
 * test_gpunb_contract.c. */
#include "tests/conformance/gpunb_model.h"
#include "tests/support/test_size.h"

/* Unit roundoff of the differences and products of the precision under test. */
static double roundoff(void)
{
    return precision == GPUNB_DOUBLE ? 0x1p-53 : 0x1p-24;
}

/* Bounds, relative to the sum of the magnitudes of all pair terms, because terms of opposite direction cancel: those
 * that the library states, which are to be no larger than what the integrator needs of a regular force, 3e-6 (where
 * near pairs are excluded) and 1e-5. */
static double acc_bound(void)
{
    assert_true(nominal_acc > 0 && nominal_acc <= 3e-6);
    return nominal_acc;
}

static double jerk_bound(void)
{
    assert_true(nominal_jerk > 0 && nominal_jerk <= 1e-5);
    return nominal_jerk;
}

/* Rounding error of min(r^2, p^2) of a pair: errors of the distance, of the predicted distance, of the squares. */
static long double rounding_of_min(const struct model *m, size_t i, size_t j, const struct pair *p)
{
    long double eps = 2 * roundoff(), r = sqrtl(p->r2), q = sqrtl(p->p2), least = r < q ? r : q;
    long double shift = eps * (r + q) + 2 * eps * m->dt[i] * (norm(m->v[i]) + norm(m->v[j]));
    if (precision == GPUNB_FLOAT) shift += eps * (norm(m->x[i]) + norm(m->x[j]));
    return 4 * (least * shift + shift * shift);
}

static int in_list(const int32_t *list, int32_t count, int32_t j)
{
    int32_t low = 0, high = count;
    while (low < high) {
        int32_t middle = (low + high) / 2;
        if (list[middle] < j)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && list[low] == j;
}

/* The list of target i is ascending and holds what it must, pairs within rounding of the edge aside. */
static void check_list(const struct model *m, int weighted, size_t i, int has_self, int32_t nnb, const int32_t *list)
{
    for (int32_t k = 0; k < nnb; k++) {
        assert_in_range(list[k], 0, m->n - 1);
        if (k > 0 && list[k] <= list[k - 1]) fail_msg("target %zu: list not ascending at %d", i, (int)k);
        if (has_self && list[k] == m->self[i]) fail_msg("target %zu is in its own list", i);
    }
    for (size_t j = 0; j < m->n; j++) {
        if (has_self && j == i) continue;
        struct pair p = exact_pair(m, i, j);
        long double limit = weighted ? (long double)m->mass[j] * m->r_nb2[i] : m->r_nb2[i];
        long double least = p.r2 < p.p2 ? p.r2 : p.p2;
        if (fabsl(least - limit) <= rounding_of_min(m, i, j, &p) + 8 * roundoff() * limit && limit > 0) continue;
        if ((least < limit) != in_list(list, nnb, (int32_t)j))
            fail_msg("target %zu, source %zu: %s, although min(r2, p2) = %Lg and the limit is %Lg", i, j,
                     least < limit ? "missing" : "listed", least, limit);
    }
}

/* The sums of target i over what is not in its list. */
static void check_sums(const struct model *m, size_t i, const struct result *r, size_t row)
{
    const int32_t *list = r->list + row * r->cap;
    long double acc[3] = {0}, jerk[3] = {0}, pot = 0, acc_scale = 0, jerk_scale = 0, slack = 0, jerk_slack = 0;
    for (size_t j = 0; j < m->n; j++) {
        if (j == i || in_list(list, r->nnb[row], (int32_t)j)) continue;
        struct pair p = exact_pair(m, i, j);
        if (p.r2 <= 0) continue;
        for (int k = 0; k < 3; k++) {
            acc[k] += p.acc[k];
            jerk[k] += p.jerk[k];
        }
        pot += p.pot;
        long double dist = sqrtl(p.r2), speed = norm(m->v[i]) + norm(m->v[j]);
        acc_scale += m->mass[j] / p.r2;
        jerk_scale += 4 * m->mass[j] * speed / (p.r2 * dist);
        /* Positions rounded to float move a pair by this fraction of its distance; a factor 2, 3, 4 in the powers. */
        long double moved = precision == GPUNB_FLOAT ? 0x1p-24 * (norm(m->x[i]) + norm(m->x[j])) / dist : 0;
        slack += 2 * moved * m->mass[j] / p.r2;
        jerk_slack += 4 * moved * 4 * m->mass[j] * speed / (p.r2 * dist);
    }
    double da[3], dj[3];
    for (int k = 0; k < 3; k++) {
        da[k] = (double)(r->acc[row][k] - acc[k]);
        dj[k] = (double)(r->jerk[row][k] - jerk[k]);
    }
    if (!(norm(da) <= acc_bound() * acc_scale + slack))
        fail_msg("target %zu: acceleration is wrong by %g of %Lg", i, norm(da), acc_scale);
    if (!(norm(dj) <= jerk_bound() * jerk_scale + jerk_slack))
        fail_msg("target %zu: jerk is wrong by %g of %Lg", i, norm(dj), jerk_scale);
    if (!(fabsl(r->pot[row] + pot) <= acc_bound() * pot + slack))
        fail_msg("target %zu: potential is wrong by %Lg of %Lg", i, fabsl(r->pot[row] + pot), pot);
}

static void check_block(const struct model *m, int weighted, size_t n_i)
{
    gpunb_t *h = make_handle(m->n, weighted);
    struct result r = make_result(n_i, m->n);
    assert_int_equal(call_send(h, m), NBC_OK);
    int status = call_regf(h, m, 0, &r);
    if (status != NBC_OK) fail_msg("%s", gpunb_last_error(h));
    /* Of large blocks a sample, which hits every place in a group of 16. */
    size_t stride = n_i > 1000 ? 37 : n_i > 100 ? 7 : 1;
    for (size_t i = 0; i < n_i; i += stride) {
        check_list(m, weighted, i, 1, r.nnb[i], r.list + i * r.cap);
        check_sums(m, i, &r, i);
    }
    free_result(&r);
    gpunb_free(h);
}

static void test_against_direct_sum(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 2, 3, 15, 16, 17, 63, 129, 511, 4111};
    for (int set = 0; set < N_SETS; set++) {
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
            struct model m = make_model((enum set)set, sizes[s]);
            const size_t blocks[] = {1, 2, 3, 33, m.n};
            if (few_sizes() && m.n > 1000 && (set != COINCIDENT || (is_slow() && TEST_SANITIZED))) {
                free_model(&m);
                continue; /* the others differ in their numbers only */
            }
            print_message("  %s, %zu stars\n", set_names[set], m.n);
            for (int b = 0; b < 5; b++) {
                if (blocks[b] > m.n || (b < 4 && blocks[b] == m.n)) continue;
                check_block(&m, 0, blocks[b]);
            }
            /* The caller divides by the mean mass. */
            double mean = 0.0;
            for (size_t i = 0; i < m.n; i++) mean += m.mass[i] / (double)m.n;
            for (size_t i = 0; i < m.n; i++) m.r_nb2[i] /= mean;
            if (m.n > 3) m.mass[3] = 0.0;
            check_block(&m, 1, m.n);
            free_model(&m);
        }
    }
}

/* Check of a large block: sums and lists of a sample of its targets. The spheres hold a few hundred stars. */
static void check_large(enum set set, size_t n, size_t n_i, int weighted)
{
    struct model m = make_model(set, n);
    print_message("  %s, %zu stars, %zu targets\n", set_names[set], n, n_i);
    double mean = 0.0;
    for (size_t i = 0; i < n; i++) mean += m.mass[i] / (double)n;
    for (size_t i = 0; i < n; i++) m.r_nb2[i] *= pow(5e4 / (double)n, 2.0 / 3.0) * 0.04 / (weighted ? mean : 1.0);
    gpunb_t *h = make_handle(n, weighted);
    struct result r = make_result(n_i, 3000), again = make_result(n_i, 3000);
    assert_int_equal(call_send(h, &m), NBC_OK);
    int status = call_regf(h, &m, 0, &r);
    /* Target 0 of the outlier set has all stars as neighbours, whatever the capacity. */
    if (status != NBC_OK && status != NBC_NB_OVERFLOW) fail_msg("%s", gpunb_last_error(h));
    assert_int_equal(call_regf(h, &m, 0, &again), status);
    for (size_t i = 0; i < n_i; i++) {
        if ((size_t)r.nnb[i] > r.cap) {
            assert_true(i == 0 && set == OUTLIER && r.nnb[0] == (int32_t)n - 1);
            continue;
        }
        assert_same_row(&r, i, &again, i);
        if (i % (n_i / 12 + 1) != 0) continue;
        check_list(&m, weighted, i, 1, r.nnb[i], r.list + i * r.cap);
        check_sums(&m, i, &r, i);
    }
    free_result(&r);
    free_result(&again);
    free_model(&m);
    gpunb_free(h);
}

/* Sizes at which a GPU sorts sources and targets in space, cuts blocks into pieces, sorts by radix; for the others they
 * are merely large. */
static void test_large(void **state)
{
    (void)state;
    if (is_slow()) TEST_SKIP_SANITIZED();
    int gpu = !strcmp(backend, "cuda"),
        slow = !gpu && (on_devices() || !strcmp(backend, "ref") || !strcmp(backend, "portable"));
    const size_t most = gpu ? 8193 : 4097; /* for a processor, merely more than fit its caches */
    slow |= TEST_SANITIZED;
    for (int set = 0; set < (few_sizes() ? COINCIDENT + 1 : test_seeds(OUTLIER + 1, N_SETS)); set++) {
        check_large((enum set)set, 20011, slow ? 500 : 3001, 0);
        check_large((enum set)set, 20011, slow ? 33 : most, 1);
        if (gpu) check_large((enum set)set, 200003, 1000, 0);
        if (gpu) check_large((enum set)set, 200003, 20001, set == MASSES);
    }
    if (!slow && (gpu || is_best())) check_large(PLUMMER, 200003, 1000, 0);
}

/* Without spheres there is no neighbour, not even at distance zero, and close pairs count. */
static void test_no_spheres(void **state)
{
    (void)state;
    for (int set = 0; set < N_SETS; set++) {
        struct model m = make_model((enum set)set, 700);
        memset(m.r_nb2, 0, m.n * sizeof *m.r_nb2);
        check_block(&m, 0, m.n);
        check_block(&m, 1, m.n);
        free_model(&m);
    }
}

/* Pairs too close for the cube of their distance to fit a float, at positions that two floats hold exactly. */
static void test_closest_pairs(void **state)
{
    (void)state;
    for (int exponent = -30; exponent >= -46; exponent -= 4) {
        struct model m = make_model(PLUMMER, 40);
        memset(m.r_nb2, 0, m.n * sizeof *m.r_nb2);
        memcpy(m.x[1], m.x[0], sizeof m.x[0]);
        m.x[0][0] = m.x[1][0] = 0.5;
        m.x[1][0] += ldexp(1.0, exponent);
        gpunb_t *h = make_handle(m.n, 0);
        struct result r = make_result(2, 1);
        assert_int_equal(call_send(h, &m), NBC_OK);
        assert_int_equal(call_regf(h, &m, 0, &r), NBC_OK);
        assert_int_equal(r.nnb[0] + r.nnb[1], 0);
        for (int k = 0; k < 3; k++) assert_true(isfinite(r.acc[0][k]) && isfinite(r.jerk[0][k]));
        double expected = m.mass[1] / ldexp(1.0, 2 * exponent); /* the rest of the cluster is below 1e-15 of it */
        if (precision != GPUNB_FLOAT && !(fabs(r.acc[0][0] / expected - 1.0) < acc_bound()))
            fail_msg("separation 2^%d: acceleration %g, not %g", exponent, r.acc[0][0], expected);
        free_result(&r);
        free_model(&m);
        gpunb_free(h);
    }
}

/* A target that is not where its source is: excluded by number, not by distance. And no self at all: in its own list.
 */
static void test_self(void **state)
{
    (void)state;
    struct model m = make_model(PLUMMER, 300);
    gpunb_t *h = make_handle(m.n, 0);
    assert_int_equal(call_send(h, &m), NBC_OK);
    struct result r = make_result(m.n, m.n);
    for (size_t i = 0; i < m.n; i++) m.x[i][0] += 1.0; /* targets move, sources stay */
    assert_int_equal(call_regf(h, &m, 0, &r), NBC_OK);
    for (size_t i = 0; i < m.n; i++) {
        assert_false(in_list(r.list + i * r.cap, r.nnb[i], (int32_t)i));
        struct model moved = m;
        double(*sources)[3] = get(m.n, 24);
        for (size_t j = 0; j < m.n; j++) {
            memcpy(sources[j], m.x[j], sizeof m.x[j]);
            if (j != i) sources[j][0] -= 1.0;
        }
        moved.x = sources;
        check_sums(&moved, i, &r, i);
        free(sources);
    }
    for (size_t i = 0; i < m.n; i++) m.x[i][0] -= 1.0;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < m.n; i++) m.self[i] = -1;
        int32_t *self = pass ? m.self : NULL;
        assert_int_equal(gpunb_regf(h, m.n, self, m.r_nb2, m.dt, (const double(*)[3])m.x, (const double(*)[3])m.v,
                                    r.acc, r.jerk, NULL, r.cap, r.nnb, r.list),
                         NBC_OK);
        for (size_t i = 0; i < m.n; i++) {
            assert_true(in_list(r.list + i * r.cap, r.nnb[i], (int32_t)i));
            check_list(&m, 0, i, 0, r.nnb[i], r.list + i * r.cap);
        }
    }
    free_result(&r);
    free_model(&m);
    gpunb_free(h);
}

/* 1e-10 is what an energy check of 1e-8 needs; `ref` is in double. Of the largest set, in which most groups of bodies
 * are far from most others, a sample that hits every place in a group of 64. */
static void test_potential(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 2, 17, 1003, 5000};
    for (int set = 0; set < N_SETS; set++) {
        for (int s = 0; s < 5; s++) {
            struct model m = make_model((enum set)set, sizes[s]);
            const size_t stride = s < 4 ? 1 : 37;
            gpunb_t *h = make_handle(1, 0);
            double *pot = get(m.n, 8);
            size_t first = m.n / 3, count = m.n - first;
            pot[count] = -7.0;
            assert_int_equal(gpunb_potential(h, first, count, m.n, m.mass, (const double(*)[3])m.x, pot), NBC_OK);
            assert_true(pot[count] == -7.0);
            for (size_t i = 0; i < count; i += stride) {
                long double sum = 0;
                for (size_t j = 0; j < m.n; j++) sum += j == first + i ? 0 : exact_pair(&m, first + i, j).pot;
                if (!(fabsl(pot[i] + sum) <= 1e-10L * sum)) fail_msg("potential of %zu is %g", first + i, pot[i]);
            }
            free(pot);
            free_model(&m);
            gpunb_free(h);
        }
    }
}

static int run_suite(const char *title)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_direct_sum), cmocka_unit_test(test_no_spheres),
        cmocka_unit_test(test_closest_pairs),      cmocka_unit_test(test_self),
        cmocka_unit_test(test_potential),          cmocka_unit_test(test_large),
    };
    return cmocka_run_group_tests_name(title, tests, NULL, NULL);
}

int main(int argc, char **argv)
{
    return run_on_backends(argc, argv, "gpunb", run_suite);
}
