#include "nbody6/step/dev_image.h"

#include "common/nbc.h"
#include "common/team.h"
#include "gpuirr/gpuirr.h"
#include "gpunb/gpunb.h"
#include "nbody6/fewbody/encounter.h"
#include "nbody6/input/config.h"
#include "nbody6/state/bodies.h"
#include "nbody6/state/body.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/profile.h"
#include "nbody6/state/schedule.h"
#include "nbody6/state/sim.h"
#include "nbody6/step/dev_force.h"
#include "nbody6/step/radius.h"
#include "nbody6/step/rules.h"
#include "nbody6/step/step.h"

#include <math.h>
#include <string.h>

enum { ROW_GRAIN = 16, SHORTEST_ROW = 64, BODIES_OF_A_PART = 512, STARS_OF_A_PAIR = 64 };

int nb6_dev_allocate_state(struct nb6_dev *dev, int64_t n_max, int64_t row_room, int rows)
{
    const size_t count = (size_t)n_max;
    *dev = (struct nb6_dev){.n = n_max, .n_max = n_max, .row_room = row_room};
    dev->body = nbc_alloc(count, sizeof *dev->body);
    dev->star = nbc_alloc(count, sizeof *dev->star);
    dev->level = nbc_alloc(count, sizeof *dev->level);
    dev->row = nbc_alloc_unset((size_t)rows * count, (size_t)row_room * sizeof *dev->row);
    dev->row_now = nbc_alloc(count, sizeof *dev->row_now);
    dev->control = nbc_alloc(1, sizeof *dev->control);
    if (dev->body && dev->star && dev->level && dev->row && dev->row_now && dev->control) return 1;
    nb6_dev_free_state(dev);
    return 0;
}

void nb6_dev_free_state(struct nb6_dev *dev)
{
    nbc_free(dev->body);
    nbc_free(dev->star);
    nbc_free(dev->level);
    nbc_free(dev->row);
    nbc_free(dev->row_now);
    nbc_free(dev->control);
    *dev = (struct nb6_dev){0};
}

/* Rooms are larger than what is needed now, or else each change would want new memory. */
static int64_t larger(int64_t least)
{
    const int64_t wanted = least + least / 4;
    return (wanted < SHORTEST_ROW ? SHORTEST_ROW : wanted + ROW_GRAIN - 1) / ROW_GRAIN * ROW_GRAIN;
}

struct nb6_dev_room nb6_dev_room_for(const struct nb6_sim *sim, int64_t longest)
{
    const int64_t stars = sim->n + sim->n / STARS_OF_A_PAIR + SHORTEST_ROW;
    for (int64_t i = 0; i < sim->n; i++)
        if (sim->star[i].nnb > longest) longest = sim->star[i].nnb;
    return (struct nb6_dev_room){.least_stars = sim->n, .stars = stars, .least_row = longest, .row = larger(longest)};
}

int nb6_dev_has_room(const struct nb6_dev *dev, const struct nb6_dev_room *room)
{
    return dev->n_max >= room->least_stars && dev->row_room >= room->least_row;
}

struct nb6_dev_rules nb6_dev_rules_of(const struct nb6_sim *sim)
{
    const struct nb6_integration_config *config = &sim->config.integration;
    struct nb6_dev_rules rules = {.step = nb6_step_rules_of(sim),
                                  .radius = nb6_radius_rules_of(sim),
                                  .encounter = nb6_encounter_rules_of(sim),
                                  .list_limit = nb6_list_limit(sim, 0),
                                  .per_radius = config->mass_weighted_nb ? 1 / sqrt(sim->mean_mass) : 1,
                                  .mean_mass = sim->mean_mass,
                                  .weighted = config->mass_weighted_nb != 0};
    if (rules.encounter.enabled)
        rules.near = (float)(NB6_DEV_NEAR_MARGIN * NB6_CONFINED * rules.encounter.r_min / (2 * sim->mean_mass));
    return rules;
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
    nbc_share(sim->n, part, parts, &first, &end);
    for (int64_t i = first; i < end; i++) {
        size_t nnb = 0;
        const int32_t *list = gpuirr_get_list(sim->irr, (size_t)i, &nnb);
        dev->body[i] = sim->body[i];
        dev->star[i] = sim->star[i];
        dev->level[i] = (int8_t)nb6_schedule_level(sim->schedule, (int32_t)i);
        dev->row_now[i] = 0;
        if (nnb > 0) memcpy(nb6_dev_row(dev, (int32_t)i, 0), list, nnb * sizeof *list);
    }
}

void nb6_dev_fill(const struct nb6_sim *sim, struct nb6_dev *dev)
{
    struct filling job = {sim, dev};
    dev->n = sim->n;
    memset(dev->level + dev->n, -1, (size_t)(dev->n_max - dev->n)); /* nobody is there */
    nbc_team_run(nbc_parts(sim->n, BODIES_OF_A_PART), fill_part, &job);
    *dev->control = (struct nb6_dev_control){.ti_now = sim->ti_now};
}

