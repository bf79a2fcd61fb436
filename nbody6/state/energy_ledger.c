#include "nbody6/state/energy_ledger.h"

#include "common/nbc.h"

#include <math.h>

const char *const nb6_channel_names[NB6_CHANNEL_COUNT] = {
#define NAME(constant, name, transfer) name,
    NB6_CHANNELS(NAME)
#undef NAME
};

static const int is_transfer[NB6_CHANNEL_COUNT] = {
#define TRANSFER(constant, name, transfer) transfer,
    NB6_CHANNELS(TRANSFER)
#undef TRANSFER
};

/* In the order of the channels, whatever the order of bookings: the same channels make the same bits. */
static double sum_of(const struct nb6_energy_ledger *ledger, int transfers)
{
    double sum = 0;
    for (int k = 0; k < NB6_CHANNEL_COUNT; k++)
        if (is_transfer[k] == transfers) sum += ledger->booked[k];
    return sum;
}

void nb6_ledger_open(struct nb6_energy_ledger *ledger, double total)
{
    *ledger = (struct nb6_energy_ledger){.start = total};
}

int nb6_ledger_book(struct nb6_energy_ledger *ledger, enum nb6_channel channel, double energy, struct nbc_error *err)
{
    if (!isfinite(energy))
        return nbc_fail(err, NBC_NON_FINITE, "the energy booked under '%s' is not finite", nb6_channel_names[channel]);
    ledger->booked[channel] += energy;
    if (channel == NB6_CHANNEL_GALAXY) ledger->work += fabs(energy);
    return NBC_OK;
}

double nb6_ledger_expected(const struct nb6_energy_ledger *ledger)
{
    return ledger->start + sum_of(ledger, 1);
}

double nb6_ledger_known_error(const struct nb6_energy_ledger *ledger)
{
    return sum_of(ledger, 0);
}

double nb6_ledger_integration(const struct nb6_energy_ledger *ledger, double total)
{
    return total - nb6_ledger_expected(ledger) - nb6_ledger_known_error(ledger);
}

void nb6_ledger_end_interval(struct nb6_energy_ledger *ledger, double error)
{
    ledger->error_last = error;
    ledger->work = 0;
}

double nb6_ledger_interval_error(const struct nb6_energy_ledger *ledger, double total)
{
    return total - nb6_ledger_expected(ledger) - ledger->error_last;
}
