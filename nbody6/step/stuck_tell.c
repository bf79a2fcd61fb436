#include "nbody6/step/stuck_tell.h"

#include "common/nbc.h"
#include "gpuirr/gpuirr.h"
#include "nbody6/galaxy/external.h"
#include "nbody6/state/bodies.h"
#include "nbody6/state/body.h"
#include "nbody6/state/event.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/stuck.h"
#include "nbody6/step/hermite.h"
#include "nbody6/step/predict.h"
#include "nbody6/step/rules.h"

#include <math.h>
#include <string.h>

/* Those of the two that still take part, ascending.   @return their number */
static int find(const struct nb6_sim *sim, const int64_t name[2], nb6_index body[2])
{
    int n = 0;
    for (int64_t m = 0; m < sim->subsystems.n_source && n < 2; m++) {
        const nb6_index i = sim->subsystems.source[m];
        if (sim->star[i].name == name[0] || sim->star[i].name == name[1]) body[n++] = i;
    }
    return n;
}

/* Bounds on the rounding errors of their accelerations, as the rules of steps have them. */
static int find_noise(struct nb6_sim *sim, int n, const nb6_index *body, double *noise, struct nbc_error *err)
{
    const struct nb6_step_rules rules = nb6_step_rules_of(sim);
    const double t = nb6_time_to_double(sim->ti_now);
    double acc[2][3], jerk[2][3];
    int status = nb6_step_set_precision(sim);
    if (!status) status = gpuirr_pred_act(sim->irr, (size_t)n, body, nb6_relative_time(sim, sim->ti_now));
    if (!status) status = gpuirr_firr_noise(sim->irr, (size_t)n, body, acc, jerk, NULL, noise);
    if (status) return nbc_fail(err, status, "%s", gpuirr_last_error(sim->irr));
    for (int k = 0; k < n; k++) {
        const struct nb6_body *b = &sim->body[body[k]];
        const struct nb6_star *star = &sim->star[body[k]];
        noise[k] += nb6_external_noise(&sim->run.external, t, b->x0, b->v0) +
                    (double)nb6_noise_of_regular(&rules, b->x0, star->nnb, star->r_nb);
    }
    return NBC_OK;
}

static void describe_bodies(const struct nb6_sim *sim, int n, const nb6_index *body, struct nb6_event_stuck *stuck)
{
    stuck->n = n;
    for (int k = 0; k < n; k++) {
        const struct nb6_body *b = &sim->body[body[k]];
        stuck->name[k] = sim->star[body[k]].name;
        stuck->step[k] = nb6_step_length(sim->star[body[k]].level_irr);
        stuck->acc[k] = sqrt(nb6_norm2(b->acc));
        stuck->change[k] = sqrt(nb6_norm2(b->jerk)) * stuck->step[k];
    }
}

int nb6_stuck_tell(struct nb6_sim *sim, struct nbc_error *err)
{
    struct nb6_bookkeeping *book = &sim->book;
    struct nb6_event event = {.kind = NB6_EVENT_STUCK, .t = nb6_time_to_double(sim->ti_now)};
    nb6_index body[2];
    if (book->stuck.blocks != NB6_STUCK_BLOCKS || !memcmp(book->stuck_told, book->stuck.who, sizeof book->stuck_told))
        return NBC_OK;
    const int n = find(sim, book->stuck.who, body);
    if (n == 0) return NBC_OK;
    const int status = find_noise(sim, n, body, event.stuck.noise, err);
    if (status) return status;
    describe_bodies(sim, n, body, &event.stuck);
    memcpy(book->stuck_told, book->stuck.who, sizeof book->stuck_told);
    return nb6_event_raise(sim, &event, err);
}
