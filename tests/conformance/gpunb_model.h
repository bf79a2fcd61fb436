/* Star sets for the tests of GPUNB, and the independent sums in long double that they compare with. */
#ifndef GPUNB_MODEL_H
#define GPUNB_MODEL_H

#include "common/nbc.h"
#include "gpunb/gpunb.h"
#include "tests/support/test_size.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The backend and precision under test: main() runs the suite once for each backend and precision that this machine
 * has. */
static const char *backend;
static enum gpunb_precision precision;
static double nominal_acc, nominal_jerk; /* errors that its handles state; some suites compare with them */

/* Whether the backend computes on devices: GPUs, or emulated ones. */
static inline int on_devices(void)
{
    return !strcmp(backend, "cuda") || !strcmp(backend, "emulated");
}

/* Whether the backend takes ten times as long as others: emulated devices, and the one that defines what is right. */
static inline int is_slow(void)
{
    return !strcmp(backend, "emulated") || !strcmp(backend, "ref");
}

/* Whether the backend is the best one of this processor. */
static inline int is_best(void)
{
    int k = 0;
    while (!gpunb_backend(k)->available || !strcmp(gpunb_backend(k)->name, "cuda")) k++;
    return !strcmp(gpunb_backend(k)->name, backend);
}

/* Whether of the larger sizes a few are enough: sets of stars differ in their numbers only, and the kernels of all
 * processors are one source, of which the best backend has all sizes. */
static inline int few_sizes(void)
{
    return TEST_SANITIZED || !(is_best() || !strcmp(backend, "cuda"));
}

enum set { PLUMMER, COINCIDENT, OUTLIER, MASSES, N_SETS };
static const char *const set_names[N_SETS] = {"plummer", "coincident", "outlier", "masses"};

/* Sources, and all of them as targets: the first n_i are used. */
struct model {
    size_t n;
    double *mass, (*x)[3], (*v)[3];
    double *r_nb2, *dt;
    int32_t *self;
};

struct result {
    size_t n_i, cap;
    double (*acc)[3], (*jerk)[3], *pot;
    int32_t *nnb, *list;
};

static uint64_t random_state = 88172645463325252u;

/* Uniform in [0, 1): xorshift64. */
static inline double uniform(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (double)(random_state >> 11) * 0x1p-53;
}

/* At least one object, or the test ends. */
static inline void *get(size_t count, size_t size)
{
    void *memory = calloc(count + 1, size);
    if (!memory) fail_msg("no memory for %zu objects", count);
    return memory;
}

/* Plummer sphere of scale 0.6; spheres of 0.15 (1 + r^2), so that float differences are good for all that is not
 * inside; every 7th target has no velocity criterion. The sets differ from it as their names say. */
static inline struct model make_model(enum set set, size_t n)
{
    struct model m = {.n = n, .mass = get(n, 8), .x = get(n, 24), .v = get(n, 24)};
    m.r_nb2 = get(n, 8);
    m.dt = get(n, 8);
    m.self = get(n, 4);
    random_state = 88172645463325252u + n;
    for (size_t i = 0; i < n; i++) {
        double r = 0.6 / sqrt(pow(uniform() * 0.99 + 1e-3, -2.0 / 3.0) - 1.0);
        double c = 2.0 * uniform() - 1.0, p = 6.28 * uniform(), s = sqrt(1.0 - c * c);
        m.x[i][0] = r * s * cos(p);
        m.x[i][1] = r * s * sin(p);
        m.x[i][2] = r * c;
        for (int k = 0; k < 3; k++) m.v[i][k] = uniform() - 0.5;
        m.mass[i] = (set == MASSES ? pow(10.0, -8.0 * uniform()) : 1.0) / (double)n;
        if (set == COINCIDENT && i % 3 == 1) memcpy(m.x[i], m.x[i - 1], sizeof m.x[i]);
        if (set == COINCIDENT && i % 9 == 4) memcpy(m.v[i], m.v[i - 1], sizeof m.v[i]);
        m.r_nb2[i] = 0.0225 * (1.0 + r * r);
        m.dt[i] = i % 7 ? ldexp(1.0, -(int)(i % 5) - 3) : 0.0;
        m.self[i] = (int32_t)i;
    }
    if (set == OUTLIER && n > 1) {
        m.x[n / 2][0] = 1e6;
        m.r_nb2[0] = 1e300; /* everything is a neighbour */
    }
    return m;
}

static inline void free_model(struct model *m)
{
    free(m->mass);
    free(m->x);
    free(m->v);
    free(m->r_nb2);
    free(m->dt);
    free(m->self);
}

static inline struct result make_result(size_t n_i, size_t cap)
{
    struct result r = {.n_i = n_i, .cap = cap, .acc = get(n_i, 24), .jerk = get(n_i, 24), .pot = get(n_i, 8)};
    r.nnb = get(n_i, 4);
    r.list = get(n_i * cap, 4);
    return r;
}

static inline void free_result(struct result *r)
{
    free(r->acc);
    free(r->jerk);
    free(r->pot);
    free(r->nnb);
    free(r->list);
}

static inline gpunb_t *make_handle(size_t n, int weighted)
{
    gpunb_t *h = NULL;
    struct nbc_error err = {0};
    struct gpunb_options options = {.backend = backend, .mass_weighted = weighted, .precision = precision};
    if (gpunb_create(&h, n, &options, &err) != NBC_OK) fail_msg("%s", err.text);
    return h;
}

static inline int call_regf(gpunb_t *h, const struct model *m, size_t first, struct result *r)
{
    return gpunb_regf(h, r->n_i, m->self + first, m->r_nb2 + first, m->dt + first, (const double(*)[3])m->x + first,
                      (const double(*)[3])m->v + first, r->acc, r->jerk, r->pot, r->cap, r->nnb, r->list);
}

