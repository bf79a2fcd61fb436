/** The ledger of energies: the total energy at the start, and its changes since, by channel.
 *
 *  At any time, total = start + booked in all channels + error of the integration. Transfers are physics:
 *  nb6_ledger_expected includes them. The other channels are known errors of changes of members; the expected energy
 *  does not include them. An event reports each booking, with its energy (docs/output.md).
 *
 *  A new channel is a line in NB6_CHANNELS, a call of nb6_ledger_book where the energy changes, beside an event that
 *  has it, a column of the log (analysis/columns.def), and a new schema of checkpoints. The work of a field that
 * depends on time (KZ(14) = 3, 4) is booked with each block, without events; in fields that are constant in a rotating
 * frame the total is Jacobi's integral, and nothing is to be booked. */
#ifndef NB6_ENERGY_LEDGER_H
#define NB6_ENERGY_LEDGER_H

#include "common/nbc.h"

/** The channels in the order in which they are summed: constant, name in checkpoints and events, 1 for a transfer. */
#define NB6_CHANNELS(CHANNEL)                                                                                          \
    CHANNEL(PAIRS, "pairs", 0)                     /* formation and end of regularized pairs */                        \
    CHANNEL(CHAINS, "chains", 0)                   /* chains that form, change and end */                              \
    CHANNEL(HIERARCHIES, "hierarchies", 0)         /* pairs that are frozen as members of others, and released */      \
    CHANNEL(ESCAPED, "escaped", 1)                 /* bodies that left */                                              \
    CHANNEL(ESCAPED_BINDING, "escaped_binding", 1) /* relative motions in pairs and chains that left */                \
    CHANNEL(MERGED, "merged", 1)                   /* relative motions of stars that merged */                         \
    CHANNEL(GALAXY, "galaxy", 1)                   /* work of a field that depends on time */                          \
    CHANNEL(CHANGED, "changed", 1)                 /* stars that a program added and removed */                        \
    CHANNEL(STARS, "stars", 1)                     /* masses of stars that changed, and their kicks */

enum nb6_channel {
#define NB6_CHANNEL_CONSTANT(constant, name, transfer) NB6_CHANNEL_##constant,
    NB6_CHANNELS(NB6_CHANNEL_CONSTANT)
#undef NB6_CHANNEL_CONSTANT
        NB6_CHANNEL_COUNT
};

extern const char *const nb6_channel_names[NB6_CHANNEL_COUNT];

/** Written by the functions below alone. N-body units. */
struct nb6_energy_ledger {
    double start;                          /**< total energy at t = 0 */
    double booked[NB6_CHANNEL_COUNT];      /**< change of the total by each channel since the start */
    double error_last;                     /**< total less expected at the last adjust */
    double booked_last[NB6_CHANNEL_COUNT]; /**< energy booked then */
    double work; /**< of a field that depends on time since then, the sum of all its magnitudes */
};

/** The first total energy, the start of all books. */
void nb6_ledger_open(struct nb6_energy_ledger *ledger, double total);
/** Book an energy.   @param[in] energy  added to the total; less than 0: taken from it   @return NBC_OK;
 *  NBC_NON_FINITE, and nothing is booked */
int nb6_ledger_book(struct nb6_energy_ledger *ledger, enum nb6_channel channel, double energy, struct nbc_error *err);
/** Book the work of a field on some bodies.   @param[in] magnitude  sum of the magnitudes of that on each */
int nb6_ledger_book_work(struct nb6_energy_ledger *ledger, double work, double magnitude, struct nbc_error *err);

/** The expected total: start and transfers. */
double nb6_ledger_expected(const struct nb6_energy_ledger *ledger);
/** The part of total less expected that changes of members are known to have made. */
double nb6_ledger_known_error(const struct nb6_energy_ledger *ledger);
/** The other part: the error of the integration. */
double nb6_ledger_integration(const struct nb6_energy_ledger *ledger, double total);

/** An interval between adjusts ends.   @param[in] error  total less expected, then */
void nb6_ledger_end_interval(struct nb6_energy_ledger *ledger, double error);
/** Growth of total less expected since the last interval ended. */
double nb6_ledger_interval_error(const struct nb6_energy_ledger *ledger, double total);

/** Parts of an energy error by the columns of the log that have them, "e_pairs" to "e_integration". */
enum { NB6_ERROR_PARTS = 4 };
extern const char *const nb6_error_part_names[NB6_ERROR_PARTS];
/** The largest part in magnitude, and advice to reduce it.   @return the text for a message: "its largest part is
 *  e_pairs: a smaller GMIN, ..." */
const char *nb6_error_advice(const double part[NB6_ERROR_PARTS]);
/** Those of nb6_ledger_interval_error. */
void nb6_ledger_interval_parts(const struct nb6_energy_ledger *ledger, double total, double part[NB6_ERROR_PARTS]);

#endif
