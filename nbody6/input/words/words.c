#include "nbody6/input/words/words.h"

#include "common/nbc.h"
#include "gpunb/gpunb.h"
#include "nbody6/input/config.h"
#include "nbody6/input/input_table.h"
#include "nbody6/input/namelist.h"
#include "regularization/chain.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

const struct nb6_input_word nb6_input_words[] = {
    {"MODEL", 0, "uniform", NB6_MODEL_UNIFORM},
    {"MODEL", 0, "plummer", NB6_MODEL_PLUMMER},
    {"MODEL", 0, "king", NB6_MODEL_KING},
    {"MODEL", 0, "file", NB6_MODEL_FILE},
    {"PREC", 0, "default", GPUNB_PRECISION_DEFAULT},
    {"PREC", 0, "float", GPUNB_FLOAT},
    {"PREC", 0, "twofloat", GPUNB_TWOFLOAT},
    {"PREC", 0, "double", GPUNB_DOUBLE},
    {"ENGINE", 0, "host", NB6_ENGINE_HOST},
    {"ENGINE", 0, "device", NB6_ENGINE_DEVICE},
    {"ENGINE", 0, "emulated", NB6_ENGINE_EMULATED},
    {"ENGINE", 0, "auto", NB6_ENGINE_AUTO},
    {"DEVLOSS", 0, "stop", NB6_LOSS_STOP},
    {"DEVLOSS", 0, "host", NB6_LOSS_HOST},
    {"CHAIN", 0, "auto", CHAIN_METHOD_AUTO},
    {"CHAIN", 0, "chain", CHAIN_METHOD_KS},
    {"CHAIN", 0, "ar", CHAIN_METHOD_AR},
    {"WALK", 0, "auto", GPUNB_WALK_DEFAULT},
    {"WALK", 0, "groups", GPUNB_WALK_GROUPS},
    {"WALK", 0, "treecode", GPUNB_WALK_GROUPS},
    {"WALK", 0, "hybrid", GPUNB_WALK_HYBRID},
    {"WALK", 0, "fmm", GPUNB_WALK_FMM},
    {"WALK", 0, "single", GPUNB_WALK_SINGLE},
    {"WALK", 0, "one-by-one-i", GPUNB_WALK_ONE_BY_ONE_I},
    {"WALK", 0, "one-by-one-j", GPUNB_WALK_ONE_BY_ONE_J},
    {"LEVEL", 0, "0", 0},
    {"LEVEL", 0, "A", 1},
    {"LEVEL", 0, "B", 2},
    {"LEVEL", 0, "C", 3},
    {"RADII", 0, "keep", 0},
    {"RADII", 0, "collide", 1},

    {"CHECKPOINTS", 2, "timed", 0},
    {"CHECKPOINTS", 2, "output", 1},
    {"CHECKPOINTS", 2, "retry", 2},
    {"SNAPSHOTS", 3, "off", 0},
    {"SNAPSHOTS", 3, "on", 1},
    {"LAGRANGIAN_MASS", 7, "present", 0},
    {"LAGRANGIAN_MASS", 7, "initial", 2},
    {"PRIMORDIAL_BINARIES", 8, "none", 0},
    {"PRIMORDIAL_BINARIES", 8, "made", 1},
    {"PRIMORDIAL_BINARIES", 8, "declared", 2},
    {"GALAXY", 14, "none", 0},
    {"GALAXY", 14, "solar", 1},
    {"GALAXY", 14, "point-mass", 2},
    {"GALAXY", 14, "galaxy", 3},
    {"GALAXY", 14, "gas", 4},
    {"GALAXY", 14, "milky-way", 5},
    {"MULTIPLE_SYSTEMS", 15, "off", 0},
    {"MULTIPLE_SYSTEMS", 15, "on", 1},
    {"CLOSE_ENCOUNTERS", 16, "as-given", 0},
    {"CLOSE_ENCOUNTERS", 16, "by-density", 1},
    {"PRIMORDIAL_TRIPLES", 18, "none", 0},
    {"PRIMORDIAL_TRIPLES", 18, "made", 2},
    {"MASS_FUNCTION", 20, "power-law", 0},
    {"MASS_FUNCTION", 20, "miller-scalo", 1},
    {"MASS_FUNCTION", 20, "kroupa1993", 2},
    {"MASS_FUNCTION", 20, "eggleton", 3},
    {"MASS_FUNCTION", 20, "kroupa1993-correlated", 4},
    {"MASS_FUNCTION", 20, "eggleton-correlated", 5},
    {"MASS_FUNCTION", 20, "kroupa2001", 6},
    {"MASS_FUNCTION", 20, "kroupa2001-correlated", 7},
    {"MASS_FUNCTION", 20, "kroupa2001-mass-ratio", 8},
    {"MASS_FUNCTION", 20, "eggleton-nbody6", -3},
    {"MASS_FUNCTION", 20, "eggleton-nbody6-correlated", -5},
    {"WRITE_MODEL", 22, "off", 0},
    {"WRITE_MODEL", 22, "on", 1},
    {"ESCAPERS", 23, "stay", 0},
    {"ESCAPERS", 23, "remove", 1},
    {"ESCAPERS", 23, "write", 2},
    {"ESCAPERS", 23, "write-at-tidal-radius", 3},
    {"SLOW_DOWN", 26, "off", 0},
    {"SLOW_DOWN", 26, "pairs", 1},
    {"SLOW_DOWN", 26, "chains", 2},
    {"SYSTEM_KINDS", 30, "chains", -1},
    {"SYSTEM_KINDS", 30, "hierarchies", 0},
    {"SYSTEM_KINDS", 30, "all", 1},
    {"NEIGHBOUR_SPHERE", 39, "distance", 0},
    {"NEIGHBOUR_SPHERE", 39, "mass-weighted", 2},
    {"FIRST_DERIVATIVES", 40, "two", 0},
    {"FIRST_DERIVATIVES", 40, "four", 1},
    {"BINARY_PERIODS", 42, "axes", 0},
    {"BINARY_PERIODS", 42, "log-linear", 1},
    {"BINARY_PERIODS", 42, "broad", 2},
    {"BINARY_PERIODS", 42, "kroupa1995b", 3},
    {"BINARY_PERIODS", 42, "kroupa1995", 4},
    {"BINARY_PERIODS", 42, "duquennoy-mayor1991", 5},
};

