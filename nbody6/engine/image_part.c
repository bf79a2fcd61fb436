#include "nbody6/engine/image_part.h"

#include "common/team.h"
#include "gpuirr/gpuirr.h"
#include "nbody6/engine/host_service.h"
#include "nbody6/engine/image.h"
#include "nbody6/state/ascending.h"
#include "nbody6/state/bodies.h"
#include "nbody6/state/members.h"
#include "nbody6/state/schedule.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/touched.h"

#include <string.h>

/* ---- to the image */

/* With more bodies a part is hardly faster than all, and needs as much pinned memory once more. */
static int64_t most_bodies(const struct nb6_dev *dev)
{
    enum { FEW = 256 };
    return dev->n / 4 + FEW;
}

static int has_room(const struct nb6_sim *sim, const struct nb6_dev *dev)
{
    const struct nb6_subsystems *p = &sim->subsystems;
    return dev->control && dev->control->longest <= dev->row_room && nb6_bodies(sim) <= dev->bodies &&
           p->n_slot <= dev->systems && p->n_source <= dev->n_max && nb6_dev_has_room_aside(dev);
}

/* Where a body was; -1: it took no part. */
static int32_t place_before(const struct nb6_sim *sim, const struct nb6_dev *dev, int64_t i)
{
    const nb6_index was = i < 0 ? NB6_NOBODY : nb6_touched_was(&sim->engine_image.touched, i);
    return was >= 0 && was < dev->bodies ? dev->place_of[was] : -1;
}

/* @return 0: its list does not fit */
static int add_body(const struct nb6_sim *sim, const struct nb6_dev *dev, nb6_index i, struct nb6_dev_part *part)
{
    const int takes_part = i < nb6_bodies(sim) && nb6_takes_part(sim, i);
    const int32_t before = place_before(sim, dev, i);
    if (!takes_part) {
        if (before >= 0) part->gone[part->n_gone++] = before;
        return 1;
    }
    if (before < 0) part->come[part->n_come++] = i;
    part->body[part->n++] = i;
    part->numbers += sim->star[i].nnb;
    return sim->star[i].nnb <= dev->row_room;
}

/* Bodies without a number now.   @return their number */
static int64_t count_lost(const struct nb6_touched *touched, const struct nb6_dev *dev, int32_t *gone)
{
    int64_t n = 0;
    for (int32_t place = 0; place < dev->n && touched->n_now > 0; place++) {
        if (touched->moved[dev->body_of[place]] >= 0) continue;
        if (gone) gone[n] = place;
        n++;
    }
    return n;
}

static int find_bodies(const struct nb6_sim *sim, const struct nb6_dev *dev, struct nb6_dev_part *part)
{
    const struct nb6_touched *touched = &sim->engine_image.touched;
    part->n_gone = (int32_t)count_lost(touched, dev, part->gone);
    for (int64_t k = 0; k < touched->n; k++)
        if (!add_body(sim, dev, touched->body[k], part)) return 0;
    nb6_list_sort(part->body, part->n);
    nb6_list_sort(part->gone, part->n_gone);
    nb6_list_sort(part->come, part->n_come);
    return dev->n - part->n_gone + part->n_come == sim->subsystems.n_source;
}

int nb6_dev_find_part(const struct nb6_sim *sim, const struct nb6_dev *dev, struct nb6_dev_part *part)
{
    const struct nb6_touched *touched = &sim->engine_image.touched;
    const size_t n = (size_t)touched->n;
    *part = (struct nb6_dev_part){0};
    if (!nb6_touched_are_known(touched, sim->edits) || touched->n > most_bodies(dev) || !has_room(sim, dev)) return 0;
    part->body = nbc_alloc_unset(3 * n + (size_t)count_lost(touched, dev, NULL), sizeof *part->body);
    if (!part->body) return 0;
    part->come = part->body + n;
    part->gone = part->come + n;
    if (find_bodies(sim, dev, part)) return 1;
    nb6_dev_free_part(part);
    return 0;
}

void nb6_dev_free_part(struct nb6_dev_part *part)
{
    nbc_free(part->body);
    *part = (struct nb6_dev_part){0};
}

void nb6_dev_fill_sources(const struct nb6_sim *sim, const struct nb6_dev *dev, struct nb6_dev_parcel *parcel)
{
    const struct nb6_touched *touched = &sim->engine_image.touched;
    for (int64_t k = 0; k < touched->n_source; k++) {
        parcel->source[k] = touched->source[k];
        parcel->source[k].body = place_before(sim, dev, touched->source[k].body);
    }
}

