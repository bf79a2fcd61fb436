/* Calls whose targets are most of the sources, each where its source is (gpunb/device/whole.h): the forces and lists of
 * other calls. Targets that are elsewhere, twice the same, or no source at all go the other way; so do sums that floats
 * cannot hold. Every call of a device fails in turn. */
#include "device/emulated/emulated.h"
#include "device/faults.h"
#include "gpunb/device/device.h"
#include "gpunb/handle.h"
#include "tests/conformance/gpunb_model.h"
#include "tests/support/test_size.h"

enum { N = 700, FIRST_LISTS = 16, LISTS = 3000 };

static const char *const names[] = {"emulated", "emulated:1,0", "emulated:2,3,1"};

/* GPUs, where they are: many stars as well. */
static const struct {
    const char *name;
    size_t n;
} on_gpus[] = {{"cuda:0", N}, {"cuda:0", 40000}, {"cuda:0,1", N}, {"cuda:1,0", 40000}};

/* Whether the last call was a whole one. */
static int was_whole(const gpunb_t *h)
{
    return ((const struct device_state *)h->state)->call.whole;
}

/* @param[in] is_whole  0: calls never are */
static gpunb_t *open_for(const char *name, size_t n, int weighted, int is_whole)
{
    gpunb_t *h = NULL;
    struct nbc_error err = {0};
    const struct gpunb_options options = {.backend = name, .mass_weighted = weighted};
    if (gpunb_create(&h, n, &options, &err)) fail_msg("%s", err.text);
    struct device_state *devices = h->state;
    devices->whole_pairs = is_whole ? 1 : 1e300;
    devices->list_cap = FIRST_LISTS;
    return h;
}

static gpunb_t *open_handle(const char *name, int weighted, int is_whole)
{
    return open_for(name, N, weighted, is_whole);
}

/* Spheres that hold some dozen stars. */
static struct model make_many(size_t n, int weighted)
{
    struct model m = make_model(MASSES, n);
    for (size_t i = 0; i < n; i++) {
        m.r_nb2[i] *= pow((double)N / (double)n, 2.0 / 3.0);
        m.r_nb2[i] /= weighted ? m.mass[i] * 20 : 30;
        m.dt[i] /= 16;
    }
    return m;
}

static struct model make_stars(int weighted)
{
    return make_many(N, weighted);
}

/* Lists are the same; sums agree as well as two sums of floats do (gpunb_nominal_error). */
static void assert_close(const struct result *a, const struct result *b)
{
    for (size_t i = 0; i < a->n_i; i++) {
        double da[3], dj[3];
        assert_int_equal(a->nnb[i], b->nnb[i]);
        assert_memory_equal(a->list + i * a->cap, b->list + i * b->cap, (size_t)a->nnb[i] * sizeof(int32_t));
        for (int k = 0; k < 3; k++) {
            da[k] = a->acc[i][k] - b->acc[i][k];
            dj[k] = a->jerk[i][k] - b->jerk[i][k];
        }
        assert_true(norm(da) <= 6e-7 * (1 + norm(b->acc[i])) && norm(dj) <= 2e-5 * (1 + norm(b->jerk[i])));
    }
}

/* The first n_i sources as targets. */
static void call_both(gpunb_t *h, gpunb_t *other, const struct model *m, size_t n_i, int is_whole)
{
    struct result a = make_result(n_i, LISTS), b = make_result(n_i, LISTS);
    free(a.pot);
    free(b.pot);
    a.pot = b.pot = NULL;
    if (call_regf(h, m, 0, &a)) fail_msg("%s", gpunb_last_error(h));
    assert_int_equal(was_whole(h), is_whole);
    assert_int_equal(call_regf(other, m, 0, &b), NBC_OK);
    assert_false(was_whole(other));
    assert_close(&a, &b);
    free_result(&a);
    free_result(&b);
}

static void compare_calls(const char *name, size_t n)
{
    for (int weighted = 0; weighted < (n > N ? 1 : 2); weighted++) { /* of many, the heaviest would have most */
        struct model m = make_many(n, weighted);
        gpunb_t *h = open_for(name, n, weighted, 1), *other = open_for(name, n, weighted, 0);
        assert_int_equal(call_send(h, &m), NBC_OK);
        assert_int_equal(call_send(other, &m), NBC_OK);
        call_both(h, other, &m, n, 1);
        call_both(h, other, &m, n / 2, 1);
        call_both(h, other, &m, n / 16, 0); /* no groups */
        gpunb_free(h);
        gpunb_free(other);
        free_model(&m);
    }
}

static void forces_and_lists(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) compare_calls(names[k], N);
    for (size_t k = 0; k < sizeof on_gpus / sizeof *on_gpus; k++) {
        const struct gpunb_options options = {.backend = on_gpus[k].name};
        gpunb_t *h = NULL;
        if (gpunb_create(&h, N, &options, NULL)) continue;
        gpunb_free(h);
        compare_calls(on_gpus[k].name, on_gpus[k].n);
    }
}

