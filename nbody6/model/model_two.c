/* Two Plummer models in orbit about each other: KZ(5) = 2 of NBODY6. */
#include "common/nbc.h"
#include "nbody6/input/config.h"
#include "nbody6/input/config_groups.h"
#include "nbody6/model/model.h"
#include "nbody6/model/model_parts.h"
#include "nbody6/model/random.h"

#include <math.h>

static double sum_of_masses(const struct nb6_model *model)
{
    double sum = 0.0;
    for (int64_t i = 0; i < model->n; i++) sum += model->mass[i];
    return sum;
}

/* A sphere of this share of all mass and this size, whose centre is at a distance x and moves with v across. */
static void put(struct nb6_model *sphere, double share, double size, double x, double v)
{
    for (int64_t i = 0; i < sphere->n; i++) {
        sphere->mass[i] *= share;
        for (int d = 0; d < 3; d++) {
            sphere->x[i][d] *= size;
            sphere->v[i][d] *= sqrt(share / size);
        }
        sphere->x[i][0] += x;
        sphere->v[i][1] += v;
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

int nb6_model_two_plummer(const struct nb6_config *config, struct nb6_model *model, struct nbc_error *err)
{
    struct nb6_config_two two;
    int status = nb6_config_get_two(config, &two, err);
    if (status) return status;
    const int64_t n2 = (int64_t)two.n2, n1 = model->n - n2;
    struct nb6_model sphere[2] = {{.n = n1, .mass = model->mass, .x = model->x, .v = model->v},
                                  {.n = n2, .mass = model->mass + n1, .x = model->x + n1, .v = model->v + n1}};
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
