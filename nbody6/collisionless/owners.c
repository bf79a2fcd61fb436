#include "nbody6/collisionless/owners.h"

#include "common/team.h"

#include <math.h>
#include <string.h>

enum {
    ENDS_OF_A_DIVISION = 8, /* moving all bodies costs less than a hundredth of so many forces */
    SUMS_OF_A_PART = 1024   /* work is known to a thousandth of that of a part */
};

struct nb6_owners *nb6_owners_create(int64_t n, int parts)
{
    struct nb6_owners *o = nbc_alloc(1, sizeof *o);
    if (!o) return NULL;
    o->n = n;
    o->parts = parts;
    o->body = nbc_alloc_unset((size_t)n, sizeof *o->body);
    if (!o->body) {
        nb6_owners_free(o);
        return NULL;
    }
    for (int64_t i = 0; i < n; i++) o->body[i] = (int32_t)i;
    for (int p = 0; p < parts; p++) nbc_range(n, p, parts, &o->first[p], &o->first[p + 1]);
    return o;
}

void nb6_owners_free(struct nb6_owners *o)
{
    if (!o) return;
    nbc_free(o->body);
    nbc_free(o);
}

void nb6_owners_take(struct nb6_owners *o, const struct nb6_owners *from, int block)
{
    const int64_t room = nb6_owners_room(o->n, o->parts, block);
    if (!from || !from->divided || from->n != o->n || from->parts != o->parts) return;
    for (int p = 0; p < o->parts; p++)
        if (from->first[p + 1] - from->first[p] > room) return;
    o->divided = from->divided;
    memcpy(o->first, from->first, sizeof o->first);
    memcpy(o->body, from->body, (size_t)o->n * sizeof *o->body);
}

int64_t nb6_owners_room(int64_t n, int parts, int block)
{
    const int64_t share = (n + parts - 1) / parts, room = block ? 2 * share : share + (share + 1) / 2;
    return room < n ? room : n;
}

int nb6_owners_are_due(int divided, int max_level, nb6_time t)
{
    if (!nb6_step_ends(max_level, t)) return 0;
    return divided < NB6_FIRST_DIVISIONS || t / nb6_step_ticks(max_level) % ENDS_OF_A_DIVISION == 0;
}

int nb6_owners_sums(int64_t n, int parts)
{
    const int64_t most = (int64_t)SUMS_OF_A_PART * parts;
    return (int)(n < most ? n : most);
}

static int64_t between(int64_t least, int64_t x, int64_t most)
{
    return x < least ? least : x > most ? most : x;
}

void nb6_owners_divide(const uint64_t *sum, int64_t n, int parts, int64_t room, int64_t *first)
{
    const int sums = nb6_owners_sums(n, parts);
    double all = 0, before = 0;
    for (int k = 0; k < sums; k++) all += (double)sum[k];
    first[0] = 0;
    for (int p = 1, k = 0; p < parts; p++) {
        const double aim = all * p / parts;
        while (k < sums - 1 && before + (double)sum[k] < aim) before += (double)sum[k++];
        const int64_t begin = n * k / sums, end = n * (k + 1) / sums;
        const double part = sum[k] > 0 ? (aim - before) / (double)sum[k] : 0;
        const int64_t left = parts - p, wanted = begin + (int64_t)floor(part * (double)(end - begin) + 0.5);
        first[p] = between(first[p - 1] + 1, wanted, first[p - 1] + room);
        first[p] = between(n - left * room, first[p], n - left);
    }
    first[parts] = n;
}
