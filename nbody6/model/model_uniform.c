#include "common/nbc.h"
#include "nbody6/input/config.h"
#include "nbody6/model/model.h"
#include "nbody6/model/model_parts.h"
#include "nbody6/model/pieces.h"
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
    for (struct nb6_piece p = nb6_pieces(model, 0, NB6_PLACES | NB6_VELOCITIES); nb6_piece_next(&p);)
        for (int64_t i = 0; i < p.count; i++) {
            point_in_sphere(position, p.x[i]);
            point_in_sphere(velocity, p.v[i]);
        }
    *potential = -0.6;
    return NBC_OK;
}
