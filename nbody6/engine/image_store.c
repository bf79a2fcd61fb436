/* From the image of a device engine to the state. */
#include "common/nbc.h"
#include "common/select.h"
#include "common/team.h"
#include "gpuirr/gpuirr.h"
#include "nbody6/engine/host_service.h"
#include "nbody6/engine/image.h"
#include "nbody6/engine/stages/parcel.h"
#include "nbody6/engine/stages/work.h"
#include "nbody6/state/bodies.h"
#include "nbody6/state/body.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/profile.h"
#include "nbody6/state/schedule.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/stuck.h"
#include "nbody6/step/step.h"

#include <string.h>

/* A thread stores so much in some microseconds: bodies and lists are scattered in memory. */
enum { LISTS_OF_A_PART = 48, BODIES_OF_A_PART = 32, NUMBERS_OF_A_PART = 2048 };

/* Bodies and lists that are copied to the state. */
struct storing {
    struct nb6_dev *dev;
    const struct nb6_dev_parcel *parcel;
    struct nb6_sim *sim;
    int32_t *selected; /* [parcel->n] bodies of the parcel */
    int refused;
};

static int32_t place_of(const struct nb6_dev_parcel *parcel, int64_t k)
{
    return parcel->place ? parcel->place[k] : (int32_t)k;
}

static int32_t body_of(const struct storing *job, int64_t k)
{
    return job->dev->body_of[place_of(job->parcel, k)];
}

/* Whether a regular step of a body has ended since the import. In an edit at that very time it may have begun anew. */
static int has_new_list(const void *context, int64_t k)
{
    const struct storing *job = context;
    const struct nb6_dev *dev = job->dev;
    const nb6_time since = job->parcel->star[k].t0_reg;
    if (job->parcel->list_at[k] < 0) return 0;
    return job->parcel->level[k] >= 0 &&
           (since != job->sim->star[body_of(job, k)].t0_reg || (dev->control->stores_all && since == dev->t_home));
}

/* New lists. */
struct new_lists {
    const struct storing *job;
    int64_t n;
    int32_t *body, *nnb;
    const int32_t **list;
};

static void free_lists(struct new_lists *lists)
{
    nbc_free(lists->body);
    nbc_free(lists->nnb);
    nbc_free(lists->list);
}

static int allocate_lists(struct new_lists *lists)
{
    const size_t n = (size_t)lists->job->parcel->n;
    lists->body = nbc_alloc_unset(n, sizeof *lists->body);
    lists->nnb = nbc_alloc_unset(n, sizeof *lists->nnb);
    lists->list = nbc_alloc_unset(n, sizeof *lists->list);
    return lists->body && lists->nnb && lists->list;
}

static void name_part(void *context, int part, int parts)
{
    const struct new_lists *lists = context;
    const struct nb6_dev_parcel *parcel = lists->job->parcel;
    int64_t first, end;
    nbc_range(lists->n, part, parts, &first, &end);
    for (int64_t m = first; m < end; m++) {
        const int32_t k = lists->job->selected[m];
        lists->body[m] = body_of(lists->job, k);
        lists->nnb[m] = parcel->star[k].nnb;
        lists->list[m] = parcel->lists + parcel->list_at[k];
    }
}

static void rename_part(void *context, int part, int parts)
{
    const struct storing *job = context;
    int64_t first, end;
    nbc_range(job->parcel->numbers, part, parts, &first, &end);
    for (int64_t m = first; m < end; m++) job->parcel->lists[m] = job->dev->body_of[job->parcel->lists[m]];
}

/* Convert lists of places to lists of bodies, in place.   @return 0: no memory */
static int find_lists(struct storing *job, struct new_lists *lists)
{
    const struct nb6_dev *dev = job->dev;
    const int64_t n = job->parcel->n;
    const int places_are_bodies = dev->n == job->sim->n && dev->first_centre == job->sim->n;
    if (!allocate_lists(lists)) return 0;
    lists->n = nbc_select(n, 8 * BODIES_OF_A_PART, has_new_list, job, job->selected);
    nbc_team_run(nbc_parts(lists->n, LISTS_OF_A_PART), name_part, lists);
    if (!places_are_bodies) nbc_team_run(nbc_parts(job->parcel->numbers, NUMBERS_OF_A_PART), rename_part, job);
    return 1;
}

static int store_lists(struct storing *job, struct nbc_error *err)
{
    struct nb6_sim *sim = job->sim;
    struct new_lists lists = {.job = job};
    int status = find_lists(job, &lists) ? NBC_OK : nbc_fail(err, NBC_NO_MEMORY, "no memory to fetch neighbour lists");
    if (!status) {
        status = gpuirr_set_lists(sim->irr, (size_t)lists.n, lists.body, lists.nnb, lists.list);
        if (status) nbc_fail(err, status, "%s", gpuirr_last_error(sim->irr));
    }
    free_lists(&lists);
    return status;
}

static void store_counters(struct nb6_dev_control *control, struct nb6_sim *sim)
{
    nb6_profile_image(sim, -(int64_t)control->blocks, -(int64_t)control->steps_irr, -(int64_t)control->steps_reg);
    sim->run.counters.blocks += control->blocks;
    sim->run.counters.blocks_reg += control->blocks_reg;
    sim->run.counters.steps_irr += control->steps_irr;
    sim->run.counters.steps_reg += control->steps_reg;
    sim->run.counters.pairs_irr += control->pairs_irr;
    sim->run.counters.pairs_reg += control->pairs_reg;
    sim->run.counters.overflows += control->overflows;
    sim->run.counters.calls_by_tree += control->calls_by_tree;
    control->blocks = control->blocks_reg = control->steps_irr = control->steps_reg = 0;
    control->pairs_irr = control->pairs_reg = control->overflows = control->calls_by_tree = 0;
}