static inline int call_send(gpunb_t *h, const struct model *m)
{
    return gpunb_send(h, m->n, m->mass, (const double(*)[3])m->x, (const double(*)[3])m->v);
}

/* One pair in long double. */
struct pair {
    long double r2, p2, dv2, acc[3], jerk[3], pot;
};

static inline struct pair exact_pair(const struct model *m, size_t i, size_t j)
{
    struct pair p = {0};
    long double dx[3], dv[3], rv = 0;
    for (int k = 0; k < 3; k++) {
        dx[k] = (long double)m->x[j][k] - m->x[i][k];
        dv[k] = (long double)m->v[j][k] - m->v[i][k];
        long double q = dx[k] + m->dt[i] * dv[k];
        p.r2 += dx[k] * dx[k];
        p.p2 += q * q;
        p.dv2 += dv[k] * dv[k];
        rv += dx[k] * dv[k];
    }
    if (p.r2 <= 0) return p;
    long double r = sqrtl(p.r2), mr3 = m->mass[j] / (p.r2 * r);
    for (int k = 0; k < 3; k++) {
        p.acc[k] = mr3 * dx[k];
        p.jerk[k] = mr3 * (dv[k] - 3 * rv / p.r2 * dx[k]);
    }
    p.pot = m->mass[j] / r;
    return p;
}

static inline double norm(const double a[3])
{
    return sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
}

/* Bit for bit the same forces, potential and list. */
static inline void assert_same_row(const struct result *a, size_t row_a, const struct result *b, size_t row_b)
{
    assert_memory_equal(a->acc[row_a], b->acc[row_b], sizeof a->acc[0]);
    assert_memory_equal(a->jerk[row_a], b->jerk[row_b], sizeof a->jerk[0]);
    assert_memory_equal(&a->pot[row_a], &b->pot[row_b], sizeof a->pot[0]);
    assert_int_equal(a->nnb[row_a], b->nnb[row_b]);
    assert_memory_equal(a->list + row_a * a->cap, b->list + row_b * b->cap, (size_t)a->nnb[row_a] * sizeof(int32_t));
}

/* Whether `run_on_backends` takes both precisions with the best backend of the processor, and with GPUs, alone: under
 * the sanitizers, because kernels of all instruction sets are one source, and for trees, which read a precision once,
 * when they take places of bodies over. */
static int few_precisions = TEST_SANITIZED;

/* Whether a backend is left to the build without sanitizers: of one source of kernels the widest vectors and the
 * narrowest are enough. Backends are listed best first.
 * @param[in,out] has_wider  whether one with wider vectors was here */
static inline int is_between(const struct gpunb_backend_info *info, int *has_wider)
{
    if (!strcmp(info->name, "avx512") && info->available) *has_wider = 1;
    return TEST_SANITIZED && *has_wider && !strcmp(info->name, "avx2");
}

/* The body of main: the suite on all backends and precisions of this machine; with arguments BACKEND [PATTERN] on this
 * backend, and only tests with matching names. */
static inline int run_on_backends(int argc, char **argv, const char *subject, int (*run_suite)(const char *title))
{
    static const char *const names[] = {"default", "float", "twofloat", "double"};
    int failed = 0, has_wider = 0;
    if (argc > 2) cmocka_set_test_filter(argv[2]);
    for (int k = 0; gpunb_backend(k); k++) {
        const struct gpunb_backend_info *info = gpunb_backend(k);
        if (argc > 1 && strcmp(argv[1], info->name) != 0) continue;
        if (argc < 2 && is_between(info, &has_wider)) continue;
        if (!info->available) print_message("skipped: gpunb %s: %s\n", info->name, info->reason);
        backend = info->name;
        const int narrower = few_precisions && !is_best() && strcmp(backend, "cuda") != 0;
        for (int p = narrower ? GPUNB_TWOFLOAT : GPUNB_FLOAT; info->available && p <= GPUNB_DOUBLE; p++) {
            struct gpunb_options options = {.backend = info->name, .precision = (enum gpunb_precision)p};
            gpunb_t *h = NULL;
            char title[64];
            if (gpunb_create(&h, 1, &options, NULL) != NBC_OK) continue;
            gpunb_nominal_error(h, &nominal_acc, &nominal_jerk);
            gpunb_free(h);
            precision = (enum gpunb_precision)p;
            snprintf(title, sizeof title, "%s, %s %s", subject, backend, names[p]);
            failed += run_suite(title);
        }
    }
    return failed != 0;
}

/* The same for a suite about trees. What floats do to places of devices is in test_gpunb_tree_calls.c. */
static inline int run_trees_on_backends(int argc, char **argv, const char *subject, int (*run_suite)(const char *title))
{
    few_precisions = 1;
    return run_on_backends(argc, argv, subject, run_suite);
}

/** Numbers of any size that a double has; each second round without spheres. */
static inline void make_any_size(struct model *m, int round)
{
    random_state += (uint64_t)round * 7919u;
    for (size_t i = 0; i < m->n; i++) {
        for (int k = 0; k < 3; k++) {
            m->x[i][k] *= pow(10.0, 28.0 * uniform() - 14.0);
            m->v[i][k] *= pow(10.0, 28.0 * uniform() - 14.0);
        }
        m->mass[i] *= pow(10.0, 28.0 * uniform() - 14.0);
        m->r_nb2[i] = round % 2 ? pow(10.0, 600.0 * uniform() - 300.0) : 0.0;
        m->dt[i] = pow(10.0, 600.0 * uniform() - 300.0);
    }
}

#endif
