#include "nbody6/collisionless/ranks/positions.h"

#include "common/team.h"
#include "gpunb/backend.h"

#include <math.h>

enum { BODIES_OF_A_PART = 16384 };

struct check {
    int64_t n, bad; /* bad: the first body that is too far */
    const double (*x)[3];
};

static int is_within(const double x[3])
{
    return fabs(x[0]) <= GPUNB_LIMIT && fabs(x[1]) <= GPUNB_LIMIT && fabs(x[2]) <= GPUNB_LIMIT;
}

static void check_part(void *context, int part, int parts)
{
    struct check *c = context;
    int64_t i, end;
    nbc_range(c->n, part, parts, &i, &end);
    while (i < end && is_within(c->x[i])) i++;
    if (i < end) nbc_atomic_min(&c->bad, i);
}

int nb6_rank_positions_check(int64_t n, const int64_t *name, const double (*x)[3], struct nbc_error *err)
{
    struct check c = {.n = n, .bad = INT64_MAX, .x = x};
    nbc_team_run(nbc_parts(n, BODIES_OF_A_PART), check_part, &c);
    if (c.bad == INT64_MAX) return NBC_OK;
    const double *at = x[c.bad];
    const int is_finite = isfinite(at[0]) && isfinite(at[1]) && isfinite(at[2]);
    return nbc_fail(err, is_finite ? NBC_BAD_ARGUMENT : NBC_NON_FINITE,
                    "body %lld is at %g, %g, %g: coordinates must be from %g to %g", (long long)name[c.bad], at[0],
                    at[1], at[2], -GPUNB_LIMIT, GPUNB_LIMIT);
}
