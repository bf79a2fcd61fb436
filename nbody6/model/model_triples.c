/* Primordial triples: binaries whose first star becomes two. */
#include "common/nbc.h"
#include "nbody6/input/config.h"
#include "nbody6/model/model.h"
#include "nbody6/model/model_parts.h"
#include "nbody6/model/random.h"
#include "regularization/hierarchy.h"

#include <math.h>
#include <string.h>

/* As NBODY6 has them: so many draws of an axis before it is halved, and the range of the first star's share. */
enum { DRAWS = 5 };
static const double LEAST_SHARE = 0.5, SHARE_RANGE = 0.4;

/* Above the criterion, as a run demands it of triples that it takes for stable ones (NB6_HIERARCHY_ROOM is 1.1). */
static const double ROOM = 1.15;

/* The inner orbit: the second star's share of the mass, and the motion of the first seen from the second. */
struct inner {
    double second, x[3], v[3];
};

static void find_outer(const struct nb6_model *model, int64_t i, struct hierarchy_orbit *outer)
{
    double x[3], v[3];
    for (int k = 0; k < 3; k++) {
        x[k] = model->x[i][k] - model->x[i + 1][k];
        v[k] = model->v[i][k] - model->v[i + 1][k];
    }
    hierarchy_orbit_find(model->mass[i] + model->mass[i + 1], x, v, outer);
}

/* The mathematical library may differ in its last bits here: they decide nothing but whether an axis is drawn again. */
static double inclination(const struct hierarchy_orbit *a, const struct hierarchy_orbit *b)
{
    double product = 0, aa = 0, bb = 0;
    for (int k = 0; k < 3; k++) {
        product += a->j[k] * b->j[k];
        aa += a->j[k] * a->j[k];
        bb += b->j[k] * b->j[k];
    }
    return aa > 0 && bb > 0 ? acos(fmax(-1, fmin(1, product / sqrt(aa * bb)))) : 0;
}

static double draw_axis(const struct nb6_triple_config *t, nb6_random_t *random)
{
    return t->range > 0 ? t->semi_max * nb6_exp(-nb6_random_uniform(random) * nb6_log(t->range)) : t->semi_max;
}

/* An orbit of another size has the same shape and orientation: positions go with the axis, velocities with its root. */
static void draw_inner(const struct nb6_triple_config *t, const struct nb6_model *model, int64_t i,
                       nb6_random_t *random, struct inner *inner)
{
    struct hierarchy_orbit outer, unit;
    const double mass = model->mass[i], q = model->mass[i + 1] / mass;
    const double share = LEAST_SHARE + SHARE_RANGE * nb6_random_uniform(random), u = nb6_random_uniform(random);
    inner->second = t->ratio == 1.0 ? 0.5 : 1.0 - share;
    nb6_draw_orbit(mass, 1.0, t->ecc < 0 ? sqrt(u) : t->ecc, random, inner->x, inner->v);
    find_outer(model, i, &outer);
    hierarchy_orbit_find(mass, inner->x, inner->v, &unit);
    const double critical = hierarchy_critical_ratio(q, outer.e, inclination(&unit, &outer));
    double a = draw_axis(t, random);
    for (int draws = 1; t->range > 0 && ROOM * critical * a >= outer.pericentre; draws++)
        a = draws < DRAWS ? draw_axis(t, random) : 0.5 * a;
    for (int k = 0; k < 3; k++) {
        inner->x[k] *= a;
        inner->v[k] /= sqrt(a);
    }
}

/* Stars 2k and 2k + 1 are the inner pair of triple k; its outer star is the k-th after all pairs. */
static void place(const struct nb6_model *old, int64_t pairs, int64_t triples, const struct inner *inner,
                  struct nb6_model *model)
{
    for (int64_t i = 0; i < old->n; i++) {
        const int is_outer = i < 2 * triples && i % 2 == 1;
        const int64_t to = is_outer ? 2 * pairs + i / 2 : i < 2 * pairs ? i : i + triples;
        model->mass[to] = old->mass[i];
        memcpy(model->x[to], old->x[i], sizeof model->x[to]);
        memcpy(model->v[to], old->v[i], sizeof model->v[to]);
    }
    for (int64_t k = 0; k < triples; k++) {
        const double mass = old->mass[2 * k], second = inner[k].second;
        model->mass[2 * k + 1] = second * mass;
        model->mass[2 * k] = mass - model->mass[2 * k + 1];
        for (int d = 0; d < 3; d++) {
            model->x[2 * k][d] = old->x[2 * k][d] + second * inner[k].x[d];
            model->v[2 * k][d] = old->v[2 * k][d] + second * inner[k].v[d];
            model->x[2 * k + 1][d] = old->x[2 * k][d] - (1 - second) * inner[k].x[d];
            model->v[2 * k + 1][d] = old->v[2 * k][d] - (1 - second) * inner[k].v[d];
        }
    }
}

int nb6_triples_split(const struct nb6_config *config, struct nb6_model *model, struct nbc_error *err)
{
    const int64_t n = config->triples.n;
    struct nb6_model made = {.n = 0};
    nb6_random_t *random = NULL;
    struct inner *inner = nbc_alloc((size_t)n, sizeof *inner);
    int status = inner ? NBC_OK : nbc_fail(err, NBC_NO_MEMORY, "no memory for %lld primordial triples", (long long)n);
    if (!status) status = nb6_random_create(config->model.seed, NB6_RANDOM_TRIPLE, &random, err);
    if (!status) status = nb6_model_alloc(model->n + n, &made, err);
    for (int64_t k = 0; k < n && !status; k++) draw_inner(&config->triples, model, 2 * k, random, &inner[k]);
    if (!status) {
        place(model, config->binaries.n, n, inner, &made);
        made.zmbar_msun = model->zmbar_msun;
        made.rbar_pc = model->rbar_pc;
        nb6_model_free(model);
        *model = made;
    } else {
        nb6_model_free(&made);
    }
    nb6_random_free(random);
    nbc_free(inner);
    return status;
}
