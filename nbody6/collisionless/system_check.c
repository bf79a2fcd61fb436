#include "nbody6/collisionless/system_check.h"

#include "nbody6/collisionless/collisionless.h"
#include "nbody6/state/level.h"

#include <math.h>

int nb6_system_check_options(int64_t n, const struct nb6_collisionless_options *o, struct nbc_error *err)
{
    if (n < 1 || n > INT32_MAX)
        return nbc_fail(err, NBC_BAD_ARGUMENT, "%lld bodies; there are 1 to %d", (long long)n, INT32_MAX);
    if (!(o->softening >= 1e-15 && o->softening <= 1e15))
        return nbc_fail(err, NBC_BAD_ARGUMENT, "the softening is %g; it is 1e-15 to 1e15", o->softening);
    if (!(o->dt >= nb6_step_length(0) && o->dt <= nb6_step_length(NB6_LONGEST_LEVEL)))
        return nbc_fail(err, NBC_BAD_ARGUMENT, "the longest step is %g; it is %g to %g", o->dt, nb6_step_length(0),
                        nb6_step_length(NB6_LONGEST_LEVEL));
    if (o->steps != NB6_COLLISIONLESS_SHARED && o->steps != NB6_COLLISIONLESS_BLOCK)
        return nbc_fail(err, NBC_BAD_ARGUMENT, "steps are shared or block steps, not number %d", (int)o->steps);
    if (o->steps == NB6_COLLISIONLESS_BLOCK && !(o->eta > 0 && isfinite(o->eta)))
        return nbc_fail(err, NBC_BAD_ARGUMENT, "eta is %g; block steps need a number above 0", o->eta);
    if (o->reuse < 0 || o->reuse > NB6_MOST_REUSE)
        return nbc_fail(err, NBC_BAD_ARGUMENT, "a tree serves %d steps; it is 1 to %d", o->reuse, NB6_MOST_REUSE);
    return NBC_OK;
}

int nb6_system_check_bodies(int64_t n, const double *mass, const double (*v)[3], struct nbc_error *err)
{
    for (int64_t i = 0; i < n; i++) {
        if (mass[i] < 0) return nbc_fail(err, NBC_BAD_ARGUMENT, "the mass of body %lld is negative", (long long)i + 1);
        for (int k = 0; k < 3; k++)
            if (!isfinite(v[i][k]))
                return nbc_fail(err, NBC_NON_FINITE, "the velocity of body %lld is not finite", (long long)i + 1);
    }
    return NBC_OK;
}
