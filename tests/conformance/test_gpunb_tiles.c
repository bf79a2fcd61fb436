/* GPUNB on processors: the ways of a block. Few targets meet the sources in the order of their numbers, many meet them
 * in tiles, sorted in space; of targets that are half of the sources or more each pair is computed once. Lists must be
 * the same, to the last one at an edge; forces as good. A block is called as a whole, and in pieces of few targets. */
#include "common/nbc.h"
#include "tests/conformance/gpunb_model.h"
#include "tests/support/test_size.h"

#include <omp.h>

enum { PIECE = 60, LIST = 1500 };

/* The one that a run gets here: the first of those with tiles. Lists are compared with every backend; errors of forces
 * with this one, and with all where each pair is computed once (test_mutual). Sums of other large blocks are compared
 * with those in long double, for every backend, in test_gpunb.c. */
/* The others are the same code with other vectors: they get each second one of places and sizes of numbers. */
static int every(int sanitized)
{
    return test_size(is_best() ? 1 : 2, sanitized);
}

/* And each second piece, which has targets everywhere. */
static int is_made(size_t target)
{
    return target / PIECE % (size_t)every(8) == 0;
}

/* Errors of a component of a force: of all targets the mean square, and the largest. */
struct errors {
    double rms, largest;
};

static void in_pieces(gpunb_t *h, const struct model *m, const struct result *r)
{
    for (size_t first = 0; first < r->n_i; first += PIECE) {
        if (!is_made(first)) continue;
        const size_t left = r->n_i - first;
        struct result part = {.n_i = left < PIECE ? left : PIECE, .cap = r->cap, .acc = r->acc + first};
        part.jerk = r->jerk + first;
        part.pot = r->pot + first;
        part.nnb = r->nnb + first;
        part.list = r->list + first * r->cap;
        const int status = call_regf(h, m, first, &part);
        if (status != NBC_OK && status != NBC_NB_OVERFLOW) fail_msg("%s", gpunb_last_error(h));
    }
}

static void assert_same_list(const struct result *a, const struct result *b, size_t i)
{
    if (a->nnb[i] != b->nnb[i])
        fail_msg("target %zu has %d neighbours in tiles, %d otherwise", i, (int)a->nnb[i], (int)b->nnb[i]);
    if ((size_t)a->nnb[i] > a->cap) return;
    assert_memory_equal(a->list + i * a->cap, b->list + i * b->cap, (size_t)a->nnb[i] * sizeof(int32_t));
}

static void assert_same_lists(const struct result *a, const struct result *b)
{
    for (size_t i = 0; i < a->n_i; i++) assert_same_list(a, b, i);
}

static void assert_lists_of_pieces(const struct result *tiles, const struct result *pieces)
{
    for (size_t i = 0; i < tiles->n_i; i++)
        if (is_made(i)) assert_same_list(tiles, pieces, i);
}

/* Relative to the size of the exact vector. Rows that overflow have none. */
static struct errors errors_of(const struct result *r, double (*vector)[3], double (*exact)[3])
{
    struct errors e = {0};
    for (size_t i = 0; i < r->n_i; i++) {
        if (!is_made(i) || (size_t)r->nnb[i] > r->cap) continue;
        double d[3];
        for (int k = 0; k < 3; k++) d[k] = vector[i][k] - exact[i][k];
        const double size = norm(exact[i]), error = size > 0 ? norm(d) / size : 0;
        e.rms += error * error / (double)r->n_i;
        e.largest = fmax(e.largest, error);
    }
    e.rms = sqrt(e.rms);
    return e;
}

/* Results of `ref` for a model: the same for every backend and precision, so that they are computed once. A list is
 * stored as a hash. */
struct exact {
    uint64_t key, *list;
    double (*acc)[3], (*jerk)[3];
    int32_t *nnb;
};

enum { MODELS = 32 };
static struct exact exact_results[MODELS];

static uint64_t hash_of(uint64_t hash, const void *data, size_t bytes)
{
    const unsigned char *byte = data;
    for (size_t k = 0; k < bytes; k++) hash = (hash ^ byte[k]) * 0x100000001b3u; /* FNV-1a */
    return hash;
}

static uint64_t hash_of_list(const struct result *r, size_t i)
{
    const size_t n = (size_t)r->nnb[i] > r->cap ? 0 : (size_t)r->nnb[i];
    return hash_of(0xcbf29ce484222325u, r->list + i * r->cap, n * sizeof *r->list);
}

