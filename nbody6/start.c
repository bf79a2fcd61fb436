#include "start.h"

#include "hermite.h"
#include "kdtree.h"
#include "regular.h"
#include "step.h"

#include <math.h>
#include <string.h>

/* First steps are shorter than the criterion asks for: the polynomials are not known to full order yet. */
static const double START_SAFETY = 0.5;
/* First capacity of a list, in wanted means; it grows where it is too small. */
static const double FIRST_CAPACITY = 4;
/* The local density is taken from the distance of this neighbour. */
enum { DENSITY_NEIGHBOUR = 6 };

static void state_at_start(struct nb6_sim *sim)
{
    for (int64_t i = 0; i < sim->n; i++) {
        memcpy(sim->active.x[i], sim->body[i].x0, sizeof sim->active.x[i]);
        memcpy(sim->active.v[i], sim->body[i].v0, sizeof sim->active.v[i]);
        sim->active.mass[i] = sim->body[i].mass;
    }
}

/* Radius that holds the wanted number of neighbours at the local density. The density contrast of a sphere that holds n
 * stars is that of the sphere of the sixth neighbour, whatever n is. */
static int first_radii(struct nb6_sim *sim, struct nbc_error *err)
{
    double fixed = nb6_all_are_neighbours(sim) ? NB6_R_NB_ALL : sim->config.integration.r_nb_init;
    if (fixed > 0) {
        for (int64_t i = 0; i < sim->n; i++) sim->star[i].r_nb = fixed;
        return NBC_OK;
    }
    int k = (int)(sim->n - 1 < DENSITY_NEIGHBOUR ? sim->n - 1 : DENSITY_NEIGHBOUR);
    double *r = nbc_alloc((size_t)sim->n, sizeof *r);
    if (!r) return nbc_fail(err, NBC_NO_MEMORY, "no memory for the first neighbour radii");
    int status = nb6_kdtree_kth_distance(sim->n, (const double(*)[3])sim->active.x, k, r, err);
    for (int64_t i = 0; i < sim->n && !status; i++) {
        double size = sim->book.r_half / r[i];
        double contrast = 2.0 * k * size * size * size / (double)sim->n;
        sim->star[i].r_nb = r[i] * cbrt(nb6_radius_wanted(sim, contrast) / k);
    }
    nbc_free(r);
    return status;
}

static int first_regular(struct nb6_sim *sim, struct nbc_error *err)
{
    struct nb6_regular_target *target = nbc_alloc((size_t)sim->n, sizeof *target);
    if (!target) return nbc_fail(err, NBC_NO_MEMORY, "no memory for the first regular forces");
    for (int64_t i = 0; i < sim->n; i++) {
        target[i].body = (int32_t)i;
        target[i].r_nb = sim->star[i].r_nb;
    }
    int status = nb6_regular_force(sim, sim->n, target, err);
    for (int64_t i = 0; i < sim->n && !status; i++) {
        struct nb6_star *star = &sim->star[i];
        memcpy(star->acc_reg, target[i].acc, sizeof star->acc_reg);
        memcpy(star->jerk_reg, target[i].jerk, sizeof star->jerk_reg);
        star->nnb = target[i].nnb;
        star->r_nb = target[i].r_nb;
        star->t0_reg = sim->ti_now;
    }
    nbc_free(target);
    return status;
}

/* Send positions and velocities alone; the forces at this very time need no more. */
static int first_irregular(struct nb6_sim *sim, struct nbc_error *err)
{
    int status = NBC_OK;
    for (int64_t i = 0; i < sim->n; i++) sim->active.irr[i] = (int32_t)i;
    for (int64_t i = 0; i < sim->n && !status; i++) status = nb6_send_body(sim, i);
    if (!status) status = gpuirr_pred_all(sim->irr, 0, (size_t)sim->n, nb6_relative_time(sim, sim->ti_now));
    if (!status)
        status = gpuirr_firr_vec(sim->irr, (size_t)sim->n, sim->active.irr, sim->active.acc, sim->active.jerk, NULL);
    return status ? nbc_fail(err, status, "%s", gpuirr_last_error(sim->irr)) : NBC_OK;
}

