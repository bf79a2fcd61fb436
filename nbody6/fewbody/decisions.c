#include "nbody6/fewbody/decisions.h"

#include "nbody6/state/subsystems.h"

static int concerns(const struct nb6_chain_change *change, nb6_index i)
{
    for (int32_t k = 0; k < change->n_more; k++)
        if (change->more[k] == i) return 1;
    return change->i == i || change->j == i;
}

int nb6_is_decided(const struct nb6_decisions *d, nb6_index i)
{
    for (int64_t k = 0; k < d->n_chain; k++)
        if (concerns(&d->chain[k], i)) return 1;
    for (int64_t k = 0; k < d->n_form; k++)
        if (d->form[k][0] == i || d->form[k][1] == i) return 1;
    return 0;
}
