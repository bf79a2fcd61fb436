#include "nbody6/run/check_stars.h"

#include "common/nbc.h"
#include "common/sort.h"
#include "common/team.h"
#include "nbody6/input/config.h"
#include "nbody6/state/nearest.h"

#include <math.h>
#include <string.h>

enum { STARS_OF_A_PART = 4096 };

static int by_number(const void *a, const void *b)
{
    int64_t p = *(const int64_t *)a, q = *(const int64_t *)b;
    return (p > q) - (p < q);
}

/* The first of the kept neighbours at the position of star i; -1: none. Coincident stars have the distance 0, but so
 * may stars whose squared distance underflows. */
static int64_t twin_of(const struct nb6_nearest *nearest, int64_t i)
{
    const double *x = nearest->x[i];
    for (int k = 0; k < NB6_NEAREST_KEPT && !(nearest->r2[i][k] > 0); k++) {
        const int64_t j = nearest->index[i][k];
        const double *y = nearest->x[j];
        if (x[0] == y[0] && x[1] == y[1] && x[2] == y[2]) return j;
    }
    return -1;
}

struct twins {
    const struct nb6_nearest *nearest;
    int64_t first; /* star that has one */
};

static void look_for_twins(void *context, int part, int parts)
{
    struct twins *job = context;
    int64_t first, end;
    nbc_range(job->nearest->n, part, parts, &first, &end);
    for (int64_t i = first; i < end; i++)
        if (twin_of(job->nearest, i) >= 0) {
            nbc_atomic_min(&job->first, i);
            return;
        }
}

static int refuse_coincident(const struct nb6_nearest *nearest, struct nbc_error *err)
{
    struct twins job = {nearest, INT64_MAX};
    nbc_team_run(nbc_parts(nearest->n, STARS_OF_A_PART), look_for_twins, &job);
    if (job.first == INT64_MAX) return NBC_OK;
    const double *x = nearest->x[job.first];
    return nbc_fail(err, NBC_BAD_INPUT, "stars %lld and %lld are at the same place (%.17g, %.17g, %.17g)",
                    (long long)job.first + 1, (long long)twin_of(nearest, job.first) + 1, x[0], x[1], x[2]);
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
    else if (sorted[n - 1] > NB6_NAME_LARGEST)
        status = nbc_fail(err, NBC_BAD_INPUT, "the name %lld of a star is above %lld, the largest there is",
                          (long long)sorted[n - 1], (long long)NB6_NAME_LARGEST);
    for (int64_t k = 1; k < n && !status; k++)
        if (sorted[k] == sorted[k - 1])
            status = nbc_fail(err, NBC_BAD_INPUT, "two stars have the name %lld", (long long)sorted[k]);
    nbc_free(sorted);
    return status;
}

static int check_each(int64_t n, const double *mass, const double (*x)[3], const double (*v)[3], struct nbc_error *err)
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
    if (total > 0) return NBC_OK;
    return nbc_fail(err, NBC_BAD_INPUT, "the total mass of the %lld stars is zero", (long long)n);
}

int nb6_check_stars(int64_t n, const int64_t *name, const double *mass, const double (*x)[3], const double (*v)[3],
                    struct nb6_nearest **nearest, struct nbc_error *err)
{
    *nearest = NULL;
    int status = check_each(n, mass, x, v, err);
    if (!status) status = refuse_names(n, name, err);
    if (!status) status = nb6_nearest_find(n, x, nearest, err);
    return status ? status : refuse_coincident(*nearest, err);
}
