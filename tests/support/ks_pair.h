/** KS pairs and their perturbers for tests. */
#ifndef KS_PAIR_H
#define KS_PAIR_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "common/nbc.h"
#include "regularization/ks.h"

static const double EPS = 2.220446049250313e-16;
static const struct ks_options ETA02 = {0.2, 0, 1};

/** Masses 0.7 and 0.3, relative orbit a = 1, at the apocentre (side = 1) or pericentre (-1), the plane tilted. */
static inline void orbit_init(struct ks_pair *pair, double e, double side, const struct ks_options *options)
{
    struct nbc_error err = {0};
    double mass[2] = {0.7, 0.3}, r = 1 + side * e, s = sqrt((1 - side * e) / (1 + side * e));
    double x[2][3] = {{1 + 0.3 * 0.6 * r, 2 + 0.3 * 0.48 * r, 0.3 * 0.64 * r},
                      {1 - 0.7 * 0.6 * r, 2 - 0.7 * 0.48 * r, -0.7 * 0.64 * r}};
    double v[2][3] = {{-0.3 * 0.8 * s, 0.3 * 0.36 * s, 0.3 * 0.48 * s},
                      {0.7 * 0.8 * s, -0.7 * 0.36 * s, -0.7 * 0.48 * s}};
    int status = ks_init(pair, options, mass, (const double(*)[3])x, (const double(*)[3])v, 0, &err);
    if (status) fail_msg("%s", err.text);
}

/** A distant body of mass 0.5 that passes at 6 with velocity 0.7, and one of mass 0.2 at 9. */
static inline void field_init(struct ks_field *field, const struct ks_pair *pair, struct ks_path paths[2])
{
    paths[0] = (struct ks_path){.x = {6, -4, 1}, .v = {0.1, 0.7, 0}, .acc = {-0.01, 0.005, 0}, .mass = 0.5};
    paths[1] = (struct ks_path){.x = {-5, 1, 7}, .v = {0.2, 0.2, -0.3}, .jerk = {0, 1e-4, 0}, .t0 = -1, .mass = 0.2};
    *field =
        (struct ks_field){.pair = pair, .centre = {.v = {0.05, 0, 0.02}, .acc = {0.003, 0, 0}}, .n = 2, .paths = paths};
}

static inline double gap(const double a[3], const double b[3])
{
    double sum = 0;
    for (int i = 0; i < 3; i++) sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(sum);
}

static inline double norm(const double a[3])
{
    return gap(a, (double[3]){0, 0, 0});
}

#endif