static uint64_t hash_of_model(const struct model *m, int weighted, size_t n_i)
{
    uint64_t hash = hash_of(0xcbf29ce484222325u, &n_i, sizeof n_i);
    hash = hash_of(hash, &weighted, sizeof weighted);
    hash = hash_of(hash, m->mass, m->n * sizeof *m->mass);
    hash = hash_of(hash, m->x, m->n * sizeof *m->x);
    hash = hash_of(hash, m->v, m->n * sizeof *m->v);
    hash = hash_of(hash, m->r_nb2, m->n * sizeof *m->r_nb2);
    hash = hash_of(hash, m->dt, m->n * sizeof *m->dt);
    return hash_of(hash, m->self, m->n * sizeof *m->self);
}

static struct exact compute_exact(const struct model *m, int weighted, size_t n_i, size_t cap)
{
    const char *name = backend;
    const enum gpunb_precision kept = precision;
    backend = "ref";
    precision = GPUNB_PRECISION_DEFAULT;
    gpunb_t *h = make_handle(m->n, weighted);
    backend = name;
    precision = kept;
    struct result r = make_result(n_i, cap);
    assert_int_equal(call_send(h, m), NBC_OK);
    const int status = call_regf(h, m, 0, &r);
    assert_true(status == NBC_OK || status == NBC_NB_OVERFLOW);
    gpunb_free(h);
    struct exact e = {.list = get(n_i, sizeof *e.list), .acc = r.acc, .jerk = r.jerk, .nnb = r.nnb};
    for (size_t i = 0; i < n_i; i++) e.list[i] = hash_of_list(&r, i);
    free(r.pot);
    free(r.list);
    return e;
}

static const struct exact *exact_of(const struct model *m, int weighted, size_t n_i, size_t cap)
{
    const uint64_t key = hash_of_model(m, weighted, n_i);
    int k = 0;
    while (k < MODELS && exact_results[k].acc && exact_results[k].key != key) k++;
    if (k == MODELS) fail_msg("there are more than %d models", MODELS);
    if (!exact_results[k].acc) {
        exact_results[k] = compute_exact(m, weighted, n_i, cap);
        exact_results[k].key = key;
    }
    return &exact_results[k];
}

static void free_exact(void)
{
    for (int k = 0; k < MODELS; k++) {
        free(exact_results[k].list);
        free(exact_results[k].acc);
        free(exact_results[k].jerk);
        free(exact_results[k].nnb);
    }
}

/* Forces of the same pairs in double: lists of `ref` are the same but for pairs at an edge; their targets are left
 * out. */
static void compare_errors(const struct model *m, int weighted, const struct result *tiles, const struct result *pieces)
{
    const struct exact *exact = exact_of(m, weighted, tiles->n_i, tiles->cap);
    for (size_t i = 0; i < tiles->n_i; i++) {
        if (exact->nnb[i] == tiles->nnb[i] && exact->list[i] == hash_of_list(tiles, i)) continue;
        memcpy(tiles->acc[i], exact->acc[i], sizeof exact->acc[i]);
        memcpy(tiles->jerk[i], exact->jerk[i], sizeof exact->jerk[i]);
        memcpy(pieces->acc[i], exact->acc[i], sizeof exact->acc[i]);
        memcpy(pieces->jerk[i], exact->jerk[i], sizeof exact->jerk[i]);
    }
    const struct errors a = errors_of(tiles, tiles->acc, exact->acc), b = errors_of(pieces, pieces->acc, exact->acc);
    const struct errors c = errors_of(tiles, tiles->jerk, exact->jerk),
                        d = errors_of(pieces, pieces->jerk, exact->jerk);
    print_message("    acc rms %.2g (%.2g in pieces), largest %.2g (%.2g); jerk %.2g (%.2g), %.2g (%.2g)\n", a.rms,
                  b.rms, a.largest, b.largest, c.rms, d.rms, c.largest, d.largest);
    /* Roundings are as large, but sources next to each other in a sum pull in one direction, so that float sums grow
     * faster: the ratio is 1.1 in the mean, 1.4 at most. The largest error is that of one target in some thousands. */
    assert_true(a.rms <= 2.0 * b.rms && a.largest <= 5 * b.largest);
    assert_true(c.rms <= 1.3 * d.rms && c.largest <= 5 * d.largest);
}

static void compare(const struct model *m, int weighted, int with_errors)
{
    gpunb_t *h = make_handle(m->n, weighted);
    struct result tiles = make_result(m->n, LIST), pieces = make_result(m->n, LIST);
    assert_int_equal(call_send(h, m), NBC_OK);
    const int status = call_regf(h, m, 0, &tiles);
    if (status != NBC_OK && status != NBC_NB_OVERFLOW) fail_msg("%s", gpunb_last_error(h));
    in_pieces(h, m, &pieces);
    assert_lists_of_pieces(&tiles, &pieces);
    if (with_errors && is_best() && !TEST_SANITIZED) compare_errors(m, weighted, &tiles, &pieces);
    free_result(&tiles);
    free_result(&pieces);
    gpunb_free(h);
}

