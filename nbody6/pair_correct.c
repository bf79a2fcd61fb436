#include "hermite.h"
#include "sim.h"
#include "step.h"

#include <math.h>
#include <string.h>

/* A body as the other one sees it: one point at its place, or two components around it. */
struct parts {
    int n;
    double mass[2];          /* shares of the body's mass, summing to 1 */
    double x[2][3], v[2][3]; /* relative to the body */
};

static void parts_of_point(struct parts *p)
{
    memset(p, 0, sizeof *p);
    p->n = 1;
    p->mass[0] = 1;
}

/* An unpredictable pair cannot be here: it was advanced to the block that asks. */
static void parts_of_pair(const struct ks_pair *ks, double t, struct parts *p)
{
    static const double nowhere[3];
    double x[3], v[3];
    ks_predict(ks, t, x, v);
    for (int k = 0; k < 3; k++) v[k] /= ks->kappa;
    ks_components(ks, nowhere, nowhere, x, v, p->x, p->v);
    p->n = 2;
    for (int m = 0; m < 2; m++) p->mass[m] = ks->mass[m] / ks->m;
}

/* Force of unit mass at x, v. */
static void add_force(double m, const double x[3], const double v[3], double acc[3], double jerk[3])
{
    double r2 = x[0] * x[0] + x[1] * x[1] + x[2] * x[2];
    if (!(r2 > 0)) return;
    double alpha = 3 * (x[0] * v[0] + x[1] * v[1] + x[2] * v[2]) / r2, w = m / (r2 * sqrt(r2));
    for (int k = 0; k < 3; k++) {
        acc[k] += w * x[k];
        jerk[k] += w * (v[k] - alpha * x[k]);
    }
}

/* Resolved less point-mass force of a body with these parts at x, v on one with its own parts at the origin. */
static void add_difference(double mass, const double x[3], const double v[3], const struct parts *own,
                           const struct parts *other, double acc[3], double jerk[3])
{
    double a[3] = {0, 0, 0}, j[3] = {0, 0, 0};
    for (int m = 0; m < own->n; m++)
        for (int k = 0; k < other->n; k++) {
            double dx[3], dv[3];
            for (int d = 0; d < 3; d++) {
                dx[d] = x[d] + (other->x[k][d] - own->x[m][d]);
                dv[d] = v[d] + (other->v[k][d] - own->v[m][d]);
            }
            add_force(own->mass[m] * other->mass[k], dx, dv, a, j);
        }
    add_force(-1, x, v, a, j);
    for (int d = 0; d < 3; d++) {
        acc[d] += mass * a[d];
        jerk[d] += mass * j[d];
    }
}

static void relative(const struct nb6_sim *sim, int64_t j, nb6_time t, const double x[3], const double v[3],
                     double dx[3], double dv[3])
{
    const struct nb6_body *other = &sim->body[j];
    nb6_predict(other, nb6_time_to_double(t - other->t0), dx, dv);
    for (int k = 0; k < 3; k++) {
        dx[k] -= x[k];
        dv[k] -= v[k];
    }
}

/* The body whose force is corrected. */
struct target {
    int64_t i, own_slot; /* own_slot < 0: a star */
    nb6_time ti;
    double t, x[3], v[3];
    double *acc, *jerk;
};

/* The own perturbers of a centre of mass; pairs among them that count it as theirs are resolved as well. */
static void add_perturbers(const struct nb6_sim *sim, const struct target *to)
{
    const struct nb6_pairs *p = &sim->pairs;
    const struct nb6_perturbers *pert = &p->pert[to->own_slot];
    struct parts point, own, other;
    double dx[3], dv[3];
    if (pert->n == 0) return;
    parts_of_point(&point);
    parts_of_pair(&p->ks[to->own_slot], to->t, &own);
    for (int32_t k = 0; k < pert->n; k++) {
        int32_t j = pert->body[k];
        int resolved = j >= sim->n && nb6_pairs_resolves(p, j - sim->n, (int32_t)to->i);
        if (resolved) parts_of_pair(&p->ks[j - sim->n], to->t, &other);
        relative(sim, j, to->ti, to->x, to->v, dx, dv);
        add_difference(sim->body[j].mass, dx, dv, &own, resolved ? &other : &point, to->acc, to->jerk);
    }
}