static int set_totals(struct nb6_sim *sim, struct nbc_error *err)
{
    for (int64_t i = 0; i < sim->n; i++) {
        struct nb6_star *star = &sim->star[i];
        struct nb6_body *body = &sim->body[i];
        double inner[3], ext_acc[3] = {0, 0, 0}, ext_jerk[3] = {0, 0, 0}, sum = 0;
        for (int k = 0; k < 3; k++) inner[k] = sim->active.acc[i][k] + star->acc_reg[k];
        if (sim->external.active) nb6_external_force(&sim->external, body->x0, body->v0, inner, ext_acc, ext_jerk);
        for (int k = 0; k < 3; k++) {
            star->acc_irr[k] = sim->active.acc[i][k] + ext_acc[k];
            star->jerk_irr[k] = sim->active.jerk[i][k] + ext_jerk[k];
            body->acc[k] = star->acc_irr[k] + star->acc_reg[k];
            body->jerk[k] = star->jerk_irr[k] + star->jerk_reg[k];
            sum += body->acc[k] + body->jerk[k];
        }
        if (!isfinite(sum))
            return nbc_fail(
                err, NBC_NON_FINITE,
                "star %lld: its force at the start is not finite (acceleration %g %g %g); is another star at the same "
                "place?",
                (long long)star->name, body->acc[0], body->acc[1], body->acc[2]);
    }
    return NBC_OK;
}

/* Without its second derivative the regular force may still not let a star cross its neighbour sphere in one step,
 * moving or falling from rest. */
static double crossing_limit(const struct nb6_star *star, const struct nb6_body *body)
{
    double v2 = 0, a2 = 0;
    for (int k = 0; k < 3; k++) {
        v2 += body->v0[k] * body->v0[k];
        a2 += body->acc[k] * body->acc[k];
    }
    return star->r_nb / (sqrt(v2) + sqrt(star->r_nb * sqrt(a2)));
}

static void first_steps(struct nb6_sim *sim)
{
    const struct nb6_integration_config *config = &sim->config.integration;
    int max_level = nb6_level_of(config->dt_max, NB6_TIME_BITS);
    while (sim->ti_now % nb6_step_ticks(max_level) != 0) max_level--;
    for (int64_t i = 0; i < sim->n; i++) {
        struct nb6_star *star = &sim->star[i];
        double irr = nb6_timestep(config->eta_irr, star->acc_irr, star->jerk_irr, star->snap_irr, star->crackle_irr);
        double reg = nb6_timestep(config->eta_reg, star->acc_reg, star->jerk_reg, star->snap_reg, star->crackle_reg);
        if (!config->initial_fpoly2) reg = fmin(reg, sqrt(config->eta_reg) * crossing_limit(star, &sim->body[i]));
        if (config->dt_fixed_irr > 0) irr = config->dt_fixed_irr / START_SAFETY;
        if (config->dt_fixed_reg > 0) reg = config->dt_fixed_reg / START_SAFETY;
        star->level_reg = (int8_t)nb6_level_of(START_SAFETY * reg, max_level);
        star->level_irr = (int8_t)nb6_level_of(START_SAFETY * irr, star->level_reg);
        nb6_schedule_set(sim->schedule, (int32_t)i, star->level_irr);
    }
}

int nb6_start(struct nb6_sim *sim, struct nbc_error *err)
{
    int status;
    sim->nb_cap = (int64_t)(FIRST_CAPACITY * sim->book.nnb_opt) / 16 * 16 + 16;
    state_at_start(sim);
    if ((status = first_radii(sim, err))) return status;
    if ((status = first_regular(sim, err))) return status;
    if ((status = first_irregular(sim, err))) return status;
    if ((status = set_totals(sim, err))) return status;
    nb6_start_derivatives(sim, sim->config.integration.initial_fpoly2);
    first_steps(sim);
    return nb6_start_resume(sim, err);
}

int nb6_start_resume(struct nb6_sim *sim, struct nbc_error *err)
{
    for (int64_t i = 0; i < sim->n; i++) {
        int status = nb6_send_body(sim, i);
        if (status) return nbc_fail(err, status, "%s", gpuirr_last_error(sim->irr));
        nb6_schedule_set(sim->schedule, (int32_t)i, sim->star[i].level_irr);
    }
    nb6_prediction_measure(sim);
    return NBC_OK;
}
