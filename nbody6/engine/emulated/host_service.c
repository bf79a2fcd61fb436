#include "nbody6/engine/emulated/host_service.h"

#include "nbody6/engine/emulated/stage.h"
#include "nbody6/engine/host_service.h"
#include "nbody6/engine/stages/force.h"
#include "nbody6/engine/stages/quiet.h"
#include "nbody6/engine/stages/remote.h"

#include <stddef.h>

/* Watched members of the block. The search is over members, or over watched bodies if these are fewer. */
static int64_t find_watched(const struct nb6_dev *dev)
{
    int64_t n = 0;
    for (int64_t slot = 0; slot < dev->control->n_irr && dev->control->n_ask > 0; slot++)
        if (dev->watch[dev->irr[slot]] & NB6_DEV_ASK) dev->member[n++] = dev->irr[slot];
    return n;
}

/* Whether the steps of a body are noted for the host, which does not have to be asked. */
static int is_noted(const struct nb6_dev *dev, int32_t i)
{
    return (dev->watch[i] & (NB6_DEV_ASK | NB6_DEV_REMOTE)) == NB6_DEV_REMOTE;
}

/* Force of remote pairs on a member. */
static void correct_by_remote(const struct nb6_dev *dev, int64_t slot)
{
    const int32_t i = dev->irr[slot];
    if (!is_noted(dev, i)) return;
    const struct nb6_dev_point point = nb6_dev_predict(dev, i, dev->control->t);
    double sum[6] = {0};
    for (int lane = 0; lane < NB6_DEV_LANES; lane++) nb6_dev_add_perturbers(dev, &point, i, lane, sum);
    for (int64_t k = 0; k < dev->control->n_ask; k++) {
        const int32_t q = dev->ask[k];
        if (!nb6_dev_is_resolver(dev, q, i)) continue;
        for (int lane = 0; lane < NB6_DEV_LANES; lane++)
            nb6_dev_add_remote(dev, &point, NULL, q, nb6_dev_remote_of(dev, q), lane, sum);
    }
    nb6_dev_set_correction(dev, i, sum);
}

/* The tide of the neighbours of a remote pair.   @return whether the host has to select perturbers */
static int test_remote(const struct nb6_dev *dev, int32_t i, double field[6], double field_dot[6])
{
    int is_found = 0, hits = 0;
    for (int lane = 0; lane < NB6_DEV_LANES; lane++) {
        struct nb6_remote_look look;
        nb6_dev_remote_lane(dev, i, lane, &look);
        is_found |= look.is_found;
        hits += look.hits;
        for (int k = 0; k < 6; k++) {
            field[k] += (double)look.field[k];
            field_dot[k] += (double)look.field_dot[k];
        }
    }
    return nb6_dev_remote_has_found(dev, i, is_found, hits);
}

/* Note a step for the host, which may have to select perturbers; also those of a system that it moves, if the list
 * is new. */
static int note_step(struct nb6_sim *sim, struct nb6_dev *dev, int64_t slot, struct nbc_error *err)
{
    const int32_t i = dev->irr[slot];
    const struct nb6_remote *remote = nb6_dev_remote_of(dev, i);
    struct nb6_dev_note note = {.body = dev->body[i], .t = dev->control->t, .place = i, .level = dev->level[i]};
    if (remote && remote->n > 0) {
        if (test_remote(dev, i, note.field, note.field_dot)) dev->flag[slot] |= NB6_DEV_CANDIDATE;
        note.has_tide = 1;
        note.has_new_list = nb6_dev_has_new_list(dev, i);
    } else if (dev->watch[i] & NB6_DEV_SHOW && nb6_dev_has_new_list(dev, i)) {
        dev->flag[slot] |= NB6_DEV_CANDIDATE;
    }
    return nb6_host_service_note(sim, dev, 1, &note, err);
}

static int note_steps(struct nb6_sim *sim, struct nb6_dev *dev, enum nb6_emulated_after after, struct nbc_error *err)
{
    int status = NBC_OK;
    for (int64_t slot = 0; slot < dev->control->n_irr && dev->control->n_ask > 0 && !status; slot++) {
        const int32_t i = dev->irr[slot];
        if (is_noted(dev, i) || (after == NB6_AFTER_TELL && dev->watch[i] & NB6_DEV_ASK))
            status = note_step(sim, dev, slot, err);
    }
    return status;
}

