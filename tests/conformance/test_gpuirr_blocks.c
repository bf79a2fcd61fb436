/* Blocks as in a run, for backends that keep bodies and lists on a device: independent of the order of transfers,
 * forces are those of the stored bodies and lists, to the same bits as of a library that gets all of them at once. */
#include "common/nbc.h"
#include "tests/conformance/gpuirr_model.h"

enum { N = 4000, LONGEST = 90, BLOCK = 16, MOST = 64 };

static const double DT = 1.0 / 64;

/* A cluster, and what is stored in the library that is tested. */
struct cluster {
    gpuirr_t *irr;
    struct body *body;
    int32_t (*list)[LONGEST], *nnb;
};

struct result {
    double acc[MOST][3], jerk[MOST][3];
    int32_t nearest[MOST];
};

static void new_list(struct cluster *c, int32_t i)
{
    c->nnb[i] = (int32_t)(0.5 * (uniform() + 1) * LONGEST);
    int32_t j = 0, n = 0;
    const int32_t most = N / LONGEST - 1;
    for (; n < c->nnb[i]; j += 1 + (int32_t)(0.5 * (uniform() + 1) * most))
        if (j != i) c->list[i][n++] = j;
}

static void store_list(struct cluster *c, int32_t i)
{
    new_list(c, i);
    expect_ok(c->irr, gpuirr_set_list(c->irr, (size_t)i, (size_t)c->nnb[i], c->list[i]));
}

static struct cluster open_cluster(void)
{
    struct cluster c = {.irr = open_library(N),
                        .body = make_bodies(N),
                        .list = nbc_alloc(N, sizeof *c.list),
                        .nnb = nbc_alloc(N, sizeof *c.nnb)};
    assert_true(c.list && c.nnb);
    set_bodies(c.irr, N, c.body);
    for (int32_t i = 0; i < N; i++) store_list(&c, i);
    return c;
}

static void close_cluster(struct cluster *c)
{
    gpuirr_free(c->irr);
    nbc_free(c->body);
    nbc_free(c->list);
    nbc_free(c->nnb);
}

static void forces(gpuirr_t *irr, int32_t n, const int32_t *act, struct result *result)
{
    memset(result, 0xff, sizeof *result);
    expect_ok(irr, gpuirr_firr_vec(irr, (size_t)n, act, result->acc, result->jerk, result->nearest));
}

/* Forces of a library that is given everything now. */
static void expect_as_new(const struct cluster *c, int32_t n, const int32_t *act, double t, const struct result *result)
{
    static struct result fresh;
    gpuirr_t *irr = open_library(N);
    set_bodies(irr, N, c->body);
    for (int32_t i = 0; i < N; i++) expect_ok(irr, gpuirr_set_list(irr, (size_t)i, (size_t)c->nnb[i], c->list[i]));
    expect_ok(irr, gpuirr_pred_act(irr, (size_t)n, act, t));
    forces(irr, n, act, &fresh);
    assert_memory_equal(&fresh, result, sizeof fresh);
    gpuirr_free(irr);
}

/* Where it goes in half a step, which is enough to make another force of it. */
static void move(struct cluster *c, int32_t i, double t)
{
    struct body *b = &c->body[i];
    for (int d = 0; d < 3; d++) {
        b->x[d] += 0.5 * DT * b->v[d];
        b->acc[d] = uniform();
        b->jerk[d] = uniform();
    }
    b->t0 = t;
    expect_ok(c->irr, set_body(c->irr, i, b));
}

/* All bodies come round several times, in small blocks; one in four has a new list when it does, one in eight two. */
static void many_small_blocks(void **state)
{
    (void)state;
    static struct result result;
    struct cluster c = open_cluster();
    for (int b = 0; b < 3 * N / BLOCK; b++) {
        int32_t act[BLOCK];
        const double t = 0.25 + b * DT / 16;
        for (int32_t k = 0; k < BLOCK; k++) act[k] = (b * BLOCK + k * 7) % N;
        expect_ok(c.irr, b % 3 ? gpuirr_pred_act(c.irr, BLOCK, act, t) : gpuirr_pred_all(c.irr, 0, N, t));
        forces(c.irr, BLOCK, act, &result);
        for (int32_t k = b % 4; k < BLOCK; k += 4) store_list(&c, act[k]);
        for (int32_t k = b % 8; k < BLOCK; k += 8) store_list(&c, act[k]);
        forces(c.irr, BLOCK, act, &result);
        if (b % 101 == 100) expect_as_new(&c, BLOCK, act, t, &result);
        for (int32_t k = 0; k < BLOCK; k++) move(&c, act[k], t);
    }
    close_cluster(&c);
}

