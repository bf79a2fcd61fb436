#include "nbody6/analysis/tree_check.h"

#include "nbody6/analysis/force_errors.h"
#include "nbody6/analysis/frame.h"

#include <stdlib.h>
#include <string.h>

/* Room for lists beyond those that the bodies had at their last steps. */
enum { MORE_NEIGHBOURS = 64 };

/* Targets as gpunb_regf takes them, in one block of memory. */
struct targets {
    size_t n;
    double *r_nb2, *dt_reg, (*x)[3], (*v)[3], (*last)[3];
    int32_t *self;
    size_t cap; /* of lists, to begin with */
};

/* Forces on them. */
struct forces {
    double (*acc)[3], (*jerk)[3];
    int32_t *nnb, *nblist;
    size_t cap;
};

static int take_targets(const struct nb6_frame *bodies, double unit, size_t n, struct targets *t)
{
    t->n = n;
    t->x = nbc_alloc(n, 3 * sizeof *t->x + 2 * sizeof *t->r_nb2 + sizeof *t->self);
    if (!t->x) return NBC_NO_MEMORY;
    t->v = t->x + n;
    t->last = t->v + n;
    t->r_nb2 = (double *)(t->last + n);
    t->dt_reg = t->r_nb2 + n;
    t->self = (int32_t *)(t->dt_reg + n);
    for (size_t k = 0; k < n; k++) {
        const int64_t i = nb6_sample_of(bodies->n, (int64_t)n, (int64_t)k);
        memcpy(t->x[k], bodies->x[i], sizeof t->x[k]);
        memcpy(t->v[k], bodies->v[i], sizeof t->v[k]);
        memcpy(t->last[k], bodies->acc[i], sizeof t->last[k]);
        t->r_nb2[k] = bodies->r_nb[i] * bodies->r_nb[i] / unit;
        t->dt_reg[k] = bodies->dt_reg[i];
        t->self[k] = (int32_t)i;
        if ((size_t)bodies->nnb[i] > t->cap) t->cap = (size_t)bodies->nnb[i];
    }
    t->cap += MORE_NEIGHBOURS;
    return NBC_OK;
}

static void free_forces(struct forces *f)
{
    nbc_free(f->acc);
    nbc_free(f->nblist);
    *f = (struct forces){0};
}

/* Room for forces, with lists of `cap`. */
static int provide(size_t n, size_t cap, struct forces *f)
{
    if (!f->acc) f->acc = nbc_alloc(n, 2 * sizeof *f->acc + sizeof *f->nnb);
    nbc_free(f->nblist);
    f->nblist = nbc_alloc(n, cap * sizeof *f->nblist);
    if (!f->acc || !f->nblist) return NBC_NO_MEMORY;
    f->jerk = f->acc + n;
    f->nnb = (int32_t *)(f->jerk + n);
    f->cap = cap;
    return NBC_OK;
}

/* Lists that are too long get room. */
static int sum(gpunb_t *reg, const struct targets *t, struct forces *f)
{
    int status = NBC_NB_OVERFLOW;
    for (size_t cap = t->cap; status == NBC_NB_OVERFLOW; cap *= 2) {
        status = provide(t->n, cap, f);
        if (status) return status;
        const struct gpunb_regf_job job = {.n_i = t->n,
                                           .self = t->self,
                                           .r_nb2 = t->r_nb2,
                                           .dt_reg = t->dt_reg,
                                           .x = (const double(*)[3])t->x,
                                           .v = (const double(*)[3])t->v,
                                           .acc_last = (const double(*)[3])t->last,
                                           .acc = f->acc,
                                           .jerk = f->jerk,
                                           .nb_cap = cap,
                                           .nnb = f->nnb,
                                           .nblist = f->nblist};
        status = gpunb_regf_start_job(reg, &job);
        if (!status) status = gpunb_regf_wait(reg);
    }
    return status;
}

/* By a handle of its own: that of the run makes few targets by direct sums, and has the sources of the last block. */
static int make_forces(const struct nb6_frame *bodies, const struct gpunb_options *options, const struct targets *t,
                       struct forces *f, struct nbc_error *err)
{
    gpunb_t *reg = NULL;
    int status = gpunb_create(&reg, (size_t)bodies->n, options, err);
    if (status) return status;
    status =
        gpunb_send(reg, (size_t)bodies->n, bodies->mass, (const double(*)[3])bodies->x, (const double(*)[3])bodies->v);
    if (!status) status = sum(reg, t, f);
    if (status == NBC_NO_MEMORY)
        nbc_fail(err, status, "no memory for the check of %zu regular forces", t->n);
    else if (status)
        nbc_fail(err, status, "%s", gpunb_last_error(reg));
    gpunb_free(reg);
    return status;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void summarise(size_t n, double *error, const double (*is)[3], const double (*should)[3], double *median,
                      double *most)
{
    for (size_t k = 0; k < n; k++) error[k] = nb6_relative_error(is[k], should[k]);
    qsort(error, n, sizeof *error, ascending);
    *median = error[n / 2];
    *most = error[n * 99 / 100];
}

static int compare(size_t n, const struct forces *tree, const struct forces *direct, struct nb6_tree_check *check)
{
    double *error = nbc_alloc(n, sizeof *error);
    if (!error) return NBC_NO_MEMORY;
    *check = (struct nb6_tree_check){.targets = (int64_t)n};
    for (size_t k = 0; k < n; k++) {
        const int32_t *a = tree->nblist + k * tree->cap, *b = direct->nblist + k * direct->cap;
        check->lists +=
            tree->nnb[k] != direct->nnb[k] || memcmp(a, b, (size_t)direct->nnb[k] * sizeof *direct->nblist) != 0;
    }
    summarise(n, error, (const double(*)[3])tree->acc, (const double(*)[3])direct->acc, &check->acc_median,
              &check->acc_99);
    summarise(n, error, (const double(*)[3])tree->jerk, (const double(*)[3])direct->jerk, &check->jerk_median,
              &check->jerk_99);
    nbc_free(error);
    return NBC_OK;
}

int nb6_tree_check(const struct nb6_frame *bodies, const struct gpunb_options *options, double unit, int64_t most,
                   struct nb6_tree_check *check, struct nbc_error *err)
{
    struct gpunb_options by_tree = *options, directly = *options;
    struct targets t = {0};
    struct forces tree = {0}, direct = {0};
    by_tree.walk = GPUNB_WALK_HYBRID; /* whatever costs say */
    directly.force_error = 0;
    int status = take_targets(bodies, unit, (size_t)(bodies->n < most ? bodies->n : most), &t);
    if (status) nbc_fail(err, status, "no memory for the check of %lld regular forces", (long long)most);
    if (!status) status = make_forces(bodies, &by_tree, &t, &tree, err);
    if (!status) status = make_forces(bodies, &directly, &t, &direct, err);
    if (!status && compare(t.n, &tree, &direct, check))
        status = nbc_fail(err, NBC_NO_MEMORY, "no memory for the check of %zu regular forces", t.n);
    nbc_free(t.x);
    free_forces(&tree);
    free_forces(&direct);
    return status;
}
