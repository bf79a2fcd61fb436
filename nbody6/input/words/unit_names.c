#include "nbody6/input/words/unit_names.h"

#include "nbody6/input/units.h"
#include "nbody6/input/words/columns.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
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

/* Digits with a point at *at, which moves behind them: their number times 10^-(digits behind the point), both exact up
 * to 15 digits. strtod would follow the locale of the program.   @return 0: there are none, or more */
static int take_digits(const char **at, const char *end, double *value, int *behind)
{
    int digits = 0, point = 0;
    *value = 0;
    *behind = 0;
    for (; *at < end && (isdigit((unsigned char)**at) || (**at == '.' && !point)); ++*at) {
        if (**at == '.') {
            point = 1;
            continue;
        }
        *value = 10 * *value + (**at - '0');
        *behind += point;
        digits++;
    }
    return digits > 0 && digits <= 15;
}

/* An exponent at *at, which moves behind it, as in 1e10, 1d-3, 10^10; *at stays where there is none. */
static void take_exponent(const char **at, const char *end, int is_power, int *exponent)
{
    const char *p = *at;
    double value;
    int behind, minus;
    *exponent = 0;
    if (p == end || !strchr(is_power ? "^" : "eEdD", *p)) return;
    p++;
    minus = p < end && *p == '-';
    if (p < end && (*p == '+' || *p == '-')) p++;
    if (!take_digits(&p, end, &value, &behind) || behind || value > 99) return;
    *exponent = minus ? -(int)value : (int)value;
    *at = p;
}

/* "232533 Msun", "1e10_Msun", "10^10*Msun": the number before a unit, 1 if there is none.
 * @param[in,out] text, length  behind it on return   @return 0: a number that is no factor */
static int take_factor(const char **text, size_t *length, double *factor)
{
    const char *at = *text, *end = *text + *length;
    int behind, exponent;
    *factor = 1;
    while (at < end && strchr(" \t", *at)) at++;
    if (at == end || !(isdigit((unsigned char)*at) || *at == '.')) return 1;
    if (!take_digits(&at, end, factor, &behind)) return 0;
    const int is_power = *factor == 10 && !behind && at < end && *at == '^';
    take_exponent(&at, end, is_power, &exponent);
    if (is_power) *factor = 1;
    exponent -= behind;
    *factor = exponent < 0 ? *factor / pow(10, -exponent) : *factor * pow(10, exponent);
    while (at < end && strchr(" \t*_", *at)) at++;
    *length = (size_t)(end - at);
    *text = at;
    return *factor > 0 && isfinite(*factor) && *length > 0;
}

static enum dimension dimension_of(enum nb6_quantity quantity)
{
    return quantity == NB6_MASS ? MASS : quantity < NB6_VX ? LENGTH : VELOCITY;
}

struct nb6_unit nb6_unit_find(enum nb6_quantity quantity, const char *text, size_t length)
{
    char word[24];
    double number;
    if (length == 0) return (struct nb6_unit){NB6_UNIT_NONE, 1};
    if (!take_factor(&text, &length, &number) || !squeeze(text, length, word))
        return (struct nb6_unit){NB6_UNIT_UNKNOWN, 1};
    for (size_t k = 0; k < sizeof nbody / sizeof nbody[0]; k++)
        if (number == 1 && strcmp(word, nbody[k]) == 0) return (struct nb6_unit){NB6_UNIT_NBODY, 1};
    for (size_t k = 0; k < sizeof units / sizeof units[0]; k++) {
        if (strcmp(word, units[k].text) != 0 || units[k].of != dimension_of(quantity)) continue;
        const double times = units[k].times ? *units[k].times : 1, per = units[k].per ? *units[k].per : 1;
        return (struct nb6_unit){NB6_UNIT_PHYSICAL, number * units[k].factor * times / per};
    }
    return (struct nb6_unit){NB6_UNIT_UNKNOWN, 1};
}

/* Solar masses and parsecs of other programs differ by less from ours. */
static const double SAME_UNIT = 5e-4;

/* To three digits, if that is the same unit. */
static double round_digits(double factor)
{
    const double digits = pow(10, floor(log10(factor)) - 2), rounded = round(factor / digits) * digits;
    return fabs(rounded / factor - 1) < SAME_UNIT ? rounded : factor;
}

void nb6_unit_text(enum nb6_quantity quantity, double factor, char text[NB6_UNIT_TEXT])
{
    static const struct {
        const char *small, *usual;
    } spelled[] = {{"msun", "Msun"},     {"au", "AU"},       {"rsun", "Rsun"},
                   {"pc/myr", "pc/Myr"}, {"au/yr", "AU/yr"}, {"kpc/gyr", "kpc/Gyr"}};
    static const char *const base[] = {"Msun", "pc", "km/s"};
    const enum dimension of = dimension_of(quantity);
    const double rounded = round_digits(factor);
    snprintf(text, NB6_UNIT_TEXT, "%.6g %s", rounded, base[of]);
    char *plus = strstr(text, "e+");
    if (plus) memmove(plus + 1, plus + 2, strlen(plus + 2) + 1); /* 1e10 */
    for (size_t k = 0; k < sizeof units / sizeof units[0]; k++) {
        const struct nb6_unit unit = nb6_unit_find(quantity, units[k].text, strlen(units[k].text));
        if (units[k].of != of || !(fabs(unit.factor / factor - 1) < SAME_UNIT)) continue;
        snprintf(text, NB6_UNIT_TEXT, "%s", units[k].text);
        for (size_t s = 0; s < sizeof spelled / sizeof spelled[0]; s++)
            if (strcmp(units[k].text, spelled[s].small) == 0) snprintf(text, NB6_UNIT_TEXT, "%s", spelled[s].usual);
        return;
    }
}
