#include "nbody6/state/renumber.h"

#include "common/nbc.h"
#include "common/select.h"
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

/* Clear a place: no record and no list of a former body stay there. */
static int clear_place(struct nb6_sim *sim, int64_t place, struct nbc_error *err)
{
    int status = nb6_body_deactivate(sim, (int32_t)place, err);
    memset(&sim->body[place], 0, sizeof sim->body[place]);
    memset(&sim->star[place], 0, sizeof sim->star[place]);
    return status;
}

/* Bodies whose lists are made together, by all threads. */
enum { BODIES_TOGETHER = 4096 };

struct moving {
    const nb6_index *moved;
    int64_t n; /* bodies that stay, of those from one number to another */
    nb6_index from[BODIES_TOGETHER], to[BODIES_TOGETHER];
    int32_t nnb[BODIES_TOGETHER];
    int64_t at[BODIES_TOGETHER]; /* of the list in `numbers` */
    const nb6_index *list[BODIES_TOGETHER];
    int64_t room;
    nb6_index *numbers;
    struct nb6_body *body; /* [BODIES_TOGETHER] on their way */
    struct nb6_star *star;
};

static void free_moving(struct moving *m)
{
    if (!m) return;
    nbc_free(m->numbers);
    nbc_free(m->body);
    nbc_free(m->star);
    nbc_free(m);
}

/* @return 0: no memory */
static int lay_out_lists(const struct nb6_sim *sim, struct moving *m)
{
    int64_t total = 0;
    for (int64_t k = 0; k < m->n; k++) {
        size_t nnb = 0;
        (void)gpuirr_get_list(sim->irr, (size_t)m->from[k], &nnb);
        m->at[k] = total;
        total += (int64_t)nnb;
    }
    if (total <= m->room) return 1;
    nbc_free(m->numbers);
    m->room = 0;
    m->numbers = nbc_alloc_unset((size_t)(total + total / 4), sizeof *m->numbers);
    if (m->numbers) m->room = total + total / 4;
    return m->numbers != NULL;
}

/* The neighbours that stay, with their new numbers. */
static void rename_list(const struct nb6_sim *sim, struct moving *m, int64_t k)
{
    size_t nnb = 0;
    nb6_index *to = m->numbers + m->at[k];
    const nb6_index *old = gpuirr_get_list(sim->irr, (size_t)m->from[k], &nnb);
    m->list[k] = to;
    m->nnb[k] = 0;
    for (size_t q = 0; q < nnb; q++)
        if (m->moved[old[q]] >= 0) to[m->nnb[k]++] = m->moved[old[q]];
}

/* Records on their way. */
static int reserve_records(struct moving *m)
{
    if (!m->body) m->body = nbc_alloc_unset(BODIES_TOGETHER, sizeof *m->body);
    if (!m->star) m->star = nbc_alloc_unset(BODIES_TOGETHER, sizeof *m->star);
    return m->body && m->star;
}

/* All of them are read before one takes the place of another. */
static void move_records(struct nb6_sim *sim, struct moving *m)
{
#pragma omp parallel if (m->n == BODIES_TOGETHER)
    {
#pragma omp for schedule(static)
        for (int64_t k = 0; k < m->n; k++) {
            m->body[k] = sim->body[m->from[k]];
            m->star[k] = sim->star[m->from[k]];
        }
#pragma omp for schedule(static)
        for (int64_t k = 0; k < m->n; k++) {
            struct nb6_star *star = &sim->star[m->to[k]];
            sim->body[m->to[k]] = m->body[k];
            *star = m->star[k];
            star->nnb = m->nnb[k];
            if (nb6_has_merged(star)) nb6_set_merged(star, m->moved[nb6_merged_into(star)]);
        }
    }
    for (int64_t k = 0; k < m->n && sim->ageing; k++)
        if (m->from[k] < sim->n) sim->ageing->aged[m->to[k]] = sim->ageing->aged[m->from[k]];
}

/* The records of bodies, with their lists, move to their new places: down, in ascending order. */
static int move_together(struct nb6_sim *sim, struct moving *m, struct nbc_error *err)
{
    if (!reserve_records(m) || !lay_out_lists(sim, m))
        return nbc_fail(err, NBC_NO_MEMORY, "no memory to move %lld bodies", (long long)m->n);
#pragma omp parallel for schedule(static) if (m->n == BODIES_TOGETHER)
    for (int64_t k = 0; k < m->n; k++) rename_list(sim, m, k);
    move_records(sim, m);
    return refused(sim, gpuirr_set_lists(sim->irr, (size_t)m->n, m->to, m->nnb, m->list), err);
}

/* Those from one number to another. The place of a slot whose body is gone must be cleared: another body was there
 * before. */
static int move_some(struct nb6_sim *sim, int64_t n_gone, int64_t first, int64_t end, struct moving *m,
                     struct nbc_error *err)
{
    m->n = 0;
    for (int64_t i = first; i < end; i++) {
        nb6_schedule_remove(sim->schedule, (nb6_index)i);
        if (m->moved[i] < 0) continue;
        m->from[m->n] = (nb6_index)i;
        m->to[m->n++] = m->moved[i];
    }
    int status = move_together(sim, m, err);
    for (int64_t i = first; i < end && !status; i++)
        if (m->moved[i] < 0 && nb6_is_centre(sim, i)) status = clear_place(sim, i - n_gone, err);
    return status;
}

