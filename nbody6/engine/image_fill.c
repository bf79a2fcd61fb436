/* From the state to the image of a device engine. */
#include "common/nbc.h"
#include "common/team.h"
#include "gpuirr/gpuirr.h"
#include "nbody6/engine/host_service.h"
#include "nbody6/engine/image.h"
#include "nbody6/engine/stages/work.h"
#include "nbody6/state/body.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/members.h"
#include "nbody6/state/schedule.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/stuck.h"

#include <math.h>
#include <string.h>

/* ---- offsets of packed lists: first relative to those of a piece of the bodies ---- */

enum { PIECES = 64 };

static int parts_of_pieces(const struct nb6_dev *dev)
{
    const int parts = nbc_parts(dev->n, NB6_DEV_BODIES_OF_A_PART);
    return parts < PIECES ? parts : PIECES;
}

struct layout {
    struct nb6_dev *dev;
    int64_t begin[PIECES + 1]; /* of the lists of a piece */
};

static void lay_out_piece(struct nb6_dev *dev, int64_t piece)
{
    int64_t first, end, at = 0;
    nbc_range(dev->n, (int)piece, PIECES, &first, &end);
    for (int64_t place = first; place < end; at += dev->star[place++].nnb) dev->list_at[place] = at;
}

static void lay_out_pieces(void *context, int part, int parts)
{
    const struct layout *job = context;
    int64_t first, last;
    nbc_range(PIECES, part, parts, &first, &last);
    for (int64_t p = first; p < last; p++) lay_out_piece(job->dev, p);
}

/* Pieces one after the other.   @return numbers in all lists */
static int64_t begin_pieces(struct layout *job)
{
    const struct nb6_dev *dev = job->dev;
    for (int p = 0; p < PIECES; p++) {
        int64_t first, end;
        nbc_range(dev->n, p, PIECES, &first, &end);
        const int64_t numbers = first < end ? dev->list_at[end - 1] + dev->star[end - 1].nnb : 0;
        job->begin[p + 1] = job->begin[p] + numbers;
    }
    return job->begin[PIECES];
}

static void move_piece(const struct layout *job, int64_t piece)
{
    int64_t first, end;
    nbc_range(job->dev->n, (int)piece, PIECES, &first, &end);
    for (int64_t place = first; place < end; place++) job->dev->list_at[place] += job->begin[piece];
}

static void move_pieces(void *context, int part, int parts)
{
    const struct layout *job = context;
    int64_t first, last;
    nbc_range(PIECES, part, parts, &first, &last);
    for (int64_t p = first; p < last; p++) move_piece(job, p);
}

int64_t nb6_dev_lay_out_lists(struct nb6_dev *dev)
{
    struct layout job = {.dev = dev};
    nbc_team_run(parts_of_pieces(dev), lay_out_pieces, &job);
    const int64_t numbers = begin_pieces(&job);
    nbc_team_run(parts_of_pieces(dev), move_pieces, &job);
    return numbers;
}

struct filling {
    const struct nb6_sim *sim;
    struct layout layout;
};

/* Places are assigned later: until then no body takes part. */
static struct nb6_stuck without_places(const struct nb6_stuck *by_name)
{
    struct nb6_stuck stuck = {.blocks = by_name->blocks};
    for (int k = 0; k < 2; k++) stuck.who[k] = by_name->who[k] > 0 ? -by_name->who[k] : 0;
    return stuck;
}

/* A power of two. */
static double unit_of_work(const struct nb6_sim *sim)
{
    return ldexp(1, ilogb(nb6_energy_scale(sim))) / NB6_DEV_UNITS_OF_ENERGY;
}

static void place_stuck(const struct nb6_sim *sim, struct nb6_dev *dev, int32_t place)
{
    for (int k = 0; k < 2; k++)
        if (sim->book.stuck.who[k] == sim->star[dev->body_of[place]].name) dev->control->stuck.who[k] = 1 + place;
}

static void fill_piece(const struct nb6_sim *sim, struct nb6_dev *dev, int64_t piece)
{
    int64_t first, end;
    nbc_range(dev->n, (int)piece, PIECES, &first, &end);
    for (int64_t place = first; place < end; place++) {
        const int32_t i = dev->body_of[place];
        dev->body[place] = sim->body[i];
        dev->star[place] = sim->star[i];
        dev->level[place] = (int8_t)nb6_schedule_level(sim->schedule, i);
        dev->row_now[place] = 0;
        place_stuck(sim, dev, (int32_t)place);
    }
}

static void fill_part(void *context, int part, int parts)
{
    const struct filling *job = context;
    struct nb6_dev *dev = job->layout.dev;
    int64_t first, last;
    nbc_range(PIECES, part, parts, &first, &last);
    for (int64_t p = first; p < last; p++) {
        fill_piece(job->sim, dev, p);
        lay_out_piece(dev, p);
    }
}

/* Prefetch a list that is read some lists from now: lists are scattered in memory. */
static void prefetch_list(const int32_t *list, int32_t nnb)
{
    enum { LINE = 64 / sizeof(int32_t) };
    for (int32_t k = 0; k < nnb; k += LINE) __builtin_prefetch(list + k);
}

