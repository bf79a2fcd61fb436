/* Bodies with neighbour lists for the tests of GPUIRR, and the independent sum in long double that they compare with.
 */
#ifndef GPUIRR_MODEL_H
#define GPUIRR_MODEL_H

#include "common/nbc.h"
#include "gpuirr/gpuirr.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The backend under test: main() runs every test once for each that this machine can run. */
static const char *backend;

struct body {
    double x[3], v[3], acc[3], jerk[3], mass, t0;
};

struct exact {
    long double acc[3], jerk[3], acc_scale, jerk_scale; /* scales: sums of the magnitudes of what is added up */
    int32_t nearest;
};

static uint64_t random_state;

/* Uniform in [-1, 1): xorshift64. */
static inline double uniform(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (double)(random_state >> 11) * 0x1p-52 - 1;
}

/* n bodies in the cube [-1, 1]^3 with derivatives of order one, last stored at multiples of 1/64 below 1/4. */
static inline struct body *make_bodies(int32_t n)
{
    struct body *body = nbc_alloc((size_t)n, sizeof *body);
    assert_non_null(body);
    random_state = 88172645463325252u;
    for (int32_t i = 0; i < n; i++) {
        for (int d = 0; d < 3; d++) {
            body[i].x[d] = uniform();
            body[i].v[d] = uniform();
            body[i].acc[d] = uniform();
            body[i].jerk[d] = uniform();
        }
        body[i].mass = (1.5 + uniform()) / n;
        body[i].t0 = (i % 16) / 64.0;
    }
    return body;
}

/* nnb different bodies other than i, ascending: selection sampling. */
static inline void make_list(int32_t n, int32_t i, int32_t nnb, int32_t *list)
{
    int32_t wanted = nnb, left = n - 1;
    for (int32_t j = 0; j < n; j++) {
        if (j == i) continue;
        if (0.5 * (uniform() + 1) * left < wanted) list[nnb - wanted--] = j;
        left--;
    }
}

static inline gpuirr_t *open_library(int32_t n_max)
{
    gpuirr_t *irr = NULL;
    struct gpuirr_options options = {.backend = backend};
    struct nbc_error err = {0};
    if (gpuirr_create(&irr, (size_t)n_max, &options, &err)) fail_msg("%s", err.text);
    assert_string_equal(gpuirr_info(irr)->name, backend);
    return irr;
}

static inline void expect_ok(const gpuirr_t *irr, int status)
{
    if (status) fail_msg("%s: %s", nbc_status_name(status), gpuirr_last_error(irr));
}

/* The status wanted, and a message that says this. */
static inline void expect_refused(const gpuirr_t *irr, int status, int wanted, const char *part)
{
    assert_int_equal(status, wanted);
    if (!strstr(gpuirr_last_error(irr), part)) fail_msg("'%s' is not in '%s'", part, gpuirr_last_error(irr));
}

static inline int set_body(gpuirr_t *irr, int32_t i, const struct body *b)
{
    return gpuirr_set_jp(irr, (size_t)i, b->x, b->v, b->acc, b->jerk, b->mass, b->t0);
}

static inline void set_bodies(gpuirr_t *irr, int32_t n, const struct body *body)
{
    for (int32_t i = 0; i < n; i++) expect_ok(irr, set_body(irr, i, &body[i]));
}

/* Position and velocity of a body at time t. */
static inline void exact_state(const struct body *b, double t, long double x[3], long double v[3])
{
    long double s = (long double)t - b->t0;
    for (int d = 0; d < 3; d++) {
        x[d] = b->x[d] + s * b->v[d] + s * s * b->acc[d] / 2 + s * s * s * b->jerk[d] / 6;
        v[d] = b->v[d] + s * b->acc[d] + s * s * b->jerk[d] / 2;
    }
}

static inline void exact_force(const struct body *body, int32_t i, int32_t nnb, const int32_t *list, double t,
                               struct exact *sum)
{
    long double xi[3], vi[3], r2_min = INFINITY;
    exact_state(&body[i], t, xi, vi);
    *sum = (struct exact){.nearest = -1};
    for (int32_t k = 0; k < nnb; k++) {
        long double xj[3], vj[3], r2 = 0, rv = 0, v2 = 0;
        exact_state(&body[list[k]], t, xj, vj);
        for (int d = 0; d < 3; d++) {
            r2 += (xj[d] - xi[d]) * (xj[d] - xi[d]);
            rv += (xj[d] - xi[d]) * (vj[d] - vi[d]);
            v2 += (vj[d] - vi[d]) * (vj[d] - vi[d]);
        }
        if (r2 < r2_min) {
            r2_min = r2;
            sum->nearest = list[k];
        }
        if (r2 == 0) continue;
        long double r = sqrtl(r2), m_r3 = body[list[k]].mass / (r * r * r);
        for (int d = 0; d < 3; d++) {
            sum->acc[d] += m_r3 * (xj[d] - xi[d]);
            sum->jerk[d] += m_r3 * ((vj[d] - vi[d]) - 3 * rv / r2 * (xj[d] - xi[d]));
        }
        sum->acc_scale += m_r3 * r;
        sum->jerk_scale += m_r3 * (sqrtl(v2) + 3 * fabsl(rv) / r);
    }
}

/* `ref` works in double throughout; the others take differences of two-float positions in float where that is enough.
 */
static inline int is_double(void)
{
    return strcmp(backend, "ref") == 0;
}

/* Largest component of (value - exact), relative to what was added up: cancellation between sources is no error. */
static inline double relative_error(const double value[3], const long double exact[3], long double scale)
{
    long double worst = 0;
    for (int d = 0; d < 3; d++) {
        long double error = fabsl(value[d] - exact[d]);
        if (!(error <= worst)) worst = error; /* a NaN stays */
    }
    return (double)(scale > 0 ? worst / scale : worst);
}

static inline void expect_within(const char *what, int32_t i, double error, double tolerance)
{
    if (!(error <= tolerance))
        fail_msg("%s: body %d: %s off by %.3g, allowed %.3g", backend, i, what, error, tolerance);
}

/* Run a group of tests for each backend, or for one alone, and of these those with names that fit a pattern if there is
 * one: PROGRAM [BACKEND [PATTERN]] */
#define RUN_FOR_EACH_BACKEND(tests)                                                                                    \
    int main(int argc, char **argv)                                                                                    \
    {                                                                                                                  \
        int failures = 0, found = 0;                                                                                   \
        if (argc > 2) cmocka_set_test_filter(argv[2]);                                                                 \
        for (int k = 0; gpuirr_backend_name(k); k++) {                                                                 \
            backend = gpuirr_backend_name(k);                                                                          \
            if (argc > 1 && strcmp(argv[1], backend) != 0) continue;                                                   \
            found = 1;                                                                                                 \
            if (gpuirr_backend(k)->available)                                                                          \
                failures += cmocka_run_group_tests_name(backend, tests, NULL, NULL);                                   \
            else                                                                                                       \
                printf("skipped: gpuirr %s: %s\n", backend, gpuirr_backend(k)->reason);                                \
        }                                                                                                              \
        if (!found) printf("no backend '%s'\n", argv[1]);                                                              \
        return failures + !found;                                                                                      \
    }

#endif
