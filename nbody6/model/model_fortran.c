#include "nbody6/model/model_fortran.h"

#include "common/nbc.h"
#include "nbody6/input/config.h"
#include "nbody6/model/model.h"

int nb6_fortran_model_make(struct nb6_config *config, struct nb6_model **model, int64_t *n, int64_t **name,
                           double **mass, double (**x)[3], double (**v)[3], struct nbc_error *err)
{
    struct nb6_model *made = nbc_alloc(1, sizeof *made);
    if (!made) return nbc_fail(err, NBC_NO_MEMORY, "no memory for a model");
    const int status = nb6_model_make(config, made, err);
    if (status) {
        nbc_free(made);
        return status;
    }
    nb6_model_settle(made, config);
    *model = made;
    *n = made->n;
    *name = made->name;
    *mass = made->mass;
    *x = made->x;
    *v = made->v;
    return NBC_OK;
}

void nb6_fortran_model_free(struct nb6_model *model)
{
    nb6_model_free(model);
    nbc_free(model);
}
