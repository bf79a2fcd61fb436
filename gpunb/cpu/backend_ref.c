/* The reference: plain loops in double. Every other backend is tested against it, so it is never optimised. */
#include "gpunb/backend.h"
#include "gpunb/pair.h"
#include "gpunb/predictor.h"
#include "gpunb/tree/method.h"

#include <stdlib.h>
#include <string.h>

struct ref_state {
    size_t n_j, n_j_max, n_jp;
    double *mass;
    double (*x)[3], (*v)[3];
    struct gpunb_jp *jp;   /* [n_jp] */
    const int32_t *number; /* of the source at each place of a tree */
};

static void ref_free(void *state)
{
    struct ref_state *ref = state;
    if (!ref) return;
    nbc_free(ref->mass);
    nbc_free(ref->x);
    nbc_free(ref->v);
    nbc_free(ref->jp);
    nbc_free(ref);
}

static int ref_create(void **state, const struct gpunb_setup *setup, struct nbc_error *err)
{
    const size_t n_j_max = setup->n_j_max;
    struct ref_state *ref = nbc_alloc(1, sizeof *ref);
    if (ref) {
        ref->mass = nbc_alloc(n_j_max, sizeof *ref->mass);
        ref->x = nbc_alloc(n_j_max, sizeof *ref->x);
        ref->v = nbc_alloc(n_j_max, sizeof *ref->v);
    }
    if (!ref || !ref->mass || !ref->x || !ref->v) {
        ref_free(ref);
        return nbc_fail(err, NBC_NO_MEMORY, "gpunb_create: backend %s: no memory for %zu sources", setup->backend->name,
                        n_j_max);
    }
    ref->n_j_max = n_j_max;
    *state = ref;
    return NBC_OK;
}

static int ref_send(void *state, size_t n_j, const double *mass, const double (*x)[3], const double (*v)[3],
                    struct nbc_error *err)
{
    (void)err;
    struct ref_state *ref = state;
    ref->n_j = n_j;
    if (n_j == 0) return NBC_OK;
    memcpy(ref->mass, mass, n_j * sizeof *mass);
    memcpy(ref->x, x, n_j * sizeof *x);
    if (v) memcpy(ref->v, v, n_j * sizeof *v);
    return NBC_OK;
}

static int ref_reserve(void *state, size_t n_j_max, struct nbc_error *err)
{
    struct ref_state *ref = state;
    double *mass = nbc_realloc(ref->mass, ref->n_j_max, n_j_max, sizeof *mass);
    if (mass) ref->mass = mass;
    double(*x)[3] = nbc_realloc(ref->x, ref->n_j_max, n_j_max, sizeof *x);
    if (x) ref->x = x;
    double(*v)[3] = nbc_realloc(ref->v, ref->n_j_max, n_j_max, sizeof *v);
    if (v) ref->v = v;
    if (!mass || !x || !v) return nbc_fail(err, NBC_NO_MEMORY, "gpunb_reserve: no memory for %zu sources", n_j_max);
    ref->n_j_max = n_j_max;
    return NBC_OK;
}

static int ref_predictors(void *state, size_t n_j_max, struct nbc_error *err)
{
    struct ref_state *ref = state;
    struct gpunb_jp *jp = nbc_realloc(ref->jp, ref->n_jp, n_j_max, sizeof *jp);
    if (!jp) return nbc_fail(err, NBC_NO_MEMORY, "gpunb: no memory for the predictors of %zu sources", n_j_max);
    ref->jp = jp;
    ref->n_jp = n_j_max;
    return NBC_OK;
}

static void ref_set_jp(void *state, size_t j, const struct gpunb_jp *jp)
{
    const struct ref_state *ref = state;
    ref->jp[j] = *jp;
}

static int ref_predict(void *state, const struct gpunb_order *order, double t, struct nbc_error *err)
{
    struct ref_state *ref = state;
    ref->n_j = order->n;
    for (size_t place = 0; place < order->n; place++) {
        const size_t j = gpunb_number_at(order, place);
        gpunb_jp_at(&ref->jp[j], t, ref->x[place], ref->v[place]);
        ref->mass[place] = ref->jp[j].mass;
        if (!gpunb_state_is_sound(ref->x[place], ref->v[place])) return gpunb_refuse_prediction(err, j, &ref->jp[j], t);
    }
    return NBC_OK;
}

