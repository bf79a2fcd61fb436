#include "nbody6/run/overflow.h"

#include "nbody6/analysis/frame.h"
#include "nbody6/input/units.h"
#include "nbody6/state/ageing.h"
#include "nbody6/state/event.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "nbody6/state/transaction.h"
#include "stellar/stellar.h"

#include <math.h>

/* Eggleton 1983, ApJ 268, 368, eq. 2. */
double nb6_roche_lobe(double q)
{
    const double q_13 = cbrt(q), q_23 = q_13 * q_13;
    return 0.49 * q_23 / (0.6 * q_23 + log1p(q_13));
}

/* A pair, as its events have it. */
struct near {
    nb6_index star[2];
    struct stellar_view view[2];
    struct nb6_event event;
};

static int look_at(const struct nb6_sim *sim, const struct nb6_frame_pair *pair, double t_myr, struct near *near,
                   struct nbc_error *err)
{
    struct nb6_event_stellar *s = &near->event.stellar;
    const double rsun = sim->run.units.length_pc / NB6_RSUN_PC;
    int status = NBC_OK;
    s->t_myr = t_myr;
    s->a = pair->a * rsun;
    s->e = pair->e;
    for (int m = 0; m < 2 && !status; m++) {
        status = nb6_ageing_view(sim->ageing, &sim->ageing->aged[near->star[m]], t_myr, &near->view[m], err);
        s->name[m] = sim->star[near->star[m]].name;
        s->type[m] = near->view[m].type;
        s->radius[m] = near->view[m].radius;
        s->lobe[m] = s->a * (1 - s->e) * nb6_roche_lobe(pair->mass[m] / pair->mass[1 - m]);
    }
    return status;
}

/* Once for each pair, by the name that the first star keeps.   @param[in] told  of that star */
static int tell(struct nb6_sim *sim, struct near *near, enum nb6_event_kind kind, const int64_t *told,
                struct nbc_error *err)
{
    struct nb6_aged *aged = &sim->ageing->aged[near->star[0]];
    const int64_t other = sim->star[near->star[1]].name;
    if (*told == other) return NBC_OK;
    const int status = nb6_save_aged(sim, near->star[0], err);
    if (status) return status;
    *(kind == NB6_EVENT_OVERFLOW ? &aged->overflows : &aged->touches) = other;
    sim->run.counters.contacts++;
    near->event.kind = kind;
    return nb6_event_raise(sim, &near->event, err);
}

static int look(struct nb6_sim *sim, const struct nb6_frame *frame, const struct nb6_frame_pair *pair,
                struct nbc_error *err)
{
    const nb6_index *member = sim->subsystems.system[pair->slot].member;
    struct near near = {.star = {member[0], member[1]}, .event = {.t = frame->t}};
    const struct nb6_event_stellar *s = &near.event.stellar;
    if (member[0] >= sim->n || member[1] >= sim->n || !(pair->a > 0)) return NBC_OK;
    if (!(pair->mass[0] > 0) || !(pair->mass[1] > 0)) return NBC_OK;
    const struct nb6_aged *aged = &sim->ageing->aged[member[0]];
    int status = look_at(sim, pair, frame->t * sim->run.units.time_myr, &near, err);
    if (!status && (s->radius[0] > s->lobe[0] || s->radius[1] > s->lobe[1]))
        status = tell(sim, &near, NB6_EVENT_OVERFLOW, &aged->overflows, err);
    if (!status && s->radius[0] + s->radius[1] > s->a * (1 - s->e))
        status = tell(sim, &near, NB6_EVENT_CONTACT, &aged->touches, err);
    return status;
}

int nb6_overflow_look(struct nb6_sim *sim, const struct nb6_frame *frame, struct nbc_error *err)
{
    int status = NBC_OK;
    if (!sim->ageing) return NBC_OK;
    for (int64_t k = 0; k < frame->n_pair && !status; k++) status = look(sim, frame, &frame->pair[k], err);
    return status;
}
