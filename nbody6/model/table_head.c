#include "nbody6/model/table_head.h"

#include "nbody6/input/words/columns.h"
#include "nbody6/input/words/unit_names.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { NAMES_MAX = 512 };

/* A part of a line. */
struct part {
    const char *text;
    size_t length;
};

/* ---- words ---- */

static int is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

static struct part trimmed(const char *text, size_t length, const char *also)
{
    while (length > 0 && (is_blank(*text) || strchr(also, *text))) {
        text++;
        length--;
    }
    while (length > 0 && (is_blank(text[length - 1]) || strchr(also, text[length - 1]))) length--;
    return (struct part){text, length};
}

/* Behind the bracket that is opened here, or behind one character. */
static const char *behind_bracket(const char *at)
{
    const char *end = *at == '[' ? strchr(at, ']') : *at == '(' ? strchr(at, ')') : NULL;
    return end ? end + 1 : at + 1;
}

/* Names between semicolons, commas or, if there are none, blanks; a unit in brackets belongs to the name before.
 * @return how many; more than NAMES_MAX are as many */
static int split(const char *line, struct part name[NAMES_MAX])
{
    const char *const separator = strchr(line, ';') ? ";" : ",";
    const int comma = strchr(line, *separator) != NULL;
    int count = 0;
    for (const char *at = line; count < NAMES_MAX; count++) {
        while (is_blank(*at)) at++;
        if (!*at) break;
        const char *begin = at;
        if (comma) {
            at += strcspn(at, separator);
        } else {
            const char *after;
            do {
                while (*at && !is_blank(*at)) at = behind_bracket(at);
                for (after = at; is_blank(*after); after++) {
                }
                if (*after == '[' || *after == '(') at = after;
            } while (at == after && *at);
        }
        name[count] = trimmed(begin, (size_t)(at - begin), "\"'");
        if (comma && *at++ == '\0') return count + 1;
    }
    return count;
}

/* ---- names ---- */

static const struct {
    const char *name;
    enum nb6_quantity quantity;
} usual[] = {
#define ALONG(axis, d)                                                                                                 \
    {axis, NB6_X + d}, {"pos_" axis, NB6_X + d}, {"pos" axis, NB6_X + d}, {"position_" axis, NB6_X + d},               \
        {"r" axis, NB6_X + d}, {"v" axis, NB6_VX + d}, {"v_" axis, NB6_VX + d}, {"vel_" axis, NB6_VX + d},             \
        {"vel" axis, NB6_VX + d}, {"velocity_" axis, NB6_VX + d},                                                      \
    {                                                                                                                  \
        axis "dot", NB6_VX + d                                                                                         \
    }
    ALONG("x", 0),        ALONG("y", 1),          ALONG("z", 2),           {"mass", NB6_MASS},     {"m", NB6_MASS},
    {"masses", NB6_MASS}, {"body", NB6_MASS},     {"id", NB6_ID},          {"ids", NB6_ID},        {"star_id", NB6_ID},
    {"starid", NB6_ID},   {"particleid", NB6_ID}, {"particle_id", NB6_ID}, {"particleids", NB6_ID}};
#undef ALONG

int nb6_quantity_of_name(const char *name, size_t length)
{
    for (size_t k = 0; k < sizeof usual / sizeof usual[0]; k++)
        if (strlen(usual[k].name) == length && strncasecmp(name, usual[k].name, length) == 0)
            return (int)usual[k].quantity;
    return -1;
}

static int is_chosen(struct part name, const char *chosen)
{
    return strlen(chosen) == name.length && strncasecmp(name.text, chosen, name.length) == 0;
}

/* The quantity that a name stands for; -1: none. */
static int quantity_of(struct part name, const struct nb6_columns *chosen)
{
    if (chosen->count < NB6_ID) return nb6_quantity_of_name(name.text, name.length);
    for (int k = 0; k < chosen->count; k++)
        if (is_chosen(name, chosen->name[k])) return k;
    return -1;
}

/* "x_[pc]", "x (pc)", "x/pc": name and unit. */
static void divide(struct part word, struct part *name, struct part *unit)
{
    const char *end = word.text + word.length, *open = memchr(word.text, '[', word.length);
    if (!open) open = memchr(word.text, '(', word.length);
    const char closing = open && *open == '[' ? ']' : ')';
    if (!open) open = memchr(word.text, '/', word.length);
    *name = word;
    *unit = (struct part){word.text, 0};
    if (!open) return;
    const char *close = *open == '/' ? end : end - 1;
    while (*open != '/' && close > open && *close != closing) close--;
    if (close == open) close = end;
    *name = trimmed(word.text, (size_t)(open - word.text), "_");
    *unit = trimmed(open + 1, (size_t)(close - open - 1), "_");
}

