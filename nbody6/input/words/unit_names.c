#include "nbody6/input/words/unit_names.h"

#include "nbody6/input/units.h"
#include "nbody6/input/words/columns.h"

#include <ctype.h>
#include <string.h>

const char nb6_units_known[] =
    "Msun, kg, g; pc, kpc, AU, Rsun, km, m, cm; km/s, m/s, cm/s, pc/Myr, kpc/Gyr, AU/yr; nbody";

/* Dimension of a unit. */
enum dimension { MASS, LENGTH, VELOCITY };

/* In small letters without blanks and signs, as `squeeze` leaves them. */
static const struct {
    const char *text;
    enum dimension of;
    double factor;
    const double *times, *per; /* NULL: 1 */
} units[] = {{"msun", MASS, 1, NULL, NULL},
             {"solmass", MASS, 1, NULL, NULL},
             {"msol", MASS, 1, NULL, NULL},
             {"modot", MASS, 1, NULL, NULL},
             {"kg", MASS, 1e3, NULL, &NB6_MSUN_G},
             {"g", MASS, 1, NULL, &NB6_MSUN_G},
             {"pc", LENGTH, 1, NULL, NULL},
             {"parsec", LENGTH, 1, NULL, NULL},
             {"kpc", LENGTH, 1e3, NULL, NULL},
             {"au", LENGTH, 1, &NB6_AU_PC, NULL},
             {"rsun", LENGTH, 6.957e10, NULL, &NB6_PC_CM}, /* IAU 2015 Resolution B3 */
             {"solrad", LENGTH, 6.957e10, NULL, &NB6_PC_CM},
             {"km", LENGTH, 1e5, NULL, &NB6_PC_CM},
             {"m", LENGTH, 1e2, NULL, &NB6_PC_CM},
             {"cm", LENGTH, 1, NULL, &NB6_PC_CM},
             {"km/s", VELOCITY, 1, NULL, NULL},
             {"kms", VELOCITY, 1, NULL, NULL},
             {"kms-1", VELOCITY, 1, NULL, NULL},
             {"km/sec", VELOCITY, 1, NULL, NULL},
             {"m/s", VELOCITY, 1e-3, NULL, NULL},
             {"ms-1", VELOCITY, 1e-3, NULL, NULL},
             {"cm/s", VELOCITY, 1e-5, NULL, NULL},
             {"cms-1", VELOCITY, 1e-5, NULL, NULL},
             {"pc/myr", VELOCITY, 1, &NB6_PC_PER_MYR_KMS, NULL},
             {"pcmyr-1", VELOCITY, 1, &NB6_PC_PER_MYR_KMS, NULL},
             {"kpc/gyr", VELOCITY, 1, &NB6_PC_PER_MYR_KMS, NULL},
             {"kpcgyr-1", VELOCITY, 1, &NB6_PC_PER_MYR_KMS, NULL},
             {"au/yr", VELOCITY, 1, &NB6_AU_PER_YEAR_KMS, NULL},
             {"auyr-1", VELOCITY, 1, &NB6_AU_PER_YEAR_KMS, NULL}};

static const char *const nbody[] = {"nbody", "n-body", "nb", "nbu", "henon", "nbodyunits"};

/* "km s^{-1}" and "KM_S-1" are "kms-1".   @return 0: too long for a unit */
static int squeeze(const char *text, size_t length, char out[24])
{
    size_t n = 0;
    for (size_t i = 0; i < length; i++) {
        if (strchr(" \t_^*{}\\$.'\"", text[i])) continue;
        if (n == 23) return 0;
        out[n++] = (char)tolower((unsigned char)text[i]);
    }
    out[n] = '\0';
    return 1;
}

static enum dimension dimension_of(enum nb6_quantity quantity)
{
    return quantity == NB6_MASS ? MASS : quantity < NB6_VX ? LENGTH : VELOCITY;
}

struct nb6_unit nb6_unit_find(enum nb6_quantity quantity, const char *text, size_t length)
{
    char word[24];
    if (length == 0) return (struct nb6_unit){NB6_UNIT_NONE, 1};
    if (!squeeze(text, length, word)) return (struct nb6_unit){NB6_UNIT_UNKNOWN, 1};
    for (size_t k = 0; k < sizeof nbody / sizeof nbody[0]; k++)
        if (strcmp(word, nbody[k]) == 0) return (struct nb6_unit){NB6_UNIT_NBODY, 1};
    for (size_t k = 0; k < sizeof units / sizeof units[0]; k++) {
        if (strcmp(word, units[k].text) != 0 || units[k].of != dimension_of(quantity)) continue;
        const double times = units[k].times ? *units[k].times : 1, per = units[k].per ? *units[k].per : 1;
        return (struct nb6_unit){NB6_UNIT_PHYSICAL, units[k].factor * times / per};
    }
    return (struct nb6_unit){NB6_UNIT_UNKNOWN, 1};
}