/* Bodies that are set again before and after the announcement, and again: the last time counts. */
static void set_at_any_time(void **state)
{
    (void)state;
    static struct result result;
    struct cluster c = open_cluster();
    int32_t act[MOST];
    for (int32_t k = 0; k < MOST; k++) act[k] = k * 5;
    for (int round = 0; round < 4; round++) {
        const double t = 0.25 + round * DT;
        for (int32_t i = 0; i < N; i += 3) move(&c, i, 0.25);
        for (int32_t i = 0; i < N; i += 6) move(&c, i, 0.125);
        expect_ok(c.irr, gpuirr_pred_act(c.irr, MOST, act, t));
        for (int32_t i = 0; i < N; i += 4) move(&c, i, 0.25);
        expect_ok(c.irr, gpuirr_pred_all(c.irr, 0, N, t));
        for (int32_t i = round; i < N; i += 5) move(&c, i, 0.1875);
        forces(c.irr, MOST, act, &result);
        expect_as_new(&c, MOST, act, t, &result);
        for (int32_t i = round; i < N; i += 7) move(&c, i, 0.25);
        forces(c.irr, MOST, act, &result); /* without another announcement */
        expect_as_new(&c, MOST, act, t, &result);
    }
    close_cluster(&c);
}

/* A body may be asked for more than once, with a list that was just set. */
static void asked_for_twice(void **state)
{
    (void)state;
    static struct result result;
    struct cluster c = open_cluster();
    int32_t act[MOST];
    for (int32_t k = 0; k < MOST; k++) act[k] = k % 3 * 11;
    for (int round = 0; round < 3; round++) {
        store_list(&c, act[1]);
        expect_ok(c.irr, gpuirr_pred_act(c.irr, MOST, act, 0.25));
        forces(c.irr, MOST, act, &result);
        for (int32_t k = 3; k < MOST; k++) {
            assert_memory_equal(result.acc[k], result.acc[k % 3], sizeof result.acc[k]);
            assert_memory_equal(result.jerk[k], result.jerk[k % 3], sizeof result.jerk[k]);
        }
        expect_as_new(&c, MOST, act, 0.25, &result);
    }
    close_cluster(&c);
}

/* Lists of a block at once, and those of a transaction that is discarded or published. */
static void transactions(void **state)
{
    (void)state;
    static struct result before, within, after;
    struct cluster c = open_cluster();
    int32_t act[MOST], nnb[MOST];
    const int32_t *row[MOST];
    for (int32_t k = 0; k < MOST; k++) act[k] = k * 61;
    for (int round = 0; round < 4; round++) {
        const int keep = round % 2;
        static int32_t old[MOST][LONGEST];
        int32_t old_nnb[MOST];
        expect_ok(c.irr, gpuirr_pred_act(c.irr, MOST, act, 0.25));
        forces(c.irr, MOST, act, &before);
        expect_ok(c.irr, gpuirr_begin(c.irr));
        for (int32_t k = 0; k < MOST; k++) {
            memcpy(old[k], c.list[act[k]], sizeof old[k]);
            old_nnb[k] = c.nnb[act[k]];
            new_list(&c, act[k]);
            nnb[k] = c.nnb[act[k]];
            row[k] = c.list[act[k]];
        }
        expect_ok(c.irr, gpuirr_set_lists(c.irr, MOST, act, nnb, row));
        forces(c.irr, MOST, act, &within);
        expect_as_new(&c, MOST, act, 0.25, &within);
        if (keep)
            gpuirr_publish(c.irr);
        else
            gpuirr_discard(c.irr);
        for (int32_t k = 0; !keep && k < MOST; k++) {
            memcpy(c.list[act[k]], old[k], sizeof old[k]);
            c.nnb[act[k]] = old_nnb[k];
        }
        forces(c.irr, MOST, act, &after);
        assert_memory_equal(&after, keep ? &within : &before, sizeof after);
    }
    close_cluster(&c);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(many_small_blocks),
    cmocka_unit_test(set_at_any_time),
    cmocka_unit_test(asked_for_twice),
    cmocka_unit_test(transactions),
};

RUN_FOR_EACH_BACKEND(tests)