/* Spheres of some dozens of stars. */
static struct model make_spheres(enum set set, size_t n)
{
    struct model m = make_model(set, n);
    for (size_t i = 0; i < n; i++) m.r_nb2[i] *= pow(2e4 / (double)n, 2.0 / 3.0) * 0.1;
    return m;
}

static void test_sets(void **state)
{
    (void)state;
    for (int set = 0; set < N_SETS; set++)
        for (int weighted = 0; weighted < 2; weighted++)
            for (int large = 0; large < test_size(2, 1); large++) {
                if (large && weighted != set % 2) continue; /* one way each: test_mutual has both */
                struct model m = make_spheres((enum set)set, large ? 6145 : 2049);
                double mean = 0.0;
                print_message("  %s, %zu stars\n", set_names[set], m.n);
                for (size_t i = 0; i < m.n; i++) mean += m.mass[i] / (double)m.n;
                for (size_t i = 0; i < m.n && weighted; i++) m.r_nb2[i] /= mean;
                if (weighted && set == MASSES) m.mass[3] = -m.mass[3]; /* never a neighbour then */
                compare(&m, weighted, set != OUTLIER);
                free_model(&m);
            }
}

/* A core that is a thousand times denser, stars at distances up to 1000, and fast ones. */
static void test_dense_core(void **state)
{
    (void)state;
    struct model m = make_spheres(PLUMMER, 6207);
    for (size_t i = 0; i < m.n; i++) {
        const double factor = i % 3 == 0 ? 0.03 : i % 50 == 1 ? 300.0 : 1.0;
        for (int k = 0; k < 3; k++) {
            m.x[i][k] *= factor;
            m.v[i][k] *= i % 100 == 7 ? 20.0 : 1.0;
        }
        m.r_nb2[i] *= factor * factor;
    }
    compare(&m, 0, 1);
    free_model(&m);
}

/* Everything at one place, or in a plane, on a line; the origin far away. */
static void test_places(void **state)
{
    (void)state;
    for (int flat = 0; flat <= 3; flat += test_size(1, 3))
        for (int far = 0; far < 2; far++) {
            if (every(2) == 2 && far != flat % 2) continue;
            struct model m = make_spheres(PLUMMER, far ? 6200 : 2500);
            for (size_t i = 0; i < m.n; i++) {
                for (int k = 0; k < flat; k++) m.x[i][k] = 0.25;
                m.x[i][2] += far ? 1e3 : 0.0;
            }
            compare(&m, 0, 0);
            free_model(&m);
        }
}

/* No spheres, no steps: only the target itself and stars at its place are left out. */
static void test_no_spheres(void **state)
{
    (void)state;
    for (int set = test_size(0, MASSES); set < N_SETS; set++) {
        struct model m = make_model((enum set)set, set == MASSES ? 6200 : 3000);
        memset(m.r_nb2, 0, m.n * sizeof *m.r_nb2);
        memset(m.dt, 0, m.n * sizeof *m.dt);
        compare(&m, 0, set == PLUMMER || set == MASSES);
        free_model(&m);
    }
}

/* Finite numbers of any size give finite numbers. */
static void test_any_size(void **state)
{
    (void)state;
    /* Others than the best one have the rounds 1 and 2: one without spheres, one with weights, one in each precision.
     */
    const int first = is_best() || TEST_SANITIZED ? 0 : precision == GPUNB_FLOAT ? 1 : 2;
    for (int round = first; round < 4; round += is_best() ? every(4) : 4) {
        struct model m = make_model(PLUMMER, 6200);
        make_any_size(&m, round);
        gpunb_t *h = make_handle(m.n, round > 1);
        struct result r = make_result(m.n, LIST);
        assert_int_equal(call_send(h, &m), NBC_OK);
        const int status = call_regf(h, &m, 0, &r);
        assert_true(status == NBC_OK || status == NBC_NB_OVERFLOW);
        for (size_t i = 0; i < m.n; i++)
            for (int k = 0; k < 3; k++) assert_true(isfinite(r.acc[i][k]) && isfinite(r.jerk[i][k]));
        free_result(&r);
        free_model(&m);
        gpunb_free(h);
    }
}

