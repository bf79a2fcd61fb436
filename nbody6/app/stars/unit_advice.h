/** Warnings for units that are likely to be wrong: of stars that are far from equilibrium or of a size that no cluster
 *  has, and of places in the galaxy. */
#ifndef NB6_UNIT_ADVICE_H
#define NB6_UNIT_ADVICE_H

struct nb6_bulk;
struct nb6_config;
struct nb6_data_facts;
struct nb6_units;

/** Virial ratios below are called a cold start, those above NB6_HOT_START are warned of. */
#define NB6_COLD_START 0.05
#define NB6_HOT_START 2.0

enum { NB6_UNIT_ADVICE = 640 };
typedef void nb6_unit_warning(void *context, const char *text);

/** Whether the input sets the virial ratio: of models that are made, and of data that are scaled. */
int nb6_units_q_is_set(const struct nb6_config *config);

/** Whether units that are warned of let the stars have this virial ratio.   @return 1 or 0 */
int nb6_units_are_suspect(const struct nb6_config *config, const struct nb6_data_facts *data,
                          const struct nb6_bulk *bulk, const struct nb6_units *units);

/** Call `warn` with each warning.
 *  * Q outside [NB6_COLD_START, NB6_HOT_START], with the units that make it about 0.5, if some do. A cold start for
 *    which no other units are likely is none. Nothing where the input sets Q, for fewer than NB6_BULK_FEW stars, in
 *    gas, which binds hot stars too, or for snapshots of nbody6.
 *  * Half-mass radii and mean masses that no star cluster has (collisional runs, without a body of most of the mass).
 *  * Lengths of a galaxy in kpc that are right in pc.
 *  @param[in] config  settled, with the units of the model   @param[in] data  of a data file; else unused */
void nb6_units_advise(const struct nb6_config *config, const struct nb6_data_facts *data, const struct nb6_bulk *bulk,
                      const struct nb6_units *units, nb6_unit_warning *warn, void *context);

#endif
