#include "tests/support/scattering.h"
#include "common/nbc.h"

#include "regularization/hierarchy.h"
#include "tests/support/fewbody.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The encounter begins at this separation, and ends when all parts are that much farther apart than they are large and
 * escape. An encounter that takes longer than the limits is unresolved. */
static const double START = 30, END = 30, T_MAX = 1e8;
static const int64_t STEPS_MAX = 200000;

/* Minima of the size that make a resonance: a fly-by may have a few. */
enum { RESONANCE = 10 };

/* Two unit vectors at right angles, at random. */
static void frame(uint64_t *random, double a[3], double b[3])
{
    double along = 0, norm = 0;
    fewbody_direction(random, a);
    fewbody_direction(random, b);
    for (int c = 0; c < 3; c++) along += a[c] * b[c];
    for (int c = 0; c < 3; c++) {
        b[c] -= along * a[c];
        norm += b[c] * b[c];
    }
    for (int c = 0; c < 3; c++) b[c] /= sqrt(norm);
}

/* Two bodies of half the mass each around x, v; semi-major axis 1. */
static void binary(uint64_t *random, double mass, double e, const double x[3], const double v[3],
                   struct chain_body body[2])
{
    double p[3], q[3], mean = 2 * 3.14159265358979324 * fewbody_uniform(random), anomaly = mean;
    frame(random, p, q);
    for (int k = 0; k < 200; k++) anomaly -= (anomaly - e * sin(anomaly) - mean) / (1 - e * cos(anomaly));
    double r = 1 - e * cos(anomaly), n = sqrt(mass), b = sqrt(1 - e * e);
    for (int i = 0; i < 2; i++)
        for (int c = 0; c < 3; c++) {
            double sign = i ? 0.5 : -0.5;
            body[i].x[c] = x[c] + sign * ((cos(anomaly) - e) * p[c] + b * sin(anomaly) * q[c]);
            body[i].v[c] = v[c] + sign * n / r * (-sin(anomaly) * p[c] + b * cos(anomaly) * q[c]);
        }
}

/* Bodies of mass 1, the two parts on a hyperbola that is incoming.   @return number of bodies */
static int begin(const struct scattering *setup, uint64_t seed, struct chain_body body[4])
{
    const int n = 2 + setup->binaries, second = setup->binaries == 2 ? 2 : 1;
    uint64_t random = seed * 2 + 1;
    const double total = n, reduced = 2.0 * second / total;
    const double v_critical = sqrt(2 * 0.5 * setup->binaries / reduced), v2 = pow(setup->speed * v_critical, 2);
    const double p_max = setup->pericentre,
                 b2 = p_max * p_max * (1 + 2 * total / (v2 * p_max)) * fewbody_uniform(&random);
    double out[3], side[3], x[2][3], v[2][3];
    const double speed2 = v2 + 2 * total / START, across = sqrt(b2 * v2) / START;
    const double inward = sqrt(speed2 - across * across);
    frame(&random, out, side);
    for (int c = 0; c < 3; c++) {
        double dx = START * out[c], dv = -inward * out[c] + across * side[c];
        x[0][c] = -second / total * dx;
        v[0][c] = -second / total * dv;
        x[1][c] = 2 / total * dx;
        v[1][c] = 2 / total * dv;
    }
    memset(body, 0, 4 * sizeof *body);
    for (int k = 0; k < setup->binaries; k++) {
        double e = setup->circular ? 0 : sqrt(fewbody_uniform(&random));
        binary(&random, 2, fmin(e, 0.999), x[k], v[k], body + 2 * k);
    }
    if (setup->binaries == 1) {
        memcpy(body[2].x, x[1], sizeof x[1]);
        memcpy(body[2].v, v[1], sizeof v[1]);
    }
    for (int i = 0; i < n; i++) {
        body[i].id = i;
        body[i].mass = 1;
    }
    return n;
}

static double size_of(const struct hierarchy *h, int node)
{
    if (node < h->n) return 0;
    const struct hierarchy_orbit *o = &h->pair[node - h->n].orbit;
    return o->a * (1 + o->e);
}