/* Source j on target i: onto its sums, or its list. */
static void ref_pair(const struct ref_state *ref, const struct gpunb_block *block, size_t i, size_t j,
                     struct gpunb_sum *sum, size_t *found)
{
    int32_t *row = block->nblist + i * block->list_stride;
    double dx[3], dv[3];
    if (block->self && block->self[i] == (int32_t)j) return;
    for (int k = 0; k < 3; k++) {
        dx[k] = ref->x[j][k] - block->x[i][k];
        dv[k] = ref->v[j][k] - block->v[i][k];
    }
    double limit2 = block->mass_weighted ? ref->mass[j] * block->r_nb2[i] : block->r_nb2[i];
    if (gpunb_pair_is_neighbour(dx, dv, block->dt_reg[i], limit2)) {
        if (*found < block->nb_cap) row[*found] = (int32_t)j;
        ++*found;
    } else {
        gpunb_pair_add(dx, dv, ref->mass[j], sum);
    }
}

static void ref_target(const struct ref_state *ref, const struct gpunb_block *block, size_t i)
{
    struct gpunb_sum sum = {0};
    size_t found = 0;
    for (size_t j = 0; j < ref->n_j; j++) ref_pair(ref, block, i, j, &sum, &found);
    block->nnb[i] = (int32_t)found;
    memcpy(block->acc[i], sum.acc, sizeof sum.acc);
    memcpy(block->jerk[i], sum.jerk, sizeof sum.jerk);
    if (block->pot) block->pot[i] = -sum.pot;
}

static int ref_regf(void *state, const struct gpunb_block *block, struct nbc_error *err)
{
    (void)err;
#pragma omp parallel for schedule(static) if (block->n_i > 64)
    for (size_t i = 0; i < block->n_i; i++) ref_target(state, block, i);
    return NBC_OK;
}

static int ref_potential(void *state, const struct gpunb_pot_job *job, struct nbc_error *err)
{
    (void)state;
    (void)err;
#pragma omp parallel for schedule(static) if (job->n_i > 64)
    for (size_t i = 0; i < job->n_i; i++) {
        const double *xi = job->x[job->i_first + i];
        double sum = 0.0;
        for (size_t j = 0; j < job->n; j++) {
            double dx = job->x[j][0] - xi[0], dy = job->x[j][1] - xi[1], dz = job->x[j][2] - xi[2];
            double r2 = dx * dx + dy * dy + dz * dz;
            if (r2 > GPUNB_ZERO_R2) sum += job->mass[j] / sqrt(r2);
        }
        job->pot[i] = -sum;
    }
    return NBC_OK;
}

static int ref_softened(void *state, const struct gpunb_softened_job *job, struct nbc_error *err)
{
    (void)err;
    const struct ref_state *ref = state;
#pragma omp parallel for schedule(static) if (job->n_i > 64)
    for (size_t i = 0; i < job->n_i; i++) {
        double acc[3] = {0}, pot = 0.0;
        for (size_t j = 0; j < ref->n_j; j++) {
            const int is_self = job->self && job->self[i] == (int32_t)j;
            double dx[3], r2 = job->softening * job->softening;
            for (int k = 0; k < 3; k++) {
                dx[k] = ref->x[j][k] - job->x[i][k];
                r2 += dx[k] * dx[k];
            }
            double mr = ref->mass[j] / sqrt(r2);
            for (int k = 0; k < 3; k++) acc[k] += mr / r2 * dx[k];
            if (!is_self) pot += mr;
        }
        memcpy(job->acc[i], acc, sizeof acc);
        if (job->pot) job->pot[i] = -pot;
    }
    return NBC_OK;
}

static void ref_read(const void *state, size_t first, size_t end, double *mass, double (*x)[3])
{
    const struct ref_state *ref = state;
    memcpy(mass, ref->mass + first, (end - first) * sizeof *mass);
    memcpy(x, ref->x + first, (end - first) * sizeof *x);
}

static void ref_round(const void *state, const double x[3], double rounded[3])
{
    (void)state;
    memcpy(rounded, x, 3 * sizeof *x);
}

