#include "common/twins.h"

#include "common/sort.h"

#include <string.h>

/* Numbers that are compared at a time. A hash fills nine tenths of the room up to some 1e3, its spread. */
enum { ROOM = 1 << 19, WANTED = ROOM / 10 * 9 };

struct nbc_twins {
    int64_t *number; /* [room] those of this round */
    int64_t count, room;
    uint64_t rounds, round;
    int64_t twice;
    int found, is_full;
};

/* Steele, Lea & Flood 2014 (OOPSLA, 453): the finalizer of SplitMix64. */
static uint64_t hash(int64_t number)
{
    uint64_t h = (uint64_t)number;
    h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9u;
    h = (h ^ h >> 27) * 0x94d049bb133111ebu;
    return h ^ h >> 31;
}

static int by_value(const void *a, const void *b)
{
    int64_t p, q;
    memcpy(&p, a, sizeof p);
    memcpy(&q, b, sizeof q);
    return (p > q) - (p < q);
}

/* One of each stays. */
static void compare(struct nbc_twins *t)
{
    int64_t kept = 0;
    nbc_sort(t->number, (size_t)t->count, sizeof *t->number, by_value);
    for (int64_t k = 0; k < t->count; k++) {
        const int64_t number = t->number[k];
        if (kept == 0 || number != t->number[kept - 1])
            t->number[kept++] = number;
        else if (!t->found || number < t->twice) {
            t->twice = number;
            t->found = 1;
        }
    }
    t->count = kept;
}

void nbc_twins_take(struct nbc_twins *t, int64_t count, const int64_t *number)
{
    for (int64_t k = 0; k < count; k++) {
        if (hash(number[k]) % t->rounds != t->round) continue;
        if (t->count == t->room) compare(t);
        if (t->count == t->room)
            t->is_full = 1;
        else
            t->number[t->count++] = number[k];
    }
}

/* Twice as many rounds if one does not fit, which takes numbers that were made for this hash. */
static int make_rounds(struct nbc_twins *t, nbc_give_numbers *give, void *context, struct nbc_error *err)
{
    int status = NBC_OK;
    for (t->round = 0; t->round < t->rounds && !status;) {
        t->count = 0;
        t->is_full = 0;
        status = give(context, t, err);
        compare(t);
        if (t->is_full) {
            t->rounds *= 2;
            t->round = 0;
        } else
            t->round++;
    }
    return status;
}

int nbc_twins_find(int64_t n, nbc_give_numbers *give, void *context, int64_t *twice, int *found, struct nbc_error *err)
{
    struct nbc_twins t = {.room = n < ROOM ? n + 1 : ROOM, .rounds = n > ROOM ? (uint64_t)(n / WANTED + 1) : 1};
    t.number = nbc_alloc_unset((size_t)t.room, sizeof *t.number);
    if (!t.number) return nbc_fail(err, NBC_NO_MEMORY, "no memory to compare %lld numbers", (long long)t.room);
    const int status = make_rounds(&t, give, context, err);
    nbc_free(t.number);
    *twice = t.twice;
    *found = t.found;
    return status;
}
