#include "nbody6/run/change.h"

#include "common/nbc.h"
#include "nbody6/input/config.h"
#include "nbody6/state/body.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/members.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "nbody6/step/radius.h"

#include <math.h>

nb6_time nb6_time_multiple(int64_t k, double interval)
{
    const double t = (double)k * interval;
    return t < NB6_T_MAX ? (nb6_time)llround(ldexp(t, NB6_TIME_BITS)) : INT64_MAX;
}

/* Number `count` is the next one, unless one is due already. */
static void set_interval(nb6_time now, double interval, nb6_time *next, int64_t *count)
{
    int64_t k = (int64_t)floor(nb6_time_to_double(now) / interval);
    while (nb6_time_multiple(k, interval) <= now) k++;
    while (k > 0 && nb6_time_multiple(k - 1, interval) > now) k--;
    *count = *next > now ? k : k - 1;
    if (*next > now) *next = nb6_time_multiple(k, interval);
}

/* Values of the input apply until the next adjust, if they follow the core by KZ(16). */
static void set_criteria(struct nb6_sim *sim, const struct nb6_pair_config *before)
{
    const struct nb6_pair_config *now = &sim->run.config.pair;
    if (now->r_min != before->r_min) sim->book.r_min = now->r_min;
    if (now->dt_min != before->dt_min) sim->book.dt_min = now->dt_min;
    if (now->e_close != before->e_close) sim->book.e_close = now->e_close;
    if (now->eta_u == before->eta_u) return;
    for (nb6_slot slot = 0; slot < sim->subsystems.n_slot; slot++)
        if (nb6_slot_is_used(&sim->subsystems, slot)) sim->subsystems.ks[slot].options.eta = now->eta_u;
}

static double heaviest_share(const struct nb6_sim *sim)
{
    double heaviest = 0, sum = 0;
    for (int64_t i = 0; i < sim->n; i++) {
        heaviest = fmax(heaviest, sim->body[i].mass);
        sum += sim->body[i].mass;
    }
    return sum > 0 ? heaviest / sum : 0;
}

/* A change to or from lists that hold all bodies is refused: these are made once and never again. */
static int set_neighbours(struct nb6_sim *sim, struct nbc_error *err)
{
    const int all_before = nb6_all_are_neighbours(sim);
    const double before = sim->book.nnb_opt;
    sim->book.nnb_opt = nb6_radius_initial_mean(&sim->run.config, sim->n, heaviest_share(sim));
    if (nb6_all_are_neighbours(sim) == all_before) return NBC_OK;
    sim->book.nnb_opt = before;
    if (all_before)
        return nbc_fail(
            err, NBC_BAD_INPUT,
            "NNBOPT: in this run all stars are neighbours of each other, which cannot change; remove it, or "
            "begin a new run");
    return nbc_fail(
        err, NBC_BAD_INPUT,
        "NNBOPT: with %lld or more all stars would be neighbours of each other, which cannot begin in a run; "
        "give less, or begin a new run",
        (long long)sim->run.config.integration.nnb_opt);
}

int nb6_change_state(struct nb6_sim *sim, const struct nb6_config *before, struct nbc_error *err)
{
    const struct nb6_config *now = &sim->run.config;
    if ((now->pair.r_min == 0 && before->pair.r_min > 0) || (now->pair.dt_min == 0 && before->pair.dt_min > 0))
        return nbc_fail(err, NBC_BAD_INPUT,
                        "%s: cannot become 0 in a run, which has its criteria of close encounters; give a value > 0",
                        now->pair.r_min == 0 && before->pair.r_min > 0 ? "RMIN" : "DTMIN");
    if (now->integration.nnb_opt != before->integration.nnb_opt && now->integration.nnb_opt > 0) {
        const int status = set_neighbours(sim, err);
        if (status) return status;
    }
    set_criteria(sim, &before->pair);
    nb6_change_times(&sim->run, sim->ti_reached, before);
    return NBC_OK;
}

void nb6_change_times(struct nb6_run_record *run, nb6_time reached, const struct nb6_config *before)
{
    const struct nb6_config *now = &run->config;
    struct nb6_run_book *book = &run->book;
    if (now->run.dt_adjust != before->run.dt_adjust)
        set_interval(reached, now->run.dt_adjust, &book->ti_next_adjust, &book->adjust_count);
    if (now->run.dt_output != before->run.dt_output)
        set_interval(reached, now->run.dt_output, &book->ti_next_output, &book->output_count);
}
