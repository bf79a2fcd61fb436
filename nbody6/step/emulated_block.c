#include "nbody6/step/emulated_block.h"

#include "common/nbc.h"
#include "common/team.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/profile.h"
#include "nbody6/step/dev_commit.h"
#include "nbody6/step/dev_correct.h"
#include "nbody6/step/dev_force.h"
#include "nbody6/step/dev_regular.h"
#include "nbody6/step/dev_select.h"

#include <string.h>

/* A stage: one function for each item. Items are given to threads as they come; what one of them makes does not depend
 * on the others. */
typedef void stage_item(const struct nb6_dev *dev, int64_t item);

struct stage {
    const struct nb6_dev *dev;
    stage_item *make;
    int64_t items;
};

static void stage_part(void *context, int part, int parts)
{
    const struct stage *stage = context;
    int64_t first, end;
    nbc_share(stage->items, part, parts, &first, &end);
    for (int64_t item = first; item < end; item++) stage->make(stage->dev, item);
}

/* Items that are worth a thread. */
enum { BODIES_OF_ONE = 16, SLICES_OF_ONE = 64, SOURCES_OF_ONE = 2048, LEVELS_OF_ONE = 16384 };

static void run(const struct nb6_dev *dev, stage_item *make, int64_t items, int64_t worth_a_thread)
{
    struct stage stage = {dev, make, items};
    nbc_team_run(nbc_parts(items, worth_a_thread), stage_part, &stage);
}

/* ---- what a device does by warps: lanes one after another, and their sums by halves, as shuffles do it ---- */

static void add_lanes(struct nb6_dev_sum lanes[NB6_DEV_LANES])
{
    for (int half = NB6_DEV_LANES / 2; half > 0; half /= 2)
        for (int lane = 0; lane < half; lane++) nb6_dev_add(&lanes[lane], &lanes[lane + half]);
}

static struct nb6_dev_sum force_on(const struct nb6_dev *dev, const struct nb6_dev_point *point, const int32_t *list,
                                   int32_t nnb)
{
    struct nb6_dev_sum lanes[NB6_DEV_LANES];
    for (int lane = 0; lane < NB6_DEV_LANES; lane++) nb6_dev_force_lane(dev, point, list, nnb, lane, &lanes[lane]);
    add_lanes(lanes);
    return lanes[0];
}

static void make_irregular(const struct nb6_dev *dev, int64_t slot)
{
    const int32_t i = dev->irr[slot];
    const struct nb6_dev_point point = nb6_dev_predict(dev, i);
    const struct nb6_dev_sum sum = force_on(dev, &point, nb6_dev_list(dev, i), dev->star[i].nnb);
    nb6_dev_correct_irregular(dev, slot, &point, &sum);
}

/* The bits of a lane become those of chunks; on a device, ballots. */
static void put_hits(uint32_t hits, int lane, uint32_t *hit)
{
    for (int chunk = 0; chunk < NB6_DEV_FLUSH && hits >> chunk; chunk++) hit[chunk] |= (hits >> chunk & 1u) << lane;
}

/* One slice of the sources for one target. */
static void make_slice(const struct nb6_dev *dev, int64_t item)
{
    const int64_t m = item / NB6_DEV_SLICES;
    const struct nb6_dev_target *target = &dev->target[m];
    struct nb6_dev_sum lanes[NB6_DEV_LANES];
    int64_t first, end;
    if (target->nnb >= 0) return;
    uint32_t *hit = dev->hit + m * nb6_dev_chunks(dev);
    nb6_dev_slice(dev, (int)(item % NB6_DEV_SLICES), &first, &end);
    memset(hit + first, 0, (size_t)(end - first) * sizeof *hit);
    for (int lane = 0; lane < NB6_DEV_LANES; lane++) nb6_dev_clear(&lanes[lane]);
    for (int64_t tile = first; tile < end; tile += NB6_DEV_FLUSH) {
        const int64_t tile_end = tile + NB6_DEV_FLUSH < end ? tile + NB6_DEV_FLUSH : end;
        for (int lane = 0; lane < NB6_DEV_LANES; lane++)
            put_hits(nb6_dev_regular_lane(dev, target, tile, tile_end, lane, &lanes[lane]), lane, hit + tile);
    }
    add_lanes(lanes);
    dev->partial[item] = lanes[0];
}

