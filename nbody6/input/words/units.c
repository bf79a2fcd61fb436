#include "nbody6/input/words/units.h"

#include "common/nbc.h"
#include "nbody6/input/config.h"
#include "nbody6/input/input_table.h"
#include "nbody6/input/namelist.h"
#include "nbody6/input/words/columns.h"
#include "nbody6/input/words/unit_names.h"

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

enum { WORDS = sizeof words / sizeof words[0] };

static int is_number(const char *text, size_t length)
{
    return length > 0 && strspn(text, "0123456789.") > 0 && strspn(text, "0123456789.eEdD+-^*") >= length;
}

/* "Msun AU km/s", each perhaps with a number before it, "232533 Msun kpc km/s". */
static int find_three(const char *text, struct nb6_data_config *data)
{
    static const enum nb6_quantity of[] = {NB6_MASS, NB6_X, NB6_VX};
    double *const to[] = {&data->msun, &data->pc, &data->kms};
    int count = 0;
    for (text += strspn(text, " ,"); *text; text += strspn(text, " ,"), count++) {
        size_t length = strcspn(text, " ,");
        if (count == 3) return 0;
        if (is_number(text, length)) { /* its unit is the next word */
            length += strspn(text + length, " ");
            length += strcspn(text + length, " ,");
        }
        const struct nb6_unit unit = nb6_unit_find(of[count], text, length);
        if (unit.kind != NB6_UNIT_PHYSICAL) return 0;
        *to[count] = unit.factor;
        text += length;
    }
    return count == 3;
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
    if (nb6_input_find_units(text, &units, &data)) return NBC_OK;
    for (int k = 0; k < WORDS; k++) {
        const int distance = nb6_input_distance(text, words[k].text);
        if (distance < 0 || distance >= best) continue;
        best = distance;
        near = words[k].text;
    }
    return nbc_fail(
        err, NBC_BAD_INPUT,
        "%s:%d: UNITS: '%s' is no valid value; %s%s%sgive 'nbody', 'scaled', 'astro', 'gadget', or three units "
        "of mass, length and velocity such as 'Msun pc km/s' or '232533 Msun kpc km/s' (known are %s)",
        path, line, nb6_namelist_show(text, strlen(text)).text, near ? "did you mean '" : "", near ? near : "",
        near ? "'? If not, " : "", nb6_units_known);
}
