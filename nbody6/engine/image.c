#include "nbody6/engine/image.h"

#include "common/nbc.h"
#include "common/team.h"
#include "gpunb/gpunb.h"
#include "gpunb/regf_device.h"
#include "nbody6/engine/stages/force.h"
#include "nbody6/engine/stages/room.h"
#include "nbody6/fewbody/contacts.h"
#include "nbody6/fewbody/encounter.h"
#include "nbody6/galaxy/external.h"
#include "nbody6/input/config.h"
#include "nbody6/state/bodies.h"
#include "nbody6/state/body.h"
#include "nbody6/state/members.h"
#include "nbody6/state/sim.h"
#include "nbody6/step/radius.h"
#include "nbody6/step/rules.h"

#include <math.h>

enum { ROW_GRAIN = 16, SHORTEST_ROW = 64, STARS_OF_A_PAIR = 64 };

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

/* Capacities exceed present needs, or else each change would need new memory. */
static int64_t larger(int64_t least)
{
    const int64_t wanted = least + least / 4;
    return (wanted < SHORTEST_ROW ? SHORTEST_ROW : wanted + ROW_GRAIN - 1) / ROW_GRAIN * ROW_GRAIN;
}

struct longest_list {
    const struct nb6_star *star;
    const int32_t *body; /* bodies with lists */
    int64_t n, nnb;
};

static void find_longest(void *context, int part, int parts)
{
    struct longest_list *job = context;
    int64_t first, end, longest = 0;
    nbc_range(job->n, part, parts, &first, &end);
    for (int64_t k = first; k < end; k++)
        if (job->star[job->body[k]].nnb > longest) longest = job->star[job->body[k]].nnb;
    nbc_atomic_max(&job->nnb, longest);
}

static int64_t longest_of(const struct nb6_star *star, int64_t n, const int32_t *body)
{
    struct longest_list job = {star, body, n, 0};
    nbc_team_run(nbc_parts(n, NB6_DEV_BODIES_OF_A_PART), find_longest, &job);
    return job.nnb;
}

struct nb6_dev_room nb6_dev_room_for(const struct nb6_sim *sim, int64_t longest)
{
    const struct nb6_subsystems *p = &sim->subsystems;
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
    const struct nb6_integration_config *config = &sim->run.config.integration;
    struct nb6_dev_rules rules = {.step = nb6_step_rules_of(sim),
                                  .radius = nb6_radius_rules_of(sim),
                                  .encounter = nb6_encounter_rules_of(sim),
                                  .list_limit = nb6_list_limit(sim, 0),
                                  .system_limit = nb6_list_limit(sim, sim->n),
                                  .unit = config->mass_weighted_nb ? sim->mean_mass : 1,
                                  .per_radius = config->mass_weighted_nb ? 1 / sqrt(sim->mean_mass) : 1,
                                  .mean_mass = sim->mean_mass,
                                  .mass = sim->run.book.mass_start,
                                  .weighted = config->mass_weighted_nb != 0,
                                  .fixed_radii = config->fixed_nnb != 0};
    rules.field = sim->run.external;
    rules.gamma_min = sim->run.config.pair.gamma_min;
    if (!rules.encounter.enabled) return rules;
    rules.encounter.touch = nb6_contact_range(sim);
    rules.near = (float)(NB6_DEV_NEAR_MARGIN * fmax(NB6_CONFINED * rules.encounter.r_min, rules.encounter.touch) /
                         (2 * sim->mean_mass));
    return rules;
}

int64_t nb6_dev_leaving(const gpunb_t *reg, int64_t n, int64_t multiprocessors)
{
    const int64_t direct = nb6_device_leaving(gpunb_regf_device_count(reg), multiprocessors),
                  by_tree = nb6_least_by_tree(reg, n) * n;
    return by_tree > 0 && by_tree < direct ? by_tree : direct;
}

const char *nb6_dev_unsupported(const struct nb6_config *config)
{
    if (!nb6_external_is_for_devices((int)config->tide.kind)) return "the device engine has no such galaxy";
    if (config->integration.dt_fixed_irr > 0 || config->integration.dt_fixed_reg > 0)
        return "the device engine has no constant steps";
    if (config->stellar.collide) return "the device engine has no collisions of stars that age";
    return config->run.precision == GPUNB_DOUBLE ? "the device engine has no double precision throughout" : NULL;
}

int nb6_dev_supports(const struct nb6_sim *sim)
{
    return !nb6_dev_unsupported(&sim->run.config);
}

int nb6_dev_report_non_finite(const struct nb6_dev *dev, int32_t i, int irregular,
                              const struct nb6_corrected *corrected, struct nbc_error *err)
{
    const double *acc = irregular ? corrected->acc_irr : corrected->acc_reg;
    return nbc_fail(err, NBC_NON_FINITE,
                    "star %lld (index %d): the %s corrector at t = %.12g gave a NaN or an infinity (acceleration %g %g "
                    "%g, step 2^%d ticks, %d neighbours)",
                    (long long)dev->star[i].name, dev->body_of[i], irregular ? "irregular" : "regular",
                    nb6_time_to_double(dev->control->t), acc[0], acc[1], acc[2], dev->star[i].level_irr,
                    dev->star[i].nnb);
}

int nb6_dev_report_unsound(const struct nb6_sim *sim, const struct nb6_dev *dev, int32_t i, struct nbc_error *err)
{
    return nbc_fail(err, NBC_NON_FINITE, "star %lld: its first force is not finite; is another star at the same place?",
                    (long long)sim->star[dev->body_of[i]].name);
}
