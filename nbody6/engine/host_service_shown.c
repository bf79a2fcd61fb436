#include "nbody6/engine/host_service_shown.h"

#include "common/nbc.h"
#include "gpuirr/gpuirr.h"
#include "nbody6/fewbody/pairs/tides.h"
#include "nbody6/state/members.h"
#include "nbody6/state/schedule.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"

#include <string.h>

static int fetch_list(struct nb6_sim *sim, struct nb6_shown *shown, const struct nb6_dev *home, int32_t place,
                      struct nbc_error *err)
{
    const int32_t i = home->body_of[place], nnb = home->star[place].nnb, *list = nb6_dev_list(home, place);
    if (!nbc_grow(&shown->list, &shown->list_room, nnb, sizeof *shown->list))
        return nbc_fail(err, NBC_NO_MEMORY, "no memory for a neighbour list");
    for (int32_t k = 0; k < nnb; k++) shown->list[k] = home->body_of[list[k]];
    int status = gpuirr_set_list(sim->irr, (size_t)i, (size_t)nnb, shown->list);
    return status ? nbc_fail(err, status, "%s", gpuirr_last_error(sim->irr)) : NBC_OK;
}

static void fetch_body(struct nb6_sim *sim, struct nb6_dev *home, int32_t place)
{
    const int32_t i = home->body_of[place];
    sim->body[i] = home->body[place];
    sim->star[i].level_irr = home->level[place];
    if (home->shown[place] == NB6_DEV_HIDDEN) home->shown[place] = NB6_DEV_ALONE;
}

static int fetch_neighbours(struct nb6_sim *sim, struct nb6_keep *keep, struct nb6_dev *home, int32_t place,
                            struct nbc_error *err)
{
    const int32_t nnb = home->star[place].nnb, *list = nb6_dev_list(home, place);
    int status = NBC_OK;
    for (int32_t k = 0; k < nnb && !status; k++) {
        status = nb6_keep_body(keep, sim, home->body_of[list[k]], 0, err);
        if (!status) fetch_body(sim, home, list[k]);
    }
    return status;
}

int nb6_shown_fetch(struct nb6_sim *sim, struct nb6_shown *shown, struct nb6_keep *keep, struct nb6_dev *home,
                    int32_t place, struct nbc_error *err)
{
    const int32_t i = home->body_of[place];
    const int has_new_list = sim->star[i].t0_reg != home->star[place].t0_reg;
    int status = nb6_keep_body(keep, sim, i, has_new_list, err);
    if (!status && has_new_list) status = fetch_list(sim, shown, home, place, err);
    if (status) return status;
    fetch_body(sim, home, place);
    sim->star[i] = home->star[place];
    nb6_schedule_set(sim->schedule, i, home->level[place]);
    return home->shown[place] == NB6_DEV_WITH_OTHERS ? fetch_neighbours(sim, keep, home, place, err) : NBC_OK;
}

int nb6_shown_fetch_tides(struct nb6_sim *sim, struct nb6_shown *shown, const struct nb6_dev *home,
                          const struct nb6_index_set *of, struct nbc_error *err)
{
    const int64_t n = of->n;
    if (!nbc_grow(&shown->far, &shown->far_room, n, sizeof *shown->far))
        return nbc_fail(err, NBC_NO_MEMORY, "no memory for the tides of systems");
    for (int64_t k = 0; k < n; k++) {
        struct nb6_far_tide *far = &shown->far[k];
        far->slot = nb6_slot_of(sim, home->body_of[of->place[k]]);
        far->tide.t = sim->ti_now;
        memcpy(far->tide.field, home->far[k].field, sizeof far->tide.field);
        memcpy(far->tide.field_dot, home->far[k].field_dot, sizeof far->tide.field_dot);
    }
    sim->subsystems.far = shown->far;
    sim->subsystems.n_far = n;
    return NBC_OK;
}

void nb6_shown_free(struct nb6_shown *shown)
{
    nbc_free(shown->list);
    nbc_free(shown->far);
}
