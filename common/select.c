#include "common/select.h"

#include "common/team.h"

#include <string.h>

enum { MOST_PARTS = 64 };

struct search {
    int64_t n;
    nbc_wanted *wanted;
    const void *context;
    int32_t *found; /* begin of the results of each part */
    int64_t number[MOST_PARTS];
};

static void search_part(void *context, int part, int parts)
{
    struct search *s = context;
    int64_t first, end, n = 0;
    nbc_range(s->n, part, parts, &first, &end);
    for (int64_t k = first; k < end; k++)
        if (s->wanted(s->context, k)) s->found[first + n++] = (int32_t)k;
    s->number[part] = n;
}

int64_t nbc_select(int64_t n, int64_t least, nbc_wanted *wanted, const void *context, int32_t *found)
{
    struct search s = {.n = n, .wanted = wanted, .context = context, .found = found};
    int parts = nbc_parts(n, least);
    if (parts > MOST_PARTS) parts = MOST_PARTS;
    nbc_team_run(parts, search_part, &s);
    int64_t all = s.number[0];
    for (int part = 1; part < parts; part++) {
        int64_t first, end;
        nbc_range(n, part, parts, &first, &end);
        if (all < first) memmove(found + all, found + first, (size_t)s.number[part] * sizeof *found);
        all += s.number[part];
    }
    return all;
}