/* A pair that has the target in its list, unless it was among the target's own perturbers. */
static int add_resolver(const struct nb6_sim *sim, const struct target *to, int64_t slot)
{
    const struct nb6_pairs *p = &sim->pairs;
    int32_t j = (int32_t)(sim->n + slot);
    if (p->pert[slot].n == 0 || !nb6_pairs_resolves(p, slot, (int32_t)to->i)) return 0;
    if (to->own_slot >= 0 && nb6_pairs_resolves(p, to->own_slot, j)) return 1;
    struct parts point, other;
    double dx[3], dv[3];
    parts_of_point(&point);
    parts_of_pair(&p->ks[slot], to->t, &other);
    relative(sim, j, to->ti, to->x, to->v, dx, dv);
    add_difference(sim->body[j].mass, dx, dv, &point, &other, to->acc, to->jerk);
    return 1;
}

static int listed(const int32_t *list, size_t first, size_t nnb, int32_t j)
{
    for (size_t k = first; k < nnb; k++)
        if (list[k] == j) return 1;
    return 0;
}

/* Mostly they are among the neighbours, whose centres of mass stand at the end of the list; who is not is looked for
 * among all. */
static void add_resolvers(const struct nb6_sim *sim, const struct target *to)
{
    int32_t left = sim->pairs.resolved_by[to->i];
    if (left == 0) return;
    size_t nnb = 0, first;
    const int32_t *list = gpuirr_get_list(sim->irr, (size_t)to->i, &nnb);
    for (first = nnb; first > 0 && list[first - 1] >= sim->n;) first--;
    for (size_t k = first; k < nnb && left > 0; k++) left -= add_resolver(sim, to, list[k] - sim->n);
    for (int64_t slot = 0; slot < sim->pairs.n_slot && left > 0; slot++)
        if (!listed(list, first, nnb, (int32_t)(sim->n + slot))) left -= add_resolver(sim, to, slot);
}

void nb6_pairs_correct(const struct nb6_sim *sim, int64_t i, nb6_time ti, double acc[3], double jerk[3])
{
    const struct nb6_pairs *p = &sim->pairs;
    struct target to = {.i = i, .own_slot = i - sim->n, .ti = ti, .acc = acc, .jerk = jerk};
    if (p->resolved_by[i] == 0 && !(to.own_slot >= 0 && p->pert[to.own_slot].n > 0)) return;
    to.t = nb6_relative_time(sim, ti);
    nb6_predict(&sim->body[i], nb6_time_to_double(ti - sim->body[i].t0), to.x, to.v);
    if (to.own_slot >= 0) add_perturbers(sim, &to);
    add_resolvers(sim, &to);
}

static double potential_difference(const double x[3], const struct parts *own, const struct parts *other)
{
    double sum = 1 / sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
    for (int m = 0; m < own->n; m++)
        for (int k = 0; k < other->n; k++) {
            double r2 = 0;
            for (int d = 0; d < 3; d++) {
                double dx = x[d] + (other->x[k][d] - own->x[m][d]);
                r2 += dx * dx;
            }
            sum -= own->mass[m] * other->mass[k] / sqrt(r2);
        }
    return sum;
}

double nb6_pairs_potential(const struct nb6_sim *sim, const double (*x)[3], const struct ks_pair *ks)
{
    const struct nb6_pairs *p = &sim->pairs;
    struct parts point, own, other;
    double sum = 0;
    parts_of_point(&point);
    for (int64_t slot = 0; slot < p->n_slot; slot++) {
        if (p->pert[slot].n == 0) continue;
        int32_t i = (int32_t)(sim->n + slot);
        parts_of_pair(&ks[slot], ks[slot].t, &own);
        for (int32_t k = 0; k < p->pert[slot].n; k++) {
            int32_t j = p->pert[slot].body[k];
            int64_t other_slot = j - sim->n;
            int mutual = other_slot >= 0 && nb6_pairs_resolves(p, other_slot, i);
            if (mutual && other_slot < slot) continue;
            if (mutual) parts_of_pair(&ks[other_slot], ks[other_slot].t, &other);
            double dx[3];
            for (int d = 0; d < 3; d++) dx[d] = x[p->place[j]][d] - x[p->place[i]][d];
            sum += sim->body[i].mass * sim->body[j].mass * potential_difference(dx, &own, mutual ? &other : &point);
        }
    }
    return sum;
}

double nb6_pairs_binding(const struct nb6_sim *sim, const struct ks_pair *ks)
{
    double sum = 0;
    for (int64_t slot = 0; slot < sim->pairs.n_slot; slot++)
        if (sim->pairs.pair[slot].member[0] >= 0)
            sum += ks[slot].mass[0] * ks[slot].mass[1] / ks[slot].m * ks_energy(&ks[slot]);
    return sum;
}
