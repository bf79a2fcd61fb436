#include "nbody6/fewbody/decisions.h"

int nb6_is_decided(const struct nb6_decisions *d, int32_t i)
{
    for (int64_t k = 0; k < d->n_chain; k++)
        if (d->chain[k].i == i || d->chain[k].j == i) return 1;
    for (int64_t k = 0; k < d->n_form; k++)
        if (d->form[k][0] == i || d->form[k][1] == i) return 1;
    return 0;
}