static void fill_lists_of_piece(const struct nb6_sim *sim, struct nb6_dev *dev, int64_t piece)
{
    enum { AHEAD = 4 };
    int64_t first, end;
    nbc_range(dev->n, (int)piece, PIECES, &first, &end);
    for (int64_t place = first; place < end; place++) {
        int32_t *to = dev->lists + dev->list_at[place];
        const int32_t *list = gpuirr_get_list(sim->irr, (size_t)dev->body_of[place], NULL);
        if (place + AHEAD < end)
            prefetch_list(gpuirr_get_list(sim->irr, (size_t)dev->body_of[place + AHEAD], NULL),
                          dev->star[place + AHEAD].nnb);
        for (int32_t k = 0; k < dev->star[place].nnb; k++) to[k] = dev->place_of[list[k]];
    }
}

static void fill_lists(void *context, int part, int parts)
{
    const struct filling *job = context;
    int64_t first, last;
    nbc_range(PIECES, part, parts, &first, &last);
    for (int64_t p = first; p < last; p++) {
        move_piece(&job->layout, p);
        fill_lists_of_piece(job->sim, job->layout.dev, p);
    }
}

static void set_places(const struct nb6_sim *sim, struct nb6_dev *dev)
{
    dev->n = sim->subsystems.n_source;
    dev->first_centre = dev->settled = 0;
    for (int64_t i = 0; i < dev->bodies; i++) dev->place_of[i] = -1;
    for (int32_t place = 0; place < dev->n; place++) {
        const int32_t i = sim->subsystems.source[place];
        dev->body_of[place] = i;
        dev->place_of[i] = place;
        if (!nb6_is_centre(sim, i)) dev->first_centre = place + 1;
    }
}

static void begin_control(const struct nb6_sim *sim, struct nb6_dev *dev)
{
    dev->t_home = sim->ti_now;
    *dev->control = (struct nb6_dev_control){.ti_now = sim->ti_now,
                                             .unit_of_work = unit_of_work(sim),
                                             .n_ask = dev->control->n_ask,
                                             .stuck = without_places(&sim->book.stuck)};
}

void nb6_dev_fill_bodies(struct nb6_sim *sim, struct nb6_dev *dev)
{
    struct filling job = {sim, {.dev = dev}};
    set_places(sim, dev);
    memset(dev->level + dev->n, -1, (size_t)(dev->n_max - dev->n)); /* no body left */
    begin_control(sim, dev);
    nbc_team_run(parts_of_pieces(dev), fill_part, &job);
    nb6_host_service_fill(sim, dev);
}

void nb6_dev_fill_systems(struct nb6_sim *sim, struct nb6_dev *dev)
{
    dev->control->unit_of_work = unit_of_work(sim);
    nb6_host_service_fill(sim, dev);
}

static void place_stuck_part(void *context, int part, int parts)
{
    const struct filling *job = context;
    int64_t first, end;
    nbc_range(job->layout.dev->n, part, parts, &first, &end);
    for (int64_t place = first; place < end; place++) place_stuck(job->sim, job->layout.dev, (int32_t)place);
}

/* Most stars are numbered in the order of their names.   @return 0: this one is not */
static int place_by_name(const struct nb6_sim *sim, struct nb6_dev *dev, int k)
{
    const int64_t name = sim->book.stuck.who[k], i = name - 1;
    if (name <= 0) return 1;
    if (i >= sim->n || sim->star[i].name != name) return 0;
    if (dev->place_of[i] >= 0) dev->control->stuck.who[k] = 1 + dev->place_of[i];
    return 1;
}

void nb6_dev_begin_again(struct nb6_sim *sim, struct nb6_dev *dev, struct nb6_dev_parcel *parcel)
{
    struct filling job = {sim, {.dev = dev}};
    begin_control(sim, dev);
    if (!place_by_name(sim, dev, 0) || !place_by_name(sim, dev, 1))
        nbc_team_run(parts_of_pieces(dev), place_stuck_part, &job);
    nb6_host_service_fill_changed(sim, dev, parcel);
}

int64_t nb6_dev_fill_lists(const struct nb6_sim *sim, struct nb6_dev *dev)
{
    struct filling job = {sim, {.dev = dev}};
    const int64_t numbers = begin_pieces(&job.layout);
    nbc_team_run(parts_of_pieces(dev), fill_lists, &job);
    return numbers;
}

void nb6_dev_fill_changed(const struct nb6_dev *dev, const struct nb6_edit *edit, struct nb6_changed *changed,
                          struct nb6_pulled *pulled)
{
    for (int64_t k = 0; k < edit->n; k++) {
        changed[k] = edit->changed[k];
        changed[k].body = dev->place_of[edit->changed[k].body];
    }
    for (int64_t k = 0; k < edit->n_pulled; k++) {
        pulled[k] = edit->pulled[k];
        pulled[k].body = dev->place_of[edit->pulled[k].body];
    }
}
