#include "hermite.h"
#include "sim.h"
#include "step.h"

#include <math.h>
#include <omp.h>
#include <string.h>

/* Fewer groups than this are advanced by one thread. */
enum { PARALLEL_GROUPS = 16 };

/* What acts on the relative motion of a pair: a context of the perturb function. */
struct field {
    const struct nb6_sim *sim;
    const struct ks_pair *ks; /* states of all pairs */
    int64_t slot;
    struct ks_path centre;
    double t_tide;
    int64_t n_path, n_resolved; /* bodies that are points, and pairs that are seen resolved */
    struct ks_path *path;
    int32_t *resolved;
    double *mass;
    double (*dx)[3], (*dv)[3];
};

/* Memory of one thread, for the longest list. */
static int field_alloc(struct field *f, int64_t longest)
{
    size_t n = (size_t)longest;
    f->path = nbc_alloc(n, sizeof *f->path);
    f->resolved = nbc_alloc(n, sizeof *f->resolved);
    f->mass = nbc_alloc(2 * n, sizeof *f->mass);
    f->dx = nbc_alloc(2 * n, sizeof *f->dx);
    f->dv = nbc_alloc(2 * n, sizeof *f->dv);
    return f->path && f->resolved && f->mass && f->dx && f->dv;
}

static void field_free(struct field *f)
{
    nbc_free(f->path);
    nbc_free(f->resolved);
    nbc_free(f->mass);
    nbc_free(f->dx);
    nbc_free(f->dv);
}

static struct ks_path path_of(const struct nb6_sim *sim, int64_t i)
{
    const struct nb6_body *body = &sim->body[i];
    struct ks_path path = {.t0 = nb6_relative_time(sim, body->t0), .mass = body->mass};
    memcpy(path.x, body->x0, sizeof path.x);
    memcpy(path.v, body->v0, sizeof path.v);
    memcpy(path.acc, body->acc, sizeof path.acc);
    memcpy(path.jerk, body->jerk, sizeof path.jerk);
    return path;
}

static void field_set(struct field *f, const struct nb6_sim *sim, const struct ks_pair *ks, int64_t slot)
{
    const struct nb6_perturbers *pert = &sim->pairs.pert[slot];
    f->sim = sim;
    f->ks = ks;
    f->slot = slot;
    f->centre = path_of(sim, sim->n + slot);
    f->t_tide = nb6_relative_time(sim, sim->pairs.pair[slot].tide.t);
    f->n_path = f->n_resolved = 0;
    for (int32_t k = 0; k < pert->n; k++) {
        int32_t j = pert->body[k];
        if (j >= sim->n && nb6_pairs_resolves(&sim->pairs, j - sim->n, (int32_t)(sim->n + slot)))
            f->resolved[f->n_resolved++] = (int32_t)(j - sim->n);
        else
            f->path[f->n_path++] = path_of(sim, j);
    }
}

static void path_at(const struct ks_path *p, double s, double x[3], double v[3])
{
    for (int k = 0; k < 3; k++) {
        x[k] = p->x[k] + s * (p->v[k] + s * (0.5 * p->acc[k] + s * (p->jerk[k] * (1.0 / 6.0))));
        v[k] = p->v[k] + s * (p->acc[k] + s * (0.5 * p->jerk[k]));
    }
}

/* Components of another pair relative to a centre. */
static int resolve(const struct field *f, int64_t slot, double t, const double x[3], const double v[3], int64_t at)
{
    const struct ks_pair *ks = &f->ks[slot];
    double xr[3], vr[3];
    int status = ks_predict(ks, t, xr, vr);
    if (status) return status;
    for (int k = 0; k < 3; k++) vr[k] /= ks->kappa;
    ks_components(ks, x, v, xr, vr, &f->dx[at], &f->dv[at]);
    f->mass[at] = ks->mass[0];
    f->mass[at + 1] = ks->mass[1];
    return NBC_OK;
}

/* What weak neighbours do: a field that is linear in the separation and in time. */
static void add_weak_tide(const struct field *f, double s, const double x[3], const double xdot[3],
                          struct ks_perturbation *out)
{
    const struct nb6_tide *tide = &f->sim->pairs.pair[f->slot].tide;
    for (int a = 0, k = 0; a < 3; a++)
        for (int b = a; b < 3; b++, k++) {
            double now = tide->field[k] + s * tide->field_dot[k], rate = tide->field_dot[k];
            out->p[a] += now * x[b];
            out->pdot[a] += now * xdot[b] + rate * x[b];
            if (a == b) continue;
            out->p[b] += now * x[a];
            out->pdot[b] += now * xdot[a] + rate * x[a];
        }
}

