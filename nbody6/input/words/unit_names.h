/** Units of stars by their names, as tables and UNITS of &INMODEL have them. Private to libnbody6. */
#ifndef NB6_WORDS_UNIT_NAMES_H
#define NB6_WORDS_UNIT_NAMES_H

#include "nbody6/input/words/columns.h"

#include <stddef.h>

enum nb6_unit_kind {
    NB6_UNIT_NONE,     /**< no unit is given */
    NB6_UNIT_NBODY,    /**< N-body units */
    NB6_UNIT_PHYSICAL, /**< a known one */
    NB6_UNIT_UNKNOWN   /**< the text is no unit of this quantity */
};

struct nb6_unit {
    enum nb6_unit_kind kind;
    double factor; /**< NB6_UNIT_PHYSICAL: one of it in Msun, pc or km/s; exactly 1 for these */
};

/** "Msun", "pc", "km/s", "km s^-1", "AU", ... in upper or lower case, also of a number before it: "1e10 Msun".
 *  @param[in] text  [length]; none: NB6_UNIT_NONE */
struct nb6_unit nb6_unit_find(enum nb6_quantity quantity, const char *text, size_t length);

enum { NB6_UNIT_TEXT = 32 };
/** The unit that is so many Msun, pc or km/s, by its usual name: "kpc", or "232533 Msun" where it has none. Solar
 * masses and parsecs of other programs, which differ by some 1e-4, have the same name. */
void nb6_unit_text(enum nb6_quantity quantity, double factor, char text[NB6_UNIT_TEXT]);

/** The units that a data file states. */
struct nb6_data_units {
    struct nb6_unit unit[NB6_QUANTITIES];
    char unknown[NB6_COLUMN_NAME_MAX + 8]; /**< the name of a column whose unit is not known; "": there is none */
};

/** The units that are known, for messages. */
extern const char nb6_units_known[];

#endif
