#include "nbody6/state/event.h"

#include "nbody6/state/sim.h"

int nb6_event_raise(nb6_t *sim, const struct nb6_event *event, struct nbc_error *err)
{
    const struct nb6_observer *observer = &sim->observer;
    return observer->event ? observer->event(observer->context, sim, event, err) : NBC_OK;
}