/* Targets that are not where their sources are, and targets that are no sources. */
static void test_self(void **state)
{
    (void)state;
    struct model m = make_spheres(PLUMMER, 3000);
    gpunb_t *h = make_handle(m.n, 0);
    struct result tiles = make_result(m.n, LIST), pieces = make_result(m.n, LIST);
    assert_int_equal(call_send(h, &m), NBC_OK);
    for (size_t i = 0; i < m.n; i++) {
        m.x[i][0] += i % 3 == 1 ? 0.7 : i % 3 == 2 ? 3.0 : 0.0; /* in a cell, and in a tile that is far, too */
        if (i % 5 == 0) m.self[i] = -1;
    }
    assert_int_equal(call_regf(h, &m, 0, &tiles), NBC_OK);
    in_pieces(h, &m, &pieces);
    assert_lists_of_pieces(&tiles, &pieces);
    for (size_t i = 0; i < m.n; i++) {
        double d[3];
        if (!is_made(i)) continue;
        for (int k = 0; k < 3; k++) d[k] = tiles.acc[i][k] - pieces.acc[i][k];
        /* If a target felt its own source, it would be 7e-4 of a force of order 1 at a distance of 0.7, and 4e-5 where
         * the force is 0.1 at a distance of 3. */
        assert_true(norm(d) <= 1e-5 * (norm(pieces.acc[i]) + 0.1));
    }
    free_result(&tiles);
    free_result(&pieces);
    free_model(&m);
    gpunb_free(h);
}

/* Sources that the library predicts, with gaps in their numbers: the bits of the same sources sent. */
static void test_predicted(void **state)
{
    (void)state;
    struct model m = make_spheres(PLUMMER, 4000), kept = make_spheres(PLUMMER, 4000);
    const double zero[3] = {0};
    gpunb_t *predicting = make_handle(m.n, 0), *sent = make_handle(m.n, 0);
    struct result a = make_result(m.n, LIST), b = make_result(m.n, LIST);
    kept.n = 0;
    for (size_t i = 0; i < m.n; i++) {
        if (i % 7 == 3) continue;
        assert_int_equal(gpunb_set_jp(predicting, i, m.x[i], m.v[i], zero, zero, m.mass[i], 0.0), NBC_OK);
        memcpy(kept.x[kept.n], m.x[i], sizeof m.x[i]);
        memcpy(kept.v[kept.n], m.v[i], sizeof m.v[i]);
        kept.mass[kept.n++] = m.mass[i];
    }
    for (size_t i = 0; i < m.n; i++) m.self[i] = -1;
    assert_int_equal(gpunb_predict(predicting, m.n, 0.0), NBC_OK);
    assert_int_equal(call_send(sent, &kept), NBC_OK);
    assert_int_equal(call_regf(predicting, &m, 0, &a), NBC_OK);
    assert_int_equal(call_regf(sent, &m, 0, &b), NBC_OK);
    assert_memory_equal(a.acc, b.acc, m.n * sizeof *a.acc);
    assert_memory_equal(a.jerk, b.jerk, m.n * sizeof *a.jerk);
    assert_memory_equal(a.nnb, b.nnb, m.n * sizeof *a.nnb);
    /* New sources have new tiles. */
    for (size_t j = 0; j < kept.n; j++) kept.x[j][1] += 0.5;
    assert_int_equal(call_send(sent, &kept), NBC_OK);
    assert_int_equal(call_regf(sent, &m, 0, &b), NBC_OK);
    assert_memory_not_equal(a.acc, b.acc, m.n * sizeof *a.acc);
    free_result(&a);
    free_result(&b);
    free_model(&m);
    free_model(&kept);
    gpunb_free(predicting);
    gpunb_free(sent);
}

/* Sorting, packing and sums by any number of threads. */
static void test_same_bits(void **state)
{
    (void)state;
    const int before = omp_get_max_threads();
    struct model m = make_spheres(MASSES, 20011);
    struct result one = make_result(2500, LIST), r = make_result(2500, LIST);
    for (int threads = 1; threads <= 8; threads += test_seeds(3, 1)) {
        omp_set_num_threads(threads);
        gpunb_t *h = make_handle(m.n, 0);
        struct result *to = threads == 1 ? &one : &r;
        assert_int_equal(call_send(h, &m), NBC_OK);
        to->n_i = threads % 2 ? 2500 : 500; /* fewer than threads have work for: sources are shared as well */
        assert_int_equal(call_regf(h, &m, 0, to), NBC_OK);
        assert_memory_equal(to->acc, one.acc, to->n_i * sizeof *one.acc);
        assert_memory_equal(to->jerk, one.jerk, to->n_i * sizeof *one.jerk);
        assert_memory_equal(to->pot, one.pot, to->n_i * sizeof *one.pot);
        assert_same_lists(to, &one);
        gpunb_free(h);
    }
    omp_set_num_threads(before);
    free_result(&one);
    free_result(&r);
    free_model(&m);
}

