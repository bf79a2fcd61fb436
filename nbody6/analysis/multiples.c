#include "nbody6/analysis/multiples.h"

#include "common/nbc.h"
#include "nbody6/state/kdtree.h"

#include <math.h>
#include <string.h>

enum { LEVELS = 3, NEAREST = 2 };

/* The third body is at least so many times as far away as the two are from each other at apocentre. */
static const double ALONE = 4;

/* Stars and systems of one level; n shrinks as they are put together. */
struct bodies {
    int64_t n;
    double *mass, (*x)[3], (*v)[3];
    int *stars;            /* in it */
    struct nb6_near *near; /* not its own */
};

static void bodies_free(struct bodies *b)
{
    nbc_free(b->mass);
    nbc_free(b->x);
    nbc_free(b->v);
    nbc_free(b->stars);
}

static int bodies_make(int64_t n, const double *mass, const double (*x)[3], const double (*v)[3], struct bodies *b,
                       struct nbc_error *err)
{
    const size_t count = (size_t)n;
    b->n = n;
    b->mass = nbc_alloc_unset(count, sizeof *b->mass);
    b->x = nbc_alloc_unset(count, sizeof *b->x);
    b->v = nbc_alloc_unset(count, sizeof *b->v);
    b->stars = nbc_alloc_unset(count, sizeof *b->stars);
    if (!b->mass || !b->x || !b->v || !b->stars)
        return nbc_fail(err, NBC_NO_MEMORY, "no memory to look for binaries among %lld stars", (long long)n);
    memcpy(b->mass, mass, count * sizeof *mass);
    memcpy(b->x, x, count * sizeof *x);
    memcpy(b->v, v, count * sizeof *v);
    for (int64_t i = 0; i < n; i++) b->stars[i] = 1;
    return NBC_OK;
}

/* ---- neighbours ---- */

int nb6_near_make(int64_t n, struct nb6_near *near, struct nbc_error *err)
{
    *near = (struct nb6_near){.n = n};
    if (n < 1 || n > INT32_MAX)
        return nbc_fail(err, NBC_BAD_ARGUMENT, "nearest neighbours of %lld stars", (long long)n);
    near->index = nbc_alloc_unset((size_t)n, sizeof *near->index);
    near->r2 = nbc_alloc_unset((size_t)n, sizeof *near->r2);
    if (near->index && near->r2) return NBC_OK;
    nb6_near_free(near);
    return nbc_fail(err, NBC_NO_MEMORY, "no memory for the nearest neighbours of %lld stars", (long long)n);
}

void nb6_near_free(struct nb6_near *near)
{
    nbc_free(near->index);
    nbc_free(near->r2);
    *near = (struct nb6_near){.n = 0};
}

void nb6_near_take(void *context, int64_t i, int found, const int64_t *index, const double *r2)
{
    const struct nb6_near *near = context;
    near->index[i] = found > 0 ? (int32_t)index[0] : -1;
    for (int k = 0; k < NEAREST; k++) near->r2[i][k] = k < found ? r2[k] : INFINITY;
}

static int find_nearest(int64_t n, const double (*x)[3], struct nb6_near *near, struct nbc_error *err)
{
    nb6_kdtree_t *tree = NULL;
    int status = nb6_kdtree_build(n, x, &tree, err);
    if (!status) status = nb6_kdtree_each(tree, NEAREST, nb6_near_take, near, err);
    nb6_kdtree_free(tree);
    return status;
}

/* ---- systems ---- */

/* Do i and j hold together?   @param[out] a  semi-major axis */
static int is_system(const struct bodies *b, int64_t i, int64_t j, double *a)
{
    const double m = b->mass[i] + b->mass[j], r = sqrt(b->near->r2[i][0]);
    double v2 = 0, xv = 0;
    for (int d = 0; d < 3; d++) {
        const double v = b->v[i][d] - b->v[j][d];
        v2 += v * v;
        xv += v * (b->x[i][d] - b->x[j][d]);
    }
    const double h = 0.5 * v2 - m / r;
    if (!(r > 0 && h < 0)) return 0;
    *a = -0.5 * m / h;
    const double cosine = 1 - r / *a, sine2 = xv * xv / (m * *a); /* e cos E, (e sin E)^2 */
    const double apocentre = *a * (1 + sqrt(cosine * cosine + sine2));
    const double third = sqrt(fmin(b->near->r2[i][1], b->near->r2[j][1]));
    return ALONE * apocentre <= third;
}

