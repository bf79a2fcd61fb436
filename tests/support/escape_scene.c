#include "tests/support/escape_scene.h"

#include "nbody6/input/config.h"

#include <math.h>
#include <string.h>

enum { FIELD_STARS = 60 };

const char *const escape_names[ESCAPE_KINDS] = {"pair",      "perturbed pair", "chain",  "triple",
                                                "quadruple", "star",           "merger", "binary that stays"};
const int escape_stars[ESCAPE_KINDS] = {2, 3, 3, 3, 4, 1, 2, 2};

/* Pairs as which they are declared. */
static const int DECLARED[ESCAPE_KINDS] = {1, 1, 1, 1, 2, 0, 1, 1};

/* Two masses on an orbit, at or before apocentre (inbound), around a centre. */
static void place_orbit(const double m[2], double a, double e, double anomaly, double tilt, const double x[3],
                        const double v[3], double x_out[2][3], double v_out[2][3])
{
    const double total = m[0] + m[1], b = sqrt(1 - e * e), rate = sqrt(total / a) / (1 - e * cos(anomaly));
    const double flat[2] = {a * (cos(anomaly) - e), a * b * sin(anomaly)};
    const double speed[2] = {-rate * sin(anomaly), rate * b * cos(anomaly)};
    for (int i = 0; i < 2; i++) {
        const double share = i ? m[0] / total : -m[1] / total;
        for (int k = 0; k < 3; k++) {
            x_out[i][k] = x[k] + share * (k == 0 ? flat[0] : flat[1] * (k == 1 ? cos(tilt) : sin(tilt)));
            v_out[i][k] = v[k] + share * (k == 0 ? speed[0] : speed[1] * (k == 1 ? cos(tilt) : sin(tilt)));
        }
    }
}

/* A pair, and what goes round it: at[0] and at[1] are declared, the others follow at `rest`. */
static void place_system(struct cluster *c, int64_t at, int kind, double m, const double x[3], const double v[3])
{
    const double one[2] = {m, m}, outer[2] = {2 * m, kind == 4 ? 2 * m : m};
    double y[2][3], w[2][3];
    for (int s = 0; s < escape_stars[kind]; s++) c->mass[at + s] = m;
    switch (kind) {
    case 0: /* pair */
    case 7: /* binary that stays */
        place_orbit(one, 0.002, 0.4, 2, 0.3, x, v, &c->x[at], &c->v[at]);
        break;
    case 5: /* star */
        memcpy(c->x[at], x, sizeof c->x[at]);
        memcpy(c->v[at], v, sizeof c->v[at]);
        break;
    case 6: /* merger */
        place_orbit(one, 0.004, 0.999, M_PI, 0.3, x, v, &c->x[at], &c->v[at]);
        break;
    default: /* perturbed by a star that is not bound to it, chain, hierarchies */
        place_orbit(outer, kind == 1 ? 0.08 : kind == 2 ? 0.02 : 0.012, 0.2, kind == 2 ? -2.5 : M_PI, 0.9, x, v, y, w);
        place_orbit(one, kind == 2 ? 0.006 : 0.001, 0.4, 2, 0.5, y[0], w[0], &c->x[at], &c->v[at]);
        if (kind == 4) {
            place_orbit(one, 0.0008, 0.1, 1, 1.2, y[1], w[1], &c->x[at + 2], &c->v[at + 2]);
        } else {
            memcpy(c->x[at + 2], y[1], sizeof c->x[0]);
            memcpy(c->v[at + 2], w[1], sizeof c->v[0]);
        }
    }
}

struct scene make_scene(int systems)
{
    static const double way[ESCAPE_KINDS][3] = {
        {0.8, 0.6, 0},        {-0.6, 0, 0.8}, {0, -0.8, 0.6}, {0.36, 0.48, -0.8},
        {-0.48, -0.6, -0.64}, {0, 1, 0},      {0, 0, 1},      {0, 0, -1}};
    struct scene s = {.gone = 0};
    int64_t own = 0, pair_at = 0, other_at = 0;
    for (int k = 0; k < ESCAPE_KINDS; k++) {
        if (!(systems & 1 << k)) continue;
        own += escape_stars[k];
        s.declared += DECLARED[k];
        s.gone += k < 6 ? escape_stars[k] : k == 6;
    }
    other_at = 2 * s.declared;
    s.c = cluster_with_field(own, FIELD_STARS, 5);
    for (int k = 0; k < ESCAPE_KINDS; k++) {
        if (!(systems & 1 << k)) continue;
        struct cluster few = cluster_alloc(escape_stars[k]);
        double x[3], v[3];
        for (int d = 0; d < 3; d++) {
            x[d] = (k >= 6 ? 0.7 : 60) * way[k][d];
            v[d] = (k >= 6 ? 0 : 5) * way[k][d];
        }
        place_system(&few, 0, k, 1.0 / FIELD_STARS, x, v);
        for (int m = 0; m < escape_stars[k]; m++) {
            const int64_t at = m < 2 * DECLARED[k] ? pair_at++ : other_at++;
            s.star[k][m] = at;
            s.c.mass[at] = few.mass[m];
            memcpy(s.c.x[at], few.x[m], sizeof few.x[m]);
            memcpy(s.c.v[at], few.v[m], sizeof few.v[m]);
        }
        cluster_free(&few);
    }
    return s;
}

nb6_t *start_scene(const struct scene *s, int in_tide, enum nb6_escape_kind escape, struct cluster_record *record)
{
    struct nb6_config config;
    cluster_config(&config);
    config.integration.eta_irr = config.integration.eta_reg = 0.01;
    config.run.dt_adjust = config.run.dt_output = 0.125;
    config.binaries.wanted = 1;
    config.binaries.n = s->declared;
    config.pair.adjust = 0;
    config.pair.r_min = 0.02;
    config.pair.dt_min = 1e-3;
    config.pair.slow_down = 0;
    config.pair.r_star = 1e-5;
    config.escape = escape;
    if (s->all_perturb) {
        config.pair.gamma_min = 1e-15; /* (0.002/60)^3 is 4e-14 */
        config.integration.r_nb_init = 1e6;
        config.integration.fixed_nnb = 1;
    }
    if (in_tide) cluster_config_field(&config, NB6_TIDE_POINT_MASS, s->c.n, 1.0 / 4096);
    return cluster_start(&config, &s->c, record);
}
