#include "tests/support/fewbody.h"
#include "common/nbc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

struct chain_body fewbody(int64_t id, double mass, const double x[3], const double v[3])
{
    struct chain_body body = {.id = id, .mass = mass};
    memcpy(body.x, x, sizeof body.x);
    memcpy(body.v, v, sizeof body.v);
    return body;
}

void fewbody_pair(struct chain_body body[2], int64_t id, const double x[3], const double v[3])
{
    const double speed = sqrt(2 * (1 - 0.5) / (1 + 0.5));
    for (int i = 0; i < 2; i++) {
        double sign = i ? -0.5 : 0.5;
        body[i] = fewbody(id + i, 1, (double[3]){x[0] + sign * 1.5, x[1], x[2]},
                          (double[3]){v[0], v[1] + sign * speed, v[2]});
    }
}

void fewbody_triple(struct chain_body body[3])
{
    fewbody_pair(body, 10, (double[3]){100, 0, 0}, (double[3]){0, 0, 0.1});
    body[2] = fewbody(12, 2, (double[3]){100, 5, 1}, (double[3]){0.4, -0.3, 0.1});
}

struct chain fewbody_start(const char *method, double tolerance, int n, const struct chain_body body[])
{
    struct chain c;
    struct chain_options options;
    struct nbc_error err = {0};
    chain_options_init(&options);
    options.tolerance = tolerance;
    memset(&c, 0, sizeof c);
    if (chain_method_find(method, &options.method, &err) || chain_init(&c, &options, n, body, 0, &err))
        fail_msg("%s", err.text);
    return c;
}

int fewbody_advance(struct chain *c, double t, const struct chain_field *field, struct chain_event *event)
{
    struct chain_event own;
    struct nbc_error err = {0};
    if (!event) event = &own;
    if (chain_advance(c, t, field, event, &err)) fail_msg("%s", err.text);
    return event->kind;
}

double fewbody_distance(int n, const struct chain_body is[], const struct chain_body should[])
{
    double worst = 0;
    for (int i = 0; i < n; i++) {
        double sum = 0;
        for (int k = 0; k < 3; k++) sum += pow(is[i].x[k] - should[i].x[k], 2);
        if (!(sum <= worst * worst)) worst = sqrt(sum);
    }
    return worst;
}

double fewbody_uniform(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

void fewbody_direction(uint64_t *state, double out[3])
{
    double z = 2 * fewbody_uniform(state) - 1, phi = 2 * 3.14159265358979324 * fewbody_uniform(state);
    out[0] = sqrt(1 - z * z) * cos(phi);
    out[1] = sqrt(1 - z * z) * sin(phi);
    out[2] = z;
}