/* ---- pairs of regular forces by tree */

static void ref_read_v(const void *state, size_t first, size_t end, double (*v)[3])
{
    const struct ref_state *ref = state;
    memcpy(v, ref->v + first, (end - first) * sizeof *v);
}

static int ref_begin(void *state, const int32_t *number, int threads, size_t most)
{
    struct ref_state *ref = state;
    (void)threads, (void)most;
    ref->number = number;
    return NBC_OK;
}

/* Results are sums, until they are complete. */
static void ref_begin_targets(void *state, const struct gpunb_regular_targets *t)
{
    (void)state;
    for (size_t i = 0; i < t->n; i++) {
        const int32_t at = t->target[i];
        t->block->nnb[at] = 0;
        memset(t->block->acc[at], 0, sizeof t->block->acc[at]);
        memset(t->block->jerk[at], 0, sizeof t->block->jerk[at]);
        if (t->block->pot) t->block->pot[at] = 0;
    }
}

static void ref_add_sum(const struct gpunb_block *block, size_t i, const struct gpunb_sum *sum)
{
    for (int k = 0; k < 3; k++) {
        block->acc[i][k] += sum->acc[k];
        block->jerk[i][k] += sum->jerk[k];
    }
    if (block->pot) block->pot[i] -= sum->pot;
}

static void ref_add_pairs(void *state, const struct gpunb_regular_targets *t, const struct gpunb_regular_pile *pile)
{
    const struct ref_state *ref = state;
    for (size_t i = 0; i < t->n; i++) {
        struct gpunb_sum sum = {0};
        const size_t target = (size_t)t->target[i];
        size_t found = (size_t)t->block->nnb[target];
        for (size_t r = 0; r < pile->n; r++)
            for (int32_t p = 0; p < pile->range[r].count; p++)
                ref_pair(ref, t->block, target, (size_t)ref->number[pile->range[r].first + p], &sum, &found);
        t->block->nnb[target] = (int32_t)found;
        ref_add_sum(t->block, target, &sum);
    }
}

static int by_number(const void *a, const void *b)
{
    const int32_t p = *(const int32_t *)a, q = *(const int32_t *)b;
    return (p > q) - (p < q);
}

static void ref_end_targets(void *state, const struct gpunb_regular_targets *t, const struct gpunb_sum *sum)
{
    (void)state;
    for (size_t i = 0; i < t->n; i++) {
        const size_t target = (size_t)t->target[i], found = (size_t)t->block->nnb[target];
        ref_add_sum(t->block, target, &sum[i]);
        if (found <= t->block->nb_cap)
            qsort(t->block->nblist + target * t->block->list_stride, found, sizeof(int32_t), by_number);
    }
}

static const struct gpunb_regular_method ref_regular = {
    .read_v = ref_read_v,
    .begin = ref_begin,
    .begin_targets = ref_begin_targets,
    .add_pairs = ref_add_pairs,
    .end_targets = ref_end_targets,
};

static const struct gpunb_tree_method ref_tree = {
    .in_double = 1,
    .least_error = 1e-9,
    .read = ref_read,
    .round = ref_round,
    .add_terms = gpunb_tree_add_terms,
    .add_bodies = gpunb_tree_add_bodies,
    .add_locals = gpunb_tree_add_locals,
    .add_field = gpunb_tree_add_field,
    .regular = &ref_regular,
    .add_moving = gpunb_tree_add_moving,
};

static const char *ref_why_unavailable(void)
{
    return "";
}

const struct gpunb_backend gpunb_backend_ref = {
    .name = "ref",
    .description = "plain loops in double: the reference",
    .ns_per_pair = 7.0,
    .precisions = 1u << GPUNB_DOUBLE,
    .precision = GPUNB_DOUBLE,
    .why_unavailable = ref_why_unavailable,
    .create = ref_create,
    .free = ref_free,
    .send = ref_send,
    .reserve = ref_reserve,
    .predictors = ref_predictors,
    .set_jp = ref_set_jp,
    .predict = ref_predict,
    .regf = ref_regf,
    .potential = ref_potential,
    .softened = ref_softened,
    .tree = &ref_tree,
};
