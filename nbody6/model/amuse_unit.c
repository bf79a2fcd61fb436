/* Units as AMUSE writes them into its files (amuse.units.core, reference_string). */
#include "nbody6/input/units.h"
#include "nbody6/model/foreign_hdf5.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum system { NO_SYSTEM, SI, NBODY, OTHER };
enum { MASS, LENGTH, TIME, BASES };

/* A product of a number and powers of base units. */
struct value {
    double factor, power[BASES];
    enum system system;
};

/* Where the reader is; `bad` once it has met what it does not know. Brackets are not deeper than DEEPEST. */
struct reader {
    const char *at;
    int bad, depth;
};
enum { DEEPEST = 40 };

static struct value product(struct reader *r);

static void skip_blanks(struct reader *r)
{
    while (*r->at == ' ') r->at++;
}

static int take(struct reader *r, const char *text)
{
    skip_blanks(r);
    if (strncmp(r->at, text, strlen(text)) != 0) return 0;
    r->at += strlen(text);
    return 1;
}

/* A text between quotes and a closing bracket, "'S.I.')".   @return its length; 0: there is none */
static size_t take_quoted(struct reader *r, const char **text)
{
    const char quote = *r->at;
    if (quote != '\'' && quote != '"') return 0;
    const char *end = strchr(r->at + 1, quote);
    if (!end || end[1] != ')') return 0;
    *text = r->at + 1;
    r->at = end + 2;
    return (size_t)(end - *text);
}

static int is(const char *text, size_t length, const char *name)
{
    return strlen(name) == length && strncmp(text, name, length) == 0;
}

/* system.get('S.I.').base('mass') */
static struct value base_unit(struct reader *r)
{
    static const char *const names[BASES] = {"mass", "length", "time"};
    struct value v = {.factor = 1};
    const char *text;
    size_t length = take_quoted(r, &text);
    v.system = is(text, length, "S.I.") ? SI : is(text, length, "nbody") ? NBODY : OTHER;
    if (length == 0 || !take(r, ".base(") || (length = take_quoted(r, &text)) == 0) {
        r->bad = 1;
        return v;
    }
    r->bad = 1;
    for (int k = 0; k < BASES; k++) {
        if (!is(text, length, names[k])) continue;
        v.power[k] = 1;
        r->bad = 0;
    }
    return v;
}

static double number(struct reader *r)
{
    char *end;
    skip_blanks(r);
    const double x = strtod(r->at, &end);
    if (end == r->at || !isfinite(x)) r->bad = 1;
    r->at = end;
    return x;
}

static struct value factor(struct reader *r)
{
    struct value v = {.factor = 1};
    if (++r->depth > DEEPEST) r->bad = 1;
    if (r->bad) return v;
    if (take(r, "(")) {
        v = product(r);
        if (!take(r, ")")) r->bad = 1;
    } else if (take(r, "system.get(")) {
        v = base_unit(r);
    } else {
        v.factor = number(r);
    }
    if (!r->bad && take(r, "**")) {
        const double power = number(r);
        v.factor = pow(v.factor, power);
        for (int k = 0; k < BASES; k++) v.power[k] *= power;
    }
    r->depth--;
    return v;
}

static struct value product(struct reader *r)
{
    struct value v = factor(r);
    for (;;) {
        skip_blanks(r);
        if (r->bad || (*r->at != '*' && *r->at != '/')) return v;
        const double sign = *r->at++ == '*' ? 1 : -1;
        const struct value w = factor(r);
        v.factor *= sign > 0 ? w.factor : 1 / w.factor;
        for (int k = 0; k < BASES; k++) v.power[k] += sign * w.power[k];
        if (v.system == NO_SYSTEM)
            v.system = w.system;
        else if (w.system != NO_SYSTEM && w.system != v.system)
            v.system = OTHER;
    }
}

struct nb6_unit nb6_amuse_unit(enum nb6_quantity quantity, const char *text)
{
    static const double wanted[3][BASES] = {{1, 0, 0}, {0, 1, 0}, {0, 1, -1}};
    const int of = quantity == NB6_MASS ? 0 : quantity < NB6_VX ? 1 : 2;
    const double here[3] = {1e3 / NB6_MSUN_G, 1e2 / NB6_PC_CM, 1e-3}; /* kg, m, m/s in Msun, pc, km/s */
    struct reader r = {text, 0, 0};
    const struct value v = product(&r);
    skip_blanks(&r);
    if (r.bad || *r.at || !(v.factor > 0) || !isfinite(v.factor) || memcmp(v.power, wanted[of], sizeof v.power) != 0)
        return (struct nb6_unit){NB6_UNIT_UNKNOWN, 1};
    if (v.system == SI) return (struct nb6_unit){NB6_UNIT_PHYSICAL, v.factor * here[of]};
    if (v.system == NBODY && v.factor == 1) return (struct nb6_unit){NB6_UNIT_NBODY, 1};
    return (struct nb6_unit){NB6_UNIT_UNKNOWN, 1};
}
