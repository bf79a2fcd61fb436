#include "common/nbc.h"
#include "nbody6/input/config.h"
#include "nbody6/input/properties.h"
#include "nbody6/model/model.h"
#include "nbody6/model/model_parts.h"

#include <stdlib.h>
#include <string.h>

int nb6_model_alloc(int64_t n, struct nb6_model *model, struct nbc_error *err)
{
    struct nb6_model made = {.n = n};
    made.name = nbc_alloc((size_t)n, sizeof *made.name);
    made.mass = nbc_alloc((size_t)n, sizeof *made.mass);
    made.x = nbc_alloc((size_t)n, sizeof *made.x);
    made.v = nbc_alloc((size_t)n, sizeof *made.v);
    if (!made.name || !made.mass || !made.x || !made.v) {
        nb6_model_free(&made);
        return nbc_fail(err, NBC_NO_MEMORY, "no memory for the initial model of N = %lld stars", (long long)n);
    }
    for (int64_t i = 0; i < n; i++) made.name[i] = i + 1;
    *model = made;
    return NBC_OK;
}

void nb6_model_free(struct nb6_model *model)
{
    if (!model) return;
    nbc_free(model->name);
    nbc_free(model->mass);
    nbc_free(model->x);
    nbc_free(model->v);
    nb6_properties_free(model->properties);
    *model = (struct nb6_model){.n = 0};
}

static int by_number(const void *a, const void *b)
{
    const int64_t p = *(const int64_t *)a, q = *(const int64_t *)b;
    return (p > q) - (p < q);
}

int nb6_model_set_names(const int64_t *name, int wanted, const char *path, struct nb6_model *model,
                        struct nbc_error *err)
{
    const size_t n = (size_t)model->n;
    int64_t *sorted = nbc_alloc(n, sizeof *sorted);
    if (!sorted) return nbc_fail(err, NBC_NO_MEMORY, "%s: no memory for the names of the stars", path);
    memcpy(sorted, name, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, by_number);
    size_t k = 1;
    while (k < n && sorted[k] > sorted[k - 1]) k++;
    const int64_t least = sorted[0], largest = sorted[n - 1], twice = k < n ? sorted[k] : 0;
    nbc_free(sorted);
    if (least >= 1 && largest <= NB6_NAME_LARGEST && !twice) {
        memcpy(model->name, name, n * sizeof *name);
        return NBC_OK;
    }
    model->data.ids_unused = 1;
    if (!wanted) return NBC_OK;
    if (least < 1)
        return nbc_fail(err, NBC_BAD_INPUT,
                        "%s: not all ids are positive integers; give others, or leave the eighth "
                        "name of COLUMNS away: stars are then called 1, 2, 3, ...",
                        path);
    if (largest > NB6_NAME_LARGEST)
        return nbc_fail(err, NBC_BAD_INPUT,
                        "%s: the id %lld is above %lld, the largest there is; give others, or leave the eighth name of "
                        "COLUMNS away: stars are then called 1, 2, 3, ...",
                        path, (long long)largest, (long long)NB6_NAME_LARGEST);
    return nbc_fail(err, NBC_BAD_INPUT,
                    "%s: two stars have the id %lld; give others, or leave the eighth name of COLUMNS "
                    "away: stars are then called 1, 2, 3, ...",
                    path, (long long)twice);
}