static void count_pair(const struct bodies *b, int64_t i, int64_t j, double a, struct nb6_multiples *found)
{
    const int stars = b->stars[i] + b->stars[j];
    if (stars == 2) {
        found->a_least = found->a_least > 0 ? fmin(found->a_least, a) : a;
        found->a_most = fmax(found->a_most, a);
        found->energy_most = fmax(found->energy_most, 0.5 * b->mass[i] * b->mass[j] / a);
    }
    for (int k = 0; k < 2; k++) {
        const int within = b->stars[k ? j : i];
        found->n_binary -= within == 2;
        found->n_triple -= within == 3;
        found->n_larger -= within > 3;
    }
    found->n_binary += stars == 2;
    found->n_triple += stars == 3;
    found->n_larger += stars > 3;
}

/* i becomes the centre of mass of both; j goes. */
static void put_together(struct bodies *b, int64_t i, int64_t j)
{
    const double m = b->mass[i] + b->mass[j];
    for (int d = 0; d < 3; d++) {
        b->x[i][d] = (b->mass[i] * b->x[i][d] + b->mass[j] * b->x[j][d]) / m;
        b->v[i][d] = (b->mass[i] * b->v[i][d] + b->mass[j] * b->v[j][d]) / m;
    }
    b->mass[i] = m;
    b->stars[i] += b->stars[j];
    b->stars[j] = 0;
}

static void remove_gone(struct bodies *b)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < b->n; i++) {
        if (b->stars[i] == 0) continue;
        b->mass[kept] = b->mass[i];
        memmove(b->x[kept], b->x[i], sizeof b->x[i]);
        memmove(b->v[kept], b->v[i], sizeof b->v[i]);
        b->stars[kept++] = b->stars[i];
    }
    b->n = kept;
}

static void find_level(struct bodies *b, struct nb6_multiples *found)
{
    const int32_t *nearest = b->near->index;
    for (int64_t i = 0; i < b->n; i++) {
        const int64_t j = nearest[i];
        double a;
        if (j < i || nearest[j] != i || !is_system(b, i, j, &a)) continue;
        count_pair(b, i, j, a, found);
        put_together(b, i, j);
    }
    remove_gone(b);
}

int nb6_multiples_systems(int64_t n, const double *mass, const double (*x)[3], const double (*v)[3],
                          struct nb6_near *near, struct nb6_multiples *found, struct nb6_systems *systems,
                          struct nbc_error *err)
{
    struct bodies b = {.near = near};
    struct nb6_multiples sum = {.n_binary = 0};
    int status = bodies_make(n, mass, x, v, &b, err);
    for (int64_t before = n + 1, level = 0; !status && level < LEVELS && b.n > 1 && b.n < before; level++) {
        before = b.n;
        if (level > 0) status = find_nearest(b.n, (const double(*)[3])b.x, near, err);
        if (!status) find_level(&b, &sum);
    }
    if (!status) {
        *found = sum;
        *systems = (struct nb6_systems){b.n, b.mass, b.x, b.v};
        b.mass = NULL;
        b.x = b.v = NULL;
    }
    bodies_free(&b);
    return status;
}

void nb6_systems_free(struct nb6_systems *systems)
{
    nbc_free(systems->mass);
    nbc_free(systems->x);
    nbc_free(systems->v);
    *systems = (struct nb6_systems){.n = 0};
}

int nb6_multiples_find(int64_t n, const double *mass, const double (*x)[3], const double (*v)[3],
                       struct nb6_multiples *found, struct nbc_error *err)
{
    struct nb6_systems systems = {.n = 0};
    struct nb6_near near;
    int status = nb6_near_make(n, &near, err);
    if (!status) status = find_nearest(n, x, &near, err);
    if (!status) status = nb6_multiples_systems(n, mass, x, v, &near, found, &systems, err);
    nb6_near_free(&near);
    nb6_systems_free(&systems);
    return status;
}
