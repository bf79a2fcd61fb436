#include "tests/support/triples.h"
#include "common/nbc.h"

#include "regularization/hierarchy.h"
#include "tests/support/fewbody.h"

#include <math.h>
#include <string.h>

static const double PI = 3.14159265358979324;

/* Relative position and velocity on an orbit in a random plane, at a random time. */
static void random_orbit(uint64_t *random, double mass, double a, double e, double x[3], double v[3])
{
    double p[3], q[3], along = 0, norm = 0, mean = 2 * PI * fewbody_uniform(random), anomaly = mean;
    fewbody_direction(random, p);
    fewbody_direction(random, q);
    for (int c = 0; c < 3; c++) along += p[c] * q[c];
    for (int c = 0; c < 3; c++) {
        q[c] -= along * p[c];
        norm += q[c] * q[c];
    }
    for (int k = 0; k < 200; k++) anomaly -= (anomaly - e * sin(anomaly) - mean) / (1 - e * cos(anomaly));
    double n = sqrt(mass / (a * a * a)), b = sqrt(1 - e * e);
    for (int c = 0; c < 3; c++) {
        double second = q[c] / sqrt(norm);
        x[c] = a * ((cos(anomaly) - e) * p[c] + b * sin(anomaly) * second);
        v[c] = a * n / (1 - e * cos(anomaly)) * (-sin(anomaly) * p[c] + b * cos(anomaly) * second);
    }
}

static void split(struct chain_body body[], int i, int j, const double x[3], const double v[3], double m_i, double m_j)
{
    for (int c = 0; c < 3; c++) {
        body[j].x[c] = body[i].x[c] + m_i / (m_i + m_j) * x[c];
        body[j].v[c] = body[i].v[c] + m_i / (m_i + m_j) * v[c];
        body[i].x[c] -= m_j / (m_i + m_j) * x[c];
        body[i].v[c] -= m_j / (m_i + m_j) * v[c];
    }
}

static int tree(const struct chain *c, struct hierarchy *h)
{
    struct chain_body body[3];
    double mass[3], x[3][3], v[3][3];
    chain_bodies(c, body);
    for (int i = 0; i < 3; i++) {
        mass[i] = body[i].mass;
        memcpy(x[i], body[i].x, sizeof x[i]);
        memcpy(v[i], body[i].v, sizeof v[i]);
    }
    hierarchy_find(3, mass, (const double(*)[3])x, (const double(*)[3])v, h);
    return h->pairs == 2 && h->pair[0].first == 0 && h->pair[0].second == 1;
}

/* 1: lasts, 0: broken, -1: failed */
static int lasts(uint64_t seed, int orbits, int *stable, double *energy_error)
{
    uint64_t random = 2 * seed + 1;
    struct chain_body body[3];
    struct chain c;
    struct chain_options options;
    struct chain_event event;
    struct hierarchy h;
    double m[3], x[2][3], v[2][3];
    for (int i = 0; i < 3; i++) {
        m[i] = 0.2 + 0.8 * fewbody_uniform(&random);
        body[i] = (struct chain_body){.id = i, .mass = m[i]};
    }
    double e = 0.8 * fewbody_uniform(&random), inner_e = 0.8 * fewbody_uniform(&random);
    double factor = 0.5 * pow(4, fewbody_uniform(&random));
    random_orbit(&random, m[0] + m[1], 1, inner_e, x[0], v[0]);
    /* The critical ratio depends on the inclination, that on the orbit's plane, so the size is set by a coplanar one.
     */
    double a = factor * hierarchy_critical_ratio(m[2] / (m[0] + m[1]), e, 0) / (1 - e), total = m[0] + m[1] + m[2];
    random_orbit(&random, total, a, e, x[1], v[1]);
    split(body, 0, 2, x[1], v[1], m[0] + m[1], m[2]);
    split(body, 0, 1, x[0], v[0], m[0], m[1]);
    chain_options_init(&options);
    options.tolerance = 1e-13;
    memset(&c, 0, sizeof c);
    struct nbc_error err = {0};
    if (chain_init(&c, &options, 3, body, 0, &err)) return -1;
    const double energy = chain_energy(&c), period = 2 * PI * a * sqrt(a / total);
    if (!tree(&c, &h)) return -1;
    *stable = h.pair[1].stable;
    for (int k = 1; k <= orbits; k++) {
        if (chain_advance(&c, k * period, NULL, &event, &err)) return -1;
        *energy_error = fabs(chain_energy(&c) / energy - 1);
        if (!tree(&c, &h) || fabs(h.pair[1].orbit.a / a - 1) > 0.2) return 0;
    }
    return 1;
}

void triples_survey(uint64_t first, int n, int orbits, struct triples_count *count)
{
    int failed = 0, l0 = 0, l1 = 0, b0 = 0, b1 = 0;
    double worst = 0;
#pragma omp parallel for schedule(dynamic) reduction(+ : failed, l0, l1, b0, b1) reduction(max : worst)
    for (int i = 0; i < n; i++) {
        int stable = 0;
        double error = 0;
        int result = lasts(first + (uint64_t)i, orbits, &stable, &error);
        failed += result < 0;
        l0 += result == 1 && !stable;
        l1 += result == 1 && stable;
        b0 += result == 0 && !stable;
        b1 += result == 0 && stable;
        worst = fmax(worst, error);
    }
    *count = (struct triples_count){n, failed, {l0, l1}, {b0, b1}, worst};
}