static void node_state(const struct hierarchy *h, int node, const struct chain_body body[], double *mass, double x[3],
                       double v[3])
{
    if (node < h->n) {
        *mass = body[node].mass;
        memcpy(x, body[node].x, 3 * sizeof *x);
        memcpy(v, body[node].v, 3 * sizeof *v);
        return;
    }
    double m[2], p[2][3], w[2][3];
    node_state(h, h->pair[node - h->n].first, body, &m[0], p[0], w[0]);
    node_state(h, h->pair[node - h->n].second, body, &m[1], p[1], w[1]);
    *mass = m[0] + m[1];
    for (int c = 0; c < 3; c++) {
        x[c] = (m[0] * p[0][c] + m[1] * p[1][c]) / *mass;
        v[c] = (m[0] * w[0][c] + m[1] * w[1][c]) / *mass;
    }
}

/* Do all parts fly apart, and does each of them last? */
static int has_ended(const struct hierarchy *h, const struct chain_body body[])
{
    for (int k = 0; k < h->pairs; k++)
        if (!h->pair[k].stable) return 0;
    for (int a = 0; a < h->roots; a++)
        for (int b = 0; b < a; b++) {
            double m[2], x[2][3], v[2][3], r2 = 0, rv = 0;
            node_state(h, h->root[a], body, &m[0], x[0], v[0]);
            node_state(h, h->root[b], body, &m[1], x[1], v[1]);
            for (int c = 0; c < 3; c++) {
                r2 += pow(x[1][c] - x[0][c], 2);
                rv += (x[1][c] - x[0][c]) * (v[1][c] - v[0][c]);
            }
            if (rv <= 0 || r2 < pow(END * fmax(1, fmax(size_of(h, h->root[a]), size_of(h, h->root[b]))), 2)) return 0;
        }
    return 1;
}

static int classify(const struct hierarchy *h, int binaries)
{
    int same = 0;
    for (int k = 0; k < h->pairs; k++) {
        if (h->pair[k].first >= h->n || h->pair[k].second >= h->n) return SCATTERING_TRIPLE;
        same += h->pair[k].first / 2 == h->pair[k].second / 2 && h->pair[k].first / 2 < binaries;
    }
    if (h->pairs < binaries) return SCATTERING_IONISATION;
    return same == binaries ? SCATTERING_FLYBY : SCATTERING_EXCHANGE;
}

/* Extremes of the sum of squared distances on the way. */
struct extremes {
    double low, high; /* since the last minimum and maximum that count */
    int falling, minima;
};

static void look(const struct chain *c, struct extremes *seen)
{
    struct chain_body body[CHAIN_MAX];
    double sum = 0;
    chain_bodies(c, body);
    for (int i = 0; i < c->n; i++)
        for (int j = 0; j < i; j++)
            for (int k = 0; k < 3; k++) sum += pow(body[i].x[k] - body[j].x[k], 2);
    seen->low = fmin(seen->low, sum);
    seen->high = fmax(seen->high, sum);
    if (seen->falling && sum > 2 * seen->low) {
        seen->minima++;
        seen->falling = 0;
        seen->high = sum;
    } else if (!seen->falling && 2 * sum < seen->high) {
        seen->falling = 1;
        seen->low = sum;
    }
}

/* To time t, looking at every fourth step if that is wanted: an orbit of the binary takes some thirty. */
static int go_on(struct chain *c, double t, struct extremes *seen, struct nbc_error *err)
{
    struct chain_event event = {.kind = CHAIN_STEPS};
    int status = NBC_OK;
    c->options.max_steps = seen ? 4 : 0;
    while (!status && event.kind == CHAIN_STEPS) {
        status = chain_advance(c, t, NULL, &event, err);
        if (!status && seen) look(c, seen);
    }
    return status;
}