/* A part of the sources, or all, are targets, with players that are not full, by any number of threads. */
static void test_mutual(void **state)
{
    (void)state;
    static const size_t targets[] = {6150, 7001};
    static const int threads[] = {1, 7};
    const int before = omp_get_max_threads();
    for (int weighted = 0; weighted < 2; weighted++) {
        if (TEST_SANITIZED && weighted != (precision == GPUNB_TWOFLOAT)) continue;
        struct model m = make_spheres(MASSES, 7001);
        for (size_t i = 0; i < m.n && weighted; i++) m.r_nb2[i] *= 4e4;
        for (size_t s = 0; s < sizeof targets / sizeof targets[0]; s++) {
            if (every(2) == 2 && s != (size_t)weighted) continue;
            struct result one = make_result(targets[s], LIST), r = make_result(targets[s], LIST);
            gpunb_t *h = make_handle(m.n, weighted);
            assert_int_equal(call_send(h, &m), NBC_OK);
            for (size_t k = 0; k < sizeof threads / sizeof threads[0]; k++) {
                omp_set_num_threads(threads[k]);
                struct result *to = k == 0 ? &one : &r;
                const int status = call_regf(h, &m, 0, to);
                assert_true(status == NBC_OK || status == NBC_NB_OVERFLOW);
                assert_same_lists(to, &one);
                assert_memory_equal(to->acc, one.acc, to->n_i * sizeof *one.acc);
                assert_memory_equal(to->jerk, one.jerk, to->n_i * sizeof *one.jerk);
                assert_memory_equal(to->pot, one.pot, to->n_i * sizeof *one.pot);
            }
            in_pieces(h, &m, &r);
            assert_lists_of_pieces(&one, &r);
            if (!TEST_SANITIZED) compare_errors(&m, weighted, &one, &r);
            gpunb_free(h);
            free_result(&one);
            free_result(&r);
        }
        free_model(&m);
    }
    omp_set_num_threads(before);
}

/* A repeated target, or one without a source, sends the block the ordinary way: there a target has the same bits among
 * any other targets. Pairs that are computed once are summed in another order. */
static void test_not_mutual(void **state)
{
    (void)state;
    enum { N = 6200, FEW = 1000 };
    for (int kind = 0; kind < test_size(3, 1); kind += every(1)) {
        struct model m = make_spheres(PLUMMER, N + 1);
        m.n = N;
        gpunb_t *h = make_handle(N, 0);
        struct result few = make_result(FEW, LIST), all = make_result(N, LIST), odd = make_result(N + 1, LIST);
        memcpy(m.x[N], m.x[5], sizeof m.x[5]);
        memcpy(m.v[N], m.v[5], sizeof m.v[5]);
        m.self[N] = kind == 0 ? 5 : kind == 1 ? -1 : 4;
        assert_int_equal(call_send(h, &m), NBC_OK);
        assert_int_equal(call_regf(h, &m, 0, &few), NBC_OK);
        assert_int_equal(call_regf(h, &m, 0, &all), NBC_OK);
        assert_int_equal(call_regf(h, &m, 0, &odd), NBC_OK);
        assert_memory_equal(odd.acc, few.acc, FEW * sizeof *few.acc);
        assert_memory_equal(odd.jerk, few.jerk, FEW * sizeof *few.jerk);
        assert_memory_not_equal(all.acc, few.acc, FEW * sizeof *few.acc);
        free_result(&few);
        free_result(&all);
        free_result(&odd);
        free_model(&m);
        gpunb_free(h);
    }
}

/* Other tests cover backends without tiles. */
static int run_suite(const char *title)
{
    if (on_devices() || !strcmp(backend, "ref")) return 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sets),       cmocka_unit_test(test_dense_core), cmocka_unit_test(test_places),
        cmocka_unit_test(test_no_spheres), cmocka_unit_test(test_any_size),   cmocka_unit_test(test_self),
        cmocka_unit_test(test_predicted),  cmocka_unit_test(test_same_bits),  cmocka_unit_test(test_mutual),
        cmocka_unit_test(test_not_mutual),
    };
    return cmocka_run_group_tests_name(title, tests, NULL, NULL);
}

int main(int argc, char **argv)
{
    const int failed = run_on_backends(argc, argv, "gpunb tiles", run_suite);
    free_exact();
    return failed;
}
