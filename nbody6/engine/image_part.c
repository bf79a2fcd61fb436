#include "nbody6/engine/image_part.h"

#include "common/team.h"
#include "device/supply.h"
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

static int32_t first_centre(const struct nb6_sim *sim)
{
    return nb6_dev_first_from(sim->subsystems.source, (int32_t)sim->subsystems.n_source, (int32_t)sim->n);
}

static int has_room(const struct nb6_sim *sim, const struct nb6_dev *dev)
{
    const struct nb6_subsystems *p = &sim->subsystems;
    return dev->control && dev->control->longest <= dev->row_room && nb6_bodies(sim) <= dev->bodies &&
           p->n_slot <= dev->systems && p->n_source <= dev->n_max &&
           nb6_dev_has_room_aside(dev, p->n_source, p->n_source - first_centre(sim));
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

static int32_t place_now(const struct nb6_sim *sim, nb6_index i)
{
    return nb6_dev_first_from(sim->subsystems.source, (int32_t)sim->subsystems.n_source, i);
}

/* The part of a body that add_body reads: it is scattered in memory. */
static void prefetch_body(const struct nb6_sim *sim, const struct nb6_dev *dev, nb6_index i)
{
    if (i >= nb6_bodies(sim)) return;
    __builtin_prefetch(&sim->star[i].owner);
    __builtin_prefetch(&sim->star[i].nnb);
    __builtin_prefetch(&dev->place_of[i]);
}

static int find_bodies(const struct nb6_sim *sim, const struct nb6_dev *dev, struct nb6_dev_part *part)
{
    enum { AHEAD = 8 };
    const struct nb6_touched *touched = &sim->engine_image.touched;
    part->n_gone = (int32_t)count_lost(touched, dev, part->gone);
    for (int64_t k = 0; k < touched->n; k++) {
        if (k + AHEAD < touched->n) prefetch_body(sim, dev, touched->body[k + AHEAD]);
        if (!add_body(sim, dev, touched->body[k], part)) return 0;
    }
    nb6_list_sort(part->body, part->n);
    nb6_list_sort(part->gone, part->n_gone);
    nb6_list_sort(part->come, part->n_come);
    for (int32_t k = 0; k < part->n_come; k++) part->come[k] = place_now(sim, part->come[k]);
    return dev->n - part->n_gone + part->n_come == sim->subsystems.n_source;
}

int nb6_dev_find_part(struct nb6_sim *sim, const struct nb6_dev *dev, struct nb6_dev_part *part)
{
    const struct nb6_touched *touched = &sim->engine_image.touched;
    const size_t n = (size_t)touched->n;
    *part = (struct nb6_dev_part){0};
    if (!nb6_touched_are_known(touched, sim->edits) || touched->n > most_bodies(dev) || !has_room(sim, dev)) return 0;
    part->n_source = touched->n_source;
    part->n_system = nb6_host_service_find_changed(sim, dev, &part->n_watched);
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

/* Bodies before the first one that has come or gone are where they were. Behind the last one they are if as many have
 * come as gone, and so are records of systems, which are counted from the first centre on, if that is where it was. */
static void bound_places(const struct nb6_dev_part *part, struct nb6_dev_parcel *parcel, int64_t n,
                         int64_t first_centre_now)
{
    const int32_t n_gone = part->n_gone, n_come = part->n_come, *gone = part->gone, *come = part->come;
    const int64_t n_before = parcel->n_before;
    if (n_gone + n_come == 0) return;
    parcel->first = n_gone == 0 || (n_come > 0 && come[0] < gone[0]) ? come[0] : gone[0];
    parcel->end = n > n_before ? n : n_before;
    if (n_gone != n_come || parcel->first_before != first_centre_now) return;
    parcel->end = 1 + (gone[n_gone - 1] > come[n_come - 1] ? gone[n_gone - 1] : come[n_come - 1]);
}

/* For nb6_dev_present_place. */
static void note_few(const struct nb6_dev_part *part, struct nb6_dev_parcel *parcel)
{
    for (int32_t k = 0; k < NB6_DEV_FEW; k++) {
        parcel->few_gone[k] = k < part->n_gone ? part->gone[k] : INT32_MAX;
        parcel->few_come[k] = k < part->n_come ? part->come[k] - k : INT32_MAX;
    }
}

struct nb6_dev_parcel nb6_dev_parcel_for(const struct nb6_sim *sim, const struct nb6_dev *dev,
                                         const struct nb6_dev_part *part)
{
    struct nb6_dev_parcel parcel = {.n = part->n,
                                    .numbers = part->numbers,
                                    .n_gone = part->n_gone,
                                    .n_come = part->n_come,
                                    .n_before = dev->n,
                                    .first_before = dev->first_centre,
                                    .n_source = part->n_source,
                                    .n_system = part->n_system,
                                    .n_watched = part->n_system < 0 ? 0 : part->n_watched + part->n_come};
    bound_places(part, &parcel, sim->subsystems.n_source, first_centre(sim));
    note_few(part, &parcel);
    return parcel;
}

void nb6_dev_fill_head(const struct nb6_sim *sim, const struct nb6_dev *dev, const struct nb6_dev_part *part,
                       struct nb6_dev_parcel *parcel)
{
    const struct nb6_touched *touched = &sim->engine_image.touched;
    memcpy(parcel->gone, part->gone, (size_t)part->n_gone * sizeof *part->gone);
    memcpy(parcel->come, part->come, (size_t)part->n_come * sizeof *part->come);
    for (int64_t k = 0; k < touched->n_source; k++) {
        parcel->source[k] = touched->source[k];
        parcel->source[k].body = place_before(sim, dev, touched->source[k].body);
    }
}

/* Places and records of a part: threads have a range of each. */
struct placing {
    const struct nb6_sim *sim;
    const struct nb6_dev *dev;
    const struct nb6_dev_part *part;
    const struct nb6_dev_parcel *parcel;
    struct nb6_dev_aside aside;
    int64_t first, end; /* places */
    int moves;          /* 1: bodies have come or gone */
};

static void forget_places(void *context, int part, int parts)
{
    const struct nb6_dev *dev = ((const struct placing *)context)->dev;
    int64_t first, end;
    nbc_range(dev->bodies, part, parts, &first, &end);
    for (int64_t i = first; i < end; i++) dev->place_of[i] = -1;
}

static void place_bodies(const struct placing *job, int64_t first, int64_t end)
{
    for (int64_t place = first; place < end; place++) {
        const nb6_index i = job->sim->subsystems.source[place];
        job->dev->body_of[place] = i;
        job->dev->place_of[i] = (int32_t)place;
    }
}

/* The map, and systems set aside. */
static void place_range(void *context, int part, int parts)
{
    const struct placing *job = context;
    const struct nb6_dev *dev = job->dev;
    int64_t first, end;
    nbc_range(job->end - job->first, part, parts, &first, &end);
    place_bodies(job, job->first + first, job->first + end);
    nbc_range(dev->n - dev->first_centre, part, parts, &first, &end);
    for (int64_t k = first; k < end && job->moves; k++)
        nb6_dev_set_system_aside(dev, job->parcel, &job->aside, (int32_t)(dev->first_centre + k), 0, 1);
}

static void fill_body(const struct placing *job, int64_t k)
{
    const struct nb6_dev_parcel *parcel = job->parcel;
    const struct nb6_sim *sim = job->sim;
    const nb6_index i = job->part->body[k];
    const int32_t *list = gpuirr_get_list(sim->irr, (size_t)i, NULL);
    int32_t *to = parcel->lists + parcel->list_at[k];
    parcel->place[k] = job->dev->place_of[i];
    parcel->body[k] = sim->body[i];
    parcel->star[k] = sim->star[i];
    parcel->level[k] = (int8_t)nb6_schedule_level(sim->schedule, i);
    for (int32_t m = 0; m < sim->star[i].nnb; m++) to[m] = job->dev->place_of[list[m]];
}

/* Systems, and the bodies that travel. */
static void fill_range(void *context, int part, int parts)
{
    const struct placing *job = context;
    const struct nb6_dev *dev = job->dev;
    int64_t first, end;
    nbc_range(dev->n - dev->first_centre, part, parts, &first, &end);
    for (int64_t k = first; k < end && job->moves; k++) {
        nb6_dev_take_system(dev, job->parcel, &job->aside, (int32_t)(dev->first_centre + k), 0, 1);
        nb6_dev_renumber_system(dev, job->parcel, (int32_t)(dev->first_centre + k));
    }
    nbc_range(job->part->n, part, parts, &first, &end);
    for (int64_t k = first; k < end; k++) fill_body(job, k);
}

void nb6_dev_set_numbers(const struct nb6_sim *sim, struct nb6_dev *dev)
{
    dev->n = sim->subsystems.n_source;
    dev->first_centre = first_centre(sim);
}

/* Some microseconds of work for a thread. */
enum { PLACES_OF_A_PART = 4096, SYSTEMS_OF_A_PART = 256, BODIES_OF_A_PART = 16 };

static void run_by(int parts, int or_parts, nbc_part *work, struct placing *job)
{
    nbc_team_run(parts > or_parts ? parts : or_parts, work, job);
}

/* With other numbers all bodies are at other places of the map. */
void nb6_dev_place_part(const struct nb6_sim *sim, const struct nb6_dev *dev, const struct nb6_dev_part *part,
                        struct nb6_dev_parcel *parcel, int32_t *rows)
{
    const int renumbered = sim->engine_image.touched.n_now > 0, moves = parcel->n_gone + parcel->n_come > 0;
    struct placing job = {sim, dev, part, parcel, nb6_dev_aside_in(rows, dev), parcel->first, parcel->end, moves};
    const int by_systems = moves ? nbc_parts(dev->n - dev->first_centre, SYSTEMS_OF_A_PART) : 1;
    int64_t at = 0;
    for (int32_t k = 0; k < parcel->n_gone; k++) dev->place_of[dev->body_of[parcel->gone[k]]] = -1;
    if (renumbered) nbc_team_run(nbc_parts(dev->bodies, PLACES_OF_A_PART), forget_places, &job);
    if (renumbered) job.first = 0;
    if (renumbered || job.end > dev->n) job.end = dev->n;
    if (job.end < job.first) job.end = job.first;
    for (int64_t k = 0; k < part->n; at += sim->star[part->body[k++]].nnb) parcel->list_at[k] = at;
    if (renumbered || moves) run_by(nbc_parts(job.end - job.first, PLACES_OF_A_PART), by_systems, place_range, &job);
    run_by(nbc_parts(part->n, BODIES_OF_A_PART), by_systems, fill_range, &job);
}

/* ---- from the image */

int nb6_dev_is_part(const struct nb6_dev *dev, int64_t n)
{
    return n <= most_bodies(dev);
}

/* ---- memory */

size_t nb6_dev_lay_out_parcel(void *data, struct nb6_dev_parcel *parcel, size_t *head)
{
    const size_t n = (size_t)parcel->n, systems = parcel->n_system > 0 ? (size_t)parcel->n_system : 0,
                 watched = (size_t)parcel->n_watched;
    struct nbd_supply s = {.next = data};
    parcel->gone = nbd_take(&s, (size_t)parcel->n_gone, sizeof *parcel->gone);
    parcel->come = nbd_take(&s, (size_t)parcel->n_come, sizeof *parcel->come);
    parcel->source = nbd_take(&s, (size_t)parcel->n_source, sizeof *parcel->source);
    *head = s.bytes;
    parcel->place = nbd_take(&s, n, sizeof *parcel->place);
    parcel->list_at = nbd_take(&s, n, sizeof *parcel->list_at);
    parcel->level = nbd_take(&s, n, sizeof *parcel->level);
    parcel->t_check = nbd_take(&s, n, sizeof *parcel->t_check);
    parcel->body = nbd_take(&s, n, sizeof *parcel->body);
    parcel->star = nbd_take(&s, n, sizeof *parcel->star);
    parcel->lists = nbd_take(&s, (size_t)parcel->numbers, sizeof *parcel->lists);
    parcel->system_at = nbd_take(&s, systems, sizeof *parcel->system_at);
    parcel->system = nbd_take(&s, systems, sizeof *parcel->system);
    parcel->remote = nbd_take(&s, systems, sizeof *parcel->remote);
    parcel->watched = nbd_take(&s, watched, sizeof *parcel->watched);
    parcel->watch = nbd_take(&s, watched, sizeof *parcel->watch);
    parcel->ask = nbd_take(&s, watched, sizeof *parcel->ask);
    return s.bytes;
}
