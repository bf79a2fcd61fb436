#include "nbody6/model/star_columns.h"

#include "nbody6/input/properties.h"
#include "nbody6/input/words/columns.h"
#include "nbody6/input/words/unit_names.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Units that a column may be converted to. */
enum kind { NUMBER, MASS, LENGTH, OTHER };

/* Usual names, those of McLuster among them (Kuepper et al. 2011, MNRAS 417, 2300), in any case. `sure`: 0 if the name
 * may mean something else, so that the unit must decide. */
static const struct {
    const char *usual;
    int sure;
    enum kind kind;
    const char *name, *unit;
} known[] = {{"kw", 1, NUMBER, "StellarType", "1"},
             {"k*", 1, NUMBER, "StellarType", "1"},
             {"kstar", 1, NUMBER, "StellarType", "1"},
             {"type", 1, NUMBER, "StellarType", "1"},
             {"star_type", 1, NUMBER, "StellarType", "1"},
             {"stellar_type", 1, NUMBER, "StellarType", "1"},
             {"stellartype", 1, NUMBER, "StellarType", "1"},
             {"mass(t=0)", 1, MASS, "InitialStellarMass", "Msun"},
             {"m0", 1, MASS, "InitialStellarMass", "Msun"},
             {"mass0", 1, MASS, "InitialStellarMass", "Msun"},
             {"m_init", 1, MASS, "InitialStellarMass", "Msun"},
             {"initial_mass", 1, MASS, "InitialStellarMass", "Msun"},
             {"initialstellarmass", 1, MASS, "InitialStellarMass", "Msun"},
             {"stellar_age", 1, OTHER, "StellarAge", "Myr"},
             {"stellarage", 1, OTHER, "StellarAge", "Myr"},
             {"epoch1", 1, OTHER, "StellarEpoch", "Myr"},
             {"stellarepoch", 1, OTHER, "StellarEpoch", "Myr"},
             {"epoch", 1, OTHER, "BirthEpoch", "Myr"},
             {"birthepoch", 1, OTHER, "BirthEpoch", "Myr"},
             {"spin", 1, OTHER, "StellarSpin", "1/yr"},
             {"ospin", 1, OTHER, "StellarSpin", "1/yr"},
             {"stellarspin", 1, OTHER, "StellarSpin", "1/yr"},
             {"r", 0, LENGTH, "StellarRadius", "Rsun"},
             {"radius", 1, LENGTH, "StellarRadius", "Rsun"},
             {"r_star", 1, LENGTH, "StellarRadius", "Rsun"},
             {"rstar", 1, LENGTH, "StellarRadius", "Rsun"},
             {"stellar_radius", 1, LENGTH, "StellarRadius", "Rsun"},
             {"stellarradius", 1, LENGTH, "StellarRadius", "Rsun"},
             {"l", 0, OTHER, "StellarLuminosity", "Lsun"},
             {"lum", 1, OTHER, "StellarLuminosity", "Lsun"},
             {"luminosity", 1, OTHER, "StellarLuminosity", "Lsun"},
             {"stellarluminosity", 1, OTHER, "StellarLuminosity", "Lsun"},
             {"mc", 1, MASS, "CoreMass", "Msun"},
             {"core_mass", 1, MASS, "CoreMass", "Msun"},
             {"coremass", 1, MASS, "CoreMass", "Msun"},
             {"t_eff", 1, OTHER, "EffectiveTemperature", "K"},
             {"teff", 1, OTHER, "EffectiveTemperature", "K"},
             {"effectivetemperature", 1, OTHER, "EffectiveTemperature", "K"},
             {"z", 1, NUMBER, "Metallicity", "1"},
             {"metallicity", 1, NUMBER, "Metallicity", "1"}};

static int is_called(const char *text, size_t length, const char *name)
{
    return strlen(name) == length && strncasecmp(text, name, length) == 0;
}

static void set_unit(struct nb6_property *column, const char *unit, size_t length)
{
    snprintf(column->unit, sizeof column->unit, "%.*s", (int)(length < sizeof column->unit ? length : 0), unit);
}

/* The unit that the property has here, if the file's can be converted; else the file's stays.
 * @return 1: the quantity of the column is certain */
static int settle_unit(enum kind kind, const char *wanted, const char *unit, size_t length, struct nb6_property *column,
                       double *factor)
{
    *factor = 1;
    set_unit(column, wanted, strlen(wanted));
    if (kind == NUMBER || length == 0 || is_called(unit, length, wanted)) return length > 0;
    if (kind == OTHER && strcmp(wanted, "Lsun") == 0 && is_called(unit, length, "solLum")) return 1;
    const enum nb6_quantity like = kind == MASS ? NB6_MASS : NB6_X;
    const struct nb6_unit found = nb6_unit_find(like, unit, length), here = nb6_unit_find(like, wanted, strlen(wanted));
    if (kind != OTHER && found.kind == NB6_UNIT_PHYSICAL) {
        *factor = found.factor / here.factor;
        return *factor == 1;
    }
    if (kind != OTHER && found.kind == NB6_UNIT_NBODY)
        set_unit(column, kind == MASS ? "mass" : "length", kind == MASS ? 4 : 6);
    else
        set_unit(column, unit, length);
    return 0;
}

int nb6_star_column_known(const char *name, size_t name_length, const char *unit, size_t unit_length,
                          struct nb6_property *column, double *factor)
{
    for (size_t k = 0; k < sizeof known / sizeof known[0]; k++) {
        if (!is_called(name, name_length, known[k].usual)) continue;
        const int certain = settle_unit(known[k].kind, known[k].unit, unit, unit_length, column, factor);
        if (!certain && !known[k].sure) return 0;
        strcpy(column->name, known[k].name);
        if (unit_length == 0 && known[k].kind == LENGTH) column->unit[0] = '\0'; /* as the table is in */
        return 1;
    }
    return 0;
}

int nb6_keep_names(const struct nb6_keep *keep, const char *name, size_t length)
{
    for (int k = 0; k < keep->count; k++)
        if (is_called(name, length, keep->name[k])) return k;
    return -1;
}

int nb6_star_columns_take(struct nb6_star_columns *kept, const struct nb6_keep *keep, int at, const char *word,
                          size_t word_length, const char *name, size_t name_length, const char *unit,
                          size_t unit_length)
{
    struct nb6_property column = {.name = ""};
    double factor = 1;
    const int is_known = nb6_star_column_known(name, name_length, unit, unit_length, &column, &factor);
    const int asked = nb6_keep_names(keep, word, word_length) >= 0 || nb6_keep_names(keep, name, name_length) >= 0 ||
                      (is_known && nb6_keep_names(keep, column.name, strlen(column.name)) >= 0);
    if (!asked && !keep->all && !(keep->unasked && is_known)) return 0;
    if (!is_known) {
        const size_t room = sizeof column.name - 1;
        snprintf(column.name, sizeof column.name, "%.*s", (int)(name_length < room ? name_length : room), name);
        set_unit(&column, unit, unit_length);
    }
    for (int k = 0; k < kept->count; k++)
        if (strcmp(kept->column[k].name, column.name) == 0) return asked ? -1 : 0;
    if (kept->count == NB6_PROPERTIES_MAX) return -1;
    kept->at[kept->count] = at;
    kept->asked[kept->count] = asked;
    kept->factor[kept->count] = factor;
    kept->column[kept->count++] = column;
    return 1;
}