static void make_regular(const struct nb6_dev *dev, int64_t m)
{
    const struct nb6_dev_target *target = &dev->target[m];
    const int32_t i = dev->irr[target->slot];
    if (dev->flag[target->slot] & NB6_DEV_TOO_LONG) return;
    const struct nb6_dev_point point = nb6_dev_predict(dev, i);
    const struct nb6_dev_sum sum = force_on(dev, &point, nb6_dev_staged_list(dev, i), target->nnb);
    nb6_dev_correct_regular(dev, m, &sum);
}

/* ---- stages ---- */

static int64_t parts_of_a_thread(const struct nb6_dev *dev)
{
    return dev->n > LEVELS_OF_ONE ? 1 : dev->parts;
}

static void select_members(const struct nb6_dev *dev)
{
    const int64_t worth = parts_of_a_thread(dev);
    run(dev, nb6_dev_count_due, dev->parts, worth);
    nb6_dev_place_parts(dev);
    run(dev, nb6_dev_fill_due, dev->parts, worth);
}

/* Rounds of so many targets, each until all of them have a list that may be as long. */
static void make_regular_round(const struct nb6_dev *dev, int64_t first, int64_t n)
{
    struct nb6_dev_control *control = dev->control;
    for (int64_t m = 0; m < n; m++) nb6_dev_set_target(dev, first, m);
    for (int64_t pending = n; pending > 0;) {
        run(dev, make_slice, n * NB6_DEV_SLICES, SLICES_OF_ONE);
        run(dev, nb6_dev_make_list, n, BODIES_OF_ONE);
        control->pairs_reg_block += (uint64_t)(pending * dev->rules.step.n_source);
        pending = 0;
        for (int64_t m = 0; m < n; m++) pending += dev->target[m].nnb < 0;
        control->overflows_block += (uint64_t)pending;
    }
    for (int64_t m = 0; m < n; m++)
        if (dev->target[m].nnb > control->longest) control->longest = dev->target[m].nnb;
    run(dev, make_regular, n, BODIES_OF_ONE);
}

static void make_regular_all(const struct nb6_dev *dev)
{
    const int64_t n = dev->control->n_reg;
    if (n == 0) return;
    run(dev, nb6_dev_predict_source, nb6_dev_chunks(dev) * NB6_DEV_LANES, SOURCES_OF_ONE);
    for (int64_t first = 0; first < n; first += NB6_DEV_TARGETS)
        make_regular_round(dev, first, n - first < NB6_DEV_TARGETS ? n - first : NB6_DEV_TARGETS);
}

/* Slot of the first member with one of these flags, -1: none has. */
static int64_t find_flag(const struct nb6_dev *dev, int flags)
{
    for (int64_t slot = 0; slot < dev->control->n_irr; slot++)
        if (dev->flag[slot] & flags) return slot;
    return -1;
}

static double booked(struct nb6_sim *sim, enum nb6_stage stage, double start)
{
    const double now = nbc_wtime();
    nb6_profile_stage(sim, stage, now - start);
    return now;
}

enum nb6_stop_reason nb6_emulated_block(struct nb6_sim *sim, const struct nb6_dev *dev, nb6_time t_stop,
                                        int64_t *unsound)
{
    struct nb6_dev_control *control = dev->control;
    double now = nbc_wtime();
    run(dev, nb6_dev_find_level, dev->parts, parts_of_a_thread(dev));
    control->t = nb6_dev_next(dev);
    if (control->t > t_stop) return NB6_STOP_REACHED;
    select_members(dev);
    now = booked(sim, NB6_STAGE_SCHEDULE, now);
    run(dev, make_irregular, control->n_irr, BODIES_OF_ONE);
    now = booked(sim, NB6_STAGE_IRREGULAR, now);
    make_regular_all(dev);
    now = booked(sim, NB6_STAGE_REGULAR, now);
    *unsound = find_flag(dev, NB6_DEV_UNSOUND_IRR | NB6_DEV_UNSOUND_REG);
    if (*unsound >= 0) return NB6_STOP_NON_FINITE;
    if (find_flag(dev, NB6_DEV_TOO_LONG) >= 0) return NB6_STOP_OVERFLOW;
    run(dev, nb6_dev_commit, control->n_irr, BODIES_OF_ONE);
    nb6_dev_count_block(dev);
    now = booked(sim, NB6_STAGE_COMMIT, now);
    run(dev, nb6_dev_look, control->n_irr, BODIES_OF_ONE);
    (void)booked(sim, NB6_STAGE_PAIRS, now);
    return find_flag(dev, NB6_DEV_CANDIDATE) >= 0 ? NB6_STOP_ENCOUNTER : NB6_STOP_BLOCKS;
}
