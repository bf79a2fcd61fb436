/* Two Plummer models in orbit about each other: KZ(5) = 2 of NBODY6. */
#include "common/nbc.h"
#include "nbody6/input/config.h"
#include "nbody6/input/config_groups.h"
#include "nbody6/model/model.h"
#include "nbody6/model/model_parts.h"
#include "nbody6/model/pieces.h"
#include "nbody6/model/random.h"

#include <math.h>

static double sum_of_masses(const struct nb6_model *model)
{
    double sum = 0.0;
    for (struct nb6_piece p = nb6_pieces(model, NB6_MASSES, 0); nb6_piece_next(&p);)
        for (int64_t i = 0; i < p.count; i++) sum += p.mass[i];
    return sum;
}

/* A sphere of this share of all mass and this size, whose centre is at a distance x and moves with v across. */
static void put(const struct nb6_model *sphere, double share, double size, double x, double v)
{
    enum { ALL = NB6_MASSES | NB6_PLACES | NB6_VELOCITIES };
    for (struct nb6_piece p = nb6_pieces(sphere, ALL, ALL); nb6_piece_next(&p);)
        for (int64_t i = 0; i < p.count; i++) {
            p.mass[i] *= share;
            for (int d = 0; d < 3; d++) {
                p.x[i][d] *= size;
                p.v[i][d] *= sqrt(share / size);
            }
            p.x[i][0] += x;
            p.v[i][1] += v;
        }
}

/* One after the other from the same random numbers: they are no copies of each other. */
static int draw(const struct nb6_model_config *config, nb6_random_t *position, nb6_random_t *velocity,
                struct nb6_model sphere[2], struct nbc_error *err)
{
    int status = NBC_OK;
    for (int k = 0; k < 2 && !status; k++) {
        double potential = 0.0;
        status = nb6_model_plummer(config, position, velocity, &sphere[k], &potential, err);
        if (!status) status = nb6_model_scale(config, potential, &sphere[k], NULL, err);
    }
    return status;
}

/* Stars of a model, which stay where they are. */
static void take_part(const struct nb6_model *model, int64_t first, int64_t n, struct nb6_model *part)
{
    const int64_t in_arrays = model->store ? 0 : first;
    *part = (struct nb6_model){.n = n,
                               .mass = model->mass + in_arrays,
                               .x = model->x + in_arrays,
                               .v = model->v + in_arrays,
                               .store = model->store,
                               .first = first};
}

int nb6_model_two_plummer(const struct nb6_config *config, struct nb6_model *model, struct nbc_error *err)
{
    struct nb6_config_two two;
    int status = nb6_config_get_two(config, &two, err);
    if (status) return status;
    const int64_t n2 = (int64_t)two.n2, n1 = model->n - n2;
    struct nb6_model sphere[2];
    take_part(model, 0, n1, &sphere[0]);
    take_part(model, n1, n2, &sphere[1]);
    const double mass[2] = {sum_of_masses(&sphere[0]), sum_of_masses(&sphere[1])}, all = mass[0] + mass[1];
    nb6_random_t *position = NULL, *velocity = NULL;
    status = nb6_random_create(config->model.seed, NB6_RANDOM_POSITION, &position, err);
    if (!status) status = nb6_random_create(config->model.seed, NB6_RANDOM_VELOCITY, &velocity, err);
    if (!status) status = draw(&config->model, position, velocity, sphere, err);
    nb6_random_free(position);
    nb6_random_free(velocity);
    if (status) return status;
    const double r = two.apo, v = sqrt((1.0 - two.ecc) / r);
    put(&sphere[0], mass[0] / all, 1.0, mass[1] / all * r, mass[1] / all * v);
    put(&sphere[1], mass[1] / all, two.scale, -mass[0] / all * r, -mass[0] / all * v);
    return NBC_OK;
}
