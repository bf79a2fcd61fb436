#include "nbody6/step/dev_image.h"

#include "common/nbc.h"
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
#include "nbody6/step/radius.h"
#include "nbody6/step/rules.h"
#include "nbody6/step/step.h"

#include <string.h>

enum { ROW_GRAIN = 16, SHORTEST_ROW = 64 };

int nb6_dev_allocate(struct nb6_dev *dev, int64_t n, int64_t row_room)
{
    const size_t count = (size_t)n, chunks = (count + NB6_DEV_LANES - 1) / NB6_DEV_LANES;
    *dev = (struct nb6_dev){.n = n, .row_room = row_room, .parts = NB6_DEV_PARTS};
    dev->body = nbc_alloc(count, sizeof *dev->body);
    dev->star = nbc_alloc(count, sizeof *dev->star);
    dev->level = nbc_alloc(count, sizeof *dev->level);
    dev->row = nbc_alloc_unset(2 * count, (size_t)row_room * sizeof *dev->row);
    dev->row_now = nbc_alloc(count, sizeof *dev->row_now);
    dev->count = nbc_alloc(NB6_DEV_PARTS, sizeof *dev->count);
    dev->irr = nbc_alloc(count, sizeof *dev->irr);
    dev->reg = nbc_alloc(count, sizeof *dev->reg);
    dev->is_reg = nbc_alloc(count, sizeof *dev->is_reg);
    dev->flag = nbc_alloc(count, sizeof *dev->flag);
    dev->corrected = nbc_alloc(count, sizeof *dev->corrected);
    dev->old_sum = nbc_alloc(count, sizeof *dev->old_sum);
    dev->source = nbc_alloc(chunks * NB6_DEV_LANES, sizeof *dev->source);
    dev->target = nbc_alloc(NB6_DEV_TARGETS, sizeof *dev->target);
    dev->partial = nbc_alloc(NB6_DEV_TARGETS * NB6_DEV_SLICES, sizeof *dev->partial);
    dev->hit = nbc_alloc(NB6_DEV_TARGETS * chunks, sizeof *dev->hit);
    dev->control = nbc_alloc(1, sizeof *dev->control);
    if (dev->body && dev->star && dev->level && dev->row && dev->row_now && dev->count && dev->irr && dev->reg &&
        dev->is_reg && dev->flag && dev->corrected && dev->old_sum && dev->source && dev->target && dev->partial &&
        dev->hit && dev->control)
        return 1;
    nb6_dev_free(dev);
    return 0;
}

void nb6_dev_free(struct nb6_dev *dev)
{
    void *const all[] = {dev->body,   dev->star,   dev->level,   dev->row,  dev->row_now,   dev->count,
                         dev->irr,    dev->reg,    dev->is_reg,  dev->flag, dev->corrected, dev->old_sum,
                         dev->source, dev->target, dev->partial, dev->hit,  dev->control};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) nbc_free(all[k]);
    *dev = (struct nb6_dev){0};
}

int64_t nb6_dev_row_room(const struct nb6_sim *sim, int64_t longest)
{
    for (int64_t i = 0; i < sim->n; i++)
        if (sim->star[i].nnb > longest) longest = sim->star[i].nnb;
    longest += longest / 4;
    if (longest < SHORTEST_ROW) longest = SHORTEST_ROW;
    return (longest + ROW_GRAIN - 1) / ROW_GRAIN * ROW_GRAIN;
}

struct nb6_dev_rules nb6_dev_rules_of(const struct nb6_sim *sim)
{
    const struct nb6_integration_config *config = &sim->config.integration;
    return (struct nb6_dev_rules){.step = nb6_step_rules_of(sim),
                                  .radius = nb6_radius_rules_of(sim),
                                  .encounter = nb6_encounter_rules_of(sim),
                                  .list_limit = nb6_list_limit(sim, 0),
                                  .neighbour_unit = config->mass_weighted_nb ? sim->mean_mass : 1,
                                  .mean_mass = sim->mean_mass,
                                  .weighted = config->mass_weighted_nb != 0};
}

void nb6_dev_fill(const struct nb6_sim *sim, struct nb6_dev *dev)
{
    for (int64_t i = 0; i < sim->n; i++) {
        size_t nnb = 0;
        const int32_t *list = gpuirr_get_list(sim->irr, (size_t)i, &nnb);
        dev->body[i] = sim->body[i];
        dev->star[i] = sim->star[i];
        dev->level[i] = (int8_t)nb6_schedule_level(sim->schedule, (int32_t)i);
        dev->row_now[i] = 0;
        if (nnb > 0) memcpy(nb6_dev_row(dev, (int32_t)i, 0), list, nnb * sizeof *list);
    }
    *dev->control = (struct nb6_dev_control){.ti_now = sim->ti_now};
}

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

static int store_bodies(const struct nb6_dev *dev, struct nb6_sim *sim, struct nbc_error *err)
{
    int status = NBC_OK;
    for (int32_t i = 0; i < dev->n; i++) {
        if (!has_moved(dev, sim, i)) continue;
        sim->body[i] = dev->body[i];
        sim->star[i] = dev->star[i];
        nb6_schedule_set(sim->schedule, i, dev->level[i]);
        if (!status) status = nb6_send_body(sim, i, err);
    }
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

int nb6_dev_refuse(const struct nb6_dev *dev, int64_t slot, struct nbc_error *err)
{
    const struct nb6_corrected *c = &dev->corrected[slot];
    const int irregular = dev->flag[slot] & NB6_DEV_UNSOUND_IRR;
    const double *acc = irregular ? c->acc_irr : c->acc_reg;
    const int32_t i = dev->irr[slot];
    return nbc_fail(err, NBC_NON_FINITE,
                    "star %lld (index %d): the %s corrector at t = %.12g gave a NaN or an infinity (acceleration %g %g "
                    "%g, step 2^%d ticks, %d neighbours)",
                    (long long)dev->star[i].name, i, irregular ? "irregular" : "regular",
                    nb6_time_to_double(dev->control->t), acc[0], acc[1], acc[2], dev->star[i].level_irr,
                    dev->star[i].nnb);
}
