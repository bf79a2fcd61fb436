#include "common/sort.h"

#include "common/nbc.h"
#include "common/team.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Fewest elements for a thread. */
enum { ELEMENTS_OF_A_PART = 2048 };

/* Sorted runs are consecutive in `from`; each merge joins two of them. */
struct sorting {
    char *from, *to;
    size_t n, size;
    int runs, pieces; /* pieces of a merge, made at the same time */
    nbc_compare *compare;
};

static size_t run_begins(const struct sorting *s, int run)
{
    int64_t first, end;
    nbc_range((int64_t)s->n, run, s->runs, &first, &end);
    return (size_t)first;
}

static void sort_run(void *context, int run, int runs)
{
    (void)runs;
    const struct sorting *s = context;
    const size_t first = run_begins(s, run);
    qsort(s->from + first * s->size, run_begins(s, run + 1) - first, s->size, s->compare);
}

/* Two runs that are merged. */
struct merge {
    const char *a, *b;
    size_t n_a, n_b, size;
    nbc_compare *compare;
};

/* Number of elements from a among the first n elements of the merged run; of equal elements, those of a come first. */
static size_t count_of_a(const struct merge *m, size_t n)
{
    size_t low = n > m->n_b ? n - m->n_b : 0, high = n < m->n_a ? n : m->n_a;
    while (low < high) {
        const size_t middle = (low + high) / 2; /* below n, so that there is an element of b before */
        if (m->compare(m->b + (n - middle - 1) * m->size, m->a + middle * m->size) < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Elements [first, end) of the merged run. */
static void merge_piece(const struct merge *m, size_t first, size_t end, char *to)
{
    const size_t size = m->size, a_first = count_of_a(m, first), a_last = count_of_a(m, end);
    const char *a = m->a + a_first * size, *a_end = m->a + a_last * size;
    const char *b = m->b + (first - a_first) * size, *b_end = m->b + (end - a_last) * size;
    for (; a < a_end && b < b_end; to += size) {
        const char **next = m->compare(b, a) < 0 ? &b : &a;
        memcpy(to, *next, size);
        *next += size;
    }
    memcpy(to, a, (size_t)(a_end - a));
    memcpy(to + (a_end - a), b, (size_t)(b_end - b));
}

/* Piece k % pieces of runs 2q and 2q + 1, q = k / pieces. */
static void merge_part(void *context, int k, int parts)
{
    (void)parts;
    const struct sorting *s = context;
    const int run = 2 * (k / s->pieces);
    const size_t begin = run_begins(s, run), middle = run_begins(s, run + 1), end = run_begins(s, run + 2);
    const struct merge m = {
        s->from + begin * s->size, s->from + middle * s->size, middle - begin, end - middle, s->size, s->compare};
    int64_t first, last;
    nbc_range((int64_t)(end - begin), k % s->pieces, s->pieces, &first, &last);
    merge_piece(&m, (size_t)first, (size_t)last, s->to + (begin + (size_t)first) * s->size);
}

/* A power of two, so that each merged run begins and ends where two runs of the level before do. */
static int runs_for(size_t n)
{
    int runs = 1;
    while (2 * runs <= nbc_parts((int64_t)n, ELEMENTS_OF_A_PART)) runs *= 2;
    return runs;
}

void nbc_sort(void *base, size_t n, size_t size, nbc_compare *compare)
{
    struct sorting s = {base, NULL, n, size, runs_for(n), 2, compare};
    char *other = s.runs > 1 ? nbc_alloc_unset(n, size) : NULL;
    if (!other) {
        qsort(base, n, size, compare);
        return;
    }
    nbc_team_run(s.runs, sort_run, &s);
    s.to = other;
    while (s.runs > 1) {
        nbc_team_run(s.runs / 2 * s.pieces, merge_part, &s);
        char *made = s.to;
        s.to = s.from;
        s.from = made;
        s.runs /= 2;
        s.pieces *= 2;
    }
    if (s.from == other) memcpy(base, other, n * size);
    nbc_free(other);
}
