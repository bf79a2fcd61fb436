/* Host side of questions about all bodies (cuda/survey.h). */
#include "nbody6/engine/cuda/survey.h"

#include "gpunb/gpunb.h"
#include "nbody6/engine/stages/survey.h"
#include "nbody6/engine/survey.h"
#include "nbody6/state/sim.h"

static cudaStream_t stream_of(const struct nb6_device *d)
{
    return (cudaStream_t)d->stream;
}

static int copy(struct nb6_device *d, void *to, const void *from, size_t bytes, struct nbc_error *err)
{
    NBD_TRY(nbd_copy(&d->device, d->stream, to, from, bytes, err));
    return nbd_stream_wait(&d->device, d->stream, err);
}

/* Entries that come with their number: nearly always all. */
enum { FIRST_ENTRIES = 1023 };

static size_t bytes_for(int64_t entries)
{
    return offsetof(struct nb6_device_holders, entry) + (size_t)entries * sizeof(int32_t);
}

/* The entries on both sides. */
static int provide(struct nb6_device *d, int64_t here, struct nb6_device_holders **found, struct nbc_error *err)
{
    const int64_t most = NB6_DEV_MOST_HOLDERS * d->home.n_max, there = most > FIRST_ENTRIES ? most : FIRST_ENTRIES;
    NBD_TRY(nb6_device_reserve_both(d, &d->survey_there, bytes_for(there), &d->survey_here, bytes_for(here), err));
    *found = d->survey_here.data;
    return NBC_OK;
}

int nb6_device_find_holders(struct nb6_device *d, const nb6_index of[2], struct nb6_held held[2], struct nbc_error *err)
{
    struct nb6_device_holders *found;
    int32_t place[2];
    NBD_TRY(provide(d, FIRST_ENTRIES, &found, err));
    struct nb6_device_holders *there = d->survey_there.data;
    nb6_dev_places_held(&d->home, of, place);
    NBD_TRY(nbd_fill(&d->device, d->stream, &there->n, 0, sizeof there->n, err));
    NBD_LAUNCH(err, &d->device, nb6_device_search_lists(&d->there, place, there, stream_of(d)));
    NBD_TRY(copy(d, found, there, bytes_for(FIRST_ENTRIES), err));
    const int32_t n = found->n;
    if (n > FIRST_ENTRIES) {
        NBD_TRY(provide(d, n, &found, err));
        NBD_TRY(copy(d, found, there, bytes_for(n), err));
    }
    return nb6_dev_take_holders(&d->home, of, n, found->entry, held, err);
}

/* ---- sums over all bodies as they are now */

/* The arrays of a question on both sides. */
static int provide_sums(struct nb6_device *d, const struct nb6_dev_question *question, struct nb6_dev_survey *here,
                        struct nb6_dev_survey *there, struct nbc_error *err)
{
    const size_t bytes = nb6_dev_lay_out_question(NULL, &d->home, question, there);
    NBD_TRY(nb6_device_reserve_both(d, &d->survey_there, bytes, &d->survey_here, there->answer_end, err));
    (void)nb6_dev_lay_out_question(d->survey_there.data, &d->home, question, there);
    (void)nb6_dev_lay_out_question(d->survey_here.data, &d->home, question, here);
    return NBC_OK;
}

static int answer(const struct nb6_sim *sim, struct nb6_device *d, const struct nb6_dev_question *question,
                  const struct nb6_dev_apart *apart, double sum[NB6_DEV_SURVEY_SUMS], struct nbc_error *err)
{
    struct nb6_dev_survey here, there;
    NBD_TRY(provide_sums(d, question, &here, &there, err));
    char *const from = d->survey_there.data, *const to = d->survey_here.data;
    const struct nb6_dev_revision revision = nb6_dev_revision_of(question, &there);
    nb6_dev_fill_question(sim, &d->home, question, &here);
    NBD_TRY(nbd_fill(&d->device, d->stream, there.entry_of, 0xff, there.scratch, err));
    if (there.asked > 0) NBD_TRY(nbd_copy(&d->device, d->stream, from, to, there.asked, err));
    NBD_LAUNCH(err, &d->device, nb6_device_note_revised(&revision, stream_of(d)));
    if (question->job) {
        const struct nb6_device_survey_job job = {.n = (int64_t)question->job->n_i,
                                                  .row = (int64_t)question->job->nb_cap,
                                                  .target = there.target,
                                                  .nnb = there.nnb,
                                                  .list = there.list,
                                                  .force = there.force,
                                                  .weighted = sim->run.config.integration.mass_weighted_nb};
        NBD_LAUNCH(err, &d->device, nb6_device_survey_forces(&d->there, &revision, &job, stream_of(d)));
    } else {
        NBD_LAUNCH(err, &d->device, nb6_device_survey_sums(&d->there, &revision, apart, there.sum, stream_of(d)));
    }
    NBD_TRY(copy(d, to + there.answer, from + there.answer, there.answer_end - there.answer, err));
    if (question->job)
        nb6_dev_take_forces(&d->home, question, &here);
    else
        nb6_dev_take_sums(&here, sum);
    return NBC_OK;
}

int nb6_device_survey(const struct nb6_sim *sim, struct nb6_device *d, struct nb6_dev_question *question,
                      const struct nb6_dev_apart *apart, double sum[NB6_DEV_SURVEY_SUMS], struct nbc_error *err)
{
    NBD_TRY(nb6_dev_begin_question(sim, &d->home, question, err));
    const int status = answer(sim, d, question, apart, sum, err);
    nb6_dev_end_question(question);
    return status;
}
