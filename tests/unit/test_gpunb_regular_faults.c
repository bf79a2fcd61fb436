/* Regular forces by a tree without memory: each allocation fails in turn. The failure is reported, arrays of the caller
 * are not written, and the next call gives the same forces as if nothing had happened. */
#include "tests/support/failing_alloc.h"

#include "gpunb/tree.h"
#include "tests/conformance/gpunb_model.h"

enum { N = 400, CAP = N };

static gpunb_t *open_handle(const struct model *m)
{
    gpunb_t *h = NULL;
    const struct gpunb_options options = {
        .backend = backend, .precision = precision, .force_error = 1e-3, .walk = GPUNB_WALK_FMM};
    assert_int_equal(gpunb_create(&h, N, &options, NULL), NBC_OK);
    assert_int_equal(call_send(h, m), NBC_OK);
    return h;
}

static void assert_untouched(const struct result *r)
{
    for (size_t i = 0; i < r->n_i; i++) assert_true(r->acc[i][0] == 7 && r->jerk[i][0] == 7 && r->nnb[i] == -7);
}

static void mark(struct result *r)
{
    for (size_t i = 0; i < r->n_i; i++) {
        r->acc[i][0] = r->jerk[i][0] = 7;
        r->nnb[i] = -7;
    }
}

/* Targets that are sources, and targets that are none, which have cells of their own.   @return whether a call failed
 */
static int run_with(const struct model *m, const struct result good[2], long k)
{
    int failed = 0;
    struct model others = *m;
    gpunb_t *h = open_handle(m);
    int32_t *no_self = get(N, 4);
    for (size_t i = 0; i < N; i++) no_self[i] = -1;
    others.self = no_self;
    fail_alloc(k);
    for (int kind = 0; kind < 2; kind++) {
        struct result r = make_result(N, CAP);
        mark(&r);
        const int status = call_regf(h, kind ? &others : m, 0, &r);
        if (status) {
            failed = 1;
            fail_alloc(-1);
            assert_int_equal(status, NBC_NO_MEMORY);
            assert_non_null(strstr(gpunb_last_error(h), "no memory"));
            assert_untouched(&r);
            assert_int_equal(call_regf(h, kind ? &others : m, 0, &r), NBC_OK);
        }
        for (size_t i = 0; i < N && good; i++) assert_same_row(&r, i, &good[kind], i);
        free_result(&r);
    }
    fail_alloc(-1);
    free(no_self);
    gpunb_free(h);
    return failed;
}

static void each_allocation(void **state)
{
    (void)state;
    if (!can_fail_alloc()) skip();
    if (on_devices()) skip();
    struct model m = make_model(COINCIDENT, N);
    struct result good[2] = {make_result(N, CAP), make_result(N, CAP)};
    gpunb_t *h = open_handle(&m);
    int32_t *no_self = get(N, 4);
    for (size_t i = 0; i < N; i++) no_self[i] = -1;
    assert_int_equal(call_regf(h, &m, 0, &good[0]), NBC_OK);
    int32_t *self = m.self;
    m.self = no_self;
    assert_int_equal(call_regf(h, &m, 0, &good[1]), NBC_OK);
    m.self = self;
    long k = 0;
    while (run_with(&m, good, k)) k++;
    assert_true(k > 25); /* the tree, its rates, and the arrays of a block */
    gpunb_free(h);
    free(no_self);
    for (int kind = 0; kind < 2; kind++) free_result(&good[kind]);
    free_model(&m);
}

static int run_suite(const char *title)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_allocation)};
    return cmocka_run_group_tests_name(title, tests, NULL, NULL);
}

int main(int argc, char **argv)
{
    return run_trees_on_backends(argc, argv, "regular trees without memory", run_suite);
}