static int perturb(void *context, double t, double t_lo, const double x[3], const double xdot[3],
                   struct ks_perturbation *out)
{
    const struct field *f = context;
    double xc[3], vc[3];
    int64_t n = 0;
    path_at(&f->centre, (t - f->centre.t0) + t_lo, xc, vc);
    for (; n < f->n_path; n++) {
        path_at(&f->path[n], (t - f->path[n].t0) + t_lo, f->dx[n], f->dv[n]);
        for (int k = 0; k < 3; k++) {
            f->dx[n][k] -= xc[k];
            f->dv[n][k] -= vc[k];
        }
        f->mass[n] = f->path[n].mass;
    }
    for (int64_t m = 0; m < f->n_resolved; m++, n += 2) {
        struct ks_path other = path_of(f->sim, f->sim->n + f->resolved[m]);
        double xo[3], vo[3];
        path_at(&other, (t - other.t0) + t_lo, xo, vo);
        for (int k = 0; k < 3; k++) {
            xo[k] -= xc[k];
            vo[k] -= vc[k];
        }
        int status = resolve(f, f->resolved[m], t, xo, vo, n);
        if (status) return status;
    }
    ks_tide(&f->ks[f->slot], (size_t)n, f->mass, (const double(*)[3])f->dx, (const double(*)[3])f->dv, x, xdot, out);
    add_weak_tide(f, (t - f->t_tide) + t_lo, x, xdot, out);
    return NBC_OK;
}

static int failure(const struct nb6_sim *sim, int64_t slot, int status, const struct nbc_error *why,
                   struct nbc_error *err)
{
    return nbc_fail(err, status, "the pair of stars %lld and %lld: %s", (long long)nb6_pairs_name(sim, slot, 0),
                    (long long)nb6_pairs_name(sim, slot, 1), why->text);
}

/* The member of a group whose step ends first; -1 when all end after t. */
static int64_t first_of_group(const struct nb6_sim *sim, const struct ks_pair *ks, int64_t leader, double t)
{
    int64_t first = -1;
    double earliest = INFINITY;
    for (int64_t slot = leader; slot >= 0; slot = sim->pairs.follower[slot]) {
        double end = ks[slot].t + ks[slot].dt;
        if (end < earliest) {
            earliest = end;
            first = slot;
        }
    }
    return earliest <= t ? first : -1;
}

/* A pair alone makes all its steps; members of a group step in the order of time, so that each finds the others within
 * a step. */
static int advance_group(struct field *f, const struct nb6_sim *sim, struct ks_pair *ks, int64_t leader, double t,
                         struct nbc_error *err)
{
    struct nbc_error why = {0};
    int status = NBC_OK;
    if (sim->pairs.follower[leader] < 0) {
        field_set(f, sim, ks, leader);
        status = ks_advance(&ks[leader], t, perturb, f, &why);
        return status ? failure(sim, leader, status, &why, err) : NBC_OK;
    }
    for (int64_t slot; (slot = first_of_group(sim, ks, leader, t)) >= 0;) {
        field_set(f, sim, ks, slot);
        status = ks_step(&ks[slot], perturb, f, &why);
        if (status) return failure(sim, slot, status, &why, err);
    }
    return NBC_OK;
}

static int finish(struct field *f, const struct nb6_sim *sim, struct ks_pair *ks, int64_t slot, double t,
                  struct nbc_error *err)
{
    struct nbc_error why = {0};
    int status;
    if (sim->pairs.pert[slot].n > 0) {
        field_set(f, sim, ks, slot);
        status = ks_finish(&ks[slot], t, perturb, f, &why);
    } else {
        status = ks_unperturbed(&ks[slot], t, &why);
    }
    return status ? failure(sim, slot, status, &why, err) : NBC_OK;
}

static int64_t longest_list(const struct nb6_sim *sim)
{
    int64_t longest = 1;
    for (int64_t slot = 0; slot < sim->pairs.n_slot; slot++)
        if (sim->pairs.pert[slot].n > longest) longest = sim->pairs.pert[slot].n;
    return longest;
}