const int nb6_input_word_count = sizeof nb6_input_words / sizeof nb6_input_words[0];

int nb6_input_word_number(const char *name, const char *word, int *number)
{
    for (int k = 0; k < nb6_input_word_count; k++) {
        const struct nb6_input_word *w = &nb6_input_words[k];
        if (strcmp(w->name, name) != 0 || strcasecmp(w->word, word) != 0) continue;
        *number = w->number;
        return 1;
    }
    return 0;
}

int nb6_input_check_word(const char *path, int line, const char *name, const char *word, struct nbc_error *err)
{
    char all[NB6_INPUT_WORDS_MAX] = "";
    size_t used = 0;
    const char *near = NULL;
    int number, best = NB6_NAMELIST_NAME_MAX;
    if (nb6_input_word_number(name, word, &number)) return NBC_OK;
    for (int k = 0; k < nb6_input_word_count; k++) {
        const struct nb6_input_word *w = &nb6_input_words[k];
        if (strcmp(w->name, name) != 0) continue;
        if (used < sizeof all)
            used += (size_t)snprintf(all + used, sizeof all - used, "%s'%s'", used ? ", " : "", w->word);
        const int distance = nb6_input_distance(word, w->word);
        if (distance < 0 || distance >= best) continue;
        best = distance;
        near = w->word;
    }
    if (used == 0) return NBC_OK;
    return nbc_fail(err, NBC_BAD_INPUT, "%s:%d: %s: '%s' is no valid value; %s%s%sgive one of %s", path, line, name,
                    nb6_namelist_show(word, strlen(word)).text, near ? "did you mean '" : "", near ? near : "",
                    near ? "'? If not, " : "", all);
}

void nb6_input_describe_words(const char *name, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (int k = 0; k < nb6_input_word_count && used < size; k++) {
        const struct nb6_input_word *w = &nb6_input_words[k];
        if (w->kz == 0 || strcmp(w->name, name) != 0) continue;
        if (used == 0)
            used = (size_t)snprintf(text, size, "'%s' (KZ(%d) = %d)", w->word, w->kz, w->number);
        else
            used += (size_t)snprintf(text + used, size - used, ", '%s' (%d)", w->word, w->number);
    }
}
