#include "nbody6/step/dev_image.h"

#include "common/nbc.h"
#include "common/select.h"
#include "common/team.h"
#include "gpuirr/gpuirr.h"
#include "gpunb/gpunb.h"
#include "nbody6/fewbody/encounter.h"
#include "nbody6/galaxy/external.h"
#include "nbody6/galaxy/linear_field.h"
#include "nbody6/input/config.h"
#include "nbody6/state/bodies.h"
#include "nbody6/state/body.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/members.h"
#include "nbody6/state/profile.h"
#include "nbody6/state/schedule.h"
#include "nbody6/state/sim.h"
#include "nbody6/step/dev_force.h"
#include "nbody6/step/radius.h"
#include "nbody6/step/rules.h"
#include "nbody6/step/share.h"
#include "nbody6/step/step.h"

#include <math.h>
#include <string.h>

enum { ROW_GRAIN = 16, SHORTEST_ROW = 64, BODIES_OF_A_PART = 512, LISTS_OF_A_PART = 48, STARS_OF_A_PAIR = 64 };

int nb6_dev_allocate_state(struct nb6_dev *dev, const struct nb6_dev_size *size, int rows)
{
    const size_t count = (size_t)size->n;
    *dev = (struct nb6_dev){
        .n = size->n, .n_max = size->n, .row_room = size->row, .systems = size->systems, .bodies = size->bodies};
    dev->body = nbc_alloc(count, sizeof *dev->body);
    dev->star = nbc_alloc(count, sizeof *dev->star);
    dev->level = nbc_alloc(count, sizeof *dev->level);
    dev->row = nbc_alloc_unset((size_t)rows * count, (size_t)size->row * sizeof *dev->row);
    dev->lists = dev->row && rows > 1 ? dev->row + size->n * size->row : dev->row;
    dev->list_at = nbc_alloc(count, sizeof *dev->list_at);
    dev->row_now = nbc_alloc(count, sizeof *dev->row_now);
    dev->watch = nbc_alloc(count, sizeof *dev->watch);
    dev->ask = nbc_alloc(count, sizeof *dev->ask);
    dev->system = nbc_alloc((size_t)size->systems, sizeof *dev->system);
    dev->remote = nbc_alloc((size_t)size->systems, sizeof *dev->remote);
    dev->correction = nbc_alloc_unset(count, sizeof *dev->correction);
    dev->body_of = nbc_alloc(count, sizeof *dev->body_of);
    dev->place_of = nbc_alloc((size_t)size->bodies, sizeof *dev->place_of);
    dev->shown = nbc_alloc(count, sizeof *dev->shown);
    dev->far = nbc_alloc((size_t)size->systems, sizeof *dev->far);
    dev->control = nbc_alloc(1, sizeof *dev->control);
    if (dev->body && dev->star && dev->level && dev->row && dev->list_at && dev->row_now && dev->watch && dev->ask &&
        dev->system && dev->remote && dev->correction && dev->body_of && dev->place_of && dev->shown && dev->far &&
        dev->control)
        return 1;
    nb6_dev_free_state(dev);
    return 0;
}

void nb6_dev_free_state(struct nb6_dev *dev)
{
    nbc_free(dev->body);
    nbc_free(dev->star);
    nbc_free(dev->level);
    nbc_free(dev->row);
    nbc_free(dev->list_at);
    nbc_free(dev->row_now);
    nbc_free(dev->watch);
    nbc_free(dev->ask);
    nbc_free(dev->system);
    nbc_free(dev->remote);
    nbc_free(dev->correction);
    nbc_free(dev->body_of);
    nbc_free(dev->place_of);
    nbc_free(dev->shown);
    nbc_free(dev->far);
    nbc_free(dev->control);
    *dev = (struct nb6_dev){0};
}

/* Rooms are larger than what is needed now, or else each change would want new memory. */
static int64_t larger(int64_t least)
{
    const int64_t wanted = least + least / 4;
    return (wanted < SHORTEST_ROW ? SHORTEST_ROW : wanted + ROW_GRAIN - 1) / ROW_GRAIN * ROW_GRAIN;
}