/* Sources that devices predict: their places are those of a call that predicts as they do. */
static void predicted_sources(void **state)
{
    (void)state;
    struct model m = make_stars(0);
    static const double zero[3];
    gpunb_t *h = open_handle(names[1], 0, 1), *other = open_handle(names[1], 0, 0);
    gpunb_t *const both[2] = {h, other};
    for (int b = 0; b < 2; b++) {
        for (size_t j = 0; j < N; j++)
            assert_int_equal(gpunb_set_jp(both[b], j, m.x[j], m.v[j], zero, zero, m.mass[j], 0), NBC_OK);
        assert_int_equal(gpunb_predict(both[b], N, 0.25), NBC_OK);
    }
    for (size_t j = 0; j < N; j++)
        for (int k = 0; k < 3; k++) m.x[j][k] += 0.25 * m.v[j][k]; /* a power of two: exact but for one rounding */
    call_both(h, other, &m, N, 1);
    gpunb_free(h);
    gpunb_free(other);
    free_model(&m);
}

static void targets_that_are_elsewhere(void **state)
{
    (void)state;
    for (int kind = 0; kind < 5; kind++) {
        struct model m = make_stars(0);
        gpunb_t *h = open_handle(names[1], 0, 1), *other = open_handle(names[1], 0, 0);
        assert_int_equal(call_send(h, &m), NBC_OK);
        assert_int_equal(call_send(other, &m), NBC_OK);
        if (kind == 0) m.x[77][1] = nextafter(m.x[77][1] + 1e-3, 1);
        if (kind == 1) m.v[78][2] += 1e-3;
        if (kind == 2) m.self[5] = -1;
        if (kind == 3) m.self[5] = 6;
        if (kind == 4) { /* twice the same */
            m.self[9] = 8;
            memcpy(m.x[9], m.x[8], sizeof *m.x);
            memcpy(m.v[9], m.v[8], sizeof *m.v);
        }
        call_both(h, other, &m, N, 0);
        gpunb_free(h);
        gpunb_free(other);
        free_model(&m);
    }
}

/* Two stars so near and heavy that the sums of floats are infinite: the call is made in the other way. */
static void sums_that_do_not_fit(void **state)
{
    (void)state;
    struct model m = make_stars(0);
    gpunb_t *h = open_handle(names[0], 0, 1), *other = open_handle(names[0], 0, 0);
    for (int k = 0; k < 3; k++) m.x[1][k] = m.x[0][k];
    m.x[1][0] += 1e-14;
    m.mass[0] = m.mass[1] = 1e14;
    m.r_nb2[0] = m.r_nb2[1] = 0;
    assert_int_equal(call_send(h, &m), NBC_OK);
    assert_int_equal(call_send(other, &m), NBC_OK);
    struct result a = make_result(N, N), b = make_result(N, N);
    free(a.pot);
    free(b.pot);
    a.pot = b.pot = NULL;
    assert_int_equal(call_regf(h, &m, 0, &a), NBC_OK);
    assert_int_equal(call_regf(other, &m, 0, &b), NBC_OK);
    assert_false(was_whole(h));
    assert_memory_equal(a.acc, b.acc, sizeof(double[N][3]));
    free_result(&a);
    free_result(&b);
    gpunb_free(h);
    gpunb_free(other);
    free_model(&m);
}

/* @return whether a call has failed */
static int fails(const struct model *m, const struct result *good, enum nbd_fault fault, int64_t k)
{
    struct result r = make_result(N, N);
    gpunb_t *h = open_handle(names[1], 0, 1);
    free(r.pot);
    r.pot = NULL;
    assert_int_equal(call_send(h, m), NBC_OK);
    nbd_fault_set(fault, k, 1);
    int status = call_regf(h, m, 0, &r);
    const int has_failed = nbd_fault_failures() > 0;
    nbd_fault_set(NBD_FAULT_NONE, 0, 0);
    if (status) {
        assert_int_equal(status, NBC_DEVICE);
        assert_non_null(strstr(gpunb_last_error(h), "was asked for"));
        assert_int_equal(call_send(h, m), NBC_OK);
        status = call_regf(h, m, 0, &r);
    }
    assert_int_equal(status, NBC_OK);
    assert_close(&r, good); /* without memory it went the other way */
    free_result(&r);
    gpunb_free(h);
    return has_failed;
}

static void calls_fail_in_turn(void **state)
{
    (void)state;
    struct model m = make_stars(0);
    struct result good = make_result(N, N);
    gpunb_t *h = open_handle(names[1], 0, 1);
    int64_t k = 1;
    assert_int_equal(call_send(h, &m), NBC_OK);
    assert_int_equal(call_regf(h, &m, 0, &good), NBC_OK);
    while (fails(&m, &good, NBD_FAULT_FAIL, k)) k += test_size(1, 7);
    assert_true(k > 30);
    for (k = 1; fails(&m, &good, NBD_FAULT_NO_MEMORY, k);) k += test_size(1, 3);
    assert_true(k > 5);
    free_result(&good);
    gpunb_free(h);
    free_model(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(forces_and_lists), cmocka_unit_test(predicted_sources),
                                       cmocka_unit_test(targets_that_are_elsewhere),
                                       cmocka_unit_test(sums_that_do_not_fit), cmocka_unit_test(calls_fail_in_turn)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
