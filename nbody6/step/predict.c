#include "nbody6/step/predict.h"

#include "common/nbc.h"
#include "gpuirr/gpuirr.h"
#include "nbody6/state/bodies.h"
#include "nbody6/state/body.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/members.h"
#include "nbody6/state/profile.h"
#include "nbody6/state/sim.h"
#include "nbody6/step/rules.h"

#include <math.h>

/* A block to measure the costs of prediction on, and how often. The first time warms the caches. */
enum { SAMPLE = 256, TRIALS = 3 };

/* The cost of blocks of fewer pairs is that of the calls. */
enum { PAIRS_TO_MEASURE = 1024 };

/* Predict all when that is the cheaper way by the costs measured so far; the result is the same to the last bit. Fewer
 * pairs than bodies are never worth it, even if a measured time says so, which other processes may have disturbed. */
static int predict_all_is_cheaper(const struct nb6_sim *sim, double pairs)
{
    const struct nb6_prediction_cost *cost = &sim->prediction;
    int64_t n = nb6_bodies(sim);
    if (pairs <= (double)n) return 0;
    if (cost->all_s <= 0 || cost->stored_s <= 0 || cost->on_the_fly_s <= 0) return 1;
    return cost->all_s * (double)n + cost->stored_s * pairs < cost->on_the_fly_s * pairs;
}

int nb6_step_set_precision(struct nb6_sim *sim)
{
    return gpuirr_set_in_double(sim->irr, nb6_needs_double(sim->run.config.integration.eta_irr * sim->book.eta_share));
}

int nb6_step_predict(struct nb6_sim *sim, struct nbc_error *err)
{
    struct nb6_active *active = &sim->active;
    double start = nbc_wtime(), t = nb6_relative_time(sim, active->t);
    const double pairs = (double)(active->pairs_irr + active->pairs_reg); /* regular members are summed twice */
    int status = nb6_step_set_precision(sim), all = predict_all_is_cheaper(sim, pairs);
    if (status) return nbc_fail(err, status, "%s", gpuirr_last_error(sim->irr));
    if (all) {
        status = gpuirr_pred_all(sim->irr, 0, (size_t)nb6_bodies(sim), t);
        nb6_prediction_measure_all(&sim->prediction, nbc_wtime() - start, nb6_bodies(sim));
    } else {
        status = gpuirr_pred_act(sim->irr, (size_t)active->n_irr, active->irr, t);
    }
    if (status) return nbc_fail(err, status, "%s", gpuirr_last_error(sim->irr));
    active->predicted_all = all;
    nb6_profile_stage(sim, NB6_STAGE_PREDICT, nbc_wtime() - start);
    return NBC_OK;
}

/* A call may wait for other processes a thousand times as long as it takes itself. */
static void average(double *mean, double value)
{
    const double MOST = 2;
    *mean = *mean > 0 ? 0.9 * *mean + 0.1 * fmin(value, MOST * *mean) : value;
}

void nb6_prediction_measure_all(struct nb6_prediction_cost *cost, double seconds, int64_t n)
{
    if (n > 0) average(&cost->all_s, seconds / (double)n);
}

void nb6_prediction_measure_pairs(struct nb6_prediction_cost *cost, int predicted_all, double seconds, double pairs)
{
    double *mean = predicted_all ? &cost->stored_s : &cost->on_the_fly_s;
    if (pairs >= PAIRS_TO_MEASURE || (pairs > 0 && *mean <= 0)) average(mean, seconds / pairs);
}

/* Of all that take part: not of the members of pairs. */
static int32_t sample_of_bodies(struct nb6_sim *sim, double *pairs)
{
    const int64_t all = sim->subsystems.n_source;
    int32_t n = (int32_t)(all < SAMPLE ? all : SAMPLE);
    *pairs = 0;
    for (int32_t k = 0; k < n; k++) {
        sim->active.irr[k] = sim->subsystems.source[all * k / n];
        *pairs += sim->star[sim->active.irr[k]].nnb;
    }
    return n;
}

void nb6_prediction_measure(struct nb6_sim *sim)
{
    struct nb6_active *active = &sim->active;
    double pairs, t = nb6_relative_time(sim, sim->ti_now);
    const int32_t n = sample_of_bodies(sim, &pairs);
    sim->prediction = (struct nb6_prediction_cost){0, 0, 0};
    for (int trial = 0; trial < TRIALS; trial++) {
        for (int all = 0; all < 2; all++) {
            double start = nbc_wtime(), announced, end;
            int status = all ? gpuirr_pred_all(sim->irr, 0, (size_t)nb6_bodies(sim), t)
                             : gpuirr_pred_act(sim->irr, (size_t)n, active->irr, t);
            announced = nbc_wtime();
            if (!status) status = gpuirr_firr_vec(sim->irr, (size_t)n, active->irr, active->acc, active->jerk, NULL);
            end = nbc_wtime();
            if (status) return; /* the first step will report the error */
            if (trial == 0) continue;
            if (all) nb6_prediction_measure_all(&sim->prediction, announced - start, nb6_bodies(sim));
            nb6_prediction_measure_pairs(&sim->prediction, all, end - announced, pairs);
        }
    }
}
