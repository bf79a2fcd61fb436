#include "nbody6/state/energy_ledger.h"

#include "common/nbc.h"

#include <math.h>
#include <string.h>

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

int nb6_ledger_book_work(struct nb6_energy_ledger *ledger, double work, double magnitude, struct nbc_error *err)
{
    const int status = nb6_ledger_book(ledger, NB6_CHANNEL_GALAXY, work, err);
    if (!status) ledger->work += magnitude - fabs(work);
    return status;
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
    memcpy(ledger->booked_last, ledger->booked, sizeof ledger->booked_last);
    ledger->work = 0;
}

double nb6_ledger_interval_error(const struct nb6_energy_ledger *ledger, double total)
{
    return total - nb6_ledger_expected(ledger) - ledger->error_last;
}

/* ---- parts of an error ---- */

static const enum nb6_channel error_channel[NB6_ERROR_PARTS - 1] = {NB6_CHANNEL_PAIRS, NB6_CHANNEL_CHAINS,
                                                                    NB6_CHANNEL_HIERARCHIES};

const char *const nb6_error_part_names[NB6_ERROR_PARTS] = {"e_pairs", "e_chains", "e_hierarchies", "e_integration"};

static const char *const advice[NB6_ERROR_PARTS] = {
    "its largest part is e_pairs, made where pairs form and end: a smaller GMIN, which gives them more perturbers, "
    "cuts it",
    "its largest part is e_chains, made where chains form, change and end: a smaller GMIN, which gives them more "
    "perturbers, cuts it",
    "its largest part is e_hierarchies, made where inner pairs are frozen and released: KZ(30) = -1 freezes none",
    "its largest part is e_integration: smaller ETAI and ETAR cut it"};

void nb6_ledger_interval_parts(const struct nb6_energy_ledger *ledger, double total, double part[NB6_ERROR_PARTS])
{
    double rest = nb6_ledger_interval_error(ledger, total);
    for (int k = 0; k < NB6_ERROR_PARTS - 1; k++) {
        part[k] = ledger->booked[error_channel[k]] - ledger->booked_last[error_channel[k]];
        rest -= part[k];
    }
    part[NB6_ERROR_PARTS - 1] = rest;
}

const char *nb6_error_advice(const double part[NB6_ERROR_PARTS])
{
    int worst = NB6_ERROR_PARTS - 1;
    for (int k = 0; k < NB6_ERROR_PARTS - 1; k++)
        if (fabs(part[k]) > fabs(part[worst])) worst = k;
    return advice[worst];
}
