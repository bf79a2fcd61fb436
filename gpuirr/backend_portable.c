/* Double precision, two neighbours at a time in vectors that every 64-bit processor has. */
#include "store.h"

#include <math.h>

enum { LANES = 2, AHEAD = 16 /* neighbours prefetched before they are needed */ };

typedef double vec __attribute__((vector_size(LANES * sizeof(double))));
typedef int64_t mask __attribute__((vector_size(LANES * sizeof(double))));

/* Two bodies at the announced time. */
struct pair {
    vec x[3], v[3], mass;
};

/* Partial sums of each lane. */
struct lanes {
    vec acc[3], jerk[3];
};

static void *open_store(size_t n_max)
{
    return gpuirr_store_open(n_max, 1);
}

/* The predictor of gpuirr.h by Horner's rule. The one definition here: pred_all and prediction on the fly give the same
 * bits (contraction to fused operations is off). */
static inline struct pair predict_pair(const struct gpuirr_record *b0, const struct gpuirr_record *b1, double t)
{
    struct pair p = {.mass = {b0->s.mass, b1->s.mass}};
    vec s = t - (vec){b0->s.t0, b1->s.t0};
    for (int d = 0; d < 3; d++) {
        vec x = {b0->s.x[d], b1->s.x[d]}, v = {b0->s.v[d], b1->s.v[d]};
        vec acc = {b0->s.acc[d], b1->s.acc[d]}, jerk = {b0->s.jerk[d], b1->s.jerk[d]};
        p.x[d] = x + s * (v + s * (0.5 * acc + s * (jerk * (1.0 / 6.0))));
        p.v[d] = v + s * (acc + s * (0.5 * jerk));
    }
    return p;
}

static void predict(void *memory, size_t lo, size_t hi, double t)
{
    struct gpuirr_store *store = memory;
    for (size_t i = lo; i < hi; i += LANES) {
        struct gpuirr_predicted *out = &store->pred[i];
        int both = i + 1 < hi;
        struct pair p = predict_pair(&store->body[i], &store->body[both ? i + 1 : i], t);
        for (int lane = 0; lane < 1 + both; lane++)
            out[lane] = (struct gpuirr_predicted){.x = {p.x[0][lane], p.x[1][lane], p.x[2][lane]},
                                                  .v = {p.v[0][lane], p.v[1][lane], p.v[2][lane]},
                                                  .mass = p.mass[lane]};
    }
}

static inline void prefetch(const struct gpuirr_store *store, int predicted, int32_t j)
{
    if (predicted) {
        __builtin_prefetch(&store->pred[j]);
    } else {
        __builtin_prefetch(&store->body[j]);
        __builtin_prefetch((const char *)&store->body[j] + 64);
    }
}

static inline struct pair get_pair(const struct gpuirr_store *store, const struct gpuirr_task *task, int predicted,
                                   int32_t j0, int32_t j1)
{
    if (!predicted) return predict_pair(&store->body[j0], &store->body[j1], task->t);
    const struct gpuirr_predicted *p0 = &store->pred[j0], *p1 = &store->pred[j1];
    struct pair p = {.mass = {p0->mass, p1->mass}};
    for (int d = 0; d < 3; d++) {
        p.x[d] = (vec){p0->x[d], p1->x[d]};
        p.v[d] = (vec){p0->v[d], p1->v[d]};
    }
    return p;
}

/* NA12 eq. 8 and 9, one source in each lane; returns the squared distances. A lane at zero distance adds nothing. */
static inline vec add_pair(const struct pair *pi, const struct pair *pj, struct lanes *sum)
{
    vec dx[3], dv[3], r2 = {0, 0}, rv = {0, 0};
    for (int d = 0; d < 3; d++) {
        dx[d] = pj->x[d] - pi->x[d];
        dv[d] = pj->v[d] - pi->v[d];
        r2 += dx[d] * dx[d];
        rv += dx[d] * dv[d];
    }
    const vec one = {1, 1};
    mask apart = r2 != 0;
    vec mass = (vec)((mask)pj->mass & apart);
    vec inv_r2 = one / (vec)(((mask)r2 & apart) | ((mask)one & ~apart));
    vec inv_r = {sqrt(inv_r2[0]), sqrt(inv_r2[1])};
    vec m_r3 = mass * (inv_r2 * inv_r), alpha = -3 * rv * inv_r2;
    for (int d = 0; d < 3; d++) {
        sum->acc[d] += m_r3 * dx[d];
        sum->jerk[d] += m_r3 * (dv[d] + alpha * dx[d]);
    }
    return r2;
}

static inline void compare(struct gpuirr_force *force, double *r2_min, double r2, int32_t j)
{
    if (r2 < *r2_min) {
        *r2_min = r2;
        force->nearest = j;
    }
    force->coincident += r2 == 0;
}

/* Inlined twice, so that `predicted` costs no branch for each neighbour. */
static inline __attribute__((always_inline)) void
sum_list(const struct gpuirr_store *store, const struct gpuirr_task *task, int predicted, struct gpuirr_force *force)
{
    const size_t nnb = task->nnb;
    const int32_t *nb = task->nblist;
    const struct pair pi = get_pair(store, task, predicted, task->i, task->i);
    struct lanes sum = {.acc = {{0}}};
    double r2_min = INFINITY;
    *force = (struct gpuirr_force){.nearest = -1};
    for (size_t k = 0; k < nnb && k < AHEAD; k++) prefetch(store, predicted, nb[k]);
    for (size_t k = 0; k < nnb; k += LANES) {
        for (size_t next = k + AHEAD; next < k + AHEAD + LANES && next < nnb; next++)
            prefetch(store, predicted, nb[next]);
        /* The second lane of the last pair of an odd list holds body i itself, which is at zero distance. */
        int both = k + 1 < nnb;
        struct pair pj = get_pair(store, task, predicted, nb[k], both ? nb[k + 1] : task->i);
        vec r2 = add_pair(&pi, &pj, &sum);
        compare(force, &r2_min, r2[0], nb[k]);
        if (both) compare(force, &r2_min, r2[1], nb[k + 1]);
    }
    for (int d = 0; d < 3; d++) {
        force->acc[d] = sum.acc[d][0] + sum.acc[d][1];
        force->jerk[d] = sum.jerk[d][0] + sum.jerk[d][1];
    }
}

static void force_on(const void *memory, const struct gpuirr_task *task, struct gpuirr_force *force)
{
    if (task->predicted)
        sum_list(memory, task, 1, force);
    else
        sum_list(memory, task, 0, force);
}

const struct gpuirr_backend gpuirr_backend_portable = {
    .name = "portable",
    .description = "double precision, vectors of two",
    .ns_per_pair = 10,
    .open = open_store,
    .close = gpuirr_store_close,
    .set_jp = gpuirr_store_set_jp,
    .predict = predict,
    .force = force_on,
};