struct longest_list {
    const struct nb6_star *star;
    const int32_t *body; /* whose lists */
    int64_t n, nnb;
};

static void find_longest(void *context, int part, int parts)
{
    struct longest_list *job = context;
    int64_t first, end, longest = 0;
    nbc_share(job->n, part, parts, &first, &end);
    for (int64_t k = first; k < end; k++)
        if (job->star[job->body[k]].nnb > longest) longest = job->star[job->body[k]].nnb;
    nbc_most(&job->nnb, longest);
}

static int64_t longest_of(const struct nb6_star *star, int64_t n, const int32_t *body)
{
    struct longest_list job = {star, body, n, 0};
    nbc_team_run(nbc_parts(n, BODIES_OF_A_PART), find_longest, &job);
    return job.nnb;
}

struct nb6_dev_room nb6_dev_room_for(const struct nb6_sim *sim, int64_t longest)
{
    const struct nb6_pairs *p = &sim->pairs;
    const int64_t more = sim->n / STARS_OF_A_PAIR + SHORTEST_ROW;
    const int64_t present = longest_of(sim->star, p->n_source, p->source);
    const struct nb6_dev_size least = {p->n_source, present > longest ? present : longest, p->n_slot, nb6_bodies(sim)};
    return (struct nb6_dev_room){
        .least = least, .wanted = {least.n + more, larger(least.row), least.systems + more, least.bodies + more}};
}

int nb6_dev_has_room(const struct nb6_dev *dev, const struct nb6_dev_room *room)
{
    const struct nb6_dev_size *least = &room->least;
    return dev->n_max >= least->n && dev->row_room >= least->row && dev->systems >= least->systems &&
           dev->bodies >= least->bodies;
}

struct nb6_dev_rules nb6_dev_rules_of(const struct nb6_sim *sim)
{
    const struct nb6_integration_config *config = &sim->config.integration;
    struct nb6_dev_rules rules = {.step = nb6_step_rules_of(sim),
                                  .radius = nb6_radius_rules_of(sim),
                                  .encounter = nb6_encounter_rules_of(sim),
                                  .list_limit = nb6_list_limit(sim, 0),
                                  .system_limit = nb6_list_limit(sim, sim->n),
                                  .per_radius = config->mass_weighted_nb ? 1 / sqrt(sim->mean_mass) : 1,
                                  .mean_mass = sim->mean_mass,
                                  .mass = sim->book.mass_start,
                                  .weighted = config->mass_weighted_nb != 0,
                                  .fixed_radii = config->fixed_nnb != 0};
    nb6_external_linear(&sim->external, &rules.field);
    if (rules.encounter.enabled)
        rules.near = (float)(NB6_DEV_NEAR_MARGIN * NB6_CONFINED * rules.encounter.r_min / (2 * sim->mean_mass));
    return rules;
}

/* ---- where lists are while they travel ---- */

enum { PIECES = 64 };

struct layout {
    struct nb6_dev *dev;
    int64_t begin[PIECES + 1]; /* of the lists of a piece of the bodies */
};

static void measure_pieces(void *context, int part, int parts)
{
    struct layout *job = context;
    int64_t first, last, begin, end;
    nbc_share(PIECES, part, parts, &first, &last);
    for (int64_t p = first; p < last; p++) {
        int64_t numbers = 0;
        nbc_share(job->dev->n, (int)p, PIECES, &begin, &end);
        for (int64_t place = begin; place < end; place++) numbers += job->dev->star[place].nnb;
        job->begin[p + 1] = numbers;
    }
}

static void lay_out_pieces(void *context, int part, int parts)
{
    const struct layout *job = context;
    struct nb6_dev *dev = job->dev;
    int64_t first, last, begin, end;
    nbc_share(PIECES, part, parts, &first, &last);
    for (int64_t p = first; p < last; p++) {
        int64_t at = job->begin[p];
        nbc_share(dev->n, (int)p, PIECES, &begin, &end);
        for (int64_t place = begin; place < end; at += dev->star[place++].nnb) dev->list_at[place] = at;
    }
}

