#include "nbody6/state/schedule.h"

#include "common/nbc.h"
#include "nbody6/state/ascending.h"
#include "nbody6/state/body.h"

#include <string.h>

enum { LEVELS = NB6_TIME_BITS + 1, NOWHERE = -1 };

/* Levels that are scanned together. Members of a block are found by their lists, and sorted, if they are few, or few
 * beside all: a scan of 4096 levels takes as long as sorting one body of some hundred. */
enum { LINE = 64, WORD = 16, FEW = 24, MANY_MORE = 4096 };

/* Bodies of a level form a doubly linked list through next/prev: moving a body costs the same for any N. */
struct nb6_schedule {
    int64_t n_max;
    int32_t head[LEVELS];
    int64_t count[LEVELS];
    int32_t *next, *prev;
    int8_t *level; /* [n_max], up to a whole LINE */
};

struct nb6_schedule *nb6_schedule_create(int64_t n_max)
{
    struct nb6_schedule *s = nbc_alloc(1, sizeof *s);
    if (!s) return NULL;
    for (int k = 0; k < LEVELS; k++) s->head[k] = NOWHERE;
    if (nb6_schedule_reserve(s, n_max)) return s;
    nb6_schedule_free(s);
    return NULL;
}

/* -1 without memory: the array is where it was. */
static int grow(int32_t **array, int64_t n_old, int64_t n_max)
{
    int32_t *grown = nbc_realloc(*array, (size_t)n_old, (size_t)n_max, sizeof **array);
    if (grown) *array = grown;
    return grown ? 0 : -1;
}

/* One array after another. An array larger than n_max, left by a failed allocation of another one, does no harm. */
int nb6_schedule_reserve(struct nb6_schedule *s, int64_t n_max)
{
    int64_t n_old = s->n_max;
    if (n_max <= n_old) return 1;
    if (grow(&s->next, n_old, n_max) || grow(&s->prev, n_old, n_max)) return 0;
    const int64_t whole = (n_max + LINE - 1) / LINE * LINE;
    int8_t *level = nbc_realloc(s->level, (size_t)n_old, (size_t)whole, sizeof *level);
    if (!level) return 0;
    memset(level + n_old, NOWHERE, (size_t)(whole - n_old));
    s->level = level;
    s->n_max = n_max;
    return 1;
}

void nb6_schedule_free(struct nb6_schedule *s)
{
    if (!s) return;
    nbc_free(s->next);
    nbc_free(s->prev);
    nbc_free(s->level);
    nbc_free(s);
}

int nb6_schedule_level(const struct nb6_schedule *s, int32_t i)
{
    return s->level[i];
}

void nb6_schedule_remove(struct nb6_schedule *s, int32_t i)
{
    int level = s->level[i];
    if (level == NOWHERE) return;
    if (s->prev[i] == NOWHERE)
        s->head[level] = s->next[i];
    else
        s->next[s->prev[i]] = s->next[i];
    if (s->next[i] != NOWHERE) s->prev[s->next[i]] = s->prev[i];
    s->count[level]--;
    s->level[i] = NOWHERE;
}

void nb6_schedule_set(struct nb6_schedule *s, int32_t i, int level)
{
    if (s->level[i] == level) return;
    nb6_schedule_remove(s, i);
    s->prev[i] = NOWHERE;
    s->next[i] = s->head[level];
    if (s->head[level] != NOWHERE) s->prev[s->head[level]] = i;
    s->head[level] = i;
    s->count[level]++;
    s->level[i] = (int8_t)level;
}

/* The shortest step in use decides: every longer one is a multiple of it. */
nb6_time nb6_schedule_next(const struct nb6_schedule *s, nb6_time now)
{
    for (int level = 0; level < LEVELS; level++)
        if (s->count[level] > 0) return ((now >> level) + 1) << level;
    return INT64_MAX;
}

int64_t nb6_schedule_count(const struct nb6_schedule *s, int level)
{
    return s->count[level];
}

static int64_t follow_lists(const struct nb6_schedule *s, int top, int32_t *act)
{
    int64_t n = 0;
    for (int level = 0; level <= top; level++)
        for (int32_t i = s->head[level]; i != NOWHERE; i = s->next[i]) act[n++] = i;
    nb6_list_sort(act, n);
    return n;
}

/* Whether any of so many levels is in [0, top]; NOWHERE is beyond, being the largest number without a sign. */
static inline int any_due(const int8_t *level, int width, int top)
{
    typedef uint8_t vector __attribute__((vector_size(16)));
    const uint8_t t = (uint8_t)top;
    const vector most = {t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t};
    vector due = {0};
    for (int k = 0; k < width; k += (int)sizeof due) {
        vector v;
        memcpy(&v, level + k, sizeof v);
        due |= (vector)(v <= most);
    }
    uint64_t half[2];
    memcpy(half, &due, sizeof half);
    return (half[0] | half[1]) != 0;
}

/* All levels in order, which needs no sorting: a cache line of them at a time, most of which have no due body, and then
 * a word of it.   @param[in] expected  number of due bodies */
static int64_t sweep(const struct nb6_schedule *s, int top, int64_t expected, int32_t *act)
{
    int64_t n = 0;
    for (int64_t i = 0; i < s->n_max; i += LINE) {
        if (!any_due(s->level + i, LINE, top)) continue;
        for (int64_t word = i; word < i + LINE; word += WORD) {
            if (!any_due(s->level + word, WORD, top)) continue;
            for (int64_t k = word; k < word + WORD && n < expected; k++) {
                act[n] = (int32_t)k;
                n += (uint8_t)s->level[k] <= top;
            }
        }
    }
    return n;
}

int64_t nb6_schedule_due(struct nb6_schedule *s, nb6_time t, int32_t *act)
{
    int top = t == 0 ? LEVELS - 1 : __builtin_ctzll((unsigned long long)t);
    if (top > LEVELS - 1) top = LEVELS - 1;
    int64_t expected = 0;
    for (int level = 0; level <= top; level++) expected += s->count[level];
    return expected <= FEW || expected <= s->n_max / MANY_MORE ? follow_lists(s, top, act)
                                                               : sweep(s, top, expected, act);
}
