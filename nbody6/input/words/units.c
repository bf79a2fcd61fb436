#include "nbody6/input/words/units.h"

#include "common/nbc.h"
#include "nbody6/input/config.h"
#include "nbody6/input/input_table.h"
#include "nbody6/input/namelist.h"
#include "nbody6/input/words/columns.h"
#include "nbody6/input/words/unit_names.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static const struct {
    const char *text;
    enum nb6_file_units units;
    double msun, pc, kms;
} words[] = {{"nbody", NB6_FILE_NBODY, 0, 0, 0},
             {"scaled", NB6_FILE_NBODY_SCALED, 0, 0, 0},
             {"astro", NB6_FILE_PHYSICAL, 1, 1, 1},
             {"gadget", NB6_FILE_PHYSICAL, 1e10, 1e3, 1}};

enum { WORDS = sizeof words / sizeof words[0], WHY_ROOM = 128 };

static int is_number(const char *text, size_t length)
{
    return length > 0 && strspn(text, "0123456789.") > 0 && strspn(text, "0123456789.eEdD+-^*") >= length;
}

static const enum nb6_quantity OF[] = {NB6_MASS, NB6_X, NB6_VX};

/* The next unit, perhaps with a number before it, at *text, which moves behind it.   @return its length; 0: none */
static size_t next_unit(const char **text, const char **unit)
{
    *text += strspn(*text, " ,");
    size_t length = strcspn(*text, " ,");
    *unit = *text;
    if (is_number(*text, length)) { /* its unit is the next word */
        length += strspn(*text + length, " ");
        length += strcspn(*text + length, " ,");
    }
    *text += length;
    return length;
}

/* "Msun AU km/s", each perhaps with a number before it, "232533 Msun kpc km/s". */
static int find_three(const char *text, struct nb6_data_config *data)
{
    double *const to[] = {&data->msun, &data->pc, &data->kms};
    const char *unit;
    int count = 0;
    for (size_t length; (length = next_unit(&text, &unit)) > 0; count++) {
        if (count == 3) return 0;
        const struct nb6_unit found = nb6_unit_find(OF[count], unit, length);
        if (found.kind != NB6_UNIT_PHYSICAL) return 0;
        *to[count] = found.factor;
    }
    return count == 3;
}

/* The reason why it is not three units, where the first of them is one: of other texts it says nothing. */
static void explain(const char *text, char why[WHY_ROOM])
{
    static const char *const names[] = {"mass", "length", "velocity"};
    const char *unit;
    size_t length;
    why[0] = '\0';
    for (int k = 0; k < 3; k++) {
        length = next_unit(&text, &unit);
        if (nb6_unit_find(OF[k], unit, length).kind == NB6_UNIT_PHYSICAL) continue;
        if (k == 0) return;
        if (length == 0)
            snprintf(why, WHY_ROOM, "the unit of %s is missing; ", names[k]);
        else
            snprintf(why, WHY_ROOM, "'%s' is no unit of %s; ", nb6_namelist_show(unit, length < 40 ? length : 40).text,
                     names[k]);
        return;
    }
    if (next_unit(&text, &unit) > 0) snprintf(why, WHY_ROOM, "there are more than three units; ");
}

int nb6_input_find_units(const char *text, enum nb6_file_units *units, struct nb6_data_config *data)
{
    struct nb6_data_config found = *data;
    *units = NB6_FILE_PHYSICAL;
    for (int k = 0; k < WORDS; k++) {
        if (strcasecmp(words[k].text, text) != 0) continue;
        *units = words[k].units;
        data->msun = words[k].msun;
        data->pc = words[k].pc;
        data->kms = words[k].kms;
        return 1;
    }
    if (!find_three(text, &found)) return 0;
    *data = found;
    return 1;
}

int nb6_input_check_units(const char *path, int line, const char *text, struct nbc_error *err)
{
    struct nb6_data_config data = {.msun = 0};
    enum nb6_file_units units;
    const char *near = NULL;
    int best = NB6_NAMELIST_NAME_MAX;
    char why[WHY_ROOM];
    if (nb6_input_find_units(text, &units, &data)) return NBC_OK;
    explain(text, why);
    for (int k = 0; k < WORDS; k++) {
        const int distance = nb6_input_distance(text, words[k].text);
        if (distance < 0 || distance >= best) continue;
        best = distance;
        near = words[k].text;
    }
    return nbc_fail(
        err, NBC_BAD_INPUT,
        "%s:%d: UNITS: '%s' is no valid value; %s%s%s%sgive 'nbody', 'scaled', 'astro', 'gadget', or three units "
        "of mass, length and velocity such as 'Msun pc km/s' or '232533 Msun kpc km/s' (known are %s)",
        path, line, nb6_namelist_show(text, strlen(text)).text, why, near ? "did you mean '" : "", near ? near : "",
        near ? "'? If not, " : "", nb6_units_known);
}
