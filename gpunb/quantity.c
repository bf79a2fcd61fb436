/* Refusal of numbers that are not finite, or out of range. */
#include "gpunb/quantity.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* Every value is looked at, in vectors, and the culprit is sought only if there is one: this runs at each block. */
static int all_within(const double *values, size_t n, double low, double high)
{
    typedef double vector __attribute__((vector_size(16)));
    typedef int32_t mask __attribute__((vector_size(16))); /* of 64-bit ones gcc 12 makes scalars without SSE4 */
    const vector lows = {low, low}, highs = {high, high};
    mask good = {-1, -1, -1, -1};
    int tail = 1;
    size_t k = 0;
    for (; k + 4 <= n; k += 4) {
        vector v, w;
        memcpy(&v, values + k, sizeof v);
        memcpy(&w, values + k + 2, sizeof w);
        good &= (mask)(v >= lows) & (mask)(v <= highs) & (mask)(w >= lows) & (mask)(w <= highs);
    }
    for (; k < n; k++) tail &= values[k] >= low && values[k] <= high;
    return tail && (good[0] & good[1] & good[2] & good[3]);
}

enum { CHECK_PIECE = 1 << 15 }; /* numbers that a thread looks at in one go */

static int is_sound(const struct gpunb_quantity *q)
{
    size_t n = q->rows * (size_t)q->width;
    if (n <= CHECK_PIECE) return all_within(q->values, n, q->low, q->high);
    size_t bad = 0;
#pragma omp parallel for schedule(static) reduction(+ : bad)
    for (size_t k = 0; k < n; k += CHECK_PIECE)
        bad += (size_t)!all_within(q->values + k, n - k < CHECK_PIECE ? n - k : CHECK_PIECE, q->low, q->high);
    return bad == 0;
}

static int refuse(struct nbc_error *err, const char *call, const struct gpunb_quantity *q)
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
    for (int k = 0; k < count; k++) {
        if (list[k].rows > 0 && !list[k].values)
            return nbc_fail(err, NBC_BAD_ARGUMENT, "%s: %s is NULL", call, list[k].name);
        if (!is_sound(&list[k])) return refuse(err, call, &list[k]);
    }
    return NBC_OK;
}
