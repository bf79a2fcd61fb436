/** Families of external fields: what a field needs of the code of device engines (nbody6/input/potentials.def). */
#ifndef NB6_FIELD_FAMILY_H
#define NB6_FIELD_FAMILY_H

#include "common/hd.h"

#include <stdint.h>

enum nb6_field_family {
    NB6_FIELD_OTHER,  /**< known to the host alone */
    NB6_FIELD_LINEAR, /**< linear_field.h: also, no field */
    NB6_FIELD_MOVING  /**< moving_field.h */
};

/** The family of the potential of this number. */
NBC_HD enum nb6_field_family nb6_field_family(int32_t kind)
{
#define MISSING(number, meaning)
#define POTENTIAL(number, name, family, meaning)                                                                       \
    case number:                                                                                                       \
        return NB6_FIELD_##family;
    switch (kind) {
#include "nbody6/input/potentials.def"
    default:
        return NB6_FIELD_OTHER;
    }
#undef POTENTIAL
#undef MISSING
}

#endif
