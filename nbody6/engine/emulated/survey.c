#include "nbody6/engine/emulated/survey.h"

#include "common/team.h"
#include "gpunb/gpunb.h"
#include "nbody6/engine/stages/survey.h"
#include "nbody6/state/sim.h"

#include <string.h>

/* ---- who holds a body */

int nb6_emulated_find_holders(const struct nb6_dev *dev, const nb6_index of[2], struct nb6_held held[2],
                              struct nbc_error *err)
{
    int32_t *entry = nbc_alloc_unset((size_t)dev->n, NB6_DEV_MOST_HOLDERS * sizeof *entry), place[2];
    int64_t n = 0;
    if (!entry) return nbc_fail(err, NBC_NO_MEMORY, "no memory to search neighbour lists in the emulated engine");
    nb6_dev_places_held(dev, of, place);
    for (int32_t k = 0; k < dev->n; k++)
        for (int m = 0; m < 2; m++)
            if (nb6_dev_holds(dev, k, place[m])) entry[n++] = nb6_dev_holder(k, m);
    const int status = nb6_dev_take_holders(dev, of, n, entry, held, err);
    nbc_free(entry);
    return status;
}

/* ---- sums over all bodies as they are now */

struct summing {
    const struct nb6_dev *dev;
    struct nb6_dev_revision revision;
    const struct nb6_dev_survey *survey;
    const struct nb6_dev_apart *apart;
    const struct gpunb_regf_job *job;
    int weighted;
};

/* Slices of a question, by threads. */
typedef void sum_slice(const struct summing *job, int64_t slice, int64_t first, int64_t end);

struct slicing {
    const struct summing *job;
    sum_slice *sum;
};

static void sum_part(void *context, int part, int parts)
{
    const struct slicing *slicing = context;
    int64_t begin, last, first, end;
    nbc_range(NB6_DEV_SURVEY_SLICES, part, parts, &begin, &last);
    for (int64_t slice = begin; slice < last; slice++) {
        nb6_dev_survey_slice(slicing->job->dev, &slicing->job->revision, slice, &first, &end);
        slicing->sum(slicing->job, slice, first, end);
    }
}

static void sum_other(const struct summing *job, int64_t slice, int64_t first, int64_t end)
{
    double *sum = job->survey->sum[slice];
    memset(sum, 0, sizeof job->survey->sum[slice]);
    for (int64_t j = first; j < end; j++) {
        const struct nb6_body *body = nb6_dev_revised(job->dev, &job->revision, j);
        if (body) nb6_dev_add_to_survey(body, job->revision.t, job->apart, sum);
    }
}

/* Threads take the places in a list one by one. */
static void add_to_list(const struct summing *job, int64_t k, int64_t j)
{
    const int32_t at = __atomic_fetch_add(&job->survey->nnb[k], 1, __ATOMIC_RELAXED);
    if ((size_t)at < job->job->nb_cap) job->survey->list[(size_t)k * job->job->nb_cap + (size_t)at] = (int32_t)j;
}

static void sum_forces(const struct summing *job, int64_t slice, int64_t first, int64_t end)
{
    for (int64_t k = 0; k < (int64_t)job->job->n_i; k++) {
        const struct nb6_dev_survey_target *target = &job->survey->target[k];
        double *sum = job->survey->force[k * NB6_DEV_SURVEY_SLICES + slice].sum, x[3], v[3];
        memset(sum, 0, sizeof job->survey->force->sum);
        for (int64_t j = first; j < end; j++) {
            const struct nb6_body *body = j == target->self ? NULL : nb6_dev_revised(job->dev, &job->revision, j);
            if (!body) continue;
            nb6_dev_survey_predict(body, job->revision.t, x, v);
            if (nb6_dev_survey_force_by(target, body->mass, x, v, job->weighted, sum)) add_to_list(job, k, j);
        }
    }
}

/* All slices.   @return NBC_OK; NBC_NO_MEMORY */
static int make_sums(const struct nb6_sim *sim, const struct nb6_dev *dev, const struct nb6_dev_question *question,
                     const struct nb6_dev_apart *apart, struct nb6_dev_survey *survey, void **memory,
                     struct nbc_error *err)
{
    *memory = nbc_alloc_unset(nb6_dev_lay_out_question(NULL, dev, question, survey), 1);
    if (!*memory) return nbc_fail(err, NBC_NO_MEMORY, "no memory for a question about all bodies");
    (void)nb6_dev_lay_out_question(*memory, dev, question, survey);
    nb6_dev_fill_question(sim, dev, question, survey);
    const struct summing job = {.dev = dev,
                                .revision = nb6_dev_revision_of(question, survey),
                                .survey = survey,
                                .apart = apart,
                                .job = question->job,
                                .weighted = sim->run.config.integration.mass_weighted_nb};
    struct slicing slicing = {&job, question->job ? sum_forces : sum_other};
    memset(survey->entry_of, 0xff, survey->scratch);
    for (int64_t k = 0; k < question->n; k++) nb6_dev_note_revised(&job.revision, k);
    nbc_team_run(nbc_parts(NB6_DEV_SURVEY_SLICES, NB6_DEV_SURVEY_SLICES / 8), sum_part, &slicing);
    return NBC_OK;
}

int nb6_emulated_survey(const struct nb6_sim *sim, const struct nb6_dev *dev, struct nb6_dev_question *question,
                        const struct nb6_dev_apart *apart, double sum[NB6_DEV_SURVEY_SUMS], struct nbc_error *err)
{
    struct nb6_dev_survey survey;
    void *memory = NULL;
    int status = nb6_dev_begin_question(sim, dev, question, err);
    if (!status) status = make_sums(sim, dev, question, apart, &survey, &memory, err);
    if (!status && question->job) nb6_dev_take_forces(dev, question, &survey);
    if (!status && !question->job) nb6_dev_take_sums(&survey, sum);
    nb6_dev_end_question(question);
    nbc_free(memory);
    return status;
}