static int store_work(struct nb6_dev_control *control, struct nb6_sim *sim, struct nbc_error *err)
{
    const double unit = control->unit_of_work, work = unit * nb6_dev_units_to_double(control->work);
    const double magnitude = unit * nb6_dev_units_to_double(control->work_magnitude);
    memset(control->work, 0, sizeof control->work);
    memset(control->work_magnitude, 0, sizeof control->work_magnitude);
    return magnitude > 0 ? nb6_ledger_book_work(&sim->run.book.ledger, work, magnitude, err) : NBC_OK;
}

/* Convert places to names. */
static void store_stuck(const struct nb6_dev *dev, struct nb6_sim *sim)
{
    const struct nb6_stuck *from = &dev->control->stuck;
    struct nb6_stuck *to = &sim->book.stuck;
    to->blocks = from->blocks;
    for (int k = 0; k < 2; k++) {
        const int64_t who = from->who[k];
        to->who[k] = who > 0 ? sim->star[dev->body_of[who - 1]].name : -who;
    }
    nb6_stuck_order(to);
}

/* Whether a body may have changed since the import. */
static int has_moved(const struct storing *job, int64_t k)
{
    const struct nb6_dev_parcel *parcel = job->parcel;
    if (parcel->level[k] < 0) return 0;
    return parcel->body[k].t0 != job->sim->body[body_of(job, k)].t0 || job->dev->shown[place_of(parcel, k)] ||
           job->dev->control->stores_all;
}

static void store_part(void *context, int part, int parts)
{
    struct storing *job = context;
    struct nb6_sim *sim = job->sim;
    int64_t first, end;
    int refused = 0;
    nbc_range(job->parcel->n, part, parts, &first, &end);
    for (int64_t k = first; k < end; k++) {
        if (!has_moved(job, k)) continue;
        const int32_t i = body_of(job, k);
        sim->body[i] = job->parcel->body[k];
        sim->star[i] = job->parcel->star[k];
        refused |= nb6_send_body(sim, i, NULL) != NBC_OK;
    }
    if (refused) __atomic_store_n(&job->refused, 1, __ATOMIC_RELAXED);
}

static int has_new_level(const void *context, int64_t k)
{
    const struct storing *job = context;
    const int level = job->parcel->level[k];
    return level >= 0 && nb6_schedule_level(job->sim->schedule, body_of(job, k)) != level;
}

static void store_levels(const struct storing *job)
{
    const struct nb6_dev_parcel *parcel = job->parcel;
    const int64_t n = nbc_select(parcel->n, 8 * BODIES_OF_A_PART, has_new_level, job, job->selected);
    for (int64_t m = 0; m < n; m++)
        nb6_schedule_set(job->sim->schedule, body_of(job, job->selected[m]), parcel->level[job->selected[m]]);
}

/* Why the library refused a body. */
static int report_refused(const struct storing *job, struct nbc_error *err)
{
    int status = NBC_OK;
    for (int64_t k = 0; k < job->parcel->n && !status; k++)
        if (job->parcel->level[k] >= 0) status = nb6_send_body(job->sim, body_of(job, k), err);
    return status ? status : nbc_fail(err, NBC_INTERNAL, "a library refused a body, and then took it");
}

static int store_bodies(struct storing *job, struct nbc_error *err)
{
    nbc_team_run(nbc_parts(job->parcel->n, BODIES_OF_A_PART), store_part, job);
    store_levels(job);
    return job->refused ? report_refused(job, err) : NBC_OK;
}

/* Lists first, since they may find no memory: then nothing has changed. */
static int store(struct storing *job, struct nbc_error *err)
{
    struct nb6_dev *dev = job->dev;
    struct nb6_sim *sim = job->sim;
    int status = store_lists(job, err);
    if (status) return status;
    sim->ti_now = dev->control->ti_now;
    store_counters(dev->control, sim);
    store_stuck(dev, sim);
    const int booked = store_work(dev->control, sim, err);
    status = store_bodies(job, booked ? NULL : err);
    nb6_host_service_store(dev, job->parcel, sim);
    if (booked) status = booked;
    if (!status) status = nb6_rebase_origin(sim, sim->ti_now, err);
    dev->control->stores_all = status != NBC_OK;
    if (!status) dev->t_home = dev->control->ti_now;
    return status;
}

int nb6_dev_store_parcel(struct nb6_dev *dev, const struct nb6_dev_parcel *parcel, struct nb6_sim *sim,
                         struct nbc_error *err)
{
    struct storing job = {.dev = dev, .parcel = parcel, .sim = sim};
    job.selected = nbc_alloc_unset((size_t)parcel->n, sizeof *job.selected);
    const int status = job.selected
                           ? store(&job, err)
                           : nbc_fail(err, NBC_NO_MEMORY, "no memory to fetch %lld bodies", (long long)parcel->n);
    nbc_free(job.selected);
    return status;
}

int nb6_dev_store(struct nb6_dev *dev, struct nb6_sim *sim, struct nbc_error *err)
{
    const struct nb6_dev_parcel all = {.n = dev->n,
                                       .numbers = dev->list_at[dev->n - 1] + dev->star[dev->n - 1].nnb,
                                       .list_at = dev->list_at,
                                       .level = dev->level,
                                       .body = dev->body,
                                       .star = dev->star,
                                       .lists = dev->lists};
    return nb6_dev_store_parcel(dev, &all, sim, err);
}