/* Quantity and unit of a column; also of "x_pc", if x alone is a name and pc a unit of it. */
static int understand(struct part word, const struct nb6_columns *chosen, struct nb6_unit *unit)
{
    struct part name, text;
    int quantity = quantity_of(word, chosen);
    divide(word, &name, &text);
    if (quantity < 0) quantity = quantity_of(name, chosen);
    if (quantity >= 0) {
        *unit = nb6_unit_find((enum nb6_quantity)quantity, text.text, text.length);
        return quantity;
    }
    for (size_t k = 1; k + 1 < word.length; k++) {
        if (word.text[k] != '_') continue;
        quantity = quantity_of((struct part){word.text, k}, chosen);
        if (quantity < 0) continue;
        *unit = nb6_unit_find((enum nb6_quantity)quantity, word.text + k + 1, word.length - k - 1);
        if (unit->kind == NB6_UNIT_PHYSICAL || unit->kind == NB6_UNIT_NBODY) return quantity;
    }
    return -1;
}

/* ---- the head ---- */

void nb6_table_head_init(const struct nb6_columns *chosen, struct nb6_table_head *head)
{
    *head = (struct nb6_table_head){.columns = 0};
    for (int k = 0; k < NB6_QUANTITIES; k++) head->at[k] = k < NB6_ID ? k : -1;
    for (int k = 0; k < NB6_ID; k++) head->scale[k] = 1;
    head->numbered = chosen->count >= NB6_ID && chosen->number[0];
    for (int k = 0; head->numbered && k < chosen->count; k++) head->at[k] = chosen->number[k] - 1;
}

/* Column k holds it, unless one before does as well or better. */
static void place(struct nb6_table_head *head, int quantity, int k, const struct nb6_unit *unit)
{
    const int has_one = head->at[quantity] >= 0, known = head->units.unit[quantity].kind != NB6_UNIT_UNKNOWN;
    if (has_one && unit->kind == NB6_UNIT_UNKNOWN) return;
    if (has_one && quantity == NB6_X + 2 && unit->kind == NB6_UNIT_NONE &&
        head->units.unit[quantity].kind != NB6_UNIT_NONE)
        return; /* Z without a unit beside z with one is a metallicity */
    if (has_one && known) {
        snprintf(head->twice, sizeof head->twice, "%s", nb6_quantity_names[quantity]);
        return;
    }
    head->at[quantity] = k;
    head->units.unit[quantity] = *unit;
}

/* "# - {name: x, unit: pc, datatype: float64}" */
static void read_ecsv(const char *line, const struct nb6_columns *chosen, struct nb6_table_head *head)
{
    const char *name = strstr(line, "{name: "), *unit = strstr(line, " unit: ");
    if (!name || !unit) return;
    name += strlen("{name: ");
    unit += strlen(" unit: ");
    const int quantity = quantity_of(trimmed(name, strcspn(name, ",}"), "\"'"), chosen);
    const struct part text = trimmed(unit, strcspn(unit, ",}"), "\"'");
    if (quantity >= 0) {
        head->ecsv[quantity] = nb6_unit_find((enum nb6_quantity)quantity, text.text, text.length);
        return;
    }
    const struct part word = trimmed(name, strcspn(name, ",}"), "\"'");
    struct nb6_ecsv_column *column = &head->ecsv_column[head->n_ecsv];
    if (head->n_ecsv == NB6_PROPERTIES_MAX || word.length >= sizeof column->name || text.length >= sizeof column->unit)
        return;
    snprintf(column->name, sizeof column->name, "%.*s", (int)word.length, word.text);
    snprintf(column->unit, sizeof column->unit, "%.*s", (int)text.length, text.text);
    head->n_ecsv++;
}

/* ---- other columns that are kept ---- */

/* "radius_rsun": a known name and the unit that is usual for it. */
static int divide_known(struct part word, struct part *name, struct part *unit)
{
    static const char *const units[] = {"Msun", "Rsun", "Lsun", "Myr", "K"};
    struct nb6_property column;
    double factor;
    for (size_t k = 1; k + 1 < word.length; k++) {
        const struct part before = {word.text, k}, behind = {word.text + k + 1, word.length - k - 1};
        if (word.text[k] != '_') continue;
        if (!nb6_star_column_known(before.text, before.length, behind.text, behind.length, &column, &factor)) continue;
        for (size_t u = 0; u < sizeof units / sizeof units[0]; u++) {
            if (strlen(units[u]) != behind.length || strncasecmp(behind.text, units[u], behind.length) != 0) continue;
            *name = before;
            *unit = behind;
            return 1;
        }
    }
    return 0;
}

static int holds_quantity(const struct nb6_table_head *head, int column)
{
    for (int k = 0; k < NB6_QUANTITIES; k++)
        if (head->at[k] == column) return 1;
    return 0;
}

