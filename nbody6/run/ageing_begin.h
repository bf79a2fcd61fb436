/** The first states of stars that age: at the start, of a checkpoint, and of stars that come later. Private to
 * libnbody6. */
#ifndef NB6_AGEING_BEGIN_H
#define NB6_AGEING_BEGIN_H

#include "common/nbc.h"

struct nb6_sim;

/** The stars of a new simulation begin, if KZ(19) says that they age: at zero age when EPOCH0 says, or as the columns
 *  StellarType, InitialStellarMass, StellarEpoch, BirthEpoch and Metallicity of the data file say. Bodies have their
 *  masses, and keep them: a star that was born before t = 0 is due at once.
 *  @return NBC_OK; NBC_BAD_INPUT: a star that cannot be, named; NBC_NO_MEMORY */
int nb6_ageing_begin(struct nb6_sim *sim, struct nbc_error *err);
/** The models of a simulation that was read from a checkpoint.
 *  @return NBC_OK; NBC_FILE: a state that no star can have; NBC_NO_MEMORY */
int nb6_ageing_resume(struct nb6_sim *sim, struct nbc_error *err);
/** A simulation that replaces another one takes its stars over, by their names; others are born now.
 *  @return as nb6_ageing_begin */
int nb6_ageing_inherit(const struct nb6_sim *from, struct nb6_sim *to, struct nbc_error *err);

#endif
