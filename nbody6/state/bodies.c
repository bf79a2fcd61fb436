#include "nbody6/state/bodies.h"

#include "common/nbc.h"
#include "gpuirr/gpuirr.h"
#include "gpunb/gpunb.h"
#include "nbody6/input/config.h"
#include "nbody6/input/properties.h"
#include "nbody6/state/body.h"
#include "nbody6/state/members.h"
#include "nbody6/state/schedule.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/transaction.h"

#include <string.h>

double nb6_relative_time(const struct nb6_sim *sim, nb6_time t)
{
    return nb6_time_to_double(t - sim->ti_origin);
}

int nb6_send_body(struct nb6_sim *sim, int64_t i, struct nbc_error *err)
{
    const struct nb6_body *b = &sim->body[i];
    const double t0 = nb6_relative_time(sim, b->t0);
    int status = gpuirr_set_jp(sim->irr, (size_t)i, b->x0, b->v0, b->acc, b->jerk, b->mass, t0);
    if (status) return nbc_fail(err, status, "%s", gpuirr_last_error(sim->irr));
    status = gpunb_set_jp(sim->reg, (size_t)i, b->x0, b->v0, b->acc, b->jerk, b->mass, t0);
    return status ? nbc_fail(err, status, "%s", gpunb_last_error(sim->reg)) : NBC_OK;
}

/* From so many bodies on threads are worth their start. */
enum { PARALLEL_BODIES = 4096 };

int nb6_send_bodies(struct nb6_sim *sim, int64_t n, const nb6_index *list, struct nbc_error *err)
{
    int refused = 0, status = NBC_OK;
#pragma omp parallel for schedule(static) reduction(| : refused) if (n > PARALLEL_BODIES)
    for (int64_t m = 0; m < n; m++) refused |= nb6_send_body(sim, list[m], NULL) != NBC_OK;
    if (!refused) return NBC_OK;
    for (int64_t m = 0; m < n && !status; m++) status = nb6_send_body(sim, list[m], err); /* to have its message */
    return status ? status : nbc_fail(err, NBC_INTERNAL, "a library refused a body, and then took it");
}

int nb6_withdraw_body(struct nb6_sim *sim, int64_t i, struct nbc_error *err)
{
    static const double zero[3];
    int status = gpunb_clear_jp(sim->reg, (size_t)i);
    if (status) return nbc_fail(err, status, "%s", gpunb_last_error(sim->reg));
    status = gpuirr_set_jp(sim->irr, (size_t)i, zero, zero, zero, zero, 0, 0);
    return status ? nbc_fail(err, status, "%s", gpuirr_last_error(sim->irr)) : NBC_OK;
}

int nb6_body_deactivate(struct nb6_sim *sim, nb6_index i, struct nbc_error *err)
{
    int status = nb6_save_body(sim, i, err);
    if (status) return status;
    nb6_schedule_remove(sim->schedule, i);
    status = gpuirr_set_list(sim->irr, (size_t)i, 0, NULL);
    sim->star[i].nnb = 0;
    return status ? nbc_fail(err, status, "%s", gpuirr_last_error(sim->irr)) : nb6_withdraw_body(sim, i, err);
}

int nb6_body_place(struct nb6_sim *sim, nb6_index i, double mass, const double x[3], const double v[3], double r_nb,
                   nb6_time t, struct nbc_error *err)
{
    struct nb6_body *body = &sim->body[i];
    struct nb6_star *star = &sim->star[i];
    int64_t name = star->name;
    double radius = star->radius, mass_start = star->mass_start;
    int status = nb6_save_body(sim, i, err);
    if (status) return status;
    if (nb6_is_centre(sim, i)) name = sim->book.name_zero + nb6_subsystems_name(sim, nb6_slot_of(sim, i), 0);
    struct nb6_body placed = {.mass = mass, .t0 = t};
    memcpy(placed.x0, x, sizeof placed.x0);
    memcpy(placed.v0, v, sizeof placed.v0);
    *body = placed;
    *star = (struct nb6_star){.name = name, .r_nb = r_nb, .t0_reg = t};
    if (!nb6_is_centre(sim, i)) {
        star->radius = radius;
        star->mass_start = mass_start;
    }
    return NBC_OK;
}

int nb6_body_join(struct nb6_sim *sim, nb6_index i, nb6_slot slot, struct nbc_error *err)
{
    int status = nb6_save_body(sim, i, err);
    if (!status) nb6_set_owner(&sim->star[i], slot);
    return status;
}

int nb6_stars_have_radii(const struct nb6_sim *sim)
{
    const struct nb6_config *config = &sim->run.config;
    return config->pair.r_star > 0 || config->stellar.collide || nb6_radii_act(sim->run.properties);
}

int nb6_star_absorb(struct nb6_sim *sim, nb6_index i, nb6_index gone, double mass, double radius, struct nbc_error *err)
{
    int status = nb6_save_body(sim, i, err);
    for (int64_t k = 0; k < sim->n && !status; k++) { /* the merged star, and those merged into it earlier */
        struct nb6_star *star = &sim->star[k];
        if (k != gone && !(nb6_has_merged(star) && nb6_merged_into(star) == gone)) continue;
        status = nb6_save_body(sim, k, err);
        if (!status) nb6_set_merged(star, i);
    }
    if (status) return status;
    sim->body[i].mass = mass;
    sim->star[i].radius = radius;
    sim->star[i].mass_start += sim->star[gone].mass_start;
    sim->body[gone].mass = sim->star[gone].mass_start = 0;
    return NBC_OK;
}

int nb6_body_synchronise(struct nb6_sim *sim, nb6_index i, int8_t level, struct nbc_error *err)
{
    struct nb6_star *star = &sim->star[i];
    int status = nb6_save_body(sim, i, err);
    if (status) return status;
    if (star->level_irr > level) star->level_irr = level;
    star->level_reg = star->level_irr;
    nb6_schedule_set(sim->schedule, i, star->level_irr);
    return NBC_OK;
}