int scattering_run(const struct scattering *setup, const struct chain_options *options, uint64_t seed,
                   struct scattering_result *result, struct nbc_error *err)
{
    struct chain_body body[4];
    struct extremes seen = {.low = HUGE_VAL, .falling = 1};
    struct chain *c = &result->end;
    double start = nbc_wtime();
    int n = begin(setup, seed, body);
    memset(result, 0, sizeof *result);
    int status = chain_init(c, options, n, body, 0, err);
    if (status) return status;
    const double energy = chain_energy(c);
    result->outcome = SCATTERING_UNRESOLVED;
    for (double dt = 20; c->t < T_MAX && c->steps < STEPS_MAX; dt = fmax(20, 0.02 * c->t)) {
        status = go_on(c, c->t + dt, setup->watch ? &seen : NULL, err);
        if (status) return status;
        struct hierarchy h;
        double mass[4], x[4][3], v[4][3];
        chain_bodies(c, body);
        for (int i = 0; i < n; i++) {
            mass[i] = body[i].mass;
            memcpy(x[i], body[i].x, sizeof x[i]);
            memcpy(v[i], body[i].v, sizeof v[i]);
        }
        hierarchy_find(n, mass, (const double(*)[3])x, (const double(*)[3])v, &h);
        if (!has_ended(&h, body)) continue;
        result->outcome = classify(&h, setup->binaries);
        break;
    }
    chain_slow_end(c);
    result->energy_error = fabs(chain_energy(c) / energy - 1);
    result->seconds = nbc_wtime() - start;
    result->steps = c->steps;
    result->evaluations = c->evaluations;
    result->t = c->t;
    result->minima = seen.minima;
    return NBC_OK;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int scattering_survey(const struct scattering *setup, const struct chain_options *options, uint64_t first, int n,
                      struct scattering_survey *survey)
{
    size_t count = (size_t)n;
    int *outcome = malloc(count * sizeof *outcome), *minima = malloc(count * sizeof *minima);
    memset(survey, 0, sizeof *survey);
    survey->n = n;
    survey->error = malloc(count * sizeof *survey->error);
    survey->seconds = malloc(count * sizeof *survey->seconds);
    survey->evaluations = malloc(count * sizeof *survey->evaluations);
    if (!outcome || !minima || !survey->error || !survey->seconds || !survey->evaluations) {
        free(outcome);
        free(minima);
        scattering_survey_free(survey);
        return 1;
    }
#pragma omp parallel for schedule(dynamic)
    for (int i = 0; i < n; i++) {
        struct scattering_result result;
        struct nbc_error err = {0};
        int status = scattering_run(setup, options, first + (uint64_t)i, &result, &err);
        if (status) fprintf(stderr, "encounter %llu: %s\n", (unsigned long long)first + (unsigned)i, err.text);
        outcome[i] = status ? -1 : result.outcome;
        minima[i] = result.minima;
        survey->error[i] = status ? HUGE_VAL : result.energy_error;
        survey->seconds[i] = result.seconds;
        survey->evaluations[i] = (double)result.evaluations;
    }
    for (int i = 0; i < n; i++) {
        if (outcome[i] < 0)
            survey->failed++;
        else
            survey->outcomes[outcome[i]]++;
        if (outcome[i] >= 0) survey->resonances[outcome[i]] += minima[i] >= RESONANCE;
    }
    free(outcome);
    free(minima);
    qsort(survey->error, count, sizeof(double), ascending);
    qsort(survey->seconds, count, sizeof(double), ascending);
    qsort(survey->evaluations, count, sizeof(double), ascending);
    return 0;
}

void scattering_survey_free(struct scattering_survey *survey)
{
    free(survey->error);
    free(survey->seconds);
    free(survey->evaluations);
}

void scattering_survey_print(const char *title, const struct scattering_survey *s)
{
    const int *o = s->outcomes, n = s->n;
    printf("%s: %d encounters: fly-by %d, exchange %d, ionisation %d, hierarchy %d, unresolved %d, failed %d\n", title,
           n, o[0], o[1], o[2], o[3], o[4], s->failed);
    printf(
        "    energy error: median %.1e, 99%% %.1e, 99.9%% %.1e, worst %.1e; forces: median %.0f, 90%% %.0f, 99%% %.0f, "
        "most %.0f; ms: median %.2f, 99%% %.1f\n",
        s->error[n / 2], s->error[n * 99 / 100], s->error[n * 999 / 1000], s->error[n - 1], s->evaluations[n / 2],
        s->evaluations[n * 9 / 10], s->evaluations[n * 99 / 100], s->evaluations[n - 1], 1e3 * s->seconds[n / 2],
        1e3 * s->seconds[n * 99 / 100]);
}