/* Columns that hold none of the quantities, by their names. */
static void keep_columns(const struct part *word, int count, const struct nb6_keep *keep, struct nb6_table_head *head)
{
    for (int k = 0; k < count; k++) {
        struct part name, unit;
        if (holds_quantity(head, k) || word[k].length == 0) continue;
        divide(word[k], &name, &unit);
        if (unit.length == 0) divide_known(word[k], &name, &unit);
        for (int e = 0; e < head->n_ecsv && unit.length == 0; e++)
            if (is_chosen(word[k], head->ecsv_column[e].name))
                unit = (struct part){head->ecsv_column[e].unit, strlen(head->ecsv_column[e].unit)};
        for (int pass = 0; pass < 2; pass++) {
            const struct part text = pass ? name : word[k];
            const int wanted = nb6_keep_names(keep, text.text, text.length);
            if (wanted >= 0) head->keep_found[wanted] = 1;
        }
        if (nb6_star_columns_take(&head->kept, keep, k, word[k].text, word[k].length, name.text, name.length, unit.text,
                                  unit.length) < 0)
            snprintf(head->kept_twice, sizeof head->kept_twice, "%.*s", (int)(name.length < 60 ? name.length : 60),
                     name.text);
    }
    for (int k = 0; k < head->kept.count; k++) { /* KEEP may have the names of snapshots */
        const char *name = head->kept.column[k].name;
        const int wanted = nb6_keep_names(keep, name, strlen(name));
        if (wanted >= 0) head->keep_found[wanted] = 1;
    }
}

/* Units of these in a line of units. */
static void set_kept_units(const struct part *word, struct nb6_star_columns *kept)
{
    for (int k = 0; k < kept->count; k++) {
        const struct part at = word[kept->at[k]], text = trimmed(at.text, at.length, "[]()-");
        struct nb6_property *column = &kept->column[k];
        if (text.length == 0 || text.length >= sizeof column->unit) continue;
        if (!nb6_star_column_known(column->name, strlen(column->name), text.text, text.length, column,
                                   &kept->factor[k]))
            snprintf(column->unit, sizeof column->unit, "%.*s", (int)text.length, text.text);
    }
}

/* A line of units behind the names: of all seven, or it is none.   @return 1: it is one */
static int read_units(const struct part *word, int count, struct nb6_table_head *head)
{
    struct nb6_unit unit[NB6_ID];
    if (count != head->columns) return 0;
    for (int k = 0; k < NB6_ID; k++) {
        const struct part text = trimmed(word[head->at[k]].text, word[head->at[k]].length, "[]()");
        if (head->units.unit[k].kind != NB6_UNIT_NONE) return 0;
        unit[k] = nb6_unit_find((enum nb6_quantity)k, text.text, text.length);
        if (unit[k].kind != NB6_UNIT_PHYSICAL && unit[k].kind != NB6_UNIT_NBODY) return 0;
    }
    memcpy(head->units.unit, unit, sizeof unit);
    for (int k = 0; k < NB6_ID; k++) head->scale[k] = unit[k].factor; /* 1 of N-body units */
    set_kept_units(word, &head->kept);
    return 1;
}

/* ---- lines that are no head, for messages ---- */

static int count_bits(int bits)
{
    int count = 0;
    for (; bits; bits &= bits - 1) count++;
    return count;
}

static void note_part(const int at[NB6_QUANTITIES], struct nb6_table_head *head)
{
    enum { LEAST_NAMES = 3 }; /* fewer are words of a comment */
    int part = 0;
    for (int k = 0; k < NB6_ID; k++)
        if (at[k] >= 0) part |= 1 << k;
    if (count_bits(part) >= LEAST_NAMES && count_bits(part) > count_bits(head->part)) head->part = part;
}

static void note_sky(const struct part *word, int count, struct nb6_table_head *head)
{
    static const char *const names[] = {"ra", "dec", "parallax", "pmra", "pmdec", "radial_velocity"};
    int found = 0;
    for (int k = 0; k < count; k++) {
        struct part name, unit;
        divide(word[k], &name, &unit);
        for (size_t j = 0; j < sizeof names / sizeof names[0]; j++) found += is_chosen(name, names[j]);
    }
    head->is_sky |= found >= 2;
}

int nb6_table_head_read(const char *line, const struct nb6_columns *chosen, struct nb6_table_head *head)
{
    struct part word[NAMES_MAX];
    struct nb6_table_head found = *head;
    while (*line == '#' || *line == '!') line++;
    read_ecsv(line, chosen, head);
    const int count = split(line, word);
    if (head->columns) return read_units(word, count, head);
    if (head->numbered) return 0;
    found.columns = count;
    for (int k = 0; k < NB6_QUANTITIES; k++) found.at[k] = -1;
    for (int k = 0; k < count; k++) {
        struct nb6_unit unit;
        const int quantity = understand(word[k], chosen, &unit);
        if (quantity >= 0) place(&found, quantity, k, &unit);
    }
    note_sky(word, count, head);
    note_part(found.at, head);
    for (int k = 0; k < NB6_ID; k++) {
        if (found.at[k] < 0) return 0;
        if (found.units.unit[k].kind == NB6_UNIT_NONE) found.units.unit[k] = head->ecsv[k];
        const struct part at = word[found.at[k]];
        if (found.units.unit[k].kind == NB6_UNIT_PHYSICAL) found.scale[k] = found.units.unit[k].factor;
        if (found.units.unit[k].kind == NB6_UNIT_UNKNOWN)
            snprintf(found.units.unknown, sizeof found.units.unknown, "%.*s", (int)(at.length < 60 ? at.length : 60),
                     at.text);
    }
    if (chosen->count > NB6_ID && found.at[NB6_ID] < 0) return 0;
    keep_columns(word, count, &chosen->keep, &found);
    *head = found;
    return 1;
}
