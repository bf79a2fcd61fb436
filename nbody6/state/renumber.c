#include "nbody6/state/renumber.h"

#include "common/nbc.h"
#include "gpuirr/gpuirr.h"
#include "nbody6/state/ageing.h"
#include "nbody6/state/bodies.h"
#include "nbody6/state/body.h"
#include "nbody6/state/members.h"
#include "nbody6/state/schedule.h"
#include "nbody6/state/sim.h"

#include <string.h>

static int refused(const struct nb6_sim *sim, int status, struct nbc_error *err)
{
    return status ? nbc_fail(err, status, "%s", gpuirr_last_error(sim->irr)) : NBC_OK;
}

/* The record of body i, with the neighbours that stay, moves to its new place.   @param[out] list  scratch */
static int move_body(struct nb6_sim *sim, const nb6_index *moved, int64_t i, nb6_index *list, struct nbc_error *err)
{
    const int32_t to = moved[i];
    size_t nnb = 0, length = 0;
    const int32_t *old = gpuirr_get_list(sim->irr, (size_t)i, &nnb);
    for (size_t k = 0; k < nnb; k++)
        if (moved[old[k]] >= 0) list[length++] = moved[old[k]];
    sim->body[to] = sim->body[i];
    sim->star[to] = sim->star[i];
    sim->star[to].nnb = (int32_t)length;
    if (sim->ageing && i < sim->n) sim->ageing->aged[to] = sim->ageing->aged[i];
    return refused(sim, gpuirr_set_list(sim->irr, (size_t)to, length, list), err);
}

/* Clear a place: no record and no list of a former body stay there. */
static int clear_place(struct nb6_sim *sim, int64_t place, struct nbc_error *err)
{
    int status = nb6_body_deactivate(sim, (int32_t)place, err);
    memset(&sim->body[place], 0, sizeof sim->body[place]);
    memset(&sim->star[place], 0, sizeof sim->star[place]);
    return status;
}

/* Ascending order keeps every record unread until its turn. The place of a slot whose body is gone must be cleared:
 * another body was there before. */
static int move_bodies(struct nb6_sim *sim, int64_t n_gone, int64_t bodies, const nb6_index *moved, nb6_index *list,
                       struct nbc_error *err)
{
    int status = NBC_OK;
    for (int64_t i = 0; i < bodies && !status; i++) {
        nb6_schedule_remove(sim->schedule, (int32_t)i);
        if (moved[i] >= 0)
            status = move_body(sim, moved, i, list, err);
        else if (nb6_is_centre(sim, i))
            status = clear_place(sim, i - n_gone, err);
    }
    for (int64_t i = bodies - n_gone; i < bodies && !status; i++) status = clear_place(sim, i, err);
    return status;
}

int nb6_bodies_renumber(struct nb6_sim *sim, int64_t n_gone, int64_t bodies, const nb6_index *moved,
                        struct nbc_error *err)
{
    nb6_index *list = nbc_alloc((size_t)bodies, sizeof *list);
    if (!list) return nbc_fail(err, NBC_NO_MEMORY, "no memory to move %lld bodies", (long long)bodies);
    int status = move_bodies(sim, n_gone, bodies, moved, list, err);
    nbc_free(list);
    if (status) return status;
    sim->n -= n_gone;
    for (int64_t i = 0; i < nb6_bodies(sim) && !status; i++) {
        if (!nb6_takes_part(sim, i)) { /* one that did may have had this number */
            status = nb6_withdraw_body(sim, i, err);
            continue;
        }
        nb6_schedule_set(sim->schedule, (int32_t)i, sim->star[i].level_irr);
        status = nb6_send_body(sim, i, err);
    }
    return status;
}

/* ---- before some come */

/* The list of a body, in which numbers from `first` on rise; of one of these, with the record, at its new number. */
static int make_room_at(struct nb6_sim *sim, int64_t first, int64_t n_new, int64_t i, nb6_index *list,
                        struct nbc_error *err)
{
    size_t nnb = 0;
    const int64_t to = i < first ? i : i + n_new;
    const nb6_index *old = gpuirr_get_list(sim->irr, (size_t)i, &nnb);
    if (i < first && (nnb == 0 || old[nnb - 1] < first)) return NBC_OK; /* ascending */
    for (size_t k = 0; k < nnb; k++) list[k] = old[k] < first ? old[k] : (nb6_index)(old[k] + n_new);
    if (to != i) {
        sim->body[to] = sim->body[i];
        sim->star[to] = sim->star[i];
    }
    return refused(sim, gpuirr_set_list(sim->irr, (size_t)to, nnb, list), err);
}

/* From the last on, so that every record is read before another one takes its place. */
static int move_centres(struct nb6_sim *sim, int64_t n_new, nb6_index *list, struct nbc_error *err)
{
    const int64_t bodies = nb6_bodies(sim);
    int status = NBC_OK;
    for (int64_t i = bodies; i < bodies + n_new && !status; i++) status = nb6_save_body(sim, i, err);
    for (int64_t i = sim->n; i < bodies && !status; i++) nb6_schedule_remove(sim->schedule, (nb6_index)i);
    for (int64_t i = bodies - 1; i >= 0 && !status; i--) status = make_room_at(sim, sim->n, n_new, i, list, err);
    for (int64_t i = sim->n; i < sim->n + n_new && !status; i++) status = clear_place(sim, i, err);
    return status;
}

int nb6_bodies_make_room(struct nb6_sim *sim, int64_t n_new, struct nbc_error *err)
{
    nb6_index *list = nbc_alloc((size_t)nb6_bodies(sim), sizeof *list);
    if (!list) return nbc_fail(err, NBC_NO_MEMORY, "no memory to move %lld bodies", (long long)nb6_bodies(sim));
    int status = move_centres(sim, n_new, list, err);
    nbc_free(list);
    if (status) return status;
    sim->n += n_new;
    sim->subsystems.capacity -= n_new;
    for (int64_t i = sim->n; i < nb6_bodies(sim) && !status; i++) {
        if (!nb6_takes_part(sim, i)) {
            status = nb6_withdraw_body(sim, i, err);
            continue;
        }
        nb6_schedule_set(sim->schedule, (nb6_index)i, sim->star[i].level_irr);
        status = nb6_send_body(sim, i, err);
    }
    return status;
}
