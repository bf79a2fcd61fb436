#include "nbody6/state/nearest.h"

#include "common/nbc.h"
#include "common/team.h"
#include "nbody6/state/kdtree.h"

#include <string.h>

enum { POINTS_OF_A_PART = 4096 };

static int allocate(struct nb6_nearest *made)
{
    const size_t n = (size_t)made->n;
    made->x = nbc_alloc_unset(n, sizeof *made->x);
    made->index = nbc_alloc_unset(n, sizeof *made->index);
    made->r2 = nbc_alloc_unset(n, sizeof *made->r2);
    made->order = nbc_alloc_unset(n, sizeof *made->order);
    return made->x && made->index && made->r2 && made->order;
}

struct filling {
    struct nb6_nearest *made;
    const double (*x)[3];
    const int64_t *order;
};

static void fill_part(void *context, int part, int parts)
{
    const struct filling *job = context;
    struct nb6_nearest *made = job->made;
    int64_t first, end;
    nbc_range(made->n, part, parts, &first, &end);
    for (int64_t k = first; k < end; k++) made->order[k] = (int32_t)job->order[k];
    if (end > first) memcpy(made->x[first], job->x[first], (size_t)(end - first) * sizeof *made->x);
}

static int fill(struct nb6_nearest *made, const double (*x)[3], struct nbc_error *err)
{
    nb6_kdtree_t *tree = NULL;
    int status = nb6_kdtree_build(made->n, x, &tree, err);
    if (status) return status;
    struct filling job = {made, x, nb6_kdtree_order(tree)};
    nbc_team_run(nbc_parts(made->n, POINTS_OF_A_PART), fill_part, &job);
    status = nb6_kdtree_neighbours(tree, NB6_NEAREST_KEPT, made->index[0], made->r2[0], err);
    nb6_kdtree_free(tree);
    return status;
}

int nb6_nearest_find(int64_t n, const double (*x)[3], struct nb6_nearest **found, struct nbc_error *err)
{
    *found = NULL;
    if (n < 1 || n > INT32_MAX)
        return nbc_fail(err, NBC_BAD_ARGUMENT, "nearest neighbours of %lld points", (long long)n);
    struct nb6_nearest *made = nbc_alloc(1, sizeof *made);
    if (made) made->n = n;
    int status = made && allocate(made)
                     ? fill(made, x, err)
                     : nbc_fail(err, NBC_NO_MEMORY, "no memory for the nearest neighbours of %lld stars", (long long)n);
    if (status)
        nb6_nearest_free(made);
    else
        *found = made;
    return status;
}

void nb6_nearest_free(struct nb6_nearest *nearest)
{
    if (!nearest) return;
    nbc_free(nearest->x);
    nbc_free(nearest->index);
    nbc_free(nearest->r2);
    nbc_free(nearest->order);
    nbc_free(nearest);
}

struct comparing {
    const double (*a)[3], (*b)[3];
    int64_t n;
    int differ;
};

static void compare_part(void *context, int part, int parts)
{
    struct comparing *job = context;
    int64_t first, end;
    int differ = 0;
    nbc_range(job->n, part, parts, &first, &end);
    for (int64_t i = first; i < end; i++)
        for (int k = 0; k < 3; k++) differ |= job->a[i][k] != job->b[i][k];
    if (differ) __atomic_store_n(&job->differ, 1, __ATOMIC_RELAXED);
}

int nb6_nearest_is_of(const struct nb6_nearest *nearest, int64_t n, const double (*x)[3])
{
    if (!nearest || nearest->n != n) return 0;
    struct comparing job = {.a = (const double(*)[3])nearest->x, .b = x, .n = n};
    nbc_team_run(nbc_parts(n, POINTS_OF_A_PART), compare_part, &job);
    return !job.differ;
}
