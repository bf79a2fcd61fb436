#include "gpunb/tree/costs.h"

#include "gpunb/tree/lengths.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- rows as text */

/* The numbers of a row, in the order of GPUNB_TREE_COSTS. */
struct number {
    const char *name;
    size_t offset;
    int count;
};
static const struct number numbers[] = {
#define ONE(name) {#name, offsetof(struct gpunb_tree_costs, name), 1},
#define EACH(name) {#name, offsetof(struct gpunb_tree_costs, name), GPUNB_MOST_ORDER},
    GPUNB_TREE_COSTS(ONE, EACH)
#undef ONE
#undef EACH
};
enum { NUMBERS = sizeof numbers / sizeof numbers[0], WORDS = 3 };

static const struct number words[WORDS] = {
    {"backend", offsetof(struct gpunb_tree_costs, backend), sizeof((struct gpunb_tree_costs *)0)->backend},
    {"machine", offsetof(struct gpunb_tree_costs, machine), sizeof((struct gpunb_tree_costs *)0)->machine},
    {"processor", offsetof(struct gpunb_tree_costs, processor), sizeof((struct gpunb_tree_costs *)0)->processor}};

/* The shortest text that is read as this number. */
static int print_number(char *text, size_t size, double value)
{
    int used = 0;
    for (int digits = 1; digits <= 17; digits++) {
        used = snprintf(text, size, " %.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    return used;
}

void gpunb_tree_costs_print(const struct gpunb_tree_costs *costs, char text[GPUNB_TREE_COSTS_TEXT])
{
    const size_t size = GPUNB_TREE_COSTS_TEXT;
    size_t used = 0;
    for (int k = 0; k < WORDS; k++)
        used +=
            (size_t)snprintf(text + used, size - used, "%s %s\n", words[k].name, (const char *)costs + words[k].offset);
    for (int k = 0; k < NUMBERS; k++) {
        const double *value = (const double *)(const void *)((const char *)costs + numbers[k].offset);
        used += (size_t)snprintf(text + used, size - used, "%s", numbers[k].name);
        for (int v = 0; v < numbers[k].count; v++) used += (size_t)print_number(text + used, size - used, value[v]);
        used += (size_t)snprintf(text + used, size - used, "\n");
    }
}

/* A text being read: rows that have come are marked. */
struct reading {
    const char *from;
    int line;
    struct gpunb_tree_costs costs;
    char seen[WORDS + NUMBERS];
    struct nbc_error *err;
};

enum { LINE = 512 };

static int take_word(struct reading *r, const struct number *word, const char *rest)
{
    rest += strspn(rest, " \t");
    size_t length = strlen(rest);
    while (length > 0 && strchr(" \t\r", rest[length - 1])) length--;
    if (length >= (size_t)word->count)
        return nbc_fail(r->err, NBC_BAD_ARGUMENT, "%s, line %d: %s: '%s' is too long; give up to %d characters",
                        r->from, r->line, word->name, rest, word->count - 1);
    for (size_t k = 0; k < length; k++)
        if ((unsigned char)rest[k] < ' ')
            return nbc_fail(r->err, NBC_BAD_ARGUMENT, "%s, line %d: %s: the text has a character that cannot be shown",
                            r->from, r->line, word->name);
    memcpy((char *)&r->costs + word->offset, rest, length);
    return NBC_OK;
}

/* Costs below a femtosecond or above some ten seconds are mistakes. */
static const double MOST_COST = 1e10;

static int take_numbers(struct reading *r, const struct number *number, const char *rest)
{
    double *value = (double *)(void *)((char *)&r->costs + number->offset);
    char *end;
    for (int v = 0; v < number->count; v++, rest = end) {
        value[v] = strtod(rest, &end);
        if (end == rest || !(value[v] >= 0 && value[v] <= MOST_COST))
            return nbc_fail(r->err, NBC_BAD_ARGUMENT, "%s, line %d: %s: %s; give %d number%s of 0 to %g ns", r->from,
                            r->line, number->name, end == rest ? "a number is missing" : "a number is out of range",
                            number->count, number->count > 1 ? "s" : "", MOST_COST);
    }
    if (number->offset == offsetof(struct gpunb_tree_costs, pair) && value[0] == 0)
        return nbc_fail(r->err, NBC_BAD_ARGUMENT, "%s, line %d: pair: a pair of direct sums costs more than nothing",
                        r->from, r->line);
    if (rest[strspn(rest, " \t\r")])
        return nbc_fail(r->err, NBC_BAD_ARGUMENT, "%s, line %d: %s: '%s' is too much; give %d number%s", r->from,
                        r->line, number->name, rest + strspn(rest, " \t"), number->count, number->count > 1 ? "s" : "");
    return NBC_OK;
}

static int take_line(struct reading *r, char *line)
{
    char *comment = strchr(line, '#');
    if (comment) *comment = '\0';
    char *name = line + strspn(line, " \t\r"), *rest = name + strcspn(name, " \t\r");
    const size_t length = (size_t)(rest - name);
    if (length == 0) return NBC_OK;
    for (int k = 0; k < WORDS + NUMBERS; k++) {
        const struct number *one = k < WORDS ? &words[k] : &numbers[k - WORDS];
        if (strlen(one->name) != length || strncmp(one->name, name, length) != 0) continue;
        if (r->seen[k]++)
            return nbc_fail(r->err, NBC_BAD_ARGUMENT, "%s, line %d: %s is there twice; leave one of them out", r->from,
                            r->line, one->name);
        return k < WORDS ? take_word(r, one, rest) : take_numbers(r, one, rest);
    }
    return nbc_fail(r->err, NBC_BAD_ARGUMENT,
                    "%s, line %d: there is no cost '%.*s'; bench/tune_tree --write FILE makes such files", r->from,
                    r->line, (int)length, name);
}

static int take_lines(struct reading *r, const char *text)
{
    char line[LINE];
    while (*text) {
        const size_t length = strcspn(text, "\n");
        r->line++;
        if (length >= LINE)
            return nbc_fail(r->err, NBC_BAD_ARGUMENT, "%s, line %d: a line of %zu characters is no line of costs",
                            r->from, r->line, length);
        memcpy(line, text, length);
        line[length] = '\0';
        const int status = take_line(r, line);
        if (status) return status;
        text += length + (text[length] == '\n');
    }
    return NBC_OK;
}

int gpunb_tree_costs_read(const char *text, const char *from, struct gpunb_tree_costs *costs, struct nbc_error *err)
{
    struct reading r = {.from = from, .err = err};
    const int status = take_lines(&r, text);
    if (status) return status;
    for (int k = 0; k < WORDS + NUMBERS; k++)
        if (!r.seen[k])
            return nbc_fail(err, NBC_BAD_ARGUMENT,
                            "%s, line %d: the file ends without %s; bench/tune_tree --write FILE makes whole ones",
                            from, r.line, k < WORDS ? words[k].name : numbers[k - WORDS].name);
    *costs = r.costs;
    return NBC_OK;
}

/* ---- costs of forces */

static int is_of_device(const struct gpunb_tree_costs *costs)
{
    return !strcmp(costs->backend, "cuda") || !strcmp(costs->backend, "emulated");
}

double gpunb_direct_cost(const struct gpunb_tree_costs *c, size_t n_i, size_t n_j)
{
    return c->direct_start + (double)n_j * c->direct_source + (double)n_i * (double)n_j * c->pair;
}

double gpunb_tree_cost(const struct gpunb_tree_costs *c, const struct gpunb_tree_sizes *sizes, double aim, size_t n_i,
                       size_t n_j)
{
    if (n_i == 0 || n_j == 0) return c->start;
    const int p = sizes->order - 1;
    const struct tree_lengths of = tree_lengths_of(sizes, aim, n_i, n_j, is_of_device(c));
    const double groups = (double)n_i / of.targets;
    return c->start + (double)n_j * (c->source + c->moments[p]) + (double)n_i * c->target +
           groups * (c->group + of.tests * c->test + of.cells_at_once * c->local[p]) +
           (double)n_i * (of.cells * c->term[p] + of.bodies * c->body + c->field);
}

/* Sizes that are worth a look; groups of devices are blocks of threads, whose number is fixed. */
static const int leaves[] = {16, 32, 64}, groups_of_hosts[] = {128, 256, 512, 1024}, groups_of_devices[] = {64};
enum { BODIES_OF_THE_CHOICE = 1 << 18 };

static int is_allowed(int asked, int value)
{
    return asked == 0 || asked == value;
}

void gpunb_tree_choose(const struct gpunb_tree_costs *costs, double aim, struct gpunb_tree_sizes *sizes)
{
    const int on_device = is_of_device(costs), n_groups = on_device ? 1 : 4;
    const int *groups = on_device ? groups_of_devices : groups_of_hosts;
    struct gpunb_tree_sizes best = *sizes;
    double least = INFINITY;
    for (int order = 1; order <= GPUNB_MOST_ORDER; order++)
        for (int l = 0; l < 3; l++)
            for (int g = 0; g < n_groups; g++) {
                const struct gpunb_tree_sizes at = {order, sizes->leaf ? sizes->leaf : leaves[l],
                                                    sizes->group ? sizes->group : groups[g]};
                const double cost = gpunb_tree_cost(costs, &at, aim, BODIES_OF_THE_CHOICE, BODIES_OF_THE_CHOICE);
                if (!is_allowed(sizes->order, order) || !(cost < least)) continue;
                least = cost;
                best = at;
            }
    *sizes = best;
}
