#include "diag.h"

#include <string.h>

void nb6_frame_free(struct nb6_frame *frame)
{
    nbc_free(frame->name);
    nbc_free(frame->mass);
    nbc_free(frame->x);
    nbc_free(frame->v);
    nbc_free(frame->acc);
    nbc_free(frame->jerk);
    nbc_free(frame->pot);
    nbc_free(frame->r_nb);
    nbc_free(frame->dt_irr);
    nbc_free(frame->dt_reg);
    nbc_free(frame->nnb);
    memset(frame, 0, sizeof *frame);
}

static int allocate(struct nb6_frame *frame, int with_potential)
{
    size_t n = (size_t)frame->n;
    frame->name = nbc_alloc(n, sizeof *frame->name);
    frame->mass = nbc_alloc(n, sizeof *frame->mass);
    frame->x = nbc_alloc(n, sizeof *frame->x);
    frame->v = nbc_alloc(n, sizeof *frame->v);
    frame->acc = nbc_alloc(n, sizeof *frame->acc);
    frame->jerk = nbc_alloc(n, sizeof *frame->jerk);
    frame->r_nb = nbc_alloc(n, sizeof *frame->r_nb);
    frame->dt_irr = nbc_alloc(n, sizeof *frame->dt_irr);
    frame->dt_reg = nbc_alloc(n, sizeof *frame->dt_reg);
    frame->nnb = nbc_alloc(n, sizeof *frame->nnb);
    if (with_potential) frame->pot = nbc_alloc(n, sizeof *frame->pot);
    return frame->name && frame->mass && frame->x && frame->v && frame->acc && frame->jerk && frame->r_nb &&
           frame->dt_irr && frame->dt_reg && frame->nnb && (frame->pot || !with_potential);
}

/* The body's own third-order polynomial, the next two terms of the irregular force from its last step, and those of the
 * regular force, whose corrector comes only at the end of the regular step, from its beginning. */
static void predict_star(const struct nb6_body *body, const struct nb6_star *star, nb6_time t, struct nb6_frame *frame,
                         int64_t i)
{
    double s = nb6_time_to_double(t - body->t0), r = nb6_time_to_double(t - star->t0_reg);
    for (int k = 0; k < 3; k++) {
        double si = star->snap_irr[k], ci = star->crackle_irr[k], sr = star->snap_reg[k], cr = star->crackle_reg[k];
        frame->x[i][k] =
            body->x0[k] +
            s * (body->v0[k] + s * (body->acc[k] / 2 + s * (body->jerk[k] / 6 + s * (si / 24 + s * ci / 120)))) +
            r * r * r * r * (sr / 24 + r * cr / 120);
        frame->v[i][k] = body->v0[k] + s * (body->acc[k] + s * (body->jerk[k] / 2 + s * (si / 6 + s * ci / 24))) +
                         r * r * r * (sr / 6 + r * cr / 24);
        frame->acc[i][k] = star->acc_irr[k] + s * (star->jerk_irr[k] + s * (si / 2 + s * ci / 6)) + star->acc_reg[k] +
                           r * (star->jerk_reg[k] + r * (sr / 2 + r * cr / 6));
        frame->jerk[i][k] = star->jerk_irr[k] + s * (si + s * ci / 2) + star->jerk_reg[k] + r * (sr + r * cr / 2);
    }
    frame->name[i] = star->name;
    frame->mass[i] = body->mass;
    frame->r_nb[i] = star->r_nb;
    frame->nnb[i] = star->nnb;
    frame->dt_irr[i] = nb6_step_length(star->level_irr);
    frame->dt_reg[i] = nb6_step_length(star->level_reg);
}

static int potential(struct nb6_sim *sim, nb6_time t, struct nb6_frame *frame, struct nbc_error *err)
{
    struct nb6_potential_cache *cache = &sim->potential;
    size_t n = (size_t)frame->n;
    if (cache->n != frame->n || cache->t != t || cache->blocks != sim->counters.blocks) {
        cache->n = 0;
        nbc_free(cache->pot);
        cache->pot = nbc_alloc(n, sizeof *cache->pot);
        if (!cache->pot) return nbc_fail(err, NBC_NO_MEMORY, "no memory for the potential");
        int status = gpunb_potential(sim->reg, 0, n, n, frame->mass, (const double(*)[3])frame->x, cache->pot);
        if (status) return nbc_fail(err, status, "%s", gpunb_last_error(sim->reg));
        *cache = (struct nb6_potential_cache){t, sim->counters.blocks, frame->n, cache->pot};
    }
    memcpy(frame->pot, cache->pot, n * sizeof *frame->pot);
    return NBC_OK;
}

int nb6_frame_make(struct nb6_sim *sim, nb6_time t, int with_potential, struct nb6_frame *frame, struct nbc_error *err)
{
    struct nb6_frame made = {.t = nb6_time_to_double(t), .n = sim->n};
    int status = NBC_OK;
    if (!allocate(&made, with_potential)) {
        status = nbc_fail(err, NBC_NO_MEMORY, "no memory for a snapshot of %lld stars", (long long)sim->n);
    } else {
#pragma omp parallel for schedule(static) if (sim->n > 1000)
        for (int64_t i = 0; i < sim->n; i++) predict_star(&sim->body[i], &sim->star[i], t, &made, i);
        if (with_potential) status = potential(sim, t, &made, err);
    }
    if (status)
        nb6_frame_free(&made);
    else
        *frame = made;
    return status;
}
