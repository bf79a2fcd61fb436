#include "common/nbc.h"
#include "nbody6/input/config.h"
#include "nbody6/model/model.h"
#include "nbody6/model/model_parts.h"
#include "nbody6/model/random.h"

static void point_in_sphere(nb6_random_t *random, double point[3])
{
    const double r = nb6_cbrt(nb6_random_uniform(random));
    nb6_random_direction(random, r, point);
}

int nb6_model_uniform(const struct nb6_model_config *config, nb6_random_t *position, nb6_random_t *velocity,
                      struct nb6_model *model, double *potential, struct nbc_error *err)
{
    (void)config;
    (void)err;
    for (int64_t i = 0; i < model->n; i++) {
        point_in_sphere(position, model->x[i]);
        point_in_sphere(velocity, model->v[i]);
    }
    *potential = -0.6;
    return NBC_OK;
}
