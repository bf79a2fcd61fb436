#include "nbody6/run/merge_aged.h"

#include "nbody6/input/config.h"
#include "nbody6/state/ageing.h"
#include "nbody6/state/event.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/transaction.h"
#include "stellar/stellar.h"

/* An object that is too light for a star and lighter than this changes a star in nothing but its mass, Msun. */
static const double DUST = 1e-3;

/* A star, or an object that is too light for one, which is as a star of the main sequence of its mass. */
static struct stellar_star star_of(const struct nb6_aged *aged, int64_t name, double t_myr)
{
    struct stellar_star star = aged->star;
    if (!aged->ages) {
        star = (struct stellar_star){.type = aged->mass > 0 ? STELLAR_MS_LOW : STELLAR_NONE,
                                     .z = aged->star.z,
                                     .time_myr = t_myr,
                                     .mass_track = aged->mass,
                                     .mass = aged->mass};
    }
    star.name = name;
    return star;
}

static void append(const struct stellar_events *more, struct stellar_events *events)
{
    for (int k = 0; k < more->n && events->n < STELLAR_EVENTS_MOST; k++) events->event[events->n++] = more->event[k];
}

/* Two objects that are too light: they may be a star together, which is born then. */
static int merge_light(const struct nb6_sim *sim, double t_myr, double mass, struct nb6_aged *aged,
                       struct nbc_error *err)
{
    aged->ages = mass >= STELLAR_MASS_LEAST;
    if (!aged->ages) return NBC_OK;
    return stellar_birth(sim->ageing->model[aged->model], aged->star.name, mass, t_myr, &aged->star, err);
}

/* The product has the fits of the heavier star. */
static int merge_stars(const struct nb6_sim *sim, double t_myr, const struct nb6_aged *other, struct nb6_aged *aged,
                       struct stellar_events *events, struct nbc_error *err)
{
    const int is_first = aged->ages && (!other->ages || aged->mass >= other->mass);
    const struct nb6_aged *first = is_first ? aged : other, *second = is_first ? other : aged;
    const struct stellar_star star[2] = {star_of(first, aged->star.name, t_myr),
                                         star_of(second, aged->star.name, t_myr)};
    struct stellar_model *const *model = sim->ageing->model;
    struct stellar_events more = {.n = 0};
    struct stellar_star product = star[0];
    const int32_t of_model = first->model;
    double kept = 0;
    int status = nb6_config_number(&sim->run.config, "INCOLL", "FCTORCL", &kept, err);
    if (!status && (second->ages || second->mass >= DUST))
        status = stellar_merge(model[first->model], &star[0], model[second->model], &star[1], t_myr, kept, &product,
                               NULL, &more, err);
    if (status) return status;
    append(&more, events);
    aged->star = product;
    aged->model = of_model;
    aged->ages = 1;
    return NBC_OK;
}

/* Type and mass at a time. */
static int look_at(const struct nb6_sim *sim, double t_myr, const struct nb6_aged *aged, int *type, double *mass,
                   struct nbc_error *err)
{
    struct stellar_view view;
    const int status = nb6_ageing_view(sim->ageing, aged, t_myr, &view, err);
    if (status) return status;
    *type = aged->ages ? view.type : aged->mass > 0 ? STELLAR_MS_LOW : STELLAR_NONE;
    *mass = view.mass;
    return NBC_OK;
}

static int merge_one(const struct nb6_sim *sim, double t_myr, const struct nb6_aged *other, struct nb6_aged *aged,
                     struct stellar_events *events, struct nb6_collision *c, struct nbc_error *err)
{
    const double mass = aged->mass + other->mass;
    int status = look_at(sim, t_myr, aged, &c->type[0], &c->mass[0], err);
    if (!status) status = look_at(sim, t_myr, other, &c->type[1], &c->mass[1], err);
    if (!status)
        status = aged->ages || other->ages ? merge_stars(sim, t_myr, other, aged, events, err)
                                           : merge_light(sim, t_myr, mass, aged, err);
    aged->mass = mass; /* as the body has it */
    aged->overflows = aged->touches = 0;
    return status ? status : look_at(sim, t_myr, aged, &c->type_after, &c->mass_after, err);
}

int nb6_merge_aged(const struct nb6_sim *sim, nb6_index i, nb6_time t, struct nb6_aged *aged, struct stellar_view *view,
                   struct stellar_events *events, struct nb6_collision collision[], struct nbc_error *err)
{
    const double t_myr = nb6_time_to_myr(sim, t);
    int64_t found = 0;
    int status = NBC_OK;
    events->n = 0;
    for (int64_t k = 0; k < sim->n && found < aged->waits && !status; k++) {
        const struct nb6_star *star = &sim->star[k];
        if (!nb6_has_merged(star) || nb6_merged_into(star) != i || sim->ageing->aged[k].is_one) continue;
        status = merge_one(sim, t_myr, &sim->ageing->aged[k], aged, events, &collision[found], err);
        collision[found].star[0] = i;
        collision[found++].star[1] = (nb6_index)k;
    }
    if (!status && found < aged->waits)
        status = nbc_fail(err, NBC_INTERNAL, "%lld stars that collided with it are not there",
                          (long long)(aged->waits - found));
    aged->waits = 0;
    return status ? status : nb6_ageing_view(sim->ageing, aged, t_myr, view, err);
}

int nb6_merge_aged_tell(struct nb6_sim *sim, const struct nb6_collision *c, nb6_time t, struct nbc_error *err)
{
    const nb6_index i = c->star[0], gone = c->star[1];
    struct nb6_aged *aged = &sim->ageing->aged[gone];
    struct nb6_event event = {.kind = NB6_EVENT_PRODUCT,
                              .t = nb6_time_to_double(t),
                              .name = sim->star[i].name,
                              .gone = sim->star[gone].name,
                              .stellar = {.t_myr = nb6_time_to_myr(sim, t),
                                          .name = {sim->star[i].name, sim->star[gone].name},
                                          .type = {c->type[0], c->type[1]},
                                          .mass = {c->mass[0], c->mass[1]},
                                          .type_after = c->type_after,
                                          .mass_after = c->mass_after}};
    const int status = nb6_save_aged(sim, gone, err);
    if (status) return status;
    aged->mass = 0;
    aged->ages = 0;
    aged->is_one = 1;
    return nb6_event_raise(sim, &event, err);
}
