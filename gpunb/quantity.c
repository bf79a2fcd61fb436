/* Refusal of numbers that are not finite, or out of range. */
#include "gpunb/quantity.h"

#include "common/team.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

typedef double vector __attribute__((vector_size(16)));
typedef int64_t bits __attribute__((vector_size(16)));
typedef int32_t mask __attribute__((vector_size(16))); /* of 64-bit ones gcc 12 makes scalars without SSE4 */

static inline vector load(const double *p)
{
    vector v;
    memcpy(&v, p, sizeof v);
    return v;
}

/* Half the operations where the range is the same on both sides. */
static inline mask is_within(vector v, vector low, vector high, const int symmetric)
{
    if (symmetric) return (mask)((vector)((bits)v & INT64_MAX) <= high);
    return (mask)(v >= low) & (mask)(v <= high);
}

static inline int find_outside(const double *values, size_t n, double low, double high, const int symmetric)
{
    const vector lows = {low, low}, highs = {high, high};
    mask good = {-1, -1, -1, -1};
    int tail = 1;
    size_t k = 0;
    for (; k + 4 <= n; k += 4)
        good &= is_within(load(values + k), lows, highs, symmetric) &
                is_within(load(values + k + 2), lows, highs, symmetric);
    for (; k < n; k++) tail &= values[k] >= low && values[k] <= high;
    return tail && (good[0] & good[1] & good[2] & good[3]);
}

/* Check every value, in vectors, and search for the culprit only if there is one: this runs at each block. */
static int all_within(const double *values, size_t n, double low, double high)
{
    return low == -high ? find_outside(values, n, low, high, 1) : find_outside(values, n, low, high, 0);
}

enum { NUMBERS_OF_A_PART = 8192 }; /* checked by a thread in some microseconds */

static size_t numbers_of(const struct gpunb_quantity *q)
{
    return q->rows * (size_t)q->width;
}

struct check {
    const struct gpunb_quantity *list;
    int count, bad;
};

static void check_part(void *context, int part, int parts)
{
    struct check *check = context;
    int good = 1;
    for (int k = 0; k < check->count; k++) {
        const struct gpunb_quantity *q = &check->list[k];
        int64_t first, end;
        nbc_range((int64_t)numbers_of(q), part, parts, &first, &end);
        if (end > first) good &= all_within(q->values + first, (size_t)(end - first), q->low, q->high);
    }
    if (!good) __atomic_store_n(&check->bad, 1, __ATOMIC_RELAXED);
}

static int refuse_quantity(struct nbc_error *err, const char *call, const struct gpunb_quantity *q)
{
    size_t k = 0;
    while (q->values[k] >= q->low && q->values[k] <= q->high) k++;
    static const char *const components[] = {"[0]", "[1]", "[2]"};
    const char *component = q->width > 1 ? components[k % (size_t)q->width] : "";
    double value = q->values[k];
    size_t row = k / (size_t)q->width;
    if (!isfinite(value))
        return nbc_fail(err, NBC_NON_FINITE, "%s: %s%s of %s %zu (of %zu, counted from 0) is %g: not a finite number",
                        call, q->name, component, q->what, row, q->rows, value);
    return nbc_fail(err, NBC_BAD_ARGUMENT, "%s: %s%s of %s %zu (of %zu, counted from 0) is %g: outside %g .. %g", call,
                    q->name, component, q->what, row, q->rows, value, q->low, q->high);
}

int gpunb_check(struct nbc_error *err, const char *call, const struct gpunb_quantity *list, int count)
{
    struct check check = {.list = list};
    int64_t numbers = 0;
    for (; check.count < count && (list[check.count].rows == 0 || list[check.count].values); check.count++)
        numbers += (int64_t)numbers_of(&list[check.count]);
    nbc_team_run(nbc_parts(numbers, NUMBERS_OF_A_PART), check_part, &check);
    for (int k = 0; check.bad && k < check.count; k++)
        if (!all_within(list[k].values, numbers_of(&list[k]), list[k].low, list[k].high))
            return refuse_quantity(err, call, &list[k]);
    if (check.count < count) return nbc_fail(err, NBC_BAD_ARGUMENT, "%s: %s is NULL", call, list[check.count].name);
    return NBC_OK;
}