int64_t nb6_dev_lay_out_lists(struct nb6_dev *dev)
{
    struct layout job = {.dev = dev};
    const int wanted = nbc_parts(dev->n, BODIES_OF_A_PART), parts = wanted < PIECES ? wanted : PIECES;
    nbc_team_run(parts, measure_pieces, &job);
    for (int p = 0; p < PIECES; p++) job.begin[p + 1] += job.begin[p];
    nbc_team_run(parts, lay_out_pieces, &job);
    return job.begin[PIECES];
}

/* ---- there ---- */

struct filling {
    const struct nb6_sim *sim;
    struct nb6_dev *dev;
};

static void fill_part(void *context, int part, int parts)
{
    const struct filling *job = context;
    const struct nb6_sim *sim = job->sim;
    struct nb6_dev *dev = job->dev;
    int64_t first, end;
    nbc_share(dev->n, part, parts, &first, &end);
    for (int64_t place = first; place < end; place++) {
        const int32_t i = dev->body_of[place];
        dev->body[place] = sim->body[i];
        dev->star[place] = sim->star[i];
        dev->level[place] = (int8_t)nb6_schedule_level(sim->schedule, i);
        dev->row_now[place] = dev->shown[place] = 0;
    }
}

static const int32_t *list_at(const struct filling *job, int64_t place)
{
    return gpuirr_get_list(job->sim->irr, (size_t)job->dev->body_of[place], NULL);
}

/* A list that is read some lists from now: they lie anywhere. */
static void prefetch_list(const struct filling *job, int64_t place)
{
    enum { LINE = 64 / sizeof(int32_t) };
    const int32_t *list = list_at(job, place);
    for (int32_t k = 0; k < job->dev->star[place].nnb; k += LINE) __builtin_prefetch(list + k);
}

static void fill_lists(void *context, int part, int parts)
{
    enum { AHEAD = 4 };
    const struct filling *job = context;
    struct nb6_dev *dev = job->dev;
    int64_t first, end;
    nbc_share(dev->n, part, parts, &first, &end);
    for (int64_t place = first; place < end; place++) {
        int32_t *to = dev->lists + dev->list_at[place];
        const int32_t *list = list_at(job, place);
        if (place + AHEAD < end) prefetch_list(job, place + AHEAD);
        for (int32_t k = 0; k < dev->star[place].nnb; k++) to[k] = dev->place_of[list[k]];
    }
}

static void set_places(const struct nb6_sim *sim, struct nb6_dev *dev)
{
    dev->n = sim->pairs.n_source;
    dev->first_centre = 0;
    for (int64_t i = 0; i < nb6_bodies(sim); i++) dev->place_of[i] = -1;
    for (int32_t place = 0; place < dev->n; place++) {
        const int32_t i = sim->pairs.source[place];
        dev->body_of[place] = i;
        dev->place_of[i] = place;
        if (!nb6_is_centre(sim, i)) dev->first_centre = place + 1;
    }
}

void nb6_dev_fill_bodies(const struct nb6_sim *sim, struct nb6_dev *dev)
{
    struct filling job = {sim, dev};
    set_places(sim, dev);
    memset(dev->level + dev->n, -1, (size_t)(dev->n_max - dev->n)); /* nobody is there */
    nbc_team_run(nbc_parts(dev->n, BODIES_OF_A_PART), fill_part, &job);
    *dev->control = (struct nb6_dev_control){.ti_now = sim->ti_now};
    nb6_share_fill(sim, dev);
}

int64_t nb6_dev_fill_lists(const struct nb6_sim *sim, struct nb6_dev *dev)
{
    struct filling job = {sim, dev};
    const int64_t numbers = nb6_dev_lay_out_lists(dev);
    nbc_team_run(nbc_parts(dev->n, BODIES_OF_A_PART), fill_lists, &job);
    return numbers;
}

/* ---- and back ---- */

