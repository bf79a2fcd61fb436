/* A toy of a backend of GPUNB: makes one target after the other, the last one first, and sums potentials from the last
 * body on; all else is that of `ref`, whose state it has. Its line in the list: backend.line. */
#include "common/nbc.h"
#include "gpunb/backend.h"

#include <math.h>
#include <stdint.h>

static int toy_create(void **state, const struct gpunb_setup *setup, struct nbc_error *err)
{
    return gpunb_backend_ref.create(state, setup, err);
}

static void toy_free(void *state)
{
    gpunb_backend_ref.free(state);
}

static int toy_send(void *state, size_t n_j, const double *mass, const double (*x)[3], const double (*v)[3],
                    struct nbc_error *err)
{
    return gpunb_backend_ref.send(state, n_j, mass, x, v, err);
}

static int toy_reserve(void *state, size_t n_j_max, struct nbc_error *err)
{
    return gpunb_backend_ref.reserve(state, n_j_max, err);
}

static int toy_predictors(void *state, size_t n_j_max, struct nbc_error *err)
{
    return gpunb_backend_ref.predictors(state, n_j_max, err);
}

static void toy_set_jp(void *state, size_t j, const struct gpunb_jp *jp)
{
    gpunb_backend_ref.set_jp(state, j, jp);
}

static int toy_predict(void *state, const struct gpunb_order *order, double t, struct nbc_error *err)
{
    return gpunb_backend_ref.predict(state, order, t, err);
}

/* A block that is target i of another one. */
static struct gpunb_block target(const struct gpunb_block *block, size_t i)
{
    struct gpunb_block one = *block;
    one.n_i = 1;
    if (one.self) one.self += i;
    one.r_nb2 += i;
    one.dt_reg += i;
    one.x += i;
    one.v += i;
    one.acc += i;
    one.jerk += i;
    if (one.pot) one.pot += i;
    one.nnb += i;
    if (one.nblist) one.nblist += i * one.list_stride;
    return one;
}

static int toy_regf(void *state, const struct gpunb_block *block, struct nbc_error *err)
{
    int status = NBC_OK;
    for (size_t i = block->n_i; i-- > 0 && !status;) {
        const struct gpunb_block one = target(block, i);
        status = gpunb_backend_ref.regf(state, &one, err);
    }
    return status;
}

static int toy_potential(void *state, const struct gpunb_pot_job *job, struct nbc_error *err)
{
    (void)state;
    (void)err;
    for (size_t i = 0; i < job->n_i; i++) {
        double sum = 0;
        for (size_t j = job->n; j-- > 0;) {
            double r2 = 0;
            for (int k = 0; k < 3; k++) r2 += pow(job->x[j][k] - job->x[job->i_first + i][k], 2);
            if (r2 > GPUNB_ZERO_R2) sum += job->mass[j] / sqrt(r2);
        }
        job->pot[i] = -sum;
    }
    return NBC_OK;
}

static int toy_softened(void *state, const struct gpunb_softened_job *job, struct nbc_error *err)
{
    return gpunb_backend_ref.softened(state, job, err);
}

static const char *toy_why_unavailable(void)
{
    return "";
}

const struct gpunb_backend gpunb_backend_toy = {
    .name = "toy",
    .description = "a toy: backwards, in double",
    .ns_per_pair = 7.0,
    .precisions = 1u << GPUNB_DOUBLE,
    .precision = GPUNB_DOUBLE,
    .why_unavailable = toy_why_unavailable,
    .create = toy_create,
    .free = toy_free,
    .send = toy_send,
    .reserve = toy_reserve,
    .predictors = toy_predictors,
    .set_jp = toy_set_jp,
    .predict = toy_predict,
    .regf = toy_regf,
    .potential = toy_potential,
    .softened = toy_softened,
};
