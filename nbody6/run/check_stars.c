#include "nbody6/run/check_stars.h"

#include "common/nbc.h"
#include "common/sort.h"

#include <math.h>
#include <string.h>

struct place {
    double x[3];
    int64_t i;
};

static int by_place(const void *a, const void *b)
{
    const struct place *p = a, *q = b;
    for (int k = 0; k < 3; k++)
        if (p->x[k] != q->x[k]) return p->x[k] < q->x[k] ? -1 : 1;
    return (p->i > q->i) - (p->i < q->i);
}

static int by_number(const void *a, const void *b)
{
    int64_t p = *(const int64_t *)a, q = *(const int64_t *)b;
    return (p > q) - (p < q);
}

static int refuse_coincident(int64_t n, const double (*x)[3], struct nbc_error *err)
{
    struct place *place = nbc_alloc((size_t)n, sizeof *place);
    if (!place) return nbc_fail(err, NBC_NO_MEMORY, "no memory to check %lld stars", (long long)n);
    for (int64_t i = 0; i < n; i++) place[i] = (struct place){{x[i][0], x[i][1], x[i][2]}, i};
    nbc_sort(place, (size_t)n, sizeof *place, by_place);
    int status = NBC_OK;
    for (int64_t k = 1; k < n && !status; k++)
        if (memcmp(place[k - 1].x, place[k].x, sizeof place[k].x) == 0)
            status = nbc_fail(err, NBC_BAD_INPUT, "stars %lld and %lld are at the same place (%.17g, %.17g, %.17g)",
                              (long long)place[k - 1].i + 1, (long long)place[k].i + 1, place[k].x[0], place[k].x[1],
                              place[k].x[2]);
    nbc_free(place);
    return status;
}

static int refuse_names(int64_t n, const int64_t *name, struct nbc_error *err)
{
    if (!name) return NBC_OK;
    int64_t *sorted = nbc_alloc((size_t)n, sizeof *sorted);
    if (!sorted) return nbc_fail(err, NBC_NO_MEMORY, "no memory to check %lld names", (long long)n);
    memcpy(sorted, name, (size_t)n * sizeof *sorted);
    nbc_sort(sorted, (size_t)n, sizeof *sorted, by_number);
    int status = NBC_OK;
    if (sorted[0] < 1)
        status = nbc_fail(err, NBC_BAD_INPUT, "the name %lld of a star is not positive", (long long)sorted[0]);
    for (int64_t k = 1; k < n && !status; k++)
        if (sorted[k] == sorted[k - 1])
            status = nbc_fail(err, NBC_BAD_INPUT, "two stars have the name %lld", (long long)sorted[k]);
    nbc_free(sorted);
    return status;
}

int nb6_check_stars(int64_t n, const int64_t *name, const double *mass, const double (*x)[3], const double (*v)[3],
                    struct nbc_error *err)
{
    if (n < 2 || n > INT32_MAX - 1)
        return nbc_fail(err, NBC_BAD_INPUT, "%lld stars; from 2 to %d are possible", (long long)n, INT32_MAX - 1);
    double total = 0;
    for (int64_t i = 0; i < n; i++) {
        double sum = x[i][0] + x[i][1] + x[i][2] + v[i][0] + v[i][1] + v[i][2];
        if (!isfinite(sum) || !isfinite(mass[i]))
            return nbc_fail(err, NBC_NON_FINITE, "star %lld: mass, position or velocity is not finite",
                            (long long)i + 1);
        if (mass[i] < 0)
            return nbc_fail(err, NBC_BAD_INPUT, "star %lld: the mass %g is negative", (long long)i + 1, mass[i]);
        total += mass[i];
    }
    if (!(total > 0)) return nbc_fail(err, NBC_BAD_INPUT, "the total mass of the %lld stars is zero", (long long)n);
    int status = refuse_names(n, name, err);
    return status ? status : refuse_coincident(n, x, err);
}