enum nb6_stop_reason nb6_emulated_ask_before(struct nb6_sim *sim, struct nb6_dev *dev, enum nb6_emulated_after *after,
                                             int *status, struct nbc_error *err)
{
    const struct nb6_dev_control *control = dev->control;
    const int64_t n = find_watched(dev);
    if (control->n_ask > 0) nb6_emulated_stage(dev, correct_by_remote, control->n_irr, NB6_EMULATED_BODIES);
    *after = n > 0 || control->t_ask <= control->t ? NB6_AFTER_ASK : NB6_AFTER_ON;
    if (*after == NB6_AFTER_ON) return NB6_STOP_BLOCKS;
    switch (nb6_host_service_before(sim, dev, control->ti_now, control->t, n, dev->member, status, err)) {
    case NB6_HOST_SERVICE_TELL:
        *after = NB6_AFTER_TELL;
        return NB6_STOP_BLOCKS;
    case NB6_HOST_SERVICE_GO:
        return NB6_STOP_BLOCKS;
    case NB6_HOST_SERVICE_PAUSED:
        return NB6_STOP_PAUSED;
    default:
        return NB6_STOP_HOST;
    }
}

/* Members that the host examines: candidates of encounters, and, if it was asked before the block, watched members. */
static int64_t show(const struct nb6_dev *dev, enum nb6_emulated_after after)
{
    int64_t n = 0;
    for (int64_t slot = 0; slot < dev->control->n_irr; slot++) {
        const int32_t i = dev->irr[slot];
        const int is_watched = after == NB6_AFTER_ASK && dev->watch[i] & NB6_DEV_ASK;
        if (!is_watched && !(dev->flag[slot] & NB6_DEV_CANDIDATE)) continue;
        const int with_others = !is_watched || dev->watch[i] & NB6_DEV_SHOW || dev->flag[slot] & NB6_DEV_LOOK;
        dev->shown[i] = (int8_t)(with_others ? NB6_DEV_WITH_OTHERS : NB6_DEV_ALONE);
        dev->member[n++] = i;
    }
    return n;
}

/* Sum the tides that the host has asked for. */
static void sum_tides(const struct nb6_sim *sim, const struct nb6_dev *dev)
{
    int64_t n;
    const int32_t *centre = nb6_host_service_changed(sim, &n);
    for (int64_t k = 0; k < n; k++) {
        struct nb6_dev_tide tide = {{0}, {0}};
        const double farthest2 = nb6_dev_farthest2(dev, centre[k], 0, 1);
        for (int32_t j = 0; j < dev->n; j++) nb6_dev_add_far_tide(dev, centre[k], j, farthest2, &tide);
        dev->far[k] = tide;
    }
}

enum nb6_stop_reason nb6_emulated_ask_after(struct nb6_sim *sim, struct nb6_dev *dev, enum nb6_emulated_after after,
                                            int *status, struct nbc_error *err)
{
    *status = note_steps(sim, dev, after, err);
    if (*status) return NB6_STOP_ENCOUNTER;
    const int64_t n = show(dev, after);
    if (n == 0 && after != NB6_AFTER_ASK) return NB6_STOP_BLOCKS;
    enum nb6_host_service_answer answer =
        nb6_host_service_after(sim, dev, dev->control->t, n, dev->member, 0, status, err);
    if (answer == NB6_HOST_SERVICE_TIDES) {
        sum_tides(sim, dev);
        answer = nb6_host_service_after(sim, dev, dev->control->t, n, dev->member, 1, status, err);
    }
    return answer == NB6_HOST_SERVICE_GO ? NB6_STOP_BLOCKS : NB6_STOP_ENCOUNTER;
}

/* Work of a host that waits for a device: more of it in some blocks than in others. */
enum { MOTIONS_MEANWHILE = 5 };

void nb6_emulated_meanwhile(struct nb6_sim *sim, const struct nb6_dev *dev)
{
    uint64_t motions = dev->control->blocks % MOTIONS_MEANWHILE;
    while (motions > 0 && nb6_host_service_meanwhile(sim)) motions--;
}