/* Image and state, between which something is copied. */
struct storing {
    struct nb6_dev *dev;
    struct nb6_sim *sim;
    int32_t *place; /* [dev->n] places that were selected */
    int refused;
};

/* Whose regular step has ended since the state was here. */
static int has_new_list(const void *context, int64_t place)
{
    const struct storing *job = context;
    const struct nb6_dev *dev = job->dev;
    return dev->level[place] >= 0 && dev->star[place].t0_reg != job->sim->star[dev->body_of[place]].t0_reg;
}

/* New lists. */
struct new_lists {
    const struct nb6_dev *dev;
    int64_t n;
    const int32_t *place;
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
    const size_t n = (size_t)lists->dev->n;
    lists->body = nbc_alloc_unset(n, sizeof *lists->body);
    lists->nnb = nbc_alloc_unset(n, sizeof *lists->nnb);
    lists->list = nbc_alloc_unset(n, sizeof *lists->list);
    return lists->body && lists->nnb && lists->list;
}

static void name_part(void *context, int part, int parts)
{
    const struct new_lists *lists = context;
    int64_t first, end;
    nbc_share(lists->n, part, parts, &first, &end);
    for (int64_t k = first; k < end; k++) {
        const int32_t place = lists->place[k];
        lists->body[k] = lists->dev->body_of[place];
        lists->nnb[k] = lists->dev->star[place].nnb;
        lists->list[k] = lists->dev->lists + lists->dev->list_at[place];
    }
}

static void rename_part(void *context, int part, int parts)
{
    const struct nb6_dev *dev = context;
    int64_t first, end;
    nbc_share(dev->list_at[dev->n - 1] + dev->star[dev->n - 1].nnb, part, parts, &first, &end);
    for (int64_t k = first; k < end; k++) dev->lists[k] = dev->body_of[dev->lists[k]];
}

/* Lists of places become lists of bodies, where they are.   @return 0: no memory */
static int find_lists(const struct storing *job, struct new_lists *lists)
{
    struct nb6_dev *dev = job->dev;
    const int parts = nbc_parts(dev->n, BODIES_OF_A_PART);
    const int places_are_bodies = dev->n == job->sim->n && dev->first_centre == job->sim->n;
    if (!allocate_lists(lists)) return 0;
    lists->n = nbc_select(dev->n, BODIES_OF_A_PART, has_new_list, job, job->place);
    lists->place = job->place;
    nbc_team_run(nbc_parts(lists->n, LISTS_OF_A_PART), name_part, lists);
    if (!places_are_bodies) nbc_team_run(parts, rename_part, dev);
    return 1;
}

static int store_lists(const struct storing *job, struct nbc_error *err)
{
    struct nb6_sim *sim = job->sim;
    struct new_lists lists = {.dev = job->dev};
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
    nb6_profile_elsewhere(sim, -(int64_t)control->blocks, -(int64_t)control->steps_irr, -(int64_t)control->steps_reg);
    sim->counters.blocks += control->blocks;
    sim->counters.blocks_reg += control->blocks_reg;
    sim->counters.steps_irr += control->steps_irr;
    sim->counters.steps_reg += control->steps_reg;
    sim->counters.pairs_irr += control->pairs_irr;
    sim->counters.pairs_reg += control->pairs_reg;
    sim->counters.overflows += control->overflows;
    control->blocks = control->blocks_reg = control->steps_irr = control->steps_reg = 0;
    control->pairs_irr = control->pairs_reg = control->overflows = 0;
}

/* Whether anything of a body has changed since the state was here. */
static int has_moved(const struct nb6_dev *dev, const struct nb6_sim *sim, int64_t place)
{
    if (dev->level[place] < 0) return 0;
    return dev->body[place].t0 != sim->body[dev->body_of[place]].t0 || dev->shown[place] || dev->control->torn;
}

