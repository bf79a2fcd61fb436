#include "common/sort.h"

#include "common/nbc.h"
#include "common/team.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Fewer elements are not worth a thread. */
enum { ELEMENTS_OF_A_PART = 8192 };

/* Runs that are sorted lie one after another in `from`; each merge makes one of two. */
struct sorting {
    char *from, *to;
    size_t n, size;
    int runs;
    nbc_compare *compare;
};

static size_t run_begins(const struct sorting *s, int run)
{
    int64_t first, end;
    nbc_share((int64_t)s->n, run, s->runs, &first, &end);
    return (size_t)first;
}

static void sort_run(void *context, int run, int runs)
{
    (void)runs;
    const struct sorting *s = context;
    const size_t first = run_begins(s, run);
    qsort(s->from + first * s->size, run_begins(s, run + 1) - first, s->size, s->compare);
}

/* Runs 2k and 2k + 1. */
static void merge_pair(void *context, int k, int pairs)
{
    (void)pairs;
    const struct sorting *s = context;
    const size_t size = s->size, first = run_begins(s, 2 * k), middle = run_begins(s, 2 * k + 1);
    const char *a = s->from + first * size, *a_end = s->from + middle * size;
    const char *b = a_end, *b_end = s->from + run_begins(s, 2 * k + 2) * size;
    char *to = s->to + first * size;
    for (; a < a_end && b < b_end; to += size) {
        const char **next = s->compare(b, a) < 0 ? &b : &a;
        memcpy(to, *next, size);
        *next += size;
    }
    memcpy(to, a, (size_t)(a_end - a));
    memcpy(to + (a_end - a), b, (size_t)(b_end - b));
}

/* A power of two, so that two runs always make one that begins and ends where one of half as many does. */
static int runs_for(size_t n)
{
    int runs = 1;
    while (2 * runs <= nbc_parts((int64_t)n, ELEMENTS_OF_A_PART)) runs *= 2;
    return runs;
}

void nbc_sort(void *base, size_t n, size_t size, nbc_compare *compare)
{
    struct sorting s = {base, NULL, n, size, runs_for(n), compare};
    char *other = s.runs > 1 ? nbc_alloc_unset(n, size) : NULL;
    if (!other) {
        qsort(base, n, size, compare);
        return;
    }
    nbc_team_run(s.runs, sort_run, &s);
    s.to = other;
    while (s.runs > 1) {
        nbc_team_run(s.runs / 2, merge_pair, &s);
        char *made = s.to;
        s.to = s.from;
        s.from = made;
        s.runs /= 2;
    }
    if (s.from == other) memcpy(base, other, n * size);
    nbc_free(other);
}
