#include "nbody6/engine/emulated/field.h"

#include "common/team.h"
#include "nbody6/engine/stages/field.h"

#include <string.h>

enum { BODIES_OF_A_PART = 64 };

struct job {
    const struct nb6_dev *dev;
    nb6_time t;
    const struct nb6_field_points *points;
    struct nb6_dev_mass *at; /* [dev->n] */
};

static void find_places(void *context, int part, int parts)
{
    const struct job *job = context;
    int64_t first, end;
    nbc_range(job->dev->n, part, parts, &first, &end);
    for (int64_t i = first; i < end; i++) job->at[i] = nb6_dev_mass_at(job->dev, i, job->t);
}

static void sum_at_points(void *context, int part, int parts)
{
    const struct job *job = context;
    int64_t first, end;
    nbc_range(job->points->n, part, parts, &first, &end);
    for (int64_t k = first; k < end; k++) {
        double *sum = job->points->sum[k];
        memset(sum, 0, sizeof job->points->sum[k]);
        for (int64_t slice = 0; slice < NB6_DEV_FIELD_SLICES; slice++) {
            double own[NB6_DEV_FIELD_SUMS] = {0};
            int64_t from, to;
            nb6_dev_field_slice(job->dev, slice, &from, &to);
            for (int64_t j = from; j < to; j++) nb6_dev_add_to_field(&job->at[j], job->points->x[k], own);
            for (int d = 0; d < NB6_DEV_FIELD_SUMS; d++) sum[d] += own[d];
        }
    }
}

int nb6_emulated_field(const struct nb6_dev *dev, nb6_time t, const struct nb6_field_points *points,
                       struct nbc_error *err)
{
    struct job job = {dev, t, points, nbc_alloc_unset((size_t)dev->n, sizeof *job.at)};
    if (!job.at) return nbc_fail(err, NBC_NO_MEMORY, "no memory for the field in the emulated engine");
    nbc_team_run(nbc_parts(dev->n, BODIES_OF_A_PART), find_places, &job);
    nbc_team_run(nbc_parts(points->n, 1), sum_at_points, &job);
    for (int64_t i = dev->first_centre; i < dev->n; i++)
        memcpy(points->centre[i - dev->first_centre], job.at[i].x, sizeof job.at[i].x);
    nbc_free(job.at);
    return NBC_OK;
}
