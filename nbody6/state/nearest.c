#include "nbody6/state/nearest.h"

#include "common/nbc.h"
#include "nbody6/state/kdtree.h"

#include <string.h>

static int allocate(struct nb6_nearest *made)
{
    const size_t n = (size_t)made->n;
    made->x = nbc_alloc(n, sizeof *made->x);
    made->index = nbc_alloc(n, sizeof *made->index);
    made->r2 = nbc_alloc(n, sizeof *made->r2);
    made->order = nbc_alloc(n, sizeof *made->order);
    return made->x && made->index && made->r2 && made->order;
}

static int fill(struct nb6_nearest *made, const double (*x)[3], struct nbc_error *err)
{
    nb6_kdtree_t *tree = NULL;
    int status = nb6_kdtree_build(made->n, x, &tree, err);
    if (status) return status;
    const int64_t *order = nb6_kdtree_order(tree);
    for (int64_t k = 0; k < made->n; k++) made->order[k] = (int32_t)order[k];
    memcpy(made->x, x, (size_t)made->n * sizeof *x);
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

int nb6_nearest_is_of(const struct nb6_nearest *nearest, int64_t n, const double (*x)[3])
{
    if (!nearest || nearest->n != n) return 0;
    for (int64_t i = 0; i < n; i++)
        for (int k = 0; k < 3; k++)
            if (nearest->x[i][k] != x[i][k]) return 0;
    return 1;
}
