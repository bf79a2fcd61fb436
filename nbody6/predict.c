#include "hermite.h"
#include "step.h"

/* Below this many bodies a parallel region costs more than it saves. */
enum { PARALLEL_BODIES = 4096 };

/* Predict all when that is the cheaper way by the costs measured so far. Until both ways have been tried, small blocks
 * try the one and large blocks the other; the result is the same to the last bit. */
static int predict_all_is_cheaper(const struct nb6_sim *sim, double pairs)
{
    const struct nb6_prediction_cost *cost = &sim->prediction;
    if (cost->all_s <= 0 || cost->stored_s <= 0 || cost->on_the_fly_s <= 0) return pairs > (double)sim->n;
    return cost->all_s * (double)sim->n + cost->stored_s * pairs < cost->on_the_fly_s * pairs;
}

static double pairs_of_block(const struct nb6_sim *sim)
{
    const struct nb6_active *active = &sim->active;
    double pairs = 0;
    for (int64_t slot = 0; slot < active->n_irr; slot++) pairs += sim->star[active->irr[slot]].nnb;
    return pairs;
}

static void predict_for_regular(struct nb6_sim *sim)
{
    struct nb6_active *active = &sim->active;
#pragma omp parallel for schedule(static) if (sim->n > PARALLEL_BODIES)
    for (int64_t i = 0; i < sim->n; i++) {
        const struct nb6_body *body = &sim->body[i];
        nb6_predict(body, nb6_time_to_double(active->t - body->t0), active->x[i], active->v[i]);
        active->mass[i] = body->mass;
    }
}

int nb6_step_predict(struct nb6_sim *sim, struct nbc_error *err)
{
    struct nb6_active *active = &sim->active;
    double start = nbc_wtime(), t = nb6_relative_time(sim, active->t);
    int status, all = active->n_reg > 0 || predict_all_is_cheaper(sim, pairs_of_block(sim));
    if (all) {
        status = gpuirr_pred_all(sim->irr, 0, (size_t)sim->n, t);
        nb6_prediction_measure_all(&sim->prediction, nbc_wtime() - start, sim->n);
    } else {
        status = gpuirr_pred_act(sim->irr, (size_t)active->n_irr, active->irr, t);
    }
    if (status) return nbc_fail(err, status, "%s", gpuirr_last_error(sim->irr));
    active->predicted_all = all;
    if (active->n_reg > 0) predict_for_regular(sim);
    sim->stage_s[NB6_STAGE_PREDICT] += nbc_wtime() - start;
    return NBC_OK;
}

static void average(double *mean, double value)
{
    *mean = *mean > 0 ? 0.9 * *mean + 0.1 * value : value;
}

void nb6_prediction_measure_all(struct nb6_prediction_cost *cost, double seconds, int64_t n)
{
    if (n > 0) average(&cost->all_s, seconds / (double)n);
}

void nb6_prediction_measure_pairs(struct nb6_prediction_cost *cost, int predicted_all, double seconds, double pairs)
{
    if (pairs > 0) average(predicted_all ? &cost->stored_s : &cost->on_the_fly_s, seconds / pairs);
}