static int move_bodies(struct nb6_sim *sim, int64_t n_gone, int64_t bodies, struct moving *m, struct nbc_error *err)
{
    int status = NBC_OK;
    for (int64_t i = 0; i < bodies && !status; i += BODIES_TOGETHER)
        status = move_some(sim, n_gone, i, i + BODIES_TOGETHER < bodies ? i + BODIES_TOGETHER : bodies, m, err);
    for (int64_t i = bodies - n_gone; i < bodies && !status; i++) status = clear_place(sim, i, err);
    return status;
}

/* All that take part come back to the schedule, and to the libraries. */
static int send_all(struct nb6_sim *sim, int64_t first, nb6_index *list, struct nbc_error *err)
{
    int64_t n = 0;
    int status = NBC_OK;
    for (int64_t i = first; i < nb6_bodies(sim) && !status; i++) {
        if (nb6_takes_part(sim, i)) {
            nb6_schedule_set(sim->schedule, (nb6_index)i, sim->star[i].level_irr);
            list[n++] = (nb6_index)i;
        } else /* one that did may have had this number */
            status = nb6_withdraw_body(sim, i, err);
    }
    return status ? status : nb6_send_bodies(sim, n, list, err);
}

int nb6_bodies_renumber(struct nb6_sim *sim, int64_t n_gone, int64_t bodies, const nb6_index *moved,
                        struct nbc_error *err)
{
    nb6_index *list = nbc_alloc_unset((size_t)bodies, sizeof *list);
    struct moving *m = nbc_alloc(1, sizeof *m);
    int status = NBC_OK;
    if (!list || !m) status = nbc_fail(err, NBC_NO_MEMORY, "no memory to move %lld bodies", (long long)bodies);
    if (!status) {
        m->moved = moved;
        status = move_bodies(sim, n_gone, bodies, m, err);
    }
    if (!status) {
        sim->n -= n_gone;
        status = send_all(sim, 0, list, err);
    }
    free_moving(m);
    nbc_free(list);
    return status;
}

/* ---- before some come */

/* Whether one of a body's neighbours gets another number. */
static int has_centre_in_list(const void *context, int64_t i)
{
    const struct nb6_sim *sim = context;
    size_t nnb = 0;
    const nb6_index *list = gpuirr_get_list(sim->irr, (size_t)i, &nnb);
    return nnb > 0 && list[nnb - 1] >= sim->n; /* ascending */
}

/* The list of a body, in which numbers from `first` on rise; of one of these, with the record, at its new number. */
static int make_room_at(struct nb6_sim *sim, int64_t first, int64_t n_new, int64_t i, nb6_index *list,
                        struct nbc_error *err)
{
    size_t nnb = 0;
    const int64_t to = i < first ? i : i + n_new;
    const nb6_index *old = gpuirr_get_list(sim->irr, (size_t)i, &nnb);
    for (size_t k = 0; k < nnb; k++) list[k] = old[k] < first ? old[k] : (nb6_index)(old[k] + n_new);
    if (to != i) {
        sim->body[to] = sim->body[i];
        sim->star[to] = sim->star[i];
    }
    return refused(sim, gpuirr_set_list(sim->irr, (size_t)to, nnb, list), err);
}

enum { LISTS_OF_A_PART = 2048 };

/* From the last on, so that every record is read before another one takes its place.
 * @param[out] star  [sim->n] scratch */
static int move_centres(struct nb6_sim *sim, int64_t n_new, nb6_index *list, int32_t *star, struct nbc_error *err)
{
    const int64_t bodies = nb6_bodies(sim), first = sim->n;
    const int64_t stars = bodies > first ? nbc_select(first, LISTS_OF_A_PART, has_centre_in_list, sim, star) : 0;
    int status = NBC_OK;
    for (int64_t i = bodies; i < bodies + n_new && !status; i++) status = nb6_save_body(sim, i, err);
    for (int64_t i = sim->n; i < bodies && !status; i++) nb6_schedule_remove(sim->schedule, (nb6_index)i);
    for (int64_t i = bodies - 1; i >= first && !status; i--) status = make_room_at(sim, first, n_new, i, list, err);
    for (int64_t k = stars - 1; k >= 0 && !status; k--) status = make_room_at(sim, first, n_new, star[k], list, err);
    for (int64_t i = sim->n; i < sim->n + n_new && !status; i++) status = clear_place(sim, i, err);
    return status;
}

int nb6_bodies_make_room(struct nb6_sim *sim, int64_t n_new, struct nbc_error *err)
{
    nb6_index *list = nbc_alloc_unset((size_t)nb6_bodies(sim), sizeof *list);
    if (!list) return nbc_fail(err, NBC_NO_MEMORY, "no memory to move %lld bodies", (long long)nb6_bodies(sim));
    int32_t *star = nbc_alloc_unset((size_t)sim->n, sizeof *star);
    int status = star ? move_centres(sim, n_new, list, star, err)
                      : nbc_fail(err, NBC_NO_MEMORY, "no memory to move %lld bodies", (long long)nb6_bodies(sim));
    nbc_free(star);
    if (!status) {
        sim->n += n_new;
        sim->subsystems.capacity -= n_new;
        status = send_all(sim, sim->n, list, err);
    }
    nbc_free(list);
    return status;
}
