#include "nbody6/collisionless/ranks/costs.h"

#include "common/nbc.h"
#include "common/team.h"

enum { TARGETS_OF_A_PART = 16384 };

int nb6_rank_costs_provide(struct nb6_rank_costs *c, size_t n)
{
    if (n <= c->room) return 1;
    nb6_rank_costs_free(c);
    c->cost = nbc_alloc_unset(n, sizeof *c->cost);
    if (c->cost) c->room = n;
    return c->cost != NULL;
}

void nb6_rank_costs_free(struct nb6_rank_costs *c)
{
    nbc_free(c->cost);
    *c = (struct nb6_rank_costs){0};
}

struct summing {
    const uint32_t *cost;
    int64_t n;
    uint64_t sum;
    const int32_t *target;
    uint64_t *work;
};

static void sum_part(void *context, int part, int parts)
{
    struct summing *s = context;
    int64_t first, end;
    uint64_t sum = 0;
    nbc_range(s->n, part, parts, &first, &end);
    for (int64_t m = first; m < end; m++) sum += s->cost[m];
    __atomic_fetch_add(&s->sum, sum, __ATOMIC_RELAXED);
}

uint64_t nb6_rank_costs_sum(const struct nb6_rank_costs *c, int64_t n)
{
    struct summing s = {.cost = c->cost, .n = n};
    if (n > 0) nbc_team_run(nbc_parts(n, TARGETS_OF_A_PART), sum_part, &s);
    return s.sum;
}

static void add_part(void *context, int part, int parts)
{
    const struct summing *s = context;
    int64_t first, end;
    nbc_range(s->n, part, parts, &first, &end);
    for (int64_t m = first; m < end; m++) s->work[s->target[m]] += s->cost[m];
}

void nb6_rank_costs_add(const struct nb6_rank_costs *c, int64_t n, const int32_t *target, uint64_t *work)
{
    struct summing s = {.cost = c->cost, .n = n, .target = target, .work = work};
    if (n > 0) nbc_team_run(nbc_parts(n, TARGETS_OF_A_PART), add_part, &s);
}
