/* GPUNB: the same suite for every backend and precision of this machine, against sums in long double. `ref` goes
 * through it like the others, with tolerances of double arithmetic. */
#include "common/nbc.h"
#include "gpunb/backend.h"
#include "tests/conformance/gpunb_model.h"
#include "tests/support/environment.h"

#include <omp.h>

/* Unit roundoff of the differences and products of the precision under test. */
static double roundoff(void)
{
    return precision == GPUNB_DOUBLE ? 0x1p-53 : 0x1p-24;
}

/* Bounds, relative to the sum of the magnitudes of all pair terms, because terms of opposite direction cancel:
 * 3e-6 and 3e-7 are what the integrator needs of the regular force (float is used where near pairs are excluded);
 * 1e-5 for the jerk, whose velocities are rounded to float; double: a few thousand roundings of 1e-16. */
static double acc_bound(void)
{
    return precision == GPUNB_FLOAT ? 3e-6 : precision == GPUNB_TWOFLOAT ? 3e-7 : 1e-13;
}

static double jerk_bound(void)
{
    return precision == GPUNB_DOUBLE ? 1e-13 : 1e-5;
}

/* What rounding may change in min(r^2, p^2) of a pair: errors of the distance, of the predicted distance, of the
 * squares. */
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

static void assert_same_row(const struct result *a, size_t row_a, const struct result *b, size_t row_b)
{
    assert_memory_equal(a->acc[row_a], b->acc[row_b], sizeof a->acc[0]);
    assert_memory_equal(a->jerk[row_a], b->jerk[row_b], sizeof a->jerk[0]);
    assert_memory_equal(&a->pot[row_a], &b->pot[row_b], sizeof a->pot[0]);
    assert_int_equal(a->nnb[row_a], b->nnb[row_b]);
    assert_memory_equal(a->list + row_a * a->cap, b->list + row_b * b->cap, (size_t)a->nnb[row_a] * sizeof(int32_t));
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
    int gpu = !strcmp(backend, "cuda"), slow = !strcmp(backend, "ref") || !strcmp(backend, "portable");
#if defined(__SANITIZE_ADDRESS__)
    slow = 1;
#endif
    for (int set = 0; set < N_SETS; set++) {
        check_large((enum set)set, 20011, slow ? 500 : 3001, 0);
        check_large((enum set)set, 20011, slow ? 33 : 8193, 1);
        if (gpu) check_large((enum set)set, 200003, 1000, 0);
        if (gpu) check_large((enum set)set, 200003, 20001, set == MASSES);
    }
    if (!slow) check_large(PLUMMER, 200003, 1000, 0);
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

/* Bit for bit the same: repeated, with 1 to 8 threads, and on a processor whatever block of few, or of many, targets a
 * target is in: for many the sources are sorted. (A GPU cuts the sources into as many parts as fill it, so there the
 * sums depend on the size of the block.) */
static void test_same_bits(void **state)
{
    (void)state;
    struct model m = make_model(MASSES, 9001);
    gpunb_t *h = make_handle(m.n, 0);
    assert_int_equal(call_send(h, &m), NBC_OK);
    int threads_before = omp_get_max_threads(), any_block = strcmp(backend, "cuda") != 0;
    static const size_t blocks[] = {1, 2, 5, 24, 120, 450, 500};
    enum { FEW = 5 }; /* blocks */
    struct result few = make_result(120, 2000), many = make_result(500, 2000);
    omp_set_num_threads(1);
    assert_int_equal(call_regf(h, &m, 0, &few), NBC_OK);
    assert_int_equal(call_regf(h, &m, 0, &many), NBC_OK);
    for (int threads = 1; threads <= 8; threads++) {
        omp_set_num_threads(threads);
        for (size_t b = any_block ? 0 : FEW + 1; b < sizeof blocks / sizeof blocks[0]; b++) {
            const struct result *first = b < FEW ? &few : &many;
            size_t offset = (size_t)threads * 3 % (first->n_i + 1 - blocks[b]);
            struct result r = make_result(blocks[b], 2000);
            assert_int_equal(call_send(h, &m), NBC_OK);
            assert_int_equal(call_regf(h, &m, offset, &r), NBC_OK);
            for (size_t i = 0; i < r.n_i; i++) assert_same_row(&r, i, first, offset + i);
            free_result(&r);
        }
    }
    omp_set_num_threads(threads_before);
    free_result(&few);
    free_result(&many);
    free_model(&m);
    gpunb_free(h);
}

static void test_overflow(void **state)
{
    (void)state;
    struct model m = make_model(PLUMMER, 5000);
    gpunb_t *h = make_handle(m.n, 0);
    assert_int_equal(call_send(h, &m), NBC_OK);
    static const size_t blocks[] = {1, 7, 600};
    for (int b = 0; b < 3; b++) {
        struct result full = make_result(blocks[b], m.n), small = make_result(blocks[b], 20);
        m.r_nb2[0] = 1e4;
        assert_int_equal(call_regf(h, &m, 0, &full), NBC_OK);
        assert_int_equal(full.nnb[0], m.n - 1);
        small.list[blocks[b] * 20] = -5; /* the first element past the end */
        assert_int_equal(call_regf(h, &m, 0, &small), NBC_NB_OVERFLOW);
        assert_non_null(strstr(gpunb_last_error(h), "target 0 with 4999"));
        assert_int_equal(small.list[blocks[b] * 20], -5);
        for (size_t i = 0; i < blocks[b]; i++) {
            assert_int_equal(small.nnb[i], full.nnb[i]);
            if (small.nnb[i] <= 20) assert_same_row(&small, i, &full, i);
        }
        free_result(&full);
        free_result(&small);
    }
    free_model(&m);
    gpunb_free(h);
}

/* A number that is not finite, or too large, is named, and nothing changes. */
static void test_refuses_numbers(void **state)
{
    (void)state;
    struct model m = make_model(PLUMMER, 50);
    gpunb_t *h = make_handle(m.n, 0);
    struct result before = make_result(50, 50), r = make_result(50, 50);
    assert_int_equal(call_send(h, &m), NBC_OK);
    assert_int_equal(call_regf(h, &m, 0, &before), NBC_OK);
    assert_int_equal(call_regf(h, &m, 0, &r), NBC_OK);
    const struct {
        double *where;
        const char *sent, *target;
    } cases[] = {{&m.mass[7], "mass of source 7 ", NULL},
                 {&m.x[49][2], "x[2] of source 49 ", "x_i[2] of target 49 "},
                 {&m.v[0][1], "v[1] of source 0 ", "v_i[1] of target 0 "},
                 {&m.r_nb2[3], NULL, "r_nb2 of target 3 "},
                 {&m.dt[4], NULL, "dt_reg of target 4 "}};
    static const double values[] = {NAN, INFINITY, -INFINITY};
    for (size_t c = 0; c < 5; c++) {
        double good = *cases[c].where;
        for (int k = 0; k < 3; k++) {
            *cases[c].where = values[k];
            if (cases[c].target) {
                int status = call_regf(h, &m, 0, &r);
                /* An infinite sphere or step is out of range as well as not finite: either is a refusal. */
                assert_int_equal(status, NBC_NON_FINITE);
                assert_non_null(strstr(gpunb_last_error(h), cases[c].target));
            }
            if (cases[c].sent) {
                assert_int_equal(call_send(h, &m), NBC_NON_FINITE);
                assert_non_null(strstr(gpunb_last_error(h), cases[c].sent));
            }
        }
        *cases[c].where = good;
        for (size_t i = 0; i < m.n; i++) assert_same_row(&r, i, &before, i);
    }
    m.x[5][0] = 1e16;
    assert_int_equal(call_send(h, &m), NBC_BAD_ARGUMENT);
    assert_non_null(strstr(gpunb_last_error(h), "x[0] of source 5 "));
    m.x[5][0] = 0.5;
    m.r_nb2[9] = -1.0;
    assert_int_equal(call_regf(h, &m, 0, &r), NBC_BAD_ARGUMENT);
    m.r_nb2[9] = 1.0;
    assert_int_equal(call_regf(h, &m, 0, &r), NBC_OK); /* the sources of the last good call are still there */
    free_result(&before);
    free_result(&r);
    free_model(&m);
    gpunb_free(h);
}

/* Whatever finite numbers come in, finite numbers come out. */
static void test_no_nan_from_finite(void **state)
{
    (void)state;
    for (int round = 0; round < 40; round++) {
        struct model m = make_model(PLUMMER, 60);
        random_state += (uint64_t)round * 7919u;
        for (size_t i = 0; i < m.n; i++) {
            for (int k = 0; k < 3; k++) {
                m.x[i][k] *= pow(10.0, 28.0 * uniform() - 14.0);
                m.v[i][k] *= pow(10.0, 28.0 * uniform() - 14.0);
            }
            m.mass[i] *= pow(10.0, 28.0 * uniform() - 14.0);
            m.r_nb2[i] = round % 2 ? pow(10.0, 600.0 * uniform() - 300.0) : 0.0;
            m.dt[i] = pow(10.0, 600.0 * uniform() - 300.0);
        }
        gpunb_t *h = make_handle(m.n, round % 3 == 0);
        struct result r = make_result(m.n, m.n);
        assert_int_equal(call_send(h, &m), NBC_OK);
        assert_int_equal(call_regf(h, &m, 0, &r), NBC_OK);
        for (size_t i = 0; i < m.n; i++) {
            assert_true(isfinite(r.pot[i]));
            for (int k = 0; k < 3; k++) assert_true(isfinite(r.acc[i][k]) && isfinite(r.jerk[i][k]));
        }
        assert_int_equal(gpunb_potential(h, 0, m.n, m.n, m.mass, (const double(*)[3])m.x, r.pot), NBC_OK);
        for (size_t i = 0; i < m.n; i++) assert_true(isfinite(r.pot[i]));
        free_result(&r);
        free_model(&m);
        gpunb_free(h);
    }
}

static void test_bad_arguments(void **state)
{
    (void)state;
    struct model m = make_model(PLUMMER, 20);
    gpunb_t *h = make_handle(10, 0);
    struct result r = make_result(20, 20);
    assert_int_equal(call_regf(h, &m, 0, &r), NBC_BAD_STATE);
    assert_int_equal(call_send(h, &m), NBC_BAD_ARGUMENT); /* 20 sources where 10 were announced */
    assert_non_null(strstr(gpunb_last_error(h), "20"));
    m.n = 10;
    assert_int_equal(call_send(h, &m), NBC_OK);
    m.self[4] = 10;
    assert_int_equal(call_regf(h, &m, 0, &r), NBC_BAD_ARGUMENT);
    m.self[4] = -2;
    assert_int_equal(call_regf(h, &m, 0, &r), NBC_BAD_ARGUMENT);
    m.self[4] = 4;
    r.n_i = 10;
    r.cap = 0;
    assert_int_equal(call_regf(h, &m, 0, &r), NBC_BAD_ARGUMENT);
    r.cap = 20;
    assert_int_equal(gpunb_regf(h, 1, NULL, m.r_nb2, m.dt, NULL, NULL, r.acc, r.jerk, NULL, 1, r.nnb, r.list),
                     NBC_BAD_ARGUMENT);
    assert_int_equal(gpunb_send(h, 1, NULL, NULL, NULL), NBC_BAD_ARGUMENT);
    assert_int_equal(gpunb_potential(h, 5, 6, 10, m.mass, (const double(*)[3])m.x, r.pot), NBC_BAD_ARGUMENT);
    assert_int_equal(gpunb_regf(NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, NULL, NULL),
                     NBC_BAD_ARGUMENT);
    /* Nothing to do is fine: no targets, then no sources. */
    r.n_i = 0;
    assert_int_equal(call_regf(h, &m, 0, &r), NBC_OK);
    m.n = 0;
    assert_int_equal(call_send(h, &m), NBC_OK);
    r.n_i = 3;
    r.acc[2][1] = 5.0;
    assert_int_equal(gpunb_regf(h, 3, NULL, m.r_nb2, m.dt, (const double(*)[3])m.x, (const double(*)[3])m.v, r.acc,
                                r.jerk, r.pot, r.cap, r.nnb, r.list),
                     NBC_OK);
    assert_true(r.acc[2][1] == 0.0 && r.nnb[2] == 0 && r.pot[2] == 0.0);
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

static void test_statistics(void **state)
{
    (void)state;
    struct model m = make_model(PLUMMER, 100);
    gpunb_t *h = make_handle(m.n, 0);
    struct result r = make_result(30, m.n);
    struct gpunb_stats stats;
    assert_int_equal(call_send(h, &m), NBC_OK);
    assert_int_equal(call_regf(h, &m, 0, &r), NBC_OK);
    assert_int_equal(call_regf(h, &m, 0, &r), NBC_OK);
    gpunb_get_stats(h, &stats);
    assert_int_equal(stats.calls, 2);
    assert_int_equal(stats.targets, 60);
    assert_int_equal(stats.interactions, 6000);
    assert_string_equal(gpunb_info(h)->name, backend);
    free_result(&r);
    free_model(&m);
    gpunb_free(h);
}

/* Least that must travel: a source has three doubles and four floats, a target eight doubles; a result has six, and the
 * steps between neighbours take two bytes each. Sources that a device has already need not go again. */
static void test_traffic(void **state)
{
    (void)state;
    struct model m = make_model(PLUMMER, 1000);
    gpunb_t *h = make_handle(m.n, 0);
    struct result r = make_result(30, m.n);
    struct gpunb_stats created, sent, again, done;
    gpunb_get_stats(h, &created);
    assert_int_equal(call_send(h, &m), NBC_OK);
    gpunb_get_stats(h, &sent);
    assert_int_equal(call_send(h, &m), NBC_OK);
    gpunb_get_stats(h, &again);
    assert_int_equal(call_regf(h, &m, 0, &r), NBC_OK);
    gpunb_get_stats(h, &done);
    uint64_t neighbours = 0, on_device = strcmp(gpunb_info(h)->name, "cuda") == 0;
    for (size_t i = 0; i < r.n_i; i++) neighbours += (uint64_t)r.nnb[i];
    assert_int_equal(created.bytes_sent, 0);
    assert_int_equal(created.bytes_received, 0);
    assert_int_equal(again.bytes_sent, sent.bytes_sent);
    assert_int_equal(again.bytes_received, 0);
    assert_true(sent.bytes_sent >= on_device * m.n * 40);
    assert_true(done.bytes_sent - again.bytes_sent >= on_device * r.n_i * 64);
    assert_true(done.bytes_received >= on_device * (r.n_i * 48 + neighbours * 2));
    if (!on_device) assert_int_equal(done.bytes_sent + done.bytes_received, 0);
    free_result(&r);
    free_model(&m);
    gpunb_free(h);
}

/* The table and the choice of a backend: by name, by environment, the best one. */
static void test_choice(void **state)
{
    (void)state;
    int rows = 0, best = -1, refs = 0;
    for (; gpunb_backend(rows); rows++) {
        const struct gpunb_backend_info *info = gpunb_backend(rows);
        assert_true(info->available == (info->reason[0] == '\0'));
        assert_true(info->ns_per_pair > 0.0);
        if (info->available && best < 0 && strcmp(info->name, "cuda") != 0) best = rows; /* of few sources */
        refs += !strcmp(info->name, "ref") && info->available;
    }
    assert_int_equal(refs, 1);
    assert_null(gpunb_backend(-1));
    assert_null(gpunb_backend(rows));
    static const char *const any[] = {NULL, "", "auto"};
    for (int k = 0; k < 3; k++) {
        gpunb_t *h = NULL;
        struct gpunb_options options = {.backend = any[k]};
        unsetenv("GPUNB_BACKEND");
        assert_int_equal(gpunb_create(&h, 10, &options, NULL), NBC_OK);
        assert_ptr_equal(gpunb_info(h), gpunb_backend(best));
        gpunb_free(h);
        setenv("GPUNB_BACKEND", "ref", 1);
        assert_int_equal(gpunb_create(&h, 10, &options, NULL), NBC_OK);
        assert_string_equal(gpunb_info(h)->name, "ref");
        gpunb_free(h);
    }
    gpunb_t *h = NULL;
    struct nbc_error err = {0};
    setenv("GPUNB_BACKEND", "abacus", 1);
    assert_int_equal(gpunb_create(&h, 10, NULL, &err), NBC_UNAVAILABLE);
    assert_non_null(strstr(err.text, "'abacus' (in $GPUNB_BACKEND)"));
    assert_non_null(strstr(err.text, "portable"));
    unsetenv("GPUNB_BACKEND");
    struct gpunb_options options = {.backend = "ref", .precision = GPUNB_FLOAT};
    assert_int_equal(gpunb_create(&h, 10, &options, &err), NBC_UNAVAILABLE);
    assert_non_null(strstr(err.text, "'float'"));
    assert_int_equal(gpunb_create(&h, (size_t)1 << 40, NULL, &err), NBC_BAD_ARGUMENT);
    assert_int_equal(gpunb_create(NULL, 10, NULL, &err), NBC_BAD_ARGUMENT);
    assert_null(h);
}

/* The table says of each instruction set what the processor and NBC_ISA say; a level that there is not is refused. */
static void test_instruction_sets(void **state)
{
    (void)state;
    char *kept = keep_variable("NBC_ISA");
    gpunb_t *h = NULL;
    struct nbc_error err = {0};
    for (int k = 0; gpunb_backend(k); k++) {
        const struct gpunb_backend_info *info = gpunb_backend(k);
        for (int level = NBC_ISA_AVX2; nbc_isa_name(level); level++) {
            if (strcmp(info->name, nbc_isa_name(level)) != 0 || strcmp(info->reason, "not compiled in") == 0) continue;
            const char *missing = nbc_isa_missing((enum nbc_isa)level);
            assert_string_equal(info->reason, missing ? missing : "");
        }
    }
    set_variable("NBC_ISA", "sse9");
    assert_int_equal(gpunb_create(&h, 10, NULL, &err), NBC_BAD_ARGUMENT);
    assert_non_null(strstr(err.text, "NBC_ISA is 'sse9'"));
    assert_null(h);
    restore_variable("NBC_ISA", kept);
}

static int run_suite(const char *title)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_direct_sum),
        cmocka_unit_test(test_no_spheres),
        cmocka_unit_test(test_closest_pairs),
        cmocka_unit_test(test_self),
        cmocka_unit_test(test_same_bits),
        cmocka_unit_test(test_overflow),
        cmocka_unit_test(test_refuses_numbers),
        cmocka_unit_test(test_no_nan_from_finite),
        cmocka_unit_test(test_bad_arguments),
        cmocka_unit_test(test_potential),
        cmocka_unit_test(test_statistics),
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_traffic),
    };
    return cmocka_run_group_tests_name(title, tests, NULL, NULL);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest choice[] = {cmocka_unit_test(test_choice), cmocka_unit_test(test_instruction_sets)};
    if (argc > 2) cmocka_set_test_filter(argv[2]);
    int failed = cmocka_run_group_tests_name("gpunb choice of backend", choice, NULL, NULL);
    return failed + run_on_backends(argc, argv, "gpunb", run_suite) != 0;
}