/* What one thread makes of its share of the groups. The failure of the lowest slot counts, whoever met it. */
struct shared {
    const struct nb6_sim *sim;
    struct ks_pair *ks;
    const int32_t *due;
    int64_t n_due;
    double t;
    int64_t longest, failed;
    int status;
    struct nbc_error *err;
};

static void note_failure(struct shared *s, int64_t slot, int status, const struct nbc_error *why)
{
#pragma omp critical(nb6_pairs_failure)
    if (s->failed < 0 || slot < s->failed) {
        s->failed = slot;
        s->status = status;
        if (s->err) *s->err = *why;
    }
}

static void work(struct shared *s)
{
    struct nbc_error why = {0};
    struct field f = {0};
    if (!field_alloc(&f, s->longest)) {
        nbc_fail(&why, NBC_NO_MEMORY, "no memory for the perturbers of pairs");
        note_failure(s, 0, NBC_NO_MEMORY, &why);
    }
#pragma omp for schedule(dynamic, 1)
    for (int64_t k = 0; k < s->n_due; k++) {
        int status = f.dv ? advance_group(&f, s->sim, s->ks, s->due[k], s->t, &why) : NBC_NO_MEMORY;
        if (status) note_failure(s, s->due[k], status, &why);
    }
    field_free(&f);
}

static int advance_due(const struct nb6_sim *sim, struct ks_pair *ks, int64_t n_due, double t, struct nbc_error *err)
{
    struct shared s = {sim, ks, sim->pairs.due, n_due, t, longest_list(sim), -1, NBC_OK, err};
#pragma omp parallel if (n_due >= PARALLEL_GROUPS)
    work(&s);
    return s.status;
}

/* All pairs to exactly t, one after the other: first everybody as far as whole steps go. */
static int finish_all(const struct nb6_sim *sim, struct ks_pair *ks, double t, struct nbc_error *err)
{
    struct field f = {0};
    int status = field_alloc(&f, longest_list(sim)) ? NBC_OK : nbc_fail(err, NBC_NO_MEMORY, "no memory for pairs");
    for (int64_t slot = 0; slot < sim->pairs.n_slot && !status; slot++)
        if (sim->pairs.pair[slot].member[0] >= 0) status = finish(&f, sim, ks, slot, t, err);
    field_free(&f);
    return status;
}

int nb6_pairs_advance(const struct nb6_sim *sim, struct ks_pair *ks, nb6_time ti, int exact, int64_t *n_due,
                      struct nbc_error *err)
{
    double t = nb6_relative_time(sim, ti);
    int status = NBC_OK;
    *n_due = 0;
    for (int64_t slot = 0; slot < sim->pairs.n_slot; slot++)
        if (sim->pairs.next[slot] <= t) sim->pairs.due[(*n_due)++] = (int32_t)slot;
    if (*n_due > 0) status = advance_due(sim, ks, *n_due, t, err);
    if (!status && exact) status = finish_all(sim, ks, t, err);
    return status;
}

int nb6_pair_finish(struct nb6_sim *sim, int64_t slot, nb6_time t, struct nbc_error *err)
{
    struct field f = {0};
    int status = field_alloc(&f, sim->pairs.pert[slot].n + 1)
                     ? finish(&f, sim, sim->pairs.ks, slot, nb6_relative_time(sim, t), err)
                     : nbc_fail(err, NBC_NO_MEMORY, "no memory for the perturbers of a pair");
    field_free(&f);
    return status;
}

int nb6_pair_start(struct nb6_sim *sim, int64_t slot, struct nbc_error *err)
{
    struct nbc_error why = {0};
    struct field f = {0};
    struct ks_pair *ks = &sim->pairs.ks[slot];
    int status = NBC_OK;
    ks_set_slowdown(ks, 1); /* what the new list adds to the orbit's variation must not come kappa times */
    if (!field_alloc(&f, sim->pairs.pert[slot].n + 1)) {
        status = nbc_fail(&why, NBC_NO_MEMORY, "no memory for its perturbers");
    } else if (sim->pairs.pert[slot].n > 0) {
        field_set(&f, sim, sim->pairs.ks, slot);
        status = ks_start(ks, perturb, &f, &why);
    } else {
        status = ks_start(ks, NULL, NULL, &why);
    }
    field_free(&f);
    return status ? failure(sim, slot, status, &why, err) : NBC_OK;
}
