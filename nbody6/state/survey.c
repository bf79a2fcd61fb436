#include "nbody6/state/survey.h"

#include "common/select.h"
#include "gpuirr/gpuirr.h"
#include "nbody6/state/ascending.h"
#include "nbody6/state/members.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/touched.h"
#include "nbody6/state/view.h"

void nb6_survey_begin(struct nb6_sim *sim, const struct nb6_survey *by)
{
    sim->engine_image.survey.by = by;
    sim->engine_image.survey.n_held = 0;
}

void nb6_survey_end(struct nb6_sim *sim)
{
    nb6_survey_begin(sim, NULL);
}

void nb6_survey_free(struct nb6_survey_now *survey)
{
    for (int64_t k = 0; k < survey->room; k++) nbc_free(survey->held[k].body);
    nbc_free(survey->held);
    nbc_free(survey->now.body);
    *survey = (struct nb6_survey_now){0};
}

int nb6_survey_knows(const struct nb6_sim *sim, struct nbc_error *err)
{
    if (nb6_touched_are_known(&sim->engine_image.touched, sim->edits)) return NBC_OK;
    return nbc_fail(err, NBC_NO_MEMORY, "no memory to know which bodies a change of systems has touched");
}

static const struct nb6_held *find_told(const struct nb6_survey_now *survey, nb6_index i)
{
    for (int64_t k = survey->n_held - 1; k >= 0; k--)
        if (survey->held[k].of == i) return &survey->held[k];
    return NULL;
}

/* Answers about the image stay true while it is as it was. */
static int ask(struct nb6_sim *sim, const nb6_index of[2], struct nbc_error *err)
{
    struct nb6_survey_now *survey = &sim->engine_image.survey;
    const int told[2] = {find_told(survey, of[0]) != NULL, find_told(survey, of[1]) != NULL};
    const nb6_index wanted[2] = {of[told[0]], of[!told[1]]};
    int status = nb6_survey_knows(sim, err);
    if (status || (told[0] && told[1])) return status;
    if (!nbc_grow(&survey->held, &survey->room, survey->n_held + 2, sizeof *survey->held))
        return nbc_fail(err, NBC_NO_MEMORY, "no memory for what an engine tells about neighbour lists");
    status = survey->by->find_holders(sim, wanted, survey->held + survey->n_held, err);
    if (!status) survey->n_held += wanted[0] == wanted[1] ? 1 : 2;
    return status;
}

static int is_touched(const struct nb6_touched *touched, nb6_index i)
{
    return i < touched->marks && touched->mark[i];
}

/* Touched bodies with j in the list that they have now. */
struct search {
    const struct nb6_sim *sim;
    nb6_index j;
};

static int holds_now(const void *context, int64_t k)
{
    const struct search *search = context;
    const nb6_index i = search->sim->engine_image.touched.body[k];
    size_t nnb = 0;
    const nb6_index *list = i < nb6_bodies(search->sim) ? nb6_get_list(search->sim, i, &nnb) : NULL;
    return list && nb6_list_find(list, nnb, search->j) >= 0;
}

/* @param[out] body [touched->n] ascending   @return their number */
static int64_t touched_holders(const struct nb6_sim *sim, nb6_index j, nb6_index *body)
{
    enum { LISTS_OF_A_PART = 128 };
    const struct nb6_touched *touched = &sim->engine_image.touched;
    const struct search search = {sim, j};
    const int64_t n = nbc_select(touched->n, LISTS_OF_A_PART, holds_now, &search, body);
    for (int64_t k = 0; k < n; k++) body[k] = touched->body[body[k]];
    nb6_list_sort(body, n);
    return n;
}

/* Of the image those that are as they were, and touched ones, which are in front of the room for the result. */
static int64_t merge(const struct nb6_touched *touched, const struct nb6_held *held, int64_t n_touched,
                     const nb6_index *of_touched, nb6_index *body)
{
    int64_t n = 0, m = 0;
    for (int64_t k = 0; k < held->n; k++) {
        if (is_touched(touched, held->body[k])) continue;
        while (m < n_touched && of_touched[m] < held->body[k]) body[n++] = of_touched[m++];
        body[n++] = held->body[k];
    }
    while (m < n_touched) body[n++] = of_touched[m++];
    return n;
}

static int from_image(struct nb6_sim *sim, const nb6_index of[2], int which, struct nbc_error *err)
{
    struct nb6_survey_now *survey = &sim->engine_image.survey;
    const struct nb6_touched *touched = &sim->engine_image.touched;
    struct nb6_held *now = &survey->now;
    int status = ask(sim, of, err);
    if (status) return status;
    const struct nb6_held *held = find_told(survey, of[which]);
    if (!nbc_grow(&now->body, &now->room, 2 * touched->n + held->n, sizeof *now->body))
        return nbc_fail(err, NBC_NO_MEMORY, "no memory for the bodies that have body %d in their lists", of[which]);
    const int64_t n_touched = touched_holders(sim, of[which], now->body);
    now->n = merge(touched, held, n_touched, now->body, now->body + touched->n);
    return NBC_OK;
}

int nb6_survey_holders(struct nb6_sim *sim, const nb6_index of[2], int which, int64_t *n, const nb6_index **body,
                       struct nbc_error *err)
{
    struct nb6_survey_now *survey = &sim->engine_image.survey;
    size_t found = 0;
    if (!survey->by) {
        const int status = gpuirr_get_holders(sim->irr, (size_t)of[which], &found, body);
        *n = (int64_t)found;
        return status ? nbc_fail(err, status, "%s", gpuirr_last_error(sim->irr)) : NBC_OK;
    }
    const int status = from_image(sim, of, which, err);
    *n = survey->now.n;
    *body = survey->now.body + sim->engine_image.touched.n;
    return status;
}