static void place_bodies(void *context, int part, int parts)
{
    const struct nb6_dev *dev = context;
    int64_t first, end;
    nbc_range(dev->n, part, parts, &first, &end);
    for (int64_t place = first; place < end; place++) dev->place_of[dev->body_of[place]] = (int32_t)place;
}

void nb6_dev_place_part(const struct nb6_sim *sim, struct nb6_dev *dev, struct nb6_dev_part *part)
{
    const struct nb6_subsystems *p = &sim->subsystems;
    const struct nb6_dev_parcel moved = {
        .n_gone = part->n_gone, .n_come = part->n_come, .gone = part->gone, .come = part->come};
    const int64_t n_before = dev->n, first_before = dev->first_centre;
    const int renumbered = sim->engine_image.touched.n_now > 0;
    if (part->n_gone + part->n_come == 0 && !renumbered) return;
    for (int32_t k = 0; k < part->n_gone; k++) dev->place_of[dev->body_of[part->gone[k]]] = -1;
    for (int64_t i = 0; i < dev->bodies && renumbered; i++) dev->place_of[i] = -1;
    dev->n = p->n_source;
    dev->first_centre = nb6_dev_places_before(p->source, (int32_t)p->n_source, (int32_t)sim->n);
    memcpy(dev->body_of, p->source, (size_t)dev->n * sizeof *dev->body_of);
    nbc_team_run(nbc_parts(dev->n, 8 * NB6_DEV_BODIES_OF_A_PART), place_bodies, dev);
    for (int32_t k = 0; k < part->n_come; k++) part->come[k] = dev->place_of[part->come[k]];
    nb6_host_service_move_records(dev, n_before, first_before, &moved);
}

static void fill_list(const struct nb6_sim *sim, const struct nb6_dev *dev, nb6_index i, int32_t *to)
{
    const int32_t *list = gpuirr_get_list(sim->irr, (size_t)i, NULL);
    for (int32_t m = 0; m < sim->star[i].nnb; m++) to[m] = dev->place_of[list[m]];
}

void nb6_dev_fill_parcel(const struct nb6_sim *sim, const struct nb6_dev *dev, const struct nb6_dev_part *part,
                         int64_t n_before, struct nb6_dev_parcel *parcel)
{
    int64_t at = 0;
    parcel->n_before = n_before;
    memcpy(parcel->gone, part->gone, (size_t)part->n_gone * sizeof *part->gone);
    memcpy(parcel->come, part->come, (size_t)part->n_come * sizeof *part->come);
    for (int64_t k = 0; k < part->n; k++) {
        const nb6_index i = part->body[k];
        parcel->place[k] = dev->place_of[i];
        parcel->body[k] = sim->body[i];
        parcel->star[k] = sim->star[i];
        parcel->level[k] = (int8_t)nb6_schedule_level(sim->schedule, i);
        parcel->list_at[k] = at;
        fill_list(sim, dev, i, parcel->lists + at);
        at += sim->star[i].nnb;
    }
}

/* ---- from the image */

int nb6_dev_is_part(const struct nb6_dev *dev, int64_t n)
{
    return n <= most_bodies(dev);
}

/* ---- memory */

static void *take(char *data, size_t bytes, size_t *at)
{
    enum { GRAIN = 256 };
    void *here = data ? data + *at : NULL;
    *at += (bytes + GRAIN - 1) / GRAIN * GRAIN;
    return here;
}

size_t nb6_dev_lay_out_parcel(void *data, struct nb6_dev_parcel *parcel, size_t *head)
{
    const size_t n = (size_t)parcel->n;
    size_t at = 0;
    parcel->gone = take(data, (size_t)parcel->n_gone * sizeof *parcel->gone, &at);
    parcel->come = take(data, (size_t)parcel->n_come * sizeof *parcel->come, &at);
    parcel->source = take(data, (size_t)parcel->n_source * sizeof *parcel->source, &at);
    *head = at;
    parcel->place = take(data, n * sizeof *parcel->place, &at);
    parcel->list_at = take(data, n * sizeof *parcel->list_at, &at);
    parcel->level = take(data, n, &at);
    parcel->t_check = take(data, n * sizeof *parcel->t_check, &at);
    parcel->body = take(data, n * sizeof *parcel->body, &at);
    parcel->star = take(data, n * sizeof *parcel->star, &at);
    parcel->lists = take(data, (size_t)parcel->numbers * sizeof *parcel->lists, &at);
    return at;
}