static void store_part(void *context, int part, int parts)
{
    struct storing *job = context;
    struct nb6_sim *sim = job->sim;
    int64_t first, end;
    int refused = 0;
    nbc_share(job->dev->n, part, parts, &first, &end);
    for (int64_t place = first; place < end; place++) {
        if (!has_moved(job->dev, sim, place)) continue;
        const int32_t i = job->dev->body_of[place];
        sim->body[i] = job->dev->body[place];
        sim->star[i] = job->dev->star[place];
        refused |= nb6_send_body(sim, i, NULL) != NBC_OK;
    }
    if (refused) __atomic_store_n(&job->refused, 1, __ATOMIC_RELAXED);
}

static int has_new_level(const void *context, int64_t place)
{
    const struct storing *job = context;
    const int level = job->dev->level[place];
    return level >= 0 && nb6_schedule_level(job->sim->schedule, job->dev->body_of[place]) != level;
}

static void store_levels(const struct storing *job)
{
    const struct nb6_dev *dev = job->dev;
    const int64_t n = nbc_select(dev->n, BODIES_OF_A_PART, has_new_level, job, job->place);
    for (int64_t k = 0; k < n; k++)
        nb6_schedule_set(job->sim->schedule, dev->body_of[job->place[k]], dev->level[job->place[k]]);
}

/* Why a body was refused. */
static int tell_refused(const struct storing *job, struct nbc_error *err)
{
    const struct nb6_dev *dev = job->dev;
    int status = NBC_OK;
    for (int64_t place = 0; place < dev->n && !status; place++)
        if (dev->level[place] >= 0) status = nb6_send_body(job->sim, dev->body_of[place], err);
    return status ? status : nbc_fail(err, NBC_INTERNAL, "a library refused a body, and then took it");
}

static int store_bodies(struct storing *job, struct nbc_error *err)
{
    nbc_team_run(nbc_parts(job->dev->n, BODIES_OF_A_PART), store_part, job);
    store_levels(job);
    return job->refused ? tell_refused(job, err) : NBC_OK;
}

/* Lists first, which may find no memory: nothing has changed then. */
static int store(struct storing *job, struct nbc_error *err)
{
    const struct nb6_dev *dev = job->dev;
    struct nb6_sim *sim = job->sim;
    int status = store_lists(job, err);
    if (status) return status;
    sim->ti_now = dev->control->ti_now;
    store_counters(dev->control, sim);
    status = store_bodies(job, err);
    nb6_share_store(dev, sim);
    if (!status) status = nb6_rebase_origin(sim, sim->ti_now, err);
    dev->control->torn = status != NBC_OK;
    return status;
}

int nb6_dev_store(struct nb6_dev *dev, struct nb6_sim *sim, struct nbc_error *err)
{
    struct storing job = {.dev = dev, .sim = sim, .place = nbc_alloc_unset((size_t)dev->n, sizeof *job.place)};
    const int status = job.place ? store(&job, err)
                                 : nbc_fail(err, NBC_NO_MEMORY, "no memory to fetch %lld bodies", (long long)dev->n);
    nbc_free(job.place);
    return status;
}

int nb6_dev_knows(const struct nb6_sim *sim)
{
    const struct nb6_integration_config *config = &sim->config.integration;
    struct nb6_linear_field field;
    return nb6_external_linear(&sim->external, &field) && !(config->dt_fixed_irr > 0) && !(config->dt_fixed_reg > 0) &&
           sim->config.run.precision != GPUNB_DOUBLE;
}

int nb6_dev_refuse(const struct nb6_dev *dev, int32_t i, int irregular, const struct nb6_corrected *corrected,
                   struct nbc_error *err)
{
    const double *acc = irregular ? corrected->acc_irr : corrected->acc_reg;
    return nbc_fail(err, NBC_NON_FINITE,
                    "star %lld (index %d): the %s corrector at t = %.12g gave a NaN or an infinity (acceleration %g %g "
                    "%g, step 2^%d ticks, %d neighbours)",
                    (long long)dev->star[i].name, dev->body_of[i], irregular ? "irregular" : "regular",
                    nb6_time_to_double(dev->control->t), acc[0], acc[1], acc[2], dev->star[i].level_irr,
                    dev->star[i].nnb);
}
