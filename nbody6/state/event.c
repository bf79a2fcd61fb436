#include "nbody6/state/event.h"

#include "nbody6/state/sim.h"

int nb6_event_raise(nb6_t *sim, const struct nb6_event *event, struct nbc_error *err)
{
    const struct nb6_observer *observer = &sim->observer;
    if (sim->transaction.open && nb6_transaction_keep(&sim->transaction, event))
        return nbc_fail(err, NBC_NO_MEMORY, "no memory for an event");
    if (sim->transaction.open) return NBC_OK;
    return observer->event ? observer->event(observer->context, sim, event, err) : NBC_OK;
}
