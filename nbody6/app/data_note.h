/** Notes on stars that were read from a file. */
#ifndef NB6_DATA_NOTE_H
#define NB6_DATA_NOTE_H

struct nb6_data_facts;
struct nb6_model;
struct nb6_multiples;

enum { NB6_DATA_TEXT = 2048, NB6_DATA_UNITS = 256 };

/** How the file was understood, and the binaries, triples and larger systems in it.
 *  @param[in] units  1: with the units of the file
 *  @param[in] model  read and settled: in N-body units   @param[in] systems  that were found in it */
void nb6_data_describe(const struct nb6_model *model, const struct nb6_multiples *systems, int units,
                       char text[NB6_DATA_TEXT]);
/** "Msun, kpc, km/s, by UNITS or KZ(22)": what the file is in, and how that is known. */
void nb6_data_tell_units(const struct nb6_data_facts *data, char text[NB6_DATA_UNITS]);

#endif