/* ---- and back ---- */

/* Whose regular step has ended since the state was here. */
static int has_new_list(const struct nb6_dev *dev, const struct nb6_sim *sim, int64_t i)
{
    return dev->level[i] >= 0 && dev->star[i].t0_reg != sim->star[i].t0_reg;
}

static int store_lists(const struct nb6_dev *dev, struct nb6_sim *sim, struct nbc_error *err)
{
    const size_t n = (size_t)dev->n;
    size_t lists = 0;
    int32_t *body = nbc_alloc_unset(n, sizeof *body), *nnb = nbc_alloc_unset(n, sizeof *nnb);
    const int32_t **list = nbc_alloc_unset(n, sizeof *list);
    int status = body && nnb && list ? NBC_OK : nbc_fail(err, NBC_NO_MEMORY, "no memory to fetch neighbour lists");
    for (int32_t i = 0; i < dev->n && !status; i++) {
        if (!has_new_list(dev, sim, i)) continue;
        body[lists] = i;
        nnb[lists] = dev->star[i].nnb;
        list[lists++] = nb6_dev_list(dev, i);
    }
    if (!status && (status = gpuirr_set_lists(sim->irr, lists, body, nnb, list)))
        nbc_fail(err, status, "%s", gpuirr_last_error(sim->irr));
    nbc_free(body);
    nbc_free(nnb);
    nbc_free(list);
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
static int has_moved(const struct nb6_dev *dev, const struct nb6_sim *sim, int64_t i)
{
    return dev->level[i] >= 0 && (dev->body[i].t0 != sim->body[i].t0 || dev->control->torn);
}

struct storing {
    const struct nb6_dev *dev;
    struct nb6_sim *sim;
    int refused;
};

static void store_part(void *context, int part, int parts)
{
    struct storing *job = context;
    struct nb6_sim *sim = job->sim;
    int64_t first, end;
    int refused = 0;
    nbc_share(job->dev->n, part, parts, &first, &end);
    for (int64_t i = first; i < end; i++) {
        if (!has_moved(job->dev, sim, i)) continue;
        sim->body[i] = job->dev->body[i];
        sim->star[i] = job->dev->star[i];
        refused |= nb6_send_body(sim, i, NULL) != NBC_OK;
    }
    if (refused) __atomic_store_n(&job->refused, 1, __ATOMIC_RELAXED);
}

static int store_bodies(const struct nb6_dev *dev, struct nb6_sim *sim, struct nbc_error *err)
{
    struct storing job = {dev, sim, 0};
    int status = NBC_OK;
    nbc_team_run(nbc_parts(dev->n, BODIES_OF_A_PART), store_part, &job);
    for (int32_t i = 0; i < dev->n; i++) {
        if (dev->level[i] < 0) continue;
        nb6_schedule_set(sim->schedule, i, dev->level[i]);
        if (job.refused && !status) status = nb6_send_body(sim, i, err); /* to know why */
    }
    if (job.refused && !status) status = nbc_fail(err, NBC_INTERNAL, "a library refused a body, and then took it");
    return status;
}

int nb6_dev_store(const struct nb6_dev *dev, struct nb6_sim *sim, struct nbc_error *err)
{
    int status = store_lists(dev, sim, err);
    if (status) return status;
    sim->ti_now = dev->control->ti_now;
    store_counters(dev->control, sim);
    status = store_bodies(dev, sim, err);
    if (!status) status = nb6_rebase_origin(sim, sim->ti_now, err);
    dev->control->torn = status != NBC_OK;
    return status;
}

int nb6_dev_knows(const struct nb6_sim *sim)
{
    const struct nb6_integration_config *config = &sim->config.integration;
    return sim->pairs.count == 0 && !sim->external.active && !(config->dt_fixed_irr > 0) &&
           !(config->dt_fixed_reg > 0) && sim->config.run.precision != GPUNB_DOUBLE;
}

int nb6_dev_refuse(const struct nb6_dev *dev, int32_t i, int irregular, const struct nb6_corrected *corrected,
                   struct nbc_error *err)
{
    const double *acc = irregular ? corrected->acc_irr : corrected->acc_reg;
    return nbc_fail(err, NBC_NON_FINITE,
                    "star %lld (index %d): the %s corrector at t = %.12g gave a NaN or an infinity (acceleration %g %g "
                    "%g, step 2^%d ticks, %d neighbours)",
                    (long long)dev->star[i].name, i, irregular ? "irregular" : "regular",
                    nb6_time_to_double(dev->control->t), acc[0], acc[1], acc[2], dev->star[i].level_irr,
                    dev->star[i].nnb);
}
