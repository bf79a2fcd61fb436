#include "nbody6/engine/emulated/edit.h"

#include "common/team.h"
#include "nbody6/engine/image.h"
#include "nbody6/engine/stages/edit.h"

enum { BODIES_OF_A_PART = 64 };

/* ---- bodies and potentials */

struct gathering {
    const struct nb6_dev *dev;
    nb6_time t;
    int64_t n;
    const nb6_index *body;
    int with_potentials;
    struct nb6_gathered *gathered;
    struct nb6_dev_mass *at; /* [dev->n] those that were asked for without mass */
};

static void find_places(void *context, int part, int parts)
{
    const struct gathering *job = context;
    int64_t first, end;
    nbc_range(job->dev->n, part, parts, &first, &end);
    for (int64_t i = first; i < end; i++) job->at[i] = nb6_dev_mass_at(job->dev, i, job->t);
}

static double potential_of_slice(const struct gathering *job, int64_t slice, const double x[3])
{
    int64_t first, end;
    double sum = 0;
    nb6_dev_potential_slice(job->dev, slice, &first, &end);
    for (int64_t j = first; j < end; j++) sum += nb6_dev_potential_term(&job->at[j], x);
    return sum;
}

static void gather_part(void *context, int part, int parts)
{
    const struct gathering *job = context;
    int64_t first, end;
    nbc_range(job->n, part, parts, &first, &end);
    for (int64_t k = first; k < end; k++) {
        const int32_t place = job->dev->place_of[job->body[k]];
        struct nb6_gathered *to = &job->gathered[k];
        *to = (struct nb6_gathered){.body = job->dev->body[place], .star = job->dev->star[place]};
        for (int64_t slice = 0; slice < NB6_DEV_POTENTIAL_SLICES && job->with_potentials; slice++)
            to->potential += potential_of_slice(job, slice, job->at[place].x);
    }
}

int nb6_emulated_gather(const struct nb6_dev *dev, nb6_time t, int64_t n, const nb6_index *body, int with_potentials,
                        struct nb6_gathered *gathered, struct nbc_error *err)
{
    struct gathering job = {
        dev, t, n, body, with_potentials, gathered, nbc_alloc_unset((size_t)dev->n, sizeof *job.at)};
    if (!job.at) return nbc_fail(err, NBC_NO_MEMORY, "no memory for potentials in the emulated engine");
    nbc_team_run(nbc_parts(dev->n, BODIES_OF_A_PART), find_places, &job);
    for (int64_t k = 0; k < n; k++) job.at[dev->place_of[body[k]]].m = 0;
    nbc_team_run(nbc_parts(n, 1), gather_part, &job);
    nbc_free(job.at);
    return NBC_OK;
}

/* ---- edits */

struct editing {
    const struct nb6_dev *dev;
    struct nb6_dev_edit edit;
};

static void edit_part(void *context, int part, int parts)
{
    const struct editing *job = context;
    int64_t first, end;
    nbc_range(job->dev->n, part, parts, &first, &end);
    for (int64_t i = first; i < end; i++) nb6_dev_edit_body(job->dev, &job->edit, (int32_t)i);
}

void nb6_emulated_edit(const struct nb6_dev *dev, const struct nb6_edit *edit, struct nb6_changed *changed,
                       struct nb6_pulled *pulled)
{
    nb6_dev_fill_changed(dev, edit, changed, pulled);
    struct editing job = {dev, {edit->t, (int32_t)edit->n, changed, edit->n_pulled, pulled}};
    nbc_team_run(nbc_parts(dev->n, BODIES_OF_A_PART), edit_part, &job);
}
