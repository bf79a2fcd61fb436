#include "common/nbc.h"
#include "nbody6/model/model.h"
#include "nbody6/model/model_parts.h"

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
    nbc_free(model->name);
    nbc_free(model->mass);
    nbc_free(model->x);
    nbc_free(model->v);
    *model = (struct nb6_model){.n = 0};
}
