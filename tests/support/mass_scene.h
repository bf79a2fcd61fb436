/** A scene for tests of stars whose masses change in a run: a star, a pair, a chain or a frozen triple, and a field. */
#ifndef MASS_SCENE_H
#define MASS_SCENE_H

#include <math.h>
#include <string.h>

#include "common/nbc.h"
#include "nbody6/input/config.h"
#include "nbody6/run/nbody6.h"
#include "tests/support/cluster.h"
#include "tests/support/orbit_of_two.h"

/* Stars 0 to 3 are a system, or the first of them alone; then the field. */
enum { FIELD = 6, SYSTEM = 4, STARS = SYSTEM + FIELD };
enum shape { ONE, A_PAIR, A_CHAIN, A_TRIPLE };
static const double M = 0.1; /* of a star */

static inline void demand(int status, const struct nbc_error *err)
{
    if (status) fail_msg("%s", err->text);
}

/* Stars far from each other and from the origin, slowly. */
static inline void place_field(struct cluster *c)
{
    static const double x[FIELD][3] = {{1, 0.2, 0},  {-1.1, 0, 0.3}, {0.1, 1.2, 0},
                                       {0, -1, 0.4}, {0.3, 0, 1.1},  {0, 0.2, -1}};
    static const double v[FIELD][3] = {{0, 0.5, 0}, {0, -0.4, 0.1}, {-0.5, 0, 0.1},
                                       {0.4, 0, 0}, {0, 0.4, 0},    {0.1, -0.5, 0}};
    for (int i = 0; i < FIELD; i++) {
        c->mass[SYSTEM + i] = M;
        memcpy(c->x[SYSTEM + i], x[i], sizeof x[i]);
        memcpy(c->v[SYSTEM + i], v[i], sizeof v[i]);
    }
}

static inline struct cluster make(enum shape shape)
{
    static const double x[3] = {0.1, -0.1, 0.05}, v[3] = {0.1, 0.2, 0};
    static const double beside[3][3] = {{0.7, -0.8, 0.3}, {-0.6, 0.7, -0.4}, {-0.4, -0.6, -0.7}};
    struct cluster c = cluster_alloc(STARS);
    double y[2][3], w[2][3];
    place_field(&c);
    for (int i = 0; i < SYSTEM; i++) {
        c.mass[i] = M;
        memcpy(c.x[i], i ? beside[i - 1] : x, sizeof x);
    }
    memcpy(c.v[0], v, sizeof v);
    switch (shape) {
    case A_PAIR:
        orbit_of_two(M, M, 1e-3, 0.4, 0.5, x, v, &c.x[0], &c.v[0]);
        break;
    case A_CHAIN:
        orbit_of_two(2 * M, 2 * M, 0.02, 0.3, 0.9, x, v, y, w);
        orbit_of_two(M, M, 0.006, 0.4, 0.5, y[0], w[0], &c.x[0], &c.v[0]);
        orbit_of_two(M, M, 0.005, 0.2, 1.5, y[1], w[1], &c.x[2], &c.v[2]);
        break;
    case A_TRIPLE:
        orbit_of_two(2 * M, M, 0.004, 0.1, 0.9, x, v, y, w);
        orbit_of_two(M, M, 1e-6, 0.4, 0.5, y[0], w[0], &c.x[0], &c.v[0]);
        memcpy(c.x[2], y[1], sizeof y[1]);
        memcpy(c.v[2], w[1], sizeof w[1]);
        break;
    default:
        break;
    }
    return c;
}

static inline void configure(struct nb6_config *config, enum nb6_engine_choice engine)
{
    cluster_config(config);
    cluster_config_ref(config);
    config->run.engine = engine;
    config->run.dt_adjust = config->run.dt_output = 0.125;
    config->integration.eta_irr = config->integration.eta_reg = 1e-3;
    config->pair.adjust = 0;
    config->pair.r_min = 0.03;
    config->pair.dt_min = 1e-2;
    config->pair.gamma_min = 1e-9;
    config->pair.eta_u = 0.05;
    config->pair.slow_down = 0;
}

static inline nb6_t *start(enum shape shape, enum nb6_engine_choice engine, struct cluster_record *record)
{
    struct nb6_config config;
    struct cluster c = make(shape);
    configure(&config, engine);
    nb6_t *sim = cluster_start(&config, &c, record);
    cluster_free(&c);
    return sim;
}

static inline void near(double is, double should, double bound, const char *what, int line)
{
    if (!(fabs(is - should) <= bound))
        fail_msg("line %d: %s is %.17g, not %.17g: off by %.3g", line, what, is, should, is - should);
}

#define assert_near(is, should, bound) near(is, should, bound, #is, __LINE__)

#endif
